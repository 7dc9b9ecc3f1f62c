"""The plots of a report, over the viewer's plain SVG: the same bytes everywhere, readable in print. Pure."""

from collections.abc import Sequence
from xml.sax.saxutils import escape

from vlmrec.projections.compare import Comparison
from vlmrec.projections.confusion import Matrix
from vlmrec.projections.contrasts import Contrast
from vlmrec.projections.layer2 import Ending, Layer2
from vlmrec.projections.meter import CallFigures
from vlmrec.projections.narrowing import Narrowing
from vlmrec.report.document import Plot
from vlmrec.viewer import plots


def outcome_bars(names: Sequence[str], layers: Sequence[Layer2]) -> Plot:
    """Clips by verdict, a bar for each run."""
    kinds = [str(kind) for kind in Ending]
    rows = [(name, {kind: getattr(layer, kind) for kind in kinds}) for name, layer in zip(names, layers, strict=True)]
    used = [kind for kind in kinds if any(counts[kind] for _, counts in rows)]
    caption = f"{layers[0].clips} labelled clips; reserved is harmless, misjudged, none and scope_error are not"
    return Plot("outcomes", "How clips ended, by run", plots.stacked_bars(rows, used), caption)


def interval_rows(names: Sequence[str], one: Comparison) -> Plot:
    """Shares of each run with their intervals."""
    points = []
    for name, run in zip(names, one.runs, strict=True):
        for what, found in (
            ("answers right", run.accuracy),
            ("match", run.shares["match"]),
            ("label kept", run.shares["label_kept"]),
        ):
            if found.estimate is not None and found.low is not None and found.high is not None:
                points.append(plots.Point(f"{name}: {what}", found.estimate, found.low, found.high))
    return Plot(
        "shares",
        "Shares with 95 % intervals",
        plots.intervals(points),
        "by clip: bootstrap-t for answers, Wilson for clips",
    )


def difference_rows(names: Sequence[str], contrasts: Sequence[Contrast]) -> Plot:
    """Differences between runs on a scale with nought in the middle; a filled mark is a difference after correction."""
    shown = [c for c in contrasts if c.difference.estimate is not None and c.differing]
    left, right, top, step = 320, plots.WIDTH - 130, 20, 26
    most = max([0.05, *(abs(end) for c in shown for end in (c.difference.low or 0.0, c.difference.high or 0.0))])
    middle, scale = (left + right) / 2, (right - left) / 2 / most
    bottom = top + len(shown) * step
    parts = [f'<line x1="{middle}" y1="{top - 6}" x2="{middle}" y2="{bottom + 6}" stroke="#1a1a1a"/>']
    for share in (-most, -most / 2, most / 2, most):
        x = middle + share * scale
        parts.append(f'<line x1="{x:.1f}" y1="{top - 6}" x2="{x:.1f}" y2="{bottom + 6}" stroke="#dfe3e8"/>')
        parts.append(_text(x, bottom + 22, f"{100 * share:+.0f}", "middle"))
    for at, c in enumerate(shown):
        y = top + at * step + 12
        ends = (c.difference.low or 0.0, c.difference.high or 0.0)
        x, low, high = (middle + value * scale for value in (c.difference.estimate or 0.0, *ends))
        real = c.verdict in ("higher", "lower")
        colour = "#d55e00" if real else "#0072b2"
        parts.append(_text(left - 10, y + 5, f"{names[c.b]} - {names[c.a]}: {c.metric}"[:46], "end"))
        parts.append(f'<line x1="{low:.1f}" y1="{y}" x2="{high:.1f}" y2="{y}" stroke="{colour}" stroke-width="3"/>')
        fill = colour if real else "#fff"
        parts.append(f'<circle cx="{x:.1f}" cy="{y}" r="5" fill="{fill}" stroke="{colour}" stroke-width="2"/>')
        parts.append(_text(right + 12, y + 5, f"{100 * (c.difference.estimate or 0.0):+.1f} points", "start"))
    svg = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {plots.WIDTH} {bottom + 34:.0f}" role="img" '
        f'font-family="system-ui, Noto Sans KR, sans-serif" font-size="13">'
        f'<rect width="{plots.WIDTH}" height="{bottom + 34:.0f}" fill="#fff"/>{"".join(parts)}</svg>'
    )
    caption = (
        "points of percent with 95 % intervals, each alone; filled: a difference after correction for all contrasts"
    )
    return Plot("differences", "Differences between runs", svg, caption)


def cost_and_accuracy(names: Sequence[str], one: Comparison, measured: Sequence[CallFigures]) -> Plot | None:
    """Accuracy against cost, for runs whose cost is known; None where none is."""
    points = []
    for name, run, calls in zip(names, one.runs, measured, strict=True):
        found = run.accuracy
        if calls.cost_usd is None or found.estimate is None or found.low is None or found.high is None:
            continue
        points.append(plots.Point(name, found.estimate, found.low, found.high, float(calls.cost_usd)))
    if not points or not any(point.x for point in points):
        return None
    return Plot("cost", "Answers right against cost", plots.scatter(points, x_name="cost, USD", y_name="answers right"))


def narrowing_lines(names: Sequence[str], narrowing: Narrowing) -> Plot | None:
    """The median number of charts left after each round."""
    series = [
        (name, [one.median for one in rounds]) for name, rounds in zip(names, narrowing.runs, strict=True) if rounds
    ]
    if not series:
        return None
    svg = plots.lines(series, x_name="round, from the gates on", y_name="charts left")
    return Plot(
        "narrowing", "Charts left, round by round", svg, "median over clips; a clip that has ended stays where it ended"
    )


def confusion_map(name: str, matrix: Matrix) -> Plot:
    """One matrix as a heat map."""
    counts = {(cell.seen, cell.answered): cell.count for cell in matrix.cells}
    title = f"{matrix.question_id} / {matrix.party}: {name}"
    svg = plots.heat_map(matrix.seen, matrix.answered, counts)
    return Plot(f"confusion-{matrix.run + 1}-{matrix.party}", title, svg, "rows: the label; columns: the answer")


def _text(x: float, y: float, text: str, anchor: str) -> str:
    plain = "".join(char if char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in text)
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="#1a1a1a">{escape(plain)}</text>'
