"""What a run may cost: an upper bound is set aside before each call and settled after it.

``Ledger`` is the arithmetic: money is Decimal, what is in doubt stays charged, and nothing is sent
that could break a limit. ``BudgetMeter`` knows prices; a call waits while others have set something
aside, and is refused when nothing is: who stops a run for a refusal then holds up no call that was let through.
"""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from decimal import ROUND_CEILING, Decimal
from typing import Literal, NamedTuple

from msgspec import Struct

from vlmrec.errors import InputError
from vlmrec.events import Usage
from vlmrec.models.wire import Completed, Failed

MILLION = Decimal(1_000_000)
CENT_OF_A_CENT = Decimal("0.00000001")
POLL_S = 0.25
UNKNOWN_CONTEXT = 262_144
"""Prompt tokens assumed as the worst case where neither a prediction nor the model's context is known."""


class Price(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """USD per million tokens. ``cached`` is for prompt tokens served from the cache (as ``prompt`` where not given)."""

    prompt: Decimal
    completion: Decimal
    cached: Decimal | None = None
    request: Decimal = Decimal(0)

    def bound(self, *, prompt_tokens: int, max_tokens: int) -> Decimal:
        """The most a call can cost."""
        return self._round(prompt_tokens * self.prompt + max_tokens * self.completion)

    def cost(self, usage: Usage) -> Decimal | None:
        """What a call cost by its usage; None where the usage is not known."""
        if usage.prompt_tokens is None or usage.completion_tokens is None:
            return None
        cached = min(usage.cached_tokens or 0, usage.prompt_tokens)
        read = (usage.prompt_tokens - cached) * self.prompt + cached * (
            self.prompt if self.cached is None else self.cached
        )
        return self._round(read + usage.completion_tokens * self.completion)

    def _round(self, millionths: Decimal) -> Decimal:
        return plain((millionths / MILLION + self.request).quantize(CENT_OF_A_CENT, ROUND_CEILING))


def plain(amount: Decimal) -> Decimal:
    """``amount`` without trailing zeros and without an exponent: 0, not 0E-8."""
    return Decimal(f"{amount.normalize():f}")


class Limits(Struct, frozen=True, kw_only=True):
    """Limits of a run or experiment; None: none."""

    max_cost: Decimal | None = None
    max_calls: int | None = None
    max_minutes: float | None = None


class Refusal(NamedTuple):
    """Why a call may not be sent now; ``final``: nothing is under way that could make room for it, or be held up."""

    text: str
    final: bool


class Reserved(NamedTuple):
    """An upper bound set aside before a call (USD; None when the price is unknown), or why the call may not be sent."""

    cost: Decimal | None = None
    refused: str | None = None


class Settled(NamedTuple):
    """What a call cost in USD, and by whose figure."""

    cost: Decimal | None
    source: Literal["provider", "price", "none"] = "none"


class Ledger:
    """Sums of a budget. ``spent``, ``calls`` and ``minutes`` begin with what earlier processes had used."""

    def __init__(self, limits: Limits, *, spent: Decimal = Decimal(0), calls: int = 0, minutes: float = 0.0) -> None:
        self.limits = limits
        self.spent = spent
        self.calls = calls
        self._earlier_calls = calls
        self._earlier_minutes = minutes
        self._reserved: dict[str, Decimal] = {}

    @property
    def reserved(self) -> Decimal:
        return sum(self._reserved.values(), Decimal(0))

    def reserve(self, call: str, bound: Decimal, *, minutes: float, margin: Decimal = Decimal(0)) -> Refusal | None:
        """Set ``bound`` aside for ``call``, ``minutes`` after this process began; or say why not.

        ``margin`` must be left as well, but isn't set aside: the cost of time, which calls share. What is set aside may
        come back, from a call that costs less or isn't sent after all: until then only time refuses for good.
        """
        if call in self._reserved:
            raise ValueError(f"call {call} has been reserved already")
        limits = self.limits
        elapsed = self._earlier_minutes + minutes
        if limits.max_minutes is not None and elapsed >= limits.max_minutes:
            return Refusal(f"the time limit of {limits.max_minutes:g} minutes is used up", True)
        if limits.max_calls is not None and self.calls >= limits.max_calls:
            earlier = f" ({self._earlier_calls} were made before this start)" if self._earlier_calls else ""
            return Refusal(f"the limit of {limits.max_calls} calls is used up{earlier}", not self._reserved)
        worst = bound + margin
        if limits.max_cost is not None and self.spent + self.reserved + worst > limits.max_cost:
            text = (
                f"the cost limit of {limits.max_cost} USD: {self.spent} are spent or in doubt, "
                f"and the next call could cost {worst}"
            )
            return Refusal(text, not self._reserved)
        self._reserved[call] = bound
        self.calls += 1
        return None

    def settle(self, call: str, cost: Decimal | None) -> None:
        """Replace what was set aside by ``cost``; None keeps the whole bound charged."""
        bound = self._reserved.pop(call)
        self.spent += bound if cost is None else cost

    def elapse(self, minutes: float) -> None:
        """So long did a run last whose meter, and with it its clock, is gone."""
        self._earlier_minutes += minutes

    def release(self, call: str) -> None:
        """A reserved call was not sent after all."""
        del self._reserved[call]
        self.calls -= 1


class BudgetMeter:
    """Prices calls and holds them to a ledger, which several meters may share.

    ``hourly`` is a price per hour (of GPUs) in place of one per token: the ledger is then charged by
    the clock, and calls by themselves have no cost. ``longest_s`` is how long a call may take.
    """

    def __init__(
        self,
        ledger: Ledger,
        *,
        clock: Callable[[], float],
        price: Price | None = None,
        hourly: Decimal | None = None,
        longest_s: float = 600.0,
        context: int | None = None,
        states_cost: bool = False,
    ) -> None:
        if ledger.limits.max_cost is not None and price is None and hourly is None:
            told = " (the provider states costs only after a call)" if states_cost else ""
            raise InputError(
                f"a cost limit needs a price, and none is known for this model{told}; give one under [models] in "
                "vlmrec.toml, or assume one with --assume-price PROMPT,COMPLETION (USD per million tokens)"
            )
        self._ledger = ledger
        self._clock = clock
        self._price = price
        self._hourly = hourly
        self._context = context
        self._margin = hourly * Decimal(str(longest_s)) / 3600 if hourly is not None else Decimal(0)
        self._began = clock()
        self._charged = Decimal(0)
        self._bounds: dict[str, Decimal | None] = {}
        self._room = asyncio.Event()

    @property
    def ledger(self) -> Ledger:
        return self._ledger

    async def reserve(self, call: str, *, prompt_tokens: int | None, max_tokens: int) -> Reserved:
        """Set the most that ``call`` can cost aside. Waits for room as long as any call is under way."""
        known = self._price.bound(
            prompt_tokens=prompt_tokens or self._context or UNKNOWN_CONTEXT, max_tokens=max_tokens
        ) if self._price is not None else None  # fmt: skip
        while True:
            self._charge_time()
            refusal = self._ledger.reserve(call, known or Decimal(0), minutes=self._minutes(), margin=self._margin)
            if refusal is None:
                self._bounds[call] = known
                return Reserved(known)
            if refusal.final:
                return Reserved(known, refusal.text)
            self._room.clear()
            with suppress(TimeoutError):  # another meter of the same ledger may make room as well
                await asyncio.wait_for(self._room.wait(), POLL_S)

    def completed(self, call: str, attempt: Completed) -> Settled:
        """Settle with the provider's figure, else by price; without usage the whole bound stays charged."""
        if attempt.cost is not None:
            return self._settle(call, Settled(attempt.cost, "provider"))
        cost = self._price.cost(attempt.usage) if self._price is not None else None
        return self._settle(call, Settled(cost, "price" if cost is not None else "none"))

    def failed(self, call: str, attempt: Failed) -> Settled:
        """What may have been billed stays charged at its worst case; a call refused outright cost nothing."""
        if attempt.cost is not None:
            return self._settle(call, Settled(attempt.cost, "provider"))
        if attempt.may_be_billed:
            by_usage = self._price.cost(attempt.usage) if self._price is not None else None
            cost = by_usage if by_usage is not None else self._bounds.get(call)
            return self._settle(call, Settled(cost, "price" if cost is not None else "none"))
        cost = Decimal(0) if self._price is not None else None
        return self._settle(call, Settled(cost, "price" if cost is not None else "none"))

    def release(self, call: str) -> None:
        """The call was not sent after all."""
        self._bounds.pop(call, None)
        self._ledger.release(call)
        self._room.set()

    def _settle(self, call: str, settled: Settled) -> Settled:
        self._bounds.pop(call, None)
        self._ledger.settle(call, settled.cost)
        self._room.set()
        return settled

    def _minutes(self) -> float:
        return (self._clock() - self._began) / 60

    def _charge_time(self) -> None:
        if self._hourly is not None:
            seconds = Decimal(str(round(self._clock() - self._began, 6)))
            due = (self._hourly * seconds / 3600).quantize(CENT_OF_A_CENT, ROUND_CEILING)
            self._ledger.spent += due - self._charged
            self._charged = due
