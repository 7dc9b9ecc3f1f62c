"""Rows of standing vehicles beside the ego: one track for each, and who of them swung out."""

from types import SimpleNamespace
from typing import cast

import numpy as np
import pytest
from numpy.typing import NDArray

from vlmrec.observer.candidates import Candidate
from vlmrec.observer.lanes import Lanes
from vlmrec.observer.measure import Measures
from vlmrec.observer.obstacles import Obstacle
from vlmrec.observer.paths import path_of
from vlmrec.observer.rows import Row, in_rows, longest_row, rear_ends, wheel
from vlmrec.observer.swings import Over, Swing, alone, came_over, level_beside, swinger, swung_out_first
from vlmrec.observer.tracks import Sighting, Track

Floats = NDArray[np.float64]

TIMES: Floats = np.arange(75) / 15
WAY = 0.022 * TIMES  # 1/px: some 35 km/h
WIDTH, HEIGHT, SPACING = 640, 360, 2.2
POINT = 320.0  # column of the vanishing point
REARS = (0.045, 0.061, 0.077, 0.093)
LENGTH, SIDE = 0.0105, 0.78  # 1/px from rear to front, and lanes from the camera to the side of the row
CONTACT = float(TIMES[-1])


def seen(rear: float, way: float, over: float = 0.0) -> Obstacle | None:
    """A car of the row on the right as the picture shows it, come over by so many lanes; None once it is out of sight."""
    side = (SIDE - over) * SPACING
    begins, ends = rear - way, rear + LENGTH - way
    edge = side / ((WIDTH - 1 - POINT) * 1.0)  # 1/px of distance at which the picture's edge cuts it off
    if ends <= edge + 0.001 or begins > 1 / 15:
        return None
    near, front = 1 / max(begins, edge), 1 / ends
    left = POINT + side * near
    right = min(POINT + (side + 1.4) * near, WIDTH - 1.0)
    return Obstacle(near, left, right, POINT + side * front, right, side, side + 1.4, front, False)


def film(over: int | None = None, cars: int = 4) -> tuple[Measures, Lanes]:
    """The ego drives past the row, followed as one; car ``over`` comes over by up to a fifth of a lane before it is gone."""
    obstacles: list[tuple[Obstacle, ...]] = []
    held: list[Sighting] = []
    for time, way in zip(TIMES, WAY, strict=True):
        here = []
        for number, rear in enumerate(REARS[:cars]):
            part = np.clip((way - rear + 0.006) / 0.006, 0, 1) if number == over else 0.0
            obstacle = seen(rear, float(way), 0.2 * float(part))
            if obstacle is not None:
                here.append(obstacle)
                held.append(Sighting(float(time), POINT, obstacle))
        obstacles.append(tuple(here))
    measures = SimpleNamespace(
        times=TIMES,
        size=(WIDTH, HEIGHT),
        points_x=np.full(len(TIMES), POINT),
        obstacles=tuple(obstacles),
        tracks=(Track(0, tuple(held)),),
        model=SimpleNamespace(middle=np.full((HEIGHT, 3), 130.0)),  # by day
    )
    measures._replace = lambda **new: SimpleNamespace(**{**vars(measures), **new})
    lanes = SimpleNamespace(spacing=SPACING, offset=np.full(len(TIMES), 0.5))
    return cast(Measures, measures), cast(Lanes, lanes)


def test_rear_ends_are_told_by_the_places_they_are_seen_at_again_and_again() -> None:
    ways = [0.001 * step for step in range(30)]
    stands = [(0.05 + 0.0005 * (step % 3), way, 1.3) for step, way in enumerate(ways)]
    drives = [(0.09 + 0.8 * way, way, 1.3) for way in ways]
    assert rear_ends(stands + drives) == (pytest.approx(0.0505, abs=0.0006),)


def test_what_waits_is_seen_by_chance_or_goes_across_tells_no_rear_end() -> None:
    waits = [(0.05, 0.02, 1.3)] * 40
    passing = [(0.08, 0.001 * step, 1.3) for step in range(20)]
    by_chance = [one for step, one in enumerate(passing) if not 3 < step < 17]
    across = [(place, way, 1.3 - 30 * way) for place, way, _ in passing]
    assert rear_ends(waits + passing) == (pytest.approx(0.08),)
    assert rear_ends(waits + by_chance) == ()
    assert rear_ends(across) == ()


def test_a_track_that_passed_from_car_to_car_is_made_one_for_each() -> None:
    measures, lanes = film()
    apart, rows = in_rows(measures, lanes, WAY)
    assert len(measures.tracks) == 1
    assert [row.right for row in rows] == [True]
    assert rows[0].rears == pytest.approx(REARS, abs=0.002)
    assert [track.number for track in apart.tracks] == [0, 1, 2, 3]
    for number, rear in zip(rows[0].tracks, REARS, strict=True):
        assert number is not None
        whole = [s for s in apart.tracks[number].sightings if s.obstacle.right < WIDTH - 5]
        places = [np.interp(s.time, TIMES, WAY) + 1 / s.obstacle.base for s in whole]
        assert places == pytest.approx([rear] * len(places), abs=0.001)


