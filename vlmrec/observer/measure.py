"""One clip measured: camera, vanishing point, lanes, obstacles and their tracks. No judgement yet."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import cv2
import numpy as np
from numpy.typing import NDArray

from vlmrec.observer.camera import CameraStep, camera_step, halved
from vlmrec.observer.flat import dark_pixels, flat_masks
from vlmrec.observer.flow import Gray
from vlmrec.observer.footage import Frame
from vlmrec.observer.footway import Footway, find_footway
from vlmrec.observer.gaze import vanishing_path
from vlmrec.observer.horizon import Vanishing, common_point, road_segments
from vlmrec.observer.lanes import (
    Lanes,
    Strip,
    brighter,
    columns_of,
    fit_lanes,
    in_view,
    lasting,
    paint,
    road_strip,
    yellow,
)
from vlmrec.observer.obstacles import Obstacle, find_gaps, find_obstacles, standing_rows
from vlmrec.observer.pace import paces
from vlmrec.observer.road import (
    Mask,
    RoadModel,
    bonnet_floor,
    learn_road,
    odd_pixels,
    off_road,
)
from vlmrec.observer.surface import painted_surface
from vlmrec.observer.tracks import Track, follow
from vlmrec.observer.verge import Edges, road_edges

Floats = NDArray[np.float64]

MOST_FRAMES = 450  # held at once; a longer clip is measured over its first half minute
LEARN_FROM = 30  # frames that the road's look is learnt from
ROAD_REACH = 2.2  # camera heights to either side that are surely road


class Measures(NamedTuple):
    """All that was measured, in step with ``times`` (seconds of clip time)."""

    times: Floats
    size: tuple[int, int]
    point: Vanishing
    points_x: Floats  # column of the vanishing point, per frame
    points_y: Floats  # its row, per frame
    steps: tuple[CameraStep, ...]  # steps[i] leads from frame i to frame i + 1
    profiles: NDArray[np.float32]  # paint per frame and column of u
    yellows: NDArray[np.float32]  # of that, what is yellow
    clear: NDArray[np.float32]  # share of a column's rows that could be seen
    bright: NDArray[np.float32]  # share of those that are brighter or yellower than road, narrow or wide
    lanes: Lanes | None
    model: RoadModel
    obstacles: tuple[tuple[Obstacle, ...], ...]
    tracks: tuple[Track, ...]
    edges: Edges | None = None
    footway: Footway | None = None
    surface: NDArray[np.float32] | None = None  # painted share per frame, lane and row (surface.py); NaN where hidden


class Glimpse(NamedTuple):
    """Footage without a road in it that could be read: only how the picture moved, if even that. ``reason`` says why."""

    frames: int
    start: float
    end: float
    usable: bool
    reason: str
    times: tuple[float, ...] = ()
    stirs: tuple[float, ...] = ()  # px/s of the picture's lower part, per frame; NaN where unknown


def measure(frames: Iterator[Frame]) -> Measures | Glimpse:
    """Everything measured in ``frames``. Deterministic: one thread, no randomness."""
    cv2.setNumThreads(1)
    held: list[Frame] = []
    for frame in frames:
        held.append(frame)
        if len(held) >= MOST_FRAMES:
            break
    times = np.array([frame.time if frame.time is not None else np.nan for frame in held])
    start, end = (float(times[0]), float(times[-1])) if len(held) and not np.isnan(times).any() else (0.0, 0.0)
    fault = _fault(held, times)
    if fault:
        return Glimpse(len(held), start, end, False, fault)
    pictures = [frame.picture for frame in held]
    grays = [np.asarray(cv2.cvtColor(picture, cv2.COLOR_BGR2GRAY), np.uint8) for picture in pictures]
    height, width = grays[0].shape
    segments = [road_segments(gray) for gray in grays[::2]]
    point = common_point(np.concatenate(segments), (width, height))
    if point is None:
        return _glimpse(grays, times)
    few = pictures[:: max(1, len(pictures) // LEARN_FROM)]
    model = learn_road(few, point, bonnet_floor(few), ROAD_REACH)
    odd = [odd_pixels(picture, model) for picture in pictures]
    steps = _camera(odd, grays, times, model, point)
    points_x, points_y = vanishing_path(point, segments, steps, len(held))
    points = [Vanishing(float(x), float(y), point.support) for x, y in zip(points_x, points_y, strict=True)]
    gone = paces(grays, odd, points, steps, model)
    steps = tuple(step._replace(pace=pace) for step, pace in zip(steps, gone, strict=True))
    first: list[tuple[Obstacle, ...]] = []
    profiles: list[Floats] = []
    yellows: list[Floats] = []
    clear: list[Floats] = []
    bright: list[Floats] = []
    strip = road_strip(point, (width, height), 0.93 * height)
    standing: list[Mask] = []
    for index, here in enumerate(points):
        first.append(tuple(find_obstacles(off_road(odd[index], model, here), model, here)))
        standing.append(_standing(first[-1], grays[index].shape, here))
        painted, valid = _paint(grays[index], strip, model, first[-1], here)
        profiles.append(columns_of(painted, valid))
        clear.append(valid.mean(axis=0))
        shown = brighter(pictures[index], strip, model) & valid
        bright.append(shown.sum(axis=0) / np.maximum(valid.sum(axis=0), 1))
        yellows.append(columns_of(painted & yellow(pictures[index], strip, model), valid))
    profile = np.array(profiles)
    open_road = in_view(strip, model).mean(axis=0)
    lanes = fit_lanes(profile, [float(t) for t in times], lasting(np.array(clear), open_road))
    footway = None if lanes is None else find_footway(pictures, points, model, lanes, steps, times)
    flats = flat_masks(pictures, model)
    surface = painted_surface(pictures, standing, points, lanes, model) if lanes is not None else None
    measures = Measures(
        times, (width, height), point, points_x, points_y, steps, _light(profile), _light(yellows), _light(clear), _light(bright), lanes, model,
        tuple(first), (), footway=footway, surface=surface,
    )  # fmt: skip
    return stand(measures, odd, flats, [dark_pixels(picture, model) for picture in pictures])


def stand(measures: Measures, odd: Sequence[Mask], flats: Sequence[Mask], darks: Sequence[Mask]) -> Measures:
    """The same with what stands on the road, followed over time. The masks hold rows from ``model.top`` on."""
    points = [
        Vanishing(float(x), float(y), measures.point.support)
        for x, y in zip(measures.points_x, measures.points_y, strict=True)
    ]
    model, lanes, width = measures.model, measures.lanes, measures.size[0]
    masks = [off_road(one, model, here) for one, here in zip(odd, points, strict=True)]
    edges = None
    if lanes is not None:
        bases = [standing_rows(mask, model, here, None) for mask, here in zip(masks, points, strict=True)]
        edges = road_edges(masks, bases, points, lanes, model)
    obstacles = []
    for index, (mask, here) in enumerate(zip(masks, points, strict=True)):
        within = (-np.inf, np.inf)
        if edges is not None and lanes is not None:
            within = tuple((edge - lanes.offset[index]) * lanes.spacing for edge in edges)
        flat, dark = np.zeros_like(mask), np.zeros_like(mask)
        flat[model.top :], dark[model.top :] = flats[index], darks[index]
        found = find_obstacles(mask, model, here, flat=flat, edges=within)
        found += find_gaps(dark, mask, model, here, found, within)
        obstacles.append(tuple(sorted(found, key=lambda obstacle: -obstacle.base)))
    paces = [0.0] + [max(0.0, (step.pace or 0.0) * step.gap) for step in measures.steps]
    tracks = follow(
        [(float(t), here.x, o) for t, here, o in zip(measures.times, points, obstacles, strict=True)], width, paces
    )
    return measures._replace(obstacles=tuple(obstacles), tracks=tracks, edges=edges)


def _light(rows: Sequence[Floats] | Floats) -> NDArray[np.float32]:
    """Half the size is enough to keep."""
    return np.asarray(rows, np.float32)


def _standing(obstacles: Sequence[Obstacle], shape: tuple[int, ...], here: Vanishing) -> Mask:
    """A mask of what stands on the road, from its foot up to the horizon."""
    mask = np.zeros(shape, bool)
    rows, columns = np.arange(shape[0])[:, None], np.arange(shape[1], dtype=np.float64)
    for obstacle in obstacles:
        mask |= (rows <= here.y + obstacle.foot_at(columns)[None, :] + 2) & (rows > here.y)
    return mask


def _glimpse(grays: Sequence[Gray], times: Floats) -> Glimpse:
    """How far the corners of the picture's lower part went, for footage in which no road can be read."""
    small = [halved(gray) for gray in grays]
    height = len(small[0])
    mask = np.zeros_like(small[0])
    mask[int(0.45 * height) : int(0.9 * height)] = 255
    middle = Vanishing(small[0].shape[1], 0.9 * height, 0.0)
    stirs = [float("nan")]
    matched = []
    for i in range(1, len(small)):
        gap = float(times[i] - times[i - 1])
        step = camera_step(small[i - 1], small[i], mask, float(times[i]), gap, middle)
        stirs.append(float("nan") if step.stir is None else step.stir / gap)
        matched.append(step.matched)
    usable = float(np.median(matched)) >= 0.2
    reason = "no road lines that run towards one point" if usable else "the frames don't follow from one another"
    return Glimpse(
        len(small), float(times[0]), float(times[-1]), usable, reason, tuple(float(t) for t in times), tuple(stirs)
    )


