"""Helper processes that decode video, so that no file can hang, crash or exhaust the caller.

A worker is one Python process that has PyAV loaded and serves one request at a time. Starting one
costs about 0.1 s, a request to a running one little more than the work: workers are kept and used
again. A worker that makes no progress for ``stall_s``, or doesn't finish in ``total_s``, is killed,
and the file is reported as a MediaError. POSIX only: waiting uses ``select`` on pipes.

``WorkerPool`` is safe to use from several threads; at most ``limit`` requests run at once, others wait.
"""

import asyncio
import atexit
import os
import selectors
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Generic, NamedTuple, ParamSpec, Self, TypeVar

import msgspec

from vlmrec.errors import MediaError
from vlmrec.media._wire import ENDS, HEADER, MAX_BODY, Kind, Message

REQUESTS_PER_WORKER = 500
"""A worker is replaced after so many requests, so that a decoder's slow leak stays bounded."""

MAX_REPLY = 1 << 30
"""Bytes that one request may bring into the caller's memory."""

COMMAND = (sys.executable, "-m", "vlmrec.media._worker")

T = TypeVar("T")
P = ParamSpec("P")


class Reply(NamedTuple, Generic[T]):
    """What an operation returned, and the bodies (such as JPEG files) it gave on the way."""

    value: T
    items: list[bytes]


class WorkerPool:
    """Up to ``limit`` workers, started when first needed. Close it, or use it in a ``with`` block."""

    def __init__(
        self,
        limit: int = 2,
        *,
        stall_s: float = 30.0,
        total_s: float = 600.0,
        reply_limit: int = MAX_REPLY,
        command: Sequence[str] = COMMAND,
    ) -> None:
        self._command = command
        self._reply_limit = reply_limit
        self._stall_s = stall_s
        self._total_s = total_s
        self._slots = threading.BoundedSemaphore(limit)
        self._lock = threading.Lock()
        self._idle: list[_Worker] = []

    def call(self, op: str, source: Path, args: Mapping[str, Any], reply: type[T]) -> Reply[T]:
        """Run ``op`` on the file ``source`` in a worker, and read its result as a ``reply``.

        Raises MediaError, naming the file, for whatever is wrong with it.
        """
        if not source.is_file():
            raise MediaError(f"{source}: {'is not a file' if source.exists() else 'there is no such file'}")
        request = {"op": op, "path": os.fsencode(source.absolute()), "args": dict(args), "limit_s": self._total_s}
        with self._slots:
            end, items = self._exchange(msgspec.msgpack.encode(request), source)
        if end.kind is Kind.FAULT:
            raise MediaError(f"{source}: {end.body.decode()}")
        if end.kind is Kind.BUG:
            raise RuntimeError(f"the media worker failed on {source}:\n{end.body.decode()}")
        return Reply(msgspec.msgpack.decode(end.body, type=reply), items)

    def close(self) -> None:
        """End the idle workers. A later call starts new ones."""
        with self._lock:
            idle, self._idle = self._idle, []
        for worker in idle:
            worker.kill()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _exchange(self, request: bytes, source: Path) -> tuple[Message, list[bytes]]:
        while True:
            worker = self._take()
            try:
                answer = worker.exchange(request, self._stall_s, self._total_s, self._reply_limit)
            except _WorkerLost as lost:
                worker.kill()
                if lost.died and worker.served > 1:
                    continue  # it may have been ended from outside between two requests; a fresh one will tell
                raise MediaError(f"{source}: {lost}") from None
            except BaseException:
                worker.kill()
                raise
            self._give_back(worker)
            return answer

    def _take(self) -> "_Worker":
        with self._lock:
            while self._idle:
                worker = self._idle.pop()
                if worker.alive:
                    return worker
                worker.kill()
        return _Worker(self._command)

    def _give_back(self, worker: "_Worker") -> None:
        if worker.served >= REQUESTS_PER_WORKER:
            worker.kill()
            return
        with self._lock:
            self._idle.append(worker)


_shared: dict[int, WorkerPool] = {}
_shared_lock = threading.Lock()


