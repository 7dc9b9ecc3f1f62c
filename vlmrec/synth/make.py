"""From a seed to clips and gold on disk: plans, checks them, renders each clip in a process of its own.

The same seed and the same library versions give the same bytes, whatever the number of workers. A clip's
name is a hash of all that it is made from. Whatever happens, a clip that is there has its label.
"""

import itertools
from collections.abc import Generator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import NamedTuple
from uuid import uuid4

from msgspec import Struct
from msgspec.structs import replace

from vlmrec.canonical import canonical_json, sha256_hex
from vlmrec.errors import InputError
from vlmrec.gold import GoldLabel
from vlmrec.ledger import Ledger
from vlmrec.synth.answers import gold_answers, observed_values
from vlmrec.synth.camera import CameraPath
from vlmrec.synth.charts import ego_share, leaf_of
from vlmrec.synth.draw import Draw, generator
from vlmrec.synth.grounding import entity_table
from vlmrec.synth.look import Look, draw_look
from vlmrec.synth.place import Place
from vlmrec.synth.plot import Plot
from vlmrec.synth.processes import run_each, uninterrupted
from vlmrec.synth.scenarios import SCENARIOS, scenario

SHORTEST, LONGEST = 6.0, 60.0
PICTURE_KEYS = ("fps", "width", "height")


class ClipPlan(Struct, frozen=True, kw_only=True):
    """All that a clip is made from."""

    clip_id: str
    scenario: str
    seed: int
    index: int
    fixed: dict[str, str]
    duration: float
    width: int
    height: int
    fps: int

    @property
    def stream(self) -> str:
        """The name of this clip's random streams: variations of one clip share them."""
        return f"{self.seed}/{self.index}"


class Staged(NamedTuple):
    """A clip before it is drawn."""

    plan: ClipPlan
    plot: Plot
    look: Look
    drawn: dict[str, float | str]


class Made(NamedTuple):
    """A finished clip."""

    plan: ClipPlan
    video: Path
    gold: Path


def plan_clips(
    *, seed: int, count: int, scenarios: Sequence[str] = (), vary: Mapping[str, Sequence[str]] | None = None,
    duration: float = 10.0, width: int = 1280, height: int = 720, fps: int = 15,
) -> list[ClipPlan]:  # fmt: skip
    """Plans ``count`` clips, each once for every combination of ``vary``.

    Without ``scenarios`` all take turns in a seeded order. Raises InputError for names, keys or values that don't exist.
    """
    if not SHORTEST <= duration <= LONGEST:
        raise InputError(
            f"--duration {duration}: expected {SHORTEST:g} to {LONGEST:g} seconds, to hold an approach and what follows"
        )
    names = list(scenarios) or list(SCENARIOS)
    for name in names:
        scenario(name)
    vary = vary or {}
    plans = []
    for index in range(count):
        chosen = _turn(names, seed, index)
        for values in itertools.product(*vary.values()):
            fixed = dict(zip(vary, values, strict=True))
            size = {key: _whole(key, fixed.pop(key)) for key in PICTURE_KEYS if key in fixed}
            plan = ClipPlan(
                clip_id="", scenario=chosen, seed=seed, index=index, fixed=fixed, duration=duration,
                width=size.get("width", width), height=size.get("height", height), fps=size.get("fps", fps),
            )  # fmt: skip
            _check(plan)
            plans.append(replace(plan, clip_id=clip_name(plan)))
    return plans


def varied(texts: Sequence[str]) -> dict[str, list[str]]:
    """``KEY=A,B`` texts as values by key. Raises InputError for any other form."""
    found: dict[str, list[str]] = {}
    for text in texts:
        key, mark, values = text.partition("=")
        if not mark or not key or not all(values.split(",")) or key in found:
            raise InputError(f"--vary {text}: expected KEY=A,B,… such as lane_change_s=4,2,1, each key once")
        found[key] = values.split(",")
    return found


def clip_name(plan: ClipPlan) -> str:
    """A name that says nothing and is another for every other clip: a hash of all that it is made from."""
    return f"clip_{sha256_hex(canonical_json(replace(plan, clip_id='')))[:10]}"


