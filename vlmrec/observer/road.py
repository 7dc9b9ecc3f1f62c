"""What of a picture is bare road: learnt from the clip itself, row by row.

The bonnet is what never changes at the picture's bottom while the road runs. The road's colour is the usual one
of each row between the lane lines over the whole clip, with the usual spread around it; nothing is assumed of its shade.
"""

from collections.abc import Sequence
from typing import NamedTuple

import cv2
import numpy as np
from numpy.typing import NDArray

from vlmrec.observer.footage import Picture
from vlmrec.observer.horizon import Vanishing
from vlmrec.observer.lanes import COLUMNS, STEP

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

TOP = 0.035  # of the picture's height below the vanishing point: above it the road is too thin to read
NARROW = 0.32  # camera heights: what is narrower than this is paint, a crack or a pole
RIM = 6.0  # across the edge of a bonnet, in CIE Lab as OpenCV scales it: it may have the road's lightness, or its tint
COARSE = 1.0  # grey levels: a road smoother than this can't be told from metal by its grain
POLISHED = 0.4  # of the road's usual roughness
BODY = 0.6  # a vehicle stands up at least this part of its distance row above the ground
DARK = 40.0  # CIE lightness of the road, 0..255: below it, it is lit by headlights only, and nothing casts a shadow


class RoadModel(NamedTuple):
    """Per picture row from ``top`` on: the middle and the half-width of what counts as road, in CIE Lab as OpenCV scales it."""

    top: int
    middle: Floats
    spread: Floats
    floor: NDArray[np.int64]  # per picture column: the last row above the bonnet
    grain: float  # usual roughness of the near road, in grey levels


def bonnet_floor(pictures: Sequence[Picture]) -> NDArray[np.int64]:
    """Per column, the last row of the outside world: below it nothing changed over the clip."""
    blurred = [cv2.GaussianBlur(cv2.cvtColor(p, cv2.COLOR_BGR2GRAY), (5, 5), 0) for p in pictures]
    grays = np.asarray(np.stack(blurred), np.uint8)
    height, width = grays.shape[1:]
    quiet = np.percentile(grays, 85, axis=0).astype(np.float32) - np.percentile(grays, 15, axis=0).astype(np.float32)
    moving = quiet > 5.0
    # The bonnet is one quiet region that reaches the bottom; small noise in it is closed.
    moving = cv2.morphologyEx(moving.astype(np.uint8), cv2.MORPH_OPEN, np.ones((5, 9), np.uint8)) > 0
    below = np.flip(np.cumsum(np.flip(moving, 0), 0), 0)
    floor = np.where((below > 0).any(0), (below > 0).sum(0) - 1, height - 1)
    smooth = cv2.medianBlur(floor.astype(np.float32).reshape(1, -1), 5).ravel()
    low = np.maximum(smooth, 0.5 * height)
    result: NDArray[np.int64] = np.minimum(low - 2, height - 3).astype(np.int64)
    standing = float(np.mean(result < 0.6 * height)) > 0.5  # a camera that stands still tells nothing about its bonnet
    if standing or not _has_rim(pictures, result):
        return np.full(width, height - 3, np.int64)
    return result


def _has_rim(pictures: Sequence[Picture], floor: NDArray[np.int64]) -> bool:
    """Whether a lasting edge runs along ``floor``: smooth asphalt is quiet too, and has none."""
    height = len(pictures[0])
    columns = np.flatnonzero(floor < height - 8)
    if len(columns) < 0.2 * len(floor):
        return True  # hardly anything is cut off
    rows = np.clip(floor[columns] + np.arange(-5, 8)[:, None], 0, height - 1)
    usual = np.median([lab(picture)[rows, columns] for picture in pictures], axis=0)
    return float(np.median(np.linalg.norm(np.ptp(usual, axis=0), axis=1))) > RIM


def learn_road(pictures: Sequence[Picture], point: Vanishing, floor: NDArray[np.int64], reach: float) -> RoadModel:
    """The road's usual look within ``reach`` camera heights to either side, over ``pictures``."""
    height = pictures[0].shape[0]
    top = int(point.y + TOP * height)
    rows = np.arange(top, height)
    across = np.linspace(-reach, reach, 41)
    map_x = (point.x + across[None, :] * (rows[:, None] - point.y)).astype(np.float32)
    map_y = np.repeat(rows[:, None], len(across), axis=1).astype(np.float32)
    inside = (map_x >= 0) & (map_x < len(floor) - 1)
    inside &= rows[:, None] <= floor[np.clip(map_x, 0, len(floor) - 1).astype(int)]
    samples = np.stack([lab(p)[map_y.astype(int), np.clip(map_x, 0, len(floor) - 1).astype(int)] for p in pictures])
    samples = np.asarray(samples, np.float32)
    samples[:, ~inside] = np.nan
    grain = float(np.median([_grain(picture, top, point, floor) for picture in pictures]))
    return RoadModel(top, *_climb(samples), floor, grain)


