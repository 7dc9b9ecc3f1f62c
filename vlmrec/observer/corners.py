"""How far the front corner of a vehicle of a row has moved on just before the ego passes it. Pure.

Of a vehicle beside the ego's way, the edge nearest to the vanishing point is its front corner. The place of its side across
the road, over the columns between that edge and the vanishing point, is the corner's distance; with the ego's own way it
makes the corner's place along the road. What stands keeps that place. Of what comes over towards the ego, or moves on, the
corner stays nearer to the vanishing point, as if it stood further ahead.

From afar the front wheel is the edge, from close by the bumper, which doesn't reach down to the road: so even what stands
seems to move on by as much as lies between the two, all at once. How much that is, the rest of the row says; and what moves
goes on moving up to the last.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

LEAST_OUT, NEAR_OUT = 40.0, 100.0  # px from the vanishing point to the edge: enough to tell a distance; close by
BACK, SETTLED, LATE = 2.0, 0.45, 0.21  # s before it was last seen: it keeps its place from first to second, then moves
SEEN, SHOWN = 4, 2  # sightings, in the one time and in the other
AGREE, SHARE = 0.04, 0.4  # of its columns: this share of its edges lie as close to where one that stands has them
LAST, FALLEN_BACK = 0.1, 0.5  # s, the last pictures; camera heights: what moves back by that is another thing
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
    """Up to ``time`` a corner moved on by ``along`` (1/px of way); moved across alone, it would be by ``over`` camera heights.

    ``lately`` is how much of that was in the last pictures, None where there are too few.
    """

    time: float
    along: float
    over: float
    lately: float | None


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
    place, count = _kept_place(ways[before], outs[before] / sides[before])
    if count < max(SEEN, SHARE * before.sum()) or not LENGTH[0] < place - rear < LENGTH[1]:
        return None
    ahead = np.sort(places[late] - place)
    along = float(ahead[len(ahead) // 2])
    last, then = late & (times > times[-1] - LAST), late & (times <= times[-1] - LAST)
    lately = None
    if then.any() and last.any():
        lately = float((np.median(places[last]) - np.median(places[then])) * np.median(outs[last]))
        if lately < -FALLEN_BACK:
            return None
    return Advance(float(times[-1]), along, along * float(np.median(outs[late])), lately)


def _moving(corners: Sequence[Corner]) -> list[Corner]:
    """Without edges that stay in one place of the picture: by night that is the end of the headlights' light."""
    times, outs = np.array([c.time for c in corners]), np.array([c.out for c in corners])
    kept = []
    for corner in corners:
        same = (np.abs(times - corner.time) < STUCK_FOR) & (np.abs(outs - corner.out) <= max(2.0, STUCK * corner.out))
        if corner.out < NEAR_OUT or same.sum() < 3:
            kept.append(corner)
    return kept


def _kept_place(ways: Floats, slopes: Floats) -> tuple[float, int]:
    """The place along the road that most edges fit, and how many they are; by their columns, for a far one tells little."""
    places = ways + 1 / slopes
    fits = [np.abs((place - ways) * slopes - 1) < AGREE for place in places]
    best = max(fits, key=lambda fit: int(fit.sum()))
    return float(np.median(places[best])), int(best.sum())
