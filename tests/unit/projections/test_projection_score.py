"""What a score says of runs whose answers and labels are known."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from runbuilder import RunBuilder
from samples import label, labels, sample_gold, sample_runs

from vlmrec.commands.score import command
from vlmrec.gold import OUT_OF_SCOPE, REVIEWED, GoldAnswer, GoldLabel, GoldSet
from vlmrec.projections.core import document, project
from vlmrec.projections.score import Score, ScoreRun
from vlmrec.protocol import Eliminated, EliminatedBy
from vlmrec.terms import Party, Status


def score(run: RunBuilder, gold: GoldSet) -> Score:
    return project(ScoreRun(gold), [run.log()]).result


@pytest.mark.parametrize(
    ("said", "seen", "verdict"),
    [
        ("straight", "straight", "correct"),
        ("straight", "stopped", "wrong"),
        (None, "stopped", "missed"),
        ("straight", "(occluded)", "invented"),
        (None, "(occluded)", "correct"),
    ],
)
def test_an_answer_beside_its_label_is_one_of_four(said: str | None, seen: str, verdict: str) -> None:
    run = RunBuilder(clips=["c"])
    run.clip("c").turn("q_maneuver", "self", value=said)
    total = score(run, labels(label("c", answers={("q_maneuver", "self"): seen}))).layer1.total
    assert (total.items, getattr(total, verdict)) == (1, 1)
    assert total.correct + total.wrong + total.missed + total.invented == 1


def test_what_was_not_asked_not_read_or_not_observable_is_no_item() -> None:
    run = RunBuilder(clips=["c"])
    clip = run.clip("c").turn("q_maneuver", "self", unusable="truncated").turn("q_signal", "other", put=False)
    clip.submit("open", ["x", "y"]).finish(incomplete=True)
    gold = labels(
        label(
            "c",
            answers={
                ("q_maneuver", "self"): "straight",
                ("q_signal", "other"): "(unknown)",
                ("q_collision", "none"): "yes",
            },
        )
    )
    one = score(run, gold).layer1
    assert one.total.items == 0
    assert (one.unusable, one.not_put, one.not_asked, one.unlabelled) == (1, 1, 1, 0)


def test_answers_are_counted_by_question_party_and_time_scope() -> None:
    run = RunBuilder(clips=["c"])
    clip = run.clip("c").turn("q_collision", "none", value="yes").turn("q_maneuver", "self", value="straight")
    clip.turn("q_maneuver", "other", value="stopped")
    gold = {("q_collision", "none"): "yes", ("q_maneuver", "self"): "straight", ("q_maneuver", "other"): "straight"}
    one = score(run, labels(label("c", answers=gold))).layer1
    assert [(t.question_id, t.party, t.tally.correct) for t in one.by_question] == [
        ("q_collision", "none", 1),
        ("q_maneuver", "other", 0),
        ("q_maneuver", "self", 1),
    ]
    assert {party: tally.items for party, tally in one.by_party.items()} == {"none": 1, "other": 1, "self": 1}
    assert {scope: tally.accuracy for scope, tally in one.by_time_scope.items()} == {"instant": 1.0, "span": 0.5}


def test_discipline_says_how_often_a_value_is_right_missed_and_invented() -> None:
    run = RunBuilder(clips=["a", "b", "c", "d"])
    for clip, said in {"a": "straight", "b": "straight", "c": None, "d": "stopped"}.items():
        run.clip(clip).turn("q_maneuver", "self", value=said, status=None if said else "off_screen")
    seen = {"a": "straight", "b": "stopped", "c": "(occluded)", "d": "(unknown)"}
    gold = labels(*(label(clip, answers={("q_maneuver", "self"): said}) for clip, said in seen.items()))
    found = score(run, gold).discipline
    assert (found.observed, found.precision) == (3, 1 / 3)
    assert (found.to_be_seen, found.recall, found.missed_share) == (2, 0.5, 0.0)
    assert (found.not_to_be_seen, found.invented_share) == (2, 0.5)
    assert found.kinds == {"occluded": {"off_screen": 1}}


@pytest.mark.parametrize(
    ("status", "charts", "leaf", "verdict"),
    [
        ("confirmed", ["차43-2"], "차43-2", "match"),
        ("confirmed", ["차43-3"], "차43-2", "misjudged"),
        ("confirmed", ["차43-2"], OUT_OF_SCOPE, "misjudged"),
        ("leading", ["차43-2"], "차43-2", "reserved"),
        ("open", ["차43-2", "차43-3"], "차43-2", "reserved"),
        ("none", [], "차43-2", "none"),
        ("out_of_scope", [], "차43-2", "scope_error"),
        ("out_of_scope", [], OUT_OF_SCOPE, "correct_out_of_scope"),
    ],
)
def test_a_clip_ends_as_layer_two_defines(status: str, charts: list[str], leaf: str, verdict: str) -> None:
    run = RunBuilder(clips=["c"])
    run.clip("c").submit(status, charts).finish()
    found = score(run, labels(label("c", leaf)))
    assert found.clips[0].verdict == verdict
    assert getattr(found.layer2, verdict) == found.layer2.clips == 1


def test_clips_that_failed_did_not_end_or_are_not_in_the_run_have_no_outcome() -> None:
    run = RunBuilder(clips=["failed", "unfinished", "reopened"])
    run.clip("failed").fail()
    run.clip("unfinished").submit("asking", ["차43-2", "차43-3"])
    run.clip("reopened").fail("timeout", retryable=True).submit("confirmed", ["차43-2"]).finish()
    gold = labels(*(label(clip, "차43-2") for clip in ("failed", "unfinished", "absent", "reopened")))
    found = score(run, gold)
    assert (found.layer2.clips, found.layer2.no_outcome, found.layer2.match) == (4, 3, 1)


def test_the_last_of_several_ends_stands() -> None:
    run = RunBuilder(clips=["c"])
    run.clip("c").submit("confirmed", ["차43-2"]).finish().submit("open", ["차43-2", "차43-3"]).finish()
    assert score(run, labels(label("c", "차43-2"))).layer2.reserved == 1


def test_excluded_clips_are_outside_every_count_of_layer_two_and_named_by_reason() -> None:
    run = RunBuilder(clips=["a", "b", "c"])
    for clip in ("a", "b", "c"):
        run.clip(clip).submit("confirmed", ["차43-2"]).finish()
    run.note("blurred lens", clip="b")
    found = score(
        run, labels(label("a", "차43-2", layer2_exclude="policy"), label("b", "차43-2"), label("c", "차43-2"))
    )
    assert (found.layer2.clips, found.layer2.match) == (1, 1)
    assert found.layer2.excluded == {"note: blurred lens": 1, "policy": 1}


def test_a_run_noted_as_not_to_be_counted_is_outside_every_count() -> None:
    run = RunBuilder(clips=["a", "b"])
    for clip in ("a", "b"):
        run.clip(clip).turn("q_maneuver", "self", value="straight").submit("confirmed", ["차43-2"]).finish()
    run.note("wrong engine")
    gold = labels(*(label(clip, "차43-2", answers={("q_maneuver", "self"): "straight"}) for clip in ("a", "b")))
    found = score(run, gold)
    assert (found.layer2.clips, found.layer2.match, found.layer1.total.items) == (0, 0, 0)
    assert found.layer2.excluded == {"note: the run: wrong engine": 2}


def test_a_turn_noted_as_not_to_be_counted_is_no_item() -> None:
    run = RunBuilder(clips=["c"])
    run.clip("c").turn("q_maneuver", "self", value="straight").turn("q_maneuver", "other", value="straight")
    run.note("wrong question shown", clip="c", turn=("q_maneuver", "self"))
    gold = labels(label("c", answers={("q_maneuver", "self"): "stopped", ("q_maneuver", "other"): "straight"}))
    assert score(run, gold).layer1.total.items == 1


def test_survival_counts_undecided_clips_whose_chart_is_still_there() -> None:
    run = RunBuilder(clips=["a", "b", "c", "d"])
    run.clip("a").submit("open", ["차43-2", "차43-3"]).finish()
    run.clip("b").submit("leading", ["차41-1"]).finish()
    run.clip("c").submit("none", []).finish()
    run.clip("d").submit("confirmed", ["차43-2"]).finish()
    found = score(run, labels(*(label(clip, "차43-2") for clip in "abcd"))).layer2
    assert (found.survival.survived, found.survival.undecided) == (1, 3)
    assert found.candidates_left == 1.5


def test_an_equivalent_chart_is_a_footnote_and_still_misjudged() -> None:
    run = RunBuilder(clips=["c"])
    run.clip("c").submit("confirmed", ["차43-3"]).finish()
    found = score(run, labels(label("c", "차43-2", equivalent_leaves=("차43-3",)))).layer2
    assert (found.misjudged, found.match, found.equivalent) == (1, 0, ("c",))


def test_the_review_stands_over_the_label() -> None:
    run = RunBuilder(clips=["c"])
    run.clip("c").submit("confirmed", ["차43-3"]).finish()
    assert score(run, labels(label("c", "차43-2", review_leaf="차43-3"))).layer2.match == 1


def test_the_cause_is_the_turn_and_answer_with_which_the_right_chart_went() -> None:
    run = RunBuilder(clips=["c"])
    clip = run.clip("c").turn("q_collision", "none", value="yes").submit("asking", ["차43-2", "차43-3"])
    clip.turn("q_maneuver", "other", value="straight")
    clip.submit(
        "none", [], eliminated=[("차43-2", "q_maneuver", "other", "straight"), ("차43-3", "q_signal", "other", "on")]
    )
    clip.finish()
    gold = labels(label("c", "차43-2", {("q_maneuver", "other"): "lane_change", ("q_collision", "none"): "yes"}))
    found = score(run, gold)
    cause = found.clips[0].cause
    assert cause is not None
    assert (cause.round, cause.chart) == (2, "차43-2")
    (by,) = cause.by
    assert (by.question_id, by.party, by.value, by.verdict) == ("q_maneuver", "other", "straight", "wrong")
    assert by.event == "answer.accepted/c/predicate/q_maneuver/other"
    assert [(lost.question_id, lost.clips, lost.names) for lost in found.lost] == [("q_maneuver", 1, ("c",))]
    assert found.scope_losses == ()


def test_a_right_answer_that_rules_out_one_assignment_is_not_what_cost_the_chart() -> None:
    """The chart goes with its second assignment; the wrong answer had taken the first one rounds before."""
    run = RunBuilder(clips=["c"])
    clip = run.clip("c").turn("q_maneuver", "self", value="stopped")
    first = [
        Eliminated(
            chart="차43-2", self_is="B", by=EliminatedBy(question_id="q_maneuver", party=Party.SELF, value="stopped")
        )
    ]
    clip.submit_eliminated("asking", ["차43-2", "차43-3"], first)
    clip.turn("q_maneuver", "other", value="lane_change")
    then = Eliminated(
        chart="차43-2", self_is="A", by=EliminatedBy(question_id="q_maneuver", party=Party.OTHER, value="lane_change")
    )
    clip.submit_eliminated("none", [], [*first, then])
    clip.finish()
    gold = labels(label("c", "차43-2", {("q_maneuver", "self"): "straight", ("q_maneuver", "other"): "lane_change"}))
    found = score(run, gold)
    cause = found.clips[0].cause
    assert cause is not None
    assert [(by.round, by.party, by.verdict, by.decisive) for by in cause.by] == [
        (1, "self", "wrong", True),
        (2, "other", "correct", False),
    ]
    assert [(lost.party, lost.value) for lost in found.lost] == [("self", "stopped")]


def test_a_gate_answered_wrongly_is_a_scope_loss() -> None:
    run = RunBuilder(clips=["c"])
    clip = run.clip("c").turn("q_collision", "none", value="no")
    clip.submit("out_of_scope", [], eliminated=[("차43-2", "q_collision", "none", "no")]).finish()
    found = score(run, labels(label("c", "차43-2", {("q_collision", "none"): "yes"})))
    assert found.layer2.scope_error == 1
    assert [(one.question_id, one.value, one.verdicts) for one in found.scope_losses] == [
        ("q_collision", "no", {"wrong": 1})
    ]


def test_labellers_who_disagree_leave_the_item_out_and_the_review_settles_it() -> None:
    run = RunBuilder(clips=["c"])
    run.clip("c").turn("q_maneuver", "self", value="straight").turn("q_maneuver", "other", value="straight")
    ours: dict[tuple[str, str], str] = {("q_maneuver", "self"): "straight", ("q_maneuver", "other"): "straight"}
    theirs = {**ours, ("q_maneuver", "self"): "stopped"}
    both = [label("c", answers=ours, labeler="A"), label("c", answers=theirs, labeler="B")]
    found = score(run, labels(*both))
    assert (found.layer1.total.items, found.gold.disputed) == (1, 1)
    assert found.labellers[0].answers.share == 0.5
    reviewed = score(run, labels(*both, label("c", answers={("q_maneuver", "self"): "stopped"}, labeler=REVIEWED)))
    assert (reviewed.layer1.total.items, reviewed.layer1.total.wrong, reviewed.gold.disputed) == (2, 1, 0)


def test_labels_of_another_ledger_are_left_out_and_counted() -> None:
    run = RunBuilder(clips=["c"])
    run.clip("c").turn("q_maneuver", "self", value="straight")
    found = score(run, labels(label("c", answers={("q_maneuver", "self"): "straight"}, data_version="older")))
    assert (found.layer1.total.items, found.gold.other_ledger) == (0, 1)


def test_demoted_answers_are_counted_with_how_many_were_right() -> None:
    run = RunBuilder(clips=["c"])
    run.clip("c").turn("q_maneuver", "self", demoted_from="straight").turn(
        "q_maneuver", "other", demoted_from="stopped"
    )
    gold = labels(label("c", answers={("q_maneuver", "self"): "straight", ("q_maneuver", "other"): "straight"}))
    one = score(run, gold).layer1
    assert (one.demoted, one.demoted_right, one.total.missed) == (2, 1, 2)


def test_evidence_counts_times_cited_and_those_that_meet_the_labels() -> None:
    run = RunBuilder(clips=["c"])
    run.clip("c").turn("q_maneuver", "self", value="straight", evidence=(1.0, 2.0)).turn(
        "q_signal", "other", value="on"
    )
    start = GoldAnswer(
        question_id="q_maneuver", party=Party.SELF, status=Status.OBSERVED, value="straight", evidence_start=1.5
    )
    found = score(run, labels(GoldLabel(clip_id="c", answers=(start,), data_version="test-ledger"))).evidence
    assert (found.observed, found.cited, found.comparable, found.overlapping) == (2, 1, 1, 1)


def test_stage_zero_is_compared_where_both_have_a_table() -> None:
    found = project(ScoreRun(sample_gold()), [sample_runs()[0].log()]).result.stage0
    assert found is not None
    assert (found.labelled, found.tables, found.unusable) == (3, 1, 2)
    assert found.contact_median_s == pytest.approx(0.3)
    assert (found.counterpart.right, found.heading.right, found.ego_lane.right) == (1, 1, 1)
    assert found.box_iou_median == pytest.approx(180 * 180 / (190 * 190 * 2 - 180 * 180))


def test_a_share_of_fault_is_compared_on_matches_only() -> None:
    run = RunBuilder(clips=["a", "b"])
    run.clip("a").submit("confirmed", ["차43-2"], fault=30).finish()
    run.clip("b").submit("confirmed", ["차43-3"], fault=30).finish()
    fault = score(run, labels(label("a", "차43-2", self_fault=40), label("b", "차43-2", self_fault=30))).fault
    assert (fault.clips, fault.exact, fault.within_range, fault.difference_median) == (1, 0, 0, 10)


def test_a_resumed_run_has_the_score_of_one_that_went_through() -> None:
    """Failed attempts and repeated submissions are part of what was measured, not of the score."""
    smooth, bumpy = RunBuilder(clips=["c"]), RunBuilder(clips=["c"])
    for run, failures in ((smooth, 0), (bumpy, 3)):
        clip = run.clip("c").turn("q_maneuver", "self", value="straight", failures=failures)
        clip.submit("confirmed", ["차43-2"]).finish()
    gold = labels(label("c", "차43-2", {("q_maneuver", "self"): "straight"}))
    assert score(smooth, gold) == score(bumpy, gold)
    assert project(ScoreRun(gold), [bumpy.log()]).measured.failed == 3


def test_costs_nobody_stated_stay_unknown() -> None:
    run = RunBuilder(clips=["c"])
    run.clip("c").turn("q_maneuver", "self", value="straight").turn("q_signal", "other", value="on", cost="0.10")
    measured = project(ScoreRun(labels()), [run.log()]).measured
    assert (str(measured.cost_usd), measured.cost_unknown) == ("0.10", 1)
    free = RunBuilder(clips=["c"])
    free.clip("c").turn("q_maneuver", "self", value="straight")
    assert project(ScoreRun(labels()), [free.log()]).measured.cost_usd is None


def test_the_command_prints_the_same_bytes_each_time(tmp_path: Path) -> None:
    log = sample_runs()[0].write(tmp_path)
    gold = write_gold_files(tmp_path / "gold")
    printed = [CliRunner().invoke(command, [str(log), "--gold", str(gold), "--json"]) for _ in range(2)]
    assert printed[0].exit_code == 0, printed[0].output
    assert printed[0].stdout == printed[1].stdout
    shown = json.loads(printed[0].stdout)
    assert {"measured", "provenance", "inputs", "layer1", "layer2"} <= set(shown)
    assert shown["provenance"][0]["run_id"] == "first"
    assert shown["layer2"]["match"] == 1
    in_memory = document(project(ScoreRun(sample_gold()), [sample_runs()[0].log()]))
    assert shown["layer1"] == json.loads(json.dumps(in_memory["layer1"]))


def test_the_table_names_every_verdict_and_the_cause(tmp_path: Path) -> None:
    log = sample_runs()[1].write(tmp_path)
    result = CliRunner().invoke(command, [str(log), "--gold", str(write_gold_files(tmp_path / "gold"))])
    assert result.exit_code == 0, result.output
    assert "Layer 2: clips" in result.stdout
    assert "q_maneuver/other=straight (wrong)" in result.stdout


def test_labels_of_other_clips_are_named_as_such(tmp_path: Path) -> None:
    run = RunBuilder(clips=["elsewhere"])
    run.clip("elsewhere").turn("q_maneuver", "self", value="straight").submit("open", ["x", "y"]).finish()
    result = CliRunner().invoke(command, [str(run.write(tmp_path)), "--gold", str(write_gold_files(tmp_path / "gold"))])
    assert result.exit_code == 0, result.output
    assert "none of the run's 1 clips has a label" in result.stdout


def test_a_clip_set_narrows_run_and_labels_alike(tmp_path: Path) -> None:
    log = sample_runs()[0].write(tmp_path)
    (tmp_path / "set").write_text("c1\n# a remark\n")
    gold = write_gold_files(tmp_path / "gold")
    result = CliRunner().invoke(command, [str(log), "--gold", str(gold), "--clips", str(tmp_path / "set"), "--json"])
    assert json.loads(result.stdout)["layer2"]["clips"] == 1


def write_gold_files(folder: Path) -> Path:
    from vlmrec.gold import write_gold

    gold = sample_gold()
    for one in (*gold.reviewed.values(), *(one for by in gold.labellers.values() for one in by.values())):
        write_gold(folder, one)
    return folder
