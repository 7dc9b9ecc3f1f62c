"""``vlmrec scan``: what is wrong with answers, their texts, and what a provider did."""

from pathlib import Path

import click

from vlmrec.commands._options import clips_option, json_option, optional_gold_option, run_arguments


@click.command()
@run_arguments
@click.option("--only", "kinds", multiple=True, metavar="KIND", help="Only findings of this kind; may be repeated.")
@optional_gold_option
@clips_option
@json_option
def command(
    runs: tuple[Path, ...], kinds: tuple[str, ...], gold: Path | None, clips: Path | None, as_json: bool
) -> None:
    """Look for contradictions, repetition, drift, order effects, propagated errors, provider and format faults.

    Propagation needs labels (--gold); order needs two runs that differ in axis O; format needs a monitored run. What
    could not be looked for is named with the reason; where --only asks for nothing else, the exit code is 2.

    \b
        vlmrec scan first
        vlmrec scan ledger-order shuffled --only order
    """
    from vlmrec.commands._labels import warn_of_labels
    from vlmrec.commands._output import print_json
    from vlmrec.commands._tables import print_tables
    from vlmrec.projections.core import document
    from vlmrec.report.scan_tables import only_kinds, scan_tables
    from vlmrec.report.scoring import scan_runs

    scan = only_kinds(scan_runs(runs, gold, clips=clips), kinds)
    warn_of_labels(gold, runs)
    if as_json:
        print_json(document(scan))
    else:
        print_tables(scan_tables(scan, kinds))
