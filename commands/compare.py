"""``vlmrec compare``: whether runs differ, and whether it is more than chance."""

from pathlib import Path

import click

from vlmrec.commands._options import clips_option, gold_option, json_option, run_arguments


@click.command()
@run_arguments
@gold_option
@clips_option
@click.option("--seed", default=0, show_default=True, help="Of the resampling; the same seed gives the same intervals.")
@click.option(
    "--resamples", default=10_000, show_default=True, type=click.IntRange(min=100), help="Bootstrap resamples."
)
@json_option
def command(runs: tuple[Path, ...], gold: Path, clips: Path | None, seed: int, resamples: int, as_json: bool) -> None:
    """Compare runs over the clips they share, and say whether a difference is more than chance.

    \b
        vlmrec compare first second --gold clips/gold
    """
    from vlmrec.commands._labels import warn_of_labels
    from vlmrec.commands._output import print_json, warn
    from vlmrec.commands._tables import print_tables
    from vlmrec.projections.core import document
    from vlmrec.report.compare_tables import compare_tables, warnings
    from vlmrec.report.scoring import compare_runs

    comparison = compare_runs(runs, gold, clips=clips, seed=seed, resamples=resamples)
    warn_of_labels(gold, runs)
    for warning in warnings(comparison):
        warn(warning)
    if as_json:
        print_json(document(comparison))
    else:
        print_tables(compare_tables(comparison))
