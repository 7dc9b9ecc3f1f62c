"""A re-scoring as tables: what changed clip by clip and through which answer, then the sums."""

from collections.abc import Iterator

from vlmrec.projections.core import Projected
from vlmrec.projections.rescore import ChartChange, ClipChange, End, Rescored
from vlmrec.report.table import Table

SHOWN = 3


def rescore_tables(rescored: Projected[Rescored, None]) -> Iterator[Table]:
    """The clips whose result changed, the outcomes before and after, and what became of the answers."""
    result = rescored.result
    changed = [clip for clip in result.clips if clip.changed or clip.after.incomplete]
    notes = [
        f"{len(result.clips)} clips, {result.changed} changed; {result.incomplete} met an answer that is not stored"
    ]
    yield Table(
        f"{result.data_version_before} -> {result.data_version_after} ({result.mode})",
        ("clip", "before", "after", "through", "missing"),
        [_row(clip) for clip in changed],
        notes,
    )
    yield Table("outcomes", ("before -> after", "clips"), list(result.outcomes.items()))
    rows: list[tuple[str, int]] = [("kept", result.kept)]
    rows += [(f"approximate: {rule}", count) for rule, count in result.approximate.items()]
    rows += [(f"needs a new answer: {turn}", count) for turn, count in result.needs_new_answer.items()]
    yield Table("answers", ("what became of them", "count"), rows)


def _row(clip: ClipChange) -> tuple[str, str, str, str, str]:
    through = [f"- {_said(each)}" for each in clip.lost] + [f"+ {_said(each)}" for each in clip.gained]
    missing = [f"{ref.question_id}/{ref.party}" for ref in clip.missing]
    return clip.clip, _end(clip.before), _end(clip.after), _few(through, "; "), _few(missing, ", ")


def _few(items: list[str], between: str) -> str:
    """The first of a long list, and how many more there are; ``--json`` has them all."""
    rest = f"{between}… {len(items) - SHOWN} more" if len(items) > SHOWN else ""
    return between.join(items[:SHOWN]) + rest if items else "-"


def _end(end: End) -> str:
    charts = f" {', '.join(end.charts[:3])}{' …' if len(end.charts) > 3 else ''}" if end.charts else ""
    fault = f" ({end.fault_self}:{100 - end.fault_self})" if end.fault_self is not None else ""
    return f"{end.outcome}{' (incomplete)' if end.incomplete else ''}{charts}{fault}"


def _said(change: ChartChange) -> str:
    if change.question_id is None:
        return change.chart
    return f"{change.chart} by {change.question_id}/{change.party} = {change.value}"
