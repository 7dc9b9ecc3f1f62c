"""A text-only model as mapper: it reads stored descriptions, code removed, and picks an option; each call is recorded.

The calls (stage ``map``) go into a derived log of the run they describe, one after the other, each committed before
it leaves and after it came back. Only observations are written: how a reply is read is the projection's affair.
"""

import asyncio
import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

from msgspec.structs import replace

from vlmrec import __version__
from vlmrec.canonical import json_blob
from vlmrec.events import CallRequested, Manifest, Option, RunStarted, RunStopped, Stage, make_event
from vlmrec.log.format import LogKind, Parent
from vlmrec.log.writer import LogWriter
from vlmrec.models.request import encode_prefix, encode_request, whole_request
from vlmrec.models.retry import RetryPolicy, next_step
from vlmrec.models.structured import accepted_fields
from vlmrec.models.wire import Completed, PreparedRequest
from vlmrec.stages.calls import completed_payload, failed_payload
from vlmrec.stages.context import CORE_VERSION
from vlmrec.stages.endpoints import OpenModel
from vlmrec.stages.ports import Clock, Meter
from vlmrec.stages.request import fingerprint
from vlmrec.terms import Blob, Party

SYSTEM = (
    "You are given what somebody wrote about a vehicle in a traffic scene, and a question with options. Pick the option "
    "that the text itself states of that vehicle. What the text denies, supposes or says of another vehicle does not count. "
    'If it states none, or several that can\'t all be true, the status is "unknown" and the value null. Add nothing of your own.'
)
ANSWER = (
    'Reply with one JSON object: {"status": "observed" or "unknown", "value": one of the codes or null, "reason": …}'
)
MAX_TOKENS = 256
POLICY = RetryPolicy(max_failures=3, max_gateway_timeouts=1, base_s=1.0, max_delay_s=20.0, retry_after_cap_s=120.0)


class MapTask(NamedTuple):
    """A description to be mapped, with the question it was an answer to."""

    clip: str
    question_id: str
    party: Party
    text: str
    options: tuple[Option, ...]
    description: str


def map_prompt(task: MapTask) -> str:
    """What the mapper is asked. The description stands between marks, so that it can't pass for instructions."""
    options = "\n".join(f"- {option.code}: {option.label}" for option in task.options)
    description = task.description.replace("<<<", "").replace(">>>", "")
    return (
        f"[question] {task.question_id}\n[party] {task.party}\n[text] {task.text}\n[description]\n<<<\n{description}\n>>>\n"
        f"[options]\n{options}\n[answer] {ANSWER}"
    )


async def run_mapping(
    path: Path,
    model: OpenModel,
    tasks: Iterable[MapTask],
    *,
    parent: Parent,
    manifest: Manifest,
    meter: Meter,
    clock: Clock,
    log_uuid: str,
    scrub: Callable[[bytes], tuple[bytes, int]],
) -> str | None:
    """Map every task into a new derived log at ``path``; returns why it had to stop, where it had to.

    ``manifest`` is the run's own; the derived log's says who mapped, and of which run.
    """
    mine = replace(
        manifest,
        run_id=path.stem,
        vlmrec_version=__version__,
        core_version=CORE_VERSION,
        model=model.resolved.id,
        endpoint=model.port.endpoint,
        parameters={"temperature": 0, "max_tokens": MAX_TOKENS},
        extra={"source": "map", "parent": {"run_id": manifest.run_id, "uuid": parent.uuid, "head": parent.head}},
    )
    stopped: str | None = None
    with LogWriter.create(path, kind=LogKind.DERIVED, log_uuid=log_uuid, created=clock.now(), parent=parent) as writer:
        work = _Mapping(writer, model, meter, clock, scrub)
        await work.append(RunStarted(manifest=mine), None)
        for task in tasks:
            stopped = await work.take(task)
            if stopped is not None:
                break
        await work.append(RunStopped(ordinal=1, reason="done" if stopped is None else "error", detail=stopped), None)
        writer.seal()
    return stopped


class _Mapping:
    def __init__(
        self,
        writer: LogWriter,
        model: OpenModel,
        meter: Meter,
        clock: Clock,
        scrub: Callable[[bytes], tuple[bytes, int]],
    ) -> None:
        self._writer = writer
        self._model = model
        self._meter = meter
        self._clock = clock
        self._scrub = scrub

    async def take(self, task: MapTask) -> str | None:
        """One description, with retries; why further calls are useless, where they are."""
        failures: list[str] = []
        while True:
            failed, refused = await self._send(task, len(failures) + 1)
            if failed is None:
                return refused
            failures.append(failed.reason)
            what = next_step(
                failed,
                failures=len(failures),
                same_reason=failures.count(failed.reason),
                jitter=self._clock.random(),
                policy=POLICY,
            )
            if what.action == "stop":
                return f"{failed.reason}: {failed.message}"
            if what.action != "again":
                return None
            await asyncio.sleep(what.delay_s)

    async def _send(self, task: MapTask, number: int) -> tuple[Any, str | None]:
        fields: dict[str, Any] = {"model": self._model.wire.model, "max_tokens": MAX_TOKENS, "temperature": 0}
        fields, _ = accepted_fields(fields, self._model.wire.provider)
        text = [{"type": "text", "text": map_prompt(task)}]
        system = [{"role": "system", "content": SYSTEM}]
        stored = whole_request(messages=system, prefix_content=[], content=text, fields=fields)
        clean, _ = self._scrub(json_blob(stored).body)
        request = json_blob(json.loads(clean))
        name = f"{task.clip}/{Stage.MAP}/{task.question_id}/{task.party}/0/{number}"
        reserved = await self._meter.reserve(name, prompt_tokens=None, max_tokens=MAX_TOKENS)
        if reserved.refused is not None:
            return None, reserved.refused
        requested = CallRequested(
            stage=Stage.MAP,
            question_id=task.question_id,
            party=task.party,
            sample=0,
            attempt=number,
            fingerprint=fingerprint(json.loads(clean)),
            request=request.ref,
            model=self._model.resolved.id,
            endpoint=self._model.port.endpoint,
            reserved_cost=reserved.cost,
        )
        await self.append(requested, task.clip, (request,))
        prepared = PreparedRequest(
            content=encode_request(encode_prefix(messages=system, content=[]), content=text, fields=fields),
            request_id=f"{self._writer.info.uuid}/{name}",
            model=self._model.wire.model,
            max_tokens=MAX_TOKENS,
            fingerprint=requested.fingerprint,
            sample=0,
            loggable=request.body,
        )
        attempt = await self._model.port.send(prepared, clip=task.clip)
        if isinstance(attempt, Completed):
            done, blobs = completed_payload(requested, attempt, self._meter.completed(name, attempt))
            await self.append(done, task.clip, blobs)
            return None, None
        final = number >= POLICY.max_failures or not attempt.transient
        failed, blobs = failed_payload(requested, attempt, self._meter.failed(name, attempt), final=final)
        await self.append(failed, task.clip, blobs)
        return attempt, None

    async def append(self, data: Any, clip: str | None, blobs: tuple[Blob, ...] = ()) -> None:
        await self._writer.append_async([make_event(data, clip=clip, time=self._clock.now())], blobs)
