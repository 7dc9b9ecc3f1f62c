"""Faults planted in otherwise good logs are found, each with its turn; in clean logs nothing is."""

import json
import re
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from runbuilder import LEDGER, RunBuilder, axes, ledger_of, question
from samples import label, labels
from strategies import GOLD_TABLE

from vlmrec.commands.scan import command
from vlmrec.errors import InputError
from vlmrec.events import CallCompleted, Stage
from vlmrec.gold import GoldSet, gold_set
from vlmrec.projections.core import project
from vlmrec.projections.findings import Finding
from vlmrec.projections.scan import Scan, ScanRuns
from vlmrec.stages.rules import parse_rules, rules_hash
from vlmrec.terms import Party

RULES = files("vlmrec.schemas").joinpath("validation_rules.yaml").read_bytes()
WIDE = ledger_of(
    question("q_collision", "none", "vehicle_contact object_contact no_contact", scope="instant"),
    question("q_direction_relation", "none", "same_direction oncoming crossing"),
    question("q_maneuver", "self other", "straight lane_change stopped"),
    question("q_motion_at_contact", "self other", "moving standing", scope="instant"),
)
CODES = ("straight", "lane_change", "stopped")
SAID = {
    "ko": (
        "4.2초에 두 차량이 충돌했다.",
        "상대 차량이 왼쪽 차로에서 옆 차로로 차로를 변경했다.",
        "블랙박스 차량은 직진한다.",
    ),
    "en": (
        "The two cars collide at 4.2 s.",
        "The other car moves from the left lane into the next lane.",
        "The ego vehicle goes straight.",
    ),
}


def good_run(
    language: str = "en", run_id: str = "run", order: str = "ledger", clips: tuple[str, ...] = ("c1", "c2")
) -> RunBuilder:
    run = RunBuilder(run_id=run_id, clips=clips, ledger=WIDE, axes=axes(L=language, O=order))
    codes = CODES if order == "ledger" else CODES[::-1]
    hit, theirs, ours = SAID[language]
    for name in clips:
        clip = run.clip(name)
        clip.turn(
            "q_collision",
            "none",
            value="vehicle_contact",
            explanation=hit,
            evidence=(4.0, 4.4),
            predicted=1000,
            prompt_tokens=1040,
        )
        clip.submit("asking", ["차43-2", "차43-3"])
        clip.turn(
            "q_maneuver",
            "other",
            value="lane_change",
            explanation=theirs,
            options=codes,
            predicted=1000,
            prompt_tokens=980,
        )
        clip.turn(
            "q_maneuver", "self", value="straight", explanation=ours, options=codes, predicted=1000, prompt_tokens=1000
        )
        clip.submit("confirmed", ["차43-2"]).finish()
    return run


def scan(*runs: RunBuilder, gold: GoldSet | None = None) -> Scan:
    projection = ScanRuns(parse_rules(RULES), rules_hash(RULES), gold or gold_set({}))
    return project(projection, [run.log() for run in runs]).result


def where(findings: tuple[Finding, ...]) -> list[tuple[str, str, str, str]]:
    return [(f.kind, f.rule, f.clip, f"{f.question_id}/{f.party}") for f in findings]


@pytest.mark.parametrize("language", ["ko", "en"])
def test_a_clean_log_gives_no_finding(language: str) -> None:
    assert scan(good_run(language)).findings == ()
    assert scan(good_run(language), good_run(language, "other", "shuffle-1")).findings == ()


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("There is no collision; the cars pass each other.", True),
        ("두 차량은 부딪치지 않고 지나간다.", True),
        ("Just before the collision it goes straight.", False),
        ('The text "no collision" is an option.', False),
        ("It could not avoid the collision.", False),
        ("“충돌 없음”이라는 선택지와 달리 직진한다.", False),
    ],
)
def test_a_collision_denied_in_one_turn_and_asserted_in_another_is_found(text: str, found: bool) -> None:
    run = good_run()
    clip = run.clip("c3").turn("q_collision", "none", value="vehicle_contact")
    clip.turn("q_maneuver", "self", value="straight", explanation=text)
    expected = [("contradictions", "collision_told_both_ways", "c3", "q_maneuver/self")] if found else []
    assert where(scan(run).findings) == expected


