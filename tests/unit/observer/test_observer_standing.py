"""Vehicles that stood: whether they stayed, set off, or swung out of a row, and whose pieces belong together."""

from types import SimpleNamespace
from typing import cast

import numpy as np
import pytest
from numpy.typing import NDArray

from vlmrec.observer.candidates import candidates, come_over
from vlmrec.observer.conduct import paces
from vlmrec.observer.halting import halt_of
from vlmrec.observer.heading import heading_at_last
from vlmrec.observer.history import with_history
from vlmrec.observer.measure import Measures
from vlmrec.observer.merging import parted
from vlmrec.observer.paths import Path
from vlmrec.observer.pieces import joined
from vlmrec.observer.scene import Keeping
from vlmrec.observer.sideways import eases
from vlmrec.observer.standing import even_pace, handed_over, set_off, stayed, stood_or_never, swung_out

Floats = NDArray[np.float64]

TIMES: Floats = np.arange(60) / 15
CONTACT = float(TIMES[-1])
PACE = 0.017  # 1/px a second: some 35 km/h
WAY = PACE * TIMES
STILL = Keeping(0.0, CONTACT, (), 0.9)
ENDS = 0.006  # 1/px of way from the contact to what is then just ahead


def standing(number: int = 0, beside: Floats | float = 0.9, *, ahead: float = ENDS, pace: float = 0.0) -> Path:
    """A car ``ahead`` of the camera at the contact, in 1/px, ``beside`` lanes right of it, with a pace of its own."""
    ones, flags = np.ones(len(TIMES)), np.zeros(len(TIMES), bool)
    place = beside * ones
    near = 1 / (ahead + (1 - pace) * (WAY[-1] - WAY))
    return Path(
        number, TIMES, place + 0.5, 0.5 * ones, near, place - 0.25, 0.7 * near, 1.4 * ones, ~flags, 1.4, flags, flags,
        flags,
    )  # fmt: skip


def moved_over(by: float, *, since: float) -> Floats:
    """A smooth move towards the ego by ``by`` lanes up to the contact."""
    part = np.clip((TIMES - CONTACT + since) / since, 0, 1)
    result: Floats = 0.9 - by * part * part
    return result


def of(path: Path, sightings: slice, number: int = 0) -> Path:
    """Some of the sightings of ``path`` only."""
    return path._replace(
        number=number,
        times=path.times[sightings], across=path.across[sightings], ego=path.ego[sightings],
        near=path.near[sightings], inner=path.inner[sightings], front=path.front[sightings],
        span=path.span[sightings], whole=path.whole[sightings], cut=path.cut[sightings],
        blind=path.blind[sightings], hidden=path.hidden[sightings],
    )  # fmt: skip


def test_a_vehicle_stands_by_all_of_its_way_though_the_last_rows_are_amiss() -> None:
    path = standing()
    amiss = path._replace(near=path.near * np.where(TIMES > CONTACT - 0.4, 1.25, 1.0))
    whole = even_pace(amiss, WAY, 0.0, CONTACT)
    assert whole is not None
    assert whole.share == pytest.approx(0.0, abs=0.1)
    assert stood_or_never(amiss, WAY, paces(amiss, WAY, CONTACT), CONTACT - 0.8, CONTACT) == (0.85, 0.0)


def test_what_drives_along_never_stood() -> None:
    path = standing(pace=0.6)
    assert stood_or_never(path, WAY, paces(path, WAY, CONTACT), CONTACT - 0.8, CONTACT) == (0.0, 0.85)


def test_what_keeps_its_place_up_to_the_contact_stayed() -> None:
    path = standing()
    fits = eases(path, CONTACT)
    assert stayed(path, WAY, CONTACT, fits)
    assert set_off(path, STILL, STILL, fits, None, None).moves == ()


def test_what_comes_over_as_a_whole_to_an_ego_that_kept_its_lane_set_off() -> None:
    path = standing(beside=moved_over(0.6, since=1.2))
    fits = eases(path, CONTACT)
    assert not stayed(path, WAY, CONTACT, fits)
    assert set_off(path, STILL, STILL, fits, None, None).moves[0].side == "left"
    drifting = Keeping(0.0, CONTACT, (), 0.0, 0.4)
    assert set_off(path, STILL, drifting, fits, None, None).moves == ()


