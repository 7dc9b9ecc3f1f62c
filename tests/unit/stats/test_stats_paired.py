"""Paired tests against SciPy and statsmodels, and against figures worked by hand."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vlmrec.stats.paired import mcnemar_exact, sign_flip

counts = st.integers(0, 60)


@given(only_a=counts, only_b=counts)
def test_mcnemar_equals_the_exact_binomial_test_of_scipy(only_a: int, only_b: int) -> None:
    from scipy.stats import binomtest

    expected = 1.0 if only_a + only_b == 0 else binomtest(only_a, only_a + only_b, 0.5).pvalue
    assert math.isclose(mcnemar_exact(only_a, only_b).p, expected, rel_tol=1e-12)


def test_mcnemar_equals_statsmodels_on_the_approval_ratings_of_agresti() -> None:
    from statsmodels.stats.contingency_tables import mcnemar

    table = [[794, 86], [150, 570]]  # Agresti, Categorical Data Analysis, table 10.1: prime minister's approval, twice
    expected = mcnemar(table, exact=True).pvalue
    assert mcnemar_exact(86, 150).p == pytest.approx(expected, rel=1e-12)
    assert mcnemar_exact(86, 150).p == pytest.approx(3.716e-05, rel=1e-3)


def test_no_discordant_clip_is_no_evidence_at_all() -> None:
    assert mcnemar_exact(0, 0).p == 1.0


def test_five_clips_all_one_way_are_not_enough_and_six_are() -> None:
    assert mcnemar_exact(5, 0).p > 0.05
    assert mcnemar_exact(6, 0).p < 0.05


def test_sign_flips_equal_scipys_permutation_test_on_darwins_maize() -> None:
    from scipy.stats import permutation_test

    darwin = [49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48]  # Fisher 1935: eighths of an inch
    # Fisher (The Design of Experiments, section 21) counts 863 of 32,768 patterns one way: p = 2 · 863 / 32768
    assert sign_flip(darwin, seed=1).p == 1726 / 32768
    exact = sign_flip(darwin[:12], seed=1)
    reference = permutation_test((darwin[:12],), sum, permutation_type="samples", n_resamples=math.inf)
    assert exact.exact
    assert exact.p == pytest.approx(reference.pvalue, rel=1e-12)


@given(st.lists(st.integers(-9, 9), max_size=12))
def test_one_item_a_clip_makes_the_sign_flip_a_mcnemar_test(differences: list[int]) -> None:
    signs = [(d > 0) - (d < 0) for d in differences]
    assert math.isclose(sign_flip(signs, seed=0).p, mcnemar_exact(signs.count(1), signs.count(-1)).p, rel_tol=1e-12)


@given(st.lists(st.integers(-9, 9), min_size=1, max_size=30), st.integers(0, 5))
def test_a_sign_flip_is_the_same_either_way_round_and_for_every_repeat(differences: list[int], seed: int) -> None:
    result = sign_flip(differences, seed=seed, draws=500)
    assert result == sign_flip(differences, seed=seed, draws=500)
    assert result.p == sign_flip([-d for d in differences], seed=seed, draws=500).p
    assert 0 < result.p <= 1


def test_with_many_clips_patterns_are_drawn_and_come_close_to_the_exact_p() -> None:
    differences = [3, -2, 1, 4] * 200
    exact = sign_flip(differences[:80], seed=1)
    drawn = sign_flip([d * 2000 for d in differences[:80]], seed=1, draws=50_000)
    assert exact.exact
    assert not drawn.exact
    assert drawn.p <= exact.p + 0.001
    even = [5000, -5000, 3000, -2000] * 30
    assert sign_flip(even, seed=2, draws=20_000).p == pytest.approx(
        sign_flip([d // 1000 for d in even], seed=2).p, abs=0.01
    )
