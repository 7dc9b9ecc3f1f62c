"""Rows of standing vehicles beside the ego: each has a place of its own along the road. Pure.

To a camera that drives past, the vehicles of a row hide one another, and a track passes from one to the next. But what
stands keeps its place, the ego's way plus the distance: the rear ends of a row lie at places more than a short car's
length apart, and each is seen there again and again while the ego comes nearer. Whatever is seen between one rear end
and the next belongs to the one vehicle.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from vlmrec.observer.lanes import Lanes
from vlmrec.observer.measure import Measures
from vlmrec.observer.obstacles import Obstacle
from vlmrec.observer.paths import BORDER
from vlmrec.observer.tracks import SHORTEST, Sighting, Track

Floats = NDArray[np.float64]

NEAREST = 22.0  # px: a distance row; farther away, a row more or less is a metre or two
SPREAD = 0.004  # 1/px of way, some two metres for any usual camera: the places of one rear end lie within it
PITCH = 0.0075  # the same from one rear end to the next, at least: a short car and a gap
REACH = 1.5  # of the usual way from one rear end to the next: no vehicle reaches further ahead of its own
SEEN, APPROACHED = 6, 0.012  # frames in which a rear end must be seen, and the ego's way over which it is
MISSED = 0.7  # of that way, at most, over which it was not seen at a stretch: else two things were, by chance
STEADY = 0.12  # lanes off their middle, half of the places of its side at most
ROW, CLOSE = 3, 0.03  # vehicles, and 1/px of way, some twelve metres, from the rear end of one to the next
EVEN = (
    1.5  # times that: how much further apart two may be where all are far apart, for a metre is more with some cameras
)
BESIDE = (0.15, 1.3)  # lanes from the camera to the side of one of the row
# lanes from the row's usual side, outwards and towards the ego, of one of it at most
OUT_OF_LINE, COMING_OVER = 0.35, 0.6
# px: a distance row; sightings nearer than that; and camera heights that a wheel is wide
CLEAR, OFTEN, WHEEL = 40.0, 4, 0.65
AMISS = 0.003  # 1/px: how far off a rear end is measured at most


class Row(NamedTuple):
    """Standing vehicles on one side, in order along the road. ``tracks`` are their numbers, None for one hardly seen."""

    right: bool
    rears: tuple[float, ...]
    tracks: tuple[int | None, ...]

    def at(self, place: float) -> int | None:
        """The vehicle between whose rear end and the next a place along the road lies."""
        index = int(np.searchsorted(np.array(self.rears), place)) - 1
        return index if index >= 0 and place - self.rears[index] < reach(self.rears) else None


def in_rows(measures: Measures, lanes: Lanes, way: Floats) -> tuple[Measures, tuple[Row, ...]]:
    """The same measures with one track for each vehicle of a standing row, and the rows. ``way`` is the ego's per frame."""
    tracks = measures.tracks
    found: list[tuple[bool, tuple[float, ...], tuple[tuple[Sighting, ...], ...]]] = []
    for right in (False, True):
        whole = [
            (float(way[frame]) + 1 / obstacle.base, float(way[frame]), _side(obstacle, frame, right, lanes))
            for frame, obstacle in _each(measures)
            if _whole(obstacle, measures) and _beside(obstacle, right, lanes)
        ]
        widths = [
            (float(way[frame]) + 1 / obstacle.base, obstacle.width)
            for frame, obstacle in _each(measures)
            if _whole(obstacle, measures) and _beside(obstacle, right, lanes) and obstacle.base > CLEAR
        ]
        rears = longest_row([rear for rear in rear_ends(whole) if not wheel(rear, widths)])
        if len(rears) < ROW:
            continue
        line = float(np.median([side for place, _, side in whole if min(abs(place - rear) for rear in rears) < AMISS]))
        held: list[dict[int, list[Obstacle]]] = [{} for _ in rears]
        for frame, obstacle in _each(measures):
            outwards = (1 if right else -1) * (_side(obstacle, frame, right, lanes) - line)
            index = _slot(obstacle, float(way[frame]), rears, measures)
            if index is not None and -COMING_OVER < outwards < OUT_OF_LINE:
                held[index].setdefault(frame, []).append(obstacle)
        slots = tuple(
            tuple(
                Sighting(float(measures.times[frame]), float(measures.points_x[frame]), _merged(pieces))
                for frame, pieces in sorted(slot.items())
            )
            for slot in held
        )
        taken = {
            (float(measures.times[frame]), id(piece)) for slot in held for frame, ps in slot.items() for piece in ps
        }
        tracks = tuple(
            Track(0, tuple(s for s in track.sightings if (s.time, id(s.obstacle)) not in taken)) for track in tracks
        )
        found.append((right, rears, slots))
    if not found:
        return measures, ()
    kept = [track for track in tracks if len(track.sightings) >= SHORTEST]
    rows = []
    for right, rears, slots in found:
        numbers: list[int | None] = []
        for slot in slots:
            numbers.append(len(kept) if len(slot) >= SHORTEST else None)
            if len(slot) >= SHORTEST:
                kept.append(Track(0, slot))
        rows.append(Row(right, rears, tuple(numbers)))
    renumbered = tuple(track._replace(number=number) for number, track in enumerate(kept))
    return measures._replace(tracks=renumbered), tuple(rows)


