"""What the paint on the road says about the case: the line that was crossed, lanes that end, hatching. Pure."""

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from vlmrec.observer.divide import undivided
from vlmrec.observer.hatching import astray, bare, closed, hatching, zoned
from vlmrec.observer.lanes import COLUMNS, LEAST_CLEAR, Lanes, paint_at
from vlmrec.observer.measure import Measures
from vlmrec.observer.scene import Keeping, Paint, Roadway, Tint
from vlmrec.observer.stretches import metre, ruler

Floats = NDArray[np.float64]

SOLID, DASHED = 0.75, (0.18, 0.62)  # share of a line's length that is painted
WORN = 0.1  # of its length, at least, that a broken yellow line shows: its paint is no lighter than a light road
BREAKS = 0.35  # of what shows of such a line at most times, at other times: it breaks off again and again
# share of a line's paint that is yellower than the road: a low sun makes half of the white so
YELLOW, WHITE = 0.68, 0.57
HATCHED = 0.12  # share of odd pixels on a stretch of lane that is hatched; a bare one has next to none
BARE = 0.05  # the same where there is none: a lane that ends is hatched, or tapers off between lines


def read_markings(
    measures: Measures, lanes: Lanes, way: Floats, time: float, mover: Keeping | None, start: float, rival: float
) -> Roadway:
    """The markings around the case. ``mover`` moved from lane place ``start``; None where nobody did.

    ``rival`` is the place of the counterpart before anybody moved.
    """
    hatched = _hatched(measures, lanes, way, time)
    clean = _bare_side(measures, lanes, way, int(np.floor(rival)), time)
    shared = undivided(measures, lanes, time)
    move = mover.last if mover is not None else None
    if move is None:
        return Roadway(
            hatched=hatched,
            clean_side=clean,
            undivided=shared,
            unbroken=_unbroken(measures, lanes, time),
            footway=measures.footway is not None,
        )
    first = mover.moves[0] if mover is not None else move
    own = ruler(measures, lanes, way, None, time)
    lost = own is not None and astray(own, _here(measures, lanes, way, time))
    lane = int(np.floor(start))
    crossed, outer = (lane + 1, lane) if first.shift > 0 else (lane, lane + 1)
    until = measures.times <= first.start + 0.3
    tint = _tint(measures, lanes, crossed, until)
    divider = _paint(paint_at(measures.profiles, measures.clear, lanes, crossed)[until], tint)
    return Roadway(
        divider=divider,
        divider_tint=tint,
        lane_ends=_lane_ends(measures, lanes, way, outer, lane, move.start, time, lost),
        hatched=hatched,
        clean_side=clean,
        undivided=shared,
        unbroken=_unbroken(measures, lanes, time),
        footway=measures.footway is not None,
    )


def _paint(shares: Floats, tint: Tint | None) -> Paint | None:
    """Whether a line is broken, by the share of it that is seen to be painted, frame by frame."""
    known = shares[np.isfinite(shares)]
    if len(known) < 10:
        return None
    middle = float(np.mean(known))
    if middle >= SOLID:
        return "solid"
    low, high = (float(share) for share in np.percentile(known, (10, 90)))
    worn = tint == "yellow" and WORN <= middle < DASHED[0] and low < BREAKS * high
    return "dashed" if worn or DASHED[0] <= middle <= DASHED[1] else None


def _tint(measures: Measures, lanes: Lanes, line: int, until: NDArray[np.bool_]) -> Tint | None:
    painted = paint_at(measures.profiles, measures.clear, lanes, line)[until]
    golden = paint_at(measures.yellows, measures.clear, lanes, line)[until]
    known = np.isfinite(painted)
    total = float(painted[known].sum())
    if known.sum() < 10 or total < 2:
        return None
    share = float(golden[known].sum()) / total
    return "yellow" if share > YELLOW else "white" if share < WHITE else None


def _lane_ends(
    measures: Measures, lanes: Lanes, way: Floats, outer: int, lane: int, begins: float, time: float, lost: bool
) -> bool | None:
    """Whether lane ``lane``, which was left, ends about the contact: by its far line ``outer``, else by its surface.

    Where the lines may be ``lost``, or the road glitters, nothing tells but both together.
    """
    by_line, line = _line_ends(measures, lanes, outer, begins, time), ruler(measures, lanes, way, lane, np.inf)
    if line is not None and closed(line, _here(measures, lanes, way, time)):
        return None if by_line is False or (lost and by_line is None) else True
    if lost:
        return None
    if by_line is not None:
        return by_line
    known, shares = _brightness(measures, lanes, np.full(len(measures.times), float(lane)))
    after = known > time + 0.4
    seen = after.sum() >= max(20, 0.7 * (measures.times > time + 0.4).sum())
    return False if seen and float(np.percentile(shares[after], 90)) < BARE else None


