"""One attempt at a call, as every log has it: a bound reserved, the request recorded, sent, and its end as an event.

Who calls decides how an event is recorded, how often a call is tried, and what follows a failure.
"""

from collections.abc import Awaitable, Callable
from typing import NamedTuple

from vlmrec.events import CallCompleted, CallFailed, CallRequested, Sample, Stage
from vlmrec.models.wire import Attempt, Completed, PreparedRequest
from vlmrec.stages.calls import completed_payload, failed_payload
from vlmrec.stages.ports import Meter, Model
from vlmrec.stages.request import CallSpec
from vlmrec.terms import Blob, Party


class Call(NamedTuple):
    """An attempt that is ready to be made. ``prompt_tokens`` is the most it can have, where that is known."""

    clip: str
    stage: Stage
    question_id: str
    party: Party
    sample: Sample
    attempt: int
    spec: CallSpec
    max_tokens: int
    media: tuple[str, ...] = ()
    prompt_tokens: int | None = None

    @property
    def name(self) -> str:
        """What the meter and the server know it by."""
        return f"{self.clip}/{self.stage}/{self.question_id}/{self.party}/{self.sample}/{self.attempt}"


class Sent(NamedTuple):
    """A call that left, and what became of it."""

    call: Call
    requested: CallRequested
    attempt: Attempt


class NotSent(NamedTuple):
    """A call that did not leave: the meter refused it, or, where ``refused`` is None, it was no longer wanted."""

    refused: str | None = None


class Line(NamedTuple):
    """Where a log's calls go: the model, the name the log has it under, and what counts their cost."""

    port: Model
    model: str
    log_uuid: str
    meter: Meter

    async def send(self, call: Call, record: Callable[[CallRequested, Blob], Awaitable[bool]]) -> Sent | NotSent:
        """Reserve, ``record`` and send. ``record`` makes the request durable, or says by False that it mustn't leave."""
        spec, name = call.spec, call.name
        reserved = await self.meter.reserve(name, prompt_tokens=call.prompt_tokens, max_tokens=call.max_tokens)
        if reserved.refused is not None:
            return NotSent(reserved.refused)
        requested = CallRequested(
            stage=call.stage,
            question_id=call.question_id,
            party=call.party,
            sample=call.sample,
            attempt=call.attempt,
            fingerprint=spec.fingerprint,
            request=spec.request.ref,
            model=self.model,
            endpoint=self.port.endpoint,
            media=call.media,
            reserved_cost=reserved.cost,
            predicted_prompt_tokens=spec.predicted,
        )
        if not await record(requested, spec.request):
            self.meter.release(name)
            return NotSent()
        prepared = PreparedRequest(
            content=spec.content,
            request_id=f"{self.log_uuid}/{name}",
            fingerprint=spec.fingerprint,
            sample=call.sample,
            loggable=spec.request.body,
        )
        return Sent(call, requested, await self.port.send(prepared, clip=call.clip))

    def settle(self, sent: Sent, *, final: bool) -> tuple[CallCompleted | CallFailed, tuple[Blob, ...]]:
        """The event that closes the call, its cost settled. ``final``: after this failure it isn't sent again."""
        if isinstance(sent.attempt, Completed):
            return completed_payload(sent.requested, sent.attempt, self.meter.completed(sent.call.name, sent.attempt))
        settled = self.meter.failed(sent.call.name, sent.attempt)
        return failed_payload(sent.requested, sent.attempt, settled, final=final)
