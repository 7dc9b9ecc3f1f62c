"""Jobs done in processes of their own, which end at once, and leave no file behind, when whoever waits for them ends.

A terminal sends Ctrl-C to all processes of a command at once. The workers don't hear it: whoever started them
is told, kills them and removes what they had begun. Where that one dies without a word, they notice and leave too.
"""

import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from multiprocessing import connection, resource_tracker
from multiprocessing.context import SpawnProcess
from pathlib import Path
from typing import NamedTuple, TypeVar

from vlmrec.errors import InputError, VlmrecError

Job = TypeVar("Job")


class _Running(NamedTuple):
    position: int
    part: Path
    process: SpawnProcess
    said: "connection.Connection[object, object]"


def run_each(
    work: Callable[[Job, Path], None], jobs: Sequence[tuple[Job, Path]], *, workers: int = 1
) -> Generator[int, None, None]:
    """Does ``work(job, part)`` for every job in a fresh process, and gives the job's position when it is done.

    ``work`` writes the file ``part``; take it away before asking for the next position. However this ends, no
    process and no part is left. Raises InputError with a worker's own words where it refused.
    """
    waiting = deque(enumerate(jobs))
    running: dict[int, _Running] = {}
    try:
        while waiting or running:
            while waiting and len(running) < max(1, workers):
                with uninterrupted():
                    position, (job, part) = waiting.popleft()
                    started = _start(work, position, job, part)
                    running[started.process.sentinel] = started
            for sentinel in connection.wait(list(running)):
                assert isinstance(sentinel, int)
                _check(running[sentinel])
                yield running.pop(sentinel).position
    finally:
        with uninterrupted():
            for each in running.values():
                each.process.kill()
            for each in running.values():
                each.process.join()
            for _, part in jobs:
                part.unlink(missing_ok=True)


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Puts off a Ctrl-C until the block is through; processes started in it never hear one."""
    usual = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(usual):
        yield
        return
    came: list[int] = []
    resource_tracker.ensure_running()  # its own start would let the signal through again
    signal.signal(signal.SIGINT, lambda number, frame: came.append(number))
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])
        signal.signal(signal.SIGINT, usual)
        if came:
            usual(came[0], None)


def _start(work: Callable[[Job, Path], None], position: int, job: Job, part: Path) -> _Running:
    context = multiprocessing.get_context("spawn")
    said, say = context.Pipe(duplex=False)
    process = context.Process(target=_work, args=(say, work, job, part), daemon=True)
    process.start()
    say.close()
    return _Running(position, part, process, said)


def _check(ended: _Running) -> None:
    ended.process.join()
    with ended.said:
        message = ended.said.recv() if ended.said.poll() and ended.process.exitcode else None
    if isinstance(message, str):
        raise InputError(message)
    code = ended.process.exitcode
    if code is not None and code < 0:
        raise InputError(
            f"{ended.part}: the process that wrote it was ended by signal {-code}; "
            "if the memory ran out, try fewer --workers or a smaller --size"
        )
    if code:
        raise RuntimeError(f"{ended.part}: the process that wrote it failed with code {code}; its traceback is above")


def _work(
    say: "connection.Connection[object, object]", work: Callable[[Job, Path], None], job: Job, part: Path
) -> None:
    """Runs in the child process."""
    threading.Thread(target=_leave_with_parent, args=(part,), daemon=True).start()
    try:
        work(job, part)
    except VlmrecError as error:
        say.send(str(error))
        raise SystemExit(error.exit_code) from None


def _leave_with_parent(part: Path) -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        part.unlink(missing_ok=True)
        os._exit(1)