def _grain(picture: Picture, top: int, point: Vanishing, floor: NDArray[np.int64]) -> float:
    """Roughness in the middle of a picture's own lane, on its nearer half."""
    rough = _roughness(picture)
    last = int(floor[int(np.clip(point.x, 0, len(floor) - 1))])
    rows = np.arange((top + last) // 2, last)
    if not len(rows):
        return 0.0
    across = np.linspace(-0.7, 0.7, 21)
    columns = np.clip(point.x + across[None, :] * (rows[:, None] - point.y), 0, len(floor) - 1).astype(int)
    return float(np.median(rough[rows[:, None], columns]))


def _roughness(picture: Picture) -> NDArray[np.float32]:
    """How much each pixel differs from its surroundings of a dozen px, over a patch: painted metal is smoother than asphalt."""
    gray = cv2.blur(cv2.cvtColor(picture, cv2.COLOR_BGR2GRAY).astype(np.float32), (3, 3))
    return np.asarray(cv2.blur(np.abs(gray - cv2.blur(gray, (11, 11))), (9, 9)), np.float32)


def _climb(samples: NDArray[np.float32]) -> tuple[Floats, Floats]:
    """Middle and spread per row of ``samples`` (pictures × rows × places × Lab, NaN where there is no road).

    Learnt from the nearest rows and carried upwards: what a row adds must look like the row below it, so that a
    vehicle that stays ahead for the whole clip isn't taken for road, while haze may change the road little by little.
    """
    count = samples.shape[1]
    rows = [values[~np.isnan(values[:, 0])] for values in (samples[:, row].reshape(-1, 3) for row in range(count))]
    filled = [row for row in range(count) if len(rows[row]) >= 30]
    if not filled:
        return np.full((count, 3), 128.0), np.zeros((count, 3))
    near = np.concatenate([rows[row] for row in filled[-max(5, len(filled) // 4) :]])
    middle = np.median(near, axis=0)
    spread = np.minimum(1.48 * np.median(np.abs(near - middle), axis=0), [14.0, 3.0, 3.0])
    limit = np.maximum(3.2 * spread, [14.0, 5.0, 5.0])
    middles = np.empty((count, 3))
    for row in range(count - 1, -1, -1):
        values = rows[row]
        like = values[(np.abs(values - middle) < limit).all(axis=1)] if len(values) else values
        if len(like) >= 30 and len(like) >= 0.25 * len(values):
            middle = middle + 0.25 * (np.median(like, axis=0) - middle)
        middles[row] = middle
    return middles, np.repeat(spread[None, :], count, axis=0)


def odd_pixels(picture: Picture, model: RoadModel) -> Mask:
    """Pixels from row ``model.top`` down to the bonnet that don't look like road, paint included."""
    height = picture.shape[0]
    look = lab(picture).astype(np.float32)
    rows = np.arange(model.top, height)
    away = np.abs(look[rows] - model.middle[:, None, :])
    limit = np.maximum([11.0, 5.0, 6.0], 2.6 * model.spread)
    odd = (away > limit[:, None, :]).any(axis=2)
    if model.grain > COARSE:
        odd = odd | _polished(picture, model)
    result: Mask = odd & (rows[:, None] <= model.floor[None, :])
    return result


def _polished(picture: Picture, model: RoadModel) -> Mask:
    """Patches much smoother than the road: the panels of a vehicle that has the road's shade. Not looked for far away."""
    smooth = _roughness(picture)[model.top :] < POLISHED * model.grain
    smooth[: int(0.055 * picture.shape[0])] = False
    patches = cv2.morphologyEx(smooth.astype(np.uint8), cv2.MORPH_OPEN, np.ones((5, 5), np.uint8))
    result: Mask = cv2.dilate(patches, np.ones((13, 13), np.uint8)) > 0
    return result


def off_road(odd: Mask, model: RoadModel, point: Vanishing) -> Mask:
    """A whole picture's mask of what is odd and not too narrow to be a vehicle."""
    height, width = len(odd) + model.top, odd.shape[1]
    mask = np.zeros((height, width), bool)
    mask[model.top :] = _without_narrow(odd, np.arange(model.top, height), point, width) > 0
    return mask


def _without_narrow(odd: Mask, rows: NDArray[np.int64], point: Vanishing, width: int) -> NDArray[np.uint8]:
    """Opened across the road with a width that grows with nearness: done where that width is constant, on u."""
    map_x = (point.x + COLUMNS[None, :] * (rows[:, None] - point.y)).astype(np.float32)
    map_y = np.repeat(np.arange(len(rows))[:, None], len(COLUMNS), axis=1).astype(np.float32)
    flat = cv2.remap(odd.astype(np.uint8), map_x, map_y, cv2.INTER_NEAREST, borderMode=cv2.BORDER_REPLICATE)
    flat = cv2.morphologyEx(flat, cv2.MORPH_CLOSE, np.ones((1, 3), np.uint8))
    flat = cv2.morphologyEx(flat, cv2.MORPH_OPEN, np.ones((1, round(NARROW / STEP)), np.uint8))
    xs = np.arange(width)
    back_x = ((xs[None, :] - point.x) / (rows[:, None] - point.y) - COLUMNS[0]) / STEP
    back_y = np.repeat(np.arange(len(rows))[:, None], width, axis=1)
    result = cv2.remap(
        flat, back_x.astype(np.float32), back_y.astype(np.float32), cv2.INTER_NEAREST, borderMode=cv2.BORDER_REPLICATE
    )
    return np.asarray(result, np.uint8)


def lab(picture: Picture) -> NDArray[np.uint8]:
    """The picture in CIE Lab as OpenCV scales it, noise smoothed a little."""
    return np.asarray(cv2.blur(cv2.cvtColor(picture, cv2.COLOR_BGR2LAB), (3, 3)), np.uint8)