def _fault(held: Sequence[Frame], times: Floats) -> str:
    if np.isnan(times).any():
        return "frames without times"
    if len(held) < 12:
        return "too few frames to measure motion"
    gaps = np.diff(times)
    if (gaps <= 0).any():
        return "the frames are not in order of time"
    if float(np.median(gaps)) > 0.3:
        return "the frames lie too far apart to follow anything"
    if min(held[0].picture.shape[:2]) < 90:
        return "the picture is too small"
    if len({frame.picture.shape for frame in held}) > 1:
        return "the picture changes its size"
    return ""


def _camera(
    odd: Sequence[Mask], grays: Sequence[Gray], times: Floats, model: RoadModel, point: Vanishing
) -> tuple[CameraStep, ...]:
    small = [halved(gray) for gray in grays]
    height, width = small[0].shape
    rows = np.arange(height)[:, None]
    floor = (model.floor[::2][:width] / 2)[None, :]
    region = (rows > point.y / 2 + 0.06 * height) & (rows < floor - 2)
    steps = []
    for i in range(1, len(small)):
        things = off_road(odd[i - 1], model, point)[::2, ::2][:height, :width]
        ground = np.asarray(region & (cv2.dilate(things.astype(np.uint8), np.ones((5, 5), np.uint8)) == 0), np.uint8)
        gap = float(times[i] - times[i - 1])
        steps.append(camera_step(small[i - 1], small[i], ground * np.uint8(255), float(times[i]), gap, point))
    return tuple(steps)


def _paint(
    gray: Gray, strip: Strip, model: RoadModel, obstacles: Sequence[Obstacle], here: Vanishing
) -> tuple[Mask, Mask]:
    """Painted pixels of the strip, and those that could be: not what obstacles and the bonnet cover."""
    valid = in_view(strip, model)
    for obstacle in obstacles:
        foot = obstacle.foot_at(np.asarray(strip.map_x, np.float64))
        valid &= (foot <= 0) | (strip.map_y > here.y + foot + 3)
    return paint(gray, strip) & valid, valid
