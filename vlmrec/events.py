"""The vocabulary: every event type, one msgspec Struct each.

Three families (design: observations, records, decisions). An *observation* is a fact from outside,
a *record* an act of the operator or the shell, a *decision* what pure code made of them; each
decision names the version of the core that decided.

A payload knows its ``type``, its ``schema_version`` and its natural key; with the clip these give
the event's deterministic id, so that a repeated append is refused by the file. Payloads hold no
clip: that is the envelope's ``subject``. Money is a decimal string, never a float; null where
unknown, never 0. Times within a clip are seconds of clip time.
"""

from decimal import Decimal
from enum import StrEnum
from typing import Annotated, Any, ClassVar, Literal, NamedTuple, TypeAlias

import msgspec
from msgspec import Meta, Struct

from vlmrec.protocol import Eliminated, EngineStatus
from vlmrec.terms import BlobRef, ClipId, Party, QuestionRef, Status

Sample: TypeAlias = int | Literal["all"]
"""Which of a turn's samples a call is for, from 0; ``all`` when one call brings every sample."""

Key: TypeAlias = tuple[str | int | None, ...]


class Family(StrEnum):
    """Who speaks in an event."""

    OBSERVATION = "observation"
    RECORD = "record"
    DECISION = "decision"


class Stage(StrEnum):
    """What a call is for. Only ``table``, ``scene`` and ``predicate`` can lead to answers."""

    TABLE = "table"
    SCENE = "scene"
    PREDICATE = "predicate"
    MONITOR = "monitor"
    MAP = "map"
    PROBE = "probe"


class Payload(Struct, frozen=True, kw_only=True, gc=False):
    """Base of all event payloads.

    Payloads, and what they hold, are trees of values and never part of a cycle: the garbage collector is kept from
    walking them (``gc=False``), which over a log of a million events costs more than reading it.
    """

    type: ClassVar[str]
    family: ClassVar[Family]
    schema_version: ClassVar[int] = 1
    per_clip: ClassVar[bool] = True

    def natural_key(self) -> Key:
        """What, beside type and clip, makes this event the only one of its kind in a log."""
        return ()

    def turn(self) -> str | None:
        """The turn this event belongs to, as ``question/party``; None where there is none."""
        return None


class _OfTurn(Payload, frozen=True, kw_only=True):
    """Fields of every event that belongs to a turn. ``question_id`` names the task where no question is put."""

    stage: Stage
    question_id: Annotated[str, Meta(description="The ledger's question; for table and scene calls, the task's name.")]
    party: Party

    def natural_key(self) -> Key:
        return (self.stage, self.question_id, self.party)

    def turn(self) -> str | None:
        return f"{self.question_id}/{self.party}"

    @property
    def ref(self) -> QuestionRef:
        return QuestionRef(question_id=self.question_id, party=self.party)


class _Call(_OfTurn, frozen=True, kw_only=True):
    sample: Annotated[Sample, Meta(description="Which of the turn's samples, from 0; `all` when n come in one call.")]
    attempt: Annotated[int, Meta(ge=1, description="Counts the sends under one call key, from 1.")]

    def call_key(self) -> Key:
        """``(stage, question, party, sample)``: with the clip, what is never asked twice."""
        return (self.stage, self.question_id, self.party, self.sample)

    def natural_key(self) -> Key:
        return (*self.call_key(), self.attempt)


# ---- observations: runs and engines ----------------------------------------------------------


class EngineDescribed(Payload, frozen=True, kw_only=True):
    """The engine said who it is and what it asks. The ledger's bytes are stored, so that a log is replayable alone."""

    type: ClassVar[str] = "engine.described"
    family: ClassVar[Family] = Family.OBSERVATION
    per_clip: ClassVar[bool] = False

    ordinal: Annotated[int, Meta(ge=1)]
    source: Annotated[str, Meta(description="`embedded:VERSION`, or the server's base URL.")]
    engine_version: str
    data_version: str
    meta: Annotated[BlobRef, Meta(description="The body of GET /meta.")]
    questions: Annotated[BlobRef, Meta(description="The body of GET /questions.")]

    def natural_key(self) -> Key:
        return (self.ordinal,)


class CandidateBrief(Struct, frozen=True, kw_only=True, gc=False):
    """A surviving chart, variant and assignment, with the share it gives the recording vehicle, in percent."""

    chart: str
    variant: str | None
    self_is: str
    fault_self: int
    fault_self_range: tuple[int, int]


