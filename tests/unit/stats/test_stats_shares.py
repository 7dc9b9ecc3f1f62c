"""Score intervals: against statsmodels, against the likelihood itself, and by exact coverage."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_stats_intervals import Resampling, bootstrap_t, standard_error

from vlmrec.stats.shares import paired_interval, share_interval, tango_score

shares = st.integers(1, 80).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))
splits = st.integers(2, 60).flatmap(
    lambda n: st.integers(0, n).flatmap(lambda b: st.tuples(st.just(b), st.integers(0, n - b), st.just(n)))
)


@given(shares)
def test_wilson_equals_statsmodels(case: tuple[int, int]) -> None:
    from statsmodels.stats.proportion import proportion_confint

    low, high = proportion_confint(*case, method="wilson")
    ours = share_interval(*case)
    assert (ours.low, ours.high) == (pytest.approx(low, abs=1e-9), pytest.approx(high, abs=1e-9))


@pytest.mark.parametrize(("b", "c", "n"), [(9, 3, 53), (1, 2, 53), (12, 0, 30), (5, 5, 20)])
def test_the_statistic_of_tango_is_the_score_at_the_constrained_likelihoods_maximum(b: int, c: int, n: int) -> None:
    from scipy.optimize import minimize_scalar

    for difference in (-0.3, -0.05, 0.1, 0.4):

        def unlikely(rarer: float, difference: float = difference) -> float:
            one, other = rarer + difference, rarer
            rest = 1 - one - other
            if min(one, other, rest) <= 0:
                return math.inf
            return -(b * math.log(one) + c * math.log(other) + (n - b - c) * math.log(rest))

        bounds = (max(0.0, -difference) + 1e-12, (1 - difference) / 2 - 1e-12)
        rarer = minimize_scalar(unlikely, bounds=bounds, method="bounded", options={"xatol": 1e-13}).x
        expected = (b - c - n * difference) / math.sqrt(n * (2 * rarer + difference - difference**2))
        assert tango_score(b, c, n, difference) == pytest.approx(expected, rel=1e-4)


@given(splits)
def test_a_paired_interval_holds_its_estimate_and_turns_round_with_the_runs(case: tuple[int, int, int]) -> None:
    b, c, n = case
    ours, turned = paired_interval(b, c, n), paired_interval(c, b, n)
    assert ours.low is not None
    assert ours.high is not None
    assert ours.estimate is not None
    assert -1 <= ours.low <= ours.estimate <= ours.high <= 1
    assert turned.low == pytest.approx(-ours.high, abs=1e-9)


def test_the_score_of_no_difference_is_mcnemars_own_statistic() -> None:
    assert tango_score(9, 3, 53, 0.0) == pytest.approx((9 - 3) / math.sqrt(9 + 3))


def test_no_clip_gives_no_interval() -> None:
    assert share_interval(0, 0).method == paired_interval(0, 0, 0).method == "none"


RARE = [(0.05, 0.02), (0.1, 0.05)]
USUAL = [(0.2, 0.1), (0.25, 0.25), (0.4, 0.05)]


def exact_coverage(clips: int, only_a: float, only_b: float) -> float:
    """The chance that the interval holds the truth, over every split that could come up."""
    rest, covered = 1 - only_a - only_b, 0.0
    for b in range(clips + 1):
        for c in range(clips + 1 - b):
            ways = math.comb(clips, b) * math.comb(clips - b, c)
            chance = ways * only_a**b * only_b**c * rest ** (clips - b - c)
            if chance < 1e-9:
                continue
            found = paired_interval(b, c, clips)
            assert found.low is not None
            assert found.high is not None
            if found.low <= only_a - only_b <= found.high:
                covered += chance
    return covered


@pytest.mark.parametrize(("only_a", "only_b"), [*RARE, *USUAL])
def test_at_fifty_clips_the_paired_interval_covers_at_its_level_also_where_few_clips_differ(
    only_a: float, only_b: float
) -> None:
    assert 0.935 <= exact_coverage(50, only_a, only_b) <= 0.985


def test_resampling_does_not_where_few_clips_differ() -> None:
    generator, resampling = np.random.default_rng(4), Resampling(50, seed=1, resamples=1000)
    hits = 0
    for _ in range(400):
        b, c, _ = generator.multinomial(50, [0.05, 0.02, 0.93])
        differences = [1] * b + [-1] * c + [0] * (50 - b - c)
        if standard_error(differences, [1] * 50):
            low, high = bootstrap_t(differences, [1] * 50, resampling)
            hits += low <= 0.03 <= high
    assert hits / 400 < 0.92
