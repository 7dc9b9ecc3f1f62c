"""``vlmrec report``: runs as a document."""

from pathlib import Path

import click

from vlmrec.commands._options import clips_option, json_option, optional_gold_option, run_arguments


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
@json_option
def command(
    runs: tuple[Path, ...],
    out: Path,
    gold: Path | None,
    clips: Path | None,
    seed: int,
    resamples: int,
    as_json: bool,
) -> None:
    """Write a report on runs: conditions, tables, plots, cost, what differs, and what to bear in mind.

    With --json it says which files were written; the numbers themselves come from score, compare and scan.

    \b
        vlmrec report first second --gold clips/gold -o report.html
    """
    from vlmrec.commands._labels import warn_of_labels
    from vlmrec.commands._output import note, print_json
    from vlmrec.report.writing import make_report, write_report

    plots = write_report(make_report(runs, gold, clips=clips, seed=seed, resamples=resamples), out)
    warn_of_labels(gold, runs)
    if as_json:
        print_json({"report": str(out), "plots": [str(path) for path in plots], "runs": [run.stem for run in runs]})
    else:
        note(f"report written to {out}")
