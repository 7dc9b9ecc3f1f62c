"""The ego vehicle's own motion: its pace along the road and its moves across it. Pure."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from vlmrec.observer.lanes import Lanes
from vlmrec.observer.measure import Measures
from vlmrec.observer.scene import EgoState, Keeping, Move, Span

Floats = NDArray[np.float64]

CREEP, RUN = 4.0, 12.0  # px/s of the ground's flow: below the first it stands, above the other it moves
SHORTEST = 0.6  # s that a state must last
KEPT = 0.22  # lanes: up to here a lane was kept
CHANGED = 0.6  # lanes of a finished move that led into another lane: a shorter one led to the lane's edge
BEGUN = 0.24  # lanes of a move cut off by the contact that has begun: a usual car's side then lies on the line
BRIEFEST = 0.4  # s that a move across the road takes at least
STEERED = 0.45  # of a move across the road, what the camera's turning must account for
SLOPE = 0.11  # lanes per second: slower drift is no move
UNDER_WAY = 0.15  # lanes per second at the end: quicker is a move that the contact cut off


def smooth_pace(measures: Measures) -> Floats:
    """The ego's pace per frame: median over half a second, NaN where the ground gave nothing."""
    raw = np.array([np.nan] + [np.nan if step.pace is None else step.pace for step in measures.steps])
    out = np.full(len(raw), np.nan)
    for index, time in enumerate(measures.times):
        near = raw[np.abs(measures.times - time) <= 0.27]
        near = near[np.isfinite(near)]
        if len(near) >= 3:
            out[index] = float(np.median(near))
    return out


def usual_pace(pace: Floats) -> float:
    """The pace of the clip's quicker part; 0 where nothing is known."""
    known = pace[np.isfinite(pace)]
    return max(0.0, float(np.percentile(known, 70))) if len(known) else 0.0


def travelled(measures: Measures, pace: Floats) -> Floats:
    """The way gone since the first frame, in the unit of 1/row; gaps in the pace are bridged."""
    known = np.isfinite(pace)
    filled = np.interp(measures.times, measures.times[known], pace[known]) if known.any() else np.zeros(len(pace))
    steps = np.diff(measures.times, prepend=measures.times[0])
    return np.cumsum(np.maximum(filled, 0.0) * steps)


def ego_spans(times: Floats, stirs: Sequence[float]) -> tuple[Span, ...]:
    """Stretches in which the ego stood or moved. ``stirs`` is the ground's flow in px/s per frame, NaN where unknown."""
    flow = np.array(stirs)
    spans: list[Span] = []
    run: list[float] = []
    state: EgoState | None = None
    for time in times:
        near = flow[np.abs(times - time) <= 0.3]
        known = near[np.isfinite(near)]
        now: EgoState | None = None
        if len(known) >= max(2, 0.5 * len(near)):
            middle = float(np.median(known))
            now = "stopped" if middle < CREEP else "moving" if middle > RUN else None
        if now != state:
            _close(spans, run, state)
            run = []
            state = now
        run.append(float(time))
    _close(spans, run, state)
    return tuple(spans)


def _close(spans: list[Span], run: Sequence[float], state: EgoState | None) -> None:
    if state is not None and run[-1] - run[0] >= SHORTEST:
        spans.append(Span(run[0], run[-1], state, 0.8))


def ego_keeping(lanes: Lanes, measures: Measures, until: float, steered: Floats) -> Keeping:
    """The ego's moves between the lines up to ``until``. ``steered`` is the way gone aside by heading alone, in lanes.

    Lines that slip aside without the camera having turned say nothing: neither a move nor a lane kept.
    """
    before = measures.times <= until + 0.05
    if (before & (lanes.strength > 0.04)).sum() < 15:
        return Keeping(float(measures.times[0]), until, (), 0.0)
    keeping = moves_of(measures.times[before], lanes.offset[before], noise=0.03)
    gone = [float(np.diff(np.interp((m.start, m.end), measures.times, steered))[0]) / m.shift for m in keeping.moves]
    if any(share < STEERED for share in gone):  # not known is not less
        return Keeping(keeping.start, keeping.end, (), 0.0)
    return keeping


def place_before(own: Keeping, lanes: Lanes, measures: Measures) -> float:
    """The ego's place in lanes before it moved."""
    first = own.moves[0].start if own.moves else own.end
    early = measures.times <= max(first, measures.times[0] + 0.5)
    return float(np.median(lanes.offset[early]))


def moves_of(times: Floats, across: Floats, *, noise: float) -> Keeping:
    """Moves in a path across the road: stretches of steady sideways motion that led, or were leading, into another lane.

    A move that ended before the path did and was shorter than a lane is a drift within it: no move, and the lane was
    not kept either. One that the path's end cuts off is under way and needs to have begun only.
    """
    start, end = float(times[0]), float(times[-1])
    slope = np.array([_slope(times, across, time) for time in times])
    moves: list[Move] = []
    drift = 0.0
    for first, last in _stretches(np.sign(np.where(np.abs(slope) > SLOPE, slope, 0.0))):
        before = across[(times >= times[first] - 0.5) & (times <= times[first] + 0.05)]
        after = across[(times >= times[last] - 0.1) & (times <= times[last] + 0.2)]
        shift = float(np.median(after) - np.median(before))
        cut_off = times[last] > end - 0.3 and abs(slope[last]) > UNDER_WAY
        least = max(BEGUN if cut_off else CHANGED, 4 * noise)
        if abs(shift) >= least and times[last] - times[first] >= BRIEFEST:
            sure = min(0.95, 0.66 + 0.5 * (abs(shift) - least))
            moves.append(Move(float(times[first]), float(times[last]), shift, sure))
        else:
            drift += shift
    if moves or (abs(slope[-1]) > UNDER_WAY and abs(drift) > 0.5 * BEGUN):
        return Keeping(start, end, tuple(moves), 0.0)
    spread = float(np.percentile(across, 95) - np.percentile(across, 5))
    net = abs(float(np.median(across[-5:]) - np.median(across[: max(5, len(across) // 3)])))
    return Keeping(start, end, (), 0.9 if net <= KEPT and spread <= KEPT + 4 * noise else 0.0, drift)


def _slope(times: Floats, values: Floats, time: float) -> float:
    near = np.abs(times - time) <= 0.4
    if near.sum() < 4:
        return 0.0
    return float(np.polyfit(times[near] - time, values[near], 1)[0])


def _stretches(signs: Floats) -> list[tuple[int, int]]:
    """First and last index of runs of one sign; pauses of a few frames are bridged."""
    runs: list[tuple[int, int]] = []
    start = last = -1
    for index, sign in enumerate(signs):
        if sign == 0:
            continue
        if start >= 0 and (sign != signs[last] or index - last > 4):
            runs.append((start, last))
            start = -1
        if start < 0:
            start = index
        last = index
    if start >= 0:
        runs.append((start, last))
    return runs
