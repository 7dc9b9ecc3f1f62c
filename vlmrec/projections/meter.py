"""What calls cost: money, tokens and time, added up without losing what is unknown.

Money is Decimal. A cost or count that nobody stated stays null and is counted apart; it is never 0.
"""

import math
from array import array
from collections.abc import Iterable
from decimal import Decimal
from typing import TypeVar

from msgspec import Struct, field

from vlmrec.events import CallCompleted, CallFailed

N = TypeVar("N", int, Decimal)


class CallFigures(Struct, frozen=True, kw_only=True, gc=False):
    """Figures of a set of calls. Latency in seconds, cost in USD; null where nothing is known."""

    completed: int
    failed: int
    in_doubt: int
    cost_usd: Decimal | None
    cost_unknown: int
    """Completed calls whose cost nobody stated; the sum leaves them out."""
    prompt_tokens: int | None
    completion_tokens: int | None
    cached_tokens: int | None
    cached_share: float | None
    """Cached prompt tokens by prompt tokens, over the calls that state both."""
    latency_total_s: float | None
    latency_median_s: float | None
    latency_p90_s: float | None


class Meter(Struct, gc=False):
    """Adds up calls; two meters can be merged."""

    _completed: int = 0
    _failed: int = 0
    _in_doubt: int = 0
    _unknown: int = 0
    _cost: Decimal | None = None
    _prompt: int | None = None
    _completion: int | None = None
    _cached: int | None = None
    _cached_of: int = 0
    _latencies: "array[float]" = field(default_factory=lambda: array("d"))

    def completed(self, call: CallCompleted) -> None:
        """Count a completed call."""
        self._completed += 1
        self._latencies.append(call.latency_s)
        if call.cost is None:
            self._unknown += 1
        else:
            self._cost = call.cost if self._cost is None else self._cost + call.cost
        usage = call.usage
        if usage.prompt_tokens is not None:
            self._prompt = (self._prompt or 0) + usage.prompt_tokens
            if usage.cached_tokens is not None:
                self._cached = (self._cached or 0) + usage.cached_tokens
                self._cached_of += usage.prompt_tokens
        if usage.completion_tokens is not None:
            self._completion = (self._completion or 0) + usage.completion_tokens

    def failed(self, call: CallFailed) -> None:
        """Count a failed one; what it was charged belongs to the cost."""
        self._failed += 1
        self._in_doubt += call.in_doubt
        if call.charged_cost is not None:
            self._cost = call.charged_cost if self._cost is None else self._cost + call.charged_cost

    def add(self, other: "Meter") -> None:
        """Take in another meter's calls."""
        self._completed += other._completed
        self._failed += other._failed
        self._in_doubt += other._in_doubt
        self._unknown += other._unknown
        self._cost = _sum(self._cost, other._cost)
        self._prompt = _sum(self._prompt, other._prompt)
        self._completion = _sum(self._completion, other._completion)
        self._cached = _sum(self._cached, other._cached)
        self._cached_of += other._cached_of
        self._latencies.extend(other._latencies)

    def copy(self) -> "Meter":
        """A meter that stands where this one stands, and goes its own way."""
        return merged((self,))

    def figures(self) -> CallFigures:
        """Everything counted so far."""
        latencies = sorted(self._latencies)
        return CallFigures(
            completed=self._completed,
            failed=self._failed,
            in_doubt=self._in_doubt,
            cost_usd=self._cost,
            cost_unknown=self._unknown,
            prompt_tokens=self._prompt,
            completion_tokens=self._completion,
            cached_tokens=self._cached,
            cached_share=self._cached / self._cached_of if self._cached is not None and self._cached_of else None,
            latency_total_s=math.fsum(latencies) if latencies else None,
            latency_median_s=quantile(latencies, 0.5),
            latency_p90_s=quantile(latencies, 0.9),
        )


def merged(meters: Iterable[Meter]) -> Meter:
    """One meter of several."""
    total = Meter()
    for meter in meters:
        total.add(meter)
    return total


def quantile(ordered: list[float], share: float) -> float | None:
    """The quantile of an ascending list, by linear interpolation between order statistics; None when it is empty."""
    if not ordered:
        return None
    place = (len(ordered) - 1) * share
    low = math.floor(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (place - low)


def median(values: Iterable[float]) -> float | None:
    """The median, or None of nothing."""
    return quantile(sorted(values), 0.5)


def _sum(a: N | None, b: N | None) -> N | None:
    if a is None:
        return b
    return a if b is None else a + b
