"""Agreement on published examples."""

import pytest

from vlmrec.stats.agreement import agreement


def test_cohens_kappa_of_the_grant_proposals_example() -> None:
    # 50 proposals, two readers: 20 both yes, 5 yes/no, 10 no/yes, 15 both no; kappa 0.40 (Wikipedia, "Cohen's kappa")
    pairs = [("yes", "yes")] * 20 + [("yes", "no")] * 5 + [("no", "yes")] * 10 + [("no", "no")] * 15
    result = agreement(pairs)
    assert result.cohen == pytest.approx(0.4)
    assert (result.items, result.agreed, result.share) == (50, 35, 0.7)


def test_krippendorffs_alpha_of_his_own_example_of_binary_data() -> None:
    # Krippendorff, Computing Krippendorff's Alpha-Reliability (2011), section A: two observers, ten articles, alpha 0.095
    mary = "0100000010"
    john = "1110010000"
    assert agreement(list(zip(mary, john, strict=True))).krippendorff == pytest.approx(0.095, abs=5e-4)


def test_krippendorffs_alpha_of_his_own_example_of_nominal_data() -> None:
    # The same paper, section B: two observers, twelve articles, five values, alpha 0.692
    ben = "aabbdcccedda"
    gerry = "babbbccceddd"
    assert agreement(list(zip(ben, gerry, strict=True))).krippendorff == pytest.approx(0.692, abs=1e-3)


def test_one_label_for_everything_leaves_chance_corrected_agreement_undefined() -> None:
    result = agreement([("yes", "yes")] * 5)
    assert result.share == 1.0
    assert result.cohen is None
    assert result.krippendorff is None


def test_nothing_in_common_is_no_agreement_and_no_disagreement() -> None:
    assert agreement([]).share is None
