"""When a vehicle that comes nearer is level with the camera, and when all of it has gone past. Pure.

At a steady pace ``1 / near`` falls in a straight line; it is nought where the near end is level with the camera. Nearer
than ``USABLE`` a foot leaves the picture, and what is still seen of the vehicle comes no nearer.
"""

import numpy as np
from numpy.typing import NDArray

from vlmrec.observer.paths import Path

Floats = NDArray[np.float64]

LATEST = 1.5  # s over which its coming nearer is carried on
USABLE = (0.06, 0.24)  # of the picture's height below the vanishing point: rows that tell distance
LEAST = 8  # such rows that a straight line needs
LONG = 0.02  # 1/px of way: a car and the ego, end to end, for most cameras
ASIDE = 0.45  # lanes off the camera of one that went by and not into the ego


def level_and_rate(path: Path, height: int) -> tuple[float, float] | None:
    """When its near end comes level with the camera if it goes on as last seen, and how much of ``1 / near`` it makes up a second."""
    use = ~path.hidden & (path.near > USABLE[0] * height) & (path.near < USABLE[1] * height)
    if use.sum() < LEAST:
        return None
    use &= path.times > path.times[use][-1] - LATEST
    if use.sum() < LEAST // 2:
        return None
    slope, offset = np.polyfit(path.times[use], 1 / path.near[use], 1)
    return (float(-offset / slope), float(-slope)) if slope < 0 else None


def gone_by(path: Path, time: float, height: int) -> bool:
    """Whether all of it was behind the ego by ``time``: last seen beside it, and gone past quickly enough."""
    before = path.times <= time
    last = path.beside[before & (path.near > USABLE[1] * height)]
    level = level_and_rate(path.first(int(before.sum())), height)
    if level is None or len(last) < 2 or float(np.abs(last[-3:]).min()) < ASIDE:
        return False
    return level[0] + LONG / level[1] < time
