"""``vlmrec reply``: how a model's reply was read."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from vlmrec.commands._options import json_option, store_option


@click.group()
def command() -> None:
    """How a model's reply was read: as an answer, and if not, why not."""


@command.command()
@click.argument("source", metavar="CASE.json|RUN")
@click.argument("call", required=False, metavar="[CALL]")
@click.option(
    "--schema",
    "schema_path",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="SCHEMA.json",
    help="JSON Schema of a case's answer; x-labels beside an enum gives the label of each code.",
)
@store_option
@json_option
def read(source: str, call: str | None, schema_path: Path | None, store: Path, as_json: bool) -> None:
    """Read a recorded reply, or a stored call of a run, through the code that runs use.

    CALL is clip/stage/question/party/sample, or as much of it as names one call.

    \b
        vlmrec reply read CASE.json --schema SCHEMA.json --json
        vlmrec reply read demo clip-001/q_maneuver/other
    """
    from vlmrec.commands._output import print_json, print_table

    reading = _stored(source, call, store) if call is not None else _case(Path(source), schema_path)
    if as_json:
        print_json(reading)
    else:
        print_table(("field", "value"), list(_rows(reading)))


def _case(path: Path, schema_path: Path | None) -> object:
    import time

    from vlmrec.models.replies.case import load_case, load_schema, read_case

    if schema_path is None:
        raise click.UsageError("a case needs --schema SCHEMA.json; a run needs a CALL")
    return read_case(load_case(path), load_schema(schema_path), now=time.time())


def _stored(run: str, call: str, store: Path) -> object:
    from vlmrec.log.reader import open_checked
    from vlmrec.log.store import resolve_run
    from vlmrec.stages.stored_reply import read_stored_call

    with open_checked(resolve_run(run, store)) as reader:
        return read_stored_call(reader, call)


def _rows(reading: object) -> Iterator[tuple[str, str]]:
    """One row a field; lists of objects are numbered, empty fields passed over."""
    import msgspec

    def walk(name: str, value: Any) -> Iterator[tuple[str, str]]:
        if value in (None, "", [], (), {}):
            return
        if isinstance(value, (list, tuple)) and isinstance(value[0], dict):
            for number, item in enumerate(value, 1):
                yield from walk(f"{name} {number}", item)
        elif isinstance(value, dict) and name.split(" ")[0] in ("attempts", "readings"):
            for inner, item in value.items():
                yield from walk(f"{name}: {inner}", item)
        else:
            yield name, value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)

    for name, value in msgspec.to_builtins(reading).items():
        yield from walk(name, value)
