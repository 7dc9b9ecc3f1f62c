"""One figure of two runs, contrasted over the clips they share: difference, interval, test, and what could be seen.

Yes-or-no facts of clips: McNemar's exact test and Tango's interval. Sums over items: a sign-flip test by clip and
a bootstrap by clip. Items of one clip are never taken for independent of each other.
"""

from collections.abc import Sequence
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from vlmrec.stats.intervals import Interval, interval
from vlmrec.stats.paired import mcnemar_exact, sign_flip
from vlmrec.stats.power import Detectable, detectable_mean, detectable_outcome, holm
from vlmrec.stats.shares import paired_interval

ALPHA = 0.05
NO_DIFFERENCE = "no difference"
FEW_DISCORDANT = 10
"""Below this many differing clips a test has little to go by, whatever the number of clips."""


class Contrast(Struct, frozen=True, kw_only=True):
    """Run ``b`` less run ``a``, by their places in the order named. Shares are of clips or of items."""

    a: int
    b: int
    metric: str
    unit: Literal["clip", "item"]
    clips: int
    items: int
    share_a: float | None
    share_b: float | None
    count_a: int
    count_b: int
    differing: int
    """Clips on which the two differ; all else says nothing."""
    difference: Interval
    p: float
    p_adjusted: float
    """Holm's, over the family: every contrast of the same unit in the comparison."""
    verdict: str
    """``no difference``, ``higher`` or ``lower``: of run ``b``, at 5 % after correction."""
    detectable: Detectable
    """What this many clips could have shown, at the family's strictest level."""


def clip_contrast(a: int, b: int, metric: str, of_a: Sequence[bool], of_b: Sequence[bool]) -> Contrast:
    """A fact of clips, clip by clip in one order."""
    clips = len(of_a)
    only_a = sum(x and not y for x, y in zip(of_a, of_b, strict=True))
    only_b = sum(y and not x for x, y in zip(of_a, of_b, strict=True))
    test = mcnemar_exact(only_b, only_a)
    return Contrast(
        a=a,
        b=b,
        metric=metric,
        unit="clip",
        clips=clips,
        items=clips,
        share_a=sum(of_a) / clips if clips else None,
        share_b=sum(of_b) / clips if clips else None,
        count_a=sum(of_a),
        count_b=sum(of_b),
        differing=only_a + only_b,
        difference=paired_interval(only_b, only_a, clips),
        p=test.p,
        p_adjusted=test.p,
        verdict=NO_DIFFERENCE,
        detectable=detectable_outcome(clips, only_a + only_b),
    )


def item_contrast(
    a: int,
    b: int,
    metric: str,
    of_a: Sequence[int],
    of_b: Sequence[int],
    items: Sequence[int],
    *,
    seed: int,
    resamples: int,
) -> Contrast:
    """A count of items, summed within each clip; ``items`` says of how many."""
    differences = [y - x for x, y in zip(of_a, of_b, strict=True)]
    total = sum(items)
    test = sign_flip(differences, seed=seed)
    difference = interval(differences, items, of="difference", seed=seed, resamples=resamples)
    return Contrast(
        a=a,
        b=b,
        metric=metric,
        unit="item",
        clips=sum(1 for count in items if count),
        items=total,
        share_a=sum(of_a) / total if total else None,
        share_b=sum(of_b) / total if total else None,
        count_a=sum(of_a),
        count_b=sum(of_b),
        differing=test.differing,
        difference=difference,
        p=test.p,
        p_adjusted=test.p,
        verdict=NO_DIFFERENCE,
        detectable=detectable_mean(difference.standard_error, difference.clips),
    )


def corrected(contrasts: Sequence[Contrast]) -> tuple[Contrast, ...]:
    """One family of contrasts, with Holm's correction, verdicts, and what could be seen at its strictest level."""
    adjusted = holm([contrast.p for contrast in contrasts])
    alpha = ALPHA / max(1, len(contrasts))
    return tuple(
        replace(contrast, p_adjusted=p, verdict=_verdict(contrast, p), detectable=_detectable(contrast, alpha))
        for contrast, p in zip(contrasts, adjusted, strict=True)
    )


def _verdict(contrast: Contrast, p: float) -> str:
    if p > ALPHA or not contrast.difference.estimate:
        return NO_DIFFERENCE
    return "higher" if contrast.difference.estimate > 0 else "lower"


def _detectable(contrast: Contrast, alpha: float) -> Detectable:
    if contrast.unit == "clip":
        return detectable_outcome(contrast.clips, contrast.differing, alpha=alpha)
    return detectable_mean(contrast.difference.standard_error, contrast.difference.clips, alpha=alpha)
