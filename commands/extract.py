from pathlib import Path
from typing import Any

import click

from vlmrec.commands._options import clips_option, json_option, store_option

AXES = (
    ("video", "V", "full, frames-N, frames-Xfps or window"),
    ("pixels", "P", "native, or the largest number of pixels in a frame"),
    ("context", "A", "0 no earlier answers, 1 as claims, 2 with their reasons"),
    ("definitions", "C", "0 none, 1 the ledger's notes and observation rules"),
    ("repetition", "R", "samples per turn"),
    ("grounding", "G", "0 none, 1 scene first, 2 lane topology, 3 sampling instant"),
    ("mode", "Q", "choice or describe-map"),
    ("stages", "S", "0 one call per turn, 1 prose scene, 2 entity table and rules"),
    ("format", "F", "prompt, or schema for constrained decoding"),
    ("language", "L", "ko or en"),
    ("order", "O", "of the options: ledger or shuffle-SEED"),
)


def axis_options(function: Any) -> Any:
    """One option for each axis but M, which is ``--model``."""
    for name, letter, values in reversed(AXES):
        function = click.option(f"--{name}", metavar=letter, help=f"Axis {letter} alone: {values}.")(function)
    return function


@click.command()
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path), metavar="[CLIPS]...")
@click.option("--run-id", metavar="ID", help="Name of the run; its log is <store>/ID.db.")
@click.option("--condition", metavar="TEXT", help="Axes that differ from the defaults, such as 'S2,G3,V=frames-4fps'.")
@click.option("--model", metavar="PROVIDER/NAME", help="Axis M alone. [default: the embedded observer]")
@axis_options
@click.option(
    "--base-url", "base_urls", multiple=True, metavar="URL", help="Address of the model's server (repeatable)."
)
@click.option(
    "--config",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="[default: ./vlmrec.toml]",
)
@click.option("--engine", metavar="VERSION", help="Embedded rule engine. [default: the newest]")
@click.option("--engine-url", metavar="URL", help="A rule engine server instead of an embedded version.")
@click.option("--temperature", type=float, metavar="T", help="[default: 0, or 0.7 when R asks for several samples]")
@click.option("--top-p", type=float, metavar="P")
@click.option("--top-k", type=int, metavar="K")
@click.option("--max-tokens", type=click.IntRange(1), default=1024, show_default=True, help="Per answer.")
@click.option("--seed", type=int, default=0, show_default=True, help="Of the first sample; samples are spaced.")
@click.option("--fps", type=float, metavar="F", help="Frame rate asked of the server under V=full.")
@click.option(
    "--vote-threshold", default="1/2", show_default=True, metavar="SHARE", help="Share of samples a value needs."
)
@click.option("--n-in-one-call", is_flag=True, help="Ask for a turn's samples in one call instead of one each.")
@click.option(
    "--delivery",
    default="data_url",
    show_default=True,
    metavar="WAY",
    help="How media travel: data_url, presigned_url (store by VLMREC_S3_*), file or file:FOLDER.",
)
@click.option("--monitor-rate", metavar="SHARE", help="Under F=schema: share of calls sent once more unconstrained.")
@click.option(
    "--stage0-from", metavar="SOURCE", help="Entity tables from gold, gold:DIR or a RUN, instead of the model."
)
@click.option("--answers-from", metavar="SOURCE", help="Answers from gold or gold:DIR; the rest is asked.")
@click.option("--workers", type=click.IntRange(1), default=2, show_default=True, help="Clips at a time.")
@click.option("--in-flight", type=click.IntRange(1), help="Calls at a time. [default: the provider's]")
@click.option("--max-cost", metavar="USD", help="Stop, resumably, before more than this could be spent.")
@click.option("--max-calls", type=click.IntRange(1), help="Stop, resumably, after this many calls.")
@click.option("--max-minutes", type=float, metavar="M", help="Stop, resumably, after this time.")
@click.option("--assume-price", metavar="IN,OUT", help="USD per million prompt and completion tokens, where unknown.")
@click.option("--resume", is_flag=True, help="Go on with a run that was stopped.")
@click.option(
    "--retry-failed", is_flag=True, help="With --resume: also try clips again that failed for passing causes."
)
@click.option("--top-up", metavar="RUN", help="Take over RUN's answers, and ask only what --engine needs beside them.")
@click.option("--dry-run", is_flag=True, help="With --top-up: say how many calls it would take, and ask nothing.")
@clips_option
@store_option
@json_option
def command(paths: tuple[Path, ...], run_id: str | None, store: Path, as_json: bool, **settings: object) -> None:
    """Ask a model the engine's questions about clips, and record everything in a run log.

    \b
        vlmrec extract clips/ --run-id first
        vlmrec extract clips/ --run-id grounded --stages 2 --grounding 3
        vlmrec extract --run-id first --resume
        vlmrec extract --run-id second --top-up first --engine 0.1.3
    """
    from vlmrec.commands._extract import carry_out, conclude, dry_run

    if settings["dry_run"]:
        dry_run(store, settings, as_json=as_json)
        return
    conclude(*carry_out(paths, run_id, store, settings), as_json=as_json)
