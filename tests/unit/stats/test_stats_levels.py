"""Under no difference the paired tests reject no more often than they say; a test that takes items for independent does."""

import numpy as np
import pytest

from vlmrec.stats.paired import mcnemar_exact, sign_flip


def rejections(experiments: int, clips: int, seed: int) -> dict[str, float]:
    """How often each test rejects at 5 % when two runs are equally good.

    Runs err independently clip by clip, and alike within a clip: what one question gets wrong the next does too.
    """
    generator = np.random.default_rng(seed)
    counts = {"by_clip": 0, "by_item": 0, "clip_outcomes": 0}
    for _ in range(experiments):
        items = generator.integers(8, 17, size=clips)
        ease = generator.normal(0.5, 0.7, size=clips)
        a, b = (
            generator.binomial(items, 1 / (1 + np.exp(-(ease + generator.normal(0, 1.2, size=clips))))) for _ in "ab"
        )
        differences = (a - b).tolist()
        counts["by_clip"] += sign_flip(differences, seed=1, draws=400).p <= 0.05
        only_a = int(sum(generator.binomial(n - y, x / n) for x, y, n in zip(a, b, items, strict=True)))
        only_b = max(0, only_a - sum(differences))
        counts["by_item"] += mcnemar_exact(only_a, only_b).p <= 0.05
        good_a, good_b = a >= items * 0.7, b >= items * 0.7
        counts["clip_outcomes"] += mcnemar_exact(int(sum(good_a & ~good_b)), int(sum(good_b & ~good_a))).p <= 0.05
    return {name: count / experiments for name, count in counts.items()}


def test_paired_tests_keep_their_level_and_an_item_level_test_does_not() -> None:
    found = rejections(300, 50, seed=8)
    assert found["by_clip"] <= 0.08  # 300 experiments: 5 % and two and a half standard errors
    assert found["clip_outcomes"] <= 0.08
    assert found["by_item"] > 0.12


@pytest.mark.deep
@pytest.mark.parametrize("clips", [12, 50])
def test_over_two_thousand_experiments_the_level_holds(clips: int) -> None:
    found = rejections(2000, clips, seed=9)
    assert found["by_clip"] <= 0.06
    assert found["clip_outcomes"] <= 0.055
    assert found["by_item"] > 0.12
