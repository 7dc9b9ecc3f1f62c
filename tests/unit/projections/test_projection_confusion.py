"""What runs take for what."""

import json
from pathlib import Path

from click.testing import CliRunner
from runbuilder import RunBuilder, axes
from samples import label, labels

from vlmrec.commands.confusion import command
from vlmrec.gold import GoldSet, write_gold
from vlmrec.projections.confusion import ConfusionOfQuestion
from vlmrec.projections.core import project

SEEN = {"a": "straight", "b": "straight", "c": "lane_change", "d": "(occluded)"}
SAID = {
    "first": {"a": "straight", "b": "lane_change", "c": "straight", "d": None},
    "second": {"a": "straight", "b": "straight"},
}


def world() -> tuple[list[RunBuilder], GoldSet]:
    runs = []
    for name, answers in SAID.items():
        run = RunBuilder(run_id=name, clips=list(SEEN), axes=axes(L="ko" if name == "first" else "en"))
        for clip, value in answers.items():
            run.clip(clip).turn("q_maneuver", "other", value=value)
        runs.append(run)
    return runs, labels(*(label(clip, answers={("q_maneuver", "other"): said}) for clip, said in SEEN.items()))


def test_matrices_stand_side_by_side_over_the_same_columns_with_clips_behind_each_cell() -> None:
    runs, gold = world()
    one = project(ConfusionOfQuestion(gold, "q_maneuver"), [run.log() for run in runs]).result
    first, second = one.matrices
    assert first.answered == second.answered == ("lane_change", "straight", "(occluded)", "(unknown)")
    cells = {(cell.seen, cell.answered): cell.clips for cell in first.cells}
    assert cells == {
        ("lane_change", "straight"): ("c",),
        ("straight", "lane_change"): ("b",),
        ("straight", "straight"): ("a",),
        ("(occluded)", "(unknown)"): ("d",),
    }
    assert (first.items, first.right, second.items, second.right) == (4, 2, 2, 2)


def test_a_clip_noted_as_not_to_be_counted_is_in_no_matrix() -> None:
    runs, gold = world()
    runs[1].note("wrong file", clip="a")
    one = project(ConfusionOfQuestion(gold, "q_maneuver"), [run.log() for run in runs]).result
    assert [matrix.items for matrix in one.matrices] == [3, 1]
    assert one.excluded == ("a",)


def test_a_run_noted_as_not_to_be_counted_has_nothing_in_its_matrix() -> None:
    runs, gold = world()
    runs[1].note("wrong engine")
    one = project(ConfusionOfQuestion(gold, "q_maneuver"), [run.log() for run in runs]).result
    assert [matrix.items for matrix in one.matrices] == [4, 0]
    assert one.excluded


def test_the_command_draws_them_and_names_the_clips(tmp_path: Path) -> None:
    runs, gold = world()
    for one in gold.reviewed.values():
        write_gold(tmp_path / "gold", one)
    paths = [str(run.write(tmp_path)) for run in runs]
    arguments = [*paths, "--gold", str(tmp_path / "gold"), "--question", "q_maneuver"]
    printed = CliRunner().invoke(command, arguments)
    assert printed.exit_code == 0, printed.output
    assert "q_maneuver / other: first, 50.0% of 4 right" in printed.stdout
    assert "straight answered as lane_change: b" in printed.stdout
    assert len(json.loads(CliRunner().invoke(command, [*arguments, "--json"]).stdout)["matrices"]) == 2


def test_a_question_that_the_ledger_does_not_have_is_refused_with_those_it_has(tmp_path: Path) -> None:
    write_gold(tmp_path / "gold", next(iter(world()[1].reviewed.values())))
    path = RunBuilder(clips=["a"]).write(tmp_path)
    printed = CliRunner().invoke(command, [str(path), "--gold", str(tmp_path / "gold"), "--question", "q_manoeuvre"])
    assert "q_collision, q_maneuver, q_signal" in str(printed.exception)