def test_texts_contradict_each_other_also_where_the_question_was_not_answered() -> None:
    run = good_run()
    clip = run.clip("c3").turn("q_maneuver", "self", value="straight", explanation="The cars collide at 3 s.")
    clip.turn("q_motion_at_contact", "other", status="unknown", explanation="No collision takes place.")
    (finding,) = scan(run).findings
    assert (finding.rule, finding.question_id) == ("collision_told_both_ways", "q_motion_at_contact")
    assert finding.against is not None
    assert finding.against.question_id == "q_maneuver"


@pytest.mark.parametrize(
    "text", ["No other vehicle is visible in the clip.", "영상에 상대 차량이 전혀 나타나지 않는다."]
)
def test_a_counterpart_absent_in_one_turn_and_acting_in_another_is_found(text: str) -> None:
    run = good_run()
    clip = run.clip("c3").turn("q_maneuver", "other", value="lane_change")
    clip.turn("q_motion_at_contact", "self", value="moving", explanation=text)
    assert where(scan(run).findings) == [("contradictions", "absent_yet_acting", "c3", "q_motion_at_contact/self")]


def test_answers_that_cannot_both_be_true_are_found_once_and_also_where_validation_demoted_one() -> None:
    run = good_run()
    clip = run.clip("c3").turn("q_maneuver", "other", value="stopped")
    clip.turn("q_motion_at_contact", "other", status="unknown", demoted_from="moving")
    (finding,) = scan(run).findings
    assert (finding.rule, finding.clip) == ("stopped_yet_moving", "c3")
    assert finding.against is not None


def test_an_answer_against_the_entity_table_is_found() -> None:
    run = good_run()
    table = b'{"entities":[{"id":"e1","kind":"car","role":"counterpart","heading":"oncoming"}],"contact_time":4.0}'
    run.clip("c3").table(table).turn("q_direction_relation", "none", value="same_direction")
    assert where(scan(run).findings) == [
        ("contradictions", "table_heading_oncoming", "c3", "q_direction_relation/none")
    ]


def test_a_repetition_loop_in_text_or_reasoning_is_found() -> None:
    run = good_run()
    loop = "the car is in the lane and then it goes on and " * 12
    run.clip("c3").turn("q_maneuver", "self", value="straight", reasoning=loop)
    run.clip("c4").turn(
        "q_maneuver", "self", value="straight", explanation="차량은 직진하고 있으며 계속 같은 차로에 " * 9
    )
    run.clip("c5").turn("q_maneuver", "self", value="straight", repetition=0.8)
    assert [(kind, clip) for kind, _, clip, _ in where(scan(run).findings)] == [
        ("repetition", "c3"),
        ("repetition", "c4"),
        ("repetition", "c5"),
    ]


def test_drift_from_a_lane_to_a_crossing_course_is_found_with_its_steps() -> None:
    run = good_run("ko")
    told = "흰색 차량이 왼쪽 차로에 있다. 그 차량은 왼쪽에서 다가온다. 그러므로 앞을 가로질러 지나간다."
    run.clip("c3").turn("q_maneuver", "other", value="straight", reasoning=told)
    (finding,) = scan(run).findings
    assert (finding.kind, finding.clip, len(finding.words)) == ("drift", "c3", 3)


def test_an_ignored_frame_rate_is_found_by_its_prompt_tokens() -> None:
    run = good_run()
    clip = run.clip("c3").turn("q_maneuver", "self", value="straight", predicted=8000, prompt_tokens=2100)
    clip.turn("q_maneuver", "other", value="straight", predicted=8000, prompt_tokens=8300)
    found = scan(run)
    assert where(found.findings) == [("provider", "too_few_tokens", "c3", "q_maneuver/self")]
    (figures,) = found.provider
    assert (figures.compared, figures.too_few, figures.too_many) == (8, 1, 0)


def test_answers_that_keep_their_place_when_options_are_shuffled_are_found() -> None:
    first, second = good_run(), good_run(run_id="second", order="shuffle-1")
    first.clip("c3").turn("q_maneuver", "self", value="straight", options=CODES)
    second.clip("c3").turn("q_maneuver", "self", value="stopped", options=CODES[::-1])
    found = scan(first, second)
    assert where(found.findings) == [("order", "same_place", "c3", "q_maneuver/self")]
    (effect,) = found.order
    assert (effect.turns, effect.changed, effect.same_place) == (5, 1, 1)
    assert effect.first_expected == pytest.approx(1 / 3)


