"""The log's one writer: appends are durable when their future resolves, and many share one commit.

A thread owns the SQLite connection. Whoever appends, from threads or from asyncio, hands over a
batch that is already encoded and gets a future. The thread takes all batches that wait, commits
them together (WAL, synchronous=FULL) and only then resolves their futures: what was acknowledged
survives the death of the process. A batch is stored whole or not at all, and one that is refused
takes no other with it. An append once made is carried out, even if whoever waits for it is cancelled.
"""

import asyncio
import queue
import sqlite3
import threading
import time
import uuid
from collections.abc import Sequence
from concurrent.futures import Future
from pathlib import Path
from types import TracebackType
from typing import Self

from filelock import BaseFileLock

from vlmrec.errors import LogError
from vlmrec.events import Event
from vlmrec.log import lock
from vlmrec.log.commit import Commit
from vlmrec.log.database import connect_writer, make_file, read_info, schema_faults
from vlmrec.log.encode import encode_batch
from vlmrec.log.format import FORMAT, REQUIRES, Appended, LogInfo, LogKind, Parent
from vlmrec.log.sealing import sealed, to_wal
from vlmrec.log.waiting import Pending, deliver
from vlmrec.terms import Blob

LOCK_WAIT_S = 1.0
"""How long an opening writer waits for the lock: a command that only seals a log holds it for moments."""

SEAL_WAIT_S = 1.0
"""How long a seal waits for readers that are about to leave, such as ``events --follow``."""

CACHE_KIB = 32 * 1024
"""For the indexes' pages: ids lie all over theirs, and SQLite's 2 MiB would read them again for most rows of a long run."""

LINGER_S = 0.0005
"""The longest that a commit waits for producers that were resolved together, so that they commit together again."""


class LogWriter:
    """Appends to one log. Made by ``create`` or ``open``; a context manager that closes, and doesn't seal."""

    def __init__(self, path: Path, held: BaseFileLock, *, wait_s: float) -> None:
        self.path = path
        self._held = held
        self._queue: queue.SimpleQueue[Pending | None] = queue.SimpleQueue()
        self._closed = False
        self._guard = threading.Lock()
        self._sealed: bool | None = None
        self._started: Future[Commit] = Future()
        self._seal_wait_s: float | None = None
        self._thread = threading.Thread(target=self._run, args=(wait_s,), name=f"log {path.name}", daemon=True)
        self._thread.start()
        try:
            self._commit = self._started.result()
        except BaseException:
            self._thread.join()
            held.release()
            raise
        self.info: LogInfo = self._commit.info

    @classmethod
    def create(cls, path: Path, *, kind: LogKind, log_uuid: str, created: str, parent: Parent | None = None) -> Self:
        """A new log. Raises LogError if there is a file already; a crash leaves either no log or a whole one."""
        if str(uuid.UUID(log_uuid)) != log_uuid:
            raise ValueError(f"{log_uuid!r} is not a UUID in its usual form")
        path.parent.mkdir(parents=True, exist_ok=True)
        held = lock.acquire(path, wait_s=LOCK_WAIT_S)
        try:
            if path.exists():
                raise LogError(f"{path}: there is a log already; resume it, or choose another run id")
            info = LogInfo(format=FORMAT, kind=kind, uuid=log_uuid, created=created, parent=parent, requires=REQUIRES)
            make_file(path, info)
        except BaseException:
            held.release()
            raise
        return cls(path, held, wait_s=SEAL_WAIT_S)

    @classmethod
    def open(cls, path: Path, *, wait_s: float = 5.0) -> Self:
        """Go on with a log. Raises LogBusy when another writes it, or when readers hold it for longer than ``wait_s``."""
        if not path.is_file():
            raise LogError(f"{path}: there is no such log to go on with")
        return cls(path, lock.acquire(path, wait_s=LOCK_WAIT_S), wait_s=wait_s)

    @property
    def head(self) -> str | None:
        """The hash of the last durable row; None in a log without events."""
        return self._commit.durable.head

    @property
    def last_seq(self) -> int:
        """The place of the last durable row; 0 in a log without events."""
        return self._commit.durable.seq

    def append(self, events: Sequence[Event], blobs: Sequence[Blob] = ()) -> "Future[Appended]":
        """Store the events and the blobs they refer to; resolved when durable.

        Raises ValueError at once for what a log can't hold. The future fails with DuplicateEvent, or
        with LogError for a blob that is neither given nor stored and for a log that can't be written.
        """
        future: Future[Appended] = Future()
        future.set_running_or_notify_cancel()  # a waiter's cancellation doesn't withdraw what was appended
        self._put(Pending(encode_batch(events, blobs), None, future))
        return future

    async def append_async(self, events: Sequence[Event], blobs: Sequence[Blob] = ()) -> Appended:
        """``append`` for asyncio, without a future of its own: one wake-up of the loop serves a whole commit."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Appended] = loop.create_future()
        self._put(Pending(encode_batch(events, blobs), loop, future))
        return await future

    def seal(self) -> bool:
        """Make the log one file, and close. False when a reader is connected: it stays in WAL mode then.

        A log that stays unsealed is sealed by the next command that finds it idle (``seal_if_idle``).
        """
        self._seal_wait_s = SEAL_WAIT_S
        self.close()
        return bool(self._sealed)

    def close(self) -> None:
        """Commit what has been appended, and let go of the log. Repeated calls do nothing."""
        with self._guard:
            if not self._closed:
                self._closed = True
                self._queue.put(None)
        self._thread.join()
        self._held.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def _put(self, pending: Pending) -> None:
        with self._guard:
            if self._closed:
                raise LogError(f"{self.path}: the log has been closed by its writer; open it again to append")
            self._queue.put(pending)

    def _run(self, wait_s: float) -> None:
        connection: sqlite3.Connection | None = None
        try:
            connection = connect_writer(self.path, wait_s=wait_s)
            commit = _ready(connection, self.path, wait_s)
        except BaseException as error:  # noqa: BLE001  handed to the thread that waits for it
            if connection is not None:
                connection.close()
            self._started.set_exception(error)
            return
        self._started.set_result(commit)
        try:
            self._serve(commit)
            if self._seal_wait_s is not None:
                self._sealed = sealed(connection, self._seal_wait_s)
        finally:
            connection.close()

    def _serve(self, commit: Commit) -> None:
        expected = 1
        while True:
            first = self._queue.get()
            if first is None:
                return
            group, last = self._group(first, expected)
            deliver(group, commit.run([pending.batch for pending in group]))
            expected = len(group)
            if last:
                return

    def _group(self, first: Pending, expected: int) -> tuple[list[Pending], bool]:
        """All that waits, and what is likely to come in a moment; True when the writer is closing."""
        group = [first]
        deadline: float | None = None
        while True:
            try:
                item = self._queue.get_nowait()
            except queue.Empty:
                if len(group) >= expected:
                    return group, False
                now = time.monotonic()
                deadline = now + LINGER_S if deadline is None else deadline
                if now >= deadline:
                    return group, False
                try:
                    item = self._queue.get(timeout=deadline - now)
                except queue.Empty:
                    return group, False
            if item is None:
                return group, True
            group.append(item)


def _ready(connection: sqlite3.Connection, path: Path, wait_s: float) -> Commit:
    info = read_info(connection, path)
    faults = schema_faults(connection, info.format)
    if faults:
        raise LogError(f"{path}: the log's protection is not as shipped ({faults[0]}); see `vlmrec verify {path.stem}`")
    to_wal(connection, path, wait_s)
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute(f"PRAGMA cache_size = -{CACHE_KIB}")
    return Commit(connection, path, info)
