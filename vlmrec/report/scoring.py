"""Brings a stored run and a folder of labels together: the labels are carried to the run's ledger, then scored."""

from pathlib import Path

from vlmrec.gold import GoldSet, load_gold
from vlmrec.projections.core import Projected, project
from vlmrec.projections.labels import only_clips
from vlmrec.projections.meter import CallFigures
from vlmrec.projections.score import Score, ScoreRun
from vlmrec.report.logs import open_sources, read_clip_set


def score_run(run: Path, gold: Path, *, clips: Path | None = None) -> Projected[Score, CallFigures]:
    """The score of the run at ``run`` against the labels in ``gold``, over all clips or those named in ``clips``."""
    only = read_clip_set(clips)
    with open_sources([run]) as logs:
        return project(ScoreRun(chosen(load_gold(gold), only)), logs, clips=only)


def chosen(gold: GoldSet, clips: frozenset[str] | None) -> GoldSet:
    """The labels of these clips; of all, for None."""
    return gold if clips is None else only_clips(gold, clips)
