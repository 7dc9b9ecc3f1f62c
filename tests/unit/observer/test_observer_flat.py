"""What may lie flat on the road, on made-up pictures: bars with their rims, paint in the shade, and what is no paint."""

import numpy as np
import pytest
from numpy.typing import NDArray

from vlmrec.observer.flat import EVERY, OFTEN, flat_masks, flat_pixels, shows_bars
from vlmrec.observer.footage import Picture
from vlmrec.observer.road import Mask, RoadModel

HEIGHT, WIDTH, TOP = 360, 640, 173
GREY, GOLD, SHADED_GOLD, TAN, BLACK = (128,) * 3, (60, 170, 200), (30, 85, 100), (60, 78, 96), (8, 8, 8)
RIM = (94, 149, 164)  # gold blended with grey
LEFT, RIGHT = slice(0, WIDTH // 2), slice(WIDTH // 2, WIDTH)

Patch = tuple[slice, slice, tuple[int, ...]]


def model() -> RoadModel:
    rows = HEIGHT - TOP
    floor = np.full(WIDTH, HEIGHT - 3)
    return RoadModel(TOP, np.full((rows, 3), 128.0), np.full((rows, 3), 3.0), floor, 2.0)


def road_with(*patches: Patch) -> Picture:
    """A picture of grey road with patches of other colours."""
    picture = np.full((HEIGHT, WIDTH, 3), GREY, np.uint8)
    for rows, columns, colour in patches:
        picture[rows, columns] = colour
    return picture


def flat(*patches: Patch, rows: tuple[int, int], hatched: bool = True) -> Mask:
    """What of the left half may lie flat, from one row of the picture to another."""
    mask = flat_pixels(road_with(*patches), model(), hatched=hatched)
    left: NDArray[np.bool_] = mask[rows[0] - TOP : rows[1] - TOP, : WIDTH // 2 - 5]
    return left


def test_where_bars_are_painted_the_rims_of_paint_are_flat_and_the_dark_under_a_vehicle_is_not() -> None:
    bar: tuple[Patch, ...] = ((slice(239, 251), LEFT, RIM), (slice(240, 250), LEFT, GOLD))
    assert flat(*bar, rows=(238, 252)).all()
    assert not flat(*bar, rows=(238, 240), hatched=False).any()
    assert not flat(*bar, rows=(300, 340)).any()
    assert not flat((slice(236, 240), LEFT, BLACK), bar[1], rows=(237, 239)).any()


def test_paint_in_the_shade_is_as_yellow_for_its_lightness_as_paint_in_the_sun() -> None:
    lit: Patch = (slice(240, 250), RIGHT, GOLD)
    assert flat(lit, (slice(240, 250), LEFT, SHADED_GOLD), rows=(242, 248)).all()
    assert not flat((slice(240, 250), LEFT, SHADED_GOLD), rows=(242, 248)).any()  # no other paint to go by
    assert not flat(lit, (slice(240, 250), LEFT, TAN), rows=(242, 248)).any()


@pytest.mark.parametrize(
    ("patches", "expected"),
    [
        ([(slice(240, 250), slice(200, 460), GOLD)], True),
        ([(slice(200, 270), slice(200, 460), TAN), (slice(240, 250), slice(280, 380), GOLD)], False),  # a number plate
        ([(slice(200, 320), slice(200, 460), GOLD)], False),  # a yellow vehicle
        ([(slice(180, 340), slice(300, 312), GOLD)], False),  # a line along the road
        ([(slice(240, 250), slice(200, 460), (230, 230, 230))], False),
    ],
)
def test_a_bar_is_low_and_wide_yellow_paint_with_road_above_and_below_it(patches: list[Patch], expected: bool) -> None:
    assert shows_bars(road_with(*patches), model()) is expected


def test_bars_seen_in_a_few_pictures_tell_of_all() -> None:
    bar, bare = road_with((slice(239, 251), LEFT, RIM), (slice(240, 250), LEFT, GOLD)), road_with()
    line = road_with((slice(239, 251), slice(100, 140), RIM), (slice(240, 250), slice(100, 140), GOLD))
    rim = (238 - TOP, 110)
    assert flat_masks([bar] * (EVERY * OFTEN) + [line, bare], model())[-2][rim]
    assert not flat_masks([bar, line, bare], model())[-2][rim]
