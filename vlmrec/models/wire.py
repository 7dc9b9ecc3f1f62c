"""What passes between the client and its callers: a request made ready, and what became of one attempt.

An attempt is one send. It ends as ``Completed`` or ``Failed``, never as an exception for what the
world did. *Completed* means 2xx, the whole body, at least one choice with a message, and no error
in body or choice; a truncated, refused or unreadable text is completed. All else is failed, with
whatever came back kept. Pure data.
"""

from decimal import Decimal
from enum import StrEnum
from typing import TypeAlias

import msgspec
from msgspec import Struct

from vlmrec.events import Sample, Usage


class Retry(StrEnum):
    """Whether, and how, a call is worth another send."""

    NO = "no"
    BACKOFF = "backoff"
    AFTER_SECONDS = "after_seconds"
    CHANGED_REQUEST = "changed_request"


class FailureKind(StrEnum):
    """Where a failed attempt broke off. ``crash`` is written by the resume, never by the client."""

    STATUS = "status"
    TIMEOUT = "timeout"
    CONNECT = "connect"
    RESET = "reset"
    CUT = "cut"
    BODY = "body"
    CANCELLED = "cancelled"
    CRASH = "crash"


class PreparedRequest(Struct, frozen=True, kw_only=True):
    """A request as bytes. ``content`` is sent chunk after chunk; the chunks of one clip's prefix are shared, not copied.

    ``fingerprint``, ``sample`` and ``loggable`` (the request as a log holds it) are what a replay
    finds its reply by.
    """

    content: tuple[bytes, ...]
    request_id: str
    headers: dict[str, str] = {}
    fingerprint: str | None = None
    sample: Sample = 0
    loggable: bytes = b""

    @property
    def size(self) -> int:
        return sum(map(len, self.content))


class Completed(Struct, frozen=True, kw_only=True, tag="completed"):
    """A whole 2xx reply with at least one choice."""

    status: int
    headers: dict[str, str]
    body: bytes
    latency_s: float
    usage: Usage = Usage()
    cost: Decimal | None = None
    served_model: str | None = None
    finish_reasons: tuple[str | None, ...] = ()
    choices: int = 1
    provider: str | None = None
    redactions: int = 0


class Failed(Struct, frozen=True, kw_only=True, tag="failed"):
    """An attempt without a usable completion.

    ``in_doubt``: sent, and no whole response: it may have run and been billed. ``may_be_billed`` is
    wider: a gateway that gave up waiting also leaves the model running. ``usage`` and ``cost`` are
    those that the error itself brought.
    """

    kind: FailureKind
    reason: str
    message: str
    retry: Retry
    latency_s: float
    status: int | None = None
    headers: dict[str, str] = {}
    body: bytes = b""
    in_doubt: bool = False
    may_be_billed: bool = False
    retry_after_s: float | None = None
    stop_run: bool = False
    hint: str | None = None
    provider: str | None = None
    usage: Usage = Usage()
    cost: Decimal | None = None
    redactions: int = 0

    @property
    def transient(self) -> bool:
        """Whether the same request could go well at another time."""
        return self.retry in (Retry.BACKOFF, Retry.AFTER_SECONDS)


Attempt: TypeAlias = Completed | Failed

decode_attempt = msgspec.json.Decoder(Attempt).decode
