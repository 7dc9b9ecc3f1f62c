"""Where parallel lines of the road meet: the picture's vanishing point, from straight segments.

No camera constant is assumed. Segments of all frames vote on a grid; the winner is refined by weighted
least squares, then followed through time, so that bends, braking and shake move it.
"""

from typing import NamedTuple

import cv2
import numpy as np
from numpy.typing import NDArray

from vlmrec.observer.flow import Gray

Floats = NDArray[np.float64]

MIN_LENGTH = 18.0  # px
NEAR = 3.0  # px a segment's line may miss the point by, to count for it
GRID = 4  # px
HIGHEST, LOWEST = 0.05, 0.85  # of the picture's height


class Vanishing(NamedTuple):
    """The point in px of the working picture; ``support`` is the share of segment length that agrees with it."""

    x: float
    y: float
    support: float


def road_segments(gray: Gray) -> Floats:
    """Straight segments of the lower two thirds that are neither upright nor level: x1, y1, x2, y2 per row."""
    top = gray.shape[0] // 3
    found = cv2.createLineSegmentDetector().detect(gray[top:])[0]
    if found is None:
        return np.zeros((0, 4))
    segments = np.asarray(found, np.float64).reshape(-1, 4) + np.array([0, top, 0, top])
    across = np.abs(segments[:, 2] - segments[:, 0])
    down = np.abs(segments[:, 3] - segments[:, 1])
    length = np.hypot(across, down)
    keep: Floats = segments[(length >= MIN_LENGTH) & (down > 0.2 * across) & (across > 0.12 * down)]
    return keep


def common_point(segments: Floats, size: tuple[int, int]) -> Vanishing | None:
    """The point most segments run towards, sought in the picture's middle band; None without one that a road can have."""
    width, height = size
    if len(segments) < 12:
        return None
    normals, offsets, weights = _lines(segments)
    xs = np.arange(-0.1 * width, 1.1 * width, GRID)
    ys = np.arange(0.2 * height, 0.75 * height, GRID)
    votes = np.zeros((len(ys), len(xs)))
    lowest = np.minimum(segments[:, 1], segments[:, 3])
    for row, y in enumerate(ys):
        # A segment of the road lies below its vanishing point.
        usable = lowest > y - 4
        if not usable.any():
            continue
        meets = (offsets[usable] - normals[usable, 1] * y) / normals[usable, 0]
        spread = NEAR / np.abs(normals[usable, 0])
        first = np.clip(np.ceil((meets - spread - xs[0]) / GRID), 0, len(xs)).astype(int)
        last = np.clip(np.floor((meets + spread - xs[0]) / GRID) + 1, 0, len(xs)).astype(int)
        steps = np.zeros(len(xs) + 1)
        np.add.at(steps, first, weights[usable])
        np.add.at(steps, np.maximum(last, first), -weights[usable])
        votes[row] = np.cumsum(steps[:-1])
    best_row, best_column = np.unravel_index(int(np.argmax(cv2.GaussianBlur(votes, (3, 3), 0))), votes.shape)
    found = _refine(np.array([xs[best_column], ys[best_row]]), normals, offsets, weights)
    # Refining can leave the band: without a good part of the picture below it there is no road to measure on.
    return found if HIGHEST * height <= found.y <= LOWEST * height else None


def _lines(segments: Floats) -> tuple[Floats, Floats, Floats]:
    """Unit normals and offsets of the segments' lines, and weights that let no long one rule alone."""
    along = segments[:, 2:] - segments[:, :2]
    length = np.linalg.norm(along, axis=1)
    normals = np.stack([along[:, 1], -along[:, 0]], axis=1) / length[:, None]
    offsets = (normals * segments[:, :2]).sum(axis=1)
    return normals, offsets, np.minimum(length, 80.0)


def _refine(point: Floats, normals: Floats, offsets: Floats, weights: Floats) -> Vanishing:
    for near in (3 * NEAR, 2 * NEAR, NEAR):
        miss = np.abs(normals @ point - offsets)
        inside = miss < near
        if inside.sum() < 6:
            break
        scale = np.sqrt(weights[inside])[:, None]
        solved = np.linalg.lstsq(normals[inside] * scale, offsets[inside] * scale[:, 0], rcond=None)[0]
        point = np.asarray(solved, np.float64)
    inside = np.abs(normals @ point - offsets) < NEAR
    return Vanishing(float(point[0]), float(point[1]), float(weights[inside].sum() / weights.sum()))
