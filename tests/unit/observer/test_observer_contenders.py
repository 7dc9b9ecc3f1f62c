"""Who of several vehicles near the contact may have been hit: what springs up, goes by or has gone is none of them."""

from types import SimpleNamespace
from typing import cast

import numpy as np
from numpy.typing import NDArray

from vlmrec.observer.candidates import candidates
from vlmrec.observer.history import with_history
from vlmrec.observer.measure import Measures
from vlmrec.observer.paths import Path, _joined, untorn
from vlmrec.observer.pieces import coincide, joined

Floats = NDArray[np.float64]

TIMES: Floats = np.arange(90) / 15
CONTACT = float(TIMES[-1])
DAY = cast(
    Measures, SimpleNamespace(size=(640, 360), times=TIMES, model=SimpleNamespace(middle=np.full((120, 3), 100.0)))
)
WAY: Floats = 0.02 * TIMES


def a_path(number: int, beside: Floats | float, near: Floats | float, *, since: float = 0.0, cut: bool = False) -> Path:
    """A car first seen at ``since``, its inner side a quarter of a lane nearer to the camera's way."""
    seen = since <= TIMES
    ones = np.ones(len(TIMES))[seen]
    beside, near = (np.broadcast_to(value, TIMES.shape)[seen] for value in (beside, near))
    flags = np.zeros(len(ones), bool)
    inner = beside - 0.25 * np.sign(np.median(beside))
    return Path(
        number, TIMES[seen], beside + 0.5, 0.5 * ones, near, inner, 0.6 * near, 1.4 * ones, ~flags, 1.4, flags | cut,
        flags, flags,
    )  # fmt: skip


COMER = a_path(1, 0.9 - 0.6 * TIMES / CONTACT, 40 * np.exp(0.18 * TIMES))


def test_what_has_just_sprung_up_beside_the_way_is_not_what_was_coming_nearer_all_the_while() -> None:
    piece = a_path(0, -0.6, 190.0, since=CONTACT - 0.8)
    found = candidates([piece, COMER], CONTACT, DAY)
    assert [c.path.number for c in found] == [1, 0]
    assert found[0].lonely


def test_one_that_came_along_on_its_own_side_leaves_no_doubt() -> None:
    oncoming = a_path(0, -0.8, 1 / np.maximum(1 / 20 - 0.042 * (TIMES - CONTACT + 1.2), 0.008), since=CONTACT - 1.2)
    assert candidates([oncoming, COMER], CONTACT, DAY, WAY)[0].lonely


def test_a_barrier_always_as_near_leaves_no_doubt_and_one_that_comes_over_does() -> None:
    barrier = a_path(0, -0.6, 130.0, since=4.8)
    swerving = a_path(0, -0.7 + 0.1 * np.maximum(TIMES - 4.9, 0), 130.0, since=4.8)
    assert candidates([barrier, COMER], CONTACT, DAY)[0].lonely
    assert not candidates([swerving, COMER], CONTACT, DAY)[0].lonely


def test_the_side_that_faces_the_way_is_told_by_where_a_vehicle_came_from() -> None:
    middle = np.concatenate([np.linspace(1.0, 0.1, 20), np.full(30, -0.1)])
    feet = np.column_stack([middle - 0.3, middle + 0.3])
    none = np.zeros(len(middle), bool)
    assert np.array_equal(_joined(middle, feet, none, none)[1], feet[:, 0])


def test_a_piece_of_what_was_coming_nearer_all_the_while_did_not_just_spring_up() -> None:
    early = TIMES < CONTACT - 0.3
    whole = a_path(1, 0.9, 40 * np.exp(0.18 * TIMES)).first(int(early.sum()))
    flank = a_path(2, 0.7 - 0.4 * (TIMES - CONTACT + 0.8), 0.8 * 40 * np.exp(0.25 * TIMES), since=CONTACT - 0.8)
    kerb = a_path(0, 0.95, 190 - 40 * (CONTACT - TIMES), since=CONTACT - 2.0, cut=True)
    assert candidates([kerb, whole, flank], CONTACT, DAY)[0].path.number == 2


