"""Obstacles followed from picture to picture."""

from collections.abc import Callable, Sequence
from functools import partial
from statistics import median
from typing import NamedTuple

from vlmrec.observer.obstacles import Obstacle

OVERLAP = 0.15  # least intersection over union with the place foretold
PATIENCE = 0.45  # s without a sighting after which a track ends
PATIENCE_AT_EDGE = 1.4  # s, the same for what the picture's edge cuts off
SHORTEST = 4  # sightings


class Sighting(NamedTuple):
    """An obstacle in one frame. ``x`` is the vanishing point's column in that frame."""

    time: float
    x: float
    obstacle: Obstacle

    @property
    def across(self) -> tuple[float, float]:
        """Left and right edge of the facing part, in camera heights right of the camera."""
        return (self.obstacle.left - self.x) / self.obstacle.base, (self.obstacle.right - self.x) / self.obstacle.base


class Track(NamedTuple):
    """One obstacle over time, in order of time."""

    number: int
    sightings: tuple[Sighting, ...]

    @property
    def first(self) -> float:
        return self.sightings[0].time

    @property
    def last(self) -> float:
        return self.sightings[-1].time


class _Open:
    """A track that goes on. It is foretold in the plane of the road: distance is ``1 / row``, places across are rows' shares."""

    def __init__(self, sighting: Sighting) -> None:
        self.sightings = [sighting]

    def foretold(self, time: float, step: float) -> list[tuple[float, float, float]]:
        """Base and outer edges at ``time``, one for each way it may drive. ``step`` is the camera's own way since its last."""
        last = self.sightings[-1]
        gap = min(time - last.time, 0.4)
        recent = [s for s in self.sightings[-6:] if last.time - s.time <= 0.5]
        if len(recent) >= 3:
            speeds = [_slope(recent, lambda s: 1 / s.obstacle.base)]
        else:  # one that keeps its distance, or one that stands
            speeds = [0.0, -step / max(time - last.time, 1e-3)]
        slides = [0.0, 0.0]
        if len(recent) >= 3:
            slides = [_slope(recent, partial(_across, side=side)) for side in (0, 1)]
        places = []
        for speed in speeds:
            base = 1 / min(max(1 / last.obstacle.base + speed * gap, 0.5 / last.obstacle.base), 2 / last.obstacle.base)
            left, right = (last.x + (_across(last, side) + slides[side] * gap) * base for side in (0, 1))
            places.append((base, min(left, right), max(left, right)))
        return places

    def add(self, sighting: Sighting) -> None:
        self.sightings.append(sighting)


def _across(sighting: Sighting, side: int) -> float:
    """Place of an outer edge across, as a share of the base row."""
    edge = sighting.obstacle.outer_right if side else sighting.obstacle.outer_left
    return (edge - sighting.x) / sighting.obstacle.base


def _slope(sightings: Sequence[Sighting], value: Callable[[Sighting], float]) -> float:
    """The median of the slopes between sightings, per second."""
    return median(
        (value(b) - value(a)) / (b.time - a.time) for i, a in enumerate(sightings) for b in sightings[i + 1 :]
    )


def follow(
    frames: Sequence[tuple[float, float, Sequence[Obstacle]]], width: int, steps: Sequence[float] = ()
) -> tuple[Track, ...]:
    """Tracks over ``frames`` (time, column of the vanishing point, obstacles) of pictures ``width`` px wide.

    ``steps`` is the camera's own way into each frame, in the unit of ``1 / row``; none where it is not known.

    Best overlap first; ties by age. What the picture's edge cuts off is waited for longer: it may show again.
    """
    live: list[_Open] = []
    done: list[_Open] = []
    for number, (time, x, obstacles) in enumerate(frames):
        live, ended = _split(live, time, width)
        done += ended
        pairs = []
        for age, track in enumerate(live):
            places = track.foretold(time, steps[number] if steps else 0.0)
            for place_index, obstacle in enumerate(obstacles):
                overlap = max(_overlap(place, obstacle, width) for place in places)
                if overlap >= OVERLAP:
                    pairs.append((-overlap, age, place_index))
        used_tracks: set[int] = set()
        used_obstacles: set[int] = set()
        for _, age, place_index in sorted(pairs):
            if age in used_tracks or place_index in used_obstacles:
                continue
            used_tracks.add(age)
            used_obstacles.add(place_index)
            live[age].add(Sighting(time, x, obstacles[place_index]))
        live += [_Open(Sighting(time, x, o)) for i, o in enumerate(obstacles) if i not in used_obstacles]
    kept = [track for track in done + live if len(track.sightings) >= SHORTEST]
    kept.sort(key=lambda track: (track.sightings[0].time, -track.sightings[0].obstacle.base))
    return tuple(Track(number, tuple(track.sightings)) for number, track in enumerate(kept))


def _split(tracks: list[_Open], time: float, width: int) -> tuple[list[_Open], list[_Open]]:
    live: list[_Open] = []
    ended: list[_Open] = []
    for track in tracks:
        last = track.sightings[-1]
        at_edge = last.obstacle.outer_left <= 2 or last.obstacle.outer_right >= width - 3
        patience = PATIENCE_AT_EDGE if at_edge else PATIENCE
        (live if time - last.time <= patience else ended).append(track)
    return live, ended


def _overlap(place: tuple[float, float, float], obstacle: Obstacle, width: int) -> float:
    """Intersection over union, inside the picture, of two boxes that stand on their base and reach the horizon."""
    base, left, right = place
    left, right = max(left, 0.0), min(right, width - 1.0)
    across = min(right, obstacle.outer_right) - max(left, obstacle.outer_left)
    if across <= 0:
        return 0.0
    shared = across * min(base, obstacle.base)
    whole = (right - left) * base + (obstacle.outer_right - obstacle.outer_left) * obstacle.base - shared
    return shared / whole
