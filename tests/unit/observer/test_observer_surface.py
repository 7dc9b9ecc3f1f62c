"""Paint in the middle of a lane: told from patches and light, laid along the road, and read as hatching or a lane's end."""

import numpy as np
import pytest
from numpy.typing import NDArray

from vlmrec.observer.footage import Picture
from vlmrec.observer.hatching import astray, bare, closed, hatching
from vlmrec.observer.horizon import Vanishing
from vlmrec.observer.lanes import Lanes
from vlmrec.observer.road import RoadModel
from vlmrec.observer.stretches import BIN, Ruler, stretches
from vlmrec.observer.surface import painted_surface, surface_rows

HEIGHT, WIDTH, FRAMES = 180, 320, 30
POINT = Vanishing(160.0, 80.0, 0.9)
OWN = 1  # of the three lanes of a surface


def look(*bars: tuple[int, int, tuple[int, int, int]]) -> Picture:
    """A grey road, lit by headlights in a pool in its middle, with bars across it: first and last row, colour."""
    columns = np.arange(WIDTH)
    pool = 60 + 60 * np.exp(-(((columns - 160) / 60.0) ** 2))
    picture = np.repeat(np.tile(pool, (HEIGHT, 1))[:, :, None], 3, axis=2)
    for first, last, colour in bars:
        picture[first:last] *= np.array(colour) / 100.0
    return np.asarray(np.clip(picture, 0, 255), np.uint8)


def surface(special: Picture, hide: tuple[int, int] | None = None) -> NDArray[np.float32]:
    """Painted shares of one special picture among plain ones."""
    pictures = [look() for _ in range(FRAMES)]
    pictures[10] = special
    standing = [np.zeros((HEIGHT, WIDTH), bool) for _ in pictures]
    if hide is not None:
        standing[10][hide[0] : hide[1]] = True
    model = RoadModel(86, np.full((94, 3), 128.0), np.full((94, 3), 3.0), np.full(WIDTH, HEIGHT - 3), 2.0)
    lanes = Lanes(2.2, np.full(FRAMES, 0.5), np.ones(FRAMES), 1.0)
    shares: NDArray[np.float32] = painted_surface(pictures, standing, [POINT] * FRAMES, lanes, model)[10]
    return shares


def rows() -> NDArray[np.float64]:
    model = RoadModel(86, np.full((94, 3), 128.0), np.full((94, 3), 3.0), np.full(WIDTH, HEIGHT - 3), 2.0)
    return surface_rows(model, np.full(3, POINT.x), np.full(3, POINT.y), HEIGHT) + POINT.y


@pytest.mark.parametrize(
    ("colour", "painted"),
    [((180, 180, 180), True), ((90, 125, 130), True), ((125, 125, 125), False), ((95, 100, 140), False)],
    ids=["white", "yellow", "a lighter patch", "a tail lamp's gleam"],
)
def test_paint_is_much_lighter_or_yellower_than_its_place_usually_is(
    colour: tuple[int, int, int], painted: bool
) -> None:
    shares = surface(look((120, 132, colour)))[OWN]
    inside = (rows() > 122) & (rows() < 129)
    assert (float(shares[inside].min()) > 0.9) is painted
    assert float(shares[rows() > 136].max()) == 0


def test_what_stands_on_a_lane_hides_it() -> None:
    shares = surface(look(), hide=(120, 132))[OWN]
    assert np.isnan(shares[(rows() > 121) & (rows() < 130)]).all()
    assert np.isfinite(shares[rows() > 136]).all()


def lane(*paint: tuple[float, float, float], length: float = 100.0, unseen: tuple[float, float] | None = None) -> Ruler:
    """A bare lane with paint on it: first and last metre, share of a piece that it covers."""
    places = (np.arange(int(length / BIN)) + 0.5) * BIN
    shares = np.zeros(len(places))
    for first, last, share in paint:
        shares[(places > first) & (places < last)] = share
    if unseen is not None:
        shares[(places > unseen[0]) & (places < unseen[1])] = np.nan
    return Ruler(0.0, shares)


def bars(first: float, last: float, every: float = 3.6) -> list[tuple[float, float, float]]:
    return [(float(start), float(start) + 1.2, 0.7) for start in np.arange(first, last, every)]


def test_bars_in_a_row_are_one_stretch_and_a_mark_further_on_is_another() -> None:
    found = stretches(lane(*bars(20, 40), (60, 64, 0.6)))
    assert [(round(one.start), one.runs) for one in found] == [(20, 6), (60, 1)]


@pytest.mark.parametrize(
    ("here", "expected"),
    [(42.0, "at_edge"), (45.0, "at_edge"), (50.0, None), (60.0, "cleared"), (10.0, "no")],
)
def test_hatching_is_at_hand_or_left_by_how_far_back_its_last_bar_lies(here: float, expected: str | None) -> None:
    assert hatching(lane(*bars(20, 40)), here) == expected


def test_a_stop_line_with_a_crossing_and_an_arrow_are_no_hatching() -> None:
    assert hatching(lane((30, 30.6, 1.0), (33, 37, 0.5), (60, 65, 0.4), length=160), 140.0) == "no"


def test_nothing_is_said_of_hatching_where_the_lane_was_hidden_or_is_speckled_all_over() -> None:
    assert hatching(lane(unseen=(20, 70)), 80.0) is None
    assert hatching(lane(*bars(20, 40), unseen=(45, 70)), 70.0) is None
    dashes = lane(*[(float(start), float(start) + 3, 0.3) for start in range(0, 100, 12)])
    assert astray(dashes, 80.0)
    assert not astray(lane(*bars(20, 40)), 80.0)
    assert hatching(dashes, 80.0) is None


def test_a_lane_is_bare_where_it_was_seen_and_has_at_most_a_mark() -> None:
    assert bare(lane((40, 44, 0.5)), 80.0)
    assert not bare(lane(*bars(20, 40)), 80.0)
    assert not bare(lane(unseen=(20, 70)), 80.0)


def test_a_lane_ends_where_a_line_slants_over_it_and_bars_follow() -> None:
    arrows = [(10.0, 14.5, 0.4), (28.0, 32.5, 0.4)]
    assert closed(lane(*arrows, (50, 62, 0.2), *bars(66, 90)), 55.0)
    assert closed(lane(*arrows, (50, 62, 0.2), *bars(66, 90)), 30.0)


def test_arrows_bars_long_passed_and_dirt_do_not_end_a_lane() -> None:
    assert not closed(lane((10, 14.5, 0.4), (56, 60.5, 0.4)), 55.0)
    assert not closed(lane(*bars(20, 40)), 70.0)
    dirt = [(float(start), float(start) + 1, 0.15) for start in range(0, 100, 6)]
    assert not closed(lane(*dirt, (50, 62, 0.2)), 55.0)