def stage_clip(plan: ClipPlan) -> Staged:
    """Everything about a clip but its pixels. Raises InputError for a fixed key that the scenario doesn't draw."""
    motion = Draw(generator(plan.stream, "motion"), plan.fixed)
    plot = scenario(plan.scenario)(motion, plan.duration)
    seen = Draw(generator(plan.stream, "look"), plan.fixed)
    look = draw_look(seen, len(plot.scene.vehicles))
    drawn = {**seen.used, **motion.used}
    unknown = sorted(set(plan.fixed) - set(drawn))
    if unknown:
        raise InputError(
            f"--vary {unknown[0]}: {plan.scenario} draws no such thing; it has {', '.join(sorted({*drawn, *PICTURE_KEYS}))}"
        )
    return Staged(plan, plot, look, drawn)


def gold_label(staged: Staged, ledger: Ledger) -> GoldLabel:
    """The reviewed label of a clip, its answers to the questions of ``ledger``."""
    plan, scene = staged.plan, staged.plot.scene
    path = CameraPath(scene, staged.look, generator(plan.stream, "camera"))
    aspect = plan.width / plan.height
    leaf = leaf_of(staged.plot.case)
    answers = gold_answers(staged.plot, staged.look, path, aspect, ledger)
    return GoldLabel(
        clip_id=plan.clip_id,
        answers=answers,
        gold_leaf=leaf.chart,
        self_fault=ego_share(leaf, observed_values(answers)),
        stage0=entity_table(scene, staged.look, path, aspect),
        data_version=ledger.data_version,
    )


def make_clips(
    plans: Sequence[ClipPlan], out: Path, *, ledger: Ledger, workers: int = 1
) -> Generator[Made, None, None]:
    """Renders every plan into ``out`` and gives them in that order. A clip and its label appear as soon as it is done.

    Every clip has a fresh process: encoding one leaves arithmetic state behind that changes the last bit of
    some pixels of the next. Close the iterator to end early: nothing unfinished is left. Raises InputError, before
    anything is rendered, for a folder that can't be written to.
    """
    place = Place.prepared(out)
    own = uuid4().hex[:8]  # two commands may make the same clip at once
    jobs = [(plan, out / f".{plan.clip_id}.{own}-{number}.mp4.part") for number, plan in enumerate(plans)]
    made: dict[int, Made] = {}
    given = 0
    with closing(run_each(_render, jobs, workers=workers)) as finished:
        for position in finished:
            plan, part = jobs[position]
            staged = stage_clip(plan)
            label = gold_label(staged, ledger)
            with uninterrupted():
                gold = place.put_label(label, _note(staged))
                made[position] = Made(plan, part.replace(out / f"{plan.clip_id}.mp4"), gold)
            while given in made:
                yield made.pop(given)
                given += 1


def _render(plan: ClipPlan, part: Path) -> None:
    """Runs in the child process: Panda3D keeps its engine in global state."""
    import cv2

    from vlmrec.synth.encode import write_video
    from vlmrec.synth.render import Picture, draw_frames

    cv2.setNumThreads(1)
    staged = stage_clip(plan)
    frames = draw_frames(staged.plot.scene, staged.look, Picture(plan.width, plan.height, plan.fps), plan.stream)
    write_video(part, frames, fps=plan.fps, width=plan.width, height=plan.height, crf=staged.look.crf)


def _turn(names: Sequence[str], seed: int, index: int) -> str:
    lap, place = divmod(index, len(names))
    return names[int(generator(seed, "order", lap).permutation(len(names))[place])]


def _check(plan: ClipPlan) -> None:
    for key, value, low, high in (
        ("width", plan.width, 64, 3840),
        ("height", plan.height, 36, 2160),
        ("fps", plan.fps, 1, 60),
    ):
        if not low <= value <= high or (key != "fps" and value % 2):
            raise InputError(f"{key} {value}: expected {low} to {high}" + ("" if key == "fps" else ", an even number"))
    stage_clip(plan)


def _whole(key: str, text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise InputError(f"--vary {key}={text}: expected a whole number") from None


def _note(staged: Staged) -> dict[str, object]:
    plan = staged.plan
    return {
        "scenario": plan.scenario,
        "seed": plan.seed,
        "index": plan.index,
        "fixed": plan.fixed,
        "drawn": staged.drawn,
        "size": [plan.width, plan.height],
        "fps": plan.fps,
    }
