"""Drives the decision core over concurrent clips: the only place where a run's effects happen.

Every clip has one lock. An observation is appended and made durable under it, then applied, then
the decisions that follow are appended (the log is first in, first out, so whatever a later effect
commits comes after them), and only then are new effects started. A request leaves only after its
``call.requested`` is durable. Calls of one clip and of all clips run side by side; a stop lets
those in flight end and starts no others.
"""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, NamedTuple

import msgspec

from vlmrec.canonical import json_blob, make_blob
from vlmrec.errors import InputError, MediaError, ServiceError, StopRun
from vlmrec.events import (
    CallFailed,
    CallRequested,
    Event,
    MediaFailed,
    MediaItem,
    MediaPrepared,
    Payload,
    Stage,
    TurnOpened,
    event_id,
    make_event,
)
from vlmrec.log.format import Appended
from vlmrec.log.writer import LogWriter
from vlmrec.media.prepare import PreparedMedia
from vlmrec.models.adapters import adapt_system, adapt_tail
from vlmrec.models.request import Prefix
from vlmrec.models.retry import RetryPolicy, next_step
from vlmrec.models.wire import Failed
from vlmrec.stages.attempt import Call, Line, NotSent, Sent
from vlmrec.stages.context import RunContext
from vlmrec.stages.decide import decide
from vlmrec.stages.effects import Effect, OpenClip, PrepareMedia, Record, SendCall, Submit
from vlmrec.stages.ports import Clock, Engine, Limiter, Media, Meter, Model, OpenedClip
from vlmrec.stages.prediction import bound_after, predicted_tokens
from vlmrec.stages.prompts import Prompt, Templates, build_prompt
from vlmrec.stages.request import CallSpec, Parameters, build_call, call_fields, encode_start, max_tokens
from vlmrec.stages.settle import accepted_scene, accepted_table
from vlmrec.stages.state import TASK_STAGES, ClipState, apply
from vlmrec.stages.submission import refused_payload, submitted_payload
from vlmrec.terms import Blob

StopReason = Literal["done", "interrupted", "budget", "credit", "not_authorised", "engine_changed", "error"]


@dataclass(frozen=True, slots=True)
class Setting:
    """Everything a run's clips share."""

    context: RunContext
    templates: Templates
    parameters: Parameters
    writer: LogWriter
    stored_blob: Callable[[str], bytes]
    log_uuid: str
    engine: Engine
    model: Model
    media: Media
    meter: Meter
    limiter: Limiter
    clock: Clock
    scrub: Callable[[bytes], tuple[bytes, int]]
    policy: RetryPolicy = field(default_factory=RetryPolicy)


class Stop:
    """Whether, and why, the run is to stop. The first reason stands."""

    def __init__(self) -> None:
        self._event = asyncio.Event()
        self.reason: StopReason | None = None
        self.detail: str | None = None

    def request(self, reason: StopReason, detail: str | None = None) -> None:
        if self.reason is None:
            self.reason, self.detail = reason, detail
        self._event.set()

    @property
    def requested(self) -> bool:
        return self._event.is_set()

    async def wait(self, seconds: float) -> None:
        """Sleep for ``seconds``, or until a stop is requested."""
        try:
            await asyncio.wait_for(self._event.wait(), seconds)
        except TimeoutError:
            return


class ClipTask(NamedTuple):
    """A clip to be driven: its file, what is known of it, and the failures that earlier processes recorded."""

    path: Path
    state: ClipState
    failures: dict[tuple[object, ...], list[str]]


async def run_clips(
    setting: Setting,
    clips: Iterable[ClipTask],
    *,
    workers: int,
    stop: Stop,
    progress: Callable[[str, ClipState], None] = lambda clip, state: None,
) -> None:
    """Drive every clip to its end, ``workers`` at once, or until ``stop`` is requested."""
    waiting = iter(clips)

    async def work() -> None:
        for task in waiting:
            if stop.requested:
                return
            await ClipRunner(setting, task, stop, progress).run()

    async with asyncio.TaskGroup() as group:
        for _ in range(workers):
            group.create_task(work())