class EngineSubmitted(Payload, frozen=True, kw_only=True):
    """The answers so far were sent to the engine; with its reply, or the reason why there is none."""

    type: ClassVar[str] = "engine.submitted"
    family: ClassVar[Family] = Family.OBSERVATION

    round: Annotated[int, Meta(ge=1, description="The round whose results were folded in before this submission.")]
    attempt: Annotated[int, Meta(ge=1)]
    request: Annotated[BlobRef | None, Meta(description="Null where an embedded engine was called as a function.")] = (
        None
    )
    reply: Annotated[BlobRef | None, Meta(description="Null likewise, and where no usable reply came.")] = None
    http_status: int | None = None
    engine_version: str | None = None
    data_version: str | None = None
    status: EngineStatus | None = None
    stop_reason: str | None = None
    candidates: tuple[CandidateBrief, ...] = ()
    eliminated: tuple[Eliminated, ...] = ()
    next_question: QuestionRef | None = None
    error: Annotated[str | None, Meta(description="Why there is no usable reply.")] = None
    final: Annotated[bool, Meta(description="True when a failed submission is not tried again.")] = False

    def natural_key(self) -> Key:
        return (self.round, self.attempt)


# ---- observations: clips and media -----------------------------------------------------------


class ClipOpened(Payload, frozen=True, kw_only=True):
    """A clip's bytes were hashed and at least one frame decoded. Times in seconds, as decoded."""

    type: ClassVar[str] = "clip.opened"
    family: ClassVar[Family] = Family.OBSERVATION

    path: Annotated[str, Meta(description="As given to the run.")]
    sha256: Annotated[str, Meta(description="Of the file's bytes.")]
    bytes: Annotated[int, Meta(ge=0)]
    duration_s: float
    frames: Annotated[int, Meta(ge=1, description="As decoded, not as promised.")]
    first_s: float
    last_s: float
    average_rate: float | None
    variable_rate: bool
    width: Annotated[int, Meta(ge=1, description="As shown, after rotation.")]
    height: Annotated[int, Meta(ge=1)]
    rotation: int
    codec: str
    truncated: Annotated[bool, Meta(description="The file decoded only in part.")] = False
    truncated_reason: str | None = None
    timestamps_synthesised: Annotated[bool, Meta(description="The stream has none; they come from its rate.")] = False
    stream_index: Annotated[int | None, Meta(description="The video stream shown: FFmpeg's choice of the best.")] = None
    video_streams: Annotated[int, Meta(ge=1, description="Video streams in the file.")] = 1


class MediaItem(Struct, frozen=True, kw_only=True, gc=False):
    """One media body of a request, by hash: the bytes themselves are never stored."""

    sha256: str
    media_type: str
    bytes: int
    time_s: Annotated[float | None, Meta(description="Clip time of a frame.")] = None


class MediaPrepared(Payload, frozen=True, kw_only=True):
    """The media of one window family were made, and how: the plan makes the same bytes again."""

    type: ClassVar[str] = "media.prepared"
    family: ClassVar[Family] = Family.OBSERVATION

    window: Annotated[str, Meta(description="The window family, such as `whole`.")]
    delivery: Annotated[str, Meta(description="`data_url`, `presigned_url`, `frames` or `file`.")]
    items: tuple[MediaItem, ...]
    plan: Annotated[dict[str, Any], Meta(description="Source hash, PTS list, resize, encoder and its version.")]
    parts: Annotated[BlobRef, Meta(description="The request's content parts, each body replaced by its hash.")]

    def natural_key(self) -> Key:
        return (self.window,)


class MediaFailed(Payload, frozen=True, kw_only=True):
    """A clip could not be opened, or its media not made."""

    type: ClassVar[str] = "media.failed"
    family: ClassVar[Family] = Family.OBSERVATION

    ordinal: Annotated[int, Meta(ge=1)]
    path: str
    reason: str
    sha256: str | None = None
    window: str | None = None
    transient: Annotated[bool, Meta(description="Another try could go well.")] = False

    def natural_key(self) -> Key:
        return (self.ordinal,)


# ---- observations: calls ---------------------------------------------------------------------


class CallRequested(_Call, frozen=True, kw_only=True):
    """A request is about to leave. Committed before it does."""

    type: ClassVar[str] = "call.requested"
    family: ClassVar[Family] = Family.OBSERVATION

    fingerprint: Annotated[str, Meta(description="Of everything that can change the reply; `v1:` and a SHA-256.")]
    request: Annotated[BlobRef, Meta(description="The exact request, media replaced by their hashes, secrets marked.")]
    model: str
    endpoint: str
    media: tuple[str, ...] = ()
    reserved_cost: Annotated[
        Decimal | None, Meta(description="Upper bound in USD; null when the price is unknown.")
    ] = None
    predicted_prompt_tokens: int | None = None


