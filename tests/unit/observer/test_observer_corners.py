"""The front corner of one of a row: where it stands, and whether it moved on just before it was passed."""

import numpy as np
import pytest

from vlmrec.observer.corners import Corner, advance

REAR, LENGTH = 0.06, 0.008  # 1/px of way
SIDE = 1.6  # camera heights
TIMES = np.arange(0, 3.5, 1 / 15)
PACE = 0.018  # 1/px of way per second
LAST = 320.0  # px: the picture's edge


def corners(moves_on: float = 0.0, over: float = 0.0) -> list[Corner]:
    """A corner as the ego comes up to it; in the second before it is passed it moves on, and over, at an even pace."""
    found = []
    for time in TIMES:
        passed = (REAR + LENGTH) / PACE
        gone = max(0.0, time - (passed - 1.2))
        distance = REAR + LENGTH + moves_on * gone - PACE * time
        if distance <= 0 or (out := (SIDE - over * gone) / distance) > LAST:
            break
        found.append(Corner(float(time), float(PACE * time), float(out), SIDE))
    return found


def test_what_stands_keeps_its_place_up_to_the_last() -> None:
    moved = advance(corners(), REAR)
    assert moved is not None
    assert moved.along == pytest.approx(0.0, abs=1e-6)
    assert moved.lately == pytest.approx(0.0, abs=1e-6)


@pytest.mark.parametrize("how", [{"moves_on": 0.003}, {"over": 0.6}])
def test_what_sets_off_is_seen_to_move_on(how: dict[str, float]) -> None:
    moved = advance(corners(**how), REAR)
    assert moved is not None
    assert moved.along > 0.0015
    assert moved.over > 0.25


def test_what_drives_on_does_so_up_to_the_last() -> None:
    moved = advance(corners(moves_on=0.003), REAR)
    assert moved is not None
    assert moved.lately is not None
    assert moved.lately > 0.05


def test_what_jumps_back_at_the_last_is_another_thing() -> None:
    seen = corners(moves_on=0.003)
    back = [c._replace(out=c.side / (REAR + LENGTH - c.way)) for c in seen[-2:]]
    assert advance([*seen[:-2], *back], REAR) is None


def test_two_cars_in_one_now_and_then_are_no_place_and_no_move() -> None:
    seen = corners()
    torn = [c._replace(out=25.0) if index % 3 == 0 and c.out < 150 else c for index, c in enumerate(seen)]
    moved = advance(torn, REAR)
    assert moved is not None
    assert moved.along == pytest.approx(0.0, abs=1e-6)


def test_an_edge_that_stays_in_the_picture_is_none_that_is_passed() -> None:
    seen = corners()
    last = seen[-1]
    light = [
        last._replace(time=last.time + step / 15, way=last.way + PACE * step / 15, out=222.0) for step in range(1, 9)
    ]
    moved = advance([*seen, *light], REAR)
    assert moved is not None
    assert moved.time == last.time


def test_a_place_no_vehicle_reaches_from_its_rear_end_is_another_thing() -> None:
    assert advance(corners(), REAR - 0.02) is None
    assert advance(corners()[:4], REAR) is None
    assert advance([], REAR) is None
