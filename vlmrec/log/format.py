"""What a log file is: its constants, its rows, and the hash that chains them.

Pure. The form of the hash is a contract (docs/log.md, "The chain"): a reader in any language can
compute it from the stored bytes alone. The layout of the tables is ``format_1.sql``.
"""

import hashlib
import struct
from collections.abc import Sequence
from enum import StrEnum
from typing import NamedTuple

from msgspec import Struct

APPLICATION_ID = 0x766C6D72  # "vlmr", in the file's header
FORMAT = 1
REQUIRES = "0.1.0"
"""The first vlmrec that reads FORMAT; stored in each log, so that an older one can say what it needs."""

EVENT_COLUMNS = ("seq", "id", "type", "version", "time", "subject", "correlation", "causation", "data", "hash")
LOG_COLUMNS = ("format", "kind", "uuid", "created", "parent_uuid", "parent_head", "requires")

Stored = bytes | None
"""A stored value as the chain sees it: text as UTF-8, an integer in decimal digits, None for NULL."""


class LogKind(StrEnum):
    """What a log was made by."""

    RUN = "run"
    DERIVED = "derived"
    PROBE = "probe"
    LABELS = "labels"


class Parent(Struct, frozen=True, kw_only=True):
    """The log that a derived log was made from, and its head at that moment."""

    uuid: str
    head: str


class LogInfo(Struct, frozen=True, kw_only=True):
    """The one row of ``log``."""

    format: int
    kind: LogKind
    uuid: str
    created: str
    parent: Parent | None
    requires: str

    def stored(self) -> tuple[Stored, ...]:
        """The row's values in column order, as the chain sees them."""
        return (
            str(self.format).encode(),
            self.kind.encode(),
            self.uuid.encode(),
            self.created.encode(),
            self.parent.uuid.encode() if self.parent else None,
            self.parent.head.encode() if self.parent else None,
            self.requires.encode(),
        )


class Row(NamedTuple):
    """A row of ``events`` as stored: ``data`` is the text as it lies in the file."""

    seq: int
    id: str
    type: str
    version: int
    time: str
    subject: str | None
    correlation: str | None
    causation: str | None
    data: str
    hash: str


class Appended(NamedTuple):
    """What an append did: the places it took, and the log's head after it."""

    first_seq: int
    last_seq: int
    head: str


def genesis(log_row: Sequence[Stored]) -> str:
    """The hash before the first row: it binds every column of ``log``."""
    return hashlib.sha256(b"vlmrec log" + framed(log_row)).hexdigest()


def chained(previous: str, row: Sequence[Stored]) -> str:
    """The hash of a row, given the hash before it and all its stored values but ``hash``, in column order."""
    return hashlib.sha256(bytes.fromhex(previous) + framed(row)).hexdigest()


def framed(values: Sequence[Stored]) -> bytes:
    """The values' lengths (8 bytes each, big-endian, -1 for NULL), then the values: no two rows frame alike."""
    lengths, joined = _frame(values)
    return lengths + joined


class Tail(NamedTuple):
    """All of a row but its place, framed: what can be made ready before the place is known."""

    lengths: bytes
    values: bytes


def tail(values: Sequence[Stored]) -> Tail:
    """The values behind ``seq``, ready for ``chained_at``."""
    return Tail(*_frame(values))


def chained_at(previous: str, seq: int, rest: Tail) -> str:
    """``chained`` for a row whose values behind ``seq`` are framed already."""
    digits = b"%d" % seq
    length = len(digits).to_bytes(8, "big")
    return hashlib.sha256(b"".join((bytes.fromhex(previous), length, rest.lengths, digits, rest.values))).hexdigest()


def _frame(values: Sequence[Stored]) -> tuple[bytes, bytes]:
    pack = _LENGTHS[len(values)]
    if None not in values:
        return pack(*map(len, values)), b"".join(values)  # type: ignore[arg-type]  # as was just seen
    there = [value or b"" for value in values]  # NULL and empty text differ in their length alone
    return pack(*[-1 if value is None else len(value) for value in values]), b"".join(there)


_LENGTHS = [struct.Struct(f">{count}q").pack for count in range(len(EVENT_COLUMNS))]
