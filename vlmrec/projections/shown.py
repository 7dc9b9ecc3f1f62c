"""What is shown of a clip: the data contract of ``vlmrec show``. Empty fields: the log has not got there."""

from msgspec import Struct

from vlmrec.events import CandidateBrief, Option, Violation
from vlmrec.projections.facts import Note
from vlmrec.projections.meter import CallFigures
from vlmrec.terms import BlobRef


class SampleShown(Struct, frozen=True, kw_only=True, gc=False):
    """One reply, as it was read."""

    event: str
    call: str
    sample: int
    outcome: str
    strictness: str
    recovered: tuple[str, ...]
    reason: str | None
    status: str | None
    value: str | None
    explanation: str | None
    evidence_start: float | None
    evidence_end: float | None
    confidence: float | None
    repetition: float | None
    flags: tuple[str, ...]
    reasoning: BlobRef | None


class AnswerShown(Struct, frozen=True, kw_only=True, gc=False):
    """The answer that went to the engine."""

    event: str
    status: str
    value: str | None
    source: str
    explanation: str | None
    evidence_start: float | None
    evidence_end: float | None
    confidence: float | None
    demoted_from: str | None
    demoted_by: str | None


class Gone(Struct, frozen=True, kw_only=True, gc=False):
    """A chart and assignment that a turn's answer ruled out."""

    chart: str
    self_is: str
    variant: str | None


class TurnShown(Struct, frozen=True, kw_only=True, gc=False):
    """A question put for one party; fields are empty as far as the log has not got there."""

    event: str | None
    question_id: str
    party: str
    round: int | None
    put: bool
    text: str | None
    options: tuple[Option, ...]
    window: str | None
    samples: tuple[SampleShown, ...]
    tally: dict[str, int] | None
    vote: str | None
    violations: tuple[Violation, ...]
    answer: AnswerShown | None
    before: tuple[str, ...] | None
    """Charts that were candidates before the turn's round; null before the first submission."""
    after: tuple[str, ...] | None
    eliminated: tuple[Gone, ...]
    """What this turn's answer ruled out, when its round was submitted."""


class OutcomeShown(Struct, frozen=True, kw_only=True, gc=False):
    """How the clip ended."""

    event: str
    outcome: str
    reason: str | None
    incomplete: bool
    retryable: bool
    candidates: tuple[CandidateBrief, ...]


class TableShown(Struct, frozen=True, kw_only=True, gc=False):
    """The entity table that the clip's turns were given."""

    event: str
    table: BlobRef | None
    violations: tuple[Violation, ...]
    taken_over: bool


class ClipShown(Struct, frozen=True, kw_only=True, gc=False):
    """A clip's story so far."""

    clip: str
    path: str | None
    duration_s: float | None
    truncated: bool
    stream_index: int | None
    """The video stream shown; null where the log doesn't say."""
    video_streams: int
    media_failure: str | None
    table: TableShown | None
    turns: tuple[TurnShown, ...]
    outcome: OutcomeShown | None
    notes: tuple[Note, ...]


class Shown(Struct, frozen=True, kw_only=True, gc=False):
    """Every clip asked for."""

    condition: str | None
    data_version: str | None
    notes: tuple[Note, ...]
    clips: tuple[ClipShown, ...]


class TurnMeasured(Struct, frozen=True, kw_only=True, gc=False):
    """What one turn took, over its samples and attempts."""

    clip: str
    stage: str
    question_id: str
    party: str
    calls: CallFigures


class ShownMeasured(Struct, frozen=True, kw_only=True, gc=False):
    """What the turns took, and all of them together."""

    turns: tuple[TurnMeasured, ...]
    total: CallFigures
