"""Calls of a log one after the other, outside the rounds of a run: what the probe and the mapper share.

Each call is recorded before it leaves and after it came back, and tried again as its policy says.
"""

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from vlmrec.canonical import json_blob
from vlmrec.events import CallRequested, Payload, make_event
from vlmrec.log.writer import LogWriter
from vlmrec.models.request import encode_prefix, encode_request, whole_request
from vlmrec.models.retry import RetryPolicy, next_step
from vlmrec.models.wire import Attempt, Completed
from vlmrec.stages.attempt import Call, Line, NotSent, Sent
from vlmrec.stages.endpoints import OpenModel
from vlmrec.stages.ports import Clock, Meter
from vlmrec.stages.request import CallSpec, fingerprint
from vlmrec.terms import Blob, JsonValue

PATIENT = RetryPolicy(max_failures=3, max_gateway_timeouts=1, base_s=1.0, max_delay_s=20.0, retry_after_cap_s=120.0)


class Taken(NamedTuple):
    """How a call ended, if it was sent at all; and why further calls are useless, where they are."""

    attempt: Attempt | None
    stop: str | None


class SerialCalls:
    """A log that calls are added to, one by one."""

    def __init__(
        self, writer: LogWriter, model: OpenModel, *, meter: Meter, clock: Clock, policy: RetryPolicy = PATIENT
    ) -> None:
        self._writer = writer
        self._line = Line(model.port, model.resolved.id, writer.info.uuid, meter)
        self._clock = clock
        self._policy = policy

    async def take(self, call: Call) -> Taken:
        """Make the call, again where that may help; its ``attempt`` is counted here."""
        failures: list[str] = []

        async def record(requested: CallRequested, request: Blob) -> bool:
            await self.append(requested, call.clip, (request,))
            return True

        while True:
            sent = await self._line.send(call._replace(attempt=len(failures) + 1), record)
            if isinstance(sent, NotSent):
                return Taken(None, sent.refused)
            attempt = sent.attempt
            if isinstance(attempt, Completed):
                await self._close(sent, final=True)
                return Taken(attempt, None)
            failures.append(attempt.reason)
            step = next_step(
                attempt,
                failures=len(failures),
                same_reason=failures.count(attempt.reason),
                jitter=self._clock.random(),
                policy=self._policy,
            )
            await self._close(sent, final=step.final)
            if step.action != "again":
                return Taken(attempt, f"{attempt.reason}: {attempt.message}" if step.action == "stop" else None)
            await asyncio.sleep(step.delay_s)

    async def append(self, data: Payload, clip: str | None, blobs: tuple[Blob, ...] = ()) -> None:
        """Append one event, and wait until it is durable."""
        await self._writer.append_async([make_event(data, clip=clip, time=self._clock.now())], blobs)

    async def _close(self, sent: Sent, *, final: bool) -> None:
        data, blobs = self._line.settle(sent, final=final)
        await self.append(data, sent.call.clip, blobs)


def call_spec(
    system: str,
    text: str,
    fields: Mapping[str, JsonValue],
    *,
    scrub: Callable[[bytes], tuple[bytes, int]],
    parts: Sequence[JsonValue] = (),
    loggable: Sequence[JsonValue] = (),
) -> CallSpec:
    """A call of its own, from its texts, its media ``parts``, those as a log may hold them, and the top-level fields.

    Its fingerprint is that of what is stored, secrets taken out.
    """
    messages = [{"role": "system", "content": system}]
    content = [{"type": "text", "text": text}]
    stored = whole_request(messages=messages, prefix_content=loggable, content=content, fields=fields)
    clean, _ = scrub(json_blob(stored).body)
    kept = json.loads(clean)
    sent = encode_request(encode_prefix(messages=messages, content=parts), content=content, fields=fields)
    return CallSpec(sent, json_blob(kept), fingerprint(kept), text)
