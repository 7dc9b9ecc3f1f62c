"""``vlmrec reply``: how a model's reply was read."""

from pathlib import Path

import click

from vlmrec.commands._options import json_option


@click.group()
def command() -> None:
    """How a model's reply was read: as an answer, and if not, why not."""


@command.command()
@click.argument("case", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option(
    "--schema",
    "schema_path",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    required=True,
    metavar="SCHEMA.json",
    help="JSON Schema of the answer; x-labels beside an enum gives the label of each code.",
)
@json_option
def read(case: Path, schema_path: Path, as_json: bool) -> None:
    """Read a recorded reply through the code that runs use.

    \b
        vlmrec reply read CASE.json --schema SCHEMA.json --json
    """
    import time

    from vlmrec.commands._output import print_json
    from vlmrec.models.replies.case import load_case, load_schema, read_case

    reading = read_case(load_case(case), load_schema(schema_path), now=time.time())
    if as_json:
        print_json(reading)
    else:
        _print_reading(reading)


def _print_reading(reading: object) -> None:
    import json

    import msgspec

    from vlmrec.commands._output import print_table

    fields = msgspec.to_builtins(reading)
    rows = [
        (name, value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))
        for name, value in fields.items()
        if value not in (None, "", [])
    ]
    print_table(("field", "value"), rows)
