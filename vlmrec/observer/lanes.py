"""Lane lines, their spacing, and where the camera lies between them over time.

Across the road everything is measured in *camera heights*: a place in the picture below the vanishing point
lies ``u = (x - xv) / (y - yv)`` camera heights to the right of the camera, whatever its focal length. Lines of
the road keep their ``u`` over all rows, so a picture resampled on (row, u) shows them upright.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import cv2
import numpy as np
from numpy.typing import NDArray

from vlmrec.observer.flow import Gray
from vlmrec.observer.footage import Picture
from vlmrec.observer.horizon import Vanishing

if TYPE_CHECKING:
    from vlmrec.observer.road import RoadModel

Floats = NDArray[np.float64]
Reals = NDArray[np.float32] | NDArray[np.float64]

REACH = 10.0  # camera heights to either side
STEP = 0.05
COLUMNS: Floats = np.arange(-REACH, REACH + STEP / 2, STEP)
SIDE = 5  # columns between a line's middle and the asphalt it is compared with
SPACINGS = (1.7, 4.0)  # lane widths sought, in camera heights: 2.6 to 4 m at 1 to 1.6 m
DAMPED = 0.35  # of a column's rows: where fewer can be seen, paint counts for less
LEAST_CLEAR = 0.1  # of a column's rows: where fewer can be seen, nothing is said
LASTS, HIDDEN = 80, 0.5  # percentile over time; share of what an empty road would show
TWICE = 0.3  # weight of paint two lanes apart: a double line in the middle blurs what is one lane apart
FLANK = 0.2  # camera heights to either side of a line's place within which its paint may lie


class Lanes(NamedTuple):
    """Lane lines as an even comb. ``offset[t]``: camera's place in lanes, right of line 0; grows as the ego moves right."""

    spacing: float  # camera heights
    offset: Floats
    strength: Floats  # per frame: paint on the comb above paint beside it, 0 where nothing was seen
    confidence: float


class Strip(NamedTuple):
    """Rows of the road resampled on u."""

    rows: Floats
    map_x: NDArray[np.float32]
    map_y: NDArray[np.float32]
    valid: NDArray[np.bool_]


def road_strip(point: Vanishing, size: tuple[int, int], bottom: float) -> Strip:
    """The sampling grid of the road below ``point`` down to row ``bottom``."""
    width, height = size
    rows = np.arange(point.y + 0.10 * height, bottom, 2.0)
    map_x = point.x + COLUMNS[None, :] * (rows[:, None] - point.y)
    map_y = np.repeat(rows[:, None], len(COLUMNS), axis=1)
    valid = (map_x >= 3) & (map_x < width - 3)
    return Strip(rows, map_x.astype(np.float32), map_y.astype(np.float32), valid)


def in_view(strip: Strip, model: "RoadModel") -> NDArray[np.bool_]:
    """What of the strip lies in the picture and above the bonnet."""
    above: NDArray[np.bool_] = strip.map_y <= model.floor[np.clip(strip.map_x, 0, len(model.floor) - 1).astype(int)]
    return strip.valid & above


def paint(gray: Gray, strip: Strip, contrast: float = 10.0) -> NDArray[np.bool_]:
    """Where a pixel of the strip is brighter than the road on both of its sides: narrow bright stripes."""
    flat = cv2.remap(gray, strip.map_x, strip.map_y, cv2.INTER_LINEAR).astype(np.float32)
    middle = cv2.blur(flat, (3, 1))
    left, right = np.roll(middle, SIDE, 1), np.roll(middle, -SIDE, 1)
    found = np.minimum(middle - left, middle - right) > np.maximum(contrast, 0.10 * np.maximum(left, right))
    found[:, :SIDE] = False
    found[:, -SIDE:] = False
    result: NDArray[np.bool_] = found & strip.valid
    return result


def yellow(picture: Picture, strip: Strip, model: "RoadModel") -> NDArray[np.bool_]:
    """Where a pixel of the strip is yellower than the road by more than light alone would make it."""
    flat = cv2.remap(picture, strip.map_x, strip.map_y, cv2.INTER_LINEAR)
    tint = cv2.cvtColor(flat, cv2.COLOR_BGR2LAB)[:, :, 2].astype(np.float32)
    rows = np.clip(strip.rows.astype(int) - model.top, 0, len(model.middle) - 1)
    result: NDArray[np.bool_] = tint - model.middle[rows, 2][:, None] > 9
    return result


def brighter(picture: Picture, strip: Strip, model: "RoadModel") -> NDArray[np.bool_]:
    """Where a pixel of the strip is clearly brighter or yellower than road."""
    flat = cv2.remap(picture, strip.map_x, strip.map_y, cv2.INTER_LINEAR)
    lab = cv2.cvtColor(flat, cv2.COLOR_BGR2LAB).astype(np.float32)
    rows = np.clip(strip.rows.astype(int) - model.top, 0, len(model.middle) - 1)
    above = lab - model.middle[rows][:, None, :]
    result: NDArray[np.bool_] = (above[:, :, 0] > max(16.0, 2.6 * float(model.spread[0, 0]))) | (above[:, :, 2] > 9)
    return result


def columns_of(painted: NDArray[np.bool_], valid: NDArray[np.bool_]) -> Floats:
    """Share of painted rows per column of u, damped where few rows are in the picture."""
    rows = np.maximum(valid.sum(axis=0), DAMPED * len(valid))
    result: Floats = painted.sum(axis=0) / rows
    return result


