"""Whether only a line parts the two directions: then it is an ordinary road. Pure.

A yellow line on the ego's left doesn't say so by itself: a motorway's left edge line is yellow too, where yellow lines
part the directions. What stands beside it tells them apart: a barrier hides the ground behind it from a camera that
is hardly twice as high, and behind a line there is road.
"""

import numpy as np
from numpy.typing import NDArray

from vlmrec.observer.lanes import REACH, STEP, Lanes, in_view, paint_at, road_strip
from vlmrec.observer.measure import Measures

Floats = NDArray[np.float64]

LINES = (0, -1, -2, -3)  # of the comb, from the ego's own left one on
GOLDEN = 0.2  # of a line's length that is yellow
WORN, MOSTLY = 0.06, 0.5  # the same of the ego's own left line where most of its paint is yellow
FRAMES = 10  # in which a line is seen, at least
BEHIND = (0.35, 0.6)  # lanes left of the line: a barrier stands nearer to it, and the ground there is what it hides
OPEN = 0.6  # of the ground's rows that the picture has room for: as much is seen where nothing stands in front
IN_PICTURE = 0.05  # of a column's rows: where the picture has room for fewer, nothing is said
FAR_EDGE = 0.7  # lanes beyond the line at which the road ends: that was another lane


def undivided(measures: Measures, lanes: Lanes, time: float) -> bool:
    """A yellow line left of the camera, seen for most of the time until ``time``, with road behind it."""
    until = measures.times < time
    return any(_yellow(measures, lanes, line, until) and _open(measures, lanes, line, until) for line in LINES)


def _yellow(measures: Measures, lanes: Lanes, line: int, until: NDArray[np.bool_]) -> bool:
    painted = paint_at(measures.profiles, measures.clear, lanes, line)[until]
    golden = paint_at(measures.yellows, measures.clear, lanes, line)[until]
    known = np.isfinite(painted)
    amount = float(np.mean(golden[known])) if known.sum() > FRAMES else 0.0
    return amount > GOLDEN or (line == 0 and amount > WORN and amount > MOSTLY * float(np.mean(painted[known])))


def _open(measures: Measures, lanes: Lanes, line: int, until: NDArray[np.bool_]) -> bool:
    """The ground behind the line is seen, or the road's end was found a lane further on."""
    edge = measures.edges.left if measures.edges is not None else -np.inf
    if np.isfinite(edge) and edge <= line - FAR_EDGE:
        return True
    room = _room(measures)
    shares = []
    for clear, offset in zip(measures.clear[until], lanes.offset[until], strict=True):
        far, near = ((line - aside - offset) * lanes.spacing for aside in reversed(BEHIND))
        first, last = round((far + REACH) / STEP), round((near + REACH) / STEP) + 1
        if first >= 0 and float(room[first:last].mean()) > IN_PICTURE:
            shares.append(float(clear[first:last].mean() / room[first:last].mean()))
    return len(shares) > FRAMES and float(np.median(shares)) > OPEN


def _room(measures: Measures) -> Floats:
    """Share of each column's rows that lie in the picture and above the bonnet, on a road with nothing on it."""
    width, height = measures.size
    room = in_view(road_strip(measures.point, (width, height), 0.93 * height), measures.model)
    return np.asarray(room.mean(axis=0), np.float64)
