"""The vehicle that the ego drove out from behind of, went past and came back in front of. Pure.

At the contact it is beside or behind the camera, out of sight; what is in sight there is something else. It was ahead
in the lane that the ego left, and its distance shrank at a rate that brings it level with the camera before the end.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from vlmrec.observer.candidates import Candidate
from vlmrec.observer.ego import CHANGED
from vlmrec.observer.passing import USABLE, level_and_rate
from vlmrec.observer.paths import Path
from vlmrec.observer.scene import Keeping, Move

Floats = NDArray[np.float64]

SAME = 0.4  # lanes off the ego's lane before it moved out, at most
GONE_OUT = 0.5  # lanes off the ego's own place that the passed one was seen at, at least
SLACK = 0.3  # s before the contact by which it must have come level


def out_and_back(own: Keeping) -> tuple[Move, Move] | None:
    """The ego's last two moves where the first led into another lane and the second back."""
    if len(own.moves) < 2:
        return None
    out, back = own.moves[-2:]
    return (out, back) if abs(out.shift) >= CHANGED and out.shift * back.shift < 0 else None


def overtaken(paths: Sequence[Path], own: Keeping, home: float, time: float, height: int) -> Candidate | None:
    """The one passed, where the ego moved out and was moving back at ``time``. ``home`` is its lane place before,
    ``height`` the picture's."""
    moves = out_and_back(own)
    if moves is None or moves[1].end < time - 0.8:
        return None
    out, back = moves
    if any(_in_the_way(path, time, height) for path in paths):
        return None
    found = []
    for path in paths:
        early = path.times <= max(out.start + 0.2, path.times[0] + 0.4)
        if early.sum() < 3 or len(path.times) < 12 or not out.end <= path.times[-1] < time - SLACK:
            continue
        if abs(float(np.median(path.across[early])) - home) > SAME or np.sign(path.beside[-1]) != np.sign(back.shift):
            continue
        level = level_and_rate(path, height)
        if level is not None and out.end < level[0] < time - SLACK and abs(float(path.beside[-1])) > GONE_OUT:
            told = _told(path, height)
            found.append(Candidate(told, "passed", float(told.near[-5:].max()), True))
    found.sort(key=lambda candidate: (-candidate.score, candidate.path.number))
    return found[0] if found else None


def _in_the_way(path: Path, time: float, height: int) -> bool:
    """Still straight ahead and large at the contact: then that was hit."""
    last = (path.times >= time - 0.3) & (path.times <= time + 0.1)
    return bool(
        last.any()
        and float(np.abs(path.beside[last]).min()) < 0.45
        and float(path.near[last].max()) > 0.28 * height
        and len(path.times) >= 12
    )


def _told(path: Path, height: int) -> Path:
    """The path up to the last row that tells where the vehicle is."""
    return path.first(int(np.flatnonzero(path.near < USABLE[1] * height)[-1]) + 1)
