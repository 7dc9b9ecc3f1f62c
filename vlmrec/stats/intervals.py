"""Confidence intervals for a ratio of sums over clips, by resampling whole clips.

A figure such as "correct answers by questions put" is a ratio of two sums; a difference between two
runs over the same items is one too. Clips are drawn with all their items, so the interval knows that
items of one clip go together.

Two intervals are to be had: BCa (Efron 1987) and bootstrap-t with the linearised standard error of a
ratio. ``interval`` uses the one that covers better in docs/statistics.md; both are kept for the test that
says so.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, Literal

from msgspec import Struct

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Ints = NDArray[np.int64]
    Floats = NDArray[np.float64]

Method = Literal["bootstrap_t", "bca", "score", "exact_bound", "none"]
Figure = Literal["share", "difference"]
"""What a ratio can be at all: a share lies within 0 to span, a difference of two shares within ±span."""
RESAMPLES = 10_000
CELLS = 4_000_000
"""Clips times resamples that are drawn at once: 32 MB."""
RESAMPLED_FROM = 3
"""Clips. Of two, every resample is either without spread or the sample itself: that says nothing of an interval."""
_normal = NormalDist()


class Interval(Struct, frozen=True, kw_only=True):
    """An estimate with the interval that covers it, at ``level``. Null where there is nothing to estimate."""

    estimate: float | None
    low: float | None
    high: float | None
    level: float
    clips: int
    standard_error: float | None
    method: Method
    """``exact_bound``: every clip is alike, so resampling can't see any spread; the bound is the share of clips
    that could differ and still not have turned up. ``none``: too few clips for any interval."""


class Resampling:
    """Which clips each resample draws, and how often. One seed, one drawing; used for many figures.

    Drawn in pieces, so that memory stays bounded however many clips there are; kept while it is small.
    """

    def __init__(self, clips: int, *, seed: int, resamples: int = RESAMPLES) -> None:
        self.clips = clips
        self._seed = seed
        self._resamples = resamples
        self._kept: list[Floats] | None = None

    def sums(self, columns: "Ints") -> "Ints":
        """The columns' sums over each resample: a row for each. ``columns`` has a row for each clip.

        Whole numbers below 2^53 add up exactly as doubles in any order, so the fast product is exact too.
        """
        import numpy as np

        exact = columns.astype(np.float64)
        return np.concatenate([counts @ exact for counts in self._pieces()]).astype(np.int64)

    def _pieces(self) -> "Iterable[Floats]":
        if self.clips * self._resamples > CELLS:
            return self._drawn()
        if self._kept is None:
            self._kept = list(self._drawn())
        return self._kept

    def _drawn(self) -> "Iterator[Floats]":
        import numpy as np

        generator = np.random.default_rng(self._seed)
        at_once = max(1, CELLS // self.clips)
        for start in range(0, self._resamples, at_once):
            size = min(at_once, self._resamples - start)
            chosen = generator.integers(0, self.clips, size=(size, self.clips))
            chosen += np.arange(size)[:, None] * self.clips  # one range of places for each resample
            counts = np.bincount(chosen.ravel(), minlength=size * self.clips)
            yield counts.reshape(size, self.clips).astype(np.float64)


def interval(
    numerators: Sequence[int],
    denominators: Sequence[int],
    *,
    of: Figure,
    seed: int,
    level: float = 0.95,
    resamples: int = RESAMPLES,
    span: float = 1.0,
) -> Interval:
    """The interval of sum(numerators) / sum(denominators), one pair a clip, cut to what a figure ``of`` this sort can be.

    The caller says which sort it is: data can't tell, as a difference may well be above 0 in every clip.
    """
    floor = 0.0 if of == "share" else -span
    kept = [(top, bottom) for top, bottom in zip(numerators, denominators, strict=True) if bottom]
    if not kept:
        return Interval(estimate=None, low=None, high=None, level=level, clips=0, standard_error=None, method="none")
    tops, bottoms = [top for top, _ in kept], [bottom for _, bottom in kept]
    estimate = sum(tops) / sum(bottoms)
    error = standard_error(tops, bottoms)
    if not error:
        return _exact_bound(estimate, len(kept), level, floor, span)
    if len(kept) < RESAMPLED_FROM:
        return Interval(
            estimate=estimate, low=None, high=None, level=level, clips=len(kept), standard_error=error, method="none"
        )
    low, high = bootstrap_t(tops, bottoms, Resampling(len(kept), seed=seed, resamples=resamples), level=level)
    return Interval(
        estimate=estimate,
        low=max(low, floor),
        high=min(high, span),
        level=level,
        clips=len(kept),
        standard_error=error,
        method="bootstrap_t",
    )


def standard_error(numerators: Sequence[int], denominators: Sequence[int]) -> float:
    """The linearised standard error of a ratio of sums over clips; 0 with fewer than two clips.

    In whole numbers up to the root: clips that are all alike have an error of 0, not of a rounding, which would be
    taken for a spread and give an interval without width.
    """
    n, top_total, total = len(numerators), sum(numerators), sum(denominators)
    if n < 2:
        return 0.0
    residuals = (top * total - top_total * bottom for top, bottom in zip(numerators, denominators, strict=True))
    squares = sum(residual * residual for residual in residuals)
    return math.sqrt(n / (n - 1) * squares) / (total * total)


def bootstrap_t(
    numerators: Sequence[int], denominators: Sequence[int], resampling: Resampling, *, level: float = 0.95
) -> tuple[float, float]:
    """The studentised interval. A resample without spread has no t and is left out."""
    import numpy as np

    top, bottom = _arrays(numerators, denominators)
    n = len(top)
    ratio = sum(numerators) / sum(denominators)
    error = standard_error(numerators, denominators)
    sums = resampling.sums(np.stack([top, bottom, top * top, top * bottom, bottom * bottom], axis=1))
    tops, bottoms, tt, tb, bb = (sums[:, i].astype(np.float64) for i in range(5))
    ratios = tops / bottoms
    squares = np.maximum(tt - 2 * ratios * tb + ratios * ratios * bb, 0.0)
    errors = np.sqrt(n / (n - 1) * squares) / bottoms
    usable = errors > error * 1e-6
    t = np.sort((ratios[usable] - ratio) / errors[usable])
    if not len(t):
        return ratio, ratio
    tail = (1 - level) / 2
    return ratio - _quantile(t, 1 - tail) * error, ratio - _quantile(t, tail) * error


def bca(
    numerators: Sequence[int], denominators: Sequence[int], resampling: Resampling, *, level: float = 0.95
) -> tuple[float, float]:
    """The bias-corrected and accelerated interval, acceleration by leaving out one clip at a time."""
    import numpy as np

    top, bottom = _arrays(numerators, denominators)
    sums = resampling.sums(np.stack([top, bottom], axis=1))
    ratio = sum(numerators) / sum(denominators)
    ratios = np.sort(sums[:, 0] / sums[:, 1])
    below = (np.count_nonzero(ratios < ratio) + np.count_nonzero(ratios <= ratio)) / (2 * len(ratios))
    bias = _normal.inv_cdf(min(max(below, 1e-6), 1 - 1e-6))
    rest_bottom = bottom.sum() - bottom
    left_out = (top.sum() - top) / np.where(rest_bottom == 0, 1, rest_bottom)
    spread = left_out.mean() - left_out
    cubed = float((spread**2).sum()) ** 1.5
    acceleration = float((spread**3).sum()) / (6 * cubed) if cubed else 0.0
    tail = (1 - level) / 2
    ends = []
    for share in (tail, 1 - tail):
        z = bias + _normal.inv_cdf(share)
        ends.append(_quantile(ratios, _normal.cdf(bias + z / (1 - acceleration * z))))
    return ends[0], ends[1]


def _exact_bound(estimate: float, clips: int, level: float, floor: float, span: float) -> Interval:
    unseen = 1 - ((1 - level) / 2) ** (1 / clips)
    return Interval(
        estimate=estimate,
        low=max(estimate - unseen * span, floor),
        high=min(estimate + unseen * span, span),
        level=level,
        clips=clips,
        standard_error=None,
        method="exact_bound",
    )


def _arrays(numerators: Sequence[int], denominators: Sequence[int]) -> "tuple[Ints, Ints]":
    import numpy as np

    return np.array(numerators, dtype=np.int64), np.array(denominators, dtype=np.int64)


def _quantile(ordered: "Floats | NDArray[Any]", share: float) -> float:
    """By linear interpolation between order statistics."""
    place = (len(ordered) - 1) * share
    low = math.floor(place)
    high = min(low + 1, len(ordered) - 1)
    return float(ordered[low] + (ordered[high] - ordered[low]) * (place - low))
