"""Where the ego was across the road, from two witnesses: the lane lines and the way the camera points. Pure.

The comb of lane lines says where the camera is up to whole lanes, and is at a loss when vehicles cover the road or
while the camera turns. The column of the vanishing point says how fast it moves sideways: off its usual column by ``c``
px at a pace of ``p`` (1/px per second), the camera moves by ``p * c`` camera heights a second. That is exact over a
second or two and drifts over longer ones (in a bend, say). A Kalman smoother weighs the two: its state is what the
comb says above the way steered.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from vlmrec.observer.lanes import Lanes
from vlmrec.observer.measure import Measures

Floats = NDArray[np.float64]

COMB_ERROR = 0.08  # lanes per frame: errors of neighbouring frames are alike, so it is more than a single one's
DRIFT = 0.05  # lanes, of the way steered in a second
AMISS = 0.6  # of the way steered, the same: the pace may be measured much too small
ASIDE = 35.0  # px off its usual column up to which the vanishing point is found
LEAST = 10  # frames with lines and pace that the usual column needs
KNOCKED, RINGS = 0.6, 0.5  # lanes in a second, while a knock rings; s that it does
# of the picture's height: rows below the vanishing point, and in the picture, where lines are sought
STRIP = (0.10, 0.93)
SETTLING = 1.0  # s before and after a knock in which the lines may be hidden, or the comb on its way to others
NEARBY = 1.0  # s around a frame within which lines and turns are reconciled


class Course(NamedTuple):
    """``lanes`` has the smoothed place over time; ``comb`` the lines as seen, whole lanes that it slipped put right.

    ``column`` is where the vanishing point is by the camera's turning, which its lines are slow to follow.
    """

    lanes: Lanes
    comb: Lanes
    column: Floats
    steered: Floats  # lanes gone aside by the camera's heading alone


def course(lanes: Lanes, measures: Measures, pace: Floats, knocks: Sequence[float] = ()) -> Course:
    """The ego's place across the road. ``pace`` is its pace per frame in 1/px per second, NaN where unknown.

    ``knocks`` are times at which it may have been hit: from then on, for a moment, it doesn't go where it points.
    """
    columns = _columns(lanes, measures, pace)
    if columns is None:
        return Course(lanes, lanes, measures.points_x, np.full(len(measures.times), np.nan))
    usual, column = columns
    times, aside = measures.times, usual - column
    rate = _filled(times, pace) * aside / lanes.spacing
    steered = np.concatenate([[0.0], np.cumsum((rate[1:] + rate[:-1]) / 2 * np.diff(times))])
    level = lanes._replace(offset=lanes.offset + (column - measures.point.x) * _skew(measures) / lanes.spacing)
    hit = np.zeros(len(times), bool)
    for knock in knocks:
        hit |= (times >= knock) & (times <= knock + RINGS)
    rest = _smoothed(level, times, steered, hit)
    offset = rest + steered
    shift = np.floor(offset[0])
    slipped = lanes.offset + np.round(offset - lanes.offset)
    found = lanes._replace(offset=offset - shift), lanes._replace(offset=slipped - shift)
    for knock in knocks:
        found = put_right(*found, steered, times, knock)
    return Course(*found, column, steered)


def put_right(lanes: Lanes, comb: Lanes, steered: Floats, times: Floats, knock: float) -> tuple[Lanes, Lanes]:
    """Both without the whole lanes that the comb slipped aside about ``knock``, when a vehicle hid the lines, or they ended.

    Lines look the same after a lane. An ego that didn't steer there has not gone as far as the next one, whether the blow
    turned it or not: neither its heading up to the knock nor that all the way bears such a move out.
    """
    before, after = (times > knock - 2 * SETTLING) & (times < knock - SETTLING), times > knock + SETTLING
    if before.sum() < LEAST // 2 or after.sum() < LEAST:
        return lanes, comb
    first, last = (float(np.median(comb.offset[part])) for part in (before, after))
    headed, hit = float(np.median(steered[before])), float(np.interp(knock, times, steered))
    slips = {round(last - first - (gone - headed)) for gone in (hit, float(np.median(steered[after])))}
    if len(slips) != 1 or (slipped := slips.pop()) * (last - first) <= 0:
        return lanes, comb
    within = (times >= knock - SETTLING) & (times <= knock + SETTLING)
    by_heading = first + steered - headed
    return (
        lanes._replace(
            offset=np.where(within, by_heading, np.where(times > knock, lanes.offset - slipped, lanes.offset))
        ),
        comb._replace(offset=np.where(within, by_heading, np.where(times > knock, comb.offset - slipped, comb.offset))),
    )


def _columns(lanes: Lanes, measures: Measures, pace: Floats) -> tuple[float, Floats] | None:
    """The vanishing point's usual column, and its column per frame; None where that can't be told.

    It is left of the usual one by as much as the camera points to the right of the road's direction.
    """
    if np.isfinite(pace).sum() < LEAST:
        return None
    times, filled = measures.times, _filled(measures.times, pace)
    sideways = np.gradient(lanes.offset, times) * lanes.spacing
    usual = _usual(lanes)
    use = (lanes.strength > 0.5 * usual) & (filled > 0.3 * np.percentile(filled, 70)) & (np.abs(sideways) < 1.5)
    if use.sum() < LEAST:
        return None
    drift = sideways[use] / filled[use]
    turned = _turned(measures)
    found = np.abs(float(np.median(measures.points_x[use] + drift)) - measures.points_x) < ASIDE
    rest = measures.points_x - turned
    base = np.full(len(times), np.nan)
    for index, time in enumerate(times):
        near = found & (np.abs(times - time) < NEARBY)
        if near.sum() >= 5:
            base[index] = np.median(rest[near])
    known = np.isfinite(base)
    if not known.any():
        return None
    column = turned + np.interp(times, times[known], base[known])
    return float(np.median(column[use] + drift)), column


def _turned(measures: Measures) -> Floats:
    """How far the camera turned since the first frame, in px; it goes on turning while too little is seen to tell."""
    turns = np.array([np.nan if step.turn is None else step.turn for step in measures.steps])
    known = np.isfinite(turns)
    if not known.any():
        return np.zeros(len(measures.times))
    steps = np.interp(np.arange(len(turns)), np.flatnonzero(known), turns[known])
    return np.concatenate([[0.0], np.cumsum(steps)])


def _skew(measures: Measures) -> float:
    """How far lines slip aside, in camera heights, for each pixel that the camera turns: they were sought on a strip of
    road that runs towards the clip's own vanishing point, and ``x / q`` of a shifted line is off by its mean ``1 / q``.
    """
    height = measures.size[1]
    rows = np.arange(STRIP[0] * height, STRIP[1] * height - measures.point.y, 2.0)
    return float((1 / rows).mean())


def _smoothed(lanes: Lanes, times: Floats, steered: Floats, hit: NDArray[np.bool_]) -> Floats:
    """The comb's place above the way steered: a random walk, filtered forwards and smoothed backwards."""
    count, usual = len(times), _usual(lanes)
    state, spread, foretold, before = (np.zeros(count) for _ in range(4))
    value, variance, slipped = float(lanes.offset[0]), COMB_ERROR**2, 0.0
    for i in range(count):
        if i:
            gap = float(times[i] - times[i - 1])
            amiss = AMISS * float(steered[i] - steered[i - 1]) / gap
            variance += (DRIFT**2 + amiss**2 + (KNOCKED**2 if hit[i] else 0.0)) * gap
        foretold[i], before[i] = value, variance
        missed = float(lanes.offset[i] - steered[i]) - slipped - value
        if abs(missed) > 0.5:
            slipped += round(missed)
            missed -= round(missed)
        error = (COMB_ERROR * max(1.0, usual / max(float(lanes.strength[i]), 1e-3))) ** 2
        error *= max(1.0, missed**2 / (4 * (variance + 0.01)))  # what lies far off counts for little
        gain = variance / (variance + error)
        value, variance = value + gain * missed, (1 - gain) * variance
        state[i], spread[i] = value, variance
    for i in range(count - 2, -1, -1):
        state[i] += spread[i] / before[i + 1] * (state[i + 1] - foretold[i + 1])
    return state


def _usual(lanes: Lanes) -> float:
    """How much the comb stands out where it is in full view."""
    return max(float(np.percentile(lanes.strength, 75)), 1e-3)


def _filled(times: Floats, pace: Floats) -> Floats:
    known = np.isfinite(pace)
    return np.maximum(np.interp(times, times[known], pace[known]), 0.0)
