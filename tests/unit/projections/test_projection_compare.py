"""Runs side by side: what may be compared, over which clips, and what is said of the difference."""

import json
from itertools import accumulate
from pathlib import Path

import pytest
from click.testing import CliRunner
from runbuilder import RunBuilder, axes
from samples import label, labels

from vlmrec.commands.compare import command
from vlmrec.gold import GoldSet, write_gold
from vlmrec.projections.compare import CompareRuns, Comparison
from vlmrec.projections.contrasts import Contrast, item_contrast
from vlmrec.projections.core import project

CHART, ANOTHER = "차43-2", "차43-3"
STUDY = {  # 53 clips: match, misjudged, reserved, none, scope_error; undecided clips whose chart survived
    "full": (1, 2, 32, 5, 13, 17),
    "frames": (2, 1, 13, 18, 19, 1),
    "window": (1, 3, 10, 22, 17, 3),
}
STUDY_CLIPS = [f"clip-{i:03}" for i in range(53)]


def study_run(name: str, figures: tuple[int, ...]) -> RunBuilder:
    run = RunBuilder(run_id=name, clips=STUDY_CLIPS, axes=axes(V={"frames": "frames-8"}.get(name, name)))
    match, misjudged, reserved, _, scope, survived = figures
    ends = list(accumulate((match, misjudged, reserved)))
    for i, clip_id in enumerate(STUDY_CLIPS):
        clip = run.clip(clip_id)
        if i < ends[0]:
            clip.submit("confirmed", [CHART])
        elif i < ends[1]:
            clip.submit("confirmed", [ANOTHER])
        elif i < ends[2]:
            clip.submit("open", [CHART, ANOTHER] if i - ends[1] < survived else [ANOTHER, "차41-1"])
        elif i >= len(STUDY_CLIPS) - scope:
            clip.submit("out_of_scope")
        else:
            clip.submit("none")
        clip.finish()
    return run


def study_gold() -> GoldSet:
    return labels(*(label(clip, CHART) for clip in STUDY_CLIPS))


def compare(*runs: RunBuilder, gold: GoldSet, resamples: int = 500) -> Comparison:
    return project(CompareRuns(gold, resamples=resamples), [run.log() for run in runs]).result


def contrast(comparison: Comparison, metric: str, a: int = 0, b: int = 1) -> Contrast:
    return next(c for c in comparison.contrasts if (c.metric, c.a, c.b) == (metric, a, b))


def test_the_three_runs_of_a_known_study_give_its_table_and_no_difference_in_matches(tmp_path: Path) -> None:
    runs = [study_run(name, figures) for name, figures in STUDY.items()]
    comparison = compare(*runs, gold=study_gold())
    for run, figures in zip(comparison.runs, STUDY.values(), strict=True):
        found = run.layer2
        assert (found.match, found.misjudged, found.reserved, found.none, found.scope_error) == figures[:5]
        assert found.clips == 53
        assert found.survival.survived == figures[5]
    assert [run.layer2.survival.undecided for run in comparison.runs] == [37, 31, 32]
    assert {c.verdict for c in comparison.contrasts if c.metric == "match"} == {"no difference"}

    for one in study_gold().reviewed.values():
        write_gold(tmp_path / "gold", one)
    paths = [str(run.write(tmp_path)) for run in runs]
    printed = CliRunner().invoke(command, [*paths, "--gold", str(tmp_path / "gold"), "--resamples", "200"])
    assert printed.exit_code == 0, printed.output
    table = printed.stdout.split("Layer 2: the shared clips")[1].split("Layer 1 and")[0]
    outcomes = [line.split() for line in table.splitlines() if line.startswith(("full ", "frames ", "window "))]
    assert outcomes[0][1:10] == ["53", "1", "2", "32", "5", "13", "0", "0", "17/37"]
    assert outcomes[1][1:10] == ["53", "2", "1", "13", "18", "19", "0", "0", "1/31"]
    assert outcomes[2][1:10] == ["53", "1", "3", "10", "22", "17", "0", "0", "3/32"]
    matches = [line for line in printed.stdout.splitlines() if "  match " in line and " - " in line]
    assert len(matches) == 3
    assert all("no difference" in line for line in matches)


def test_a_difference_in_survival_of_that_study_is_found() -> None:
    runs = [study_run(name, figures) for name, figures in STUDY.items()]
    comparison = compare(*runs, gold=study_gold())
    kept = contrast(comparison, "label_kept")
    assert (kept.count_a, kept.count_b, kept.verdict) == (18, 3, "lower")


