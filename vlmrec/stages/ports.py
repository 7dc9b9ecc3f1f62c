"""What the orchestrator needs from outside: an engine, a model, media, time. Each effect is one small protocol."""

import asyncio
import random
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple, Protocol

from vlmrec.events import ClipOpened
from vlmrec.media.prepare import PreparedMedia
from vlmrec.models.budget import Reserved, Settled
from vlmrec.models.wire import Attempt, Completed, Failed, PreparedRequest
from vlmrec.protocol import EvaluateRequest
from vlmrec.stages.submission import EngineReply
from vlmrec.table import EntityTable


class Engine(Protocol):
    """``POST /evaluate``. Raises ServiceError when no reply can be had, InputError when the request was refused."""

    async def evaluate(self, request: EvaluateRequest) -> EngineReply: ...


class Model(Protocol):
    """One attempt at a call; never raises for what the world does."""

    @property
    def endpoint(self) -> str: ...

    async def send(self, request: PreparedRequest, *, clip: str) -> Attempt: ...


class OpenedClip(NamedTuple):
    """A probed clip: the event's payload, and what later steps need of the probe itself."""

    data: ClipOpened
    probe: object


class Media(Protocol):
    """Opens clips and makes request parts. Raises MediaError for a file that can't be used."""

    async def open(self, path: Path) -> OpenedClip: ...

    async def prepare(
        self, path: Path, opened: OpenedClip, window: str, table: EntityTable | None
    ) -> PreparedMedia: ...


class Clock(NamedTuple):
    """Time and chance, passed in: wall time as RFC 3339 in UTC, and a random number in [0, 1)."""

    now: Callable[[], str]
    random: Callable[[], float]


def clock() -> Clock:
    """The machine's own time and chance."""
    return Clock(now=utc_now, random=random.random)


def utc_now() -> str:
    """The time as RFC 3339 in UTC, to the microsecond."""
    return datetime.now(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


class Meter(Protocol):
    """Reserves a bound before each call and settles it after. Calls in doubt stay charged.

    ``reserve`` may wait for room as long as calls are under way; when it refuses for want of it, none is.
    """

    async def reserve(self, call: str, *, prompt_tokens: int | None, max_tokens: int) -> Reserved: ...

    def completed(self, call: str, attempt: Completed) -> Settled: ...

    def failed(self, call: str, attempt: Failed) -> Settled: ...

    def release(self, call: str) -> None:
        """The call was not sent after all."""
        ...


class FreeMeter:
    """No limits and no prices: costs are unknown unless the provider states them."""

    async def reserve(self, call: str, *, prompt_tokens: int | None, max_tokens: int) -> Reserved:
        return Reserved()

    def completed(self, call: str, attempt: Completed) -> Settled:
        return Settled(attempt.cost, "provider" if attempt.cost is not None else "none")

    def failed(self, call: str, attempt: Failed) -> Settled:
        return Settled(attempt.cost, "provider" if attempt.cost is not None else "none")

    def release(self, call: str) -> None:
        return None


class Limiter(Protocol):
    """How many calls may be in flight. Told of every attempt, so that it can back off and recover."""

    async def acquire(self) -> None: ...

    def release(self, attempt: Attempt | None) -> None: ...


class FixedLimiter:
    """A constant number of calls in flight."""

    def __init__(self, limit: int) -> None:
        self._slots = asyncio.Semaphore(limit)

    async def acquire(self) -> None:
        await self._slots.acquire()

    def release(self, attempt: Attempt | None) -> None:
        self._slots.release()
