"""How a stored call was read, and how this vlmrec reads it: what ``vlmrec reply read RUN CALL`` shows.

A call is named by its key as event ids write it (``clip/stage/question/party/sample``), by the id of
one of its events, or by as much of either as names one call.
"""

from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import Any

import msgspec
from msgspec import Struct

from vlmrec.errors import InputError
from vlmrec.events import (
    CallCompleted,
    CallFailed,
    CallRequested,
    ClipOpened,
    Event,
    ReplyParsed,
    RunStarted,
    Stage,
    TurnOpened,
    Usage,
)
from vlmrec.log.reader import LogReader
from vlmrec.models.envelope import Choice, read_envelope
from vlmrec.models.failure_table import FAILURES
from vlmrec.models.failures import shown
from vlmrec.models.replies.unicode import repair_text
from vlmrec.stages.condition import condition_from_axes
from vlmrec.stages.reading import Reading, read_turn

NAMED = 20
"""How many calls a message lists."""


class Attempt(Struct, frozen=True, kw_only=True):
    """One send of a call."""

    attempt: int
    outcome: str
    reason: str | None = None
    message: str | None = None
    hint: str | None = None
    status: int | None = None
    latency_s: float | None = None
    cost: Decimal | None = None
    in_doubt: bool = False
    body_start: str | None = None


class StoredReading(Struct, frozen=True, kw_only=True):
    """One reply to a call: its text, how it was read when the run was made, and how it is read now."""

    sample: int
    finish_reason: str | None
    text: str | None
    reasoning: str | None
    then: dict[str, Any] | None
    now: dict[str, Any] | None


class StoredCall(Struct, frozen=True, kw_only=True):
    """A call as a run's log has it."""

    call: str
    model: str
    fingerprint: str
    attempts: tuple[Attempt, ...]
    served_model: str | None = None
    usage: Usage | None = None
    readings: tuple[StoredReading, ...] = ()


def read_stored_call(reader: LogReader, call: str) -> StoredCall:
    """The call named ``call``. Raises InputError naming the calls that it could mean."""
    events = list(reader.events(["call.requested", "call.completed", "call.failed"]))
    key = _one_key(call, [_key(event) for event in events])
    mine = [event for event in events if _key(event) == key]
    requested = next(event.data for event in mine if isinstance(event.data, CallRequested))
    completed = next((event for event in mine if isinstance(event.data, CallCompleted)), None)
    return StoredCall(
        call=key,
        model=requested.model,
        fingerprint=requested.fingerprint,
        attempts=tuple(_attempt(reader, event) for event in mine if not isinstance(event.data, CallRequested)),
        served_model=completed.data.served_model if completed else None,  # type: ignore[attr-defined]  # chosen above
        usage=completed.data.usage if completed else None,  # type: ignore[attr-defined]  # likewise
        readings=tuple(_readings(reader, completed)) if completed else (),
    )


def _readings(reader: LogReader, completed: Event) -> Iterable[StoredReading]:
    data = completed.data
    assert isinstance(data, CallCompleted)
    body = reader.blob(data.body.sha256)
    stored = [
        event.data
        for event in reader.events(["reply.parsed"], clip=completed.clip)
        if isinstance(event.data, ReplyParsed) and event.data.call == completed.id
    ]
    stage = Stage.PREDICATE if data.stage is Stage.MONITOR else data.stage  # the same turn, asked once more
    turn = next(
        (
            event.data
            for event in reader.events(["turn.opened"], clip=completed.clip)
            if isinstance(event.data, TurnOpened) and (event.data.stage, event.data.ref) == (stage, data.ref)
        ),
        None,
    )
    opened = next((event.data for event in reader.events(["clip.opened"], clip=completed.clip)), None)
    duration_s = opened.duration_s if isinstance(opened, ClipOpened) else None
    started = next(event.data for event in reader.events([RunStarted.type]))
    assert isinstance(started, RunStarted)
    condition = condition_from_axes(started.manifest.axes)
    for choice in read_envelope(body, data.headers.get("content-type", "")).choices:
        sample = choice.index if data.sample == "all" else data.sample
        then = next((parsed for parsed in stored if parsed.sample == sample), None)
        now = read_turn(body, choice.index, turn, condition, duration_s=duration_s) if turn is not None else None
        yield _reading(choice, sample, then, now)


def _reading(choice: Choice, sample: int, then: ReplyParsed | None, now: Reading | None) -> StoredReading:
    fields = msgspec.to_builtins(then) if then is not None else None
    return StoredReading(
        sample=sample,
        finish_reason=choice.finish_reason,
        text=repair_text(choice.content or "")[0] if choice.content is not None else None,
        reasoning=now.reasoning if now is not None else choice.reasoning,
        then={name: value for name, value in fields.items() if name in _SHOWN and value is not None}
        if fields
        else None,
        now={name: value for name in _SHOWN if (value := getattr(now, name, None)) is not None} if now else None,
    )


_SHOWN = (
    "outcome",
    "strictness",
    "recovered",
    "reason",
    "status",
    "value",
    "explanation",
    "evidence_start",
    "evidence_end",
    "confidence",
    "flags",
)


def _attempt(reader: LogReader, event: Event) -> Attempt:
    data = event.data
    if isinstance(data, CallCompleted):
        return Attempt(
            attempt=data.attempt,
            outcome="completed",
            status=data.status,
            latency_s=data.latency_s,
            cost=data.cost,
        )
    assert isinstance(data, CallFailed)
    body = reader.blob(data.body.sha256)[:2000] if data.body is not None else b""
    hint = next((row.hint for row in FAILURES.values() if row.reason == data.reason and row.hint), None)
    return Attempt(
        attempt=data.attempt,
        outcome="failed",
        reason=data.reason,
        message=data.message,
        hint=hint,
        status=data.status,
        latency_s=data.latency_s,
        cost=data.charged_cost,
        in_doubt=data.in_doubt,
        body_start=shown(body.decode("utf-8", "replace")) or None,
    )


def _key(event: Event) -> str:
    """``clip/stage/question/party/sample`` as event ids write it: without type, and without attempt."""
    parts = event.id.split("/")[1:]
    return "/".join(parts[:5])


def _one_key(call: str, keys: Sequence[str]) -> str:
    every = list(dict.fromkeys(keys))
    if not every:
        raise InputError("the run holds no calls")
    wanted = call.strip("/")
    if wanted.split("/")[0] in ("call.requested", "call.completed", "call.failed"):
        wanted = "/".join(wanted.split("/")[1:6])
    exact = [key for key in every if key == wanted]
    partly = exact or [key for key in every if _contains(key.split("/"), wanted.split("/"))]
    if len(partly) == 1:
        return partly[0]
    listed = partly or every
    more = f" and {len(listed) - NAMED} more" if len(listed) > NAMED else ""
    problem = f"{call!r} names {len(partly)} calls" if partly else f"the run holds no call {call!r}"
    raise InputError(f"{problem}; there are {', '.join(listed[:NAMED])}{more}")


def _contains(parts: Sequence[str], wanted: Sequence[str]) -> bool:
    """Whether ``wanted`` are some of ``parts``, in their order."""
    left = iter(parts)
    return all(part in left for part in wanted)
