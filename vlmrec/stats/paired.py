"""Exact tests for two runs over the same clips: McNemar's for yes-or-no outcomes, sign flips for sums.

Both condition on the clips where the runs differ, and need no assumption about the others.
"""

import math
from collections.abc import Sequence
from fractions import Fraction

from msgspec import Struct

EXACT_UP_TO = 400_000
"""The exact distribution is built up clip by clip while clips times possible sums stay below this."""
DRAWN_AT_ONCE = 4_000_000
"""Signs drawn at once, to bound memory."""


class McNemar(Struct, frozen=True, kw_only=True):
    """Clips where only the first run, or only the second, has the property; and the two-sided p of that split."""

    only_a: int
    only_b: int
    p: float


class SignFlip(Struct, frozen=True, kw_only=True):
    """The sum of differences over clips, and how often flipping signs clip by clip gives one as far from zero."""

    total: int
    clips: int
    differing: int
    p: float
    exact: bool


def mcnemar_exact(only_a: int, only_b: int) -> McNemar:
    """The exact two-sided test: under no difference each discordant clip falls either way with probability one half."""
    if only_a < 0 or only_b < 0:
        raise ValueError("counts of clips can't be negative")
    return McNemar(only_a=only_a, only_b=only_b, p=float(mcnemar_p(only_a, only_b)))


def mcnemar_p(only_a: int, only_b: int) -> Fraction:
    """The p of :func:`mcnemar_exact` as an exact fraction."""
    n, fewer = only_a + only_b, min(only_a, only_b)
    tail = sum(math.comb(n, k) for k in range(fewer + 1))
    return min(Fraction(1), Fraction(2 * tail, 2**n))


def sign_flip(differences: Sequence[int], *, seed: int, draws: int = 10_000) -> SignFlip:
    """Two-sided permutation test of paired differences, one integer a clip.

    Exact up to some hundred clips; otherwise over ``draws`` random patterns, the observed one counted among
    them, so that p is never 0 and the test keeps its level.
    """
    total = sum(differences)
    sizes = [abs(difference) for difference in differences if difference]
    if len(sizes) * sum(sizes) <= EXACT_UP_TO:
        return SignFlip(
            total=total, clips=len(differences), differing=len(sizes), p=_enumerated(sizes, abs(total)), exact=True
        )
    import numpy as np

    generator = np.random.default_rng(seed)
    magnitudes = np.array(sizes, dtype=np.int64)
    at_once = max(1, DRAWN_AT_ONCE // len(sizes))
    extreme = 0
    for start in range(0, draws, at_once):
        size = (min(at_once, draws - start), len(sizes))
        signs = generator.integers(0, 2, size=size, dtype=np.int64) * 2 - 1
        extreme += int(np.count_nonzero(np.abs(signs @ magnitudes) >= abs(total)))
    return SignFlip(
        total=total, clips=len(differences), differing=len(sizes), p=(extreme + 1) / (draws + 1), exact=False
    )


def _enumerated(sizes: Sequence[int], observed: int) -> float:
    """The exact p: the distribution of the signed sum, built up clip by clip."""
    ways: dict[int, int] = {0: 1}
    for size in sizes:
        grown: dict[int, int] = {}
        for total, count in ways.items():
            for moved in (total - size, total + size):
                grown[moved] = grown.get(moved, 0) + count
        ways = grown
    extreme = sum(count for total, count in ways.items() if abs(total) >= observed)
    return extreme / float(2 ** len(sizes))
