"""A footway beside the road: an even strip behind a kerb, known by lying a little higher than the road. Pure.

Whatever lies flat comes nearer by the ego's own way. What lies higher comes nearer quicker, by as much as it is nearer to
the camera: a tenth for a usual kerb, and the same over all of a footway's breadth. The face of a barrier or a wall, which
in one picture looks like a strip beside the road as well, comes the quicker the higher up, and a verge or another surface
that lies level with the road comes no quicker at all. Nobody walks along a motorway: a road with a footway is none.
"""

from collections.abc import Sequence
from typing import NamedTuple

import cv2
import numpy as np
from numpy.typing import NDArray

from vlmrec.observer.camera import CameraStep
from vlmrec.observer.footage import Picture
from vlmrec.observer.horizon import Vanishing
from vlmrec.observer.lanes import REACH, STEP, Lanes
from vlmrec.observer.road import RoadModel

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

VIEWS = 24  # pictures, at even steps of the ego's way, that the strips beside the road are read from
FAR, LOW = 0.06, 0.93  # of the picture's height: rows below the vanishing point from here, and down to here
BEGINS = 0.2  # lanes right of the camera at its rightmost
LEAST_ROWS, LEAST_VIEWS = 8, 8  # rows of a column in one picture, and pictures, that tell its look
ROAD_LIKE = (14.0, 5.0, 6.0)  # CIE Lab as OpenCV scales it, off the road's usual look in the same row
EVEN = (8.0, 3.0, 3.5)  # the same, within one strip
GREY = (6.0, 8.0)  # tints off the road's: stone, concrete and asphalt; grass is off by more
SEED = 0.4  # camera heights that a strip begins with
WIDTH = (1.0, 4.2)  # camera heights: from the narrowest footway to the widest
KERB = 0.9  # camera heights that the sight of a kerb's face takes up at most
MARGIN = 0.3  # camera heights of bare road between the last line and the kerb
PAINT = 0.4  # camera heights: what is wider than this, and no road, parts the strip from the road
APART, TOO_FAR = 0.0022, 0.006  # 1/px of the ego's way between two pictures that are compared, and at most
PAIRS = 40
LONGEST = 0.35  # s between the two
DEEP, FINE = 0.010, 0.0002  # 1/px of way that the compared stretch is long, and its grain
ROUGH = 25  # grains: shading that is coarser doesn't count
ALIKE, LEAST_PAIRS = 0.25, 6  # correlation of the two pictures; pairs
RAISED = (1.05, 1.28)  # of the road's pace: kerbs of 7 to 30 cm, seen from 1.2 to 1.6 m
LEVEL = 0.08  # the same: most that both halves of a level strip differ by
PACES: Floats = np.arange(0.6, 2.01, 0.05)  # of the ego's own way, looked through for the one that fits


class Footway(NamedTuple):
    """Places across the road in lanes on the comb's count: the kerb's foot, where the road ends, and the strip as it seems.

    What lies higher seems further out than it is, by its ``pace``.
    """

    kerb: float
    inner: float
    outer: float
    pace: float  # at which it comes nearer, as a share of the road's own


class _Film(NamedTuple):
    pictures: Sequence[Picture]
    points: Sequence[Vanishing]
    model: RoadModel
    lanes: Lanes
    way: Floats
    times: Floats


def find_footway(
    pictures: Sequence[Picture],
    points: Sequence[Vanishing],
    model: RoadModel,
    lanes: Lanes,
    steps: Sequence[CameraStep],
    times: Floats,
) -> Footway | None:
    """The footway on the right of the road; None where no strip is known to be one."""
    film = _Film(pictures, points, model, lanes, _way(steps), times)
    if film.way[-1] <= 0:
        return None
    places = np.arange(
        float(lanes.offset.max()) + BEGINS, float(lanes.offset.max()) + REACH / lanes.spacing, STEP / lanes.spacing
    )
    looks = _looks(film, places)
    road = None
    for first, last in even_strips(looks):
        if road is None:
            lane = np.floor(float(np.median(lanes.offset)))
            road = _pace(film, lane + 0.15, lane + 0.85)
        pace = raised(road, *(_pace(film, *half) for half in _halves(places[first], places[last])))
        if pace is not None:
            camera, inner = float(np.median(lanes.offset)), float(places[first])
            return Footway(camera + (inner - camera) / pace, inner, float(places[last]), pace)
    return None


