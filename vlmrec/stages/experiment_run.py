"""Carries an experiment out: one run after the other under one budget, and from where it stopped when started again."""

import time
from collections.abc import Callable, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Literal, NamedTuple

from msgspec import Meta, Struct
from msgspec.structs import replace

from vlmrec.config import Config
from vlmrec.errors import InputError
from vlmrec.events import ClipFailed, ClipFinished, RunResumed, RunStarted, RunStopped
from vlmrec.ledger import Ledger as EngineLedger
from vlmrec.log.reader import open_log
from vlmrec.log.store import run_path
from vlmrec.media.facts import Probe
from vlmrec.media.probe import probe
from vlmrec.media.sampling import parse_sampling, target_times
from vlmrec.media.tokens import image_tokens, video_tokens
from vlmrec.models.budget import Ledger, Price, plain
from vlmrec.models.presets import FREE
from vlmrec.stages.clips import find_clips, only, read_clip_set
from vlmrec.stages.condition import Condition, canonical_id
from vlmrec.stages.experiment import Experiment, PlannedRun, other_settings
from vlmrec.stages.extract import Progress, RunResult
from vlmrec.stages.options import NewRun, Options, Oracle
from vlmrec.stages.replay import run_context
from vlmrec.stages.resume import read_stored
from vlmrec.stages.session import begin, go_on, has_begun
from vlmrec.stages.spending import active_minutes, spent_so_far
from vlmrec.stages.stop import Stop

State = Literal["new", "unfinished", "done"]
TEXT_TOKENS = 1500
"""About what system text and question come to, in Korean."""
SAID_TOKENS = 200
"""About what a plain answer with its reason comes to."""
PROBED = 3
"""Clips from whose size and length the estimate is made."""


class RunPlan(Struct, frozen=True, kw_only=True):
    """A run before it is made, as ``--dry-run`` shows it."""

    run_id: str
    condition: str
    short_hash: str
    differs: Annotated[str, Meta(description="In what it differs from the first run.")]
    state: State
    clips: int
    calls_at_least: Annotated[
        int, Meta(description="Stage 0 and the gates; further questions follow from the answers.")
    ]
    calls_at_most: Annotated[int, Meta(description="Every question that a video can answer.")]
    cost_at_least: Annotated[Decimal | None, Meta(description="USD, estimated; null where the price is unknown.")]
    cost_at_most: Decimal | None


class RunOutcome(NamedTuple):
    """How a run of an experiment stands. ``result`` is None for one that was not begun."""

    run_id: str
    skipped: bool
    result: RunResult | None


def plan_runs(experiment: Experiment, options: Options, config: Config, ledger: EngineLedger) -> tuple[RunPlan, ...]:
    """Every run with its state and an estimate. Raises InputError for a stored run that is another than planned."""
    clips = _clips(experiment)
    shapes = [probe(clip) for clip in _paths(experiment)[:PROBED]]
    found = []
    for run in experiment.runs:
        observable = [key for key in ledger.turns if ledger.question(key.question_id).observable]
        gates = [gate.key for gate in ledger.gates if gate.key in observable]
        calls_per_turn = 1 if run.one_call else run.condition.samples
        first = 0 if run.condition.stages == "0" or run.stage0_from is not None else 1
        least = len(clips) * (first + (0 if run.answers_from else len(gates) * calls_per_turn))
        most = len(clips) * (first + len(observable) * calls_per_turn)
        tokens = max((prompt_tokens(run.condition, shape, run.parameters.fps) for shape in shapes), default=TEXT_TOKENS)
        price = options.price or _price(run.condition, config, experiment)
        found.append(
            RunPlan(
                run_id=run.run_id,
                condition=canonical_id(run.condition),
                short_hash=run.condition.short_hash,
                differs=experiment.axes_that_differ(run),
                state=_state(experiment, run, options, clips)[0],
                clips=len(clips),
                calls_at_least=least,
                calls_at_most=most,
                cost_at_least=_cost(price, least, tokens, SAID_TOKENS),
                cost_at_most=_cost(price, most, tokens, run.parameters.max_tokens),
            )
        )
    return tuple(found)


def prompt_tokens(condition: Condition, shape: Probe, fps: float | None) -> int:
    """About how many prompt tokens a call takes, by the formula of one model family."""
    rate = shape.average_rate or 30.0
    if condition.video == "full":
        return TEXT_TOKENS + video_tokens(shape.frames, rate, shape.width, shape.height, fps=fps or 2.0).tokens
    sampling = parse_sampling("frames-2fps" if condition.video == "window" else condition.video)
    frames = min(len(target_times(shape.exact_duration, sampling)), shape.frames)
    pixels = shape.width * shape.height
    scale = 1.0 if condition.pixels == "native" else min(1.0, (int(condition.pixels) / pixels) ** 0.5)
    return TEXT_TOKENS + frames * (8 + image_tokens(int(shape.width * scale), int(shape.height * scale)))


