"""``vlmrec status``: how far a run has come."""

from pathlib import Path

import click

from vlmrec.commands._options import json_option, run_argument


@click.command()
@run_argument
@json_option
def command(run: Path, as_json: bool) -> None:
    """Say how far a run has come: clips, turns, rate, time left, cost, and whether it has stalled.

    \b
        vlmrec status demo
    """
    from vlmrec.commands._output import print_json, visible
    from vlmrec.projections.core import document
    from vlmrec.report.run_tables import status_lines
    from vlmrec.report.state import run_status

    status = run_status(run)
    if as_json:
        print_json({**document(status.projected), "sealed": status.sealed})
        return
    for line in status_lines(status.projected, sealed=status.sealed):
        click.echo(visible(line))
