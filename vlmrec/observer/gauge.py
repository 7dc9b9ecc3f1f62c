"""Whether the lines' spacing fits the vehicles between them. Pure.

A lane is made for vehicles: few roads give a car more than twice its own width and a little. Where several vehicles
agree about how wide one is, that is what cars are wide there; a comb whose lanes are far wider than that has skipped a line.
"""

from collections.abc import Sequence

import numpy as np

from vlmrec.observer.paths import whole_widths
from vlmrec.observer.tracks import Track

LEAST, SEEN = 4, 8  # vehicles; whole sightings of each
ALIKE = 1.1  # widest by narrowest of those that agree: cars differ by as much
LEAST_SHARE = 0.42  # of a lane that a car fills at least: 1.6 m of 3.75 m


def too_wide(tracks: Sequence[Track], spacing: float, picture_width: int) -> bool:
    """Whether the widest vehicles, several of one width, would be lost in a lane of ``spacing`` camera heights."""
    seen = [widths for track in tracks if len(widths := whole_widths(track, picture_width)) >= SEEN]
    widest = sorted(float(np.median(widths)) for widths in seen)[-LEAST:]
    return len(widest) == LEAST and widest[-1] < min(ALIKE * widest[0], LEAST_SHARE * spacing)
