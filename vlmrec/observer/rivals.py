"""What is known about the vehicle that was hit: how it moved, stood and headed. Pure."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from vlmrec.observer.candidates import FOLLOWED, Candidate, is_dark
from vlmrec.observer.conduct import BACKWARDS, STANDS, Pace, level_with, pace_alongside, pace_over, paces
from vlmrec.observer.halting import Halt, halt_of
from vlmrec.observer.heading import heading_at_last, heading_of
from vlmrec.observer.history import with_history
from vlmrec.observer.lanes import Lanes
from vlmrec.observer.measure import Measures
from vlmrec.observer.paths import Path
from vlmrec.observer.reach import DOOR_REACH, reach_ease
from vlmrec.observer.scene import Heading, Keeping, Place, Rival
from vlmrec.observer.sideways import Ease, caught_moving, held
from vlmrec.observer.standing import even_pace, handed_over, set_off, stayed, stood_or_never, swung_out
from vlmrec.observer.things import fell_off, shed, small
from vlmrec.observer.whereabouts import beside_at_first, middle_of, place_of

Floats = NDArray[np.float64]


class _Along(NamedTuple):
    """Its motion along the road: pace over all of its way and at last, whether it stood, or never did, and how it stopped."""

    whole: Pace | None
    late: Pace | None
    even: Pace | None
    windows: list[Pace]
    stood: float
    never: float
    halt: Halt | None


def rival_from(
    candidate: Candidate,
    paths: Sequence[Path],
    measures: Measures,
    comb: Lanes,
    way: Floats,
    time: float,
    own: Keeping,
    home: float,
) -> Rival | None:
    """Everything about the one in contact; None where too little of it was seen.

    ``home`` is the ego's place in lanes before it moved.
    """
    if (candidate.path.times <= time + 0.05).sum() < FOLLOWED:
        return None  # too little, whatever it may have been a part of
    path = with_history(candidate.path, paths, time)
    before = path.times <= time + 0.05
    ways = np.interp(path.times, measures.times, way)
    keeping, fits = held(path, candidate.path, time, own)
    first = min([move.start for move in (*keeping.moves[:1], *own.moves[:1])], default=time - 0.8)
    early = before & (path.times <= max(first, path.times[0] + 0.4))
    beside = beside_at_first(path, before, early, keeping, own, home)
    along = _along(path, candidate, measures, ways, first, time)
    heading = _heading(path, candidate, along, ways, time, fits, keeping)
    if along.halt is not None and along.halt.came_to_it:
        along = along._replace(stood=0.0)  # it stands, but had been moving
    reached = reach_ease(path, measures, comb.spacing, way, time) if along.stood > 0 else None
    stays = along.stood > 0 and stayed(path, ways, time, fits, reached)
    if candidate.over is None and handed_over(path, along.whole, along.windows, time):
        along, keeping = along._replace(stood=0.0, never=0.0), Keeping(keeping.start, keeping.end, (), 0.0)
    place, keeping = _moved_from(path, along, keeping, fits, reached, own, measures, comb, early, beside)
    others = _standing_with(path, paths, measures, way, first)
    queued = candidate.over is not None or (along.stood > 0 and others >= (1 if place == "edge" else 2))
    if queued and place == "lane" and candidate.how == "beside" and not keeping.moves:
        keeping = swung_out(path, keeping, own, time, candidate.over)
    drew_up = _drew_up(path, measures)
    if drew_up and candidate.how == "beside":
        keeping = keeping._replace(kept=0.0)  # its flank is cut off, and what is lowest of it may be its shade
    close = (path.times >= time - 0.35) & (path.times <= time + 0.1)
    close = close if close.any() else np.arange(len(path.times)) >= len(path.times) - 3
    late, fallen = along.late, fell_off(path, ways, time)
    kept_to_it = keeping.kept > 0 and len(own.moves) > 0  # its place on the road, while the ego moved over
    confidence = 0.9 if candidate.lonely else 0.5
    return Rival(
        track=path.number,
        start=float(path.times[0]),
        end=float(path.times[before][-1]),
        how=candidate.how,
        beside=beside,
        at_contact=float(np.median(path.beside[close])),
        inner=float(np.median(path.inner[close])),
        keeping=_capped(keeping, confidence),
        heading=heading,
        came_past=_came_past(path, measures),
        # By night the pool of light has an edge beside the camera; it goes with the ego where that moves over.
        alongside=level_with(path, first, measures.size, measures.lanes, is_dark(measures) and not kept_to_it),
        pace=None if along.whole is None or along.whole.error > 0.2 else along.whole.share,
        late_pace=None if late is None or late.end < time - 1.2 else late.share,
        late_error=0.0 if late is None else late.error,
        stood=min(along.stood, confidence),
        stayed=stays,
        halted=None if along.halt is None else along.halt.stood,
        came_to_a_stand=along.halt is not None and along.halt.came_to_it,
        never_stood=min(along.never, confidence),
        place=place,
        queued=queued,
        small=max(0.8 * fallen, small(path, time)) if abs(beside) < 0.4 else 0.0,
        shed=fallen or shed(path, paths, time),
        confidence=confidence,
        drew_up=drew_up,
        headway=_headway(path, ways, own),
    )


def _along(path: Path, candidate: Candidate, measures: Measures, ways: Floats, first: float, time: float) -> _Along:
    windows = paces(path, ways, time)
    whole = pace_over(path, ways, float(path.times[0]), time)
    stood, never = stood_or_never(path, ways, windows, first, time)
    if candidate.over is not None:  # its rear end was seen at one place along the road, again and again
        stood, never = 0.85, 0.0
    if whole is None and not is_dark(measures) and (whole := pace_alongside(path, first, measures.size[1])) is not None:
        never = 0.7
    even = even_pace(path, ways, float(path.times[0]), time)
    return _Along(whole, windows[-1] if windows else None, even, windows, stood, never, halt_of(path, ways, time))


def _heading(
    path: Path, candidate: Candidate, along: _Along, ways: Floats, time: float, fits: Sequence[Ease], keeping: Keeping
) -> Heading | None:
    if candidate.over is not None:
        return "same"
    told = heading_of(path, time, along.whole, along.even, along.windows, along.stood, fits, keeping)
    return heading_at_last(path, ways, time) or told


def _moved_from(
    path: Path,
    along: _Along,
    keeping: Keeping,
    fits: Sequence[Ease],
    reached: Ease | None,
    own: Keeping,
    measures: Measures,
    comb: Lanes,
    early: NDArray[np.bool_],
    beside: float,
) -> tuple[Place | None, Keeping]:
    """Where it was at first, and its moves from there: who stood there is seen to set off by more than a smooth step."""
    if along.stood > 0:
        keeping = set_off(path, keeping, own, fits, along.late, along.even)
    origin = middle_of(path, early, comb)
    if caught_moving(keeping, origin, float(path.times[0])):
        origin += float(np.sign(origin)) * 0.5  # the lane it comes from, not the line it is on
    place = place_of(path, measures, comb, early, origin, along.stood > 0)
    if place == "edge" and along.stood > 0 and not keeping.moves:
        keeping = set_off(path, keeping, own, fits, along.late, along.even, beyond=True)
        if not keeping.moves and reached is not None:
            keeping = set_off(path, keeping, own, [reached], along.late, along.even, beyond=True, door=DOOR_REACH)
    if place != "lane" and along.never > 0 and abs(beside) < 1.3:
        place = "lane"  # what drives along is in a lane, even where the far line is out of sight, or looks like none
    return place, keeping


def _headway(path: Path, ways: Floats, own: Keeping) -> float | None:
    """Seconds from the camera to its rear at the ego's pace, when the ego began to move over: distance and pace have one unit."""
    if not own.moves:
        return None
    near = np.abs(path.times - own.moves[0].start) <= 0.5
    near &= ~path.hidden & ~path.cut
    if near.sum() < 5:
        return None
    pace = float(np.polyfit(path.times[near], ways[near], 1)[0])
    return float(np.median(1 / path.near[near])) / pace if pace > 0 else None