def test_later_answers_are_told_apart_by_whether_an_earlier_one_was_wrong() -> None:
    run = RunBuilder(clips=["a", "b"], ledger=LEDGER)
    for name, collision, then in (("a", "yes", "straight"), ("b", "no", "stopped")):
        clip = run.clip(name).turn("q_collision", "none", value=collision).submit("asking", ["x", "y"])
        clip.turn("q_maneuver", "self", value=then).submit("open", ["x", "y"]).finish()
    seen = {("q_collision", "none"): "yes", ("q_maneuver", "self"): "straight"}
    (one,) = scan(run, gold=labels(label("a", answers=seen), label("b", answers=seen))).propagation
    assert (one.after_right.items, one.after_right.correct) == (1, 1)
    assert (one.after_wrong.items, one.after_wrong.correct) == (1, 0)
    assert (one.after_wrong.accuracy.low, one.after_wrong.accuracy.high) == pytest.approx((0, 0.975))


def test_a_wrong_table_is_told_apart_from_a_right_one() -> None:
    run = RunBuilder(clips=["a"])
    run.clip("a").table(b'{"entities":[],"contact_time":null}').turn("q_maneuver", "self", value="straight")
    gold = labels(label("a", answers={("q_maneuver", "self"): "straight"}, stage0=GOLD_TABLE))
    (one,) = scan(run, gold=gold).propagation
    assert (one.table_wrong.items, one.table_right.items) == (1, 0)


def test_the_command_lists_findings_and_can_be_narrowed(tmp_path: Path) -> None:
    run = good_run()
    run.clip("c3").turn(
        "q_maneuver", "self", value="straight", explanation="There is no collision.", predicted=900, prompt_tokens=100
    )
    run.clip("c4").turn("q_collision", "none", value="vehicle_contact").turn(
        "q_maneuver", "self", explanation="No contact occurs."
    )
    path = run.write(tmp_path)
    printed = CliRunner().invoke(command, [str(path)])
    assert printed.exit_code == 0, printed.output
    assert "collision_told_both_ways" in printed.stdout
    assert "too_few_tokens" in printed.stdout
    narrowed = json.loads(CliRunner().invoke(command, [str(path), "--only", "provider", "--json"]).stdout)
    assert {finding["kind"] for finding in narrowed["findings"]} == {"provider"}
    unknown = CliRunner().invoke(command, [str(path), "--only", "typos"])
    assert "contradictions, repetition" in str(unknown.exception)


def test_a_run_that_is_not_to_be_counted_is_scanned_and_named(tmp_path: Path) -> None:
    run = good_run()
    run.note("the camera was swapped")
    assert scan(good_run(), run).excluded == (None, "the camera was swapped")
    printed = CliRunner().invoke(command, [str(run.write(tmp_path))]).stdout
    assert "not to be counted (the camera was swapped)" in printed


# ---- what a forced format hides ------------------------------------------------------------------

OPTIONS = ("straight", "lane_change", "stopped")


def monitored(*replies: tuple[str, str], value: str = "straight") -> RunBuilder:
    """One clip a reply: constrained it is ``value``, and without the schema what the reply says."""
    run = RunBuilder(run_id="watched", clips=[clip for clip, _ in replies], ledger=WIDE, axes=axes(F="schema"))
    for name, text in replies:
        clip = run.clip(name).turn("q_maneuver", "self", value=value, options=OPTIONS)
        asked: dict[str, Any] = {"stage": Stage.MONITOR, "question_id": "q_maneuver", "party": Party.SELF}
        clip.request(asked, 1, None)
        body = json.dumps({"choices": [{"index": 0, "message": {"content": text}, "finish_reason": "stop"}]}).encode()
        clip.add(CallCompleted(**asked, sample=0, attempt=1, status=200, body=run.blob(body), latency_s=1.0))
        clip.submit("open", ["차43-2", "차43-3"]).finish()
    return run


def test_monitored_replies_are_read_as_replies_are_and_held_beside_the_constrained_ones() -> None:
    run = monitored(
        ("strict", '{"status": "observed", "value": "straight"}'),
        ("fenced", 'Here you are:\n```json\n{"status": "observed", "value": "straight"}\n```'),
        ("prose", "It keeps its lane, I would say."),
        ("other", '{"status": "observed", "value": "stopped"}'),
        ("abstains", '{"status": "occluded", "value": null}'),
    )
    found = scan(run)
    (figures,) = found.format
    assert (figures.monitored, figures.strict, figures.loose, figures.unreadable) == (5, 3, 1, 1)
    assert sum(figures.reasons.values()) == 1
    assert (figures.compared, figures.same_answer) == (4, 2)
    told = {(finding.clip, finding.rule) for finding in found.findings if finding.kind == "format"}
    assert told == {
        ("fenced", "format_loose"),
        ("prose", "format_unreadable"),
        ("other", "format_changes_answer"),
        ("abstains", "format_changes_answer"),
    }
    assert all(finding.event.startswith("call.completed/") for finding in found.findings)


