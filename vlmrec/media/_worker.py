"""The helper process: reads requests from stdin, works on one file at a time, answers on stdout.

Started by ``vlmrec.media.workers`` as ``python -m vlmrec.media._worker``; ends when stdin does. It
limits its own memory, and ends itself (from a C thread that needs no interpreter lock) should it
hang after its owner is gone.
"""

import faulthandler
import os
import resource
import signal
import time
import traceback
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any, BinaryIO

import av.logging
import msgspec

from vlmrec.media._decode import Fault
from vlmrec.media._scan import probe
from vlmrec.media._wire import Kind, Message, read_message, write_message

MEMORY_LIMIT = 4 << 30
PROGRESS_EVERY_S = 0.25


def _late(module: str, name: str) -> Callable[..., Any]:
    """An operation imported when first used: Pillow costs 0.1 s that probing doesn't need."""

    def operation(*args: Any, **kwargs: Any) -> Any:
        return getattr(import_module(module), name)(*args, **kwargs)

    return operation


OPERATIONS: dict[str, Callable[..., Any]] = {
    "probe": probe,
    "frames": _late("vlmrec.media._render", "frames"),
    "transcode": _late("vlmrec.media._encode", "transcode"),
    "remux": _late("vlmrec.media._encode", "remux"),
}


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """One operation on one file. ``limit_s`` is when the owner gives up, should it still be there."""

    op: str
    path: bytes
    args: dict[str, Any]
    limit_s: float


class Emitter:
    """Tells the owner of progress, no more often than is useful, and gives it items."""

    def __init__(self, out: BinaryIO) -> None:
        self._out = out
        self._last = time.monotonic()

    def progress(self) -> None:
        now = time.monotonic()
        if now - self._last > PROGRESS_EVERY_S:
            self._last = now
            write_message(self._out, Kind.PROGRESS)

    def item(self, body: bytes) -> None:
        self._last = time.monotonic()
        write_message(self._out, Kind.ITEM, body)


def main() -> None:
    """Serve requests until stdin ends."""
    requests, replies = _private_pipes()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C goes to the whole group; the owner decides what it means
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_LIMIT, resource.getrlimit(resource.RLIMIT_AS)[1]))
    av.logging.restore_default_callback()
    av.logging.set_libav_level(av.logging.PANIC)
    while (message := read_message(requests)) is not None:
        request = msgspec.msgpack.decode(message.body, type=Request)
        faulthandler.dump_traceback_later(request.limit_s * 1.5 + 5, exit=True)
        answer = _answer(request, Emitter(replies))
        faulthandler.cancel_dump_traceback_later()
        write_message(replies, answer.kind, answer.body)


def _answer(request: Request, emit: Emitter) -> Message:
    try:
        value = OPERATIONS[request.op](Path(os.fsdecode(request.path)), emit, **request.args)
    except Fault as fault:
        return Message(Kind.FAULT, str(fault).encode())
    except OSError as error:
        return Message(Kind.FAULT, f"can't be read: {error.strerror}".encode())
    except MemoryError:
        return Message(Kind.FAULT, b"needs more memory than is allowed for one file")
    except BrokenPipeError:
        raise
    except Exception:  # noqa: BLE001 - a bug of ours: the owner raises it with this traceback
        return Message(Kind.BUG, traceback.format_exc().encode(errors="replace"))
    return Message(Kind.RESULT, msgspec.msgpack.encode(value))


def _private_pipes() -> tuple[BinaryIO, BinaryIO]:
    """Stdin and stdout for messages alone: what a library prints goes to stderr."""
    requests, replies = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    devnull = os.open(os.devnull, os.O_RDONLY)
    os.dup2(devnull, 0)
    os.close(devnull)
    return requests, replies


if __name__ == "__main__":
    main()
