"""The words every other module shares: parties, statuses, answers, turns, blob references.

Nothing here does I/O. Structs that travel in events or over the engine protocol are msgspec
Structs, frozen and keyword-only, so that equal values have equal bytes.
"""

from enum import StrEnum
from typing import Annotated, Any, NamedTuple, NewType

from msgspec import Meta, Struct

ClipId = NewType("ClipId", str)
Sha256 = NewType("Sha256", str)
"""A SHA-256 digest as 64 lower-case hexadecimal digits."""


class Party(StrEnum):
    """Whom a question is about: the recording vehicle, its counterpart, or the scene."""

    SELF = "self"
    OTHER = "other"
    NONE = "none"


class Status(StrEnum):
    """How a question was answered. All but ``observed`` are abstentions, as legitimate as a value."""

    OBSERVED = "observed"
    UNKNOWN = "unknown"
    OCCLUDED = "occluded"
    OFF_SCREEN = "off_screen"
    NOT_APPLICABLE = "not_applicable"


ABSTENTIONS = frozenset(Status) - {Status.OBSERVED}


class TurnKey(NamedTuple):
    """A question as put for one party: what identifies a turn within a clip."""

    question_id: str
    party: Party


class QuestionRef(Struct, frozen=True, kw_only=True, gc=False, forbid_unknown_fields=True):
    """A question as put for one party, as the engine protocol writes it."""

    question_id: str
    party: Party

    @property
    def key(self) -> TurnKey:
        return TurnKey(self.question_id, self.party)


class Answer(Struct, frozen=True, kw_only=True, gc=False, forbid_unknown_fields=True):
    """One answer as the engine protocol carries it. ``value`` is a domain code, and None unless observed."""

    question_id: str
    party: Party
    status: Status
    value: str | None = None

    @property
    def key(self) -> TurnKey:
        return TurnKey(self.question_id, self.party)


class BlobRef(Struct, frozen=True, kw_only=True, gc=False, forbid_unknown_fields=True):
    """A reference to a stored blob. Verification compares all three fields with the blob's row."""

    sha256: Annotated[str, Meta(pattern="^[0-9a-f]{64}$")]
    media_type: str
    length: Annotated[int, Meta(ge=0, description="Length of the body in bytes.")]


class Blob(NamedTuple):
    """A body to be stored beside the events that refer to it."""

    ref: BlobRef
    body: bytes


JsonValue = Any
"""A decoded JSON value. Only for bodies whose shape is not ours."""
