"""A report before it is written: sections of lines, tables and plots, and its two forms, Markdown and HTML.

All text from outside is escaped here, in one place for each form.
"""

import base64
import re
from collections.abc import Iterator, Sequence
from html import escape
from typing import NamedTuple

from vlmrec.report.table import Table
from vlmrec.spelling import spelled

_MARKDOWN = re.compile(r"([\\`*_{}\[\]<>|#!~])")


class Plot(NamedTuple):
    """A plot as SVG, with words for whoever doesn't see it."""

    name: str
    title: str
    svg: str
    caption: str = ""


class Section(NamedTuple):
    """A part of a report."""

    title: str
    lines: Sequence[str] = ()
    tables: Sequence[Table] = ()
    plots: Sequence[Plot] = ()


class Report(NamedTuple):
    """A whole report."""

    title: str
    sections: Sequence[Section]


def markdown(report: Report, *, plots: str) -> str:
    """The report as Markdown; plots are linked as files in the folder ``plots``."""
    return "\n".join(_markdown(report, plots)) + "\n"


def html(report: Report) -> str:
    """The report as one HTML page with its plots inside and no script."""
    body = "\n".join(_html(report))
    return (
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; img-src data:\">\n"
        f"<title>{_safe(report.title)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n<main>\n{body}\n</main>\n</body>\n</html>\n"
    )


def all_plots(report: Report) -> list[Plot]:
    """Every plot of the report, in order."""
    return [plot for section in report.sections for plot in section.plots]


def _markdown(report: Report, plots: str) -> Iterator[str]:
    yield f"# {_mark(report.title)}"
    for section in report.sections:
        yield f"\n## {_mark(section.title)}"
        if section.lines:
            yield ""
            yield from (f"- {_mark(line)}" for line in section.lines)
        for table in section.tables:
            yield f"\n### {_mark(table.title)}\n"
            yield "| " + " | ".join(_mark(name) for name in table.columns) + " |"
            yield "|" + "|".join(" ---: " if right else " --- " for right in _numeric(table)) + "|"
            for row in table.rows:
                yield "| " + " | ".join(_mark(cell(value)) for value in row) + " |"
            if table.notes:
                yield ""
                yield from (f"- {_mark(note)}" for note in table.notes)
        for plot in section.plots:
            yield f"\n![{_mark(plot.title)}]({plots}/{plot.name}.svg)"
            if plot.caption:
                yield f"\n{_mark(plot.caption)}"


def _html(report: Report) -> Iterator[str]:
    yield f"<h1>{_safe(report.title)}</h1>"
    for section in report.sections:
        yield f"<section>\n<h2>{_safe(section.title)}</h2>"
        if section.lines:
            yield "<ul>" + "".join(f"<li>{_safe(line)}</li>" for line in section.lines) + "</ul>"
        for table in section.tables:
            right = _numeric(table)
            yield f'<div class="table"><table>\n<caption>{_safe(table.title)}</caption>'
            yield (
                "<thead><tr>"
                + "".join(f'<th scope="col">{_safe(name)}</th>' for name in table.columns)
                + "</tr></thead><tbody>"
            )
            for row in table.rows:
                yield (
                    "<tr>"
                    + "".join(
                        f"{_NUMBER if number else '<td>'}{_safe(cell(value))}</td>"
                        for value, number in zip(row, right, strict=True)
                    )
                    + "</tr>"
                )
            yield "</tbody></table></div>"
            if table.notes:
                yield "<ul>" + "".join(f"<li>{_safe(note)}</li>" for note in table.notes) + "</ul>"
        for plot in section.plots:
            picture = base64.b64encode(plot.svg.encode()).decode()
            yield (
                f'<figure><img alt="{_safe(plot.title)}" src="data:image/svg+xml;base64,{picture}">'
                f"<figcaption>{_safe(f'{plot.title}: {plot.caption}' if plot.caption else plot.title)}</figcaption></figure>"
            )
        yield "</section>"


def cell(value: object) -> str:
    """A value as it stands in a table."""
    if value is None:
        return "-"
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _numeric(table: Table) -> list[bool]:
    return [
        bool(table.rows) and all(re.fullmatch(r"[-+]?[\d.,]+%?|-|", cell(row[i])) for row in table.rows)
        for i in range(len(table.columns))
    ]


def _mark(text: str) -> str:
    return _MARKDOWN.sub(r"\\\1", spelled(text).replace("\n", " "))


def _safe(text: str) -> str:
    return escape(spelled(text))


_NUMBER = '<td class="n">'

_STYLE = """
body{font:15px/1.5 system-ui,"Noto Sans KR",sans-serif;color:#1a1a1a;background:#fff;margin:0}
main{max-width:1000px;margin:0 auto;padding:1.5rem}
h1{font-size:1.5rem}h2{font-size:1.2rem;margin-top:2rem;border-bottom:1px solid #ccc}
.table{overflow-x:auto}table{border-collapse:collapse;margin:1rem 0;font-size:.9rem}
caption{text-align:left;font-weight:600;padding:.3rem 0}th,td{border-bottom:1px solid #ddd;padding:.25rem .6rem;text-align:left;vertical-align:top}
td.n{text-align:right;font-variant-numeric:tabular-nums}figure{margin:1rem 0}figure img{max-width:100%}figcaption{color:#555;font-size:.85rem}
@media print{section{break-inside:avoid-page}}
"""
