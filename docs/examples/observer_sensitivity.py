"""How the observer's answers depend on frame rate, resolution and lane-change speed: one command, one plot.

    python docs/examples/observer_sensitivity.py --out sensitivity --seeds 6

Renders one scenario per seed, varies one thing at a time with everything else unchanged, and asks the observer about
the counterpart's manoeuvre and its lane before it. Writes ``sensitivity.png`` and ``sensitivity.json``.
"""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import click

SCENARIO = "lane_change_from_right"
RATES = (15.0, 8.0, 4.0, 2.0)
SIZES = ((1280, 720), (640, 360), (320, 180))
SPEEDS = (4.0, 2.0, 1.0)
QUESTIONS = (("q_maneuver", "other"), ("q_lane_relation", "none"), ("q_collision", "none"))


class Point(NamedTuple):
    """Answers at one value of one axis."""

    axis: str
    value: str
    correct: int
    wrong: int
    abstained: int


@click.command()
@click.option(
    "--out", type=click.Path(file_okay=False, path_type=Path), required=True, help="Where clips and results go."
)
@click.option("--seeds", type=click.IntRange(1), default=6, show_default=True, help="How many seeds, from 500 on.")
@click.option("--engine", default="0.1.3", show_default=True, help="Whose ledger the questions are from.")
def main(out: Path, seeds: int, engine: str) -> None:
    """Measure and plot."""
    from vlmrec.engine.reference import load_reference

    ledger = load_reference(engine).ledger
    points = []
    for value in SPEEDS:
        clips = list(_clips(out, seeds, ledger, lane_change_s=f"{value:g}"))
        points.append(_count("lane change, s", f"{value:g}", clips, ledger, None))
    for width, height in SIZES:
        clips = list(_clips(out, seeds, ledger, width=str(width), height=str(height)))
        points.append(_count("picture", f"{width}×{height}", clips, ledger, None))
    clips = list(_clips(out, seeds, ledger))
    points += [_count("frames a second", f"{rate:g}", clips, ledger, rate) for rate in RATES]
    (out / "sensitivity.json").write_text(
        json.dumps([point._asdict() for point in points], indent=1, ensure_ascii=False) + "\n"
    )
    _plot(points, out / "sensitivity.png")
    for point in points:
        click.echo(
            f"{point.axis:16} {point.value:10} correct {point.correct:3} wrong {point.wrong:3} abstained {point.abstained:3}"
        )


def _clips(out: Path, seeds: int, ledger: object, **fixed: str) -> Iterator[tuple[Path, Path]]:
    from vlmrec.synth.make import make_clips, plan_clips

    name = "_".join(f"{key}-{value}" for key, value in sorted(fixed.items())) or "plain"
    for seed in range(500, 500 + seeds):
        vary = {key: (value,) for key, value in fixed.items()}
        plans = plan_clips(seed=seed, count=1, scenarios=(SCENARIO,), vary=vary)
        for made in make_clips(plans, out / name, ledger=ledger):  # type: ignore[arg-type]
            yield made.video, made.gold


def _count(axis: str, value: str, clips: Sequence[tuple[Path, Path]], ledger: object, fps: float | None) -> Point:
    from vlmrec.observer.analysis import analyse, scene_of
    from vlmrec.observer.answers import reply_text
    from vlmrec.observer.footage import read_frames
    from vlmrec.observer.request import ChatRequest, Option, Question, Video
    from vlmrec.terms import Party

    correct = wrong = abstained = 0
    for video, gold in clips:
        label = {(a["question_id"], a["party"]): a["value"] for a in json.loads(gold.read_text("utf-8"))["answers"]}
        request = ChatRequest(None, 1, None, None, (), (Video(video.read_bytes(), fps),), (), None, None, None)
        scene = scene_of(analyse(read_frames(request)))
        for question_id, party in QUESTIONS:
            codes = [option.code for option in ledger.question(question_id).domain]  # type: ignore[attr-defined]
            question = Question(question_id, Party(party), "", tuple(Option(code, code) for code in codes))
            answer = json.loads(reply_text(request._replace(question=question), scene))["value"]
            abstained += answer is None
            correct += answer is not None and answer == label[question_id, party]
            wrong += answer is not None and answer != label[question_id, party]
    return Point(axis, value, correct, wrong, abstained)


def _plot(points: Sequence[Point], path: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    axes = list(dict.fromkeys(point.axis for point in points))
    figure, panels = pyplot.subplots(1, len(axes), figsize=(4 * len(axes), 3), sharey=True)
    for panel, axis in zip(panels, axes, strict=True):
        chosen = [point for point in points if point.axis == axis]
        names = [point.value for point in chosen]
        below = [0] * len(chosen)
        for part, shade, hatch in (("correct", "0.35", ""), ("abstained", "0.85", ""), ("wrong", "1.0", "///")):
            heights = [getattr(point, part) for point in chosen]
            panel.bar(names, heights, bottom=below, color=shade, edgecolor="black", hatch=hatch, label=part)
            below = [low + height for low, height in zip(below, heights, strict=True)]
        panel.set_xlabel(axis)
    panels[0].set_ylabel("answers")
    panels[-1].legend(loc="upper right", fontsize="small")
    figure.tight_layout()
    figure.savefig(path, dpi=120)


if __name__ == "__main__":
    main()
