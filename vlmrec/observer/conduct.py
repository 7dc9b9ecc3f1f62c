"""How another vehicle drove: its pace against the ground, and whether it stood. Pure.

A foot at row ``q`` comes nearer by ``d(1/q) = -d(way)`` for a thing that stands, where ``way`` is the ego's own way in
the same unit. The slope of ``1/q`` over the way is therefore -1 for what stands, 0 for what keeps its distance.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from vlmrec.observer.lanes import Lanes
from vlmrec.observer.paths import Path

Floats = NDArray[np.float64]

STANDS = 0.16  # of the ego's pace: what is slower stands
BACKWARDS = -0.35  # the same for measuring it too small: the ego's own pace is known no better
BESIDE = 2.0  # s within which the ego drives past whatever stands or comes towards it
FAR_END = (0.16, 0.2)  # of the picture's height: rows that a vehicle's far end has nearly always, and usually
# of the picture's height: the far end of one that is ahead, at most, and of one beside, at least
AHEAD, LEVEL = 0.16, 0.26
NEXT = 0.85  # lanes between the camera and the near side of one in the next lane, at most
# of the row at which its side enters the picture: the row of its far end, where it is seen no longer than that
SHORT = 0.5
BUMPER = 0.85  # of the row below it on the road: the row of a bumper's lower edge, a sixth of the camera's height up
WATCHED = 4  # sightings a second before that it takes to say that it has been beside the ego all the while
LEAST_WAY = 0.006  # of the ego's own way, in 1/px: below it nothing can be said


class Pace(NamedTuple):
    """A vehicle's own pace as a share of the ego's. ``error`` is its standard error."""

    share: float
    error: float
    start: float
    end: float
    far_end: bool = False  # told by the far end of one cut off by the picture's edge


def pace_over(path: Path, way: Floats, first: float, last: float, even: float = np.inf) -> Pace | None:
    """The pace between two times. ``way`` is the ego's way at the path's sightings. None where it can't be had.

    Rows below ``even`` px weigh no more than that one: the ego's way is not known as well as the nearest rows are.
    """
    inside = (path.times >= first) & (path.times <= last)
    use, rows = inside & (path.near >= 22) & ~path.cut & ~path.hidden, path.near
    far_end = use.sum() < 6
    if far_end:  # cut off by the picture's edge, its far end may still be seen
        use, rows = inside & path.cut & (path.front >= 22) & (path.front < 0.92 * path.near), path.front
    if use.sum() < 6:
        return None
    x, y, weight = way[use], 1 / rows[use], np.minimum(rows[use], even) ** 4  # an error of a pixel weighs 1/q² in 1/q
    span = float(np.ptp(x))
    if span < LEAST_WAY:
        return None
    middle_x, middle_y = np.average(x, weights=weight), np.average(y, weights=weight)
    inertia = float((weight * (x - middle_x) ** 2).sum())
    if inertia <= 0:
        return None
    slope = float((weight * (x - middle_x) * (y - middle_y)).sum()) / inertia
    rest = y - middle_y - slope * (x - middle_x)
    error = float(np.sqrt((weight * rest**2).sum() / inertia / max(use.sum() - 2, 1)))
    return Pace(1 + slope, error, float(path.times[use][0]), float(path.times[use][-1]), bool(far_end))


def pace_alongside(path: Path, until: float, height: int) -> Pace | None:
    """The pace of what stays beside the camera, cut off by the picture's edge: the ego's, or it would be gone.

    Its far end must be near: a barrier stays, too, but reaches far ahead.
    """
    last = (path.times <= until) & (path.times > until - BESIDE)
    if last.sum() < 12 or path.times[last][0] > until - 0.9 * BESIDE or path.cut[last].mean() < 0.9:
        return None
    front = path.front[last] / height
    if float(np.percentile(front, 5)) < FAR_END[0] or float(np.median(front)) < FAR_END[1]:
        return None
    return Pace(1.0, 0.1, float(path.times[last][0]), float(path.times[last][-1]))


def level_with(path: Path, first: float, size: tuple[int, int], lanes: Lanes | None, dark: bool) -> bool | None:
    """Beside the ego at ``first``, when somebody began to move: rear out of the picture, front hardly ahead. None: in between.

    One that is just going past is in between, too, and by night the edge of the headlights' pool may be what is seen.
    The side of one in the next lane enters the picture a car's length or less ahead of the camera; if what is seen of
    it is no longer than the way to there, its rear is no farther ahead than the ego's own front. Its far end is a bumper.
    """
    width, height = size
    around, before = np.abs(path.times - first) <= 0.5, np.abs(path.times - first + 1.0) <= 0.5
    if not around.any() or path.cut[around].mean() < 0.7:
        return False
    front = float(np.median(path.front[around]))
    if front < AHEAD * height:
        return False
    steady = before.sum() >= WATCHED and 0.7 < float(np.median(path.front[before])) / front < 1.4
    aside = abs(float(np.median(path.inner[around])))
    enters = width / 2 / (aside * lanes.spacing) if lanes is not None and aside < NEXT else np.inf
    return True if (front > LEVEL * height or front >= BUMPER * SHORT * enters) and steady and not dark else None


def paces(path: Path, way: Floats, until: float, length: float = 0.8) -> list[Pace]:
    """Paces over windows of ``length`` seconds, half overlapping, up to ``until``."""
    found = []
    start = float(path.times[0])
    while start < until - 0.5 * length:
        pace = pace_over(path, way, start, min(start + length, until))
        if pace is not None and pace.error < 0.25:
            found.append(pace)
        start += length / 2
    return found