class Usage(Struct, frozen=True, kw_only=True, gc=False):
    """Token counts as the server gave them; null where it gave none."""

    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cached_tokens: int | None = None
    media_tokens: int | None = None
    reasoning_tokens: int | None = None


class CallCompleted(_Call, frozen=True, kw_only=True):
    """A whole 2xx reply with at least one choice came back. Its key, without the attempt, is the id: at most one."""

    type: ClassVar[str] = "call.completed"
    family: ClassVar[Family] = Family.OBSERVATION

    status: int
    body: Annotated[BlobRef, Meta(description="The bytes as received, after content decoding, secrets marked.")]
    latency_s: float
    headers: dict[str, str] = {}
    usage: Usage = Usage()
    cost: Annotated[
        Decimal | None, Meta(description="In USD, by the provider's figure or by price; null if unknown.")
    ] = None
    cost_source: Literal["provider", "price", "none"] = "none"
    served_model: str | None = None
    finish_reasons: tuple[str | None, ...] = ()
    redactions: Annotated[int, Meta(ge=0, description="How many secrets were replaced in the body.")] = 0

    def natural_key(self) -> Key:
        return self.call_key()


class CallFailed(_Call, frozen=True, kw_only=True):
    """A send ended without a usable completion; what came back, if anything, is kept."""

    type: ClassVar[str] = "call.failed"
    family: ClassVar[Family] = Family.OBSERVATION

    kind: Annotated[
        str, Meta(description="`status`, `timeout`, `connect`, `reset`, `cut`, `body`, `cancelled`, `crash`.")
    ]
    reason: Annotated[str, Meta(description="A stable word, such as `rate_limited`; docs/failures.md lists them.")]
    message: str
    final: Annotated[bool, Meta(description="The key is not sent again, unless the clip is reopened.")]
    in_doubt: Annotated[bool, Meta(description="Sent, and no response recorded: it may have been billed.")] = False
    transient: Annotated[bool, Meta(description="Another try at another time could go well.")] = False
    stop_run: Annotated[bool, Meta(description="Further calls would fail in the same way.")] = False
    status: int | None = None
    headers: dict[str, str] = {}
    body: BlobRef | None = None
    latency_s: float | None = None
    retry_after_s: float | None = None
    charged_cost: Annotated[Decimal | None, Meta(description="In USD; the worst case while in doubt.")] = None
    redactions: int = 0


# ---- observations: answers taken over --------------------------------------------------------


class Provenance(Struct, frozen=True, kw_only=True, gc=False):
    """Where an answer or table was taken from."""

    kind: Annotated[str, Meta(description="`log`, `gold` or `import`.")]
    log: Annotated[str | None, Meta(description="The source log's uuid.")] = None
    head: str | None = None
    event: Annotated[str | None, Meta(description="The source event's id.")] = None
    content: Annotated[str | None, Meta(description="SHA-256 of a source that is no log.")] = None
    labeler: str | None = None


class AnswerGiven(_OfTurn, frozen=True, kw_only=True):
    """An answer taken over from another log, from gold or from an import: as accepted there."""

    type: ClassVar[str] = "answer.given"
    family: ClassVar[Family] = Family.OBSERVATION

    status: Status
    value: str | None = None
    source: Provenance
    mapping: Literal["kept", "approximate"] = "kept"
    rule: Annotated[str | None, Meta(description="The migration rule behind an approximate answer.")] = None
    source_question_id: str | None = None
    source_value: str | None = None
    explanation: str | None = None
    evidence_start: float | None = None
    evidence_end: float | None = None


class TableGiven(Payload, frozen=True, kw_only=True):
    """An entity table taken over from gold or from another run."""

    type: ClassVar[str] = "table.given"
    family: ClassVar[Family] = Family.OBSERVATION

    table: BlobRef
    source: Provenance


# ---- records ---------------------------------------------------------------------------------


class ClipSource(Struct, frozen=True, kw_only=True):
    """A clip as named to a run."""

    clip_id: str
    path: str


