"""Things on the road: narrower than any car, and where they came from. Pure."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from vlmrec.observer.paths import Path

Floats = NDArray[np.float64]

NARROW = 0.95  # camera heights: no car is narrower
WIDEST, SLACK = 92.0, 1.2  # percentile of a thing's width, and how much wider than that it may seem now and then
WIDE, WIDER = 0.85, 1.6  # camera heights, and times the thing's width: a vehicle it parted from is at least that wide
NEAR, FAR = 30.0, 15.0  # px: distance rows at which a thing's width, and a vehicle's, is told
LATE, EARLY = 1.6, 1.8  # s before the contact
AROUND = (1.0, 1.5)  # s before and after a thing is first followed, in which the vehicle is looked for
SAME_ROW = 0.15  # of a distance row: further apart, the thing was not at the vehicle
SAME_LANE = 0.45  # lanes
SEEN = 6  # sightings of the vehicle
# s, and sightings of a vehicle before a thing fell from it, and of the thing
BEFORE, LEAST_BEFORE, LEAST_AFTER = 1.0, 6, 4
# of the ego's pace: the vehicle's, at least, and the thing's in the half second after, at most: braking does less
KEPT, FELL_BACK = 0.7, 0.55


def small(path: Path, time: float) -> float:
    """Confidence that it is a thing on the road: narrower than any car whenever it was near and whole.

    One that shows a vehicle's width now and then is a vehicle, a side of which is often lost in the road's colour.
    """
    width, most = _width(path, time), _width(path, time, WIDEST)
    return 0.8 if width is not None and most is not None and width < NARROW and most < SLACK * NARROW else 0.0


def shed(path: Path, paths: Sequence[Path], time: float) -> bool:
    """Whether it parted from a vehicle: the foot that is followed was a vehicle's first, and something much narrower's at
    the end; or a vehicle was just there, in the same lane and row, where the thing was first followed.
    """
    narrow = _width(path, time)
    if narrow is None:
        return False
    early = (path.times < time - EARLY) & (path.near > FAR)
    if early.sum() >= 6 and _parts(float(np.median(path.span[early])), narrow):
        return True
    return _vehicle_sightings(path, paths, narrow) >= SEEN


def fell_off(path: Path, ways: Floats, time: float) -> bool:
    """Whether what is followed was a vehicle that drove on, and from one picture to the next is a thing that falls back.

    A vehicle of which a side is lost in the road's colour becomes narrower, too, but doesn't stop dead. ``ways`` is the
    ego's way at its sightings.
    """
    seen = ~path.cut & (path.times <= time) & (path.times > time - LATE - BEFORE)
    if not seen.any():
        return False
    end = float(path.times[seen][np.argmax(path.near[seen])])  # afterwards the vehicle may be followed again
    told = seen & ~path.hidden & (path.times <= end)
    for start in path.times[told & (path.times > time - LATE)]:
        after, before = told & (path.times >= start), told & (path.times < start) & (path.times > start - BEFORE)
        if after.sum() < LEAST_AFTER or before.sum() < LEAST_BEFORE:
            continue
        narrow = float(path.span[after].max())
        if narrow < NARROW and _parts(float(np.median(path.span[before])), narrow):
            return _pace(path, ways, before) > KEPT and _pace(path, ways, after) < FELL_BACK
    return False


def _pace(path: Path, ways: Floats, use: NDArray[np.bool_]) -> float:
    """Its pace along the road as a share of the ego's."""
    slope, _ = np.polyfit(ways[use], 1 / path.near[use], 1, w=path.near[use])
    return 1 + float(slope)


def _width(path: Path, time: float, share: float = 50.0) -> float | None:
    """A percentile of its width near the end, camera heights; None where it was hardly seen whole."""
    late = (path.near > NEAR) & ~path.cut & ~path.hidden & (path.times > time - LATE) & (path.times <= time)
    return float(np.percentile(path.span[late], share)) if late.sum() >= 4 else None


def _parts(wide: float, narrow: float) -> bool:
    return wide > WIDE and wide > WIDER * narrow


def _vehicle_sightings(path: Path, paths: Sequence[Path], narrow: float) -> int:
    """How often something as wide as a vehicle was seen where and about when the thing was first followed."""
    start, row = float(path.times[0]), float(np.median(path.near[:5]))
    if row < FAR or row > 0.5 * float(path.near.max()):
        return 0
    count = 0
    for other in paths:
        there = (other.times > start - AROUND[0]) & (other.times < start + AROUND[1])
        there &= (np.abs(other.near - row) < SAME_ROW * row) & (np.abs(other.beside) < SAME_LANE) & ~other.cut
        count += int((there & (other.span > max(NARROW, WIDER * narrow))).sum())
    return count
