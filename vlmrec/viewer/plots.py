"""Plots as SVG text, readable in print and for the colour-blind. Pure.

Colours are Okabe and Ito's; beside colour every series differs by a pattern or a marker, and every value
is written where there is room. Text from outside is escaped here, in one place.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple
from xml.sax.saxutils import escape, quoteattr

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#806000", "#56b4e9", "#000000")
SHADES = ("#1b6f4a", "#c44e00", "#7a8794", "#8b2f6b", "#5a5a00", "#3d7fb5", "#c9ced6")
MARKERS = ("circle", "square", "diamond", "triangle", "plus", "cross", "bar")
WIDTH = 860
_FONT = 'font-family="system-ui, Noto Sans KR, Noto Sans CJK KR, sans-serif" font-size="13"'


class Point(NamedTuple):
    """A value with its interval; ``x`` is None where the plot has one axis only."""

    name: str
    y: float
    low: float
    high: float
    x: float | None = None


def stacked_bars(rows: Sequence[tuple[str, Mapping[str, int]]], kinds: Sequence[str]) -> str:
    """One bar a row, its parts in the order of ``kinds``, each with its count."""
    left, top, height = 190, 40, 30
    total = max([1, *(sum(counts.values()) for _, counts in rows)])
    scale = (WIDTH - left - 20) / total
    parts = [_legend(kinds)]
    for at, (name, counts) in enumerate(rows):
        y, x = top + at * (height + 8), float(left)
        parts.append(_text(left - 8, y + 20, name, anchor="end"))
        for kind_at, kind in enumerate(kinds):
            count = counts.get(kind, 0)
            if count:
                width = count * scale
                parts.append(
                    f'<rect x="{x:.1f}" y="{y}" width="{width:.1f}" height="{height}" fill="{SHADES[kind_at % 7]}" '
                    f'stroke="#fff"/>{_hatch(x, y, width, height, kind_at)}'
                )
                if width > 16:
                    parts.append(_text(x + width / 2, y + 20, str(count), anchor="middle", fill="#fff", halo=True))
                x += width
    return _svg(top + len(rows) * (height + 8) + 6, parts)


def heat_map(rows: Sequence[str], columns: Sequence[str], counts: Mapping[tuple[str, str], int]) -> str:
    """Counts by row (what it should be) and column (what it was)."""
    left, top, cell = 150, 110, min(64, (WIDTH - 170) // max(1, len(columns)))
    most = max([1, *counts.values()])
    parts = [
        f'<g transform="translate({left + at * cell + cell / 2},{top - 8}) rotate(-40)">{_text(0, 0, name)}</g>'
        for at, name in enumerate(columns)
    ]
    for row_at, row in enumerate(rows):
        y = top + row_at * 28
        parts.append(_text(left - 8, y + 19, row, anchor="end"))
        for column_at, column in enumerate(columns):
            count = counts.get((row, column), 0)
            share = count / most
            fill = _blend(share)
            edge = 'stroke="#111" stroke-width="2"' if row == column else 'stroke="#c9ced6"'
            parts.append(
                f'<rect x="{left + column_at * cell}" y="{y}" width="{cell}" height="28" fill="{fill}" {edge}/>'
            )
            if count:
                colour = "#fff" if share > 0.5 else "#111"
                parts.append(
                    _text(left + column_at * cell + cell / 2, y + 19, str(count), anchor="middle", fill=colour)
                )
    return _svg(top + len(rows) * 28 + 10, parts)


def lines(series: Sequence[tuple[str, Sequence[float]]], *, x_name: str, y_name: str) -> str:
    """One line a series over 0, 1, 2, …, with a marker at each value."""
    left, top, right, bottom = 60, 40, WIDTH - 20, 300
    longest = max([2, *(len(values) for _, values in series)])
    most = max([1.0, *(value for _, values in series for value in values)])
    parts = [_legend([name for name, _ in series], marked=True), *_axes(left, top, right, bottom, x_name, y_name)]
    for tick in range(longest):
        parts.append(_text(_at(tick, longest - 1, left, right), bottom + 18, str(tick), anchor="middle"))
    for share in (0.0, 0.5, 1.0):
        y = bottom - share * (bottom - top)
        parts.append(f'<line x1="{left}" y1="{y}" x2="{right}" y2="{y}" stroke="#dfe3e8"/>')
        parts.append(_text(left - 6, y + 4, f"{share * most:.4g}", anchor="end"))
    for at, (_, values) in enumerate(series):
        places = [(_at(i, longest - 1, left, right), bottom - v / most * (bottom - top)) for i, v in enumerate(values)]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
        parts.append(f'<polyline points="{path}" fill="none" stroke="{COLOURS[at % 7]}" stroke-width="2"/>')
        parts.extend(_marker(x, y, at) for x, y in places)
    return _svg(bottom + 44, parts)


def scatter(points: Sequence[Point], *, x_name: str, y_name: str) -> str:
    """Points with a vertical interval; y is a share from 0 to 1."""
    left, top, right, bottom = 60, 40, WIDTH - 40, 320
    most = max([1e-9, *(point.x or 0 for point in points)])
    parts = [_legend([point.name for point in points], marked=True), *_axes(left, top, right, bottom, x_name, y_name)]
    for share in (0.0, 0.25, 0.5, 0.75, 1.0):
        y = bottom - share * (bottom - top)
        parts.append(f'<line x1="{left}" y1="{y}" x2="{right}" y2="{y}" stroke="#dfe3e8"/>')
        parts.append(_text(left - 6, y + 4, f"{share:.0%}", anchor="end"))
        parts.append(_text(_at(share, 1, left, right), bottom + 18, f"{share * most:.3g}", anchor="middle"))
    for at, point in enumerate(points):
        x = _at((point.x or 0) / most, 1, left, right)
        y, low, high = (bottom - value * (bottom - top) for value in (point.y, point.low, point.high))
        parts.append(
            f'<line x1="{x:.1f}" y1="{low:.1f}" x2="{x:.1f}" y2="{high:.1f}" stroke="{COLOURS[at % 7]}" stroke-width="2"/>'
        )
        parts.append(_marker(x, y, at))
    return _svg(bottom + 44, parts)


def intervals(points: Sequence[Point]) -> str:
    """One row a value with its interval, on a scale from 0 to 1."""
    left, right, top = 190, WIDTH - 170, 14
    parts = []
    for share in (0.0, 0.25, 0.5, 0.75, 1.0):
        x = _at(share, 1, left, right)
        parts.append(f'<line x1="{x}" y1="{top}" x2="{x}" y2="{top + len(points) * 30}" stroke="#dfe3e8"/>')
        parts.append(_text(x, top + len(points) * 30 + 18, f"{share:.0%}", anchor="middle"))
    for at, point in enumerate(points):
        y = top + at * 30 + 15
        x, low, high = (_at(value, 1, left, right) for value in (point.y, point.low, point.high))
        parts.append(_text(left - 10, y + 5, point.name, anchor="end"))
        parts.append(
            f'<line x1="{low:.1f}" y1="{y}" x2="{high:.1f}" y2="{y}" stroke="{COLOURS[at % 7]}" stroke-width="3"/>'
        )
        parts.append(_marker(x, y, at))
        parts.append(_text(right + 10, y + 5, f"{point.y:.0%} ({point.low:.0%} – {point.high:.0%})"))
    return _svg(top + len(points) * 30 + 30, parts)


def figure(title: str, caption: str, svg: str) -> str:
    """A plot with its title and caption, as HTML."""
    named = svg.replace('role="img"', f'role="img" aria-label={quoteattr(title)}', 1)
    return f'<figure class="plot"><h3>{escape(title)}</h3>{named}<figcaption>{escape(caption)}</figcaption></figure>'


def _svg(height: float, parts: Sequence[str]) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height:.0f}" role="img" {_FONT}>'
        f'<rect width="{WIDTH}" height="{height:.0f}" fill="#fff"/>{"".join(parts)}</svg>'
    )


def _text(x: float, y: float, text: str, *, anchor: str = "start", fill: str = "#1a1a1a", halo: bool = False) -> str:
    outline = ' paint-order="stroke" stroke="#222" stroke-width="2.5"' if halo else ""
    short = text if len(text) <= 26 else text[:25] + "…"
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{fill}"{outline}>{escape(_plain(short))}</text>'


def _plain(text: str) -> str:
    return "".join(char if char.isprintable() else "�" for char in text)


def _legend(names: Sequence[str], *, marked: bool = False) -> str:
    parts, x = [], 10.0
    for at, name in enumerate(names):
        if marked:
            parts.append(_marker(x + 7, 16, at))
        else:
            parts.append(
                f'<rect x="{x}" y="9" width="14" height="14" fill="{SHADES[at % 7]}"/>{_hatch(x, 9, 14, 14, at)}'
            )
        parts.append(_text(x + 20, 21, name))
        x += 34 + 8 * min(26, len(name))
    return "".join(parts)


def _hatch(x: float, y: float, width: float, height: float, at: int) -> str:
    step = (0, 9, 0, 6, 12, 0, 4)[at % 7]
    if not step:
        return ""
    strokes = []
    offset = step
    while offset < width:
        strokes.append(f"M{x + offset:.1f} {y}v{height}")
        offset += step
    return f'<path d="{"".join(strokes)}" stroke="#fff" stroke-opacity="0.55" stroke-width="1.5"/>' if strokes else ""


def _marker(x: float, y: float, at: int) -> str:
    colour = COLOURS[at % 7]
    shape = {
        "circle": f'<circle cx="{x:.1f}" cy="{y:.1f}" r="5"/>',
        "square": f'<rect x="{x - 5:.1f}" y="{y - 5:.1f}" width="10" height="10"/>',
        "diamond": f'<path d="M{x:.1f} {y - 7:.1f}l7 7l-7 7l-7-7z"/>',
        "triangle": f'<path d="M{x:.1f} {y - 7:.1f}l7 12h-14z"/>',
        "plus": f'<path d="M{x - 6:.1f} {y:.1f}h12M{x:.1f} {y - 6:.1f}v12" stroke-width="3"/>',
        "cross": f'<path d="M{x - 5:.1f} {y - 5:.1f}l10 10M{x + 5:.1f} {y - 5:.1f}l-10 10" stroke-width="3"/>',
        "bar": f'<rect x="{x - 7:.1f}" y="{y - 3:.1f}" width="14" height="6"/>',
    }[MARKERS[at % 7]]
    return f'<g fill="{colour}" stroke="{colour}">{shape}</g>'


def _axes(left: float, top: float, right: float, bottom: float, x_name: str, y_name: str) -> list[str]:
    return [
        f'<path d="M{left} {top}V{bottom}H{right}" fill="none" stroke="#55595f"/>',
        _text((left + right) / 2, bottom + 38, x_name, anchor="middle"),
        f'<g transform="translate(16,{(top + bottom) / 2}) rotate(-90)">{_text(0, 0, y_name, anchor="middle")}</g>',
    ]


def _at(value: float, most: float, low: float, high: float) -> float:
    return low + (high - low) * (value / most if most else 0)


def _blend(share: float) -> str:
    white, dark = (255, 255, 255), (8, 64, 110)
    red, green, blue = (round(a + (b - a) * share**0.7) for a, b in zip(white, dark, strict=True))
    return f"#{red:02x}{green:02x}{blue:02x}"
