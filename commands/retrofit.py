"""``vlmrec retrofit``: what stored texts would have given under another way of asking."""

from pathlib import Path

import click

from vlmrec.commands._options import clips_option, gold_option, json_option, run_argument


@click.group()
def command() -> None:
    """Say what stored texts would have given under another way of asking; no model is called."""


@command.command("describe-map")
@run_argument
@gold_option
@clips_option
@json_option
def describe_map(run: Path, gold: Path, clips: Path | None, as_json: bool) -> None:
    """Map stored descriptions to codes by declared rules, and compare with the forced choice.

    \b
        vlmrec retrofit describe-map demo --gold demo-clips/gold
    """
    from vlmrec.commands._output import print_json
    from vlmrec.commands._tables import print_tables
    from vlmrec.projections.core import document
    from vlmrec.report.retrofit_tables import retrofit_tables
    from vlmrec.report.scoring import retrofit_run

    retrofitted = retrofit_run(run, gold, clips=clips)
    if as_json:
        print_json(document(retrofitted))
    else:
        print_tables(retrofit_tables(retrofitted))
