"""Extraction: begin a run, drive it to its end, and resume it where it stopped.

The shell around the orchestrator. A new run appends its manifest and the engine's ledger before any
clip is opened. A resumed run takes everything from its log: what it was made with must still be
there, decisions left unwritten are written first, and calls left open by a crash are closed as in
doubt before anything is sent.
"""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from vlmrec import __version__
from vlmrec.canonical import json_blob, make_blob
from vlmrec.errors import VlmrecError
from vlmrec.events import (
    ClipSource,
    Event,
    Manifest,
    RateChanged,
    RunStarted,
    RunStopped,
    make_event,
)
from vlmrec.ledger import Ledger, decode_ledger
from vlmrec.log.format import LogKind, Parent
from vlmrec.log.reader import open_log
from vlmrec.log.writer import LogWriter
from vlmrec.models.limits import RateChange
from vlmrec.models.retry import RetryPolicy
from vlmrec.stages.condition import Condition, axis_values, canonical_id
from vlmrec.stages.context import CORE_VERSION, RunContext
from vlmrec.stages.orchestrator import ClipTask, Setting, run_clips
from vlmrec.stages.ports import Clock, Engine, Limiter, Media, Meter, Model
from vlmrec.stages.prompts import Templates
from vlmrec.stages.request import Parameters
from vlmrec.stages.state import ClipState, apply
from vlmrec.stages.stop import Stop
from vlmrec.stages.submission import described_payload
from vlmrec.terms import Blob

Progress = Callable[[str, ClipState], None]


class EngineDescription(NamedTuple):
    """What an engine said of itself: the bodies of GET /meta and GET /questions, and where they came from."""

    source: str
    meta: bytes
    questions: bytes

    def ledger(self) -> Ledger:
        return decode_ledger(self.meta, self.questions)


@dataclass(frozen=True, slots=True)
class Plan:
    """What a new run is to be."""

    run_id: str
    condition: Condition
    parameters: Parameters
    clips: tuple[ClipSource, ...]
    engine: EngineDescription
    templates: Templates
    rules: bytes | None
    vote_threshold: str = "1/2"
    extra: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Parts:
    """The effects that a run needs."""

    engine: Engine
    model: Model
    media: Media
    meter: Meter
    limiter: Callable[[Callable[[RateChange], None]], Limiter]
    clock: Clock
    scrub: Callable[[bytes], tuple[bytes, int]]
    policy: RetryPolicy = field(default_factory=RetryPolicy)


class RunResult(NamedTuple):
    """How a run stopped."""

    reason: str
    detail: str | None
    finished: int
    failed: int
    unfinished: int
    sealed: bool


def manifest(plan: Plan, ledger: Ledger, endpoint: str) -> Manifest:
    """Everything about the run that can change a reply or an outcome."""
    return Manifest(
        run_id=plan.run_id,
        vlmrec_version=__version__,
        core_version=CORE_VERSION,
        condition=canonical_id(plan.condition),
        axes=axis_values(plan.condition),
        model=plan.condition.model,
        endpoint=endpoint,
        parameters=msgspec.to_builtins(plan.parameters),
        prompts=plan.templates.hashes,
        engine=plan.engine.source,
        engine_version=ledger.engine_version,
        data_version=ledger.data_version,
        samples=plan.condition.samples,
        vote_threshold=plan.vote_threshold,
        clips=plan.clips,
        extra=plan.extra,
    )


def opening(plan: Plan, endpoint: str, now: str) -> tuple[list[Event], list[Blob], RunContext]:
    """The first events of a run's log with their blobs, and the context that they give."""
    ledger = plan.engine.ledger()
    rules = make_blob(plan.rules, "application/yaml") if plan.rules is not None else None
    templates = json_blob(dict(plan.templates.texts))
    made = manifest(plan, ledger, endpoint)
    started = RunStarted(manifest=made, rules=rules.ref if rules else None, templates=templates.ref)
    described, bodies = described_payload(plan.engine.source, ledger, plan.engine.meta, plan.engine.questions)
    events = [make_event(data, clip=None, time=now) for data in (started, described)]
    blobs = [*([rules] if rules else []), templates, *bodies]
    return events, blobs, RunContext(made, ledger, plan.rules)


