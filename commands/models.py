"""``vlmrec models``: which providers and models can be called, and what is missing."""

from pathlib import Path

import click

from vlmrec.commands._options import json_option


@click.command()
@click.option(
    "--config",
    "config_path",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Settings. [default: ./vlmrec.toml where there is one]",
)
@json_option
def command(config_path: Path | None, as_json: bool) -> None:
    """List providers and models: where they are, whether a key was found, prices, and what is missing.

    \b
        vlmrec models --json
    """
    import os

    from vlmrec.commands._output import print_json, print_table
    from vlmrec.config import list_models, load_config

    rows = list_models(load_config(config_path, environ=os.environ))
    if as_json:
        print_json(rows)
    else:
        columns = ("provider", "model", "key", "price, USD/M", "frame rate", "missing")
        cells = [(r.provider, r.model or "any", r.key, r.price, r.frame_rate, "; ".join(r.missing)) for r in rows]
        print_table(columns, cells)
