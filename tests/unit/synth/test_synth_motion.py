"""Vehicle motion: phases, moves, contact and what follows it."""

import numpy as np
import pytest

from vlmrec.errors import InputError
from vlmrec.synth.motion import (
    STEP,
    Move,
    Phase,
    after_impact,
    drive,
    first_contact,
    reversed_way,
    separation,
    shifted,
    timed,
)
from vlmrec.synth.world import BODIES

CAR = BODIES["sedan"]


def test_a_steady_drive_covers_speed_times_time() -> None:
    track = drive(10.0, s=5, d=1.7, speed=12)
    assert track.at(10.0).s == pytest.approx(125)
    assert track.at(3.0).d == pytest.approx(1.7)
    assert track.at(3.0).yaw == pytest.approx(0)


def test_braking_never_makes_a_vehicle_roll_backwards() -> None:
    track = drive(10.0, s=0, d=0, speed=8, phases=[Phase(1.0, 10.0, -6)])
    assert track.speed.min() == 0
    assert np.all(np.diff(track.s) >= 0)
    assert track.at(9.0).speed == 0


def test_a_move_ends_a_lane_further_and_turns_the_nose_on_the_way() -> None:
    track = drive(10.0, s=0, d=0, speed=15, moves=[Move(2.0, 3.0, 3.4)])
    assert track.at(1.9).d == pytest.approx(0)
    assert track.at(5.1).d == pytest.approx(3.4)
    assert track.at(3.5).yaw > 0.05
    assert track.at(8.0).yaw == pytest.approx(0)


def test_contact_is_when_the_outlines_first_overlap() -> None:
    lead = shifted(drive(10.0, s=0, d=0, speed=10), s=30)
    chaser = drive(10.0, s=0, d=0, speed=15)
    assert first_contact(chaser, CAR, lead, CAR) == pytest.approx((30 - CAR.length) / 5, abs=2 * STEP)
    assert first_contact(chaser, CAR, shifted(lead, d=3.4), CAR) is None


def test_the_gap_beside_a_neighbour_is_lane_width_less_a_car() -> None:
    one, two = drive(4.0, s=0, d=0, speed=10), drive(4.0, s=0, d=3.4, speed=10)
    assert separation(one, CAR, two, CAR)[0] == pytest.approx(3.4 - CAR.width)


def test_a_reversed_vehicle_heads_against_the_road_and_leans_the_same_way() -> None:
    track = drive(10.0, s=100, d=-1.7, speed=10, moves=[Move(2.0, 3.0, 2.0)])
    back = reversed_way(track)
    assert back.at(10.0).s == pytest.approx(0)
    step = back.at(3.51).d - back.at(3.49).d
    heading = back.at(3.5).yaw
    assert np.cos(heading) < 0
    assert np.sign(np.sin(heading)) == np.sign(step)


def test_after_an_impact_the_past_is_unchanged_and_the_vehicle_comes_to_rest() -> None:
    track = drive(10.0, s=0, d=0, speed=12)
    hit = after_impact(track, 5.0, kick=-4, decel=4, push=0.4, turn=0.1)
    before = track.t < 5.0
    assert np.array_equal(hit.s[before], track.s[before])
    assert hit.at(9.5).speed == 0
    assert hit.at(9.5).d == pytest.approx(0.4, abs=0.01)
    assert np.all(np.diff(hit.s) >= -1e-9)


def test_tracks_are_timed_to_touch_when_asked() -> None:
    def tracks(x: float):  # type: ignore[no-untyped-def]
        return drive(10.0, s=0, d=0, speed=12, moves=[Move(3.0 + x, 2.0, 3.4)]), drive(10.0, s=1, d=3.4, speed=12)

    (a, b), _ = timed(tracks, (CAR, CAR), 6.0)
    assert first_contact(a, CAR, b, CAR) == pytest.approx(6.0, abs=2 * STEP)


def test_tracks_that_never_meet_are_refused() -> None:
    far = drive(10.0, s=500, d=0, speed=0)
    with pytest.raises(InputError, match="no contact"):
        timed(lambda _: (drive(10.0, s=0, d=0, speed=1), far), (CAR, CAR), 6.0)
