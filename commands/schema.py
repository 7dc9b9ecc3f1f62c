"""``vlmrec schema``: the JSON Schemas of events and data contracts."""

from pathlib import Path

import click


@click.command()
@click.argument("name", required=False)
@click.option("--write", type=click.Path(file_okay=False, path_type=Path), metavar="DIR", help="Write them all to DIR.")
@click.option(
    "--check", type=click.Path(exists=True, file_okay=False, path_type=Path), metavar="DIR", help="Compare with DIR."
)
def command(name: str | None, write: Path | None, check: Path | None) -> None:
    """Print the JSON Schema of an event or data contract, or write them all.

    \b
        vlmrec schema call.completed
    """
    from vlmrec import schema
    from vlmrec.commands._output import note

    if write is not None:
        note(f"{len(schema.write_schemas(write))} schemas written to {write}")
    if check is not None:
        note(f"{schema.check_schemas(check)} schemas in {check} are as generated")
    if name is not None:
        click.echo(schema.schema_named(name).decode(), nl=False)
    elif write is None and check is None:
        for file in schema.generate():
            click.echo(file.removesuffix(".json"))
