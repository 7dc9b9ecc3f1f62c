"""Intervals over clips: reference values of SciPy, coverage by simulation, and a naive interval that fails."""

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from vlmrec.stats.intervals import Figure, Method, Resampling, bca, bootstrap_t, interval, standard_error

LAW_SCHOOL = [
    576,
    635,
    558,
    578,
    666,
    580,
    555,
    661,
    651,
    605,
    653,
    575,
    545,
    572,
    594,
]  # Efron 1982: LSAT of 15 schools


def test_bca_equals_scipy_on_the_law_school_data() -> None:
    from scipy.stats import bootstrap

    expected = bootstrap((LAW_SCHOOL,), np.mean, method="BCa", n_resamples=40_000, rng=np.random.default_rng(3))
    low, high = bca(LAW_SCHOOL, [1] * 15, Resampling(15, seed=4, resamples=40_000))
    assert low == pytest.approx(expected.confidence_interval.low, abs=0.8)
    assert high == pytest.approx(expected.confidence_interval.high, abs=0.8)


def test_bootstrap_t_of_a_mean_comes_close_to_students_interval_where_that_is_right() -> None:
    from scipy.stats import t

    values = [round(1000 * z) for z in np.random.default_rng(1).normal(5, 1, 60)]
    half = t.ppf(0.975, 59) * float(np.std(values, ddof=1)) / math.sqrt(60)
    low, high = bootstrap_t(values, [1] * 60, Resampling(60, seed=2))
    assert low == pytest.approx(np.mean(values) - half, abs=0.12 * half)
    assert high == pytest.approx(np.mean(values) + half, abs=0.12 * half)


def test_the_standard_error_of_a_mean_is_the_usual_one() -> None:
    expected = float(np.std(LAW_SCHOOL, ddof=1)) / math.sqrt(15)
    assert standard_error(LAW_SCHOOL, [1] * 15) == pytest.approx(expected, rel=1e-12)


pairs = st.lists(st.tuples(st.integers(-5, 5), st.integers(5, 9)), min_size=1, max_size=12)


@given(pairs, st.integers(0, 3))
def test_an_interval_holds_its_estimate_and_is_the_same_for_the_same_seed(
    clips: list[tuple[int, int]], seed: int
) -> None:
    tops, bottoms = [top for top, _ in clips], [bottom for _, bottom in clips]
    result = interval(tops, bottoms, of="difference", seed=seed, resamples=300)
    assert result == interval(tops, bottoms, of="difference", seed=seed, resamples=300)
    if result.method == "none":
        assert len(clips) == 2
        assert (result.low, result.high) == (None, None)
        return
    assert result.low is not None
    assert result.high is not None
    assert -1 <= result.low < result.high <= 1


@given(pairs, st.integers(0, 3))
def test_an_interval_is_never_without_width(clips: list[tuple[int, int]], seed: int) -> None:
    tops, bottoms = [top for top, _ in clips], [bottom for _, bottom in clips]
    result = interval(tops, bottoms, of="difference", seed=seed, resamples=300)
    assert (result.low is None) == (result.high is None) == (result.method == "none")
    assert result.low is None or result.high is None or result.high - result.low > 1e-6


Clips = list[tuple[int, int]]


@st.composite
def clips_for(draw: st.DrawFn, method: Method, of: Figure) -> Clips:
    """Numerators and denominators of clips: all alike for ``exact_bound``, else three or more drawn one by one."""
    if method == "exact_bound":
        bottom = draw(st.integers(1, 60))
        top = draw(st.integers(0 if of == "share" else -bottom, bottom))
        return [(top, bottom)] * draw(st.integers(1, 12))
    bottoms = draw(st.lists(st.integers(1, 9), min_size=3, max_size=12))
    least = draw(st.sampled_from((0, 1) if of == "share" else (None, 0, 1)))  # differences may all be of one sign
    return [(draw(st.integers(-bottom if least is None else least, bottom)), bottom) for bottom in bottoms]


