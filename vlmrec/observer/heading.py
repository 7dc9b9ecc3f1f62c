"""Which way the vehicle in contact went: with the ego, against it, or across its road. Pure."""

import itertools
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from vlmrec.observer.conduct import BACKWARDS, LEAST_WAY, Pace
from vlmrec.observer.paths import Path
from vlmrec.observer.scene import Heading, Keeping
from vlmrec.observer.sideways import SWEEPING, SWEPT, Ease
from vlmrec.observer.standing import STEADY

Floats = NDArray[np.float64]

BACKWARDS_EVEN = -0.65  # of the ego's pace, over all the way: what comes is quicker
KEPT_ASIDE, CROSSED = 0.8, 1.3  # lanes: what goes less aside may be setting off, what goes more crosses
IN_SIGHT = 1.0  # s before the contact that a vehicle must be seen for its heading to be told: who crosses comes into sight late
HARDLY = 0.45  # of the ego's pace: whoever crosses is not measured to go along the road more quickly
ALONG = 0.65  # of the ego's pace: what stays beside the ego has about its pace
LAST, STRUCK = (
    (0.45, 0.6, 0.9),
    0.03,
)  # s before the contact: stretches in which one that comes is looked for; and their end
LEAST_ROW, NEAREST = 20.0, 90.0  # px: rows that tell distance, and beyond which they tell it no better
SEEN, GROWN = 5, 2.0  # sightings; and times its row, that it comes nearer by
RUSHING, MISSED = -0.8, 2.0  # of the ego's pace, with twice its error; px by which its row may miss on average
ACROSS = 0.3  # of the ego's pace, with its error: who crosses is measured to go along the road no quicker
# lanes that it goes across in so short a time; and of these, what its places may miss on average
WENT, UNEVEN = 0.5, 0.15
COMING = -0.45  # of the ego's pace: what is measured so comes towards the ego


def heading_of(
    path: Path,
    time: float,
    whole: Pace | None,
    even: Pace | None,
    windows: Sequence[Pace],
    stood: float,
    fits: Sequence[Ease],
    keeping: Keeping,
) -> Heading | None:
    """Told by its pace along the road, over all of its way (``whole``, ``even``) and in parts (``windows``), and across it.

    None where that leaves it open.
    """
    heading = _measured(path, time, whole, even, windows, stood, fits)
    if heading == "same" and whole is not None and whole.share < HARDLY and _swept(keeping):
        return None  # as slow along the road, and as quick across it, as who crosses
    if heading == "same" and _gone_across(path, time):
        return None  # nobody changes lanes so quickly and steadily: what was seen of it before was something else
    return heading


def heading_at_last(path: Path, ways: Floats, time: float) -> Heading | None:
    """What shows in the last half second only: that it comes towards the ego much quicker than what stands, or goes across
    quicker than a lane change while it hardly goes along; steadily in every row. None where it is neither.

    Who comes over from the other side, or out of a side road, is often seen so late, or where a vehicle ahead had been up
    to then. ``ways`` is the ego's way at its sightings.
    """
    for length in LAST:
        use = (path.times > time - length) & (path.times < time - STRUCK) & (path.near >= LEAST_ROW) & ~path.hidden
        pace = _steady_pace(path, ways, use & ~path.cut)
        grown = float(path.near[use].max() / path.near[use].min()) if use.any() else 0.0
        if pace is not None and pace[0] + 2 * pace[1] < RUSHING and grown >= GROWN:
            return "oncoming"
        if pace is not None and abs(pace[0]) + pace[1] < ACROSS and _sweeping(path, use):
            return "crossing"
    return None


def _steady_pace(path: Path, ways: Floats, use: NDArray[np.bool_]) -> tuple[float, float] | None:
    """Its pace as a share of the ego's, and the standard error; None with too few sightings or rows that miss it by much."""
    if use.sum() < SEEN or float(np.ptp(ways[use])) < LEAST_WAY:
        return None
    way, rows, places = ways[use], np.minimum(path.near[use], NEAREST), 1 / path.near[use]
    middle, place = np.average(way, weights=rows**4), np.average(places, weights=rows**4)
    spread = float(((way - middle) ** 2 * rows**4).sum())
    slope = float(((way - middle) * (places - place) * rows**4).sum()) / spread
    missed = (places - place - slope * (way - middle)) * rows**2  # px
    error = float(np.sqrt((missed**2).sum() / (int(use.sum()) - 2) / spread))
    return (1 + slope, error) if float(np.abs(missed).mean()) < MISSED else None