async def run_experiment(
    experiment: Experiment,
    options: Options,
    config: Config,
    *,
    oracle: Callable[[PlannedRun], Oracle | None],
    retry_failed: bool,
    stop: Stop,
    progress: Progress,
    on_run: Callable[[str, State], None] = lambda run_id, state: None,
) -> tuple[RunOutcome, ...]:
    """Every run that isn't done, in the file's order, until one stops before its end. All share one budget."""
    clips = _clips(experiment)
    states = [_state(experiment, run, options, clips) for run in experiment.runs]
    budget = _spent(experiment, options)
    outcomes: list[RunOutcome] = []
    for run, (state, stored) in zip(experiment.runs, states, strict=True):
        if stop.requested or (outcomes and _stopped(outcomes[-1])):
            outcomes.append(RunOutcome(run.run_id, False, None))
            continue
        if state == "done" and not (retry_failed and stored is not None and stored.failed):
            outcomes.append(RunOutcome(run.run_id, True, stored))
            continue
        on_run(run.run_id, state)
        how = replace(options, run_id=run.run_id, limits=experiment.limits, base_urls=experiment.base_urls)
        began = time.monotonic()
        if state == "new":
            new = _new_run(experiment, run, oracle(run))
            result = await begin(how, new, config, stop=stop, progress=progress, budget=budget)
        else:
            result = await go_on(
                how,
                experiment.clips,
                config,
                retry_failed=retry_failed,
                stop=stop,
                progress=progress,
                budget=budget,
                clip_set=experiment.clip_set,
            )
        budget.elapse((time.monotonic() - began) / 60)
        outcomes.append(RunOutcome(run.run_id, False, result))
    return tuple(outcomes)


def _new_run(experiment: Experiment, run: PlannedRun, oracle: Oracle | None) -> NewRun:
    return NewRun(
        clips=experiment.clips,
        clip_set=experiment.clip_set,
        condition=run.condition,
        parameters=run.parameters,
        engine=experiment.engine,
        vote_threshold=experiment.vote_threshold,
        delivery=experiment.settings.delivery,
        monitor_rate=run.extra.get("monitor_rate"),  # type: ignore[arg-type]  # a share or None, by parse_experiment
        n_in_one_call=run.one_call,
        oracle=oracle,
    )


def _state(
    experiment: Experiment, run: PlannedRun, options: Options, clips: tuple[str, ...]
) -> tuple[State, RunResult | None]:
    """How far a run has come. Raises InputError where the store holds another run under its id."""
    path = run_path(options.store, run.run_id)
    if not path.exists() or not has_begun(path):
        return "new", None
    with open_log(path) as reader:
        run_level = [event for event in reader.events() if event.clip is None]
        manifest = run_context(run_level, reader.blob).manifest
        endings = {event.clip: event.data for event in reader.events([ClipFinished.type, ClipFailed.type])}
    differs = other_settings(experiment, run, manifest, clips)
    if differs is not None:
        raise InputError(
            f"run {run.run_id} in {options.store} is not the one that is planned: {differs}; give the experiment "
            "another name, or put the setting back"
        )
    failed = sum(isinstance(data, ClipFailed) for data in endings.values())
    last = [event.data for event in run_level if isinstance(event.data, (RunStarted, RunResumed, RunStopped))][-1]
    if not isinstance(last, RunStopped) or last.reason != "done" or len(endings) < len(manifest.clips):
        return "unfinished", None
    return "done", RunResult("done", None, len(endings) - failed, failed, 0, True)


def _stopped(outcome: RunOutcome) -> bool:
    return outcome.result is None or outcome.result.reason != "done"


def _spent(experiment: Experiment, options: Options) -> Ledger:
    """The shared budget, with what earlier processes spent on all the runs."""
    spent, calls, minutes = Decimal(0), 0, 0.0
    for run in experiment.runs:
        path = run_path(options.store, run.run_id)
        if path.exists() and has_begun(path):
            with open_log(path) as reader:
                so_far = spent_so_far(read_stored(reader), experiment.limits)
                minutes += active_minutes(reader.events())
            spent, calls = spent + so_far.spent, calls + so_far.calls
    return Ledger(experiment.limits, spent=spent, calls=calls, minutes=minutes)


def _sources(experiment: Experiment) -> Sequence[tuple[str, str]]:
    wanted = read_clip_set(experiment.clip_set) if experiment.clip_set is not None else None
    return [(clip.clip_id, clip.path) for clip in only(find_clips(experiment.clips), wanted, experiment.clip_set)]


def _clips(experiment: Experiment) -> tuple[str, ...]:
    return tuple(clip for clip, _ in _sources(experiment))


def _paths(experiment: Experiment) -> list[Path]:
    return [Path(path) for _, path in _sources(experiment)]


def _price(condition: Condition, config: Config, experiment: Experiment) -> Price | None:
    if condition.model.startswith("replay:"):
        return FREE
    return config.resolve(condition.model, base_urls=experiment.base_urls).price


def _cost(price: Price | None, calls: int, prompt: int, completion: int) -> Decimal | None:
    if price is None:
        return None
    return plain((price.bound(prompt_tokens=prompt, max_tokens=completion) * calls).quantize(Decimal("0.0001")))