class Manifest(Struct, frozen=True, kw_only=True):
    """Everything about a run that can change a reply or an outcome, and what it was made with."""

    run_id: str
    vlmrec_version: str
    core_version: int
    condition: Annotated[str, Meta(description="The canonical condition id.")]
    axes: Annotated[dict[str, str], Meta(description="The condition, axis by axis.")]
    model: str
    endpoint: Annotated[str, Meta(description="`in-process`, or the base URL; cannot change a reply by itself.")]
    parameters: Annotated[dict[str, Any], Meta(description="temperature, top_p, top_k, max_tokens, seed and the like.")]
    prompts: Annotated[dict[str, str], Meta(description="SHA-256 of every template used, by name.")]
    engine: Annotated[str, Meta(description="`embedded:VERSION`, or the server's base URL.")]
    engine_version: str
    data_version: str
    samples: Annotated[int, Meta(ge=1)]
    vote_threshold: Annotated[str, Meta(description="The share of usable samples that a value needs, as a fraction.")]
    clips: tuple[ClipSource, ...]
    extra: Annotated[dict[str, Any], Meta(description="Further settings that can change an outcome.")] = {}


class RunStarted(Payload, frozen=True, kw_only=True):
    """The run began; the whole manifest."""

    type: ClassVar[str] = "run.started"
    family: ClassVar[Family] = Family.RECORD
    per_clip: ClassVar[bool] = False

    manifest: Manifest
    rules: Annotated[BlobRef | None, Meta(description="The validation rules, where the condition applies them.")] = None
    templates: Annotated[BlobRef | None, Meta(description="The prompt templates, as JSON by name.")] = None


class RunResumed(Payload, frozen=True, kw_only=True):
    """The run went on in another process. ``closed_in_doubt`` calls had been left open by a crash."""

    type: ClassVar[str] = "run.resumed"
    family: ClassVar[Family] = Family.RECORD
    per_clip: ClassVar[bool] = False

    ordinal: Annotated[int, Meta(ge=1)]
    vlmrec_version: str
    closed_in_doubt: Annotated[int, Meta(ge=0)] = 0
    retry_failed: bool = False

    def natural_key(self) -> Key:
        return (self.ordinal,)


class RunStopped(Payload, frozen=True, kw_only=True):
    """The run stopped; written before the log is sealed."""

    type: ClassVar[str] = "run.stopped"
    family: ClassVar[Family] = Family.RECORD
    per_clip: ClassVar[bool] = False

    ordinal: Annotated[int, Meta(ge=1)]
    reason: Literal["done", "interrupted", "budget", "credit", "not_authorised", "engine_changed", "error"]
    detail: str | None = None
    clips_finished: int = 0
    clips_failed: int = 0

    def natural_key(self) -> Key:
        return (self.ordinal,)


class ClipReopened(Payload, frozen=True, kw_only=True):
    """A failed clip is tried again, by the operator's wish."""

    type: ClassVar[str] = "clip.reopened"
    family: ClassVar[Family] = Family.RECORD

    ordinal: Annotated[int, Meta(ge=1)]
    reason: str

    def natural_key(self) -> Key:
        return (self.ordinal,)


class NoteAdded(Payload, frozen=True, kw_only=True):
    """A remark on the run, a clip or a turn; with ``exclude`` it is not to be counted, for the reason given."""

    type: ClassVar[str] = "note.added"
    family: ClassVar[Family] = Family.RECORD
    per_clip: ClassVar[bool] = False

    ordinal: Annotated[int, Meta(ge=1)]
    text: str
    exclude: bool = False
    clip: str | None = None
    question_id: str | None = None
    party: Party | None = None

    def natural_key(self) -> Key:
        return (self.ordinal,)


class RateChanged(Payload, frozen=True, kw_only=True):
    """The number of calls allowed in flight changed."""

    type: ClassVar[str] = "rate.changed"
    family: ClassVar[Family] = Family.RECORD
    per_clip: ClassVar[bool] = False

    ordinal: Annotated[int, Meta(ge=1)]
    previous: int
    limit: int
    cause: str

    def natural_key(self) -> Key:
        return (self.ordinal,)


class LabelSet(Payload, frozen=True, kw_only=True):
    """A labeller set a label: an answer to a question, or a field of Stage 0 or of the review."""

    type: ClassVar[str] = "label.set"
    family: ClassVar[Family] = Family.RECORD

    ordinal: Annotated[int, Meta(ge=1)]
    labeler: str
    data_version: str
    question_id: str | None = None
    party: Party | None = None
    status: Status | None = None
    value: str | None = None
    evidence_start: float | None = None
    evidence_end: float | None = None
    confidence: float | None = None
    field: Annotated[str | None, Meta(description="`gold_leaf`, `stage0.contact_time`, …; null for an answer.")] = None
    field_value: Any = None

    def natural_key(self) -> Key:
        return (self.ordinal,)


