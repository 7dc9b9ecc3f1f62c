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
from typing import NamedTuple

from vlmrec.errors import InputError, ServiceError, StopRun
from vlmrec.events import (
    CallRequested,
    Event,
    Payload,
    event_id,
    make_event,
)
from vlmrec.log.format import Appended
from vlmrec.log.writer import LogWriter
from vlmrec.models.retry import RetryPolicy, next_step
from vlmrec.models.wire import Failed
from vlmrec.stages.attempt import Line, NotSent, Sent
from vlmrec.stages.compose import Composer
from vlmrec.stages.context import RunContext
from vlmrec.stages.decide import decide
from vlmrec.stages.effects import Effect, OpenClip, PrepareMedia, Record, SendCall, Submit
from vlmrec.stages.footage import Footage
from vlmrec.stages.ports import Clock, Engine, Limiter, Media, Meter, Model
from vlmrec.stages.prompts import Templates
from vlmrec.stages.request import Parameters
from vlmrec.stages.state import ClipState, apply
from vlmrec.stages.stop import Stop, stop_reason
from vlmrec.stages.submission import refused_payload, submitted_payload
from vlmrec.terms import Blob


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
        self._state = task.state
        self._stop = stop
        self._progress = progress
        self._lock = asyncio.Lock()
        self._active: set[Effect] = set()
        self._blobs: dict[str, bytes] = {}
        self._pending: list[Future[Appended]] = []
        self._footage = Footage(setting.media, task.path, task.state, self._blob)
        self._composer = Composer(
            setting.context, setting.templates, setting.parameters, setting.scrub, task.state, self._blob
        )
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
        await self._record(await self._footage.open())

    async def _prepare(self, window: str) -> None:
        data, blobs = await self._footage.prepare(window)
        await self._record(data, blobs)

    async def _call(self, effect: SendCall) -> None:
        setting, turn = self._setting, effect.turn
        key = (turn.stage, turn.question_id, turn.party, effect.sample)
        if (delay := self._delays.pop(key, 0.0)) > 0:
            await self._stop.wait(delay)
        spec = self._composer.spec(effect, await self._footage.of(turn.window))
        await setting.limiter.acquire()
        sent: Sent | NotSent | None = None
        try:
            if self._stop.requested:
                return
            sent = await self._line.send(self._composer.call(effect, spec), self._record_request)
        finally:
            setting.limiter.release(sent.attempt if isinstance(sent, Sent) else None)
        if isinstance(sent, NotSent):
            if sent.refused is not None:
                self._stop.request("budget", sent.refused)
            return
        final = self._after_failure(key, sent.attempt) if isinstance(sent.attempt, Failed) else True
        data, blobs = self._line.settle(sent, final=final)
        await self._record(data, blobs, event_id(sent.requested, self._state.clip))

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
            self._stop.request(stop_reason(attempt), f"{attempt.reason}: {attempt.message}")
        return step.final

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
