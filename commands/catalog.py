"""``vlmrec catalog``: every run of a store in one database."""

from pathlib import Path

import click

from vlmrec.commands._options import json_option, optional_gold_option, store_option


@click.command()
@store_option
@optional_gold_option
@json_option
def command(store: Path, gold: Path | None, as_json: bool) -> None:
    """Bring together every run of a store in catalog.db, for questions across runs; disposable.

    \b
        vlmrec catalog --gold clips/gold && datasette store/
    """
    from vlmrec.commands._output import note, print_json, warn
    from vlmrec.report.goldmap import load_labels
    from vlmrec.viewer.catalog import update_catalog

    done = update_catalog(store, gold=load_labels(gold) if gold is not None else None)
    for reason in done.refused.values():
        warn(reason)
    if as_json:
        print_json(
            {
                "path": str(done.path),
                "runs": done.runs,
                "read": done.read,
                "removed": done.removed,
                "refused": [{"run": run, "reason": reason} for run, reason in done.refused.items()],
            }
        )
        return
    note(f"{done.runs} runs; {len(done.read)} read anew, {len(done.removed)} gone")
    click.echo(str(done.path))
