"""The engine protocol's data contracts: what travels between a client and a rule engine.

Every reply carries ``data_version``, which runs pin and migrations are keyed by. The questions
are in ``vlmrec.question``, the meta sections in ``vlmrec.ledger``.
"""

from enum import StrEnum

from msgspec import Struct, field

from vlmrec.terms import Answer, Party, QuestionRef, Status


class EngineStatus(StrEnum):
    """Where an evaluation stands. ``asking`` is the only one that is never an outcome."""

    CONFIRMED = "confirmed"
    LEADING = "leading"
    ASKING = "asking"
    OPEN = "open"
    NONE = "none"
    OUT_OF_SCOPE = "out_of_scope"


class Version(Struct, frozen=True, kw_only=True):
    """``GET /version``."""

    engine_version: str
    data_version: str


class EvaluateRequest(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """``POST /evaluate``. ``skip`` names questions that can't be had: never asked again, never answers."""

    answers: tuple[Answer, ...] = ()
    skip: tuple[QuestionRef, ...] = ()


class Shares(Struct, frozen=True, kw_only=True):
    """Fault in percent; the two always sum to 100."""

    self_: int = field(name="self")
    other: int


class FaultRange(Struct, frozen=True, kw_only=True):
    """Lowest and highest share of the recording vehicle over the observed modifiers only."""

    self_: tuple[int, int] = field(name="self")


class AppliedModifier(Struct, frozen=True, kw_only=True):
    """A modifier whose condition is met by the answers; ``delta`` in percentage points on ``party``."""

    code: str
    party: Party
    delta: int


class Fact(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One condition of a chart, and what the answers say of it. ``value`` and ``status`` are left out while unanswered."""

    question_id: str
    party: Party
    expects: tuple[str, ...]
    status: Status | None = None
    value: str | None = None


class Candidate(Struct, frozen=True, kw_only=True):
    """A chart, variant and assignment that the answers leave standing."""

    chart: str
    variant: str | None
    self_is: str
    base_fault: Shares
    fault: Shares
    fault_range: FaultRange
    modifiers: tuple[AppliedModifier, ...] = ()
    met: tuple[Fact, ...] = ()
    open: tuple[Fact, ...] = ()


class EliminatedBy(Struct, frozen=True, kw_only=True, gc=False, omit_defaults=True):
    """The failed condition: the answer that ruled a candidate out, and what was expected (empty where not said)."""

    question_id: str
    party: Party
    value: str | None
    expects: tuple[str, ...] = ()


class Eliminated(Struct, frozen=True, kw_only=True, gc=False):
    """A chart, variant and assignment that the answers rule out, and by which answer."""

    chart: str
    self_is: str
    by: EliminatedBy
    variant: str | None = None


class Evaluation(Struct, frozen=True, kw_only=True):
    """The reply to ``POST /evaluate``."""

    engine_version: str
    data_version: str
    status: EngineStatus
    candidates: tuple[Candidate, ...]
    eliminated: tuple[Eliminated, ...]
    stop_reason: str | None = None
    next_question: QuestionRef | None = None


class Refusal(Struct, frozen=True, kw_only=True):
    """What is wrong with a request; ``question_id`` and ``party`` name the item where there is one."""

    kind: str
    message: str
    question_id: str | None = None
    party: str | None = None


class Refused(Struct, frozen=True, kw_only=True):
    """The body of a 4xx reply."""

    engine_version: str
    data_version: str
    error: Refusal
