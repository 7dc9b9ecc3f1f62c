"""``vlmrec synth``: clips whose every answer is known."""

from pathlib import Path

import click

from vlmrec.commands._options import json_option
from vlmrec.errors import InputError

_FOLDER = click.Path(file_okay=False, path_type=Path)


@click.command()
@click.option("--out", type=_FOLDER, metavar="DIR", help="Where the clips go, and their labels under gold/.")
@click.option("--seed", type=int, default=0, show_default=True, help="The same seed gives the same bytes.")
@click.option("--count", type=click.IntRange(1), default=1, show_default=True, help="How many clips.")
@click.option(
    "--scenario", "names", multiple=True, metavar="NAME", help="Only this one (repeatable). Default: all in turn."
)
@click.option("--vary", multiple=True, metavar="KEY=A,B,…", help="Each clip once for every value, all else as it was.")
@click.option("--size", default="1280x720", show_default=True, metavar="WxH", help="Picture size.")
@click.option("--fps", type=click.IntRange(1, 60), default=15, show_default=True, help="Frames a second.")
@click.option("--duration", type=float, default=10.0, show_default=True, metavar="SECONDS", help="Length of a clip.")
@click.option(
    "--engine", default="0.1.3", show_default=True, metavar="VERSION", help="Whose questions the gold answers."
)
@click.option("--workers", type=click.IntRange(1), default=1, show_default=True, help="Clips rendered at a time.")
@click.option("--list", "list_only", is_flag=True, help="List the scenarios and end.")
@click.option(
    "--contact-sheet", "sheets", type=_FOLDER, metavar="DIR", help="Draw the clips of DIR with their gold and end."
)
@json_option
def command(
    out: Path | None, seed: int, count: int, names: tuple[str, ...], vary: tuple[str, ...], size: str, fps: int,
    duration: float, engine: str, workers: int, list_only: bool, sheets: Path | None, as_json: bool,
) -> None:  # fmt: skip
    """Render dashcam clips whose every answer is known, with their gold labels.

    \b
        vlmrec synth --out clips --seed 1 --count 18
        vlmrec synth --out clips --scenario lane_change_from_left --vary lane_change_s=4,2,1
        vlmrec synth --contact-sheet clips
    """
    from vlmrec.commands._output import print_json

    if list_only:
        found = _list(as_json)
    elif sheets is not None:
        found = _sheets(sheets, as_json)
    elif out is None:
        raise InputError("--out DIR is missing: say where the clips go (or use --list, or --contact-sheet DIR)")
    else:
        from contextlib import closing

        from vlmrec.engine.reference import load_reference
        from vlmrec.synth.make import make_clips, plan_clips, varied

        ledger = load_reference(engine).ledger
        width, height = _size(size)
        plans = plan_clips(
            seed=seed, count=count, scenarios=names, vary=varied(vary), duration=duration, width=width, height=height, fps=fps
        )  # fmt: skip
        found = []
        with closing(make_clips(plans, out, ledger=ledger, workers=workers)) as finished:
            for made in finished:
                found.append({"clip_id": made.plan.clip_id, "gold": str(made.gold), "video": str(made.video)})
                click.echo(f"{len(found)} of {len(plans)}: {made.video}", err=True)
        if not as_json:
            clips, whose = ("clip", "its label") if len(found) == 1 else ("clips", "their labels")
            click.echo(f"{len(found)} {clips} in {out}, {whose} in {out / 'gold'}")
    if as_json:
        print_json(found)


def _list(as_json: bool) -> list[dict[str, str]]:
    from vlmrec.synth.scenarios import SCENARIOS, summary

    rows = [{"scenario": name, "what": summary(name)} for name in SCENARIOS]
    for row in () if as_json else rows:
        click.echo(f"{row['scenario']:24} {row['what']}")
    return rows


def _sheets(folder: Path, as_json: bool) -> list[dict[str, str]]:
    from vlmrec.synth.sheet import write_sheets

    rows = []
    for path in write_sheets(folder):
        rows.append({"sheet": str(path)})
        if not as_json:
            click.echo(str(path))
    return rows


def _size(text: str) -> tuple[int, int]:
    width, _, height = text.partition("x")
    if not (width.isdigit() and height.isdigit()):
        raise InputError(f"--size {text}: expected WIDTHxHEIGHT such as 1280x720")
    return int(width), int(height)
