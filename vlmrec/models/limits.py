"""How many calls may be in flight: backs off when the server says too many, and recovers.

``after_attempt`` is the pure rule: a rate limit halves the number, once for all the calls that were
under way; as many good replies in a row as calls are allowed raise it by a quarter, up to where it
began. ``AdaptiveLimiter`` applies it to waiting tasks and reports every change.
"""

import asyncio
from collections import deque
from collections.abc import Callable
from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from vlmrec.models.wire import Attempt, Completed


class RateState(Struct, frozen=True, kw_only=True):
    """``limit`` calls at once. ``stale``: calls that left before the last change, whose rate limits tell nothing new."""

    limit: int
    ceiling: int
    good: int = 0
    stale: int = 0


class RateChange(NamedTuple):
    """The number of calls in flight changed; what a ``rate.changed`` event says."""

    previous: int
    limit: int
    cause: str


def after_attempt(
    state: RateState, *, limited: bool, good: bool, in_flight: int
) -> tuple[RateState, RateChange | None]:
    """The state after one attempt, and the change it made. ``in_flight``: the calls still under way."""
    stale = max(0, state.stale - 1)
    if limited:
        if state.stale:
            return replace(state, stale=stale, good=0), None
        limit = max(1, state.limit // 2)
        changed = replace(state, limit=limit, good=0, stale=in_flight)
        return changed, RateChange(state.limit, limit, "rate_limited") if limit != state.limit else None
    if not good:
        return replace(state, stale=stale), None
    if state.good + 1 < state.limit or state.limit == state.ceiling:
        return replace(state, good=min(state.good + 1, state.limit), stale=stale), None
    limit = min(state.ceiling, state.limit + max(1, state.limit // 4))
    return replace(state, limit=limit, good=0, stale=stale), RateChange(state.limit, limit, "recovered")


class AdaptiveLimiter:
    """Lets at most so many calls through at once. ``on_change`` is told of every change, as data."""

    def __init__(self, limit: int, *, on_change: Callable[[RateChange], None] = lambda change: None) -> None:
        if limit < 1:
            raise ValueError(f"at least one call must be allowed, not {limit}")
        self._state = RateState(limit=limit, ceiling=limit)
        self._on_change = on_change
        self._in_flight = 0
        self._waiting: deque[asyncio.Future[None]] = deque()

    @property
    def limit(self) -> int:
        return self._state.limit

    @property
    def in_flight(self) -> int:
        return self._in_flight

    async def acquire(self) -> None:
        """Wait for a place."""
        if self._in_flight < self._state.limit and not self._waiting:
            self._in_flight += 1
            return
        place: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(place)
        try:
            await place
        except asyncio.CancelledError:
            if place.done() and not place.cancelled():  # the place had been given; pass it on
                self._in_flight -= 1
            else:
                self._waiting.remove(place)
            self._wake()
            raise

    def release(self, attempt: Attempt | None) -> None:
        """Give the place back. ``attempt`` is what became of the call; None when it was never sent."""
        self._in_flight -= 1
        if attempt is not None:
            limited = not isinstance(attempt, Completed) and attempt.reason == "rate_limited"
            self._state, change = after_attempt(
                self._state, limited=limited, good=isinstance(attempt, Completed), in_flight=self._in_flight
            )
            if change is not None:
                self._on_change(change)
        self._wake()

    def _wake(self) -> None:
        while self._waiting and self._in_flight < self._state.limit:
            place = self._waiting.popleft()
            if not place.done():
                self._in_flight += 1
                place.set_result(None)
