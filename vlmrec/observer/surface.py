"""The surface of the ego's lane and of the two beside it: how much of it is painted, frame by frame and row by row.

A place in the picture gets the same light all the time: by day the sun's, at night that of the ego's own headlights, which
travel along. What is much brighter there than it usually is in this clip, or yellower, is other ground, and so paint:
fresh white throws back several times as much light as asphalt, while patches of old and new asphalt differ by a third.
It is read in the middle of the lane only: bars drawn across it, however slanted, come and go there.
"""

from collections.abc import Sequence

import cv2
import numpy as np
from numpy.typing import NDArray

from vlmrec.observer.footage import Picture
from vlmrec.observer.horizon import Vanishing
from vlmrec.observer.lanes import Lanes
from vlmrec.observer.road import Mask, RoadModel

Floats = NDArray[np.float64]

BESIDE = (-1, 0, 1)  # lanes, seen from the one the camera is in
FIRST = 0.07  # of the picture's height below the vanishing point: about twenty metres ahead
EVERY = 2  # px between rows
MIDDLE = 0.12  # of a lane's width to either side of its middle
PLACES = 11  # looked at across that
PAINTED = 1.36  # times the usual lightness of a place, in CIE Lab as OpenCV scales it
DIM = 12.0  # of that lightness: less than this above the usual is noise
YELLOWER, REDDER = 9.0, 0.6  # above the usual tint; what reddens by this part of it is a tail lamp's gleam
SEEN = 12  # frames in which a place was seen that its usual look needs


def surface_rows(model: RoadModel, points_x: Floats, points_y: Floats, height: int) -> Floats:
    """Rows below the vanishing point that the surface is read on, down to the bonnet."""
    middle = int(np.clip(np.median(points_x), 0, len(model.floor) - 1))
    return np.arange(FIRST * height, float(model.floor[middle]) - float(np.median(points_y)), EVERY)


def painted_surface(
    pictures: Sequence[Picture], standing: Sequence[Mask], points: Sequence[Vanishing], lanes: Lanes, model: RoadModel
) -> NDArray[np.float32]:
    """Painted share per frame, lane of ``BESIDE`` and row of ``surface_rows``; NaN where it can't be seen.

    ``standing`` are masks of what stands on the road, one per frame.
    """
    height, width = pictures[0].shape[:2]
    rows = surface_rows(model, np.array([p.x for p in points]), np.array([p.y for p in points]), height)
    size = len(rows), len(BESIDE), PLACES
    looks = np.empty((len(pictures), *size, 3), np.uint8)
    bare = np.empty((len(pictures), *size), bool)
    aside = np.add.outer(np.array(BESIDE) + 0.5, np.linspace(-MIDDLE, MIDDLE, PLACES)).ravel()
    for index, (picture, things, here) in enumerate(zip(pictures, standing, points, strict=True)):
        across = (aside + np.floor(lanes.offset[index]) - lanes.offset[index]) * lanes.spacing
        map_x = (here.x + across[None, :] * rows[:, None]).astype(np.float32)
        map_y = np.repeat((here.y + rows)[:, None], len(across), axis=1).astype(np.float32)
        lab = cv2.cvtColor(cv2.blur(picture, (3, 3)), cv2.COLOR_BGR2LAB)
        looks[index] = cv2.remap(lab, map_x, map_y, cv2.INTER_LINEAR).reshape(*size, 3)
        inside = (map_x >= 2) & (map_x < width - 3) & (map_y < height - 2)
        row, column = np.clip(map_y, 0, height - 1).astype(int), np.clip(map_x, 0, width - 1).astype(int)
        bare[index] = (inside & (map_y <= model.floor[column]) & ~things[row, column]).reshape(size)
    return _shares(looks, bare).transpose(0, 2, 1)


def _shares(looks: NDArray[np.uint8], bare: Mask) -> NDArray[np.float32]:
    """Per frame, row and lane: the share of its places, where nearly all can be seen, that look like paint."""
    times = bare.sum(axis=0)
    ordered = np.sort(np.where(bare[..., None], looks.astype(np.float32), np.nan), axis=0)  # what is hidden comes last
    usual = np.take_along_axis(ordered, np.maximum(times - 1, 0)[None, ..., None] // 2, axis=0)[0]
    usual[times < SEEN] = np.nan
    above = looks - usual[None]
    white = above[..., 0] > np.maximum(DIM, (PAINTED - 1) * usual[None, ..., 0])
    yellow = (above[..., 2] > YELLOWER) & (above[..., 1] < REDDER * above[..., 2]) & (above[..., 0] > 0)
    shares = (white | yellow).mean(axis=-1)
    seen = (bare.mean(axis=-1) > 0.9) & np.isfinite(usual[..., 0]).all(axis=-1)[None]
    return np.asarray(np.where(seen, shares, np.nan), np.float32)
