"""A comparison as tables: what differs in the settings, the runs side by side, and every contrast."""

from vlmrec.projections.compare import Comparison
from vlmrec.projections.contrasts import ALPHA, NO_DIFFERENCE, Contrast
from vlmrec.projections.core import Projected
from vlmrec.projections.meter import CallFigures
from vlmrec.report.names import run_names
from vlmrec.report.score_tables import layer2_cells
from vlmrec.report.table import Table, money, percent, points, probability, seconds
from vlmrec.stats.intervals import Interval


def compare_tables(projected: Projected[Comparison, tuple[CallFigures, ...]]) -> list[Table]:
    """All tables of a comparison, in reading order."""
    names = run_names(projected.provenance)
    one = projected.result
    tables = [
        _settings(one, names),
        _outcomes(one, names),
        _answers(one, names, projected.measured),
        contrasts_table(one, names, "clip", "Differences between runs: clips"),
        contrasts_table(one, names, "item", "Differences between runs: answers"),
    ]
    return [table for table in tables if table.rows]


def warnings(projected: Projected[Comparison, tuple[CallFigures, ...]]) -> list[str]:
    """What must be said before any figure: pairs that differ in more than one thing."""
    names = run_names(projected.provenance)
    return [f"{names[p.a]} and {names[p.b]}: {p.warning}" for p in projected.result.pairs if p.warning is not None]


def contrasts_table(one: Comparison, names: list[str], unit: str, title: str) -> Table:
    """The contrasts of one family, each with its verdict in words."""
    rows = [
        (
            f"{names[c.b]} - {names[c.a]}",
            c.metric,
            _share(c.count_a, c.share_a),
            _share(c.count_b, c.share_b),
            points(c.difference.estimate),
            between(c.difference, signed=True),
            c.differing,
            probability(c.p),
            probability(c.p_adjusted),
            in_words(c),
        )
        for c in one.contrasts
        if c.unit == unit
    ]
    columns = ("runs", "of", "first", "second", "points", "95 %", "clips that differ", "p", "corrected", "verdict")
    items = {(c.a, c.b): c.items for c in one.contrasts if c.unit == "item"}
    notes = [f"{names[b]} and {names[a]} both answered {n} labelled items" for (a, b), n in items.items()]
    return Table(title, columns, rows, notes if unit == "item" else [])


def in_words(contrast: Contrast) -> str:
    """The verdict, and with "no difference" what would have been seen."""
    if contrast.verdict != NO_DIFFERENCE:
        return contrast.verdict
    could = contrast.detectable.likely
    seen = f" ({contrast.clips} clips would show {100 * could:.0f} points)" if could is not None else ""
    corrected = " after correction" if contrast.p <= ALPHA < contrast.p_adjusted else ""
    return f"{NO_DIFFERENCE}{corrected}{seen}"


def between(interval: Interval, *, signed: bool = False) -> str:
    """An interval in points or percent."""
    if interval.low is None or interval.high is None:
        return "-"
    sign = "+" if signed else ""
    return f"{100 * interval.low:{sign}.1f} to {100 * interval.high:{sign}.1f}"


def _settings(one: Comparison, names: list[str]) -> Table:
    rows = []
    for pair in one.pairs:
        axes = ", ".join(f"{d.a} / {d.b}" for d in pair.axes) or "none"
        others = "; ".join(f"{d.what}: {d.a} / {d.b}" for d in pair.others) or "none"
        rows.append((f"{names[pair.a]} / {names[pair.b]}", axes, others, "yes" if pair.comparable else "no"))
    return Table("What differs", ("runs", "axes", "other settings", "comparable"), rows)


def _outcomes(one: Comparison, names: list[str]) -> Table:
    notes = [f"{len(one.clips)} clips are compared: {_some(one.clips)}"]
    notes += [f"left out, {reason}: {_some(clips)}" for reason, clips in one.left_out.items()]
    notes += [f"note on {names[i]}: {note.text}" for i, run in enumerate(one.runs) for note in run.notes]
    notes += list(one.caveats)
    cells = [layer2_cells(run.layer2) for run in one.runs]
    columns = ["run", *(name for name, _ in cells[0])]
    rows = [[name, *(value for _, value in row)] for name, row in zip(names, cells, strict=True)]
    return Table("Layer 2: the shared clips", columns, rows, notes)


def _answers(one: Comparison, names: list[str], measured: tuple[CallFigures, ...]) -> Table:
    rows = [
        (
            name,
            run.layer1.items,
            percent(run.layer1.accuracy),
            between(run.accuracy),
            run.layer1.missed,
            run.layer1.invented,
            money(calls.cost_usd, calls.cost_unknown),
            seconds(calls.latency_median_s),
        )
        for name, run, calls in zip(names, one.runs, measured, strict=True)
    ]
    columns = ("run", "items", "right", "95 %", "missed", "invented", "cost", "latency, median")
    return Table("Layer 1 and what it took", columns, rows)


def _share(count: int, share: float | None) -> str:
    return f"{count} ({percent(share)})" if share is not None else "-"


def _some(names: tuple[str, ...]) -> str:
    return ", ".join(names[:12]) + (f" and {len(names) - 12} more" if len(names) > 12 else "") if names else "none"