def _sweeping(path: Path, use: NDArray[np.bool_]) -> bool:
    """Whether both its places go across the same way, steadily and quicker than in a lane change."""
    if use.sum() <= SEEN:
        return False
    times, rates = path.times[use], []
    for places in (path.across[use], (path.inner + path.ego)[use]):
        rate, place = np.polyfit(times, places, 1)
        gone = abs(float(rate)) * float(np.ptp(times))
        if gone < WENT or float(np.abs(places - rate * times - place).mean()) > UNEVEN * gone:
            return False
        rates.append(float(rate))
    return min(abs(rate) for rate in rates) >= SWEEPING and rates[0] * rates[1] > 0


def _measured(
    path: Path,
    time: float,
    whole: Pace | None,
    even: Pace | None,
    windows: Sequence[Pace],
    stood: float,
    fits: Sequence[Ease],
) -> Heading | None:
    along = whole is not None and abs(whole.share) > HARDLY  # what crosses hardly moves along the road
    seen = (path.times >= time - 0.5) & (path.times <= time + 0.05)
    if not along and seen.any() and any(ease.sweeps for ease in fits):
        return "crossing"
    if (stood > 0 or (whole is not None and not along)) and (across := _gone_across(path, time)) is not None:
        return "crossing" if across else None
    if stood > 0 and even is not None and even.share > BACKWARDS and even.error < STEADY:
        return "same" if time - path.times[0] >= IN_SIGHT else None  # who crosses, too, comes into sight late
    if whole is None or whole.error > 0.25 or _switched(windows):
        return None
    stopped = len(windows) > 1 and windows[0].share > HARDLY and all(p.share > BACKWARDS for p in windows)
    if whole.share > 0.2 or stopped:
        turned = bool(windows) and windows[-1].share < COMING  # it comes, whatever was followed before
        if whole.far_end and whole.share < ALONG:
            return None  # the far end of what is cut off slides along it as the vehicle goes by
        return "same" if time - path.times[0] >= IN_SIGHT and not turned else None
    if stood > 0 and whole.share > BACKWARDS:
        return "same" if time - path.times[0] >= IN_SIGHT else None
    oncoming = whole.share < COMING and windows and windows[-1].share < -0.6 and all(p.share < 0.2 for p in windows[:3])
    if oncoming and even is not None and even.error < STEADY and even.share > BACKWARDS_EVEN:
        return None  # steadily slower than anything that comes
    return "oncoming" if oncoming else None


def _swept(keeping: Keeping) -> bool:
    """Whether a move went across quicker than a lane change does."""
    return any(abs(m.shift) >= SWEPT and abs(m.shift) > SWEEPING * (m.end - m.start) for m in keeping.moves)


def _gone_across(path: Path, time: float) -> bool | None:
    """Whether one that stands along the road goes across it, steadily and quicker than a lane change; None where it keeps
    its place. False where it is neither.
    """
    use = (path.times <= time + 0.05) & (path.times > time - 1.6) & ~path.blind
    times, places = path.times[use], path.across[use]
    if len(times) < 8:
        return None
    slope, origin = np.polyfit(times, places, 1)
    gone = abs(float(slope)) * float(np.ptp(times))
    if gone < KEPT_ASIDE:
        return None
    rest = float(np.median(np.abs(places - (slope * times + origin))))
    return bool(gone >= CROSSED and abs(float(slope)) >= SWEEPING and rest < 0.15 * gone)


def _switched(windows: Sequence[Pace]) -> bool:
    """Whether the pace jumps as no vehicle's does: what is followed is first one thing and then another."""
    return any(abs(now.share - then.share) > 1.0 for then, now in itertools.pairwise(windows))