def two_runs(
    of_a: list[str | None], of_b: list[str | None], seen: str = "straight"
) -> tuple[RunBuilder, RunBuilder, GoldSet]:
    """One item a clip."""
    clips = [f"c{i}" for i in range(len(of_a))]
    runs = []
    for name, said, way in (("a", of_a, "ledger"), ("b", of_b, "shuffle-1")):
        run = RunBuilder(run_id=name, clips=clips, axes=axes(O=way))
        for clip, value in zip(clips, said, strict=True):
            run.clip(clip).turn("q_maneuver", "self", value=value).submit("open", [CHART, ANOTHER]).finish()
        runs.append(run)
    gold = labels(*(label(clip, CHART, {("q_maneuver", "self"): seen}) for clip in clips))
    return runs[0], runs[1], gold


def test_a_clear_difference_in_answers_is_said_to_be_one() -> None:
    a, b, gold = two_runs(["stopped"] * 20, ["straight"] * 16 + ["stopped"] * 4)
    comparison = compare(a, b, gold=gold)
    correct = contrast(comparison, "correct")
    assert (correct.count_a, correct.count_b, correct.differing, correct.verdict) == (0, 16, 16, "higher")
    assert correct.p == pytest.approx(2 / 2**16)
    assert correct.difference.low is not None
    assert correct.difference.low > 0
    assert contrast(comparison, "missed").verdict == "no difference"


def test_a_run_without_a_right_answer_has_an_accuracy_of_0_or_more() -> None:
    a, b, gold = two_runs(["stopped"] * 4, ["straight"] * 4)
    wrong, right = (run.accuracy for run in compare(a, b, gold=gold).runs)
    assert (wrong.low, wrong.high) == pytest.approx((0, 1 - 0.025**0.25))
    assert (right.low, right.high) == pytest.approx((0.025**0.25, 1))


@pytest.mark.parametrize(("of_a", "of_b"), [([2], [4]), ([0, 0, 1, 0], [0, 0, 2, 9])])
def test_a_difference_of_items_is_mirrored_when_the_runs_change_places(of_a: list[int], of_b: list[int]) -> None:
    """One run is ahead or level in every clip, and yet the true difference may be below 0."""
    items = [11] * len(of_a)
    there = item_contrast(0, 1, "correct", of_a, of_b, items, seed=0, resamples=2000).difference
    back = item_contrast(0, 1, "correct", of_b, of_a, items, seed=0, resamples=2000).difference
    assert there.low is not None
    assert there.high is not None
    assert there.low < 0 < there.high
    assert (back.low, back.high) == pytest.approx((-there.high, -there.low))


def test_runs_in_one_and_the_same_way_show_no_difference_and_say_what_would_have_shown() -> None:
    a, b, gold = two_runs(["straight"] * 30, ["straight"] * 30)
    comparison = compare(a, b, gold=gold)
    assert {c.verdict for c in comparison.contrasts} == {"no difference"}
    match = contrast(comparison, "match")
    assert match.detectable.least is not None
    assert match.detectable.least == pytest.approx(8 / 30)  # six clips at 5 %, eight at 5 % by six contrasts


def test_items_of_one_clip_do_not_count_as_independent() -> None:
    """Forty items that all lie in two clips can't show a difference."""
    runs = []
    for name, value in (("a", "stopped"), ("b", "straight")):
        run = RunBuilder(run_id=name, clips=["c1", "c2"], axes=axes(O="ledger" if name == "a" else "shuffle-1"))
        for clip_id in ("c1", "c2"):
            clip = run.clip(clip_id)
            for i in range(20):
                clip.turn(f"q_{i}", "self", value=value)
            clip.submit("open", [CHART, ANOTHER]).finish()
        runs.append(run)
    seen = {(f"q_{i}", "self"): "straight" for i in range(20)}
    comparison = compare(*runs, gold=labels(label("c1", CHART, seen), label("c2", CHART, seen)))
    correct = contrast(comparison, "correct")
    assert (correct.count_a, correct.count_b, correct.items) == (0, 40, 40)
    assert (correct.p, correct.verdict) == (0.5, "no difference")


def test_only_clips_that_every_run_was_given_and_nobody_excluded_are_compared() -> None:
    a = RunBuilder(run_id="a", clips=["both", "only-a", "noted", "policy"])
    b = RunBuilder(run_id="b", clips=["both", "noted", "policy", "failed"], axes=axes(L="en"))
    for run, clips in ((a, ["both", "only-a", "noted", "policy"]), (b, ["both", "noted", "policy"])):
        for clip in clips:
            run.clip(clip).submit("confirmed", [CHART]).finish()
    b.note("camera fell", clip="noted")
    gold = labels(
        *(label(c, CHART) for c in ("both", "only-a", "noted")), label("policy", CHART, layer2_exclude="policy")
    )
    comparison = compare(a, b, gold=gold)
    assert comparison.clips == ("both",)
    assert comparison.left_out == {
        "excluded (note: camera fell)": ("noted",),
        "excluded (policy)": ("policy",),
        "not in run 2": ("only-a",),
    }