def fit_lanes(profiles: Floats, seconds: Sequence[float], hidden: NDArray[np.bool_] | None = None) -> Lanes | None:
    """Lanes from the paint profiles of all frames (frames × columns). None where no comb stands out.

    Columns that are ``hidden`` by something lasting don't count, unless nothing is left without them.
    """
    seen = profiles if hidden is None else np.where(hidden, 0.0, profiles)
    spacing = _spacing(seen)
    if spacing is None:
        seen, spacing = profiles, _spacing(profiles)
    if spacing is None:
        return None
    score = _comb_scores(seen, spacing)
    path = _smooth_path(score, seconds)
    phases = score.shape[1]
    strength = score[np.arange(len(score)), path % phases]
    offset = -path / phases  # a line moving to the left means the camera moves to the right
    offset = offset - np.floor(offset[0])
    confidence = float(np.mean(strength > 0.06))
    return Lanes(spacing, offset, strength, confidence)


def lasting(clear: Floats, open_road: Floats) -> NDArray[np.bool_]:
    """Columns that something hides nearly all the time, a barrier or a verge: its bright edge is no lane line.

    ``clear`` is the share of each column's rows that could be seen, per frame; ``open_road`` the same on an empty road.
    """
    share = np.percentile(clear, LASTS, axis=0) / np.maximum(open_road, 1e-6)
    result: NDArray[np.bool_] = (share < HIDDEN) & (open_road > 0)
    return result


def paint_at(profiles: Reals, clear: Reals, lanes: Lanes, line: int) -> Floats:
    """Per frame the share of line ``line`` of the comb that is painted where it can be seen; NaN where too little can.

    ``clear`` is the share of each column's rows that could be seen.
    """
    places = (line - lanes.offset) * lanes.spacing
    out = np.full(len(profiles), np.nan)
    for index, place in enumerate(places):
        if abs(place) < REACH - FLANK:
            first = round((place - FLANK + REACH) / STEP)
            span = slice(first, first + round(2 * FLANK / STEP) + 1)
            best = first + int(np.argmax(profiles[index, span]))
            seen = float(clear[index, best]) if profiles[index, best] > 0 else float(np.median(clear[index, span]))
            if seen >= LEAST_CLEAR:
                out[index] = float(profiles[index, best]) * max(seen, DAMPED) / seen
    return out


def _spacing(profiles: Floats) -> float | None:
    """The lag at which the paint profile repeats, over all frames, and does so once more at twice the lag."""
    centred = np.minimum(profiles, 0.5)
    n = centred.shape[1]
    spectrum = np.abs(np.fft.rfft(centred, 2 * n, axis=1)) ** 2
    repeat = np.fft.irfft(spectrum.mean(axis=0))[:n]
    if repeat[0] <= 0:
        return None
    repeat = repeat / repeat[0]
    low, high = round(SPACINGS[0] / STEP), round(SPACINGS[1] / STEP)
    blurred = cv2.GaussianBlur(repeat.reshape(1, -1), (5, 1), 0).ravel()
    lags = np.arange(low, high)
    if float(blurred[lags].max()) < 0.08:
        return None
    return float(lags[int(np.argmax(blurred[lags] + TWICE * blurred[2 * lags]))]) * STEP


def _comb_scores(profiles: Floats, spacing: float) -> Floats:
    """Per frame and phase: paint on a comb of that phase, above the mean of all phases."""
    phases = round(spacing / STEP)
    teeth = np.arange(-2, 3)
    at = (len(COLUMNS) - 1) / 2 + (np.arange(phases)[None, :] + teeth[:, None] * spacing / STEP)
    near = cv2.GaussianBlur(profiles, (5, 1), 0)
    index = np.clip(np.round(at).astype(int), 0, len(COLUMNS) - 1)
    score = np.minimum(near[:, index], 0.6).sum(axis=1) / 3
    # Dashes come and go: look over the neighbouring frames too.
    kernel = np.array([0.5, 0.8, 1.0, 0.8, 0.5])
    score = np.apply_along_axis(lambda column: np.convolve(column, kernel / kernel.sum(), "same"), 0, score)
    result: Floats = score - np.median(score, axis=1, keepdims=True)
    return result


def _smooth_path(score: Floats, seconds: Sequence[float]) -> NDArray[np.int64]:
    """The phase over time that gathers most paint while moving no faster than a lane in 0.8 s; unwrapped."""
    frames, phases = score.shape
    total = score[0].copy()
    back = np.zeros((frames, phases), np.int64)
    for t in range(1, frames):
        gap = max(seconds[t] - seconds[t - 1], 1e-3)
        most = max(1, min(phases // 3, round(phases * gap / 0.8)))
        moves = np.arange(-most, most + 1)
        cost = 0.02 * np.abs(moves) / max(most, 1)
        options = np.stack([np.roll(total, move) - cost[i] for i, move in enumerate(moves)])
        best = np.argmax(options, axis=0)
        total = options[best, np.arange(phases)] + score[t]
        back[t] = moves[best]
    path = np.zeros(frames, np.int64)
    path[-1] = int(np.argmax(total))
    for t in range(frames - 1, 0, -1):
        path[t - 1] = path[t] - back[t, path[t] % phases]
    return path
