"""Whether, and why, a run is to stop: asked for by a signal, a limit, an engine that changed, or a failure."""

import asyncio
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal

from vlmrec.models.wire import Failed

StopReason = Literal["done", "interrupted", "budget", "credit", "not_authorised", "engine_changed", "error"]


class Stop:
    """Whether, and why, the run is to stop. The first reason stands."""

    def __init__(self) -> None:
        self._event = asyncio.Event()
        self.reason: StopReason | None = None
        self.detail: str | None = None

    def request(self, reason: StopReason, detail: str | None = None) -> None:
        if self.reason is None:
            self.reason, self.detail = reason, detail
        self._event.set()

    @property
    def requested(self) -> bool:
        return self._event.is_set()

    async def wait(self, seconds: float) -> None:
        """Sleep for ``seconds``, or until a stop is requested."""
        try:
            await asyncio.wait_for(self._event.wait(), seconds)
        except TimeoutError:
            return


def stop_reason(attempt: Failed) -> StopReason:
    """Why a run stops for a failure after which no other call would go better."""
    if attempt.reason == "no_credit":
        return "credit"
    if attempt.reason == "not_authorised":
        return "not_authorised"
    return "interrupted" if attempt.reason == "cancelled" else "error"


@contextmanager
def interruptible(stop: Stop) -> Iterator[None]:
    """SIGINT and SIGTERM ask for a stop, in which calls in flight may end; a second one cancels those too."""
    loop = asyncio.get_running_loop()
    task: asyncio.Task[object] | None = asyncio.current_task()

    def interrupt() -> None:
        if stop.requested and task is not None:
            task.cancel()
        stop.request("interrupted")

    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, interrupt)
    try:
        yield
    finally:
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.remove_signal_handler(number)
