"""``vlmrec confusion``: what runs take for what."""

from pathlib import Path

import click

from vlmrec.commands._options import clips_option, gold_option, json_option, run_arguments


@click.command()
@run_arguments
@gold_option
@click.option("--question", "question_id", required=True, metavar="ID", help="The question, such as q_maneuver.")
@clips_option
@json_option
def command(runs: tuple[Path, ...], gold: Path, question_id: str, clips: Path | None, as_json: bool) -> None:
    """Show what runs take for what: confusion matrices of one question, with the clips behind each cell.

    \b
        vlmrec confusion first second --question q_maneuver --gold clips/gold
    """
    from vlmrec.commands._labels import warn_of_labels
    from vlmrec.commands._output import print_json
    from vlmrec.commands._tables import print_tables
    from vlmrec.projections.core import document
    from vlmrec.report.confusion_tables import confusion_tables
    from vlmrec.report.scoring import confusion_of

    confusion = confusion_of(runs, gold, question_id, clips=clips)
    warn_of_labels(gold, runs)
    if as_json:
        print_json(document(confusion))
    else:
        print_tables(confusion_tables(confusion))