def test_what_was_seen_in_a_few_pictures_only_casts_no_doubt() -> None:
    time = CONTACT - 0.6
    beside = a_path(0, -0.85 + 0.1 * np.maximum(TIMES - 3.6, 0), 110.0, since=CONTACT - 2.4, cut=True)
    assert not candidates([beside, COMER], time, DAY)[0].lonely
    seldom = beside.part((np.arange(len(beside.times)) % 6 == 0) | (beside.times > time + 0.05))
    assert candidates([seldom, COMER], time, DAY)[0].lonely


def test_one_hardly_seen_any_more_casts_no_doubt_on_the_one_in_the_way() -> None:
    post = a_path(0, -0.52, 120 * np.exp(0.1 * (TIMES - CONTACT)), since=CONTACT - 2.5)
    coming = a_path(1, 0.9 - 0.8 * TIMES / CONTACT, 40 * np.exp(0.18 * TIMES))
    assert not candidates([post, coming], CONTACT, DAY)[0].lonely
    rare = post.part((post.times < CONTACT - 1.0) | (np.abs(post.times - CONTACT + 0.5) < 0.02))
    assert candidates([rare, coming], CONTACT, DAY)[0].lonely


def test_what_has_been_as_near_and_as_far_aside_all_along_comes_after_what_comes_nearer() -> None:
    barrier = a_path(0, -0.55, np.where(TIMES < CONTACT - 0.8, 60.0, 190.0), since=CONTACT - 1.1)
    found = candidates([barrier, COMER], CONTACT, DAY)
    assert found[0].path.number == 1
    assert found[0].lonely


def test_two_with_no_room_between_them_are_a_rear_and_a_side() -> None:
    near = 40 * np.exp(0.18 * TIMES)
    side, rear = a_path(0, 0.8, 0.9 * near), a_path(1, 1.35, near)
    assert coincide(side, rear)
    assert not coincide(side, a_path(1, 1.6, near))
    assert not coincide(side, a_path(1, 1.35, 0.6 * near))
    assert not coincide(side, a_path(1, -0.35, near))


def test_the_side_of_one_beside_the_way_that_goes_on_is_no_other_thing_though_its_middle_leaps() -> None:
    last = TIMES > CONTACT - 0.3
    path = a_path(0, 0.9, 60.0)
    half_seen = path._replace(across=np.where(last, path.across - 0.35, path.across))
    assert len(untorn(half_seen, CONTACT).times) == len(TIMES)
    gone = half_seen._replace(inner=np.where(last, path.inner - 0.35, path.inner))
    assert len(untorn(gone, CONTACT).times) == (~last).sum()
    in_front = a_path(0, 0.1, 60.0)
    leaping = in_front._replace(across=np.where(last, in_front.across - 0.35, in_front.across))
    assert len(untorn(leaping, CONTACT).times) == (~last).sum()


def test_a_rear_seen_beside_a_flank_with_no_room_between_has_the_flank_s_history() -> None:
    near = 40 * np.exp(0.18 * TIMES)
    flank, rear = a_path(0, 0.8, near), a_path(1, 1.35, near, since=CONTACT - 1.2)
    assert float(with_history(rear, [flank, rear], CONTACT).times[0]) == 0.0
    next_lane = a_path(1, 1.8, near, since=CONTACT - 1.2)
    assert with_history(next_lane, [flank, next_lane], CONTACT) is next_lane


def test_what_takes_over_in_mid_road_may_reach_the_edge_of_the_picture_soon_after() -> None:
    early = a_path(0, 0.6, 40 * np.exp(0.18 * TIMES)).first(76)
    late = a_path(1, 0.5, 170.0, since=5.0)
    cut = np.arange(len(late.times)) == 2
    assert len(joined([early, late._replace(cut=cut)], TIMES, WAY)) == 1
    came_in = np.arange(len(late.times)) == 0
    assert len(joined([early, late._replace(cut=came_in)], TIMES, WAY)) == 2
