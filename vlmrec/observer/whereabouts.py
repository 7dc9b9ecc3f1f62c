"""Where a vehicle was before anybody moved: beside the ego, in a lane, or beyond the road's edge. Pure."""

import numpy as np
from numpy.typing import NDArray

from vlmrec.observer.lanes import Lanes, paint_at
from vlmrec.observer.measure import Measures
from vlmrec.observer.paths import HALF_WIDTHS, Path
from vlmrec.observer.scene import Keeping, Place
from vlmrec.observer.sideways import FAR

Floats = NDArray[np.float64]

# share of a line that is painted: less is no line (kerbs and cracks give as much), more is one
FAR_PAINT = (0.31, 0.35)
DASHED = (0.3, 0.6)  # share of a broken line that is painted
HUGS = 0.12  # lanes between a line and the side of what stands behind it: in the middle of a lane it is twice that
PLAIN = 0.55  # share of a far line that is painted: more is a solid one, whatever else there is
NO_LANE = 0.87  # lanes between a line and the kerb: no lane fits in
LEAST_CLEAR = 6  # sightings near enough to tell a lane by


def beside_at_first(
    path: Path, before: NDArray[np.bool_], early: NDArray[np.bool_], keeping: Keeping, own: Keeping, home: float
) -> float:
    """Lanes right of the ego before anybody moved. One first seen when the ego had begun to move is told by its place on the
    road: where it is seen best, if it kept its lane, for a far row that is a little off is half a lane off.
    """
    if not own.moves or path.times[0] <= own.moves[0].start:
        return float(np.median(path.beside[early]))
    clear = before & (path.near >= FAR)
    settled = keeping.kept > 0 and clear.sum() >= LEAST_CLEAR
    return float(np.median(path.across[clear if settled else early])) - home


def middle_of(path: Path, early: NDArray[np.bool_], comb: Lanes) -> float:
    """Its middle, in lanes right of the camera: at least half the narrowest vehicle beyond the side that faces the ego's way."""
    middle, side = float(np.median(path.beside[early])), float(np.median(path.inner[early]))
    least = HALF_WIDTHS[0] / comb.spacing
    return (
        float(np.sign(middle)) * max(abs(middle), abs(side) + least)
        if abs(side) > least and middle * side > 0
        else middle
    )


def place_of(
    path: Path, measures: Measures, comb: Lanes, early: NDArray[np.bool_], beside: float, stood: bool
) -> Place | None:
    """In a lane when paint lies on its far side too; beyond the edge when there is none, but a solid line on the near side.

    Kerbs and cracks give some paint, too: what stands close behind a solid line, not in the middle of a lane, is beyond
    the edge unless the far line is plain. What stands between a solid line and a kerb close behind it is beyond the edge.
    """
    lane = int(np.floor(float(np.median(path.ego[early])) + beside))
    right = beside > 0
    near_line, far_line = (lane, lane + 1) if right else (lane + 1, lane)
    until = measures.times <= path.times[early][-1] + 0.3
    near_paint = np.nanmean(_shown(paint_at(measures.profiles, measures.clear, comb, near_line)[until]))
    far_paint = np.nanmean(_shown(paint_at(measures.profiles, measures.clear, comb, far_line)[until]))
    if right and near_paint > 0.75 and _before_kerb(measures, near_line, float(np.median(path.ego[early])) + beside):
        return "edge"
    behind = (1 if right else -1) * (float(np.median((path.inner + path.ego)[early])) - near_line)
    if stood and near_paint > 0.75 and FAR_PAINT[0] <= far_paint < PLAIN and 0.4 < abs(beside) < 1.4:
        return "edge" if right and behind < HUGS else None  # on the left is the middle of the road, or a one-way street
    if abs(beside) <= 0.4 or far_paint > FAR_PAINT[1]:
        return "lane"
    if DASHED[0] < near_paint < DASHED[1]:
        return "lane" if abs(beside) < 1.4 else None  # beyond a broken line lies a lane
    return "edge" if right and far_paint < FAR_PAINT[0] and near_paint > 0.75 and abs(beside) < 1.4 else None


def _before_kerb(measures: Measures, line: int, place: float) -> bool:
    """Whether ``place`` lies between ``line`` and a kerb that follows so soon that there is no lane between them."""
    kerb = measures.footway.kerb if measures.footway is not None else np.inf
    return line < place < kerb and kerb - line < NO_LANE


def _shown(values: Floats) -> Floats:
    return values if np.isfinite(values).any() else np.zeros(1)