def test_what_stands_far_apart_is_no_row() -> None:
    assert longest_row((0.01, 0.05, 0.065, 0.08, 0.14)) == (0.05, 0.065, 0.08)
    assert longest_row(()) == ()


def test_a_gap_as_the_others_of_a_row_have_parts_no_row() -> None:
    assert longest_row((0.01, 0.034, 0.058, 0.091, 0.115)) == (0.01, 0.034, 0.058, 0.091, 0.115)


def test_what_is_never_wide_from_nearby_is_a_wheel_and_no_rear_end() -> None:
    narrow = [(0.05 + 0.0005 * (step % 3), 0.5) for step in range(8)]
    assert wheel(0.0505, narrow)
    assert not wheel(0.0505, [*narrow, (0.0505, 1.4), (0.0505, 1.5)])
    assert not wheel(0.07, narrow)
    assert not wheel(0.0505, narrow[:3])


def test_two_vehicles_are_no_row() -> None:
    measures, lanes = film(cars=2)
    assert in_rows(measures, lanes, WAY) == (measures, ())


def test_the_one_the_ego_is_level_with_swung_out_if_it_alone_came_over() -> None:
    level = int(np.argmin(np.abs(WAY - (REARS[2] + 0.007))))
    for over, expected in ((2, 2), (None, None), (1, None)):
        measures, lanes = film(over)
        apart, rows = in_rows(measures, lanes, WAY)
        swing = swinger(rows, apart.tracks, apart, lanes, WAY, float(TIMES[level]))
        number = None if swing is None else rows[0].tracks.index(swing.track)
        assert number == expected


def test_one_that_still_comes_over_when_last_seen_need_not_be_far_ahead_of_what_the_others_seem_to_do() -> None:
    still, moving = Over(2.0, 0.17, 0.01), Over(3.0, 0.2, 0.09)
    assert alone([still, moving], 3.2, 0.18) == 0.2
    assert alone([still, moving._replace(lately=0.015)], 3.2, 0.18) is None
    assert alone([still, moving._replace(shift=0.16)], 3.2, 0.18) is None
    assert alone([still, moving._replace(shift=0.3, lately=None)], 3.2, 0.18) == 0.3
    assert alone([None, moving], 3.2, 0.18) is None
    assert alone([still, moving], 4.0, 0.18) is None


def test_the_place_along_the_road_names_one_of_the_row() -> None:
    row = Row(True, REARS, (0, 1, 2, 3))
    assert [row.at(place) for place in (0.04, 0.05, 0.0611, 0.2)] == [None, 0, 1, None]


def test_a_shadow_in_one_picture_and_another_thing_are_no_coming_over() -> None:
    def sides(late: list[float]) -> list[tuple[float, float]]:
        return [(index / 15, place) for index, place in enumerate([0.8] * 20 + late)]

    assert came_over(sides([0.8] * 5 + [0.5] + [0.8] * 3)) == (pytest.approx(28 / 15), pytest.approx(0.0), None)
    came = came_over(sides([0.8] * 5 + [0.75, 0.7, 0.68, 0.66]))
    assert came is not None
    assert came.shift == pytest.approx(0.12)
    assert came_over(sides([0.8] * 3 + [0.1] * 6)) is None
    assert came_over([]) is None


def test_what_swung_out_comes_first_but_not_before_what_is_straight_ahead() -> None:
    measures, lanes = film(2)
    apart, _ = in_rows(measures, lanes, WAY)
    paths = [path_of(track, apart, lanes) for track in apart.tracks]
    swing = Swing(2, 0.12)
    first = swung_out_first([], swing, paths, CONTACT)[0]
    assert (first.path.number, first.how, first.over) == (2, "beside", 0.12)
    ahead = paths[0]._replace(number=9, times=TIMES[-len(paths[0].times) :], across=0.5 + 0 * paths[0].across)
    straight = Candidate(ahead, "ahead", 0.5, True)
    assert swung_out_first([straight], swing, paths, CONTACT) == [straight]
    aside = straight._replace(path=ahead._replace(across=ahead.across + 0.4))
    assert [c.path.number for c in swung_out_first([aside], swing, paths, CONTACT)] == [2, 9]


def test_one_of_a_row_that_the_camera_has_reached_is_beside_it() -> None:
    measures, lanes = film(2)
    apart, rows = in_rows(measures, lanes, WAY)
    ahead = [Candidate(path_of(track, apart, lanes), "ahead", 0.5, True) for track in apart.tracks]
    level = float(np.interp(REARS[2] + 0.003, WAY, TIMES))
    found = level_beside(ahead, rows, apart, WAY, level)
    assert [c.how for c in found] == ["beside" if c.path.number == rows[0].tracks[2] else "ahead" for c in ahead]
