"""One writer per log: an operating-system lock on a separate file beside it.

The lock is never taken on the log itself: closing any plain descriptor on a live SQLite database
drops the locks that SQLite holds on it. The system frees the lock when its holder dies, however it
dies; the file stays. The holder's process id in it serves the error message alone.
"""

import contextlib
import os
from pathlib import Path

from filelock import BaseFileLock, FileLock, Timeout

from vlmrec.errors import LogBusy, LogError


def lock_path(log: Path) -> Path:
    """The lock file of a log; the same for every name that a log is reached by."""
    resolved = log.resolve()
    return resolved.with_name(resolved.name + ".lock")


def acquire(log: Path, *, wait_s: float) -> BaseFileLock:
    """Take the writer's lock. Raises LogBusy, naming the run and its writer, if another has it after ``wait_s``.

    Raises LogError where the lock file can't be made.
    """
    path = lock_path(log)
    lock = FileLock(path, thread_local=False)
    try:
        lock.acquire(timeout=wait_s, poll_interval=0.02)
    except Timeout as error:
        pid = _holder(path)
        by = f"by process {pid}" if pid else "by another process"
        raise LogBusy(
            f"{log}: the log of {log.stem} is being written {by}; a log has one writer: wait until it ends, or stop it"
        ) from error
    except OSError as error:
        raise LogError(f"{path}: can't take the writer's lock ({error}); is the folder there, and writable?") from error
    _say_who(path)
    return lock


def is_held(log: Path) -> bool:
    """Whether a process writes the log at this moment. False where it can't be told, as in a folder of somebody else's."""
    if not lock_path(log).exists():
        return False
    try:
        acquire(log, wait_s=0).release()
    except LogBusy:
        return True
    except LogError:
        return False
    return False


def _say_who(path: Path) -> None:
    if _holder(path) != os.getpid():
        with contextlib.suppress(OSError):  # only the other's message is poorer for it
            path.write_text(f"{os.getpid()}\n")


def _holder(path: Path) -> int | None:
    try:
        first = path.read_text(errors="replace").split("\n", 1)[0].strip()
    except OSError:
        return None
    return int(first) if first.isdecimal() else None