class ClipRunner:
    """One clip on its way from its state to its end."""

    def __init__(
        self,
        setting: Setting,
        task: ClipTask,
        stop: Stop,
        progress: Callable[[str, ClipState], None],
    ) -> None:
        self._setting = setting
        self._path = task.path
        self._state = task.state
        self._stop = stop
        self._progress = progress
        self._lock = asyncio.Lock()
        self._active: set[Effect] = set()
        self._blobs: dict[str, bytes] = {}
        self._pending: list[Future[Appended]] = []
        self._opened: OpenedClip | None = None
        self._media: dict[str, PreparedMedia] = {}
        self._media_locks: dict[str, asyncio.Lock] = {}
        self._prefixes: dict[tuple[Stage, str], Prefix] = {}
        self._failures = task.failures
        self._delays: dict[tuple[object, ...], float] = {}
        self._line = Line(setting.model, setting.context.condition.model, setting.log_uuid, setting.meter)
        self._group: asyncio.TaskGroup | None = None

    async def run(self) -> None:
        """Go on until the clip has ended, or until nothing more is started because of a stop."""
        async with asyncio.TaskGroup() as group:
            self._group = group
            async with self._lock:
                self._advance()
        for written in self._pending:
            await asyncio.wrap_future(written)

    # ---- the step: observation, decisions, effects ------------------------------------------

    async def _record(self, data: Payload, blobs: Sequence[Blob] = (), cause: str | None = None) -> None:
        async with self._lock:
            await self._observe(data, blobs, cause)

    async def _record_request(self, data: CallRequested, blob: Blob) -> bool:
        """Record that a call is about to leave; False, and nothing is recorded, when the clip has failed meanwhile."""
        async with self._lock:
            if self._state.failure is not None or self._stop.requested:
                return False
            await self._observe(data, (blob,))
            return True

    async def _observe(self, data: Payload, blobs: Sequence[Blob], cause: str | None = None) -> None:
        event = self._event(data, cause)
        self._keep(blobs)
        await self._setting.writer.append_async([event], blobs)
        apply(self._state, event)
        self._advance()

    def _advance(self) -> None:
        """Append and apply every decision that is due, then start the effects that are wanted."""
        while True:
            commands = decide(self._setting.context, self._state, self._blob)
            records = [command for command in commands if isinstance(command, Record)]
            if not records:
                break
            events = [self._event(record.data, record.causation) for record in records]
            blobs = [blob for record in records for blob in record.blobs]
            self._keep(blobs)
            self._wait_for(self._setting.writer.append(events, blobs))
            for event in events:
                apply(self._state, event)
        self._progress(self._state.clip, self._state)
        if self._stop.requested or self._group is None:
            return
        for command in commands:
            assert not isinstance(command, Record)
            if command not in self._active:
                self._active.add(command)
                self._group.create_task(self._carry_out(command))

    def _event(self, data: Payload, cause: str | None) -> Event:
        return make_event(data, clip=self._state.clip, time=self._setting.clock.now(), causation=cause)

    def _wait_for(self, written: "Future[Appended]") -> None:
        """Decisions need not be durable before effects start, only before those commit; a write error ends the clip."""
        self._pending = [each for each in self._pending if not each.done() or each.exception() is not None]
        for each in self._pending:
            if each.done():
                each.result()
        self._pending.append(written)

    def _keep(self, blobs: Iterable[Blob]) -> None:
        for blob in blobs:
            self._blobs[blob.ref.sha256] = blob.body

    def _blob(self, sha256: str) -> bytes:
        body = self._blobs.get(sha256)
        if body is None:
            body = self._blobs[sha256] = self._setting.stored_blob(sha256)
        return body

    # ---- effects ----------------------------------------------------------------------------

    async def _carry_out(self, effect: Effect) -> None:
        if isinstance(effect, OpenClip):
            await self._open()
        elif isinstance(effect, PrepareMedia):
            await self._prepare(effect.window)
        elif isinstance(effect, SendCall):
            await self._call(effect)
        else:
            await self._submit(effect)
        async with self._lock:
            self._active.discard(effect)
            self._advance()

    async def _open(self) -> None:
        try:
            opened = await self._setting.media.open(self._path)
        except MediaError as error:
            await self._record(self._media_failed(str(error)))
            return
        self._opened = opened
        await self._record(opened.data)

    async def _prepare(self, window: str) -> None:
        try:
            made = await self._make_media(window)
        except MediaError as error:
            await self._record(self._media_failed(str(error), window))
            return
        data, blobs = media_payload(window, made)
        await self._record(data, blobs)

    def _media_failed(self, reason: str, window: str | None = None) -> MediaFailed:
        return MediaFailed(
            ordinal=self._state.media_failures + 1,
            path=str(self._path),
            reason=reason,
            sha256=self._state.opened.sha256 if self._state.opened is not None else None,
            window=window,
            transient=not self._path.exists(),
        )

    async def _make_media(self, window: str) -> PreparedMedia:
        """The media of a window, made once in this process; after a resume they must equal those on record."""
        async with self._media_locks.setdefault(window, asyncio.Lock()):
            made = self._media.get(window)
            if made is None:
                opened = await self._reopened()
                table = accepted_table(self._state, self._blob)
                made = await self._setting.media.prepare(self._path, opened, window, table)
                self._media[window] = made
            return made

    async def _reopened(self) -> OpenedClip:
        if self._opened is None:
            self._opened = await self._setting.media.open(self._path)
            check_same_clip(self._state, self._opened, self._path)
        return self._opened

    async def _call(self, effect: SendCall) -> None:
        setting, turn = self._setting, effect.turn
        key = (turn.stage, turn.question_id, turn.party, effect.sample)
        if (delay := self._delays.pop(key, 0.0)) > 0:
            await self._stop.wait(delay)
        spec = await self._spec(effect)
        await setting.limiter.acquire()
        sent: Sent | NotSent | None = None
        try:
            if self._stop.requested:
                return
            sent = await self._line.send(self._ready(effect, spec), self._record_request)
        finally:
            setting.limiter.release(sent.attempt if isinstance(sent, Sent) else None)
        if isinstance(sent, NotSent):
            if sent.refused is not None:
                self._stop.request("budget", sent.refused)
            return
        final = self._after_failure(key, sent.attempt) if isinstance(sent.attempt, Failed) else True
        data, blobs = self._line.settle(sent, final=final)
        await self._record(data, blobs, event_id(sent.requested, self._state.clip))

    def _ready(self, effect: SendCall, spec: CallSpec) -> Call:
        turn = effect.turn
        counted = prompt_tokens_of(self._state, turn)
        return Call(
            clip=self._state.clip,
            stage=turn.stage,
            question_id=turn.question_id,
            party=turn.party,
            sample=effect.sample,
            attempt=effect.attempt,
            spec=spec,
            max_tokens=max_tokens(self._setting.parameters, turn),
            media=tuple(item.sha256 for item in self._state.media[turn.window].items),
            prompt_tokens=bound_after(counted, spec.tail) if counted is not None else None,
        )

    def _after_failure(self, key: tuple[object, ...], attempt: Failed) -> bool:
        """Set what follows a failed attempt; returns whether it was the last of its key."""
        failures = self._failures.setdefault(key, [])
        failures.append(attempt.reason)
        step = next_step(
            attempt,
            failures=len(failures),
            same_reason=failures.count(attempt.reason),
            jitter=self._setting.clock.random(),
            policy=self._setting.policy,
        )
        self._delays[key] = step.delay_s
        if step.action == "stop":
            self._stop.request(_stop_reason(attempt), f"{attempt.reason}: {attempt.message}")
        return step.final

    async def _spec(self, effect: SendCall) -> CallSpec:
        made = await self._make_media(effect.turn.window)
        setting = self._setting
        prompt = call_prompt(setting.context, setting.templates, setting.parameters, self._state, effect, self._blob)
        start = (effect.turn.stage, effect.turn.window)
        prefix = self._prefixes.get(start)
        if prefix is None:
            prefix = self._prefixes[start] = encode_start(prompt, made.parts)
        fields = wire_fields(setting.context, setting.parameters, effect)
        spec = build_call(prompt, made.loggable, fields, prefix)._replace(predicted=self._predicted(made, prompt))
        body, found = setting.scrub(spec.request.body)
        return spec._replace(request=make_blob(body, spec.request.ref.media_type)) if found else spec

    def _predicted(self, made: PreparedMedia, prompt: Prompt) -> int | None:
        opened, parameters = self._state.opened, self._setting.parameters
        if opened is None:
            return None
        return predicted_tokens(parameters.wire.model, opened, made.plan, prompt, fps=parameters.fps)

    async def _submit(self, effect: Submit) -> None:
        place = (effect.round, effect.attempt, effect.request)
        try:
            reply = await self._setting.engine.evaluate(effect.request)
        except StopRun as changed:
            self._stop.request("engine_changed", str(changed))
            return
        except (ServiceError, InputError) as error:
            data, blobs = refused_payload(*place, str(error))
        else:
            data, blobs = submitted_payload(*place, reply)
        await self._record(data, blobs)


