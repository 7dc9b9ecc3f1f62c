"""What is known about the vehicle that was hit: how it moved, stood and headed. Pure."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from vlmrec.observer.candidates import FOLLOWED, Candidate, is_dark
from vlmrec.observer.conduct import BACKWARDS, STANDS, level_with, pace_alongside, pace_over, paces
from vlmrec.observer.halting import halt_of
from vlmrec.observer.heading import heading_at_last, heading_of
from vlmrec.observer.history import with_history
from vlmrec.observer.lanes import Lanes, paint_at
from vlmrec.observer.measure import Measures
from vlmrec.observer.paths import HALF_WIDTHS, Path
from vlmrec.observer.reach import DOOR_REACH, reach_ease
from vlmrec.observer.scene import Heading, Keeping, Place, Rival
from vlmrec.observer.sideways import FAR, caught_moving, held
from vlmrec.observer.standing import even_pace, handed_over, set_off, stayed, stood_or_never, swung_out
from vlmrec.observer.things import shed, small

Floats = NDArray[np.float64]

FAR_PAINT = (
    0.31,
    0.35,
)  # share of a line that is painted: less is no line (kerbs and cracks give as much), more is one
DASHED = (0.3, 0.6)  # share of a broken line that is painted
HUGS = 0.12  # lanes between a line and the side of what stands behind it: in the middle of a lane it is twice that
PLAIN = 0.55  # share of a far line that is painted: more is a solid one, whatever else there is
NO_LANE = 0.87  # lanes between a line and the kerb: no lane fits in
LEAST_CLEAR = 6  # sightings near enough to tell a lane by


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
    close = (path.times >= time - 0.35) & (path.times <= time + 0.1)
    close = close if close.any() else np.arange(len(path.times)) >= len(path.times) - 3
    windows = paces(path, ways, time)
    whole = pace_over(path, ways, float(path.times[0]), time)
    late = windows[-1] if windows else None
    even = even_pace(path, ways, float(path.times[0]), time)
    stood, never = stood_or_never(path, ways, windows, first, time)
    halt = halt_of(path, ways, time)
    if candidate.over is not None:  # its rear end was seen at one place along the road, again and again
        stood, never = 0.85, 0.0
    if whole is None and not is_dark(measures) and (whole := pace_alongside(path, first, measures.size[1])) is not None:
        never = 0.7
    heading: Heading | None = "same"
    if candidate.over is None:
        heading = heading_of(path, time, whole, even, windows, stood, fits, keeping)
        heading = heading_at_last(path, ways, time) or heading
    if halt is not None and halt.came_to_it:
        stood = 0.0  # it stands, but had been moving
    reached = reach_ease(path, measures, comb.spacing, way, time) if stood > 0 else None
    stays = stood > 0 and stayed(path, ways, time, fits, reached)
    if candidate.over is None and handed_over(path, whole, windows, time):
        stood, never, keeping = 0.0, 0.0, Keeping(keeping.start, keeping.end, (), 0.0)
    if stood > 0:
        keeping = set_off(path, keeping, own, fits, late, even)
    origin = _middle(path, early, comb)
    if caught_moving(keeping, origin, float(path.times[0])):
        origin += float(np.sign(origin)) * 0.5  # the lane it comes from, not the line it is on
    place = _place(path, measures, comb, early, origin, stood > 0)
    if place == "edge" and stood > 0 and not keeping.moves:
        keeping = set_off(path, keeping, own, fits, late, even, beyond=True)
        if not keeping.moves and reached is not None:
            keeping = set_off(path, keeping, own, [reached], late, even, beyond=True, door=DOOR_REACH)
    if place != "lane" and never > 0 and abs(beside) < 1.3:
        place = "lane"  # what drives along is in a lane, even where the far line is out of sight, or looks like none
    with_it = _standing_with(path, paths, measures, way, first)
    queued = candidate.over is not None or (stood > 0 and with_it >= (1 if place == "edge" else 2))
    if queued and place == "lane" and candidate.how == "beside" and not keeping.moves:
        keeping = swung_out(path, keeping, own, time, candidate.over)
    drew_up = _drew_up(path, measures)
    if drew_up and candidate.how == "beside":
        keeping = keeping._replace(kept=0.0)  # its flank is cut off, and what is lowest of it may be its shade
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
        pace=None if whole is None or whole.error > 0.2 else whole.share,
        late_pace=None if late is None or late.end < time - 1.2 else late.share,
        late_error=0.0 if late is None else late.error,
        stood=min(stood, confidence),
        stayed=stays,
        halted=None if halt is None else halt.stood,
        came_to_a_stand=halt is not None and halt.came_to_it,
        never_stood=min(never, confidence),
        place=place,
        queued=queued,
        small=small(path, time) if abs(beside) < 0.4 else 0.0,
        shed=shed(path, paths, time),
        confidence=confidence,
        drew_up=drew_up,
        headway=_headway(path, ways, own),
    )


def _middle(path: Path, early: NDArray[np.bool_], comb: Lanes) -> float:
    """Its middle, in lanes right of the camera: at least half the narrowest vehicle beyond the side that faces the ego's way."""
    middle, side = float(np.median(path.beside[early])), float(np.median(path.inner[early]))
    least = HALF_WIDTHS[0] / comb.spacing
    return (
        float(np.sign(middle)) * max(abs(middle), abs(side) + least)
        if abs(side) > least and middle * side > 0
        else middle
    )


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


def _place(
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