def _line_ends(measures: Measures, lanes: Lanes, outer: int, begins: float, time: float) -> bool | None:
    """Whether the far line of the lane that was left runs on behind the contact."""
    shares = paint_at(measures.profiles, measures.clear, lanes, outer)
    known = np.isfinite(shares)
    before = shares[(measures.times < begins - 0.3) & known]
    after = shares[(measures.times > time + 0.4) & known]
    if len(before) < 15:
        return None
    was = float(np.mean(before))
    if DASHED[0] <= was <= DASHED[1]:
        return False  # another lane lies beyond it: only a lane at the road's edge ends
    if was < SOLID or len(after) < 6:
        return None
    if float((after >= 0.55 * was).mean()) >= 0.6:
        return False
    between = shares[(measures.times > begins) & (measures.times < time + 0.6) & known]
    gone = len(after) >= 10 and float(np.percentile(after[len(after) // 2 :], 90)) < 0.35 * was
    return True if gone and len(between) and float(np.median(between)) < 0.6 * was else None


def _hatched(measures: Measures, lanes: Lanes, way: Floats, time: float) -> Literal["no", "at_edge", "cleared"] | None:
    """Hatching on the ego's lane before the contact, by how far the camera had come since it ended.

    None is told by the lane as seen ahead; where there is some, the nearest stretch says when the camera had crossed it.
    """
    line, here = ruler(measures, lanes, way, None, time), _here(measures, lanes, way, time)
    if line is not None and ((found := hatching(line, here)) is not None or zoned(line, here)):
        return found
    own = np.where(np.abs(lanes.offset % 1 - 0.5) < 0.3, np.floor(lanes.offset), np.nan)
    if _clean(measures, lanes, own, time):
        return "no"
    return None


def _bare_side(measures: Measures, lanes: Lanes, way: Floats, lane: int, time: float) -> bool:
    """Whether lane ``lane`` was seen to be bare nearly all the way to the contact."""
    line = ruler(measures, lanes, way, lane, time)
    if line is not None and bare(line, _here(measures, lanes, way, time)):
        return True
    return _clean(measures, lanes, np.full(len(measures.times), float(lane)), time)


def _here(measures: Measures, lanes: Lanes, way: Floats, time: float) -> float:
    """Where the camera was at ``time``, on the ruler's scale."""
    return float(np.interp(time, measures.times, way)) * metre(measures, lanes)


def _clean(measures: Measures, lanes: Lanes, lane: Floats, time: float) -> bool:
    """Whether a lane, given per frame, could be seen for half the time before the contact and was never hatched."""
    known, shares = _brightness(measures, lanes, lane)
    before = known < time
    half = before.sum() > 0.5 * (measures.times < time).sum()
    return bool(half and float(np.percentile(shares[before], 97)) < HATCHED)


def _brightness(measures: Measures, lanes: Lanes, lane: Floats) -> tuple[Floats, Floats]:
    """When the middle of a lane, given per frame, could be seen, and the share of it that was brighter than road."""
    times, shares = [], []
    for index in np.flatnonzero(np.isfinite(lane)):
        place = (lane[index] + 0.5 - lanes.offset[index]) * lanes.spacing
        across = np.abs(COLUMNS - place) < 0.22 * lanes.spacing
        if across.any() and float(measures.clear[index, across].mean()) > LEAST_CLEAR:
            times.append(float(measures.times[index]))
            shares.append(float(measures.bright[index, across].mean()))
    return np.array(times), np.array(shares)


def _unbroken(measures: Measures, lanes: Lanes, time: float) -> bool:
    """No pause in the paint of the ego's lane long enough for a junction."""
    until = measures.times < time
    paint = np.fmax(
        np.nan_to_num(paint_at(measures.profiles, measures.clear, lanes, 0)[until]),
        np.nan_to_num(paint_at(measures.profiles, measures.clear, lanes, 1)[until]),
    )
    pause = longest = 0.0
    times = measures.times[until]
    for index in range(1, len(times)):
        pause = pause + times[index] - times[index - 1] if paint[index] < 0.1 else 0.0
        longest = max(longest, pause)
    return bool(len(times) > 20 and longest < 0.7)