# ---- pure helpers ----------------------------------------------------------------------------


def call_prompt(
    context: RunContext,
    templates: Templates,
    parameters: Parameters,
    state: ClipState,
    effect: SendCall,
    blobs: Callable[[str], bytes],
) -> Prompt:
    """The texts of a call, from the state alone."""
    table = scene = None
    if effect.turn.stage not in TASK_STAGES:
        accepted = accepted_table(state, blobs)
        table = msgspec.json.encode(accepted).decode() if accepted is not None else None
        scene = accepted_scene(state, blobs)
    prompt = build_prompt(templates, context, state, effect.turn, table=table, scene=scene)
    family, thinking = parameters.wire.family, parameters.wire.thinking
    return Prompt(
        adapt_system(prompt.system, family=family, thinking=thinking),
        prompt.lead,
        adapt_tail(prompt.tail, family=family, thinking=thinking),
    )


def wire_fields(context: RunContext, parameters: Parameters, effect: SendCall) -> dict[str, object]:
    """The top-level fields of a call. A monitoring call is the same call without constrained decoding."""
    constrained = context.condition.format == "schema" and effect.turn.stage is not Stage.MONITOR
    return call_fields(parameters, effect.turn, effect.sample, constrained=constrained)


def prompt_tokens_of(state: ClipState, turn: TurnOpened) -> int | None:
    """The most prompt tokens that a server has counted for a call with the same start; None before the first."""
    counts = [
        call.completed.usage.prompt_tokens
        for other in state.turns.values()
        if (other.opened.stage, other.opened.window) == (turn.stage, turn.window)
        for call in other.calls.values()
        if call.completed is not None and call.completed.usage.prompt_tokens is not None
    ]
    return max(counts, default=None)


