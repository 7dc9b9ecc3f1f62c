"""``vlmrec events``: the events of a log, as they are stored."""

import contextlib
import sys
from pathlib import Path

import click

from vlmrec.commands._options import run_argument


@click.command()
@run_argument
@click.option("--type", "types", multiple=True, metavar="TYPE", help="Only events of this type; may be repeated.")
@click.option("--clip", metavar="CLIP", help="Only events of this clip.")
@click.option(
    "--after",
    type=click.IntRange(0),
    default=0,
    show_default=True,
    metavar="SEQ",
    help="Only events behind this place.",
)
@click.option("--follow", is_flag=True, help="Go on as the run is written, until it stops or Ctrl-C.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["jsonl", "cloudevents"]),
    default="jsonl",
    show_default=True,
    help="Line format.",
)
def command(run: Path, types: tuple[str, ...], clip: str | None, after: int, follow: bool, form: str) -> None:
    """Print a log's events, one JSON object a line, from the stored bytes.

    Where the log is not as it was written, that is said on stderr, and the rows are printed all the same.

    \b
        vlmrec events demo --type call.completed --clip clip-001
        vlmrec events demo --follow --format cloudevents
    """
    from vlmrec.commands._output import warn
    from vlmrec.errors import LogError
    from vlmrec.log.clips import find_clip, same_form
    from vlmrec.log.export import LINES, checked_types
    from vlmrec.log.follow import follow_rows
    from vlmrec.log.reader import open_log
    from vlmrec.log.sealing import seal_if_idle

    wanted = checked_types(types)
    line, out = LINES[form], sys.stdout.buffer
    seal_if_idle(run)
    with open_log(run) as log:
        info = log.info
        try:
            log.check_chain()
        except LogError as error:  # shown all the same: what is broken must be open to inspection
            warn(str(error))
        if clip is not None:  # followed, one may still come
            clip = same_form(clip) if follow and not log.stopped() else find_clip(log, clip)
        if not follow:
            out.writelines(line(info, row) for row in log.rows(wanted, clip, after))
            return
    with contextlib.suppress(KeyboardInterrupt):  # the usual way to end it
        for row in follow_rows(run, types=wanted, clip=clip, after=after):
            out.write(line(info, row))
            out.flush()
    seal_if_idle(run)  # it may have been this reader that kept the writer from sealing
