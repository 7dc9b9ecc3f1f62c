"""What ``vlmrec import`` says of an import."""

import click

from vlmrec.commands._output import print_json, visible, warn
from vlmrec.report.importing import Imported

SHOWN = 10


def tell(imported: Imported, *, as_json: bool) -> None:
    """One line or one document on stdout, and what was left out on stderr."""
    for left in imported.left_out[:SHOWN]:
        warn(f"line {left.line}: {left.reason}" if left.line else left.reason)
    if len(imported.left_out) > SHOWN:
        warn(f"and {len(imported.left_out) - SHOWN} more left out")
    if as_json:
        print_json({"run": imported.path.stem, **imported._asdict(), "path": str(imported.path)})
        return
    line = (
        f"{imported.path.stem}: {imported.answers} answers on {imported.clips} clips, {len(imported.left_out)} left out"
    )
    if imported.comparable:
        line += f"; the engine leaves the recorded charts after {imported.agreeing} of {imported.comparable} turns"
    click.echo(visible(line))
