"""How far a vehicle that stood reaches towards the ego's way, whatever pieces it is seen in. Pure.

Close before the camera a vehicle that turns out shows its side, from the rear wheel to the front one, and breaks into
pieces: the picture cuts off its rear, and the front wheel, far out by then, begins a track of its own. But all of them
stand on the road within a vehicle's length of the place where it stood. The one that reaches farthest towards the ego's
way tells how far it came out: the side of what stays runs along the road, and reaches no farther at one end than at the
other.
"""

import numpy as np
from numpy.typing import NDArray

from vlmrec.observer.measure import Measures
from vlmrec.observer.paths import Path
from vlmrec.observer.sideways import LEAST, Ease, fit_ease

Floats = NDArray[np.float64]

NEAREST = 22.0  # px: a distance row; farther away, a row more or less is a metre or two
STOOD, PLACES = 1.0, 25  # s before the contact up to which its place is that where it stood, and sightings that tell it
# 1/px of way from its rear end: what lies between stands where it does, or is a part of it
BEHIND, AHEAD = 0.006, 0.014
BESIDE = 0.2  # lanes: what stands that much farther towards the ego's way as a whole is another thing
DOOR_REACH = (
    0.35  # lanes: an open door reaches less far, the less as its foot hangs above the road and seems farther off
)
BRIEFEST, LATEST = 0.6, 0.4  # s that it must be seen for, and before the contact by which it must still have been


def reach_ease(path: Path, measures: Measures, spacing: float, way: Floats, until: float) -> Ease | None:
    """The smooth step in how far it reaches, in lanes, up to ``until``; None where too little of it is seen.

    ``way`` is the ego's per frame, ``spacing`` the lane's width in camera heights.
    """
    times, places = reaches(path, measures, spacing, way, until)
    if len(times) < LEAST or times[-1] < until - LATEST or float(np.ptp(times)) < BRIEFEST:
        return None
    return fit_ease(times, places)


def reaches(path: Path, measures: Measures, spacing: float, way: Floats, until: float) -> tuple[Floats, Floats]:
    """Times, and how far the vehicle of ``path`` reaches, as the place in lanes of its side that faces the ego's way."""
    ways = np.interp(path.times, measures.times, way)
    told = (path.near >= NEAREST) & ~path.cut & ~path.hidden & (path.times < until - STOOD)
    nothing = np.zeros(0), np.zeros(0)
    if told.sum() < LEAST // 2:
        return nothing
    rear = float(np.median((ways + 1 / path.near)[told][-PLACES:]))
    side = float(np.median((path.inner + path.ego)[told][-PLACES:]))
    outwards = float(np.sign(np.median(path.inner)))
    found: list[tuple[float, float]] = []
    for frame, time in enumerate(measures.times):
        if not path.times[0] <= time <= until + 0.02:
            continue
        ego = float(np.interp(time, path.times, path.ego))
        reached = []
        for obstacle in measures.obstacles[frame]:
            feet = sorted(outwards * (foot / spacing + ego) for foot in (obstacle.foot_left, obstacle.foot_right))
            place = float(way[frame]) + 1 / obstacle.base
            if (
                obstacle.base >= NEAREST
                and rear - BEHIND <= place <= rear + AHEAD
                and feet[1] > outwards * side - BESIDE
            ):
                reached.append(outwards * feet[0])
        if reached:
            found.append((float(time), min(reached, key=lambda place: outwards * place)))
    return (np.array([time for time, _ in found]), np.array([place for _, place in found])) if found else nothing
