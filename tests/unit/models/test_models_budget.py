"""Budgets are never overrun; concurrency backs off and recovers."""

import asyncio
import random
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vlmrec.errors import InputError
from vlmrec.events import Usage
from vlmrec.models.budget import BudgetMeter, Ledger, Limits, Price
from vlmrec.models.limits import AdaptiveLimiter, RateChange
from vlmrec.models.wire import Attempt, Completed, Failed, FailureKind, Retry

PRICE = Price(prompt=Decimal(1), completion=Decimal(10), cached=Decimal("0.25"))


def good(cost: str | None = None, **usage: int) -> Completed:
    return Completed(
        status=200,
        headers={},
        body=b"",
        latency_s=0.0,
        usage=Usage(**usage),
        cost=Decimal(cost) if cost is not None else None,
    )


def bad(reason: str = "provider_error", *, billed: bool = False, cost: str | None = None) -> Failed:
    return Failed(
        kind=FailureKind.STATUS,
        reason=reason,
        message="",
        retry=Retry.BACKOFF,
        latency_s=0.0,
        may_be_billed=billed,
        cost=Decimal(cost) if cost is not None else None,
    )


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def meter(price: Price | None = PRICE, **limits: object) -> BudgetMeter:
    return BudgetMeter(Ledger(Limits(**limits)), clock=Clock(), price=price, context=1000)  # type: ignore[arg-type]


# ---- prices ----------------------------------------------------------------------------------


def test_a_price_bounds_a_call_and_settles_it_by_usage() -> None:
    assert PRICE.bound(prompt_tokens=1000, max_tokens=100) == Decimal("0.002")
    assert PRICE.cost(Usage(prompt_tokens=1000, completion_tokens=10)) == Decimal("0.0011")
    assert PRICE.cost(Usage(prompt_tokens=1000, completion_tokens=10, cached_tokens=800)) == Decimal("0.0005")
    assert PRICE.cost(Usage(prompt_tokens=1000)) is None


async def test_the_providers_own_figure_stands_over_the_price() -> None:
    budget = meter()
    await budget.reserve("a", prompt_tokens=10, max_tokens=10)
    settled = budget.completed("a", good("0.5", prompt_tokens=1, completion_tokens=1))
    assert settled == (Decimal("0.5"), "provider")
    assert budget.ledger.spent == Decimal("0.5")


async def test_without_usage_the_cost_is_unknown_and_the_bound_stays_charged() -> None:
    budget = meter()
    reserved = await budget.reserve("a", prompt_tokens=None, max_tokens=100)
    assert budget.completed("a", good()) == (None, "none")
    assert budget.ledger.spent == reserved.cost == Decimal("0.002")


async def test_a_call_in_doubt_stays_charged_and_a_refused_one_costs_nothing() -> None:
    budget = meter()
    for name, attempt, expected in (
        ("doubt", bad(billed=True), Decimal("0.002")),
        ("refused", bad("rate_limited"), Decimal(0)),
        ("told", bad(billed=True, cost="0.0001"), Decimal("0.0001")),
    ):
        await budget.reserve(name, prompt_tokens=None, max_tokens=100)
        assert budget.failed(name, attempt).cost == expected
    assert budget.ledger.spent == Decimal("0.0021")
    assert budget.ledger.reserved == 0


async def test_an_unknown_price_gives_unknown_costs_and_refuses_a_cost_limit() -> None:
    budget = meter(None, max_calls=5)
    assert (await budget.reserve("a", prompt_tokens=1, max_tokens=1)).cost is None
    assert budget.completed("a", good(prompt_tokens=1, completion_tokens=1)).cost is None
    await budget.reserve("b", prompt_tokens=1, max_tokens=1)
    assert budget.failed("b", bad(billed=True)).cost is None
    with pytest.raises(InputError, match="assume-price"):
        meter(None, max_cost=Decimal(1))


# ---- limits ----------------------------------------------------------------------------------


async def test_calls_and_minutes_are_limited_and_earlier_processes_count() -> None:
    clock = Clock()
    ledger = Ledger(Limits(max_calls=3, max_minutes=10), calls=1, minutes=4)
    budget = BudgetMeter(ledger, clock=clock)
    assert (await budget.reserve("a", prompt_tokens=1, max_tokens=1)).refused is None
    assert (await budget.reserve("b", prompt_tokens=1, max_tokens=1)).refused is None
    for name in ("a", "b"):
        budget.completed(name, good())
    assert "3 calls" in str((await budget.reserve("c", prompt_tokens=1, max_tokens=1)).refused)
    clock.now = 6 * 60
    ledger.calls = 0
    assert "10 minutes" in str((await budget.reserve("d", prompt_tokens=1, max_tokens=1)).refused)


