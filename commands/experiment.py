"""``vlmrec experiment``: several conditions over the same clips, under one budget."""

from pathlib import Path

import click

from vlmrec.commands._options import json_option, store_option


@click.command()
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path), metavar="FILE")
@click.option(
    "--config",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="[default: ./vlmrec.toml]",
)
@click.option("--dry-run", is_flag=True, help="Print the runs, in what they differ, and about what they will cost.")
@click.option("--retry-failed", is_flag=True, help="Also try clips again that failed for passing causes.")
@store_option
@json_option
def command(file: Path, config: Path | None, dry_run: bool, retry_failed: bool, store: Path, as_json: bool) -> None:
    """Run several conditions over the same clips, one after the other; started again, go on where it stopped.

    \b
        vlmrec experiment grounding.toml --dry-run
        vlmrec experiment grounding.toml
        vlmrec compare grounding-plain grounding-scene-first --gold clips/gold
    """
    from vlmrec.commands._experiment import carry_out, conclude, show_plan

    if dry_run:
        show_plan(file, config, store, as_json=as_json)
    else:
        conclude(carry_out(file, config, store, retry_failed=retry_failed), as_json=as_json)
