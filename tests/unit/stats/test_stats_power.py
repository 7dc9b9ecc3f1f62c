"""What a number of clips could show, and Holm's correction against statsmodels."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vlmrec.stats.power import detectable_mean, detectable_outcome, holm, least_discordant, mcnemar_power


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_holm_equals_statsmodels(p_values: list[float]) -> None:
    from statsmodels.stats.multitest import multipletests

    assert holm(p_values) == pytest.approx(list(multipletests(p_values, method="holm")[1]), rel=1e-12)


def test_holm_of_nothing_is_nothing() -> None:
    assert holm([]) == ()


def test_six_clips_are_the_least_that_reject_at_five_percent() -> None:
    assert least_discordant(0.05) == 6
    assert least_discordant(0.05 / 3) == 7
    assert detectable_outcome(53, 3).least == pytest.approx(6 / 53)
    assert detectable_outcome(5, 3).least is None


def test_power_of_mcnemar_agrees_with_a_simulation() -> None:
    import numpy as np

    from vlmrec.stats.paired import mcnemar_exact

    generator = np.random.default_rng(5)
    clips, share, difference = 40, 0.4, 0.25
    one, other = (share + difference) / 2, (share - difference) / 2
    splits = generator.multinomial(clips, [one, other, 1 - share], size=4000)
    rejected = np.mean([mcnemar_exact(int(a), int(b)).p <= 0.05 for a, b, _ in splits])
    assert mcnemar_power(clips, share, difference) == pytest.approx(rejected, abs=0.025)


def test_under_no_difference_the_exact_test_rejects_less_often_than_it_says() -> None:
    assert mcnemar_power(50, 0.5, 0.0) <= 0.05


def test_the_likely_difference_is_larger_than_the_least_and_shrinks_with_clips() -> None:
    few, many = detectable_outcome(50, 20), detectable_outcome(200, 80)
    assert few.likely is not None
    assert many.likely is not None
    assert few.least is not None
    assert few.least < few.likely
    assert many.likely < few.likely


def test_a_mean_without_spread_says_nothing_about_what_could_be_found() -> None:
    assert detectable_mean(None, 10).likely is None
    assert detectable_mean(0.05, 50).likely == pytest.approx(0.1401, abs=1e-4)  # (1.960 + 0.842) · 0.05