async def test_a_call_waits_for_room_that_others_hold_and_is_refused_when_there_is_none() -> None:
    budget = meter(max_cost=Decimal("0.003"))
    assert (await budget.reserve("a", prompt_tokens=None, max_tokens=100)).refused is None
    waiting = asyncio.create_task(budget.reserve("b", prompt_tokens=None, max_tokens=100))
    await asyncio.sleep(0.01)
    assert not waiting.done()
    budget.completed("a", good(prompt_tokens=100, completion_tokens=1))
    assert (await waiting).refused is None
    budget.completed("b", good("0.002"))
    assert "cost limit" in str((await budget.reserve("c", prompt_tokens=None, max_tokens=100)).refused)


async def test_a_call_waits_while_one_that_may_not_be_sent_holds_the_last_of_the_calls() -> None:
    budget = meter(max_calls=2)
    for name in ("a", "b"):
        assert (await budget.reserve(name, prompt_tokens=1, max_tokens=1)).refused is None
    waiting = [asyncio.create_task(budget.reserve(name, prompt_tokens=1, max_tokens=1)) for name in ("c", "d")]
    await asyncio.sleep(0.01)
    assert not any(task.done() for task in waiting)
    budget.release("a")
    assert (await waiting[0]).refused is None
    budget.completed("b", good())
    await asyncio.sleep(0.01)
    assert not waiting[1].done()
    budget.failed("c", bad())
    assert (await waiting[1]).refused == "the limit of 2 calls is used up"


async def test_a_refusal_says_how_many_calls_were_made_before_this_start() -> None:
    budget = BudgetMeter(Ledger(Limits(max_calls=3), calls=4), clock=Clock())
    refused = (await budget.reserve("a", prompt_tokens=1, max_tokens=1)).refused
    assert refused == "the limit of 3 calls is used up (4 were made before this start)"


class Crowd:
    """Calls that all want to be sent at once, as a run's do: a refusal stops what has not left, as a stop does."""

    def __init__(self, budget: BudgetMeter, chance: random.Random, *, unwanted: frozenset[int] = frozenset()) -> None:
        self.budget, self.chance, self.unwanted = budget, chance, unwanted
        self.sent = 0
        self.held_up = 0
        self.refused: str | None = None

    async def run(self, calls: int, places: int) -> None:
        limiter = AdaptiveLimiter(places)
        async with asyncio.TaskGroup() as group:
            for number in range(calls):
                group.create_task(self._call(number, limiter))

    async def _call(self, number: int, limiter: AdaptiveLimiter) -> None:
        name = str(number)
        await self._pause()
        await limiter.acquire()
        try:
            if self.refused is not None:
                return
            reserved = await self.budget.reserve(name, prompt_tokens=None, max_tokens=100)
            if reserved.refused is not None:
                self.refused = reserved.refused
                return
            await self._pause()  # the clip's lock, and the disk
            if number in self.unwanted or self.refused is not None:
                self.held_up += number not in self.unwanted
                self.budget.release(name)
                return
            self.sent += 1
            await self._pause()
            self._settle(name)
        finally:
            limiter.release(None)

    def _settle(self, name: str) -> None:
        usage = {"prompt_tokens": self.chance.randrange(1000), "completion_tokens": self.chance.randrange(100)}
        if self.chance.random() < 0.3:
            self.budget.failed(name, bad(billed=self.chance.random() < 0.5))
        else:
            self.budget.completed(name, good(**usage))

    async def _pause(self) -> None:
        for _ in range(self.chance.randrange(6)):
            await asyncio.sleep(0)