def raised(road: float | None, inner: float | None, outer: float | None) -> float | None:
    """The pace of a strip as a share of the road's, where both its halves lie a kerb's height above it; else None."""
    if road is None or inner is None or outer is None or road <= 0:
        return None
    shares = (inner / road, outer / road)
    if not all(RAISED[0] <= share <= RAISED[1] for share in shares) or abs(shares[1] - shares[0]) > LEVEL:
        return None
    return float(np.mean(shares))


def even_strips(looks: Floats) -> list[tuple[int, int]]:
    """Even grey strips beyond a margin of road and a kerb: first and last column.

    ``looks`` is each column's Lab off the road's, from the camera outwards, ``STEP`` camera heights apart; NaN if unknown.
    """
    known = _all(np.isfinite(looks))
    road = known & _all(np.abs(looks) <= ROAD_LIKE)
    seed, least, most = (round(width / STEP) for width in (SEED, *WIDTH))
    found = []
    first = 0
    while first + least < len(looks):
        last = first + seed
        if not known[first:last].all():
            first += 1
            continue
        usual = np.median(looks[first:last], axis=0)
        if not _even(looks[first:last], usual):
            first += 1
            continue
        while last < len(looks) and known[last] and _even(looks[last], usual):
            last += 1
            if last - first <= least:
                usual = np.median(looks[first:last], axis=0)
        ends = last < len(looks) and bool(known[last])
        grey = bool((np.abs(usual[1:]) <= GREY).all())
        if least <= last - first <= most and ends and grey and _behind_kerb(road, first):
            found.append((first, last - 1))
        first = max(last, first + 1)
    return found


def _all(parts: Mask) -> Mask:
    result: Mask = np.all(parts, axis=1)
    return result


def _even(looks: Floats, usual: Floats) -> bool:
    return bool((np.abs(looks - usual) <= EVEN).all())


def _behind_kerb(road: Mask, first: int) -> bool:
    """Whether bare road reaches to a kerb's face before the strip that begins at ``first``, and nothing but paint lies on it."""
    margin, wide = round(MARGIN / STEP), round(PAINT / STEP)
    ends = [end for end in range(margin, first + 1) if road[end - margin : end].all()]
    if not ends or (first - ends[-1]) * STEP > KERB:
        return False
    bare = np.flatnonzero(road[: ends[-1]])
    return bool(bare[0] <= wide and np.diff(bare).max() <= wide)


def _looks(film: _Film, places: Floats) -> Floats:
    """Each place's usual Lab off the road's look, over the film; NaN where it was hardly seen."""
    at = np.unique(np.searchsorted(film.way, np.linspace(0, 0.999 * film.way[-1], VIEWS)))
    height = len(film.pictures[0])
    seen = []
    for index in at:
        rows = np.arange(FAR * height, LOW * height - film.points[index].y, 2.0)
        lab = cv2.cvtColor(film.pictures[index], cv2.COLOR_BGR2LAB)
        values, shown = _sampled(film, lab, index, places, rows)
        usual = np.clip((film.points[index].y + rows).astype(int) - film.model.top, 0, len(film.model.middle) - 1)
        off = np.where(shown[:, :, None], values - film.model.middle[usual][:, None, :], np.nan)
        off[:, shown.sum(axis=0) < LEAST_ROWS] = np.nan
        seen.append(_median(off))
    views = np.array(seen)
    enough = np.isfinite(views[:, :, 0]).sum(axis=0) >= min(LEAST_VIEWS, len(views))
    return np.where(enough[:, None], _median(views), np.nan)


def _median(values: Floats) -> Floats:
    """The median over the first axis, NaN where nothing is known."""
    known = np.isfinite(values).any(axis=0)
    return np.where(known, np.nanmedian(np.where(known, values, 0.0), axis=0), np.nan)


def _halves(inner: float, outer: float) -> tuple[tuple[float, float], tuple[float, float]]:
    """Both halves of a strip, without its rims."""
    rim, middle = 0.1 * (outer - inner), (inner + outer) / 2
    return (inner + rim, middle), (middle, outer - rim)


