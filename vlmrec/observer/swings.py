"""Who swung out of a row of standing vehicles into the side of a passing ego. Pure.

Only what is beside the ego can touch its side: the one whose place along the road the ego has reached when the camera is
knocked. The side of a standing vehicle keeps its place across the road, and is seen there over all the way that the ego
comes nearer; one that swings out comes over just before it leaves the picture. That is a tenth of a lane or two, and
shadows and wheels make others seem to come over by half of that, so the rest of the row says what is an error of measuring.
Its front corner (``corners.py``) is in sight for longer than the foot of its side, and by then has come over further.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from vlmrec.observer.candidates import Candidate, is_dark
from vlmrec.observer.corners import Corner, advance
from vlmrec.observer.lanes import Lanes
from vlmrec.observer.measure import Measures
from vlmrec.observer.paths import Path
from vlmrec.observer.rows import Row
from vlmrec.observer.tracks import Track

Floats = NDArray[np.float64]

NEAR = 25.0  # px: a distance row
LATE, BEFORE = 0.6, 2.2  # s before it was last seen: within the first it swings out, between the two it stands
STOOD, LEFT = 4, 3  # pictures in these times
STEADY = (
    0.06  # lanes off their middle, half of the places of a standing side at most: else it is not the side that is seen
)
MOST = 0.5  # lanes: what seems to come over further before it leaves the picture is another thing
UNSEEN = 0.6  # s at most from when it was last seen to the contact
OVER, RATHER = 0.06, 1.5  # lanes that it came over at least, and times what any other of the row seemed to
CORNER_OVER = 0.18  # lanes, the same of its front corner: what stands seems to come over by a tenth
# lanes, of one still moving over; what it did lately, and times any other's
MOVING_OVER, MOVING, MUCH = 0.15, 0.05, 2.0
SIDE_ROWS, SIDE_TIME = (25.0, 150.0), 2.4  # px, and s before it was last seen: where and when its side's place is told
ALL_HIDDEN = 0.85  # of its nearest row, the farthest of a foot that is all hidden
MIDDLE, LONG = 0.25, 1.0  # lanes from the ego's middle, and s in sight, of one that is hit straight ahead


class Swing(NamedTuple):
    """One of a row came over by ``shift`` lanes."""

    track: int
    shift: float


class Over(NamedTuple):
    """One of a row seemed to have come over by ``shift`` lanes when it was last seen at ``time``."""

    time: float
    shift: float
    lately: float | None = None  # lanes of that in the last pictures


def swinger(
    rows: Sequence[Row], tracks: Sequence[Track], measures: Measures, lanes: Lanes, way: Floats, time: float
) -> Swing | None:
    """The one of a row that the ego was level with at ``time``, if it alone came over before."""
    place = float(np.interp(time, measures.times, way))
    found: list[Swing] = []
    for row in rows:
        at = row.at(place)
        number = row.tracks[at] if at is not None else None
        if at is None or number is None:
            continue
        sides = [_of_row(row, index, tracks, measures, lanes, time) for index in range(at + 1)]
        fronts = [_front(row, index, tracks, measures, lanes, way, time) for index in range(at + 1)]
        shift = alone(sides, time, OVER) or alone(fronts, time, CORNER_OVER)
        if shift is not None:
            found.append(Swing(number, shift))
    return found[0] if len(found) == 1 else None


def alone(overs: Sequence[Over | None], time: float, least: float) -> float | None:
    """How far the last of them came over, if clearly further than those before it in the row seemed to."""
    over, others = overs[-1], [other.shift for other in overs[:-1] if other is not None]
    if over is None or not others or time - over.time > UNSEEN:
        return None
    clear = over.shift >= least and over.shift >= RATHER * max(others)
    return over.shift if clear or (over.shift >= max(MOVING_OVER, *others) and _moves_alone(overs)) else None


def _moves_alone(overs: Sequence[Over | None]) -> bool:
    """Whether the last of them was still coming over when it was last seen, clearly quicker than those before it seemed to."""
    last = overs[-1].lately if overs[-1] is not None else None
    others = [other.lately for other in overs[:-1] if other is not None and other.lately is not None]
    return last is not None and bool(others) and last >= max(MOVING, MUCH * max(others))


def swung_out_first(
    found: Sequence[Candidate], swing: Swing | None, paths: Sequence[Path], time: float
) -> list[Candidate]:
    """The candidates with the one that swung out as the first, unless another was straight ahead, and had been for long."""
    path = next((path for path in paths if swing is not None and path.number == swing.track), None)
    if path is None or swing is None or (found and _straight_ahead(found[0], swing.track, time)):
        return list(found)
    score = found[0].score if found else 0.5
    rest = [candidate for candidate in found if candidate.path.number != swing.track]
    return [Candidate(path, "beside", score, True, swing.shift), *rest]


def level_beside(
    found: Sequence[Candidate], rows: Sequence[Row], measures: Measures, way: Floats, time: float
) -> list[Candidate]:
    """The same, but beside the ego, not ahead, what stood in a row at a place along the road that the camera has reached."""
    place = float(np.interp(time, measures.times, way))
    level = {row.tracks[at] for row in rows if (at := row.at(place)) is not None}
    return [c._replace(how="beside") if c.how == "ahead" and c.path.number in level else c for c in found]


def _straight_ahead(candidate: Candidate, swung: int, time: float) -> bool:
    path = candidate.path
    there = np.abs(path.times - time) <= 0.4
    if candidate.how != "ahead" or path.number == swung or not there.any() or path.times[0] > time - LONG:
        return False
    return float(np.abs(np.median(path.beside[there]))) <= MIDDLE


def _of_row(
    row: Row, index: int, tracks: Sequence[Track], measures: Measures, lanes: Lanes, time: float
) -> Over | None:
    number = row.tracks[index]
    if number is None:
        return None
    sides = []
    for time_, obstacle in ((s.time, s.obstacle) for s in tracks[number].sightings):
        if time_ > time + 0.05 or obstacle.base < NEAR:
            continue
        inner = obstacle.foot_left if row.right else -obstacle.foot_right
        ego = float(np.interp(time_, measures.times, lanes.offset))
        sides.append((time_, inner / lanes.spacing + (ego if row.right else -ego)))
    return came_over(sides)


def _front(
    row: Row, index: int, tracks: Sequence[Track], measures: Measures, lanes: Lanes, way: Floats, time: float
) -> Over | None:
    """By how much its front corner seems to have come over."""
    number = row.tracks[index]
    seen = [] if number is None else [s for s in tracks[number].sightings if s.time <= time + 0.05]
    if is_dark(measures):  # by night the edge of the headlights' pool passes for a vehicle beside the bonnet
        seen = [s for s in seen if not (s.obstacle.hidden and s.obstacle.front > ALL_HIDDEN * s.obstacle.base)]
    egos = [float(np.interp(s.time, measures.times, lanes.offset)) * lanes.spacing for s in seen]
    outwards = 1 if row.right else -1
    sides = [
        outwards * ((s.obstacle.foot_left if row.right else s.obstacle.foot_right) + ego)
        for s, ego in zip(seen, egos, strict=True)
        if SIDE_ROWS[0] < s.obstacle.base < SIDE_ROWS[1] and s.time > seen[-1].time - SIDE_TIME
    ]
    if len(sides) < STOOD:
        return None
    side = float(np.median(sides))
    corners = [
        Corner(
            s.time,
            float(np.interp(s.time, measures.times, way)),
            outwards * ((s.obstacle.outer_left if row.right else s.obstacle.outer_right) - s.x),
            side - outwards * ego,
        )
        for s, ego in zip(seen, egos, strict=True)
    ]
    moved = advance(corners, row.rears[index])
    if moved is None:
        return None
    lately = None if moved.lately is None else moved.lately / lanes.spacing
    return Over(moved.time, moved.over / lanes.spacing, lately)


def came_over(sides: Sequence[tuple[float, float]]) -> Over | None:
    """When a vehicle was last seen, and the lanes that its side came over before, from its places (time, lanes outwards).

    It must have come over in more than one picture.
    """
    if not sides:
        return None
    times, places = (np.array(values) for values in zip(*sides, strict=True))
    late = times > times[-1] - LATE
    before = ~late & (times > times[-1] - BEFORE)
    if before.sum() < STOOD or late.sum() < LEFT:
        return None
    place = float(np.median(places[before]))
    over = place - float(np.sort(places[late])[1])
    if float(np.median(np.abs(places[before] - place))) > STEADY or over > MOST:
        return None
    return Over(float(times[-1]), over)
