"""``vlmrec probe``: what a model's server really does."""

from pathlib import Path

import click

from vlmrec.commands._options import json_option, store_option


@click.command()
@click.argument("model", required=False)
@click.option("--base-url", "base_urls", multiple=True, metavar="URL", help="Address of the model's server.")
@click.option("--run-id", metavar="ID", help="Name of the probe's log. [default: probe-MODEL, numbered]")
@click.option("--video-url", metavar="URL", help="Also see whether the server fetches this video (`media url`).")
@click.option("--largest", type=click.IntRange(0, 40), default=20, show_default=True, help="Largest data URL, in MB.")
@click.option("--card", metavar="RUN", help="Only show the card of a stored probe.")
@click.option(
    "--config",
    "config_path",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Settings. [default: ./vlmrec.toml where there is one]",
)
@store_option
@json_option
def command(
    model: str | None,
    base_urls: tuple[str, ...],
    run_id: str | None,
    video_url: str | None,
    largest: int,
    card: str | None,
    config_path: Path | None,
    store: Path,
    as_json: bool,
) -> None:
    """Find out what a model's server really does: frame rate, pixels, sizes, structured output, caching.

    Some thirty small calls, each recorded like those of a run; the card is a projection of that log.
    Exit code 2 if not one of them succeeds.

    \b
        vlmrec probe vllm/my-model --base-url http://localhost:8000/v1
        vlmrec probe --card probe-vllm-my-model --json
    """
    from vlmrec.commands._output import print_json
    from vlmrec.commands._tables import print_tables
    from vlmrec.log.store import resolve_run, run_path
    from vlmrec.projections.core import document
    from vlmrec.report.probe_cards import card_tables, check_reached, free_run_id, read_card

    if (model is None) == (card is None):
        raise click.UsageError("name a MODEL to probe, or a stored probe with --card RUN")
    if card is not None:
        path = resolve_run(card, store)
    else:
        path = run_path(store, run_id or free_run_id(store, str(model)))
        _probe(path, str(model), base_urls, config_path, video_url, largest)
    projected = read_card(path)
    if as_json:
        print_json(document(projected))
    else:
        print_tables(card_tables(projected))
    if card is None:
        check_reached(projected, path)


def _probe(
    path: Path, model: str, base_urls: tuple[str, ...], config_path: Path | None, video_url: str | None, largest: int
) -> None:
    import asyncio
    import os
    import uuid

    from vlmrec.commands._output import note
    from vlmrec.config import load_config
    from vlmrec.stages.endpoints import open_model
    from vlmrec.stages.ports import clock
    from vlmrec.stages.probe import probe_meter, run_probe

    config = load_config(config_path, environ=os.environ)

    async def run() -> None:
        async with open_model(model, config, store=path.parent, base_urls=base_urls) as opened:
            await run_probe(
                path,
                opened,
                meter=probe_meter(opened),
                clock=clock(),
                log_uuid=str(uuid.uuid4()),
                scrub=config.secrets.scrub,
                video_url=video_url,
                largest_mb=largest,
                progress=lambda step: note(f"probe: {step}"),
            )

    note(f"probe of {model} into {path}")
    asyncio.run(run())
