"""The lines' spacing against the vehicles between them."""

from collections.abc import Sequence

import pytest

from vlmrec.observer.gauge import too_wide
from vlmrec.observer.obstacles import Obstacle
from vlmrec.observer.tracks import Sighting, Track

WIDTH = 640


def tracks(widths: Sequence[float]) -> list[Track]:
    """One vehicle of each width in camera heights, seen whole ten times."""
    made = []
    for number, width in enumerate(widths):
        right = 200 + 40 * width
        obstacle = Obstacle(40.0, 200.0, right, 200.0, right, 0.0, width, 30.0, False)
        made.append(Track(number, tuple(Sighting(0.1 * step, 320.0, obstacle) for step in range(10))))
    return made


@pytest.mark.parametrize(
    ("widths", "spacing", "wide"),
    [
        ([1.25, 1.27, 1.3, 1.34], 3.3, True),
        ([1.25, 1.27, 1.3, 1.34], 2.3, False),
        ([0.6, 0.8, 1.0, 1.3], 3.3, False),  # pieces of vehicles: nothing tells how wide a whole one is
        ([1.3, 1.34], 3.3, False),
    ],
)
def test_a_comb_in_which_several_cars_of_one_width_are_lost_is_too_wide(
    widths: Sequence[float], spacing: float, wide: bool
) -> None:
    assert too_wide(tracks(widths), spacing, WIDTH) is wide
