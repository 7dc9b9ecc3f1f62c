"""What commands print, in one manner: results on stdout, remarks on stderr.

Text from outside (replies, file names) is shown with its control and bidirectional characters
spelled out, so that no reply can drive a terminal or reorder what a line says.
"""

import sys
import unicodedata
from collections.abc import Iterable, Sequence
from typing import Any

import click

from vlmrec.spelling import spelled


def print_json(value: Any) -> None:
    """Print ``value`` (a Struct or builtins) as one canonical JSON document and a newline."""
    from vlmrec.canonical import canonical_json

    click.echo(canonical_json(value).decode("utf-8"))


def print_table(columns: Sequence[str], rows: Iterable[Sequence[Any]], *, title: str | None = None) -> None:
    """Print a table: drawn on a terminal, aligned plain text in a pipe. Numbers stand to the right.

    Nothing is cut: where a terminal is too narrow for the longest words, each row becomes a block of lines.
    """
    cells = [[_cell(value) for value in row] for row in rows]
    right = [bool(cells) and all(_numeric(row[i]) for row in cells) for i in range(len(columns))]
    if sys.stdout.isatty():
        _print_drawn(columns, cells, right, title)
    else:
        _print_plain(columns, cells, right, title)


def warn(message: str) -> None:
    """Say something on stderr that doesn't stop the command."""
    click.echo(f"Warning: {spelled(message)}", err=True)


def note(message: str) -> None:
    """Say on stderr what is being done."""
    click.echo(spelled(message), err=True)


def visible(text: str) -> str:
    """``text`` of strangers with nothing hidden in it, for a terminal."""
    return spelled(text)


def _cell(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:.4g}"
    return spelled(str(value)).replace("\n", "⏎").replace("\t", " ")


def _numeric(text: str) -> bool:
    return text == "-" or text.rstrip("%").replace(".", "", 1).replace(",", "").lstrip("-+").isdigit()


def _width(text: str) -> int:
    if text.isascii():
        return len(text)
    return sum(_columns(char) for char in text)


def _columns(char: str) -> int:
    if unicodedata.combining(char):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def _pad(text: str, width: int, to_right: bool) -> str:
    blanks = " " * (width - _width(text))
    return blanks + text if to_right else text + blanks


def _fitted(columns: list[tuple[str, ...]], room: int) -> list[int] | None:
    """Widths that leave every word whole and share out what is left; None where there is no room for that."""
    whole = [max(map(_width, column)) for column in columns]
    widths = [max((_width(word) for text in column for word in text.split()), default=1) for column in columns]
    if sum(widths) > room:
        return None
    for _ in range(room):
        for at, most in enumerate(whole):
            if widths[at] < most and sum(widths) < room:
                widths[at] += 1
    return widths


def _print_plain(columns: Sequence[str], cells: list[list[str]], right: list[bool], title: str | None) -> None:
    if title is not None:
        click.echo(title)
    widths = [max([_width(name), *(_width(row[i]) for row in cells)]) for i, name in enumerate(columns)]
    for row in (list(columns), *cells):
        padded = (_pad(text, width, to_right) for text, width, to_right in zip(row, widths, right, strict=True))
        click.echo("  ".join(padded).rstrip())


def _print_drawn(columns: Sequence[str], cells: list[list[str]], right: list[bool], title: str | None) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console()
    widths = _fitted(list(zip(columns, *cells, strict=True)), console.width - 3 * len(columns) - 1)  # padding and rules
    if widths is None:
        _print_blocks(columns, cells, title)
        return
    table = Table(title=title, box=SIMPLE_HEAD, title_justify="left")
    for name, to_right, width in zip(columns, right, widths, strict=True):
        table.add_column(Text(name), justify="right" if to_right else "left", width=width)
    for row in cells:
        table.add_row(*(Text(text) for text in row))
    console.print(table)


def _print_blocks(columns: Sequence[str], cells: list[list[str]], title: str | None) -> None:
    if title is not None:
        click.echo(title)
    width = max(map(_width, columns))
    for row in cells:
        for name, text in zip(columns, row, strict=True):
            click.echo(f"  {_pad(name, width, False)}  {text}")
        click.echo()
