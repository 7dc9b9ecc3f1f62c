"""What a number of clips could show at all, and what several comparisons cost.

A result of "no difference" means little without the smallest difference that would have been seen.
"""

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from statistics import NormalDist

from msgspec import Struct

_normal = NormalDist()


class Detectable(Struct, frozen=True, kw_only=True):
    """The smallest differences that could be told from none, as shares of the clips; null where none could."""

    clips: int
    alpha: float
    power: float
    least: float | None
    """The smallest observed difference with p at or below ``alpha``: every clip that differs differs the same way."""
    likely: float | None
    """The smallest true difference that would be found with probability ``power``, if as many clips differ as here."""


def detectable_outcome(clips: int, discordant: int, *, alpha: float = 0.05, power: float = 0.8) -> Detectable:
    """For McNemar's exact test over ``clips`` clips, of which ``discordant`` differed."""
    least = least_discordant(alpha)
    return Detectable(
        clips=clips,
        alpha=alpha,
        power=power,
        least=least / clips if 0 < least <= clips else None,
        likely=_likely(clips, discordant / clips, alpha, power) if clips else None,
    )


def detectable_mean(standard_error: float | None, clips: int, *, alpha: float = 0.05, power: float = 0.8) -> Detectable:
    """For a difference of means with this standard error over clips, by the normal approximation."""
    if not standard_error:
        return Detectable(clips=clips, alpha=alpha, power=power, least=None, likely=None)
    least = _normal.inv_cdf(1 - alpha / 2) * standard_error
    return Detectable(
        clips=clips, alpha=alpha, power=power, least=least, likely=least + _normal.inv_cdf(power) * standard_error
    )


def least_discordant(alpha: float) -> int:
    """How many clips must differ, all the same way, before McNemar's exact test rejects at ``alpha``."""
    k = 1
    while Fraction(2, 2**k) > Fraction(alpha):
        k += 1
    return k


def mcnemar_power(clips: int, share: float, difference: float, *, alpha: float = 0.05) -> float:
    """The chance that McNemar's exact test rejects, when a ``share`` of clips differs and one way leads by ``difference``."""
    one_way = min(1.0, (1 + difference / share) / 2)
    terms = []
    for m in range(clips + 1):
        here = _binomial(m, clips, share)
        bound = _rejects_up_to(m, alpha)
        if bound < 0 or here < 1e-10:
            continue
        either = [
            _binomial(k, m, one_way) + (_binomial(m - k, m, one_way) if 2 * k < m else 0.0) for k in range(bound + 1)
        ]
        terms.append(here * math.fsum(either))
    return math.fsum(terms)


def holm(p_values: Sequence[float]) -> tuple[float, ...]:
    """Holm's step-down adjustment, in the order given."""
    n = len(p_values)
    adjusted = [0.0] * n
    running = 0.0
    for rank, index in enumerate(sorted(range(n), key=lambda i: (p_values[i], i))):
        running = max(running, min(1.0, (n - rank) * p_values[index]))
        adjusted[index] = running
    return tuple(adjusted)


def _likely(clips: int, share: float, alpha: float, power: float) -> float | None:
    """The smallest whole number of clips, as a share, whose lead would be found with this power; by halving."""

    def found(step: int) -> bool:
        difference = step / clips
        return mcnemar_power(clips, min(1.0, max(share, difference)), difference, alpha=alpha) >= power

    low, high = 0, clips
    if not found(high):
        return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if found(middle) else (middle, high)
    return high / clips


@lru_cache(maxsize=4096)
def _rejects_up_to(m: int, alpha: float) -> int:
    """The largest count of the rarer kind among ``m`` discordant clips at which the test rejects; -1 for none."""
    bound, tail, ways = -1, 0, 1
    limit = Fraction(alpha) * 2**m / 2
    for k in range(m // 2 + 1):
        tail += ways
        if tail > limit:
            break
        bound = k
        ways = ways * (m - k) // (k + 1)
    return bound


def _binomial(k: int, n: int, share: float) -> float:
    if share in (0.0, 1.0):
        return float(k == n * share)
    log = math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)
    return math.exp(log + k * math.log(share) + (n - k) * math.log(1 - share))
