"""Whether a vehicle stood, and whether it then set off or stayed until it was hit. Pure.

A vehicle that stays keeps its place on the road: along it, by its pace over all the way the ego went, and across it, by
the side that faces the ego. One that sets off towards the ego moves across the road as a whole, while the ego keeps its
lane. What is neither is left open.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from vlmrec.observer.candidates import SWUNG_OUT, come_over
from vlmrec.observer.conduct import BACKWARDS, STANDS, Pace, pace_over
from vlmrec.observer.ego import UNDER_WAY
from vlmrec.observer.paths import Path
from vlmrec.observer.scene import Keeping, Move
from vlmrec.observer.sideways import Ease

Floats = NDArray[np.float64]

EVEN = 30.0  # px: beyond this row the ego's own way, not the row, is what a place along the road is known by
STEADY = 0.05  # of the ego's pace: the standard error of what stands all the way
LONG = 0.012  # of the ego's way, in 1/px, over which it must have been steady
STAYED, MOVED, FOLLOWED = 0.2, 0.25, 0.2  # lanes across the road: at most, at least, and at least of the middle
NO_DOOR = 0.4  # lanes: a door opens by less
SETTLED_EGO = 0.08  # lanes that an ego which kept its lane may have drifted
APART = 0.5  # of the ego's pace
FALLEN, AT_ONCE, NEAR = 0.6, 0.25, 60.0  # of its distance row, within so many s; from so many px on rows are exact
LAGGING = 0.1  # of the ego's pace: who sets off doesn't fall behind its place


def even_pace(path: Path, ways: Floats, first: float, last: float) -> Pace | None:
    """The pace over all the way between two times, near sightings counting no more than those at middling distance."""
    return pace_over(path, ways, first, last, even=EVEN)


def stood_or_never(path: Path, ways: Floats, windows: Sequence[Pace], first: float, time: float) -> tuple[float, float]:
    """Confidences that it stood before ``first``, when somebody began to move, and that it never did up to ``time``."""
    start = float(path.times[0])
    for last in (max(first, start + 0.8), time):
        steady = even_pace(path, ways, start, last)
        gone = float(np.interp(last, path.times, ways) - ways[0])
        if steady is not None and _stands(steady) and steady.error < STEADY and gone > LONG:
            return 0.85, 0.0
    if any(pace.share < 1.6 * BACKWARDS for pace in windows):
        return 0.0, 0.0
    early = pace_over(path, ways, start, max(first, start + 0.8))
    if early is None:
        early = pace_over(path, ways, start, float(path.times[-1]))
    if early is not None and _stands(early) and early.error < 0.12:
        return 0.85, 0.0
    whole = even_pace(path, ways, start, float(path.times[-1]))
    moving = whole is None or whole.share > STANDS + 2 * whole.error
    if moving and len(windows) >= 2 and all(pace.share > STANDS + pace.error for pace in windows):
        return 0.0, 0.85
    return 0.0, 0.0


def _stands(pace: Pace) -> bool:
    return BACKWARDS < pace.share < STANDS


def set_off(
    path: Path,
    keeping: Keeping,
    own: Keeping,
    fits: Sequence[Ease],
    late: Pace | None,
    even: Pace | None,
    *,
    beyond: bool = False,
    door: float = NO_DOOR,
) -> Keeping:
    """How a standing vehicle moved across: over towards an ego that kept its own place, or not as far as is known.

    One that stood ``beyond`` the road's edge line must have come over to be hit by an ego that didn't leave its place: both
    its places show it, though not smoothly, or the only one that was measured, by more than a ``door`` opens.
    """
    if own.moves or own.kept <= 0:
        return Keeping(keeping.start, keeping.end, (), 0.0)
    towards = -float(np.sign(np.median(path.inner)))
    shifts = [towards * ease.shift for ease in fits]
    coming = [ease for ease in fits if towards * ease.rate > UNDER_WAY]
    telling = [ease for ease in coming if ease.explains]
    ahead = late is None or even is None or late.share > min(even.share, 0.0) - LAGGING
    over = len(shifts) == 2 and max(shifts) >= MOVED and min(shifts) >= FOLLOWED
    if beyond and abs(own.drift) <= SETTLED_EGO:
        alone = len(telling) == len(shifts) == 1 and shifts[0] >= door
        both = len(coming) == 2 and min(shifts) >= MOVED
        over, telling = over or alone or both, coming if both else telling
    best = max(telling, key=lambda ease: towards * ease.shift, default=None)
    if best is None or not over or not ahead:
        return Keeping(keeping.start, keeping.end, (), 0.0)
    sure = min(0.95, 0.66 + 0.5 * (max(shifts) - MOVED))
    return Keeping(keeping.start, keeping.end, (Move(best.begins, keeping.end, best.shift, sure),), 0.0)


def handed_over(path: Path, whole: Pace | None, windows: Sequence[Pace], time: float) -> bool:
    """Whether what is followed is first one vehicle of a row and then the next: one pace in every part, another over all.

    Or it gets away in an instant, as nothing does that drives.
    """
    if whole is not None and windows and all(abs(pace.share - whole.share) > APART for pace in windows):
        return True
    use = (path.times > time - 3.0) & (path.times <= time)
    times, near = path.times[use], path.near[use]
    return any(
        near[after] < FALLEN * near[before] and near[before] > NEAR
        for before in range(len(times))
        for after in range(before + 1, len(times))
        if times[after] - times[before] <= AT_ONCE
    )


def swung_out(path: Path, keeping: Keeping, own: Keeping, time: float, over: float | None = None) -> Keeping:
    """How one of a row beside the ego moved: it came over a little just before it left the picture, and was hit.

    The ego kept its lane, so the rest of the way between the two was the other's. ``over`` is how far it alone came, where
    that is known by comparison with the row.
    """
    shift = come_over(path, time) if over is None else over
    if own.moves or own.kept <= 0 or abs(own.drift) > SETTLED_EGO or shift is None:
        return keeping
    if over is None and shift < SWUNG_OUT:
        return keeping
    towards = -float(np.sign(np.median(path.inner)))
    return Keeping(keeping.start, keeping.end, (Move(time - 1.0, keeping.end, towards * shift, 0.7),), 0.0)


def stayed(path: Path, ways: Floats, time: float, fits: Sequence[Ease], reached: Ease | None = None) -> bool:
    """Whether it was at its place along and across the road right up to ``time``, with all its pieces (``reached``)."""
    whole = even_pace(path, ways, float(path.times[0]), time)
    if whole is None or not _stands(whole) or whole.error > STEADY or whole.end < time - 0.7:
        return False
    towards = -float(np.sign(np.median(path.inner)))
    shifts = [towards * ease.shift for ease in (*fits, *([reached] if reached is not None else []))]
    return len(fits) == 2 and max(shifts) < STAYED
