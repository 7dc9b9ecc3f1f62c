"""Where the road ends: kerbs, grass and barriers, known by running along it. Pure.

Places across the road are in lanes on the comb's own count, so that an edge keeps its place while the camera moves over.
What stands beyond an edge is no vehicle, and is not allowed to grow together with one.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from vlmrec.observer.horizon import Vanishing
from vlmrec.observer.lanes import Lanes
from vlmrec.observer.road import Mask, RoadModel

Floats = NDArray[np.float64]

REACH = 7.0  # lanes to either side
STEP = 0.1  # lanes
OWN = 0.4  # lanes to either side of the camera that are road
LONG = 2.2  # a border's far end lies at least this many times as far away as its near end; a vehicle's side is shorter
NEAREST_LONG = 60.0  # px below the vanishing point: nearer than this a vehicle's side may be as long
OFTEN = 0.3  # share of frames in which a border is seen: traffic hides it at times
BELT = 5  # steps that a verge is wide at least
SELDOM = 20  # percentile over time: a row of vehicles has gaps, a verge is always there
BARREN, BARREN_ALONE = 0.35, 0.5  # share of a place's rows that is off the road, behind a border and without one
LEAST_ROWS, LEAST_FRAMES = 8, 8  # rows of a place that count in one frame; frames that count


class Edges(NamedTuple):
    """Left and right end of the road in lanes on the comb's count; infinite where none was seen."""

    left: float
    right: float


def road_edges(
    masks: Sequence[Mask], bases: Sequence[Floats], points: Sequence[Vanishing], lanes: Lanes, model: RoadModel
) -> Edges:
    """The road's edges: the nearest long border to either side behind which there is never any road.

    ``masks`` are of what is off the road; ``bases`` hold for every picture column the row where something begins to
    stand, else 0.
    """
    bins = np.arange(-REACH, REACH + 1, STEP)
    borders = np.zeros(len(bins))
    shares = []
    for index, (mask, rows, point) in enumerate(zip(masks, bases, points, strict=True)):
        borders += _borders(rows, point, lanes.offset[index], lanes.spacing, bins)
        if index % 3 == 0:
            shares.append(_shares(mask, point, (bins - lanes.offset[index]) * lanes.spacing, model))
    seen = np.array(shares)
    known = np.isfinite(seen).sum(axis=0) >= min(LEAST_FRAMES, len(seen))
    usual = np.full(len(bins), np.nan)
    usual[known] = np.nanpercentile(seen[:, known], SELDOM, axis=0)
    border = borders >= OFTEN * len(bases)
    right, left = bins > float(lanes.offset.max()) + OWN, bins < float(lanes.offset.min()) - OWN
    return Edges(
        -_nearest(-bins[left][::-1], border[left][::-1], usual[left][::-1]),
        _nearest(bins[right], border[right], usual[right]),
    )


def _borders(rows: Floats, point: Vanishing, ego: float, spacing: float, bins: Floats) -> NDArray[np.bool_]:
    """For each of ``bins``, whether something runs along the road there over a long stretch of one frame."""
    columns = np.flatnonzero(rows > point.y + 8)
    down = rows[columns] - point.y
    place = (columns - point.x) / down / spacing + ego
    found = np.zeros(len(bins), bool)
    for index in np.unique(np.round((place - bins[0]) / STEP).astype(int)):
        if not 0 <= index < len(bins):
            continue
        here = down[(np.abs(place - bins[index]) <= STEP) & (down < NEAREST_LONG)]
        if len(here) < 8:
            continue
        low, high = float(np.percentile(here, 8)), float(np.percentile(here, 92))
        found[index] = high >= LONG * low
    return found


def _shares(mask: Mask, point: Vanishing, across: Floats, model: RoadModel) -> Floats:
    """Share of rows off the road at places ``across`` (camera heights right of the camera); NaN where too few are seen."""
    height, width = mask.shape
    rows = np.arange(int(point.y + 0.05 * height), int(0.93 * height))
    columns = point.x + across[None, :] * (rows[:, None] - point.y)
    at = np.clip(columns, 0, width - 1).astype(int)
    seen = (columns >= 1) & (columns < width - 1) & (rows[:, None] <= model.floor[at] - 2)
    count = seen.sum(axis=0)
    off = (mask[rows[:, None], at] & seen).sum(axis=0)
    return np.where(count >= LEAST_ROWS, off / np.maximum(count, 1), np.nan)


def _nearest(places: Floats, border: NDArray[np.bool_], usual: Floats) -> float:
    """The first of ``places``, from the camera outwards, at which the road ends; infinite without one."""
    for index in range(len(places)):
        belt, rest = usual[index + 1 : index + 1 + BELT], usual[index + 1 :]
        belt, rest = belt[np.isfinite(belt)], rest[np.isfinite(rest)]
        if len(belt) < BELT - 2:
            continue
        amount = min(float(belt.mean()), float(rest.mean()))
        if (border[index] and amount > BARREN) or (usual[index] > BARREN_ALONE and amount > BARREN_ALONE):
            return float(places[index]) - (0.0 if border[index] else STEP)
    return float("inf")