def test_one_side_alone_that_comes_over_is_a_door_and_no_vehicle() -> None:
    path = standing()
    opened = path._replace(inner=moved_over(0.5, since=1.2) - 0.25)
    assert set_off(opened, STILL, STILL, eases(opened, CONTACT), None, None).moves == ()


def test_one_beyond_the_edge_that_an_ego_which_kept_its_place_ran_into_came_over_by_more_than_a_door() -> None:
    wide, narrow = (standing(beside=moved_over(by, since=1.2)) for by in (0.6, 0.35))
    (first, _), (door, _) = eases(wide, CONTACT), eases(narrow, CONTACT)
    assert set_off(wide, STILL, STILL, [first], None, None).moves == ()
    assert set_off(wide, STILL, STILL, [first], None, None, beyond=True).moves[0].side == "left"
    assert set_off(narrow, STILL, STILL, [door], None, None, beyond=True).moves == ()
    swaying = STILL._replace(drift=0.2)
    assert set_off(wide, STILL, swaying, [first], None, None, beyond=True).moves == ()
    opened = standing()._replace(inner=moved_over(0.5, since=1.2) - 0.25)
    assert set_off(opened, STILL, STILL, eases(opened, CONTACT), None, None, beyond=True).moves == ()


def test_a_piece_that_begins_within_a_vehicle_followed_for_longer_has_its_history() -> None:
    whole = of(standing(), slice(0, 54))
    flank = of(standing(1, beside=0.8), slice(48, 60), number=1)
    known = with_history(flank, [whole, flank], CONTACT)
    assert (known.number, known.times[0], known.times[-1]) == (1, TIMES[0], TIMES[-1])
    assert len(known.times) == len(TIMES)
    ahead = of(standing(1, ahead=0.04), slice(48, 60), number=1)  # the next one in the row
    aside = of(standing(1, beside=0.2), slice(48, 60), number=1)  # with room between the two
    early = of(standing(1, beside=0.8), slice(10, 60), number=1)
    for other in (ahead, aside, early):
        assert with_history(other, [whole, other], CONTACT) is other


def test_who_alone_of_a_row_swings_out_is_the_one_that_was_hit() -> None:
    day = SimpleNamespace(middle=np.full((120, 3), 100.0))
    measures = cast(Measures, SimpleNamespace(size=(640, 360), model=day))
    cut = np.ones(len(TIMES), bool)
    out = standing(1, moved_over(0.25, since=0.3))._replace(cut=cut)
    next_one = standing(2, ahead=ENDS + 0.002)._replace(cut=cut)
    found = candidates([next_one, out], CONTACT, measures)
    assert [candidate.path.number for candidate in found] == [1, 2]
    assert found[0].lonely
    assert swung_out(out, STILL, STILL, CONTACT).moves[0].side == "left"
    assert swung_out(next_one, STILL, STILL, CONTACT) == STILL


def test_a_track_with_a_gap_tells_of_no_swinging_out() -> None:
    out = standing(1, moved_over(0.25, since=0.3))
    kept = (TIMES < CONTACT - 0.6) | (TIMES > CONTACT - 0.2)
    torn = out._replace(times=TIMES[kept], inner=out.inner[kept], ego=out.ego[kept], near=out.near[kept])
    assert come_over(out, CONTACT) is not None
    assert come_over(torn, CONTACT) is None


def test_pieces_at_one_place_on_the_road_are_one_vehicle() -> None:
    whole = standing()
    early, late = of(whole, slice(0, 30), 3), of(whole, slice(36, None), 7)
    (one,) = joined((early, late), TIMES, WAY)
    assert one.number == 7
    assert float(one.times[0]) == 0.0
    further = of(standing(ahead=ENDS + 0.012), slice(36, None), 7)
    assert len(joined((early, further), TIMES, WAY)) == 2


def test_what_appears_in_mid_road_close_ahead_is_what_was_followed_there_up_to_then() -> None:
    begun = of(standing(beside=0.2, ahead=0.014, pace=0.3), slice(None, 50))
    rest = of(standing(beside=0.2, ahead=0.006, pace=0.3), slice(50, None), 1)
    (one,) = joined([begun, rest], TIMES, WAY)
    assert (one.number, len(one.times)) == (1, len(TIMES))
    aside = rest._replace(across=rest.across + 0.8, inner=rest.inner + 0.8)
    assert len(joined([begun, aside], TIMES, WAY)) == 2
    assert len(joined([begun, rest._replace(cut=~rest.cut)], TIMES, WAY)) == 2