def test_a_run_without_monitored_calls_has_no_format_figures(tmp_path: Path) -> None:
    (figures,) = scan(good_run()).format
    assert (figures.monitored, figures.compared) == (0, 0)
    plain = CliRunner().invoke(command, [str(good_run().write(tmp_path))]).stdout
    assert "forced format" not in plain
    watched = CliRunner().invoke(command, [str(monitored(("c1", "no JSON")).write(tmp_path)), "--only", "format"])
    assert "Replies without the forced format" in watched.stdout
    assert "format_unreadable" in watched.stdout


def run_scan(*arguments: object) -> Result:
    return CliRunner().invoke(command, [str(argument) for argument in arguments])


def test_what_cannot_be_looked_for_is_said_with_the_reason_and_the_rest_is_scanned(tmp_path: Path) -> None:
    log = good_run().write(tmp_path)
    said = run_scan(log).stdout
    for kind in (
        "order not looked for: it takes two runs",
        "propagation not looked for: it takes labels",
        "format not",
    ):
        assert kind in said
    assert "nothing found" in said
    missing = json.loads(run_scan(log, "--json").stdout)["not_looked"]
    assert [(one["kind"], one["wants"]) for one in missing] == [
        ("order", "run"),
        ("propagation", "labels"),
        ("format", None),
    ]
    assert "not looked for" not in run_scan(log, "--only", "drift").stdout


@pytest.mark.parametrize(
    ("orders", "kinds", "message"),
    [
        (["ledger"], ["propagation"], "propagation: not looked for: .*--gold"),
        (["ledger"], ["order"], "order: not looked for: .*differ in axis O, and there is one, with O=ledger"),
        (["ledger", "ledger"], ["order"], "order: not looked for: .*all have O=ledger"),
        (["ledger"], ["order", "propagation"], "order: not looked for: .*propagation: not looked for"),
    ],
)
def test_asking_only_for_what_wants_labels_or_another_run_is_refused(
    tmp_path: Path, orders: list[str], kinds: list[str], message: str
) -> None:
    logs = [good_run(run_id=f"r{i}", order=order).write(tmp_path) for i, order in enumerate(orders)]
    refused = run_scan(*logs, *(part for kind in kinds for part in ("--only", kind)))
    assert isinstance(refused.exception, InputError)
    assert refused.exception.exit_code == 2
    assert re.search(message, str(refused.exception))


def test_a_run_with_nothing_to_look_at_is_no_refusal_but_is_not_called_clean(tmp_path: Path) -> None:
    unwatched = run_scan(good_run().write(tmp_path), "--only", "format")
    assert unwatched.exit_code == 0, unwatched.output
    assert "format not looked for: no call was monitored" in unwatched.stdout
    assert "nothing found" not in unwatched.stdout
    beside = run_scan(tmp_path / "run.db", "--only", "order", "--only", "drift")
    assert beside.exit_code == 0, beside.output
    assert "order not looked for" in beside.stdout
    assert "nothing found" in beside.stdout


def test_labels_and_runs_that_share_nothing_are_told_apart_from_missing_ones() -> None:
    elsewhere = labels(label("nowhere", answers={("q_maneuver", "self"): "straight"}))
    found = {
        one.kind: one for one in scan(good_run(), good_run("en", "o", "shuffle-1", ("c9",)), gold=elsewhere).not_looked
    }
    assert (found["propagation"].wants, found["order"].wants) == (None, None)
    assert "share no turn that both observed" in found["order"].why
    nothing = {one.kind for one in scan(RunBuilder(clips=["c1"], ledger=WIDE)).not_looked}
    assert nothing >= {"contradictions", "repetition", "drift", "provider"}
    uncounted = RunBuilder(clips=["c1"], ledger=WIDE)
    uncounted.clip("c1").turn("q_maneuver", "self", value="straight")
    assert (
        "prompt tokens both predicted and counted"
        in {one.kind: one.why for one in scan(uncounted).not_looked}["provider"]
    )
