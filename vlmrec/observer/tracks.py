"""Obstacles followed from picture to picture."""

from collections.abc import Sequence
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
    def __init__(self, sighting: Sighting) -> None:
        self.sightings = [sighting]
        self.growth = 0.0  # of log base, per second
        self.slide = 0.0  # of the facing part's middle, px per second

    def foretold(self, time: float) -> tuple[float, float, float]:
        last = self.sightings[-1]
        gap = min(time - last.time, 0.3)
        grown = 1 + max(-0.5, min(1.0, self.growth * gap))
        shift = self.slide * gap
        middle = (last.obstacle.outer_left + last.obstacle.outer_right) / 2 + shift
        half = (last.obstacle.outer_right - last.obstacle.outer_left) / 2 * grown
        return last.obstacle.base * grown, middle - half, middle + half

    def add(self, sighting: Sighting) -> None:
        last = self.sightings[-1]
        gap = sighting.time - last.time
        growth = (sighting.obstacle.base / last.obstacle.base - 1) / gap
        slide = (_middle(sighting.obstacle) - _middle(last.obstacle)) / gap
        self.growth += 0.4 * (growth - self.growth)
        self.slide += 0.4 * (slide - self.slide)
        self.sightings.append(sighting)


def follow(frames: Sequence[tuple[float, float, Sequence[Obstacle]]], width: int) -> tuple[Track, ...]:
    """Tracks over ``frames`` (time, column of the vanishing point, obstacles) of pictures ``width`` px wide.

    Best overlap first; ties by age. What the picture's edge cuts off is waited for longer: it may show again.
    """
    live: list[_Open] = []
    done: list[_Open] = []
    for time, x, obstacles in frames:
        live, ended = _split(live, time, width)
        done += ended
        pairs = []
        for age, track in enumerate(live):
            place = track.foretold(time)
            for place_index, obstacle in enumerate(obstacles):
                overlap = _overlap(place, obstacle)
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


def _overlap(place: tuple[float, float, float], obstacle: Obstacle) -> float:
    """Intersection over union of two boxes that stand on their base and reach the horizon."""
    base, left, right = place
    across = min(right, obstacle.outer_right) - max(left, obstacle.outer_left)
    if across <= 0:
        return 0.0
    shared = across * min(base, obstacle.base)
    whole = (right - left) * base + (obstacle.outer_right - obstacle.outer_left) * obstacle.base - shared
    return shared / whole


def _middle(obstacle: Obstacle) -> float:
    return (obstacle.outer_left + obstacle.outer_right) / 2
