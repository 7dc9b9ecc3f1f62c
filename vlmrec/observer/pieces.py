"""Pieces of way that belong to one vehicle, joined by their places on the road. Pure.

What hides a standing vehicle for a while, or changes its look as it comes near, breaks its track in two. Its place along
the road, the ego's way plus the distance, and its place across stay the same, so that the pieces are known as one. And
nothing appears out of nowhere in the middle of the road, close ahead: what begins to be followed there is what was
followed up to then in the same place, no more than a vehicle's length away.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from vlmrec.observer.paths import Path

Floats = NDArray[np.float64]

ALONG = 0.004  # 1/px of way: some two metres for any usual camera, well under a vehicle's length
ACROSS = 0.08  # lanes
HIDDEN, SHARED = 1.2, 0.35  # s that a vehicle may be out of sight between two pieces, and that both may be followed
LEAST = 4  # sightings that a place is the median of
SPRUNG = 2  # first sightings away from the picture's edge: it did not come in from there
APPEARED = 60.0  # px: a distance row; nearer than this nothing comes into sight but from the picture's edge
LONG, ASIDE = 0.012, 0.3  # 1/px of way, a vehicle's length; lanes: between an end and what takes over there
# s that the earlier one was followed at least; and between its end and the later's beginning
FOLLOWED, PAUSE = 1.0, 0.3
ROOM_ASIDE, ROOM_AHEAD = 0.45, 0.008  # lanes, and 1/px of distance: two vehicles are further apart in one or the other
NO_ROOM = 0.15  # lanes between the sides of two vehicles beside each other, at least
NEAREST = 16.0  # px: a distance row; farther away, a row more or less is more than ``ALONG``


def joined(paths: Sequence[Path], times: Floats, way: Floats) -> tuple[Path, ...]:
    """The same ways, pieces of one standing vehicle joined under the later one's number. ``way`` is the ego's at ``times``."""
    found = list(paths)
    for path in sorted(paths, key=lambda path: (float(path.times[0]), path.number)):
        later = next((index for index, other in enumerate(found) if other.number == path.number), None)
        if later is None:
            continue
        before = [place for place, other in enumerate(found) if _are_one(other, found[later], times, way)]
        if not before:
            before = [place for place, other in enumerate(found) if _takes_over(other, found[later])]
            before = before if len(before) == 1 else []
        if before:
            last = max(before, key=lambda place: (float(found[place].times[-1]), -found[place].number))
            found[later] = appended(found[last], found[later])
            del found[last]
    return tuple(found)


def _are_one(earlier: Path, later: Path, times: Floats, way: Floats) -> bool:
    """Whether one ends where, and about when, the other begins."""
    pause = float(later.times[0] - earlier.times[-1])
    if earlier.number == later.number or not -SHARED <= pause <= HIDDEN or earlier.times[0] >= later.times[0]:
        return False
    if later.times[-1] <= earlier.times[-1]:
        return False
    end, start = _end(earlier, times, way, slice(-LEAST, None)), _end(later, times, way, slice(0, LEAST))
    if end is None or start is None:
        return False
    return abs(end[0] - start[0]) < ALONG and abs(end[1] - start[1]) < ACROSS


def _takes_over(earlier: Path, later: Path) -> bool:
    """Whether the later one appears in mid-road, close ahead, where the earlier one, coming nearer, is lost."""
    start = float(later.times[0])
    pause = start - float(earlier.times[-1])
    if earlier.number == later.number or not -PAUSE <= pause <= PAUSE or later.times[-1] <= earlier.times[-1]:
        return False
    if start - earlier.times[0] < FOLLOWED or len(later.times) < LEAST or later.cut[:SPRUNG].any():
        return False
    last = int(np.flatnonzero(earlier.times <= start + 1e-3)[-1])
    row, then = float(later.near[0]), float(earlier.near[last])
    if row < max(APPEARED, then) or earlier.cut[last] or 1 / then - 1 / row > LONG:
        return False
    sides = abs(float(earlier.beside[last] - later.beside[0])), abs(float(earlier.inner[last] - later.inner[0]))
    return min(sides) < ASIDE


def coincide(a: Path, b: Path) -> bool:
    """Whether two run where only one vehicle has room: parts of one, such as its rear and its side."""
    both = np.intersect1d(a.times, b.times)
    if len(both) < 3:
        return False
    a, b = a.part(np.isin(a.times, both)), b.part(np.isin(b.times, both))
    if float(np.median(np.abs(1 / a.near - 1 / b.near))) >= ROOM_AHEAD:
        return False
    return float(np.median(np.abs(a.beside - b.beside))) < ROOM_ASIDE or _gap(a, b) < NO_ROOM


def _gap(a: Path, b: Path) -> float:
    """Lanes between two that are on one side of the camera's way."""
    side = float(np.sign(np.median(a.beside)))
    if side * float(np.median(b.beside)) <= 0:
        return float("inf")
    first, second = (a, b) if side * float(np.median(a.inner - b.inner)) <= 0 else (b, a)
    far_side = 2 * first.beside - first.inner
    return float(np.median(side * (second.inner - far_side)))


def _end(path: Path, times: Floats, way: Floats, part: slice) -> tuple[float, float] | None:
    """Its place along and across the road over one end; None where it is not whole and steady there."""
    good = np.flatnonzero(~path.blind & ~path.hidden & (path.near >= NEAREST))[part]
    if len(good) < LEAST or min(len(path.times) - good[-1], good[0] + 1) > LEAST:
        return None
    near, inner = path.near[good], (path.inner + path.ego)[good]
    places = np.interp(path.times[good], times, way) + 1 / near
    if float(np.ptp(places)) > ALONG or float(np.ptp(inner)) > ACROSS:
        return None
    return float(np.median(places)), float(np.median(inner))


def appended(earlier: Path, later: Path) -> Path:
    """Both pieces as one; where both saw it, the earlier, which had been followed for longer."""
    rest = later.times > earlier.times[-1]
    return later._replace(
        times=np.concatenate([earlier.times, later.times[rest]]),
        across=np.concatenate([earlier.across, later.across[rest]]),
        ego=np.concatenate([earlier.ego, later.ego[rest]]),
        near=np.concatenate([earlier.near, later.near[rest]]),
        inner=np.concatenate([earlier.inner, later.inner[rest]]),
        front=np.concatenate([earlier.front, later.front[rest]]),
        span=np.concatenate([earlier.span, later.span[rest]]),
        whole=np.concatenate([earlier.whole, later.whole[rest]]),
        width=max(earlier.width, later.width),
        cut=np.concatenate([earlier.cut, later.cut[rest]]),
        blind=np.concatenate([earlier.blind, later.blind[rest]]),
        hidden=np.concatenate([earlier.hidden, later.hidden[rest]]),
    )
