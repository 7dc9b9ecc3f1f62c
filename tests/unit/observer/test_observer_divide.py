"""A yellow line on the left tells an ordinary road only where there is road behind it."""

import numpy as np
import pytest

from vlmrec.observer.divide import undivided
from vlmrec.observer.horizon import Vanishing
from vlmrec.observer.lanes import COLUMNS, REACH, STEP, Lanes, road_strip
from vlmrec.observer.measure import Measures
from vlmrec.observer.road import RoadModel
from vlmrec.observer.verge import Edges

FRAMES, WIDTH, HEIGHT, SPACING = 60, 1280, 720, 2.6
POINT = Vanishing(640.0, 330.0, 1.0)


def column(u: float) -> int:
    return round((u + REACH) / STEP)


def measures(*, yellow: bool = True, hidden: tuple[float, float] | None = None, edge: float = -np.inf) -> Measures:
    """A camera in the middle of its lane, a line on its left, and ground of which ``hidden`` (lanes left of the line) can't be seen."""
    left = -0.5 * SPACING
    profiles = np.zeros((FRAMES, len(COLUMNS)), np.float32)
    profiles[:, column(left)] = 0.9
    room = road_strip(POINT, (WIDTH, HEIGHT), 0.93 * HEIGHT).valid.mean(axis=0)
    clear = np.tile(room, (FRAMES, 1))
    if hidden is not None:
        near, far = (left - aside * SPACING for aside in hidden)
        clear[:, column(far) : column(near)] = 0.0
    times = np.arange(FRAMES) / 15
    model = RoadModel(int(POINT.y), np.zeros((1, 3)), np.ones((1, 3)), np.full(WIDTH, HEIGHT - 1), 1.0)
    golden = profiles if yellow else 0.0 * profiles
    return Measures(
        times, (WIDTH, HEIGHT), POINT, np.full(FRAMES, POINT.x), np.full(FRAMES, POINT.y), (), profiles, golden, clear.astype(np.float32),
        profiles, None, model, (), (), edges=Edges(edge, np.inf),
    )  # fmt: skip


LANES = Lanes(SPACING, np.full(FRAMES, 0.5), np.ones(FRAMES), 1.0)
BARRIER = (0.1, 0.9)


def test_road_behind_a_yellow_line_tells_that_nothing_else_parts_the_directions() -> None:
    assert undivided(measures(), LANES, 4.0)


def test_a_barrier_behind_a_yellow_line_is_a_motorways_edge() -> None:
    assert not undivided(measures(hidden=BARRIER), LANES, 4.0)


@pytest.mark.parametrize(("edge", "told"), [(-1.2, True), (-0.2, False)])
def test_where_the_road_ends_a_lane_further_on_the_line_was_not_its_edge(edge: float, told: bool) -> None:
    assert undivided(measures(hidden=BARRIER, edge=edge), LANES, 4.0) is told


def test_a_white_line_tells_nothing() -> None:
    assert not undivided(measures(yellow=False), LANES, 4.0)


def test_a_line_seen_for_a_few_frames_tells_nothing() -> None:
    assert not undivided(measures(), LANES, 0.5)
