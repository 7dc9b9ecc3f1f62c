from pathlib import Path

import click

from vlmrec.commands._options import json_option
from vlmrec.errors import InputError


@click.command()
@click.option(
    "--out", type=click.Path(file_okay=False, path_type=Path), metavar="DIR", help="Where clips and gold/ go."
)
@click.option("--seed", type=int, default=0, show_default=True, help="The same seed gives the same bytes.")
@click.option("--count", type=click.IntRange(1), default=1, show_default=True, help="How many clips.")
@click.option(
    "--scenario",
    "scenarios",
    multiple=True,
    metavar="NAME",
    help="Only this one (repeatable). Default: all take turns.",
)
@click.option(
    "--vary", multiple=True, metavar="KEY=A,B,…", help="Render each clip once for every value, all else unchanged."
)
@click.option("--size", default="1280x720", show_default=True, metavar="WxH", help="Picture size.")
@click.option("--fps", type=click.IntRange(1, 60), default=15, show_default=True, help="Frames a second.")
@click.option("--duration", type=float, default=10.0, show_default=True, metavar="SECONDS", help="Length of a clip.")
@click.option("--engine", default="0.1.3", show_default=True, metavar="VERSION", help="Whose ledger the gold answers.")
@click.option("--workers", type=click.IntRange(1), default=1, show_default=True, help="Clips rendered at a time.")
@click.option("--list", "list_only", is_flag=True, help="List the scenarios and end.")
@json_option
def command(
    out: Path | None, seed: int, count: int, scenarios: tuple[str, ...], vary: tuple[str, ...], size: str, fps: int,
    duration: float, engine: str, workers: int, list_only: bool, as_json: bool,
) -> None:  # fmt: skip
    """Render dashcam clips whose every answer is known, with their gold labels.

    \b
        vlmrec synth --out clips --seed 1 --count 12
        vlmrec synth --out clips --scenario lane_change_from_left --vary lane_change_s=4,2,1
    """
    from vlmrec.commands._output import print_json
    from vlmrec.synth import make, scenarios as known

    if list_only:
        rows = {name: known.summary(name) for name in known.SCENARIOS}
        print_json(rows) if as_json else [click.echo(f"{name:28} {text}") for name, text in rows.items()]
        return
    if out is None:
        raise InputError("--out DIR is missing: say where the clips go")
    plans = make.plan_clips(
        seed=seed,
        count=count,
        scenarios=scenarios,
        vary=_varied(vary),
        duration=duration,
        engine=engine,
        fps=fps,
        **_size(size),
    )
    done = []
    for made in make.make_clips(plans, out, workers=workers):
        done.append({"clip_id": made.plan.clip_id, "video": str(made.video), "gold": str(made.gold)})
        click.echo(f"{len(done)} of {len(plans)}: {made.video}", err=True)
    if as_json:
        print_json(done)
    else:
        click.echo(f"{len(done)} clips in {out}, gold in {out / 'gold'}")


def _varied(texts: tuple[str, ...]) -> dict[str, list[str]]:
    varied = {}
    for text in texts:
        key, mark, values = text.partition("=")
        if not mark or not all(values.split(",")):
            raise InputError(f"--vary {text}: expected KEY=A,B,… such as lane_change_s=4,2,1")
        varied[key] = values.split(",")
    return varied


def _size(text: str) -> dict[str, int]:
    width, _, height = text.partition("x")
    if not (width.isdigit() and height.isdigit()):
        raise InputError(f"--size {text}: expected WIDTHxHEIGHT such as 1280x720")
    return {"width": int(width), "height": int(height)}