def _capped(keeping: Keeping, confidence: float) -> Keeping:
    """Nothing about a vehicle is surer than that it is the one."""
    moves = tuple(move._replace(confidence=min(move.confidence, confidence)) for move in keeping.moves)
    return keeping._replace(moves=moves, kept=min(keeping.kept, confidence))


def _came_past(path: Path, measures: Measures) -> bool:
    """First seen large at the picture's edge, then shrinking: it overtook the camera."""
    if path.times[0] < measures.times[0] + 0.5 or len(path.times) < 10:
        return False
    start = float(path.near[:3].mean())
    return bool(path.cut[:3].all() and start > 0.2 * measures.size[1] and path.near[8:16].mean() < 0.9 * start)


def _drew_up(path: Path, measures: Measures) -> bool:
    """First seen in mid-film, near and cut off by the picture's edge: it had been beside or behind the camera."""
    late = path.times[0] > measures.times[0] + 0.5
    return bool(late and path.cut[:3].all() and float(path.near[:5].max()) > 0.2 * measures.size[1])


def _standing_with(path: Path, paths: Sequence[Path], measures: Measures, way: Floats, first: float) -> int:
    """How many others stood in the same lane, or row, at about the same time."""
    standing = 0
    lane = float(np.median(path.across[path.times <= first + 0.2])) if (path.times <= first + 0.2).any() else 0.0
    for other in paths:
        if other.number == path.number or other.times[-1] < first - 3.0 or other.times[0] > first + 2.5:
            continue
        if abs(float(np.median(other.across)) - lane) > 0.45:
            continue
        ways = np.interp(other.times, measures.times, way)
        pace = pace_over(other, ways, float(other.times[0]), float(other.times[-1]))
        if pace is not None and BACKWARDS < pace.share < STANDS and pace.error < 0.1:
            standing += 1
    return standing
