"""``vlmrec score``: a run against labels."""

from pathlib import Path

import click

from vlmrec.commands._options import clips_option, gold_option, json_option, run_argument


@click.command()
@run_argument
@gold_option
@clips_option
@click.option(
    "--samples", type=click.IntRange(1), metavar="N", help="As it would have been with the first N samples alone."
)
@json_option
def command(run: Path, gold: Path, clips: Path | None, samples: int | None, as_json: bool) -> None:
    """Score a run against labels: answers, clips, and what ruled the right chart out.

    \b
        vlmrec score demo --gold demo-clips/gold
        vlmrec score demo --gold demo-clips/gold --json
        vlmrec score voted --gold demo-clips/gold --samples 3
    """
    from vlmrec.commands._labels import warn_of_labels
    from vlmrec.commands._output import print_json
    from vlmrec.commands._tables import print_tables
    from vlmrec.projections.core import document
    from vlmrec.report.score_tables import score_tables
    from vlmrec.report.scoring import score_run

    score = score_run(run, gold, clips=clips, samples=samples)
    warn_of_labels(gold, [run])
    if as_json:
        print_json(document(score))
    else:
        print_tables(score_tables(score))
