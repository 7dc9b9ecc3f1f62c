"""Tracks of one vehicle that broke off and was picked up as another, threaded together again. Pure.

A vehicle that comes near over hatching or a line grows together with the paint, or falls into wheels and bumper, and so
its track ends in mid-road. But no vehicle vanishes there: whatever is seen right afterwards at the place and with the
pace foretold is the same one, whether it is new or had been followed as something else till then.
"""

from collections.abc import Sequence
from statistics import median
from typing import NamedTuple

from vlmrec.observer.tracks import SHORTEST, Sighting, Track

WATCHED = 1.0  # s that a track must have been followed to be foretold
RECENT = 1.2  # s before its end that it is foretold from
AWAY = 0.6  # s within which it must be seen again
BORNE_OUT = 0.9  # s over which what takes over must go on as foretold
ALONG, ALONG_SHARE = 0.003, 0.12  # 1/px, and of the distance itself: how far off what is foretold may be
COVERED = 0.5  # of the narrower of the two widths that must lie within the other
LEAST_NEAR = 20.0  # px: a farther vehicle is no wider than a few pixels
AGREE = 0.6  # share of sightings
BORDER = 4.0  # px: an edge this near to the picture's edge is cut off


class _Course(NamedTuple):
    """Where a vehicle goes: distance ``1 / row`` and both sides in camera heights, linear in time."""

    time: float
    far: float
    far_speed: float
    sides: tuple[float, float]
    slide: float

    def distance(self, time: float) -> float:
        return max(self.far + self.far_speed * (time - self.time), 0.5 * self.far)

    def across(self, time: float) -> tuple[float, float]:
        gone = self.slide * (time - self.time)
        return self.sides[0] + gone, self.sides[1] + gone


def threaded(tracks: Sequence[Track], width: int) -> tuple[Track, ...]:
    """The same tracks, those joined that are one vehicle. ``width`` is the picture's, in px."""
    parts = [list(track.sightings) for track in tracks]
    for index in sorted(range(len(parts)), key=lambda index: (parts[index][-1].time, index)):
        while (found := _successor(index, parts, width)) is not None:
            other, end = found
            after = [sighting for sighting in parts[other] if sighting.time > end]
            parts[index] = [sighting for sighting in parts[index] if sighting.time <= end] + after
            parts[other] = [sighting for sighting in parts[other] if sighting.time <= end]
    kept = sorted(
        (part for part in parts if len(part) >= SHORTEST), key=lambda part: (part[0].time, -part[0].obstacle.base)
    )
    return tuple(Track(number, tuple(part)) for number, part in enumerate(kept))


def _successor(index: int, parts: Sequence[Sequence[Sighting]], width: int) -> tuple[int, float] | None:
    """Which other part takes up part ``index``, and after what time; None where there is none, or it did not break off."""
    part = parts[index]
    if len(part) < SHORTEST or part[-1].time - part[0].time < WATCHED:
        return None
    course, end = _course(part)
    last = [sighting for sighting in part if sighting.time <= end][-1].obstacle
    if last.base < LEAST_NEAR or last.outer_left <= BORDER or last.outer_right >= width - BORDER:
        return None
    fits = [
        (-share, other)
        for other, rest in enumerate(parts)
        if other != index and (share := _takes_up(course, end, rest)) is not None
    ]
    return (min(fits)[1], end) if fits else None


def _course(part: Sequence[Sighting]) -> tuple[_Course, float]:
    """Its course over its last second, and the time of the last sighting that lies on it."""
    recent = [sighting for sighting in part if sighting.time >= part[-1].time - RECENT]
    time = recent[-1].time
    speed = _slope([(s.time, 1 / s.obstacle.base) for s in recent])
    far = median(1 / s.obstacle.base + speed * (time - s.time) for s in recent)
    middles = [(s.time, sum(s.across) / 2) for s in recent]
    slide = _slope(middles)
    left, right = (median(s.across[side] + slide * (time - s.time) for s in recent) for side in (0, 1))
    course = _Course(time, far, speed, (left, right), slide)
    good = [s.time for s in recent if _lies_on(course, s)]
    return course, good[-1] if good else time


def _slope(points: Sequence[tuple[float, float]]) -> float:
    """The median of the slopes between points at least a fifth of a second apart; 0 where there are none."""
    slopes = [(v - u) / (t - s) for i, (s, u) in enumerate(points) for t, v in points[i + 1 :] if t - s > 0.2]
    return median(slopes) if slopes else 0.0


def _takes_up(course: _Course, end: float, rest: Sequence[Sighting]) -> float | None:
    """The share of sightings of ``rest`` soon after ``end`` that lie on the course; None where it doesn't take it up."""
    soon = [sighting for sighting in rest if end < sighting.time <= end + AWAY]
    later = [sighting for sighting in rest if end < sighting.time <= end + BORNE_OUT]
    if len(soon) < 3 or not _lies_on(course, soon[0]):
        return None
    share = sum(_lies_on(course, sighting) for sighting in later) / len(later)
    return share if share >= AGREE else None


def _lies_on(course: _Course, sighting: Sighting) -> bool:
    distance = course.distance(sighting.time)
    if abs(1 / sighting.obstacle.base - distance) > ALONG + ALONG_SHARE * distance:
        return False
    left, right = course.across(sighting.time)
    low, high = sighting.across
    shared = min(right, high) - max(left, low)
    return shared >= COVERED * min(right - left, high - low)
