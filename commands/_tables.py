"""Draws the tables that ``vlmrec.report`` makes."""

from collections.abc import Iterable

import click

from vlmrec.commands._output import print_table, visible
from vlmrec.report.table import Table


def print_tables(tables: Iterable[Table]) -> None:
    """Print each table with its notes, a blank line between."""
    for i, table in enumerate(tables):
        if i:
            click.echo()
        print_table(table.columns, table.rows, title=table.title)
        for note in table.notes:
            click.echo(visible(f"  {note}"))
