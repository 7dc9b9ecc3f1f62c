"""What a forced format hides: monitored calls, sent once more without the schema, beside the constrained ones. Pure.

Under ``F=schema`` every reply has the form that was asked for, whatever the model would have written. The
monitored replies say how often it would have kept the form by itself, and whether it would have said the same.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from msgspec import Struct

from vlmrec.events import ReplyParsed, TurnOpened
from vlmrec.projections.core import BlobOf
from vlmrec.projections.findings import Finding
from vlmrec.stages.reading import Reading, read_answer
from vlmrec.terms import Sha256, TurnKey


class Monitored(NamedTuple):
    """A completed monitoring call: its event, and the body that holds the reply to one sample, or to all of a turn."""

    event: str
    key: TurnKey
    sample: int | None
    body: Sha256


class Free(NamedTuple):
    """One monitored reply as it reads, and the constrained reply to the same sample."""

    event: str
    key: TurnKey
    reading: Reading
    forced: ReplyParsed | None

    @property
    def comparable(self) -> bool:
        """Whether both replies are answers."""
        return self.reading.outcome == "answer" and self.forced is not None and self.forced.outcome == "answer"

    @property
    def same(self) -> bool:
        """Whether both say the same: status and value."""
        forced = self.forced
        return forced is not None and (self.reading.status, self.reading.value) == (forced.status, forced.value)


class FormatFigures(Struct, frozen=True, kw_only=True):
    """How the monitored replies of one run read."""

    monitored: int
    strict: int
    loose: int
    unreadable: int
    reasons: dict[str, int]
    """Why the unreadable ones are, by reason."""
    compared: int
    """Monitored replies that are answers, and whose constrained counterparts are."""
    same_answer: int


def free_replies(
    calls: Sequence[Monitored],
    turns: Mapping[TurnKey, TurnOpened],
    parsed: Mapping[tuple[TurnKey, int], ReplyParsed],
    blob: BlobOf,
) -> list[Free]:
    """Every monitored reply of a clip, read as a run's replies are."""
    return [
        Free(call.event, call.key, read_answer(blob(call.body), choice, turn), parsed.get((call.key, sample)))
        for call in calls
        if (turn := turns.get(call.key)) is not None
        for choice, sample in _samples(call, turn)
    ]


def format_figures(replies: Sequence[Free]) -> FormatFigures:
    """The figures of one run."""
    unreadable = [free.reading.reason or "unreadable" for free in replies if free.reading.outcome != "answer"]
    strict = sum(free.reading.strictness == "strict" for free in replies)
    return FormatFigures(
        monitored=len(replies),
        strict=strict,
        loose=len(replies) - strict - len(unreadable),
        unreadable=len(unreadable),
        reasons={reason: unreadable.count(reason) for reason in sorted(set(unreadable))},
        compared=sum(free.comparable for free in replies),
        same_answer=sum(free.comparable and free.same for free in replies),
    )


def format_findings(run: int, clip: str, replies: Sequence[Free]) -> Iterator[Finding]:
    """Each monitored reply that keeps no form by itself, or says something else without the schema."""
    for free in replies:
        reading = free.reading
        if reading.outcome != "answer":
            message = f"without the schema the reply gives no answer: {reading.reason or 'unreadable'}"
            yield _finding(run, clip, free, "format_unreadable", message)
        elif reading.strictness != "strict":
            how = f" ({', '.join(reading.recovered)})" if reading.recovered else ""
            yield _finding(run, clip, free, "format_loose", f"without the schema the reply is read only by repair{how}")
        if free.comparable and not free.same and free.forced is not None:
            forced = free.forced.value or free.forced.status
            message = f"without the schema the answer is {reading.value or reading.status}, with it {forced}"
            yield _finding(run, clip, free, "format_changes_answer", message)


def _samples(call: Monitored, turn: TurnOpened) -> Iterator[tuple[int, int]]:
    """Which choice of the body answers which sample."""
    if call.sample is not None:
        yield 0, call.sample
    else:
        yield from ((index, index) for index in range(turn.samples))


def _finding(run: int, clip: str, free: Free, rule: str, message: str) -> Finding:
    return Finding(
        kind="format",
        rule=rule,
        run=run,
        clip=clip,
        stage="monitor",
        question_id=free.key.question_id,
        party=free.key.party,
        event=free.event,
        message=message,
    )
