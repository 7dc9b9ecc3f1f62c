"""How the camera moved from frame to frame: the shift of what lies far away, and the pace of the ground.

Pace is ``speed / (camera height × focal length)`` in 1/(px·s): a point of the ground at row ``q`` below the
vanishing point comes nearer by ``d(1/q)/dt = -pace``. The same unit serves for other vehicles' feet, so that
speeds compare without knowing the camera.
"""

from typing import NamedTuple

import cv2
import numpy as np
from numpy.typing import NDArray

from vlmrec.observer.flow import Gray, track_points

Floats = NDArray[np.float64]

MIN_POINTS = 10
HALF = 0.5  # corners are tracked on a picture of half the size


class CameraStep(NamedTuple):
    """Between one frame and the one before. Pixels are those of the working picture."""

    time: float
    gap: float
    shift: tuple[float, float] | None  # of what lies far away: the camera turned, or was knocked
    scatter: float  # px: how far the far points disagree with their common shift
    pace: float | None
    stir: float | None  # px: median length of the ground's flow
    matched: float  # share of corners that were found again


def halved(gray: Gray) -> Gray:
    """The picture that ``camera_step`` works on."""
    return np.asarray(cv2.resize(gray, None, fx=HALF, fy=HALF, interpolation=cv2.INTER_AREA), np.uint8)


def camera_step(before: Gray, after: Gray, ground: Gray, time: float, gap: float, horizon: float) -> CameraStep:
    """From two halved pictures. ``ground`` masks the bare road of the first; ``horizon`` is a row of the working picture."""
    height = before.shape[0]
    row = horizon * HALF
    far_mask = np.zeros_like(before)
    far_mask[int(0.1 * height) : max(int(row), int(0.2 * height))] = 255
    far, near = _corners(before, far_mask, 90), _corners(before, ground, 110)
    flow = track_points(before, after, np.concatenate([far, near]))
    matched = len(flow.before) / max(len(far) + len(near), 1)
    is_far = flow.before[:, 1] < max(row, 0.2 * height)
    start, moved = flow.before[is_far], flow.moved[is_far]
    shift, scatter = None, 0.0
    if len(start) >= MIN_POINTS:
        x, y = np.median(moved, axis=0)
        shift = (float(x) / HALF, float(y) / HALF)
        scatter = float(np.median(np.linalg.norm(moved - [x, y], axis=1))) / HALF
    start, end = flow.before[~is_far] / HALF, flow.after[~is_far] / HALF
    pace = stir = None
    if len(start) >= MIN_POINTS:
        dip = shift[1] if shift is not None else 0.0
        first, second = start[:, 1] - horizon, end[:, 1] - horizon - dip
        low = (first > 0.05 * height / HALF) & (second > 4)
        if low.sum() >= MIN_POINTS:
            pace = float(np.median((1 / first[low] - 1 / second[low]) / gap))
            stir = float(np.median(np.linalg.norm(end[low] - start[low], axis=1)))
    return CameraStep(time, gap, shift, scatter, pace, stir, matched)


def _corners(gray: Gray, mask: Gray, most: int) -> NDArray[np.float32]:
    found = cv2.goodFeaturesToTrack(gray, most, 0.02, 5, mask=mask)
    return np.zeros((0, 2), np.float32) if found is None else np.asarray(found, np.float32).reshape(-1, 2)