def _pace(film: _Film, left: float, right: float) -> float | None:
    """At what share of the ego's way what lies between two places comes nearer, by its grain; None where that doesn't tell."""
    places = np.linspace(left, right, 24)
    curves: list[Floats] = []
    one = 0
    while one < len(film.way) - 1 and len(curves) < PAIRS:
        two = int(np.searchsorted(film.way, film.way[one] + APART))
        if two >= len(film.way):
            break
        if film.way[two] - film.way[one] < TOO_FAR and film.times[two] - film.times[one] < LONGEST:
            curve = _likeness(film, one, two, places)
            if curve is not None:
                curves.append(curve)
        one = max(two, one + 1)
    if len(curves) < LEAST_PAIRS:
        return None
    usual = np.mean(curves, axis=0)
    best = int(np.argmax(usual))
    if not 0 < best < len(usual) - 1 or usual[best] < ALIKE:
        return None
    before, peak, after = usual[best - 1 : best + 2]
    return float(PACES[best] + (PACES[1] - PACES[0]) * 0.5 * (before - after) / (before - 2 * peak + after))


def _likeness(film: _Film, one: int, two: int, places: Floats) -> Floats | None:
    """How well two pictures agree if what lies at ``places`` came nearer by each of ``PACES``; None where it isn't in view."""
    height, width = film.pictures[0].shape[:2]
    gone, here = float(film.way[two] - film.way[one]), film.points[one]
    aside = float(np.abs((places - film.lanes.offset[one]) * film.lanes.spacing).max())
    lowest = min(0.97 * (width - here.x) / max(aside, 1e-6), LOW * height - here.y)
    if lowest <= 0:
        return None
    away = 1 / lowest + PACES[-1] * gone + np.arange(0, DEEP, FINE)
    grays = [np.asarray(cv2.cvtColor(film.pictures[index], cv2.COLOR_BGR2GRAY), np.uint8) for index in (one, two)]
    then, shown = _sampled(film, grays[0], one, places, 1 / away)
    if shown.mean() < 0.95 or 1 / away[-1] < 0.05 * height:
        return None
    then = _grain(then)
    curve = []
    for pace in PACES:
        now = _grain(_sampled(film, grays[1], two, places, 1 / (away - pace * gone))[0])
        curve.append((then * now).sum() / np.sqrt((then**2).sum() * (now**2).sum() + 1e-9))
    return np.array(curve)


def _grain(values: Floats) -> Floats:
    fine = values - cv2.blur(values, (1, ROUGH))
    result: Floats = fine - fine.mean(axis=0)
    return result


def _sampled(film: _Film, picture: Picture, index: int, places: Floats, rows: Floats) -> tuple[Floats, Mask]:
    """``picture`` at places across the road and rows below the vanishing point; and what of that is in sight."""
    here, width = film.points[index], picture.shape[1]
    across = (places - film.lanes.offset[index]) * film.lanes.spacing
    map_x = (here.x + across[None, :] * rows[:, None]).astype(np.float32)
    map_y = np.repeat((here.y + rows)[:, None], len(places), axis=1).astype(np.float32)
    values = cv2.remap(picture, map_x, map_y, cv2.INTER_LINEAR).astype(np.float64)
    floor = film.model.floor[np.clip(map_x, 0, width - 1).astype(int)]
    return values, (map_x > 2) & (map_x < width - 3) & (map_y < floor - 2)


def _way(steps: Sequence[CameraStep]) -> Floats:
    """The way gone up to each picture, in the unit of 1/row; what isn't known of it is like the rest."""
    gone = np.array([np.nan if step.pace is None else max(0.0, step.pace) for step in steps])
    known = np.flatnonzero(np.isfinite(gone))
    if len(known) < LEAST_PAIRS:
        return np.zeros(len(steps) + 1)
    pace = np.interp(np.arange(len(gone)), known, gone[known])
    calm = np.median(np.lib.stride_tricks.sliding_window_view(np.pad(pace, 3, mode="edge"), 7), axis=1)
    return np.concatenate([[0.0], np.cumsum(calm * [step.gap for step in steps])])
