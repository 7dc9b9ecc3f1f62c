"""``vlmrec retrofit``: what stored texts would have given under another way of asking."""

from pathlib import Path

import click

from vlmrec.commands._options import clips_option, gold_option, json_option, run_argument, store_option


@click.group()
def command() -> None:
    """Say what stored texts would have given under another way of asking."""


@command.command("describe-map")
@run_argument
@gold_option
@clips_option
@click.option(
    "--mapper", metavar="PROVIDER/NAME", help="Map by this text-only model. [default: by declared rules, no call]"
)
@click.option("--base-url", "base_urls", multiple=True, metavar="URL", help="Address of the mapper's server.")
@click.option(
    "--config",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Settings of the mapper. [default: ./vlmrec.toml where there is one]",
)
@store_option
@json_option
def describe_map(
    run: Path,
    gold: Path,
    clips: Path | None,
    mapper: str | None,
    base_urls: tuple[str, ...],
    config: Path | None,
    store: Path,
    as_json: bool,
) -> None:
    """Map stored descriptions to codes, the chosen one taken out, and compare with the forced choice.

    \b
        vlmrec retrofit describe-map demo --gold demo-clips/gold
    """
    from vlmrec.commands._labels import warn_of_labels
    from vlmrec.commands._output import print_json
    from vlmrec.commands._tables import print_tables
    from vlmrec.projections.core import document
    from vlmrec.report.retrofit_tables import retrofit_tables
    from vlmrec.report.retrofitting import retrofit_run

    mapped = _map(run, store, gold, mapper, config, base_urls) if mapper is not None else None
    retrofitted = retrofit_run(run, gold, clips=clips, mapped=mapped)
    warn_of_labels(gold, [run])
    if as_json:
        print_json(document(retrofitted))
    else:
        print_tables(retrofit_tables(retrofitted))


def _map(run: Path, store: Path, gold: Path, mapper: str, config: Path | None, base_urls: tuple[str, ...]) -> Path:
    import asyncio
    import os

    from vlmrec.commands._output import note
    from vlmrec.config import load_config
    from vlmrec.report.retrofitting import map_by_model

    settings = load_config(config, environ=os.environ)
    path, reused = asyncio.run(map_by_model(run, store, gold, mapper, settings, base_urls=base_urls))
    note(f"mapped by {mapper}: {path.stem}{' (stored before, no call made)' if reused else ''}")
    return path