class LabelWithdrawn(Payload, frozen=True, kw_only=True):
    """A labeller took a label back."""

    type: ClassVar[str] = "label.withdrawn"
    family: ClassVar[Family] = Family.RECORD

    ordinal: Annotated[int, Meta(ge=1)]
    labeler: str
    label: Annotated[str, Meta(description="Id of the label.set event withdrawn.")]

    def natural_key(self) -> Key:
        return (self.ordinal,)


# ---- decisions -------------------------------------------------------------------------------


class Option(Struct, frozen=True, kw_only=True, gc=False):
    """One option as shown."""

    code: str
    label: str


class TurnOpened(_OfTurn, frozen=True, kw_only=True):
    """A question was put for one party, or was recorded as not put because nothing on screen can answer it."""

    type: ClassVar[str] = "turn.opened"
    family: ClassVar[Family] = Family.DECISION

    core: int
    round: Annotated[int, Meta(ge=0)]
    text: str
    options: tuple[Option, ...]
    identity_hash: str
    shown_hash: str
    window: str
    samples: Annotated[int, Meta(ge=0)]
    put: Annotated[bool, Meta(description="False: not observable, submitted as unknown at no cost.")] = True


class ReplyParsed(_OfTurn, frozen=True, kw_only=True):
    """A model's reply was read as an answer (or as a table or scene), or why it could not be."""

    type: ClassVar[str] = "reply.parsed"
    family: ClassVar[Family] = Family.DECISION

    core: int
    sample: Annotated[int, Meta(ge=0)]
    call: Annotated[str, Meta(description="Id of the call.completed event.")]
    outcome: Literal["answer", "no_answer"]
    strictness: Literal["strict", "loose", "none"]
    recovered: Annotated[tuple[str, ...], Meta(description="How a loose reply was recovered, and other warnings.")] = ()
    reason: Annotated[str | None, Meta(description="Why there is no answer: `truncated`, `refused`, …")] = None
    status: Status | None = None
    value: str | None = None
    explanation: Annotated[str | None, Meta(description="The model's stated reason, repaired to valid UTF-8.")] = None
    reasoning: Annotated[BlobRef | None, Meta(description="Reasoning kept apart from the answer.")] = None
    evidence_start: float | None = None
    evidence_end: float | None = None
    confidence: float | None = None
    document: Annotated[BlobRef | None, Meta(description="A table or scene, as canonical JSON or text.")] = None
    repetition: Annotated[float | None, Meta(description="Share of repeated word runs in the text, 0 to 1.")] = None
    flags: tuple[str, ...] = ()

    def natural_key(self) -> Key:
        return (self.stage, self.question_id, self.party, self.sample)


class SamplesVoted(_OfTurn, frozen=True, kw_only=True):
    """The samples of a turn were counted. Unusable ones count in n and back no value."""

    type: ClassVar[str] = "samples.voted"
    family: ClassVar[Family] = Family.DECISION

    core: int
    n: Annotated[int, Meta(ge=1)]
    usable: Annotated[int, Meta(ge=0)]
    tally: Annotated[dict[str, int], Meta(description="Votes by `observed:code` or by abstention.")]
    outcome: Literal["answer", "disagreement", "unusable"]
    status: Status | None = None
    value: str | None = None
    backing: Annotated[tuple[int, ...], Meta(description="The samples that back the winner.")] = ()


class Violation(Struct, frozen=True, kw_only=True, gc=False):
    """A validation rule that did not hold."""

    rule: str
    action: Annotated[Literal["flag", "demote"], Meta(description="What the rule does to the new answer.")]
    message: str
    against: Annotated[QuestionRef | None, Meta(description="The other answer of a contradiction.")] = None


class TableChecked(Payload, frozen=True, kw_only=True):
    """An entity table was checked. Without ``table`` it could not be used."""

    type: ClassVar[str] = "table.checked"
    family: ClassVar[Family] = Family.DECISION

    core: int
    table: BlobRef | None
    checked: tuple[str, ...] = ()
    violations: tuple[Violation, ...] = ()


class AnswerValidated(_OfTurn, frozen=True, kw_only=True):
    """The rules were applied to a turn's answer: which were checked, and which did not hold."""

    type: ClassVar[str] = "answer.validated"
    family: ClassVar[Family] = Family.DECISION

    core: int
    checked: tuple[str, ...]
    violations: tuple[Violation, ...] = ()


