"""What a piece of a vehicle was before: close by, a vehicle breaks into pieces, and each of them seems to have just come. Pure.

Two vehicles can't be in one place. What begins to be followed shortly before the contact between the near and the far end
of a vehicle that had been followed for longer, and no further aside than that vehicle, is a part of it; so is what is
seen beside it all the while with no room between them.
"""

from collections.abc import Sequence

import numpy as np

from vlmrec.observer.paths import Path, untorn
from vlmrec.observer.pieces import appended, coincide

NEW = 1.6  # s before the contact, at most, that a piece begins
LONGER = 1.0  # s that the whole was followed before the piece was
LOST = 0.15  # s since the whole was last seen, at most
ASIDE = 0.3  # lanes between the sides that face the ego's way
WITHIN = (0.85, 1.25)  # of the rows of the whole's far and near ends
FIRST = 3  # sightings that tell where a piece begins, or where the whole was up to then


def with_history(path: Path, paths: Sequence[Path], time: float) -> Path:
    """``path``, or where it is a piece of a vehicle followed for longer, that vehicle's way and then its own."""
    if path.times[0] < time - NEW or len(path.times) < FIRST:
        return path
    wholes = [untorn(other, time) for other in paths if other.number != path.number]
    wholes = [other for other in wholes if _is_part(path, other)]
    if not wholes:
        return path
    whole = max(wholes, key=lambda other: (float(other.times[-1] - other.times[0]), -other.number))
    before = whole.first(int((whole.times < min(time - LOST, float(path.times[-1]))).sum()))
    return appended(before, path) if len(before.times) else path


def _is_part(path: Path, whole: Path) -> bool:
    start = float(path.times[0])
    before = np.flatnonzero(whole.times <= start + 1e-3)[-FIRST:]
    if not len(before) or start - whole.times[0] < LONGER or start - whole.times[before[-1]] > LOST:
        return False
    aside = abs(float(np.median(path.inner[:FIRST]) - np.median(whole.inner[before])))
    if aside > ASIDE and not coincide(path, whole):
        return False
    row, last = float(path.near[0]), before[-1]
    return bool(WITHIN[0] * whole.front[last] <= row <= WITHIN[1] * whole.near[last])
