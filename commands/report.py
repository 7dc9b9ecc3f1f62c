"""``vlmrec report``: runs as a document."""

from pathlib import Path

import click

from vlmrec.commands._options import clips_option, optional_gold_option, run_arguments


@click.command()
@run_arguments
@click.option(
    "-o", "--out", required=True, type=click.Path(dir_okay=False, path_type=Path), help="A .md or .html file."
)
@optional_gold_option
@clips_option
@click.option("--seed", default=0, show_default=True, help="Of the resampling.")
@click.option(
    "--resamples", default=10_000, show_default=True, type=click.IntRange(min=100), help="Bootstrap resamples."
)
def command(
    runs: tuple[Path, ...], out: Path, gold: Path | None, clips: Path | None, seed: int, resamples: int
) -> None:
    """Write a report on runs: conditions, tables, plots, cost, what differs, and what to bear in mind.

    \b
        vlmrec report first second --gold clips/gold -o report.html
    """
    from vlmrec.commands._output import note
    from vlmrec.report.writing import make_report, write_report

    write_report(make_report(runs, gold, clips=clips, seed=seed, resamples=resamples), out)
    note(f"report written to {out}")