@pytest.mark.parametrize("method", ["bootstrap_t", "exact_bound"])
@given(data=st.data(), seed=st.integers(0, 3))
def test_the_interval_of_a_share_lies_between_0_and_1(method: Method, data: st.DataObject, seed: int) -> None:
    clips = data.draw(clips_for(method, "share"))
    result = interval([top for top, _ in clips], [bottom for _, bottom in clips], of="share", seed=seed, resamples=300)
    assume(method == "exact_bound" or result.standard_error)  # clips drawn one by one may be alike
    assert result.method == method
    assert result.estimate is not None
    assert result.low is not None
    assert result.high is not None
    assert 0 <= result.low <= result.estimate <= result.high <= 1


@pytest.mark.parametrize("method", ["bootstrap_t", "exact_bound"])
@given(data=st.data(), seed=st.integers(0, 3))
def test_the_interval_of_a_difference_is_mirrored_when_the_runs_change_places(
    method: Method, data: st.DataObject, seed: int
) -> None:
    clips = data.draw(clips_for(method, "difference"))
    tops, bottoms = [top for top, _ in clips], [bottom for _, bottom in clips]
    one = interval(tops, bottoms, of="difference", seed=seed, resamples=300)
    other = interval([-top for top in tops], bottoms, of="difference", seed=seed, resamples=300)
    assume(method == "exact_bound" or one.standard_error)  # clips drawn one by one may be alike
    assert one.method == other.method == method
    assert one.low is not None
    assert one.high is not None
    assert (other.low, other.high) == pytest.approx((-one.high, -one.low), abs=1e-9)


def test_a_share_of_nothing_right_has_no_interval_below_0_and_a_difference_of_one_sign_may_cross_it() -> None:
    nothing = interval([0] * 4, [7] * 4, of="share", seed=0)
    assert (nothing.low, nothing.high) == pytest.approx((0, 1 - 0.025**0.25))
    ahead = interval([2], [11], of="difference", seed=0)
    assert (ahead.low, ahead.high) == pytest.approx((2 / 11 - 0.975, 1))
    spread = interval([0, 0, 1, 9], [9] * 4, of="difference", seed=0)
    assert spread.method == "bootstrap_t"
    assert spread.low is not None
    assert spread.low < 0
    assert interval([0, 0, 1, 9], [9] * 4, of="share", seed=0).low == 0


def test_a_caller_that_does_not_say_which_figure_it_has_is_refused() -> None:
    with pytest.raises(TypeError, match="of"):
        interval([0, 1, 1], [1, 1, 1], seed=0)  # type: ignore[call-arg]


def test_two_clips_that_differ_give_an_estimate_and_no_interval() -> None:
    result = interval([0, 3], [5, 5], of="share", seed=0)
    assert result.estimate == pytest.approx(0.3)
    assert (result.low, result.high, result.method) == (None, None, "none")
    assert result.standard_error is not None


def test_clips_that_are_all_alike_give_the_bound_of_what_could_have_stayed_unseen() -> None:
    result = interval([0] * 53, [1] * 53, of="share", seed=0)
    assert result.method == "exact_bound"
    assert result.estimate == 0
    assert result.high == pytest.approx(1 - 0.025 ** (1 / 53))


@pytest.mark.parametrize("weights", [[1, 1], [1] * 12, [2, 3, 5, 7]])
def test_clips_with_one_and_the_same_share_have_no_spread_whatever_the_share(weights: list[int]) -> None:
    """15 / 22 * 22 isn't 15 in doubles; such a rounding was taken for a spread, and the interval had no width."""
    for bottom in range(1, 40):
        for top in range(bottom + 1):
            tops, bottoms = [top * weight for weight in weights], [bottom * weight for weight in weights]
            assert interval(tops, bottoms, of="share", seed=0).method == "exact_bound"


def test_no_clip_gives_no_interval() -> None:
    assert interval([], [], of="share", seed=0).method == "none"
    assert interval([0, 0], [0, 0], of="difference", seed=0).estimate is None


Drawn = tuple[np.ndarray, np.ndarray, float]
"""Sums by clip, items by clip, and the standard error of their ratio for whoever takes items for independent."""
Draw = Callable[[np.random.Generator, int], Drawn]


