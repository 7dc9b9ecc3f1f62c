"""How a worker and its owner talk: messages of one kind byte, an 8-byte length, and a body.

A request is one message to the worker. It answers with any number of PROGRESS and ITEM messages,
then one that ends the request: RESULT, FAULT (the file's fault, in words) or BUG (ours: a traceback).
"""

import struct
from enum import IntEnum
from typing import BinaryIO, NamedTuple, Protocol

HEADER = struct.Struct(">BQ")
MAX_BODY = 1 << 31
"""No honest message is larger; a worker that has gone mad must not make its owner allocate."""


class Kind(IntEnum):
    """What a message is."""

    REQUEST = 1
    PROGRESS = 2
    ITEM = 3
    RESULT = 4
    FAULT = 5
    BUG = 6


ENDS = frozenset({Kind.RESULT, Kind.FAULT, Kind.BUG})


class Message(NamedTuple):
    """One message with its body."""

    kind: Kind
    body: bytes


class Emit(Protocol):
    """How an operation in the worker reports while it runs."""

    def progress(self) -> None: ...

    def item(self, body: bytes) -> None: ...


def write_message(stream: BinaryIO, kind: Kind, body: bytes = b"") -> None:
    """Write one whole message, and flush it."""
    stream.write(HEADER.pack(kind, len(body)) + body)
    stream.flush()


def read_message(stream: BinaryIO) -> Message | None:
    """Read one message, waiting for it; None where the stream ends between messages."""
    header = stream.read(HEADER.size)
    if len(header) < HEADER.size:
        return None
    kind, length = HEADER.unpack(header)
    body = stream.read(length)
    return Message(Kind(kind), body) if len(body) == length else None