async def start_run(
    path: Path,
    plan: Plan,
    parts: Parts,
    *,
    log_uuid: str,
    workers: int,
    stop: Stop,
    progress: Progress = lambda clip, state: None,
    parent: Parent | None = None,
    given: Sequence[tuple[list[Event], list[Blob]]] = (),
) -> RunResult:
    """Begin a run at ``path`` and drive it to its end or to a stop. ``given`` are batches taken over from elsewhere."""
    now = parts.clock.now()
    events, blobs, context = opening(plan, parts.model.endpoint, now)
    if path.exists():  # a process that died before its first event left it; ``begin`` has made sure that it is empty
        writer = LogWriter.open(path)
    else:
        writer = LogWriter.create(path, kind=LogKind.RUN, log_uuid=log_uuid, created=now, parent=parent)
    with writer:
        taken = [event for batch, _ in given for event in batch]
        bodies = [blob for _, made in given for blob in made]
        await writer.append_async([*events, *taken], [*blobs, *bodies])  # at once: the core waits for all of them
        states = {clip.clip_id: ClipState(clip.clip_id) for clip in plan.clips}
        for event in taken:
            if event.clip is not None:
                apply(states[event.clip], event)
        tasks = [ClipTask(Path(clip.path), states[clip.clip_id], {}) for clip in plan.clips]
        return await drive(
            writer,
            context,
            tasks,
            plan.parameters,
            plan.templates,
            parts,
            workers=workers,
            stop=stop,
            progress=progress,
        )


async def drive(
    writer: LogWriter,
    context: RunContext,
    tasks: Sequence[ClipTask],
    parameters: Parameters,
    templates: Templates,
    parts: Parts,
    *,
    workers: int,
    stop: Stop,
    progress: Progress,
    stops: int = 0,
    rate_changes: int = 0,
) -> RunResult:
    """Drive ``tasks``, append ``run.stopped`` whatever happened, and seal."""
    failure: BaseException | None = None
    rates = RateRecorder(writer, parts.clock.now, already=rate_changes)
    with open_log(writer.path, live=True) as reader:
        setting = Setting(
            context=context,
            templates=templates,
            parameters=parameters,
            writer=writer,
            stored_blob=reader.blob,
            log_uuid=writer.info.uuid,
            engine=parts.engine,
            model=parts.model,
            media=parts.media,
            meter=parts.meter,
            limiter=parts.limiter(rates.record),
            clock=parts.clock,
            scrub=parts.scrub,
            policy=parts.policy,
        )
        try:
            await run_clips(setting, tasks, workers=workers, stop=stop, progress=progress)
        except BaseExceptionGroup as group:
            failure = first_error(group)
        except asyncio.CancelledError as cancelled:
            stop.request("interrupted")
            failure = cancelled
    if failure is not None and not isinstance(failure, asyncio.CancelledError):
        stop.request("error", f"{type(failure).__name__}: {failure}")
    states = [task.state for task in tasks]
    finished = sum(state.ended and state.failure is None for state in states)
    failed = sum(state.ended and state.failure is not None for state in states)
    stopped = RunStopped(
        ordinal=stops + 1,
        reason=stop.reason or "done",
        detail=stop.detail,
        clips_finished=finished,
        clips_failed=failed,
    )
    writer.append([make_event(stopped, clip=None, time=parts.clock.now())]).result()
    sealed = writer.seal()
    if failure is not None and not isinstance(failure, asyncio.CancelledError):
        raise failure
    return RunResult(stopped.reason, stopped.detail, finished, failed, len(states) - finished - failed, sealed)


class RateRecorder:
    """Appends every change of the number of calls in flight. ``already`` are in the log from before."""

    def __init__(self, writer: LogWriter, now: Callable[[], str], *, already: int) -> None:
        self._writer = writer
        self._now = now
        self._recorded = already

    def record(self, change: RateChange) -> None:
        self._recorded += 1
        data = RateChanged(ordinal=self._recorded, previous=change.previous, limit=change.limit, cause=change.cause)
        self._writer.append([make_event(data, clip=None, time=self._now())])


def first_error(group: BaseExceptionGroup[BaseException]) -> BaseException:
    """The error behind a group: one that is meant for people where there is one, else the first."""
    leaves = list(_leaves(group))
    for kind in (VlmrecError, Exception):
        for leaf in leaves:
            if isinstance(leaf, kind):
                return leaf
    return leaves[0]


def _leaves(group: BaseExceptionGroup[BaseException]) -> Iterable[BaseException]:
    for error in group.exceptions:
        if isinstance(error, BaseExceptionGroup):
            yield from _leaves(error)
        else:
            yield error
