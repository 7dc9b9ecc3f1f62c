"""``vlmrec note``: a remark on a run, after the fact."""

from pathlib import Path

import click

from vlmrec.commands._options import json_option, run_argument


@click.command()
@run_argument
@click.argument("text")
@click.option("--exclude", is_flag=True, help="Not to be counted, for the reason that TEXT gives.")
@click.option("--clip", metavar="CLIP", help="The note is about this clip; without it, about the whole run.")
@click.option("--question", metavar="ID[/PARTY]", help="The note is about this question, such as q_maneuver/other.")
@json_option
def command(run: Path, text: str, exclude: bool, clip: str | None, question: str | None, as_json: bool) -> None:
    """Add a remark to a run, a clip or a question; with --exclude it is not to be counted.

    \b
        vlmrec note demo "wrong clip: the camera looks backwards" --exclude --clip clip-004
    """
    from datetime import UTC, datetime

    from vlmrec.commands._output import print_json
    from vlmrec.log.notes import add_note

    now = datetime.now(UTC).isoformat(timespec="milliseconds").removesuffix("+00:00") + "Z"
    noted = add_note(run, text, time=now, exclude=exclude, clip=clip, question=question)
    if as_json:
        print_json({"run": run.stem, "event": noted.event, "seq": noted.seq, "head": noted.head})
    else:
        click.echo(f"{run.stem}: noted as event {noted.seq}, head {noted.head}")
