"""How the camera moved from frame to frame: the shift of what lies far away, and how much the ground stirred.

Pace is ``speed / (camera height × focal length)`` in 1/(px·s): a point of the ground at row ``q`` below the
vanishing point comes nearer by ``d(1/q)/dt = -pace``. The same unit serves for other vehicles' feet, so that
speeds compare without knowing the camera.
"""

from typing import NamedTuple

import cv2
import numpy as np
from numpy.typing import NDArray

from vlmrec.observer.flow import Gray, track_points
from vlmrec.observer.horizon import Vanishing

Floats = NDArray[np.float64]

MIN_POINTS = 10
HALF = 0.5  # corners are tracked on a picture of half the size


class CameraStep(NamedTuple):
    """Between one frame and the one before. Pixels are those of the working picture."""

    time: float
    gap: float
    turn: float | None  # px to the side, of what lies far away
    dip: float | None  # px downwards, of far things or else of the ground: the camera nodded, or was knocked
    pace: float | None  # of the ego, in the unit above; told by ``pace.py`` from the road as a whole
    stir: float | None  # px: median length of the ground's flow
    matched: float  # share of corners that were found again


def halved(gray: Gray) -> Gray:
    """The picture that ``camera_step`` works on."""
    return np.asarray(cv2.resize(gray, None, fx=HALF, fy=HALF, interpolation=cv2.INTER_AREA), np.uint8)


def camera_step(before: Gray, after: Gray, ground: Gray, time: float, gap: float, point: Vanishing) -> CameraStep:
    """From two halved pictures. ``ground`` masks the bare road of the first; ``point`` is in px of the whole picture."""
    height = before.shape[0]
    row = point.y * HALF
    far_mask = np.zeros_like(before)
    far_mask[int(0.08 * height) : max(int(row), int(0.2 * height))] = 255
    far, near = _corners(before, far_mask, 120), _corners(before, ground, 110)
    flow = track_points(before, after, np.concatenate([far, near]))
    matched = len(flow.before) / max(len(far) + len(near), 1)
    is_far = flow.before[:, 1] < max(row, 0.2 * height)
    turn, far_dip = _far_shift(flow.before[is_far] / HALF - [point.x, point.y], flow.moved[is_far] / HALF)
    start, moved = flow.before[~is_far] / HALF, flow.moved[~is_far] / HALF
    ground_dip = _ground_dip(start[:, 1] - point.y, moved[:, 1])
    stir = float(np.median(np.linalg.norm(moved, axis=1))) if len(moved) >= MIN_POINTS else None
    dip = far_dip if far_dip is not None else ground_dip
    return CameraStep(time, gap, turn, dip, None, stir, matched)


def _far_shift(places: Floats, moved: Floats) -> tuple[float | None, float | None]:
    """Turn and dip of what lies above the horizon, beside its growing as the camera comes nearer.

    None where the points don't agree. ``places`` are relative to the vanishing point.
    """
    if len(moved) < 8:
        return None, None
    design = np.zeros((2 * len(places), 3))
    design[0::2, 0], design[1::2, 1] = 1, 1
    design[0::2, 2], design[1::2, 2] = places[:, 0], places[:, 1]
    wanted = moved.reshape(-1)
    weight = np.ones(len(wanted))
    fit, miss = np.zeros(3), np.zeros(len(wanted))
    for _ in range(5):
        fit = np.asarray(np.linalg.lstsq(design * weight[:, None], wanted * weight, rcond=None)[0], np.float64)
        miss = np.abs(wanted - design @ fit)
        weight = 1 / np.sqrt(1 + (miss / max(0.3, 1.5 * float(np.median(miss)))) ** 2)
    if float(np.median(miss)) > 1.5:
        return None, None
    return float(fit[0]), float(fit[1])


def _ground_dip(rows: Floats, moved: Floats) -> float | None:
    """How far the ground as a whole went down: a point at row q moves by ``dip + c·q·q'``, robustly fitted."""
    low = rows > 8
    rows, moved = rows[low], moved[low]
    if len(rows) < MIN_POINTS or float(np.ptp(rows)) < 12:
        return None
    design = np.stack([np.ones_like(rows), rows * (rows + moved)], axis=1)
    keep = np.ones(len(rows), bool)
    fit = np.zeros(2)
    for _ in range(4):
        fit = np.asarray(np.linalg.lstsq(design[keep], moved[keep], rcond=None)[0], np.float64)
        miss = np.abs(moved - design @ fit)
        keep = miss <= max(0.6, 2.5 * float(np.median(miss)))
        if keep.sum() < MIN_POINTS:
            return None
    return float(fit[0])


def _corners(gray: Gray, mask: Gray, most: int) -> NDArray[np.float32]:
    found = cv2.goodFeaturesToTrack(gray, most, 0.02, 5, mask=mask)
    return np.zeros((0, 2), np.float32) if found is None else np.asarray(found, np.float32).reshape(-1, 2)