def shared_pool() -> WorkerPool:
    """The pool of this process: as many workers as it may use cores. Ended at exit."""
    with _shared_lock:
        pid = os.getpid()  # a forked child must not share its parent's pipes
        if pid not in _shared:
            _shared[pid] = WorkerPool(len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 2)
            atexit.register(_shared[pid].close)
        return _shared[pid]


_threads = ThreadPoolExecutor(max_workers=8, thread_name_prefix="media")


async def in_thread(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Run ``function`` in a thread kept for media: waiting for a worker must not use up asyncio's own threads."""
    return await asyncio.get_running_loop().run_in_executor(_threads, partial(function, *args, **kwargs))


class _WorkerLost(Exception):
    """A worker is of no more use; the text says what that means for the file. ``died``: it ended by itself."""

    def __init__(self, text: str, *, died: bool = False) -> None:
        super().__init__(text)
        self.died = died


class _Worker:
    """One helper process. ``MALLOC_PERTURB_`` has glibc fill fresh memory: x264 reads some that it never wrote,
    and without this one in some ten encodings of the same pictures differed by a few bytes.
    """

    def __init__(self, command: Sequence[str]) -> None:
        self._errors: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - lives as long as the process
        package_root = str(Path(__file__).resolve().parents[2])
        inherited = os.environ.get("PYTHONPATH")
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            bufsize=0,
            cwd="/",  # `-m` puts the working folder first on the path; nothing there may stand in for a module
            env={
                **os.environ,
                "PYTHONPATH": os.pathsep.join([package_root, *([inherited] if inherited else [])]),
                "MALLOC_PERTURB_": "165",
            },
        )
        self.served = 0

    @property
    def alive(self) -> bool:
        return self._process.poll() is None

    def exchange(self, request: bytes, stall_s: float, total_s: float, reply_limit: int) -> tuple[Message, list[bytes]]:
        self.served += 1
        items: list[bytes] = []
        held = 0
        deadline = time.monotonic() + total_s
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(HEADER.pack(Kind.REQUEST, len(request)) + request)
        except BrokenPipeError:
            raise _WorkerLost(self._how_it_ended(), died=True) from None
        while True:
            message = self._read(stall_s, deadline, total_s)
            if message.kind in ENDS:
                return message, items
            if message.kind is Kind.ITEM:
                items.append(message.body)
                held += len(message.body)
                if held > reply_limit:
                    raise _WorkerLost(
                        f"gives more than {reply_limit >> 20} MiB of pictures; ask for fewer frames, or limit their pixels"
                    )

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout, self._errors):
            if pipe is not None:
                pipe.close()

    def _read(self, stall_s: float, deadline: float, total_s: float) -> Message:
        kind, length = HEADER.unpack(self._read_exactly(HEADER.size, stall_s, deadline, total_s))
        if kind not in set(Kind) or length > MAX_BODY:
            raise _WorkerLost("the decoder process was damaged by this file and was ended")
        return Message(Kind(kind), self._read_exactly(length, stall_s, deadline, total_s))

    def _read_exactly(self, length: int, stall_s: float, deadline: float, total_s: float) -> bytes:
        assert self._process.stdout is not None
        received = bytearray()
        with selectors.DefaultSelector() as selector:
            selector.register(self._process.stdout, selectors.EVENT_READ)
            while len(received) < length:
                patience = min(stall_s, deadline - time.monotonic())
                if patience <= 0:
                    raise _WorkerLost(f"was not done within {total_s:g} s, and was given up")
                if not selector.select(patience):
                    if patience < stall_s:
                        continue
                    raise _WorkerLost(f"the decoder made no progress for {stall_s:g} s, and was ended")
                chunk = self._process.stdout.read(min(length - len(received), 1 << 20))
                if not chunk:
                    raise _WorkerLost(self._how_it_ended(), died=True)
                received += chunk
        return bytes(received)

    def _how_it_ended(self) -> str:
        code = self._process.wait()
        if code < 0:
            name = signal.Signals(-code).name if -code in {int(s) for s in signal.Signals} else str(-code)
            return f"crashed the decoder ({name})"
        self._errors.seek(0)
        said = self._errors.read()[-2000:].decode(errors="replace").strip()
        return f"the decoder process ended unexpectedly (exit code {code})" + (f": {said}" if said else "")
