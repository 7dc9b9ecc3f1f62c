"""Lane changes of which only a part can be measured, and lines that are lost about the contact."""

import numpy as np
from numpy.typing import NDArray

from vlmrec.observer.lanes import Lanes
from vlmrec.observer.paths import Path
from vlmrec.observer.scene import Keeping
from vlmrec.observer.sideways import eases, held, sideways
from vlmrec.observer.steering import put_right

Floats = NDArray[np.float64]

RATE = 15
TIMES: Floats = np.arange(90) / RATE
CONTACT = float(TIMES[-1])
STILL = Keeping(0.0, CONTACT, (), 0.9)


def coming_over(begin: float, height: float, length: float = 2.5) -> Floats:
    part = np.clip((TIMES - begin) / length, 0, 1)
    result: Floats = height * part * part * (3 - 2 * part)
    return result


def a_path(beside: Floats) -> Path:
    """A car ``beside`` lanes right of a camera in the middle of its lane, its inner side a quarter of a lane nearer."""
    ones, flags = np.ones(len(TIMES)), np.zeros(len(TIMES), bool)
    inner = beside - 0.25 * np.sign(np.median(beside))
    return Path(
        0, TIMES, beside + 0.5, 0.5 * ones, 60 * ones, inner, 36 * ones, 1.4 * ones, ~flags, 1.4, flags, flags, flags
    )


def lost() -> Floats:
    """Places that tell neither a move nor a lane kept."""
    places = np.ones(90)
    places[20:60:2] += 0.4
    places[40:60] -= 0.3
    return places


def test_a_move_shows_in_the_last_seconds_of_one_that_was_mistaken_for_something_else_before() -> None:
    places = 1 + coming_over(CONTACT - 1.2, -1.0)
    places[30:66] += np.random.default_rng(5).normal(0, 0.5, 36)  # with a kerb now, without it then
    path = a_path(places)
    assert sideways(path, CONTACT, STILL, eases(path, CONTACT)) == Keeping(0.0, CONTACT, (), 0.0)
    keeping, fits = held(path, path, CONTACT, STILL)
    assert keeping.start == 0
    assert keeping.last is not None
    assert keeping.last.side == "left"
    assert any(ease.holds for ease in fits)


def test_a_move_shows_in_the_piece_of_a_vehicle_that_came_over_where_the_whole_was_lost() -> None:
    places = 1 + coming_over(CONTACT - 1.2, -1.0)
    path, piece = a_path(lost()), a_path(places).part(TIMES > CONTACT - 1.5)
    assert held(path, path, CONTACT, STILL)[0].moves == ()
    move = held(path, piece, CONTACT, STILL)[0].last
    assert move is not None
    assert move.side == "left"


def test_who_kept_its_lane_all_the_way_kept_it_whatever_a_piece_of_it_does() -> None:
    path, piece = a_path(np.ones(90)), a_path(1 + coming_over(CONTACT - 1.2, -1.0)).part(TIMES > CONTACT - 1.5)
    assert held(path, piece, CONTACT, STILL)[0] == Keeping(0.0, CONTACT, (), 0.9)


def test_a_piece_too_short_to_tell_anything_leaves_it_open() -> None:
    path = a_path(lost())
    assert held(path, path.part(TIMES > CONTACT - 0.3), CONTACT, STILL)[0] == Keeping(0.0, CONTACT, (), 0.0)


def test_a_comb_that_slips_a_lane_about_the_knock_is_put_right_where_the_ego_did_not_steer() -> None:
    slipping = 0.5 + np.clip((TIMES - 2.5) / 2, 0, 1)
    comb = Lanes(2.5, slipping, np.full(90, 0.2), 1.0)
    for found in put_right(comb, comb, np.zeros(90), TIMES, 3.4):
        assert np.abs(found.offset - 0.5).max() < 0.06
    assert put_right(comb, comb, slipping - 0.5, TIMES, 3.4)[1] is comb  # it drove over there
    pushed = np.where(TIMES < 3.4, 0.0, slipping - 0.5)  # it points there, hit as it is
    assert put_right(comb, comb, pushed, TIMES, 3.4)[1] is comb


def test_a_comb_that_stays_where_an_ego_that_was_hit_points_aside_is_left_alone() -> None:
    comb = Lanes(2.5, np.full(90, 0.5), np.full(90, 0.2), 1.0)
    assert put_right(comb, comb, np.clip(TIMES - 3.4, 0, 1), TIMES, 3.4)[1] is comb


def test_who_is_last_seen_far_nearer_to_an_ego_that_kept_its_lane_did_not_keep_its_own() -> None:
    places = np.ones(90)
    places[-5:] = 0.4
    path = a_path(places)
    assert sideways(path, CONTACT, STILL, eases(path, CONTACT)).kept > 0
    assert held(path, path, CONTACT, STILL)[0] == Keeping(0.0, CONTACT, (), 0.0)
    moving = Keeping(0.0, CONTACT, (), 0.0)
    assert held(path, path, CONTACT, moving)[0].kept > 0
    brief = path.part(TIMES > CONTACT - 1.4)  # in sight for not much longer than a move takes
    assert sideways(brief, CONTACT, STILL, eases(brief, CONTACT)).kept > 0
    assert held(brief, brief, CONTACT, STILL)[0].kept == 0