def wheel(place: float, widths: Sequence[tuple[float, float]]) -> bool:
    """Whether what is seen at a place is a wheel that lies apart from its body: never as wide as a vehicle, near as it comes.

    Of every sighting from nearby the place and the width.
    """
    here = [width for at, width in widths if abs(at - place) < AMISS]
    return len(here) >= OFTEN and float(np.percentile(here, 90)) < WHEEL


def longest_row(rears: Sequence[float]) -> tuple[float, ...]:
    """The most rear ends that follow one another closely: by metres, roughly, or as the closest of them do."""
    steps = np.diff(rears)
    most = max(CLOSE, EVEN * min(float(np.percentile(steps, 25)), CLOSE)) if len(steps) else CLOSE
    parts: list[list[float]] = [[]]
    for rear in rears:
        if parts[-1] and rear - parts[-1][-1] > most:
            parts.append([])
        parts[-1].append(rear)
    longest: list[float] = max(parts, key=len)
    return tuple(longest)


def reach(rears: Sequence[float]) -> float:
    """How far one of a row may reach ahead of its rear end, where the next one's was not seen."""
    return REACH * float(np.median(np.diff(rears)))


def rear_ends(sightings: Sequence[tuple[float, float, float]]) -> tuple[float, ...]:
    """Places along the road at which something is seen to stand, while the ego comes nearer.

    Of every sighting the place, the ego's way, and the place of the side across the road, in lanes; in any order. The place
    with most sightings first; nothing else stands within a short car's length of it.
    """
    found: list[float] = []
    left = sorted(sightings)
    while left:
        places = np.array([place for place, *_ in left])
        ends = np.searchsorted(places, places + SPREAD, side="right")
        first = int(np.argmax(ends - np.arange(len(places))))
        here = left[first : ends[first]]
        if len(here) < SEEN:
            break
        middle = float(np.median(places[first : ends[first]]))
        if _stands(here) and all(abs(middle - other) > PITCH for other in found):
            found.append(middle)
        left = [one for one in left if abs(one[0] - middle) > PITCH / 2]
    return tuple(sorted(found))


def _stands(sightings: Sequence[tuple[float, float, float]]) -> bool:
    """Whether sightings at one place are of one thing that stands there."""
    ways = np.unique([way for _, way, _ in sightings])
    if len(ways) < SEEN or np.ptp(ways) < APPROACHED or np.diff(ways).max() > MISSED * np.ptp(ways):
        return False
    sides = np.array([side for *_, side in sightings])
    return float(np.median(np.abs(sides - np.median(sides)))) <= STEADY


def _each(measures: Measures) -> Iterator[tuple[int, Obstacle]]:
    for frame, obstacles in enumerate(measures.obstacles):
        for obstacle in obstacles:
            yield frame, obstacle


def _inner(obstacle: Obstacle, right: bool, lanes: Lanes) -> float:
    """Lanes right of the camera, of its side that faces the ego."""
    return (obstacle.foot_left if right else obstacle.foot_right) / lanes.spacing


def _side(obstacle: Obstacle, frame: int, right: bool, lanes: Lanes) -> float:
    """The same in lanes of the road, in which what stands keeps its place."""
    return _inner(obstacle, right, lanes) + float(lanes.offset[frame])


def _beside(obstacle: Obstacle, right: bool, lanes: Lanes) -> bool:
    """Whether it is on that side, a lane away or less."""
    return BESIDE[0] < (1 if right else -1) * _inner(obstacle, right, lanes) < BESIDE[1]


def _cut(obstacle: Obstacle, measures: Measures) -> bool:
    return obstacle.left <= BORDER or obstacle.right >= measures.size[0] - BORDER


def _whole(obstacle: Obstacle, measures: Measures) -> bool:
    """Whether its rear end is in sight, near enough to tell its place."""
    return obstacle.base >= NEAREST and not obstacle.hidden and not _cut(obstacle, measures)


def _slot(obstacle: Obstacle, way: float, rears: Sequence[float], measures: Measures) -> int | None:
    """The vehicle of the row that an obstacle is, or is part of: by its rear end, or its far end where that is cut off."""
    near, far = way + 1 / obstacle.base, way + 1 / max(obstacle.front, 1.0)
    place = far - 0.001 if obstacle.hidden or _cut(obstacle, measures) else near + AMISS
    index = int(np.searchsorted(np.array(rears), place)) - 1
    if index < 0 or near - rears[index] > reach(rears):
        return None
    return None if index + 1 < len(rears) and near > rears[index + 1] - AMISS else index


def _merged(pieces: Sequence[Obstacle]) -> Obstacle:
    """What was seen of one vehicle in one picture: the nearest piece, as far across and ahead as all of them reach."""
    nearest = max(pieces, key=lambda piece: (piece.base, -piece.left))
    return nearest._replace(
        outer_left=min(piece.outer_left for piece in pieces),
        outer_right=max(piece.outer_right for piece in pieces),
        foot_left=min(piece.foot_left for piece in pieces),
        foot_right=max(piece.foot_right for piece in pieces),
        front=min(piece.front for piece in pieces),
    )
