"""``--clips SET``: an id that nobody knows is refused by name, so that a slip of the pen drops no clip unseen."""

from pathlib import Path

import pytest
from runbuilder import RunBuilder
from samples import label

from vlmrec.errors import InputError
from vlmrec.gold import write_gold
from vlmrec.report.scoring import scan_runs, score_run


def stored(folder: Path) -> Path:
    run = RunBuilder(clips=["a", "한글"])
    for clip in ("a", "한글"):
        run.clip(clip).turn("q_maneuver", "other", value="straight")
    for clip in ("a", "labelled"):
        write_gold(folder / "gold", label(clip, answers={("q_maneuver", "other"): "straight"}))
    return run.write(folder)


def clip_set(folder: Path, *ids: str) -> Path:
    path = folder / "set.txt"
    path.write_text("\n".join(ids) + "\n", "utf-8")
    return path


@pytest.mark.parametrize("ids", [("nope",), ("a", "nope")])
def test_an_unknown_clip_is_refused_by_name(tmp_path: Path, ids: tuple[str, ...]) -> None:
    run, clips = stored(tmp_path), clip_set(tmp_path, *ids)
    with pytest.raises(InputError, match=r"set\.txt: no clip 'nope' in these runs or labels"):
        score_run(run, tmp_path / "gold", clips=clips)
    with pytest.raises(InputError, match="no clip 'nope'"):
        scan_runs([run], None, clips=clips)


def test_a_clip_of_the_run_or_of_the_labels_is_taken(tmp_path: Path) -> None:
    run = stored(tmp_path)
    score = score_run(run, tmp_path / "gold", clips=clip_set(tmp_path, "a", "한글", "labelled")).result
    assert {row.clip for row in score.clips} == {"a", "labelled"}  # what has no label has no row
