"""What lies on the road and stands on it, on made-up pictures: bonnet, lane comb, the foot of a vehicle."""

import numpy as np
import pytest
from numpy.typing import NDArray

from vlmrec.observer.flat import dark_pixels
from vlmrec.observer.footage import Picture
from vlmrec.observer.horizon import Vanishing
from vlmrec.observer.lanes import COLUMNS, Lanes, fit_lanes, lasting
from vlmrec.observer.obstacles import Obstacle, find_gaps, find_obstacles
from vlmrec.observer.road import Mask, RoadModel, bonnet_floor
from vlmrec.observer.verge import road_edges

Floats = NDArray[np.float64]

HEIGHT, WIDTH = 360, 640
POINT = Vanishing(320.0, 160.0, 0.9)
BARE = np.full(WIDTH, HEIGHT - 3)


def drive(bonnet: tuple[int, int, int] | None, *, quiet_from: int = HEIGHT) -> list[Picture]:
    """Twelve pictures of a grey road that flickers above row ``quiet_from``, with a bonnet of that colour from row 300 on."""
    rng = np.random.default_rng(5)
    pictures = []
    for _ in range(12):
        picture = np.full((HEIGHT, WIDTH, 3), 110, np.uint8)
        picture[:quiet_from] = rng.integers(70, 150, (quiet_from, WIDTH, 1), np.uint8)
        if bonnet is not None:
            picture[300:] = bonnet
        pictures.append(picture)
    return pictures


def test_a_bonnet_as_light_as_the_road_is_known_by_its_tint() -> None:
    floor = bonnet_floor(drive((80, 108, 140)))
    assert np.mean(np.abs(floor - 298) <= 4) > 0.9


def test_smooth_asphalt_is_no_bonnet() -> None:
    smooth = drive(None, quiet_from=300)
    for picture in smooth:
        picture[285:300] = 110  # a rim of noise would be an edge, too
        picture[:300] = np.clip(picture[:300], 106, 114)
    assert np.all(bonnet_floor(smooth) == HEIGHT - 3)


def paint_profiles(lines: dict[float, float], frames: int = 60) -> Floats:
    """Profiles with a share of paint at places across, in camera heights, and some litter."""
    profiles = np.random.default_rng(7).uniform(0, 0.02, (frames, len(COLUMNS)))
    for place, share in lines.items():
        profiles[:, np.abs(COLUMNS - place) < 0.08] = share
    return profiles


def test_the_edge_of_a_barrier_is_no_lane_line() -> None:
    profiles = paint_profiles({-2.25: 0.5, 1.2: 0.3, 3.45: 0.25, -1.05: 0.08})
    seconds = [i / 15 for i in range(len(profiles))]
    open_road = np.ones(len(COLUMNS))
    clear = np.tile(np.where(COLUMNS < -1.2, 0.2, 1.0), (len(profiles), 1))
    deceived, lanes = fit_lanes(profiles, seconds), fit_lanes(profiles, seconds, lasting(clear, open_road))
    assert deceived is not None
    assert deceived.spacing == pytest.approx(3.45, abs=0.1)
    assert lanes is not None
    assert lanes.spacing == pytest.approx(2.25, abs=0.1)


def test_a_column_hidden_for_half_the_clip_counts() -> None:
    clear = np.ones((40, 3))
    clear[:20, 0] = clear[:38, 1] = 0.0
    assert lasting(clear, np.array([1.0, 1.0, 0.0])).tolist() == [False, True, False]


def test_a_blurred_line_in_the_middle_leaves_the_spacing_to_the_lines_beside_it() -> None:
    lines = {-3.95: 0.5, 1.35: 0.5, -1.4: 0.2, -1.2: 0.2, 0.0: 0.12, -1.95: 0.4}
    lanes = fit_lanes(paint_profiles(lines), [i / 15 for i in range(60)])
    assert lanes is not None
    assert lanes.spacing == pytest.approx(2.65, abs=0.15)


def model(floor: NDArray[np.int64] = BARE) -> RoadModel:
    rows = HEIGHT - 173
    return RoadModel(173, np.full((rows, 3), 128.0), np.full((rows, 3), 3.0), floor, 2.0)


def scenery(*things: tuple[int, int, int], top: int = 173) -> Mask:
    """A mask with things that stand from row ``top`` down: first and last column, foot's row."""
    mask = np.zeros((HEIGHT, WIDTH), bool)
    for first, last, foot in things:
        mask[top : foot + 1, first : last + 1] = True
    return mask


