"""How far the front corner of a vehicle of a row has moved on just before the ego passes it. Pure.

Of a vehicle beside the ego's way, the edge nearest to the vanishing point is its front corner. The place of its side across
the road, over the columns between that edge and the vanishing point, is the corner's distance; with the ego's own way it
makes the corner's place along the road. What stands keeps that place. Of what comes over towards the ego, or moves on, the
corner stays nearer to the vanishing point, as if it stood further ahead.

From afar the front wheel is the edge, from close by the bumper, which doesn't reach down to the road: so even what stands
seems to move on by as much as lies between the two. How much that is, the rest of the row says.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

LEAST_OUT, NEAR_OUT = 50.0, 100.0  # px from the vanishing point to the edge: enough to tell a distance; close by
BACK, SETTLED, LATE = 2.0, 0.45, 0.21  # s before it was last seen: it keeps its place from first to second, then moves
SEEN, SHOWN = 4, 2  # sightings, in the one time and in the other
SPREAD, SHARE = 0.0012, 0.4  # 1/px, well under a metre: of its places, this share lie as close together as that
LENGTH = (0.004, 0.015)  # 1/px from its rear end to its corner: a vehicle's length for any usual camera
FARTHEST = 0.02  # 1/px from its rear end: a corner beyond is the next one's
STUCK, STUCK_FOR = 0.015, 0.28  # of the columns, and s to either side: what stays there is not passed by


class Corner(NamedTuple):
    """The inner edge in one picture: ``out`` px from the vanishing point; ``side`` is its side's place, camera heights off."""

    time: float
    way: float  # the ego's
    out: float
    side: float


class Advance(NamedTuple):
    """Up to ``time`` a corner moved on by ``along`` (1/px of way); moved across alone, it would be by ``over`` camera heights."""

    time: float
    along: float
    over: float


def advance(corners: Sequence[Corner], rear: float) -> Advance | None:
    """How far a corner moved on at last from the place that it had kept; None where it kept none, or none that a vehicle has
    whose rear end is at ``rear``.
    """
    kept = _moving([c for c in corners if c.out > 0 and 0 < c.way + c.side / c.out - rear < FARTHEST])
    if len(kept) < SEEN + SHOWN:
        return None
    times, ways, outs, sides = (np.array(values) for values in zip(*kept, strict=True))
    places = ways + sides / outs
    before = (times > times[-1] - BACK) & (times < times[-1] - SETTLED) & (outs > LEAST_OUT)
    late = (times > times[-1] - LATE) & (outs > NEAR_OUT)
    if before.sum() < SEEN or late.sum() < SHOWN:
        return None
    place, share = _densest(places[before])
    if share < SHARE or share * before.sum() < SEEN or not LENGTH[0] < place - rear < LENGTH[1]:
        return None
    ahead = np.sort(places[late] - place)
    along = float(ahead[(len(ahead) - 1) // 2])
    return Advance(float(times[-1]), along, along * float(np.median(outs[late])))


def _moving(corners: Sequence[Corner]) -> list[Corner]:
    """Without edges that stay in one place of the picture: by night that is the end of the headlights' light."""
    times, outs = np.array([c.time for c in corners]), np.array([c.out for c in corners])
    kept = []
    for corner in corners:
        same = (np.abs(times - corner.time) < STUCK_FOR) & (np.abs(outs - corner.out) <= max(2.0, STUCK * corner.out))
        if corner.out < NEAR_OUT or same.sum() < 3:
            kept.append(corner)
    return kept


def _densest(places: Floats) -> tuple[float, float]:
    """The median of those places that lie closest together, and their share."""
    ordered = np.sort(places)
    counts = np.searchsorted(ordered, ordered + SPREAD, side="right") - np.arange(len(ordered))
    first = int(np.argmax(counts))
    return float(np.median(ordered[first : first + counts[first]])), float(counts[first]) / len(ordered)
