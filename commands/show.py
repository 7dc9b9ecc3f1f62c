"""``vlmrec show``: a run, or one clip of it, turn by turn."""

from pathlib import Path

import click

from vlmrec.commands._options import json_option, run_argument


@click.command()
@run_argument
@click.argument("clip", required=False)
@json_option
def command(run: Path, clip: str | None, as_json: bool) -> None:
    """Show a run turn by turn: asked, answered, evidence, candidates before and after, latency, cost.

    \b
        vlmrec show demo
        vlmrec show demo clip-001
    """
    from vlmrec.commands._output import print_json, visible
    from vlmrec.commands._tables import print_tables
    from vlmrec.projections.core import document, project
    from vlmrec.projections.show import Show
    from vlmrec.report.logs import open_sources
    from vlmrec.report.run_tables import clip_story, clips_table, turns_table

    with open_sources([run], clip=clip) as logs:
        shown = project(Show(), logs)
    if as_json:
        print_json(document(shown))
    elif clip is not None:
        for line in clip_story(shown):
            click.echo(visible(line))
    else:
        print_tables([turns_table(shown), clips_table(shown)])