def test_wheel_and_bumper_on_both_sides_of_a_sill_are_one_vehicle() -> None:
    mask = scenery((350, 365, 207), (366, 385, 197), (386, 450, 209))
    (vehicle,) = find_obstacles(mask, model(), POINT)
    assert (vehicle.outer_left, vehicle.outer_right) == (350, 450)


def test_two_vehicles_with_road_or_a_third_far_behind_between_them_stay_two() -> None:
    assert len(find_obstacles(scenery((300, 350, 209), (385, 450, 209)), model(), POINT)) == 2
    assert len(find_obstacles(scenery((300, 350, 209), (351, 384, 185), (385, 450, 209)), model(), POINT)) == 3


def test_two_vehicles_beside_each_other_at_one_distance_stay_two_where_their_sides_fill_the_gap() -> None:
    mask = scenery((300, 360, 209), (361, 380, 197), (381, 450, 209))
    assert len(find_obstacles(mask, model(), POINT)) == 3


def gaps(dark: Mask, found: list[Obstacle], mask: Mask | None = None) -> list[Obstacle]:
    return find_gaps(dark, dark if mask is None else mask, model(), POINT, found)


def test_a_vehicle_with_panels_like_the_road_is_told_by_the_dark_gap_beneath() -> None:
    gap = scenery((350, 400, 209), top=202)
    assert find_obstacles(gap, model(), POINT) == []
    (vehicle,) = gaps(gap, [])
    assert (vehicle.left, vehicle.right, vehicle.base) == (350, 400, 209 - POINT.y)
    assert find_gaps(gap, gap, model(), POINT, [], (-2.0, 0.5)) == []  # beyond the road's edge


@pytest.mark.parametrize(
    "lying", [(350, 400, 209, 206), (350, 365, 209, 202)], ids=["a crack across the road", "a drain"]
)
def test_what_is_dark_but_lower_or_narrower_than_such_a_gap_is_none(lying: tuple[int, int, int, int]) -> None:
    assert gaps(scenery(lying[:3], top=lying[3]), []) == []


def test_a_window_has_something_else_than_road_beneath_it() -> None:
    window = scenery((350, 400, 209), top=202)
    assert gaps(window, [], window | scenery((345, 405, 240), top=234)) == []


def test_dark_windows_and_the_gap_beside_a_wheel_are_parts_of_the_vehicle_that_was_found() -> None:
    found = find_obstacles(scenery((340, 410, 214)), model(), POINT)
    assert len(found) == 1
    assert gaps(scenery((350, 400, 190), top=180), found) == []
    assert gaps(scenery((300, 338, 209), top=200), found) == []
    assert len(gaps(scenery((200, 238, 209), top=200), found)) == 1


def test_shade_is_lighter_than_the_gap_under_a_vehicle_and_at_night_nothing_tells_them_apart() -> None:
    picture = np.full((HEIGHT, WIDTH, 3), 120, np.uint8)
    picture[200:220, 100:200] = 55  # shade
    picture[200:220, 300:400] = 20  # a gap
    dark = dark_pixels(picture, model())
    assert not dark[:, 90:210].any()
    assert dark[200 - 173 + 2 : 220 - 173 - 2, 302:398].all()
    night = model()._replace(middle=np.full((HEIGHT - 173, 3), 35.0))
    assert not dark_pixels(picture, night).any()


def test_a_wall_beside_the_lane_ends_the_road_though_the_other_carriageway_shows_behind_it() -> None:
    frames, rows = 12, np.arange(HEIGHT)[:, None] - POINT.y
    across = (np.arange(WIDTH)[None, :] - POINT.x) / np.maximum(rows, 1.0)  # camera heights
    hidden = (rows > 0) & (across < -1.3) & (across > -2.2)
    lanes = Lanes(2.6, np.full(frames, 0.5), np.full(frames, 1.0), 1.0)
    bases = [np.zeros(WIDTH)] * frames
    edges = road_edges([hidden] * frames, bases, [POINT] * frames, lanes, model())
    assert edges.left == pytest.approx(0.0, abs=0.15)
    beside = hidden & (rows > 80)  # a vehicle that stays alongside hides only what is near
    assert road_edges([beside] * frames, bases, [POINT] * frames, lanes, model()).left == -np.inf
