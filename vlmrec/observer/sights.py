"""The vehicles of a clip as an entity table lists them: boxes over time, heading, lane. Pure."""

from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from vlmrec.observer.conduct import pace_over
from vlmrec.observer.lanes import Lanes, paint_at
from vlmrec.observer.measure import Measures
from vlmrec.observer.obstacles import Obstacle
from vlmrec.observer.paths import Path
from vlmrec.observer.scene import Rival, Sight

Floats = NDArray[np.float64]

EVERY = 0.5  # s between boxes
LONG_ENOUGH = 1.0  # s that an entity is seen
NEAR_ENOUGH = 0.07  # of the picture's height
MOST = 12
ABOVE = 0.14  # of the distance row: how far a car's roof reaches above the horizon


def list_sights(
    paths: Sequence[Path], measures: Measures, way: Floats, rival: Rival | None, ego_lane: int | None
) -> tuple[Sight, ...]:
    """The vehicles seen long and near enough, the counterpart always among them; in order of appearance."""
    height = measures.size[1]
    kept = [
        path
        for path in paths
        if (rival is not None and path.number == rival.track)
        or (
            path.times[-1] - path.times[0] >= LONG_ENOUGH
            and float(path.near.max()) >= NEAR_ENOUGH * height
            and float(np.abs(path.beside).min()) < 2.6
            and float(np.median(path.span)) < 3.5
        )
    ]
    kept.sort(key=lambda path: (rival is None or path.number != rival.track, -float(path.near.max()), path.number))
    chosen = sorted(kept[:MOST], key=lambda path: (path.times[0], path.number))
    return tuple(_sight(path, measures, way, rival, ego_lane) for path in chosen)


def ego_place(measures: Measures, lanes: Lanes) -> tuple[int | None, int | None]:
    """The ego's lane at the start counted from the yellow line on its left, and the number of lanes to the edge line."""
    first = measures.times <= measures.times[0] + 3.0
    left = right = None
    for line in range(0, -4, -1):
        golden = paint_at(measures.yellows, measures.clear, lanes, line)[first]
        known = golden[np.isfinite(golden)]
        if len(known) > 8 and float(known.mean()) > 0.25:
            left = 1 - line
            break
    for line in range(1, 5):
        painted = paint_at(measures.profiles, measures.clear, lanes, line)[first]
        known = painted[np.isfinite(painted)]
        if len(known) > 8 and float(known.mean()) > 0.8:
            right = line
            break
    return left, None if left is None or right is None else left + right - 1


def _sight(path: Path, measures: Measures, way: Floats, rival: Rival | None, ego_lane: int | None) -> Sight:
    boxes = []
    due = float(path.times[0])
    for sighting in measures.tracks[path.number].sightings:
        if sighting.time < due - 1e-6:
            continue
        boxes.append((sighting.time, _box(sighting.obstacle, sighting.time, measures)))
        due = sighting.time + EVERY
    across = float(np.median(path.across[: max(3, len(path.across) // 3)]))
    lane = None if ego_lane is None else int(np.floor(across)) + ego_lane
    beside = float(path.beside[0])
    return Sight(
        track=path.number,
        first=float(path.times[0]),
        last=float(path.times[-1]),
        kind="car" if path.width < 1.75 else "truck",
        place="ahead" if abs(beside) < 0.5 else "on the left" if beside < 0 else "on the right",
        heading=_heading(path, measures, way, rival),
        lane=lane if lane is not None and lane >= 1 else None,
        boxes=tuple(boxes),
    )


def _box(obstacle: Obstacle, time: float, measures: Measures) -> tuple[float, float, float, float]:
    width, height = measures.size
    horizon = float(np.interp(time, measures.times, measures.points_y))
    edges = (obstacle.outer_left / width, (horizon - ABOVE * obstacle.base) / height)
    ends = ((obstacle.outer_right + 1) / width, (horizon + obstacle.base) / height)
    x1, y1, x2, y2 = (round(float(np.clip(1000 * part, 0, 1000)), 1) for part in (*edges, *ends))
    return x1, y1, x2, y2


def _heading(
    path: Path, measures: Measures, way: Floats, rival: Rival | None
) -> Literal["parallel", "oncoming", "perpendicular", "unknown"]:
    if rival is not None and path.number == rival.track and rival.heading is not None:
        names: dict[str, Literal["parallel", "oncoming", "perpendicular"]] = {
            "same": "parallel",
            "oncoming": "oncoming",
            "crossing": "perpendicular",
        }
        return names[rival.heading]
    until = float(path.times[-1])
    pace = pace_over(path, np.interp(path.times, measures.times, way), float(path.times[0]), until)
    if pace is None or pace.error > 0.25 or -0.6 < pace.share < 0.2:
        return "unknown"
    return "parallel" if pace.share > 0 else "oncoming"
