"""Where the vanishing point lies in every frame: slowly from the road's lines, quickly from what lies far away.

Lines meet in the vanishing point however the camera points, so they follow a braking vehicle's nose down and a bend to
the side; a frame's own few lines are too noisy for vibration and knocks, which the far flow shows frame by frame.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from vlmrec.observer.camera import CameraStep
from vlmrec.observer.horizon import Vanishing

Floats = NDArray[np.float64]

AROUND = 2  # sets of segments to either side that are read together
SLOW = 9  # frames: what is quicker than a running median over these is told by the far flow
LONG = 31  # the same where no lines tell the slow part
FEWEST = 6  # segments
LONGEST = 60.0  # px of a segment's height that count: one long edge doesn't outvote the lines
FARTHEST = 60.0  # px from the clip's vanishing column within which a frame's own is sought
LOOSE, TIGHT = 12.0, 1.5  # px by which a segment may miss the point to be read at all, and to count fully
HELD = 4.0  # px: how far the row may lie from the clip's own before this counts against it as one segment would
TURNS = 8  # of fitting with new weights


def vanishing_path(
    point: Vanishing, segments: Sequence[Floats], steps: Sequence[CameraStep], count: int
) -> tuple[Floats, Floats]:
    """Column and row of the vanishing point in each of ``count`` frames. ``segments`` are those of every second one."""
    dips = np.array([0.0] + [step.dip if step.dip is not None else 0.0 for step in steps])
    turns = np.array([0.0] + [step.turn if step.turn is not None else 0.0 for step in steps])
    places = np.full((len(segments), 2), np.nan)
    for index in range(len(segments)):
        near = np.concatenate(segments[max(0, index - AROUND) : index + AROUND + 1])
        places[index] = _meeting(near, point)
    at = np.arange(0, count, 2)[: len(segments)]
    return (
        _path(places[:, 0], at, np.cumsum(turns), point.x),
        _path(places[:, 1], at, np.cumsum(dips), point.y),
    )


def _path(slow: Floats, at: NDArray[np.int64], quick: Floats, usual: float) -> Floats:
    known = ~np.isnan(slow)
    if known.sum() < 3:
        return usual + _quick(quick, LONG)
    return _running_median(np.interp(np.arange(len(quick)), at[known], slow[known]), SLOW) + _quick(quick, SLOW)


def _meeting(segments: Floats, point: Vanishing) -> tuple[float, float]:
    """The point most of ``segments`` run towards, near the clip's own; NaN where few do."""
    low = np.minimum(segments[:, 1], segments[:, 3]) > point.y
    segments = segments[low]
    column = _column(segments, point)
    if np.isnan(column):
        return np.nan, np.nan
    normal = np.stack([segments[:, 3] - segments[:, 1], segments[:, 0] - segments[:, 2]], axis=1)
    length = np.linalg.norm(normal, axis=1)
    normal /= length[:, None]
    offset = (normal * segments[:, :2]).sum(axis=1)
    size = np.minimum(np.abs(segments[:, 3] - segments[:, 1]), LONGEST)
    place = np.array([column, point.y])
    for _ in range(TURNS):
        miss = np.abs(normal @ place - offset)
        weight = np.where(miss < LOOSE, np.sqrt(size) / (1 + (miss / TIGHT) ** 2), 0.0)
        held = np.sqrt(np.median(size)) / HELD
        design = np.vstack([normal * weight[:, None], [0.0, held]])
        place = np.linalg.lstsq(design, np.append(offset * weight, held * point.y), rcond=None)[0]
    return float(place[0]), float(place[1])


def _column(segments: Floats, point: Vanishing) -> float:
    """The column where most of ``segments`` meet the clip's vanishing row; NaN where few do."""
    if len(segments) < FEWEST:
        return float("nan")
    slope = (segments[:, 2] - segments[:, 0]) / (segments[:, 3] - segments[:, 1])
    meets = segments[:, 0] + slope * (point.y - segments[:, 1])
    weight = np.minimum(np.abs(segments[:, 3] - segments[:, 1]), LONGEST)
    near = np.abs(meets - point.x) < FARTHEST
    if near.sum() < FEWEST:
        return float("nan")
    bins = np.arange(-FARTHEST, FARTHEST + 1, 2.0)
    votes = np.array([weight[near][np.abs(meets[near] - point.x - b) < 4].sum() for b in bins])
    best = point.x + bins[int(np.argmax(votes))]
    inside = np.abs(meets - best) < 5
    return float(np.average(meets[inside], weights=weight[inside])) if inside.any() else float("nan")


def _quick(path: Floats, window: int) -> Floats:
    """What of a path is quicker than its running median. The far flow's slow part is worthless: growing looks like nodding."""
    return path - _running_median(path, window)


def _running_median(path: Floats, window: int) -> Floats:
    half = window // 2
    padded = np.pad(path, half, mode="edge")
    result: Floats = np.median(np.lib.stride_tricks.sliding_window_view(padded, window), axis=1)
    return result
