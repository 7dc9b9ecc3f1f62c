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
WALL_NEAR, WALL_FAR = 0.85, 0.25  # share of near rows that a wall hides, and of far ones, where places are less exact
WALL_BELT = 3  # steps over which it hides them
FOOT = 0.5  # share of near rows that are hidden right behind its foot
UNDER = 0.25  # lanes to either side of the camera that the ego itself takes up
AT_LANE = 0.65  # lanes to the side of the camera: a wall further away may be a row of vehicles
ALWAYS = 10  # percentile over time: a wall is there from end to end, a row of vehicles isn't
FAR_ROWS = 0.16  # of the picture's height below the vanishing point: what is beside the camera doesn't reach up here


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
    shares: list[Floats] = []
    bands: list[list[Floats]] = [[], []]
    for index, (mask, rows, point) in enumerate(zip(masks, bases, points, strict=True)):
        borders += _borders(rows, point, lanes.offset[index], lanes.spacing, bins)
        if index % 3 == 0:
            across = (bins - lanes.offset[index]) * lanes.spacing
            shares.append(_shares(mask, point, across, model))
            for band, between in zip(bands, ((0.05, FAR_ROWS), (FAR_ROWS, 1.0)), strict=True):
                band.append(_shares(mask, point, across, model, between))
    usual = _over_time(np.array(shares), SELDOM)
    far, near = (_over_time(np.array(band), ALWAYS) for band in bands)
    border = borders >= OFTEN * len(bases)
    right, left = bins > float(lanes.offset.max()) + OWN, bins < float(lanes.offset.min()) - OWN
    low, high, own = float(lanes.offset.min()), float(lanes.offset.max()), float(np.median(lanes.offset))
    by_left, by_right = bins < low - UNDER, bins > high + UNDER
    return Edges(
        -min(
            _nearest(-bins[left][::-1], border[left][::-1], usual[left][::-1]),
            _wall(-bins[by_left][::-1], near[by_left][::-1], far[by_left][::-1], AT_LANE - own),
        ),
        min(
            _nearest(bins[right], border[right], usual[right]),
            _wall(bins[by_right], near[by_right], far[by_right], AT_LANE + own),
        ),
    )


def _over_time(shares: Floats, percentile: int) -> Floats:
    """A percentile of each place's shares; NaN where they are known for too few frames."""
    known = np.isfinite(shares).sum(axis=0) >= min(LEAST_FRAMES, len(shares))
    usual = np.full(shares.shape[1], np.nan)
    usual[known] = np.nanpercentile(shares[:, known], percentile, axis=0)
    return usual


def _wall(places: Floats, near: Floats, far: Floats, reach: float) -> float:
    """The first of ``places`` up to ``reach`` from which on a wall beside the lane hides the road, near the camera and far
    ahead, from end to end of the film; behind it, the other carriageway may show.
    """
    walled = (near > WALL_NEAR) & (far > WALL_FAR)
    for index in range(len(places) - WALL_BELT + 1):
        if places[index] <= reach and walled[index : index + WALL_BELT].all():
            while index > 0 and near[index - 1] > FOOT:
                index -= 1
            return float(places[index])
    return float("inf")


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


def _shares(
    mask: Mask, point: Vanishing, across: Floats, model: RoadModel, between: tuple[float, float] = (0.05, 1.0)
) -> Floats:
    """Share of rows off the road at places ``across`` (camera heights right of the camera); NaN where too few are seen.

    ``between`` are the first and last row, as shares of the picture's height below the vanishing point.
    """
    height, width = mask.shape
    first, last = (int(point.y + share * height) for share in between)
    rows = np.arange(first, min(last, int(0.93 * height)))
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
