"""Things that stand on the road, one picture at a time: where they touch the ground and how wide they are there.

Each picture column is searched upwards from the bonnet for the first place where something other than road stands up
about as high as a vehicle at that distance would. Neighbouring columns of like distance make one obstacle.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from vlmrec.observer.horizon import Vanishing
from vlmrec.observer.road import BODY, Mask, RoadModel

Floats = NDArray[np.float64]

SAME_DEPTH = 0.10  # of the distance row: how far a flat rear may deviate
JUMP = 0.16  # of the distance row: a step between neighbouring columns that parts two obstacles
STRIDE = 0.003  # 1/px of distance, about a metre for usual cameras: from a bumper to the wheel behind it is no more
RECESS = 0.8  # camera heights: between two wheels, or a wheel and a bumper, a foot may lie back by no more than this
REJOINED = 2.2  # camera heights: a rear with its slanting side is narrower, two vehicles beside each other are wider
RECEDES = 0.65  # of the distance row: the least that a foot in such a recess has
SILL = 0.14  # of the distance row: the dark gap under a vehicle and what hangs into it are this tall at least
SILL_PX = 3  # and in px: less may be blur
LENGTH = 0.012  # 1/px of distance: a vehicle's length
FILLED = 0.72  # share of an upright stretch that must be off the road
FILLED_ABOVE = 0.6  # the same above a shadow or paint
FAR = 26.0  # px below the vanishing point: above it, shadows and paint are too small to mislead
NARROWEST, WIDEST = 0.45, 6.0  # camera heights
NARROWEST_CUT = 0.15  # the same for what the picture's edge cuts off


class Obstacle(NamedTuple):
    """``base`` is the nearest ground row in px below the vanishing point; edges in px of the working picture.

    ``left``/``right`` bound the part that faces the camera, ``outer_left``/``outer_right`` the whole thing with its
    visible side. ``foot_left``/``foot_right`` are where its foot lies across the road, in camera heights right of the
    camera, over all its columns: the side that faces the camera's way keeps its place there even where the picture
    cuts the rest off. ``front`` is the row of its far end's foot. ``hidden`` says that its foot is cut off by the bonnet or the picture's bottom.
    """

    base: float
    left: float
    right: float
    outer_left: float
    outer_right: float
    foot_left: float
    foot_right: float
    front: float
    hidden: bool

    def foot_at(self, columns: Floats) -> Floats:
        """The row its foot has at picture columns, 0 where it isn't: flat in front, running to its far end at the side."""
        outline = np.array([self.outer_left, self.left, self.right, self.outer_right])
        feet = np.array([self.front, self.base, self.base, self.front])
        inside = (columns >= self.outer_left) & (columns <= self.outer_right)
        return np.where(inside, np.interp(columns, outline, feet), 0.0)

    @property
    def width(self) -> float:
        """Width of the facing part in camera heights."""
        return (self.right - self.left) / self.base


def find_obstacles(
    mask: Mask,
    model: RoadModel,
    point: Vanishing,
    *,
    flat: Mask | None = None,
    edges: tuple[float, float] = (-np.inf, np.inf),
) -> list[Obstacle]:
    """Obstacles in one picture's off-road mask, nearest first.

    ``flat`` masks what may be shadow or paint: an obstacle stands where something else begins. ``edges`` are the road's, in
    camera heights right of the camera: nothing is looked for beyond them.
    """
    bases = standing_rows(mask, model, point, flat)
    across = (np.arange(len(bases)) - point.x) / np.maximum(bases - point.y, 1.0)
    bases = np.where((across >= edges[0]) & (across <= edges[1]), bases, 0.0)
    found = []
    runs = _runs(bases, point.y)
    for first, last in _rejoined(runs, bases, mask, point.y):
        obstacle = _measure(bases, first, last, model, point, mask.shape[1])
        if obstacle is not None:
            found.append(obstacle)
    return sorted(found, key=lambda obstacle: -obstacle.base)