def test_a_failed_clip_stays_in_the_comparison_as_no_outcome() -> None:
    a, b = RunBuilder(run_id="a", clips=["c"]), RunBuilder(run_id="b", clips=["c"], axes=axes(L="en"))
    a.clip("c").submit("confirmed", [CHART]).finish()
    b.clip("c").fail()
    comparison = compare(a, b, gold=labels(label("c", CHART)))
    assert [run.layer2.no_outcome for run in comparison.runs] == [0, 1]


def test_a_run_noted_as_not_to_be_counted_is_in_no_contrast_and_named() -> None:
    a, b, gold = two_runs(["stopped"] * 20, ["straight"] * 20)
    b.note("wrong engine")
    comparison = compare(a, b, gold=gold)
    assert comparison.contrasts == ()
    assert comparison.runs[1].excluded == "wrong engine"
    assert any("wrong engine" in caveat for caveat in comparison.caveats)


@pytest.mark.parametrize(
    ("of_b", "manifest", "comparable", "said"),
    [
        ({"L": "en"}, {}, True, None),
        ({"L": "en"}, {"prompts": {"turn.en": "x"}}, True, None),
        ({"M": "other/model"}, {"model": "other/model"}, True, None),
        (
            {"M": "human/A"},
            {"model": "human/A", "parameters": {}, "extra": {"imported": {}, "source": "stored"}},
            True,
            None,
        ),
        ({"L": "en"}, {"extra": {"given": {"c": 3}, "parent": {}}}, True, None),
        ({"L": "en"}, {"extra": {"mode": "all"}}, False, "extra.mode"),
        ({}, {}, False, "no axis differs"),
        ({"L": "en", "F": "schema"}, {}, False, "2 axes differ"),
        ({"L": "en"}, {"parameters": {"temperature": 0.7}}, False, "parameters.temperature"),
        ({"L": "en"}, {"engine_version": "later"}, False, "engine_version"),
        ({"L": "en"}, {"prompts": {"turn.ko": "changed"}}, False, "prompt turn.ko"),
    ],
)
def test_runs_are_comparable_when_one_axis_differs_and_nothing_else(
    of_b: dict[str, str], manifest: dict[str, object], comparable: bool, said: str | None
) -> None:
    a = RunBuilder(run_id="a", clips=["c"], prompts={"turn.ko": "as it was"}, parameters={"temperature": 0.0})
    settings = {"prompts": {"turn.ko": "as it was"}, "parameters": {"temperature": 0.0}, **manifest}
    b = RunBuilder(run_id="b", clips=["c"], axes=axes(**of_b), **settings)
    (pair,) = compare(a, b, gold=labels(label("c", CHART))).pairs
    assert pair.comparable is comparable
    assert (pair.warning is None) if said is None else (said in (pair.warning or ""))


def test_few_clips_are_a_caveat_with_the_coverage_that_was_found(tmp_path: Path) -> None:
    a, b, gold = two_runs(["straight"] * 12, ["straight"] * 12)
    assert any("only 12 clips" in caveat and "%" in caveat for caveat in compare(a, b, gold=gold).caveats)


def test_the_order_of_runs_is_the_order_named() -> None:
    a, b, gold = two_runs(["stopped"] * 20, ["straight"] * 20)
    assert contrast(compare(a, b, gold=gold), "correct").verdict == "higher"
    assert contrast(compare(b, a, gold=gold), "correct").verdict == "lower"


def test_the_command_warns_on_stderr_and_gives_one_json_document(tmp_path: Path) -> None:
    a, b, gold = two_runs(["straight"] * 6, ["stopped"] * 6)
    b.events[0] = RunBuilder(run_id="b", clips=[f"c{i}" for i in range(6)], axes=axes(O="shuffle-1", L="en")).events[0]
    for one in gold.reviewed.values():
        write_gold(tmp_path / "gold", one)
    arguments = [str(a.write(tmp_path)), str(b.write(tmp_path)), "--gold", str(tmp_path / "gold"), "--resamples", "200"]
    printed = [CliRunner().invoke(command, [*arguments, "--json"]) for _ in range(2)]
    assert printed[0].exit_code == 0, printed[0].output
    assert printed[0].stdout == printed[1].stdout
    assert "2 axes differ" in printed[0].stderr
    assert len(json.loads(printed[0].stdout)["clips"]) == 6


def test_one_run_alone_and_runs_of_two_ledgers_are_refused(tmp_path: Path) -> None:
    gold = write_gold(tmp_path / "gold", label("c")).parent
    one = RunBuilder(run_id="one", clips=["c"]).write(tmp_path)
    other = RunBuilder(run_id="other", clips=["c"], data_version="another").write(tmp_path)
    alone = CliRunner().invoke(command, [str(one), "--gold", str(gold)])
    assert "two or more" in str(alone.exception)
    mixed = CliRunner().invoke(command, [str(one), str(other), "--gold", str(gold)])
    assert "different ledgers" in str(mixed.exception)