def test_a_track_that_falls_back_in_an_instant_has_passed_to_the_next_vehicle() -> None:
    near, far = standing(), standing(ahead=ENDS + 0.012)
    mixed = near._replace(near=np.where(TIMES < CONTACT - 0.4, near.near, far.near))
    assert not handed_over(near, None, (), CONTACT)
    assert handed_over(mixed, None, (), CONTACT)


def braking(stop: float, rate: float = 0.02) -> Path:
    """One that brakes at ``rate``, in 1/px a second squared, and stands from ``stop`` s after the contact on."""
    gone = 0.5 * rate * np.maximum(CONTACT + stop - TIMES, 0.0) ** 2
    return standing()._replace(near=1 / (ENDS + 0.004 - WAY - gone + WAY[-1]))


@pytest.mark.parametrize(("stop", "answer"), [(-0.5, True), (0.5, False), (4.0, False)])
def test_whether_it_had_braked_to_a_stand_is_told_by_where_it_would_have_stopped(stop: float, answer: bool) -> None:
    halt = halt_of(braking(stop, 0.006), WAY, CONTACT)
    assert halt is not None
    assert halt.stood is answer
    assert halt.came_to_it is answer


def test_one_foot_that_jumps_close_before_the_camera_does_not_stop_it() -> None:
    going = braking(0.4, 0.006)
    near = np.where(TIMES > CONTACT - 0.3, 1.4 * going.near, going.near)
    halt = halt_of(going._replace(near=near), WAY, CONTACT)
    assert halt is not None
    assert halt.stood is False


def test_one_that_stood_all_the_time_did_not_come_to_a_stand() -> None:
    halt = halt_of(standing(), WAY, CONTACT)
    assert halt is not None
    assert not halt.came_to_it


def test_whether_it_had_stopped_is_open_where_its_foot_leaps() -> None:
    leaping = standing()._replace(near=standing().near * (1 + 0.1 * np.sin(40 * TIMES)))
    halt = halt_of(leaping, WAY, CONTACT)
    assert halt is None or halt.stood is None


def test_two_that_grow_together_are_told_apart_by_the_leap_of_the_one_that_both_are_followed_as() -> None:
    nearer, beyond = standing(0, 0.8, pace=0.5), standing(1, 1.8, pace=0.5)
    leapt = beyond._replace(
        inner=np.where(TIMES < 2.0, beyond.inner, nearer.inner),
        across=np.where(TIMES < 2.0, beyond.across, nearer.across),
    )
    one, other = parted([nearer.first(33), leapt])
    assert float(other.times[-1]) < 2.0
    assert (one.number, len(one.times)) == (0, len(TIMES))
    assert np.allclose(one.inner, nearer.inner)
    kept = parted([standing(0, 0.3, pace=0.5).first(33), leapt])  # nothing was lost there
    assert len(kept[1].times) == len(TIMES)


def test_who_comes_at_last_where_another_had_been_seen_comes_towards_the_ego() -> None:
    leader, coming = standing(beside=0.1, ahead=0.03, pace=1.0), standing(beside=0.1, pace=-1.0)
    mixed = leader._replace(near=np.where(TIMES < CONTACT - 0.5, leader.near, coming.near))
    assert heading_at_last(mixed, WAY, CONTACT) == "oncoming"
    assert heading_at_last(standing(), WAY, CONTACT) is None
    jumps = standing()._replace(near=standing().near * np.where(TIMES < CONTACT - 0.25, 1.0, 1.8))
    assert heading_at_last(jumps, WAY, CONTACT) is None
    crossing = standing(beside=np.clip(1.5 * (CONTACT - TIMES), 0.0, 1.2))
    assert heading_at_last(crossing, WAY, CONTACT) == "crossing"
    changing = standing(beside=np.clip(1.5 * (CONTACT - TIMES), 0.0, 1.2), pace=0.7)
    assert heading_at_last(changing, WAY, CONTACT) is None