def find_gaps(
    dark: Mask,
    mask: Mask,
    model: RoadModel,
    point: Vanishing,
    found: Sequence[Obstacle],
    edges: tuple[float, float] = (-np.inf, np.inf),
) -> list[Obstacle]:
    """Vehicles that look like the road, and so aren't among those ``found``: each by the dark gap under it.

    ``dark`` masks what is darker than any shade, ``mask`` all that is off the road. Beneath a gap there is nothing but road:
    else it is a window. What is near one that was found, or behind it, may be a part of it.
    """
    rows, height = np.arange(model.top + 4, len(dark)), np.arange(len(dark))[:, None]
    band = _sills(dark & (height <= model.floor[None, :]), rows, point)
    lowest = rows[len(rows) - 1 - np.argmax(band[::-1], axis=0)]
    window = (mask & (height > lowest + 1) & (height <= model.floor[None, :])).sum(axis=0) > SILL_PX
    bases = np.where(band.any(axis=0) & ~window, lowest, 0).astype(np.float64)
    across = (np.arange(len(bases)) - point.x) / np.maximum(bases - point.y, 1.0)
    bases = np.where((across >= edges[0]) & (across <= edges[1]), bases, 0.0)
    gaps = [_measure(bases, first, last, model, point, dark.shape[1]) for first, last in _runs(bases, point.y)]
    return [gap for gap in gaps if gap is not None and not any(_belongs(gap, other) for other in found)]


def _belongs(gap: Obstacle, other: Obstacle) -> bool:
    """Whether a dark gap may be a part of ``other``, its windows, or its shadow."""
    if gap.base <= other.base and gap.outer_left <= other.outer_right and gap.outer_right >= other.outer_left:
        return True
    apart = max(gap.foot_left - other.foot_right, other.foot_left - gap.foot_right)
    behind = max(1 / gap.base - 1 / other.front, 1 / other.base - 1 / gap.front)
    return apart < RECESS and behind < LENGTH


def _sills(dark: Mask, rows: NDArray[np.int64], point: Vanishing) -> Mask:
    """Where a dark band begins that is as tall as the gap under a vehicle, and as wide as an obstacle.

    Paint and shade are lighter, and a crack or a drain is narrower, or not as tall.
    """
    total = np.vstack([np.zeros((1, dark.shape[1]), np.int32), np.cumsum(dark, axis=0, dtype=np.int32)])
    tall = np.maximum(SILL_PX, SILL * (rows - point.y)).astype(int)
    band = total[rows + 1] - total[rows + 1 - tall] == tall[:, None]
    turns = np.diff(np.pad(band, ((0, 0), (1, 1))).astype(np.int8), axis=1)
    (row, first), (_, end) = np.nonzero(turns == 1), np.nonzero(turns == -1)
    broad = end - first >= NARROWEST * (rows[row] - point.y)
    ends = np.zeros(turns.shape, np.int8)
    ends[row[broad], first[broad]] = 1
    ends[row[broad], end[broad]] = -1
    result: Mask = np.cumsum(ends, axis=1)[:, :-1] > 0
    return result


def standing_rows(mask: Mask, model: RoadModel, point: Vanishing, flat: Mask | None) -> NDArray[np.float64]:
    """Per column the nearest row at which an upright stretch begins, 0 where there is none.

    Where it begins with what may be ``flat``, it is followed up to something else; without that it is none.
    """
    height = mask.shape[0]
    low = model.top + 4
    rows = np.arange(low, height)
    total = np.zeros((height - model.top + 1, mask.shape[1]), np.int32)
    np.cumsum(mask[model.top :], axis=0, out=total[1:])
    tall = np.maximum(4, BODY * (rows - point.y)).astype(int)
    upper = np.maximum(rows - tall, model.top)
    share = (total[rows + 1 - model.top] - total[upper + 1 - model.top]) / np.maximum(rows - upper, 1)[:, None]
    standing = (share >= FILLED) & mask[rows] & mask[rows - 1]
    if flat is not None:
        # Far away the dark gap under a vehicle is too thin to be seen.
        solid = mask[rows] & (~flat[rows] | (rows < point.y + FAR)[:, None])
        standing = (share >= FILLED_ABOVE) & solid & np.vstack([solid[:1], solid[:-1]]) & _begun(standing, tall)
    nearest = len(rows) - 1 - np.argmax(standing[::-1], axis=0)
    return np.where(standing.any(axis=0), rows[nearest], 0).astype(np.float64)


