"""What became of an attempt, as the event that records it, and what such events say of a key. Pure."""

from collections.abc import Iterable
from typing import TypedDict

from vlmrec.canonical import make_blob
from vlmrec.events import CallCompleted, CallFailed, CallRequested, Event, Sample, Stage
from vlmrec.models.budget import Settled
from vlmrec.models.wire import Completed, Failed
from vlmrec.terms import Blob, Party

AS_RECEIVED = "application/octet-stream"
"""Of every body from outside: a log knows a body under one media type, and the same bytes may come back with another
``content-type`` (an attempt later, or by way of a proxy). What the server called it stands in the event's headers."""


class CallKey(TypedDict):
    """The fields that name a call."""

    stage: Stage
    question_id: str
    party: Party
    sample: Sample
    attempt: int


def call_key(requested: CallRequested) -> CallKey:
    """The naming fields of ``requested``, to be repeated in what answers it."""
    return {
        "stage": requested.stage,
        "question_id": requested.question_id,
        "party": requested.party,
        "sample": requested.sample,
        "attempt": requested.attempt,
    }


def completed_payload(
    requested: CallRequested, attempt: Completed, settled: Settled
) -> tuple[CallCompleted, tuple[Blob, ...]]:
    """``call.completed`` and its body."""
    body = make_blob(attempt.body, AS_RECEIVED)
    data = CallCompleted(
        **call_key(requested),
        status=attempt.status,
        body=body.ref,
        latency_s=_seconds(attempt.latency_s),
        headers=attempt.headers,
        usage=attempt.usage,
        cost=settled.cost,
        cost_source=settled.source,
        served_model=attempt.served_model,
        finish_reasons=attempt.finish_reasons,
        redactions=attempt.redactions,
    )
    return data, (body,)


def failed_payload(
    requested: CallRequested, attempt: Failed, settled: Settled, *, final: bool
) -> tuple[CallFailed, tuple[Blob, ...]]:
    """``call.failed`` and whatever came back."""
    body = make_blob(attempt.body, AS_RECEIVED) if attempt.body else None
    data = CallFailed(
        **call_key(requested),
        kind=attempt.kind.value,
        reason=attempt.reason,
        message=attempt.message,
        final=final,
        in_doubt=attempt.in_doubt,
        transient=attempt.transient,
        stop_run=attempt.stop_run,
        status=attempt.status,
        headers=attempt.headers,
        body=body.ref if body is not None else None,
        latency_s=_seconds(attempt.latency_s),
        retry_after_s=attempt.retry_after_s,
        charged_cost=settled.cost,
        redactions=attempt.redactions,
    )
    return data, (body,) if body is not None else ()


def crashed_payload(requested: CallRequested) -> CallFailed:
    """Closes a call that a crash left open: it was sent, and nobody knows what became of it."""
    return CallFailed(
        **call_key(requested),
        kind="crash",
        reason="crash",
        message="the process ended before a reply was recorded",
        final=False,
        in_doubt=True,
        transient=True,
        charged_cost=requested.reserved_cost,
    )


def failures_by_key(events: Iterable[Event]) -> dict[tuple[object, ...], list[str]]:
    """The reasons of recorded failures under each key, since the clip was last reopened; crashes don't count."""
    found: dict[tuple[object, ...], list[str]] = {}
    for event in events:
        if event.data.type == "clip.reopened":
            found.clear()
        elif isinstance(event.data, CallFailed) and event.data.kind != "crash":
            found.setdefault(event.data.call_key(), []).append(event.data.reason)
    return found


def _seconds(value: float) -> float:
    """To the microsecond: finer figures are noise."""
    return round(value, 6)
