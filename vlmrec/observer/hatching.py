"""What painted stretches along a lane say: a hatched zone driven over, a lane that is painted over at its end. Pure.

A hatched zone is bars across the lane, several in a row over more than any crossing or word takes. Places are on the
ruler's own scale; ``here`` is where the camera was at the contact.
"""

from typing import Literal

import numpy as np

from vlmrec.observer.stretches import TRACE, Ruler, Stretch, littered, stretches

SHORT = 9.0  # m: an arrow, a word or a crossing with its stop line are no longer
LONG, BARS = 10.0, 4  # m and bars that make hatching
LEAVING, LEFT = 9.0, 12.0  # m from the last bar to the camera: a car of five metres has just left it, or has long since
COVERED = 0.7  # share of a way along a lane that must have been seen
SLANT = 8.0  # m of line along a lane's middle: it slants over it; no arrow is that long
JOINED = 1.5  # m: pauses of such a line, at most
MARK = 2.0  # m: an arrow, say; what is shorter may be dirt
SPECKLED = 0.12  # share of a lane's pieces with paint here and there: what is told of it is no paint
DASHES = 0.22  # the same: it is a broken line, of which a quarter at least is painted
BEHIND = 5.0  # m back from the contact: what is painted over further back was passed before


def hatching(line: Ruler, here: float) -> Literal["no", "at_edge", "cleared"] | None:
    """Hatching on the lane driven along up to ``here``, and how far back it ended. None where that isn't clear."""
    line = line.until(here)
    found = stretches(line)
    zones = [one for one in found if _zone(one)]
    if littered(line, zones) > SPECKLED:
        return None
    if not zones:
        return "no" if _covered(line, line.start, here) and all(one.length < SHORT for one in found) else None
    gone = here - zones[-1].end
    if gone < LEAVING:
        return "at_edge"
    return "cleared" if gone > LEFT and _covered(line, zones[-1].end, here) else None


def zoned(line: Ruler, here: float) -> bool:
    """Whether there may be hatching on the lane driven along, as far as can be seen."""
    return any(_zone(one) for one in stretches(line.until(here)))


def bare(line: Ruler, here: float) -> bool:
    """Whether a lane was seen nearly all the way to ``here``, and nothing long is painted on it."""
    found = stretches(line)
    long = any(one.length >= SHORT for one in found)
    return not long and _covered(line, line.start, here) and littered(line, found) <= SPECKLED


def closed(line: Ruler, here: float) -> bool:
    """Whether a lane is painted over about ``here``, by a line that slants over it or by bars.

    Where it seems bare that says little: the knock turns the camera, and the lane may no longer be where it was.
    """
    zones = [one for one in stretches(line) if _zone(one)]
    marks = [one for one in stretches(line, TRACE, JOINED) if one.length >= MARK]
    if littered(line, zones + marks) > SPECKLED:
        return False
    slants = [one for one in marks if one.length >= SLANT]
    return any(one.end > here - BEHIND for one in zones + slants)


def astray(line: Ruler, here: float) -> bool:
    """Whether there is paint all along the middle of the lane driven along: the lines are not where they are held to be."""
    line = line.until(here)
    return littered(line, [one for one in stretches(line) if _zone(one)]) > DASHES


def _zone(one: Stretch) -> bool:
    return one.length >= LONG and one.runs >= BARS


def _covered(line: Ruler, first: float, last: float) -> bool:
    """Whether nearly all of the lane between two places was seen."""
    pieces = np.isfinite(line.between(first, last))
    return bool(len(pieces)) and float(pieces.mean()) > COVERED
