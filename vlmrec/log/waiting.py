"""Who waits for a commit: threads with a future, and asyncio tasks that one wake-up of their loop serves together.

Waking a loop once per task would cost more than the commit itself: each wake-up is a system call that hands the
interpreter over to the loop while the writer's thread still has others to tell.
"""

import asyncio
import contextlib
from collections.abc import Sequence
from concurrent.futures import Future
from typing import NamedTuple

from vlmrec.log.commit import Result
from vlmrec.log.encode import Batch
from vlmrec.log.format import Appended


class Pending(NamedTuple):
    """A batch that waits for its commit; ``loop`` is the asyncio loop of its future, if it is of asyncio."""

    batch: Batch
    loop: asyncio.AbstractEventLoop | None
    future: "Future[Appended] | asyncio.Future[Appended]"


Told = tuple["Future[Appended] | asyncio.Future[Appended]", Result]


def deliver(group: Sequence[Pending], results: Sequence[Result]) -> None:
    """Tell everybody of a group what became of their batch."""
    by_loop: dict[asyncio.AbstractEventLoop, list[Told]] = {}
    for pending, result in zip(group, results, strict=True):
        if pending.loop is None:
            _settle(pending.future, result)
        else:
            by_loop.setdefault(pending.loop, []).append((pending.future, result))
    for loop, told in by_loop.items():
        with contextlib.suppress(RuntimeError):  # the loop was closed: nobody waits any more
            loop.call_soon_threadsafe(_settle_all, told)


def _settle_all(told: Sequence[Told]) -> None:
    for future, result in told:
        if not future.done():  # the task that waited was cancelled
            _settle(future, result)


def _settle(future: "Future[Appended] | asyncio.Future[Appended]", result: Result) -> None:
    if isinstance(result, Appended):
        future.set_result(result)
    else:
        future.set_exception(result)
