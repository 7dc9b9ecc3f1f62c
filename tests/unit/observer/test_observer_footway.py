"""A footway, a barrier and a level strip beside a road, on made-up films: only what lies a kerb's height up is a footway."""

from typing import Literal

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray

from vlmrec.observer.camera import CameraStep
from vlmrec.observer.footage import Picture
from vlmrec.observer.footway import Footway, find_footway, raised
from vlmrec.observer.horizon import Vanishing
from vlmrec.observer.lanes import Lanes
from vlmrec.observer.road import RoadModel

HEIGHT, WIDTH = 360, 640
POINT = Vanishing(320.0, 160.0, 0.9)
ROAD, STONE, GRASS = (100, 128, 128), (150, 128, 132), (110, 116, 150)
BREAK, BROAD = 2.4, 2.0  # camera heights: from the camera to the kerb's foot, and of the strip
SPEED = 0.02  # of the ego, in 1/px a second
FRAMES, GAP = 30, 1 / 15

Strip = Literal["footway", "barrier", "level", "lawn"]


def film(strip: Strip) -> list[Picture]:
    """Pictures of a road of rough asphalt with a line and, behind the break, a strip of its own grain, then grass."""
    rng = np.random.default_rng(3)
    grain = cv2.GaussianBlur(rng.normal(0, 1, (700, 500)).astype(np.float32), (3, 3), 0) * 22
    rows, columns = np.mgrid[int(POINT.y) + 8 : HEIGHT, 0:WIDTH]
    below = rows - POINT.y
    place = (columns - POINT.x) / below
    raise_ = {"footway": 0.12, "barrier": 0.0, "level": 0.0, "lawn": 0.12}[strip]
    if strip == "barrier":  # the face stands on the break: the farther out it seems, the higher up it is
        up = np.clip(1 - BREAK / np.maximum(place, 1e-3), 0, 1)
        on_strip = (place > BREAK) & (up < 1 - BREAK / (BREAK + BROAD))
        across, ahead = np.where(on_strip, 9 + 3 * up, place), np.where(on_strip, 1 - up, 1.0) / below
    else:
        top = BREAK / (1 - raise_)
        on_strip = (place > top) & (place < (BREAK + BROAD) / (1 - raise_))
        across, ahead = place * np.where(on_strip, 1 - raise_, 1.0), np.where(on_strip, 1 - raise_, 1.0) / below
    on_road = place <= BREAK
    face = (place > BREAK) & (place <= BREAK / (1 - raise_))
    pictures = []
    for frame in range(FRAMES):
        along = ((SPEED * GAP * frame + ahead) / 0.00035).astype(np.float32)
        shade = cv2.remap(grain, (across * 12 % 480).astype(np.float32), along % 680, cv2.INTER_LINEAR)
        lab = np.full((HEIGHT, WIDTH, 3), (200, 128, 118), np.float32)
        here = lab[int(POINT.y) + 8 :]
        here[:] = GRASS
        here[on_strip] = GRASS if strip == "lawn" else STONE
        here[on_road] = ROAD
        here[:, :, 0] += shade
        here[face] = (60, 128, 130)
        here[np.abs(place - 1.2) < 0.06] = (225, 128, 128)
        pictures.append(np.asarray(cv2.cvtColor(np.clip(lab, 0, 255).astype(np.uint8), cv2.COLOR_LAB2BGR), np.uint8))
    return pictures


def found(strip: Strip) -> Footway | None:
    rows = HEIGHT - 173
    model = RoadModel(173, np.full((rows, 3), ROAD, float), np.full((rows, 3), 5.0), np.full(WIDTH, HEIGHT - 3), 2.0)
    lanes = Lanes(2.4, np.full(FRAMES, 0.5), np.ones(FRAMES), 1.0)
    times: NDArray[np.float64] = np.arange(FRAMES) * np.float64(GAP)
    steps = [CameraStep(float(time), GAP, 0.0, 0.0, SPEED, 5.0, 1.0) for time in times[1:]]
    return find_footway(film(strip), [POINT] * FRAMES, model, lanes, steps, times)


def test_a_strip_of_stone_a_kerb_above_the_road_is_a_footway() -> None:
    footway = found("footway")
    assert footway is not None
    assert footway.pace == pytest.approx(1 / 0.88, abs=0.03)
    assert footway.kerb == pytest.approx(0.5 + BREAK / 2.4, abs=0.06)
    assert footway.inner == pytest.approx(0.5 + BREAK / 0.88 / 2.4, abs=0.08)


@pytest.mark.parametrize("strip", ["barrier", "level", "lawn"])
def test_a_barrier_a_level_strip_and_a_lawn_behind_a_kerb_are_none(strip: Strip) -> None:
    assert found(strip) is None


def test_both_halves_of_a_footway_lie_equally_high() -> None:
    assert raised(1.0, 1.12, 1.14) == pytest.approx(1.13)
    assert raised(1.0, 1.1, 1.25) is None  # a slope, or a wall's foot
    assert raised(1.0, 1.01, 1.02) is None
    assert raised(1.1, 1.12, 1.14) is None  # the ego's pace was measured too low
    assert raised(None, 1.12, 1.14) is None
