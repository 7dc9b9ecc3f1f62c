"""Two vehicles that grow together in the picture, one beside or behind the other: whose way it is from then on. Pure.

Seen as one obstacle they are followed as one of the two, at random. No vehicle leaps aside: a track that does, from where
it was onto the place of another one that is lost there, goes on as that other one; its own way ended at the leap.
"""

from collections.abc import Sequence

import numpy as np

from vlmrec.observer.paths import LEAP, Path
from vlmrec.observer.pieces import appended

AT_ONCE = 0.2  # s within which it leaps
FOLLOWED = 1.0  # s that both must have been followed before
SIGHTINGS = 6  # before and after the leap, at least
SETTLED = 0.5  # of a leap: places before it, and after it, keep together better
LOST = 0.45  # s before or after the leap in which the other one is lost
PLACE, LONG = 0.15, 0.008  # lanes, and 1/px of distance: there was the other one


def parted(paths: Sequence[Path]) -> tuple[Path, ...]:
    """The same ways, each that leapt onto another cut at its leap, the rest given to that other one."""
    found = list(paths)
    for place, path in enumerate(paths):
        leap = _leap(path)
        if leap is None:
            continue
        others = [index for index, other in enumerate(found) if index != place and _lost_there(other, path, leap)]
        if len(others) == 1:
            found[place] = path.first(leap)
            before = found[others[0]]
            before = before.first(int((before.times < path.times[leap]).sum()))
            found[others[0]] = appended(before, path.part(slice(leap, None)))._replace(number=before.number)
    return tuple(found)


def _leap(path: Path) -> int | None:
    """The first sighting after a leap of the side that faces the ego's way; None where there is none, or more than one."""
    steps, gaps = np.abs(np.diff(path.inner)), np.diff(path.times)
    leaps = np.flatnonzero((steps > LEAP) & (gaps <= AT_ONCE)) + 1
    if len(leaps) != 1:
        return None
    leap = int(leaps[0])
    before, after = path.inner[max(0, leap - SIGHTINGS) : leap], path.inner[leap : leap + SIGHTINGS]
    if min(len(before), len(after)) < SIGHTINGS or path.times[leap] - path.times[0] < FOLLOWED:
        return None
    least = SETTLED * float(steps[leap - 1])
    return leap if float(np.ptp(before)) < least and float(np.ptp(after)) < least else None


def _lost_there(other: Path, path: Path, leap: int) -> bool:
    time = float(path.times[leap])
    last = np.flatnonzero(other.times < time)[-SIGHTINGS:]
    if len(last) < SIGHTINGS or time - other.times[0] < FOLLOWED or abs(float(other.times[-1]) - time) > LOST:
        return False
    after = slice(leap, leap + SIGHTINGS)
    aside = abs(float(np.median(other.inner[last]) - np.median(path.inner[after])))
    return aside < PLACE and abs(float(1 / other.near[last[-1]] - 1 / path.near[leap])) < LONG
