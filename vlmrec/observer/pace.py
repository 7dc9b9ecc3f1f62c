"""The ego's pace, from how far the road's own texture came nearer between two pictures.

Resampled evenly on ``1/q`` (``q``: rows below the vanishing point) the road is seen from above: whatever lies flat on it
moves by the same ``pace × time`` everywhere, near or far. So two pictures of it are laid over each other at every shift,
and the best match of all columns together is the way gone; single points lose themselves on asphalt, the whole doesn't.
What runs along the road unchanged (a solid line, a kerb) says nothing of the shift and is taken out first.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import cv2
import numpy as np
from numpy.typing import NDArray

from vlmrec.observer.camera import CameraStep
from vlmrec.observer.flow import Gray
from vlmrec.observer.horizon import Vanishing
from vlmrec.observer.road import Mask, RoadModel, off_road

Floats = NDArray[np.float64]
Reals = NDArray[np.float32]

ROWS, STEP = 240, 0.000125  # samples along the road, 1/px apart
COLUMNS, REACH = 64, 3.2  # samples across it, up to so many camera heights to either side
EVEN = 25  # samples over which the road's own shade is averaged out
LOUDEST = 25.0  # grey levels: paint counts for no more than this
FARTHEST = 0.6  # of the strip's length: a longer way leaves too little to compare
TOGETHER = 0.14  # s to either side whose matches are taken together
MATCHED = 0.25  # correlation from which on a shift is believed
CHANGE, MOST_CHANGE = 0.015, 0.45  # correlation that a change of the shift must be worth: per sample, and at most
STIRRED = 25.0  # px/s of the ground's corners: then no match without a shift is the road's
SHARED = 0.04  # of the strip's samples that both pictures must show


class Surface(NamedTuple):
    """The road from above: what differs from its surroundings along the road, and where it could be seen. Spectra."""

    shade: NDArray[np.complex128]
    power: NDArray[np.complex128]
    seen: NDArray[np.complex128]


def paces(
    grays: Sequence[Gray],
    odd: Sequence[Mask],
    points: Sequence[Vanishing],
    steps: Sequence[CameraStep],
    model: RoadModel,
) -> list[float | None]:
    """The pace of each step in 1/(px·s), None where the road showed nothing to tell it by.

    ``odd`` masks what isn't road, from ``model.top`` on; ``points`` are the vanishing points. What stays where it is in
    the picture while the ground's corners move is a reflection or the picture's own grid, and tells nothing.
    """
    surfaces = [_surface(gray, mask, here, model) for gray, mask, here in zip(grays, odd, points, strict=True)]
    matches = np.array([_match(before, after) for before, after in pairwise(surfaces)])
    gaps = np.array([step.gap for step in steps])
    usual = float(np.median(gaps))
    around = max(1, round(TOGETHER / usual))
    pooled = np.array([matches[max(0, i - around) : i + around + 1].mean(axis=0) for i in range(len(matches))])
    found: list[float | None] = []
    for curve, shift, step in zip(pooled, _steadiest(pooled), steps, strict=True):
        stuck = shift == 0 and step.stir is not None and step.stir / step.gap > STIRRED
        known = curve[shift] >= MATCHED and step.gap < 1.5 * usual and not stuck
        found.append(float(_refined(curve, shift) * STEP / step.gap) if known else None)
    return found


def _surface(gray: Gray, odd: Mask, here: Vanishing, model: RoadModel) -> Surface:
    height, width = gray.shape
    nearest = max(0.93 * height - here.y, 0.2 * height)
    rows = 1 / (1 / nearest + STEP * np.arange(ROWS))[:, None]
    map_x = (here.x + rows * np.linspace(-REACH, REACH, COLUMNS)[None, :]).astype(np.float32)
    map_y = np.repeat(here.y + rows, COLUMNS, axis=1).astype(np.float32)
    flat = cv2.remap(gray, map_x, map_y, cv2.INTER_LINEAR).astype(np.float32)
    things = cv2.remap(off_road(odd, model, here).astype(np.uint8) * 255, map_x, map_y, cv2.INTER_LINEAR)
    floor = model.floor[np.clip(map_x, 0, width - 1).astype(int)]
    seen: Reals = ((map_x > 1) & (map_x < width - 2) & (map_y < floor - 2) & (things < 20)).astype(np.float32)
    around = cv2.blur(flat * seen, (1, EVEN)) / np.maximum(cv2.blur(seen, (1, EVEN)), 1e-3)
    shade = np.clip(flat - around, -LOUDEST, LOUDEST) * seen
    return Surface(*(np.fft.rfft(part, 2 * ROWS, axis=0) for part in (shade, shade**2, seen)))


def _match(before: Surface, after: Surface) -> Floats:
    """Normalised correlation of two surfaces for every shift towards the camera, in samples."""
    most = int(FARTHEST * ROWS)

    def summed(one: NDArray[np.complex128], other: NDArray[np.complex128]) -> Floats:
        return np.fft.irfft((one * other.conj()).sum(axis=1), 2 * ROWS)[: most + 1]

    product, shared = summed(before.shade, after.shade), summed(before.seen, after.seen)
    scale = np.sqrt(
        np.maximum(summed(before.power, after.seen), 0.0) * np.maximum(summed(before.seen, after.power), 0.0)
    )
    enough = (shared > SHARED * ROWS * COLUMNS) & (scale > shared)
    return np.where(enough, product / np.maximum(scale, 1e-6), 0.0)


def _steadiest(matches: Floats) -> list[int]:
    """The shifts over time that match best while changing little: a vehicle gains or loses pace step by step.

    A collision may take most of it at once; so a change costs no more than ``MOST_CHANGE`` however large.
    """
    count, shifts = matches.shape
    distance = np.abs(np.arange(shifts)[:, None] - np.arange(shifts)[None, :])
    cost = np.minimum(CHANGE * distance, MOST_CHANGE)
    best = matches[0].copy()
    came_from = np.zeros((count, shifts), int)
    for index in range(1, count):
        total = best[:, None] - cost
        came_from[index] = total.argmax(axis=0)
        best = total.max(axis=0) + matches[index]
    path = [int(best.argmax())]
    for index in range(count - 1, 0, -1):
        path.append(int(came_from[index, path[-1]]))
    return path[::-1]


def _refined(curve: Floats, shift: int) -> float:
    """The top of the parabola through a match and its neighbours."""
    if not 0 < shift < len(curve) - 1:
        return float(shift)
    left, middle, right = curve[shift - 1 : shift + 2]
    bend = left - 2 * middle + right
    return shift + float(np.clip(0.5 * (left - right) / bend, -1.0, 1.0)) if bend < 0 else float(shift)
