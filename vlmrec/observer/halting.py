"""A vehicle that brakes before the contact: when it comes to a stand, and how fast it had been. Pure.

Its place along the road is the ego's way plus ``1/q``. Braking evenly and then standing, it lies ``a/2·(s-t)²`` short of
where it stops, up to the moment ``s``, and there afterwards: every ``s`` that fits about as well as the best may be
the true one. Close before the camera a foot may jump from a tyre to a shade or a bumper, so a miss counts up to a bound.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from vlmrec.observer.paths import Path

Floats = NDArray[np.float64]

BRAKING, UNSEEN = 1.3, 0.5  # s before the contact from which on it brakes evenly, and for which it may be out of sight
AT_LAST = 0.17  # s before the knock: contacts are found a little late, and what was hit doesn't brake evenly
# s after the knock: it stopped by then for certain, or not before, as far as is known
STOPPED, STILL_MOVING = -0.07, -0.1
SEVERAL = 8  # sightings that a fit needs
ROUGH, AS_GOOD = 0.85, 1.2  # px by which its foot may miss an even stop; times the least miss that fit as well
OUTLIER = 1.5  # px: a larger miss counts as this much
STEP = 0.02  # s
BESIDES = 3  # sightings between the two that a fit is drawn through, at least
NEAREST = 90.0  # px: rows nearer than this are told no better, for the ego's way is not
MOVED = 0.2  # of the ego's pace, that one must have had which is known to have been moving


class Halt(NamedTuple):
    """When it came, or would come, to a stand, in s after the contact: ``first`` at the earliest, ``last`` at the latest.

    ``before`` is its pace when it began to be watched, as a share of the ego's: at least so much.
    """

    first: float
    last: float
    before: float

    @property
    def stood(self) -> bool | None:
        """Whether it stood at the contact, or was moving still; None where neither is clear."""
        return True if self.last <= STOPPED else False if self.first >= STILL_MOVING else None

    @property
    def came_to_it(self) -> bool:
        """Whether it was seen to move and then to stand: it had not been standing there before."""
        return self.stood is True and self.before >= MOVED


def halt_of(path: Path, ways: Floats, time: float) -> Halt | None:
    """The stop of the vehicle of ``path`` about the contact at ``time``; None where nothing like one fits.

    ``ways`` is the ego's way at its sightings.
    """
    use = (path.times > time - BRAKING) & (path.times < time - AT_LAST) & ~path.hidden & ~path.cut
    times = path.times[use] - time
    if len(times) < SEVERAL or times[-1] < -UNSEEN:
        return None
    places, weight = ways[use] + 1 / path.near[use], np.minimum(path.near[use], NEAREST) ** 2
    stops = np.arange(-BRAKING, BRAKING, STEP)
    fits = [_stopping(times, places, weight, float(stop)) for stop in stops]
    misses, rates = np.array([fit[0] for fit in fits]), np.array([fit[1] for fit in fits])
    if misses.min() > ROUGH:
        return None
    likely = misses <= AS_GOOD * misses.min()
    pace = float(np.polyfit(times, ways[use], 1)[0])
    before = rates * np.maximum(stops - times[0], 0.0) / pace if pace > 0 else np.zeros(len(stops))
    return Halt(float(stops[likely][0]), float(stops[likely][-1]), float(before[likely].min()))


def _stopping(times: Floats, places: Floats, weight: Floats, stop: float) -> tuple[float, float]:
    """How many px rows miss, each miss bounded, those of a vehicle that brakes evenly and stands from ``stop`` on; and how
    hard it brakes. ``weight`` is px for a place along the road.
    """
    short = -(np.maximum(stop - times, 0.0) ** 2) / 2
    first, second = np.triu_indices(len(times), BESIDES)
    run = short[second] - short[first]
    rates = np.where(run > 1e-6, (places[second] - places[first]) / np.where(run > 1e-6, run, 1.0), 0.0)
    rates = np.maximum(rates, 0.0)  # what sets off is not what stops
    rest = places - (places[first] - rates * short[first])[:, None] - rates[:, None] * short
    missed = np.minimum(np.abs(rest) * weight, OUTLIER)
    best = int(np.argmin((missed**2).mean(axis=1)))
    miss, rate = float(np.sqrt((missed[best] ** 2).mean())), float(rates[best])
    near = missed[best] < OUTLIER
    if near.sum() <= BESIDES:
        return miss, rate
    finer = _fitted(short[near], places[near], weight[near])
    rest = np.minimum(np.abs(places - finer[0] - finer[1] * short) * weight, OUTLIER)
    finest = float(np.sqrt((rest**2).mean()))
    return (finest, finer[1]) if finest < miss else (miss, rate)


def _fitted(short: Floats, places: Floats, weight: Floats) -> tuple[float, float]:
    """Where it stops and how hard it brakes, by least squares."""
    design = np.stack([np.ones_like(short), short], axis=1) * weight[:, None]
    place, rate = np.linalg.lstsq(design, places * weight, rcond=None)[0]
    return (float(place), float(rate)) if rate > 0 else (float(np.average(places, weights=weight**2)), 0.0)