class AnswerAccepted(_OfTurn, frozen=True, kw_only=True):
    """The answer that goes to the engine, after vote and validation."""

    type: ClassVar[str] = "answer.accepted"
    family: ClassVar[Family] = Family.DECISION

    core: int
    status: Status
    value: str | None = None
    source: Literal["model", "not_observable", "given"]
    explanation: str | None = None
    evidence_start: float | None = None
    evidence_end: float | None = None
    confidence: float | None = None
    demoted_from: Annotated[str | None, Meta(description="The value that a contradiction demoted.")] = None
    demoted_by: str | None = None


class ClipFinished(Payload, frozen=True, kw_only=True):
    """How a clip ended. Of several the last stands."""

    type: ClassVar[str] = "clip.finished"
    family: ClassVar[Family] = Family.DECISION

    core: int
    ordinal: Annotated[int, Meta(ge=1)]
    outcome: EngineStatus
    incomplete: Annotated[bool, Meta(description="The path met an answer that could not be had.")] = False
    stop_reason: str | None = None
    candidates: tuple[CandidateBrief, ...] = ()
    rounds: int = 0
    submission: Annotated[str, Meta(description="Id of the engine.submitted event that settled it.")]
    truncated: Annotated[bool, Meta(description="The clip had decoded only in part.")] = False

    def natural_key(self) -> Key:
        return (self.ordinal,)


class ClipFailed(Payload, frozen=True, kw_only=True):
    """A clip ended without an outcome. Of several the last stands."""

    type: ClassVar[str] = "clip.failed"
    family: ClassVar[Family] = Family.DECISION

    core: int
    ordinal: Annotated[int, Meta(ge=1)]
    cause: Literal["media", "call", "engine"]
    retryable: bool
    reason: str
    event: Annotated[str, Meta(description="Id of the event that made it fail.")]

    def natural_key(self) -> Key:
        return (self.ordinal,)


EVENT_TYPES: tuple[type[Payload], ...] = (
    RunStarted,
    RunResumed,
    RunStopped,
    EngineDescribed,
    ClipOpened,
    ClipReopened,
    MediaPrepared,
    MediaFailed,
    TableGiven,
    AnswerGiven,
    TurnOpened,
    CallRequested,
    CallCompleted,
    CallFailed,
    ReplyParsed,
    TableChecked,
    SamplesVoted,
    AnswerValidated,
    AnswerAccepted,
    EngineSubmitted,
    ClipFinished,
    ClipFailed,
    NoteAdded,
    RateChanged,
    LabelSet,
    LabelWithdrawn,
)
BY_TYPE: dict[str, type[Payload]] = {cls.type: cls for cls in EVENT_TYPES}


class Event(NamedTuple):
    """An event in memory: envelope and payload. ``clip`` is the CloudEvents subject."""

    id: str
    clip: ClipId | None
    time: str
    causation: str | None
    data: Payload


def event_id(payload: Payload, clip: str | None) -> str:
    """The deterministic id: type, clip and natural key, joined by ``/`` (``%`` and ``/`` escaped within parts)."""
    key = payload.natural_key()
    parts = (*((clip,) if payload.per_clip else ()), *key)
    return "/".join((payload.type, *(_escape(part) for part in parts)))


def make_event(payload: Payload, *, clip: str | None, time: str, causation: str | None = None) -> Event:
    """An event with its id computed. ``time`` is RFC 3339 in UTC. Raises ValueError when the clip is missing or idle."""
    if payload.per_clip != (clip is not None):
        raise ValueError(f"{payload.type} {'needs a clip' if payload.per_clip else 'belongs to no clip'}")
    return Event(event_id(payload, clip), ClipId(clip) if clip is not None else None, time, causation, payload)


def blob_refs(payload: Payload) -> tuple[BlobRef, ...]:
    """The blobs an event refers to, in field order."""
    found = (getattr(payload, name) for name in payload.__struct_fields__)
    return tuple(value for value in found if isinstance(value, BlobRef))


_decoders: dict[str, msgspec.json.Decoder[Any]] = {cls.type: msgspec.json.Decoder(cls) for cls in EVENT_TYPES}


def decode_payload(event_type: str, data: bytes) -> Payload:
    """The payload of the current schema version. Raises KeyError for an unknown type, msgspec.ValidationError otherwise."""
    payload: Payload = _decoders[event_type].decode(data)
    return payload


def _escape(part: str | int | None) -> str:
    return str(part).replace("%", "%25").replace("/", "%2F")
