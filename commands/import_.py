"""``vlmrec import``: people and older records as runs."""

from pathlib import Path

import click

from vlmrec.commands._options import clips_option, json_option, store_option


@click.group()
def command() -> None:
    """Take over answers of people or of older scripts as a run; every projection then applies."""


@command.command("gold")
@click.argument("directory", type=click.Path(exists=True, file_okay=False, path_type=Path), metavar="DIR")
@click.option("--run-id", required=True, metavar="ID", help="Name of the run.")
@click.option(
    "--labeler", metavar="NAME", help="Whose labels. [default: the one whose name ends the run id, else the reviewer]"
)
@click.option("--engine", metavar="VERSION", help="Embedded engine. [default: the one of the labels' ledger]")
@clips_option
@store_option
@json_option
def gold(
    directory: Path,
    run_id: str,
    labeler: str | None,
    engine: str | None,
    clips: Path | None,
    store: Path,
    as_json: bool,
) -> None:
    """Replay a labeller's answers through the engine into a run.

    \b
        vlmrec import gold clips/gold --run-id human-A
    """
    from vlmrec.commands._imported import tell
    from vlmrec.report.importing import import_gold
    from vlmrec.stages.ports import utc_now

    imported = import_gold(directory, store, run_id, labeler=labeler, engine=engine, clips=clips, now=utc_now())
    tell(imported, as_json=as_json)


@command.command("turns")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path), metavar="FILE")
@click.option("--run-id", required=True, metavar="ID", help="Name of the run.")
@click.option("--model", default="imported/unknown", show_default=True, metavar="PROVIDER/NAME", help="Who answered.")
@click.option("--engine", metavar="VERSION", help="Embedded engine. [default: the newest]")
@click.option(
    "--field", "fields", multiple=True, metavar="NAME=PATH", help="Where a field is, such as value=reply.code."
)
@store_option
@json_option
def turns(
    file: Path, run_id: str, model: str, engine: str | None, fields: tuple[str, ...], store: Path, as_json: bool
) -> None:
    """Take over older records, JSON lines with one object for each turn.

    \b
        vlmrec import turns old.jsonl --run-id old-01 --model qwen/qwen3.5-plus
        vlmrec import turns old.jsonl --run-id old-01 --field value=reply.code
    """
    from vlmrec.commands._imported import tell
    from vlmrec.report.importing import import_turns
    from vlmrec.stages.ports import utc_now

    imported = import_turns(file, store, run_id, model=model, engine=engine, fields=fields, now=utc_now())
    tell(imported, as_json=as_json)
