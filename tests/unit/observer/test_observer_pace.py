"""The ego's pace read off made-up roads, and the vanishing point of every frame off made-up lines."""

import numpy as np
import pytest
from numpy.typing import NDArray

from vlmrec.observer.camera import CameraStep
from vlmrec.observer.flow import Gray
from vlmrec.observer.gaze import vanishing_path
from vlmrec.observer.horizon import Vanishing
from vlmrec.observer.pace import paces
from vlmrec.observer.road import Mask, RoadModel

Floats = NDArray[np.float64]

HEIGHT, WIDTH, TOP, RATE = 360, 640, 173, 15.0
POINT = Vanishing(320.0, 160.0, 0.9)
TIMES: Floats = np.arange(45) / RATE
MODEL = RoadModel(TOP, np.full((HEIGHT - TOP, 3), 128.0), np.full((HEIGHT - TOP, 3), 12.0), np.full(WIDTH, 357), 4.0)


def road(way: float, *, grain: float = 9.0) -> Gray:
    """A picture of a grainy road with a solid line, seen after ``way`` in the unit of 1/q."""
    grains = np.random.default_rng(11).normal(0, grain, (4000, 80))
    rows, columns = np.mgrid[0:HEIGHT, 0:WIDTH].astype(np.float64)
    q = np.maximum(rows - POINT.y, 1.0)
    across, along = (columns - POINT.x) / q, 1 / q + way
    asphalt = 110 + grains[(along / 0.0004).astype(int) % 4000, (across * 8).astype(int) % 80]
    asphalt[np.abs(across - 0.9) < 0.06] = 210
    asphalt[rows < POINT.y] = 170
    return np.clip(asphalt, 0, 255).astype(np.uint8)


def read(ways: Floats, *, grain: float = 9.0, hidden: slice | None = None) -> list[float | None]:
    odd: Mask = np.zeros((HEIGHT - TOP, WIDTH), bool)
    if hidden is not None:
        odd[:, hidden] = True
    pictures = [road(float(way), grain=grain) for way in ways]
    stirs = np.diff(ways) * 60**2  # px that the ground moves 60 px below the vanishing point
    steps = [step._replace(stir=float(stir)) for step, stir in zip(steps_with(0 * stirs), stirs, strict=True)]
    return paces(pictures, [odd] * len(ways), [POINT] * len(ways), steps, MODEL)


@pytest.mark.parametrize("pace", [0.0, 0.008, 0.03, 0.06])
def test_the_pace_is_how_much_nearer_the_grain_of_the_road_comes(pace: float) -> None:
    found = read(pace * TIMES)
    assert all(one is not None and one == pytest.approx(pace, abs=0.0012) for one in found)


def test_half_a_road_tells_the_pace_as_well() -> None:
    found = read(0.03 * TIMES, hidden=slice(0, 330))
    assert np.median([one for one in found if one is not None]) == pytest.approx(0.03, rel=0.05)


def test_a_road_that_shows_only_lines_without_end_tells_no_pace() -> None:
    assert read(0.03 * TIMES, grain=0.0) == [None] * (len(TIMES) - 1)


def test_a_collision_may_take_most_of_the_pace_at_once() -> None:
    speed = np.where(TIMES < 1.5, 0.035, 0.012)
    found = read(np.cumsum(speed) / RATE)
    before, after = found[5:18], found[27:40]
    assert np.median([one for one in before if one is not None]) == pytest.approx(0.035, rel=0.05)
    assert np.median([one for one in after if one is not None]) == pytest.approx(0.012, rel=0.08)


def lines_to(column: float, row: float) -> Floats:
    """Twenty segments of lane lines that run towards a point."""
    across = np.linspace(-2.5, 2.5, 20)
    return np.array([[column + u * 60, row + 60, column + u * 140, row + 140] for u in across])


def steps_with(dips: Floats) -> tuple[CameraStep, ...]:
    return tuple(
        CameraStep(float(t), 1 / RATE, 0.0, float(d), None, 40.0, 1.0) for t, d in zip(TIMES[1:], dips, strict=True)
    )


def test_the_vanishing_row_follows_a_nose_that_stays_down() -> None:
    rows = 160 - np.clip((TIMES - 1.0) * 6, 0, 7)
    segments = [lines_to(320.0, float(row)) for row in rows[::2]]
    biased = np.diff(rows) + 0.6  # what comes nearer looks like a nod that never ends
    _, found = vanishing_path(POINT, segments, steps_with(biased), len(TIMES))
    assert np.abs(found - rows).max() < 1.0


def test_a_knock_is_in_the_row_although_no_line_is_quick_enough_for_it() -> None:
    knock = np.zeros(len(TIMES) - 1)
    knock[20], knock[21] = 7.0, -7.0
    segments = [lines_to(320.0, 160.0) for _ in TIMES[::2]]
    _, found = vanishing_path(POINT, segments, steps_with(knock), len(TIMES))
    assert found[21] == pytest.approx(167.0, abs=0.3)
    assert np.delete(found, 21) == pytest.approx(160.0, abs=0.3)


def test_without_lines_only_quick_nods_are_followed() -> None:
    _, found = vanishing_path(POINT, [np.zeros((0, 4))] * 23, steps_with(np.full(len(TIMES) - 1, 0.5)), len(TIMES))
    assert np.abs(found[16:-16] - POINT.y).max() < 0.01
