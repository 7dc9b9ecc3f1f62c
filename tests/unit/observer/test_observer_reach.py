"""A vehicle that turned out of the roadside: how far its pieces reach towards the ego."""

from types import SimpleNamespace
from typing import cast

import numpy as np
import pytest
from numpy.typing import NDArray

from vlmrec.observer.conduct import Pace
from vlmrec.observer.measure import Measures
from vlmrec.observer.obstacles import Obstacle
from vlmrec.observer.paths import Path
from vlmrec.observer.reach import DOOR_REACH, reach_ease, reaches
from vlmrec.observer.scene import Keeping
from vlmrec.observer.sideways import eases
from vlmrec.observer.standing import set_off, stayed

Floats = NDArray[np.float64]

TIMES: Floats = np.arange(60) / 15
CONTACT = float(TIMES[-1])
WAY = 0.018 * TIMES  # 1/px: some 35 km/h
SPACING, POINT = 2.4, 320.0
REAR, WHEEL = 0.006 + float(WAY[-1]), 0.004  # 1/px of way to its rear end, and on to its front wheel
SIDE = 0.6  # lanes from the camera to its near side
STILL = Keeping(0.0, CONTACT, (), 0.9)


def piece(near: float, side: float) -> Obstacle:
    """What is seen from ``side``, in lanes right of the camera, on for most of a lane."""
    left, right = side * SPACING, (side + 0.5) * SPACING
    return Obstacle(near, POINT + left * near, POINT + right * near, POINT + left * near, POINT + right * near, left, right, near, False)  # fmt: skip


def film(out: Floats, *, other: float = 9.0) -> tuple[Path, Measures]:
    """A rear end that stays where it is, and from 50 px on a front wheel ``out`` lanes further towards the ego.

    Another vehicle drives ``other`` lanes beside the ego, as far ahead as the front wheel.
    """
    near = 1 / (REAR - WAY)
    pieces = []
    for row, way, over in zip(near, WAY, out, strict=True):
        wheel = 1 / (REAR + WHEEL - float(way))
        here = [piece(float(row), SIDE), piece(wheel, other)]
        pieces.append(tuple([*here, piece(wheel, SIDE - float(over))] if row > 50 else here))
    ones, flags = np.ones(len(TIMES)), np.zeros(len(TIMES), bool)
    path = Path(
        0, TIMES, (SIDE + 0.75) * ones, 0.5 * ones, near, SIDE * ones, near, 1.4 * ones, ~flags, 1.4, flags, flags,
        flags,
    )  # fmt: skip
    return path, cast(Measures, SimpleNamespace(times=TIMES, obstacles=tuple(pieces)))


def turned(by: float) -> Floats:
    part: Floats = np.clip((TIMES - CONTACT + 1.0) / 1.0, 0, 1)
    return by * part


def test_the_front_wheel_that_comes_out_shows_that_a_vehicle_set_off_though_its_rear_keeps_its_place() -> None:
    path, measures = film(turned(0.5))
    fits = eases(path, CONTACT)
    assert stayed(path, WAY, CONTACT, fits)
    assert set_off(path, STILL, STILL, fits, None, None, beyond=True).moves == ()
    reached = reach_ease(path, measures, SPACING, WAY, CONTACT)
    assert reached is not None
    assert reached.shift == pytest.approx(-0.5, abs=0.08)
    assert not stayed(path, WAY, CONTACT, fits, reached)
    move = set_off(path, STILL, STILL, [reached], None, None, beyond=True, door=DOOR_REACH).moves[0]
    assert move.side == "left"
    assert CONTACT - 1.2 < move.start < CONTACT - 0.5


def test_the_side_of_what_stays_reaches_no_farther_at_its_front_and_a_door_not_far_enough() -> None:
    for by in (0.0, 0.3):
        path, measures = film(turned(by))
        reached = reach_ease(path, measures, SPACING, WAY, CONTACT)
        assert reached is not None
        assert set_off(path, STILL, STILL, [reached], None, None, beyond=True, door=DOOR_REACH).moves == ()
        assert stayed(path, WAY, CONTACT, eases(path, CONTACT), reached) == (by == 0)


def test_who_drives_past_it_in_the_ego_s_lane_is_no_part_of_it() -> None:
    path, measures = film(turned(0.0), other=-0.3)
    times, places = reaches(path, measures, SPACING, WAY, CONTACT)
    assert len(times) > 20
    assert places == pytest.approx(SIDE + 0.5, abs=0.01)


def test_a_vehicle_whose_place_was_not_seen_before_it_moved_tells_nothing() -> None:
    path, measures = film(turned(0.5))
    late = path.part(slice(50, None))
    assert reach_ease(late, measures, SPACING, WAY, CONTACT) is None


def test_who_sets_off_may_seem_slower_at_last_but_does_not_fall_back() -> None:
    path, measures = film(turned(0.5))
    reached = reach_ease(path, measures, SPACING, WAY, CONTACT)
    assert reached is not None
    late, back, whole = (Pace(share, 0.05, 0.0, CONTACT) for share in (0.05, -0.2, 0.2))
    assert set_off(path, STILL, STILL, [reached], late, whole, beyond=True).moves
    assert set_off(path, STILL, STILL, [reached], back, whole, beyond=True).moves == ()