def _begun(standing: Mask, tall: NDArray[np.int64]) -> Mask:
    """Rows at most a body's height above a row at which an upright stretch begins."""
    rows = np.arange(len(standing), dtype=np.int32)
    last = np.where(standing, rows[:, None], np.int32(-1))
    below = np.minimum.accumulate(np.where(last >= 0, last, np.int32(len(standing) * 4))[::-1], axis=0)[::-1]
    result: Mask = below - rows[:, None] <= tall[:, None]
    return result


def _runs(bases: NDArray[np.float64], horizon: float) -> list[tuple[int, int]]:
    """First and last column of stretches without a jump; gaps of a few columns are bridged."""
    runs: list[tuple[int, int]] = []
    start = last = -1
    for x, base in enumerate(bases):
        if base == 0:
            continue
        if start >= 0:
            near, far = max(base, bases[last]) - horizon, min(base, bases[last]) - horizon
            steep = near - far > max(2.5, JUMP * near) and 1 / max(far, 1.0) - 1 / near > STRIDE
            if x - last > max(3, 0.12 * near) or steep:
                runs.append((start, last))
                start = -1
        if start < 0:
            start = x
        last = x
    if start >= 0:
        runs.append((start, last))
    return runs


def _rejoined(runs: list[tuple[int, int]], bases: Floats, mask: Mask, horizon: float) -> list[tuple[int, int]]:
    """The same runs, with those made one that lie equally near on both sides of a recess: wheels and bumper of a vehicle.

    What is seen through a gap between two vehicles lies further away, or is road.
    """
    joined: list[tuple[int, int]] = []
    for run in runs:
        for index, (first, last) in enumerate(joined):
            if _recess(last, run[0], first, run[1], bases, mask, horizon):
                joined[index:] = [(first, run[1])]
                break
        else:
            joined.append(run)
    return joined


def _recess(left: int, right: int, first: int, last: int, bases: Floats, mask: Mask, horizon: float) -> bool:
    """Whether the columns between ``left`` and ``right`` are a recess of what stands from column ``first`` to ``last``.

    Both sides are equally near, the foot in between lies back only a little or can't be told, and above it is no road.
    """
    sides = bases[max(first, left - 5) : left + 1], bases[right : min(last, right + 5) + 1]
    far, near = sorted(float(np.median(rows[rows > 0])) - horizon for rows in sides)
    if near - far > max(2.5, JUMP * near) or right - left > RECESS * near or last - first > REJOINED * near:
        return False
    between = bases[left + 1 : right]
    if not len(between):
        return True
    seen = between[between > 0]
    if len(seen) and float(seen.min()) - horizon < RECEDES * far:
        return False
    low, high = round(horizon + (1 - BODY) * far), round(horizon + RECEDES * far)
    return bool(mask[low:high, left + 1 : right].mean() > FILLED)


def _measure(
    bases: NDArray[np.float64], first: int, last: int, model: RoadModel, point: Vanishing, width: int
) -> Obstacle | None:
    columns = np.arange(first, last + 1)
    columns = columns[bases[first : last + 1] > 0]
    feet = bases[columns] - point.y
    base = float(np.percentile(feet, 90, method="nearest"))
    if base <= 0:
        return None
    flat = columns[np.abs(feet - base) <= max(2.0, SAME_DEPTH * base)]
    left, right = float(flat.min()), float(flat.max())
    at_border = first <= 2 or last >= width - 3
    if (right - left) / base < NARROWEST:
        # Seen from the side, or cut off by the picture: there is no flat rear, the whole run is the obstacle.
        if (last - first) / base < (NARROWEST_CUT if at_border else NARROWEST):
            return None
        left, right = float(first), float(last)
        flat = columns
    if (right - left) / base > WIDEST:
        return None
    hidden = bool(np.mean(bases[flat] >= model.floor[flat] - 2) > 0.4)
    # A kerb or verge runs on to the horizon; a vehicle's side ends.
    runs_on = feet.min() < max((model.top - point.y) + 6, 0.13 * base) and base > 3 * feet.min()
    if runs_on and at_border:
        return None
    open_foot = bases[columns] < model.floor[columns] - 2
    shown = columns[open_foot] if open_foot.sum() >= 3 else columns
    across = (shown - point.x) / np.maximum(bases[shown] - point.y, 1.0)
    foot_left, foot_right = (float(edge) for edge in np.percentile(across, (6, 94)))
    return Obstacle(
        base, left, right, float(first), float(last), foot_left, foot_right, float(np.percentile(feet, 5)), hidden
    )