def check_same_clip(state: ClipState, opened: OpenedClip, path: Path) -> None:
    """Raises InputError when the file is no longer the one on record, naming both."""
    if state.opened is not None and state.opened.sha256 != opened.data.sha256:
        raise InputError(
            f"clip {state.clip}: {path} holds other bytes (sha256 {opened.data.sha256[:12]}…) than "
            f"{state.opened.path} did when the run opened it ({state.opened.sha256[:12]}…); put the file back, "
            "or start another run"
        )


def media_payload(window: str, made: PreparedMedia) -> tuple[MediaPrepared, tuple[Blob, ...]]:
    """``media.prepared``: the items by hash, the plan, and the parts as a log may hold them."""
    parts = json_blob(list(made.loggable))
    plan = msgspec.to_builtins(made.plan)
    items = tuple(
        MediaItem(sha256=item.sha256, media_type=item.media_type, bytes=item.bytes, time_s=item.time_s)
        for item in made.media
    )
    inline_frames = made.delivery == "data_url" and plan.get("type") == "frames"
    delivery = "frames" if inline_frames else made.delivery
    return MediaPrepared(window=window, delivery=delivery, items=items, plan=plan, parts=parts.ref), (parts,)


def _stop_reason(attempt: Failed) -> StopReason:
    if attempt.reason == "no_credit":
        return "credit"
    if attempt.reason == "not_authorised":
        return "not_authorised"
    return "interrupted" if attempt.reason == "cancelled" else "error"


def failures_by_key(events: Iterable[Event]) -> dict[tuple[object, ...], list[str]]:
    """The reasons of recorded failures under each key, since the clip was last reopened; crashes don't count."""
    found: dict[tuple[object, ...], list[str]] = {}
    for event in events:
        if event.data.type == "clip.reopened":
            found.clear()
        elif isinstance(event.data, CallFailed) and event.data.kind != "crash":
            found.setdefault(event.data.call_key(), []).append(event.data.reason)
    return found
