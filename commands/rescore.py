"""``vlmrec rescore``: stored answers on another engine, without a model call."""

from pathlib import Path

import click

from vlmrec.commands._options import json_option, optional_run_argument, store_option


@click.command()
@optional_run_argument
@click.option("--engine", metavar="VERSION", help="An embedded rule engine.")
@click.option("--engine-url", metavar="URL", help="A rule engine server; its replies are saved as a derived log.")
@click.option(
    "--mode",
    type=click.Choice(["planned", "all"]),
    default="planned",
    show_default=True,
    help="The engine's own order of questions, or every mapped answer at once.",
)
@click.option("--save", is_flag=True, help="Save the derived log in the store, to be scored and shown like a run.")
@store_option
@json_option
def command(
    run: Path | None, engine: str | None, engine_url: str | None, mode: str, save: bool, store: Path, as_json: bool
) -> None:
    """Put a run's stored answers to another engine version; the latest run where none is named.

    \b
        vlmrec rescore demo --engine 0.1.3
        vlmrec rescore demo --engine-url http://localhost:8100 --json
    """
    from vlmrec.commands._output import note, print_json
    from vlmrec.commands._tables import print_tables
    from vlmrec.log.store import latest_run
    from vlmrec.projections.core import document
    from vlmrec.report.rescore_tables import rescore_tables
    from vlmrec.report.rescoring import rescore

    rescored, saved = rescore(
        run or latest_run(store), store, engine=engine, url=engine_url, all_at_once=mode == "all", save=save
    )
    if as_json:
        print_json(document(rescored))
    else:
        print_tables(rescore_tables(rescored))
    if saved is not None:
        note(f"derived log: {saved.path}{' (read again, nothing was asked)' if saved.reused else ''}")