def difference_of_two_runs(generator: np.random.Generator, clips: int) -> Drawn:
    """Correct answers of run A minus run B, of 8 to 16 items a clip: clips differ in difficulty, and each run per clip."""
    items = generator.integers(8, 17, size=clips)
    ease = generator.normal(0.5, 1.0, size=clips)
    a = generator.binomial(items, _logistic(ease + 0.3 + generator.normal(0, 0.6, size=clips)))
    b = generator.binomial(items, _logistic(ease + generator.normal(0, 0.6, size=clips)))
    return a - b, items, math.sqrt((_variance(a, items) + _variance(b, items)) / items.sum())


def accuracy_of_one_run(generator: np.random.Generator, clips: int) -> Drawn:
    items = generator.integers(8, 17, size=clips)
    right = generator.binomial(items, _logistic(generator.normal(0.8, 1.0, size=clips)))
    return right, items, math.sqrt(_variance(right, items) / items.sum())


def rare_mistakes(generator: np.random.Generator, clips: int) -> Drawn:
    """Mistakes of a good run: few, and most of them in few clips. The hardest of the three to cover."""
    items = generator.integers(8, 17, size=clips)
    wrong = generator.binomial(items, _logistic(generator.normal(-3.2, 1.3, size=clips)))
    return wrong, items, math.sqrt(max(_variance(wrong, items), 1e-9) / items.sum())


SETTINGS = [difference_of_two_runs, accuracy_of_one_run, rare_mistakes]


def _logistic(x: np.ndarray) -> np.ndarray:
    shares: np.ndarray = 1 / (1 + np.exp(-x))
    return shares


def _variance(top: np.ndarray, bottom: np.ndarray) -> float:
    share = float(top.sum() / bottom.sum())
    return share * (1 - share)


def coverage(draw: Draw, clips: int, experiments: int, *, resamples: int) -> dict[str, float]:
    """How often each interval holds the truth; ``naive`` takes every item for independent of the others."""
    generator = np.random.default_rng(20_260_105)
    top, bottom, _ = draw(generator, 2_000_000)
    truth = top.sum() / bottom.sum()
    resampling = Resampling(clips, seed=11, resamples=resamples)
    hits = {"bootstrap_t": 0, "bca": 0, "naive": 0}
    for _ in range(experiments):
        top, bottom, error = draw(generator, clips)
        tops, bottoms = top.tolist(), bottom.tolist()
        for name, method in (("bootstrap_t", bootstrap_t), ("bca", bca)):
            low, high = method(tops, bottoms, resampling)
            if not standard_error(tops, bottoms):
                of: Figure = "difference" if draw is difference_of_two_runs else "share"
                alike = interval(tops, bottoms, of=of, seed=0)
                low, high = alike.low or 0.0, alike.high or 0.0
            hits[name] += low <= truth <= high
        hits["naive"] += abs(top.sum() / bottom.sum() - truth) <= 1.96 * error
    return {name: count / experiments for name, count in hits.items()}


@pytest.mark.parametrize("draw", SETTINGS)
def test_with_fifty_clips_intervals_cover_and_a_naive_one_does_not(draw: Draw) -> None:
    covered = coverage(draw, 50, 400, resamples=1000)
    assert covered["bootstrap_t"] == pytest.approx(
        0.95, abs=0.03
    )  # 400 experiments: two standard errors are 2.2 points
    assert covered["naive"] < 0.92


@pytest.mark.deep
@pytest.mark.parametrize("clips", [50, 100])
@pytest.mark.parametrize("draw", SETTINGS)
def test_over_two_thousand_experiments_intervals_cover_within_a_point_and_a_half(draw: Draw, clips: int) -> None:
    covered = coverage(draw, clips, 2000, resamples=10_000)
    assert covered["bootstrap_t"] == pytest.approx(0.95, abs=0.015)
    assert covered["naive"] < 0.90


@pytest.mark.deep
def test_the_coverage_that_reports_state_for_few_clips_is_what_is_found() -> None:
    from vlmrec.projections.compare import COVERED

    for clips, stated in COVERED.items():
        found = [coverage(draw, clips, 2000, resamples=4000)["bootstrap_t"] for draw in SETTINGS]
        assert min(found) == pytest.approx(stated, abs=0.015)