@pytest.mark.parametrize("seed", range(20))
def test_a_limit_of_calls_is_used_exactly_whatever_the_order(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("vlmrec.models.budget.POLL_S", 0.001)
    chance = random.Random(seed)
    limit, calls, places = chance.randrange(1, 31), chance.randrange(1, 41), chance.randrange(1, 17)
    unwanted = frozenset(chance.sample(range(40), chance.randrange(10)))
    crowd = Crowd(meter(max_calls=limit), chance, unwanted=unwanted)
    asyncio.run(crowd.run(calls, places))
    wanted = len(set(range(calls)) - unwanted)
    assert crowd.held_up == 0
    assert crowd.sent == crowd.budget.ledger.calls
    assert crowd.sent == (limit if crowd.refused else wanted) <= limit


@pytest.mark.parametrize("seed", range(20))
def test_a_cost_limit_is_used_until_the_next_call_could_break_it(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("vlmrec.models.budget.POLL_S", 0.001)
    chance = random.Random(seed)
    limit, bound = Decimal(chance.randrange(1, 26)) / 1000, Decimal("0.002")
    calls, places = chance.randrange(1, 41), chance.randrange(1, 17)
    crowd = Crowd(meter(max_cost=limit), chance)
    asyncio.run(crowd.run(calls, places))
    assert crowd.held_up == 0
    assert crowd.budget.ledger.spent <= limit
    assert crowd.budget.ledger.spent + bound > limit if crowd.refused else crowd.sent == calls


async def test_gpu_hours_are_charged_by_the_clock_and_never_beyond_the_limit() -> None:
    clock = Clock()
    ledger = Ledger(Limits(max_cost=Decimal(1)))
    budget = BudgetMeter(ledger, clock=clock, hourly=Decimal(6), longest_s=60)
    assert (await budget.reserve("a", prompt_tokens=1, max_tokens=1)).refused is None
    assert budget.completed("a", good()).cost is None
    clock.now = 8 * 60
    assert (await budget.reserve("b", prompt_tokens=1, max_tokens=1)).refused is None
    assert ledger.spent == Decimal("0.8")
    budget.completed("b", good())
    clock.now = 9 * 60 + 1
    assert (await budget.reserve("c", prompt_tokens=1, max_tokens=1)).refused is not None


@given(st.randoms(use_true_random=False), st.integers(1, 60), st.decimals("0.001", "0.1", places=4))
def test_whatever_the_order_the_limit_is_never_broken(chance: random.Random, calls: int, limit: Decimal) -> None:
    ledger = Ledger(Limits(max_cost=limit))
    under_way: dict[str, Decimal] = {}
    for number in range(calls):
        bound = Decimal(chance.randrange(1, 200)) / 10000
        if ledger.reserve(str(number), bound, minutes=0) is None:
            under_way[str(number)] = bound
        if under_way and chance.random() < 0.5:
            call = chance.choice(sorted(under_way))
            worst = under_way.pop(call)
            ledger.settle(call, chance.choice([None, Decimal(0), worst, worst / 3]))
        assert ledger.spent + ledger.reserved <= limit
        assert ledger.reserved == sum(under_way.values())


def test_a_call_is_reserved_once() -> None:
    ledger = Ledger(Limits())
    assert ledger.reserve("a", Decimal(1), minutes=0) is None
    with pytest.raises(ValueError, match="already"):
        ledger.reserve("a", Decimal(1), minutes=0)


# ---- concurrency -----------------------------------------------------------------------------


async def _drive(limiter: AdaptiveLimiter, outcomes: list[Attempt | None]) -> int:
    """The most calls that were in flight at once while every outcome came back."""
    most = 0

    async def call(attempt: Attempt | None) -> None:
        nonlocal most
        await limiter.acquire()
        most = max(most, limiter.in_flight)
        await asyncio.sleep(0)
        limiter.release(attempt)

    async with asyncio.TaskGroup() as group:
        for outcome in outcomes:
            group.create_task(call(outcome))
    assert limiter.in_flight == 0
    return most


async def test_one_burst_of_rate_limits_halves_once() -> None:
    changes: list[RateChange] = []
    limiter = AdaptiveLimiter(16, on_change=changes.append)
    assert await _drive(limiter, [bad("rate_limited")] * 16) == 16
    assert changes == [RateChange(16, 8, "rate_limited")]
    assert await _drive(limiter, [None] * 40) == 8


async def test_it_goes_down_to_one_and_comes_back_to_where_it_began() -> None:
    changes: list[RateChange] = []
    limiter = AdaptiveLimiter(8, on_change=changes.append)
    for _ in range(8):
        await _drive(limiter, [bad("rate_limited")])
    assert limiter.limit == 1
    await _drive(limiter, [good()] * 200)
    assert limiter.limit == 8
    assert [change.limit for change in changes] == [4, 2, 1, 2, 3, 4, 5, 6, 7, 8]
    assert all(change.previous != change.limit for change in changes)


async def test_other_failures_leave_the_limit_alone() -> None:
    limiter = AdaptiveLimiter(4)
    await _drive(limiter, [bad(), None, bad("gateway_timeout")] * 20)
    assert limiter.limit == 4


async def test_a_cancelled_wait_gives_its_place_to_the_next() -> None:
    limiter = AdaptiveLimiter(1)
    await limiter.acquire()
    waiting = [asyncio.create_task(limiter.acquire()) for _ in range(3)]
    await asyncio.sleep(0)
    waiting[0].cancel()
    limiter.release(None)
    waiting[1].cancel()
    await asyncio.gather(*waiting[:2], return_exceptions=True)
    await asyncio.wait_for(waiting[2], 1)
    assert limiter.in_flight == 1


def test_at_least_one_call_must_be_allowed() -> None:
    with pytest.raises(ValueError, match="at least one"):
        AdaptiveLimiter(0)
