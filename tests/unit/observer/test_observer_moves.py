"""Moves across the road: the ego's from lines and heading, another vehicle's from its places, and what follows from both."""

from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
from numpy.typing import NDArray

from vlmrec.observer import motions, relations
from vlmrec.observer.camera import CameraStep
from vlmrec.observer.candidates import candidates
from vlmrec.observer.conduct import Pace, level_with, pace_alongside
from vlmrec.observer.ego import moves_of
from vlmrec.observer.heading import heading_of
from vlmrec.observer.horizon import Vanishing
from vlmrec.observer.jolts import find_jolts
from vlmrec.observer.lanes import Lanes
from vlmrec.observer.measure import Measures
from vlmrec.observer.overtaken import overtaken
from vlmrec.observer.passing import gone_by
from vlmrec.observer.paths import Path, _joined, since_leap, untorn
from vlmrec.observer.scene import Contact, Keeping, Move, Rival, Roadway, Scene
from vlmrec.observer.sideways import eases, fit_ease, sideways
from vlmrec.observer.steering import course
from vlmrec.observer.things import fell_off, shed, small
from vlmrec.observer.whereabouts import beside_at_first
from vlmrec.terms import Party

Floats = NDArray[np.float64]

RATE = 15
TIMES: Floats = np.arange(90) / RATE
CONTACT = float(TIMES[-1])
STILL = Keeping(0.0, CONTACT, (), 0.9)


def eased(begin: float, length: float, height: float) -> Floats:
    """A lane change: from 0 to ``height`` lanes within ``length`` seconds from ``begin`` on."""
    part = np.clip((TIMES - begin) / length, 0, 1)
    result: Floats = height * part * part * (3 - 2 * part)
    return result


def noise(size: float) -> Floats:
    return np.random.default_rng(3).normal(0, size, len(TIMES))


def a_path(beside: Floats, ego: Floats | float = 0.5, near: Floats | float = 60.0, *, cut: bool = False) -> Path:
    """A car ``beside`` lanes right of the camera, its inner side a quarter of a lane nearer."""
    ones = np.ones(len(TIMES))
    flags = np.zeros(len(TIMES), bool)
    inner = beside - 0.25 * np.sign(np.median(beside))
    return Path(
        0, TIMES, beside + ego, ego * ones, near * ones, inner, 0.6 * near * ones, 1.4 * ones, ~flags, 1.4,
        flags | cut, flags, flags,
    )  # fmt: skip


def a_rival(beside: float, keeping: Keeping, **changes: Any) -> Rival:
    rival = Rival(
        0, 0.0, CONTACT, "ahead", beside, 0.5, 0.3, keeping, "same", False, False, 0.9, 0.9, 0.0, False, None,
        0.85, "lane", False, 0.0, False, 0.9,
    )  # fmt: skip
    return rival._replace(**changes)


def a_scene(rival: Rival, own: Keeping) -> Scene:
    return Scene(90, 0.0, CONTACT + 3, True, "", contact=Contact(CONTACT, 0.9), rival=rival, ego_keeping=own)


def test_a_lane_change_that_the_contact_cuts_off_is_a_move_of_the_ego() -> None:
    keeping = moves_of(TIMES, eased(CONTACT - 1.2, 2.8, 1.0) + noise(0.01), noise=0.03)
    assert keeping.last is not None
    assert keeping.last.side == "right"


def test_a_drift_that_ends_at_the_lane_s_edge_is_no_move_and_the_lane_was_not_kept_either() -> None:
    keeping = moves_of(TIMES, eased(2.0, 1.5, 0.45), noise=0.03)
    assert keeping.moves == ()
    assert keeping.kept == 0
    assert keeping.drift == pytest.approx(0.45, abs=0.08)
    assert motions.maneuver(a_scene(a_rival(1.0, STILL), keeping), Party.SELF).value == "straight"


def test_a_cut_in_that_ends_early_in_a_collision_is_told_from_places_that_jitter() -> None:
    ease = fit_ease(TIMES, 1 + eased(CONTACT - 1.2, 2.5, -1.0) + noise(0.03))
    assert ease.holds
    assert ease.shift == pytest.approx(-0.47, abs=0.1)
    assert ease.begins == pytest.approx(CONTACT - 0.85, abs=0.25)


@pytest.mark.parametrize("last", [1, 3])
def test_a_few_wild_places_at_the_end_are_no_move(last: int) -> None:
    places = noise(0.03)
    places[-last:] += 0.6
    assert not fit_ease(TIMES, places).holds


def test_who_wanders_within_the_errors_kept_its_lane() -> None:
    path = a_path(1 + 0.05 * np.sin(TIMES))
    keeping = sideways(path, CONTACT, STILL, eases(path, CONTACT))
    assert keeping.moves == ()
    assert keeping.kept > 0


def test_going_away_from_the_ego_is_no_move_into_its_way() -> None:
    path = a_path(1 + eased(2.0, 3.0, 0.5))
    assert sideways(path, CONTACT, STILL, eases(path, CONTACT)).moves == ()


def test_what_goes_two_lanes_at_once_is_first_one_thing_and_then_another() -> None:
    path = a_path(-2.5 + eased(3.0, 1.5, 2.4))
    assert sideways(path, CONTACT, STILL, eases(path, CONTACT)) == Keeping(0.0, CONTACT, (), 0.0)


def test_a_vehicle_that_breaks_into_pieces_at_the_contact_counts_up_to_there() -> None:
    torn = 1 + eased(CONTACT - 1.5, 2.5, -1.0)
    torn[-4:] = 1.2
    path = a_path(torn)
    move = sideways(path, CONTACT, STILL, eases(path, CONTACT)).last
    assert move is not None
    assert move.side == "left"


def test_a_barrier_whose_track_leaps_to_the_car_ends_there_and_what_crosses_goes_on() -> None:
    barrier = np.full(len(TIMES), -1.2)
    barrier[-3:] = -0.1
    assert len(untorn(a_path(barrier), CONTACT).times) == len(TIMES) - 3
    crossing = a_path(np.where(TIMES > CONTACT - 1.5, 3.0 - 2.0 * (TIMES - CONTACT + 1.5), 3.0))
    assert untorn(crossing, CONTACT) is crossing


def test_what_crosses_sweeps_faster_than_any_lane_change() -> None:
    assert fit_ease(TIMES, eased(CONTACT - 1.0, 1.5, 3.0)).sweeps
    assert not fit_ease(TIMES, eased(CONTACT - 1.5, 2.5, 1.0)).sweeps


def test_who_is_seen_briefly_or_comes_at_last_or_goes_across_does_not_go_the_same_way() -> None:
    path, slow = a_path(np.full(len(TIMES), 0.5)), Pace(0.4, 0.05, 0.0, CONTACT)
    assert heading_of(path, CONTACT, slow, slow, [slow], 0.0, [], STILL) == "same"
    late = path.part(slice(-8, None))
    assert heading_of(late, CONTACT, slow, slow, [slow], 0.0, [], STILL) is None
    turned = slow._replace(share=-0.8)  # first one that goes ahead, and then one that comes
    assert heading_of(path, CONTACT, slow, slow, [slow, turned], 0.0, [], STILL) is None
    sweeping = a_path(2.0 - 1.2 * np.clip(TIMES - CONTACT + 1.5, 0, None))
    assert heading_of(sweeping, CONTACT, slow, slow, [slow], 0.0, [], STILL) == "crossing"


def test_lines_lost_behind_a_vehicle_do_not_move_an_ego_that_steers_straight_on() -> None:
    slipping = np.where(TIMES > 4, 0.5 + 0.4 * (TIMES - 4), 0.5)
    lanes = Lanes(2.5, slipping, np.where(TIMES > 4, 0.04, 0.4), 1.0)
    found = course(lanes, straight_on(), np.full(len(TIMES), 0.03))
    assert np.abs(found.lanes.offset - 0.5).max() < 0.1


def test_turning_aside_moves_an_ego_whose_lines_are_lost() -> None:
    aside = np.clip((TIMES - 4.8) * 60, 0, 40)  # px that the vanishing point goes left: the camera points right
    steps = tuple(
        step._replace(turn=-float(turn)) for step, turn in zip(straight_on().steps, np.diff(aside), strict=True)
    )
    lost = Lanes(2.5, np.full(len(TIMES), 0.5), np.where(TIMES > 4.5, 0.0, 0.4), 1.0)
    found = course(lost, filmed(320 - aside, steps), np.full(len(TIMES), 0.03))
    way = float((0.03 * aside / 2.5).sum() / RATE)
    assert float(found.lanes.offset[-1]) == pytest.approx(0.5 + way, abs=0.1)


def test_a_camera_goes_on_turning_while_too_little_is_seen_to_tell() -> None:
    aside = np.clip((TIMES - 4.0) * 60, 0, 60) - np.clip((TIMES - 5.0) * 60, 0, 60)
    steps = [step._replace(turn=-float(turn)) for step, turn in zip(straight_on().steps, np.diff(aside), strict=True)]
    gaps = tuple(step._replace(turn=None) if 66 <= index < 70 else step for index, step in enumerate(steps))
    lost = Lanes(2.5, np.full(len(TIMES), 0.5), np.where(TIMES > 3.5, 0.0, 0.4), 1.0)
    seen = np.where((TIMES > 3.9) & (TIMES < 5.9), 320.0, 320 - aside)
    whole, broken = (course(lost, filmed(seen, some), np.full(len(TIMES), 0.03)).steered for some in (steps, gaps))
    assert float(np.abs(whole - broken).max()) < 0.05


def test_lines_of_a_camera_that_turns_are_put_right_even_where_the_pace_is_measured_much_too_small() -> None:
    aside = np.clip((TIMES - 4.5) * 30, 0, 40)
    steps = tuple(
        step._replace(turn=-float(turn)) for step, turn in zip(straight_on().steps, np.diff(aside), strict=True)
    )
    true = 0.5 + np.concatenate([[0.0], np.cumsum(0.03 * aside[1:] / 2.5 / RATE)])
    rows = np.arange(0.10 * 360, 0.93 * 360 - 160, 2.0)
    seen = true + aside * float((1 / rows).mean()) / 2.5  # on a strip of road that runs straight on
    found = course(
        Lanes(2.5, seen, np.full(len(TIMES), 0.4), 1.0), filmed(320 - aside, steps), np.full(len(TIMES), 0.01)
    )
    assert np.abs(found.lanes.offset - true).max() < 0.06
    assert np.abs(seen - true).max() > 0.15


def test_of_one_that_the_picture_cuts_off_nearly_all_the_time_only_the_near_side_tells_its_place() -> None:
    flags = np.ones(len(TIMES), bool)
    feet = np.tile([-3.0, -1.5], (len(TIMES), 1))  # its far side is wherever the picture ends
    wild = -2.0 + noise(0.4)
    flags[40:44] = False  # the bonnet hides its foot, and it seems whole for a moment
    middle, inner = _joined(wild, feet, flags, ~flags)
    assert float(np.ptp(middle - inner)) == pytest.approx(0.0)
    assert float(np.median(inner)) == -1.5


def test_an_ego_that_is_hit_stops_going_where_it_points_at_once() -> None:
    true = 0.5 + 0.5 * np.clip(TIMES - 4.0, 0.0, 1.0)
    aside = np.where((TIMES >= 4.0) & (TIMES < 5.4), 0.5 * 2.5 / 0.03, 0.0)  # it points there still when it is held
    steps = tuple(
        step._replace(turn=-float(turn)) for step, turn in zip(straight_on().steps, np.diff(aside), strict=True)
    )
    seen = true + aside * float((1 / np.arange(36, 174.8, 2.0)).mean()) / 2.5
    lanes, film = Lanes(2.5, seen, np.full(len(TIMES), 0.2), 1.0), filmed(320 - aside, steps)
    last = int(5.0 * RATE)
    missed = [
        abs(float(course(lanes, film, np.full(len(TIMES), 0.03), knocks).lanes.offset[last] - true[last]))
        for knocks in ((), (5.0,))
    ]
    assert missed[1] < missed[0]


def filmed(column: Floats, steps: tuple[CameraStep, ...]) -> Measures:
    made = SimpleNamespace(
        times=TIMES, points_x=column, steps=steps, point=Vanishing(320.0, 160.0, 1.0), size=(640, 360)
    )
    return cast(Measures, made)


def straight_on() -> Measures:
    steps = tuple(CameraStep(float(time), 1 / RATE, 0.0, 0.0, 0.03, 40.0, 1.0) for time in TIMES[1:])
    return filmed(np.full(len(TIMES), 320.0), steps)


def a_knock(at: float, *, blurred: int = 0, sideways: bool = False) -> tuple[CameraStep, ...]:
    """Steps with a knock from ``at`` on that rings for half a second; its first pictures too blurred to measure."""
    steps = []
    for index, time in enumerate(TIMES[1:]):
        after = time - at
        swing = 0.2 * (-1) ** index + (12 * np.exp(-after / 0.2) * (-1) ** index if after > -1e-6 else 0.0)
        lost = -1e-6 < after < (blurred - 0.5) / RATE
        nod, turn = (0.2 * (-1) ** index, swing) if sideways else (swing, 0.0)
        steps.append(
            CameraStep(
                float(time), 1 / RATE, None if lost else float(turn), None if lost else float(nod), 0.03, 40.0, 1.0
            )
        )
    return tuple(steps)


def test_a_knock_sets_in_with_the_pictures_that_it_blurred() -> None:
    jolt = find_jolts(a_knock(4.0, blurred=2))[0]
    assert jolt.time == pytest.approx(4.0, abs=0.1)


def test_a_knock_from_the_side_is_one() -> None:
    assert find_jolts(a_knock(4.0, sideways=True))[0].time == pytest.approx(4.0, abs=0.1)


def test_what_comes_no_nearer_is_not_what_was_hit() -> None:
    day = SimpleNamespace(middle=np.full((120, 3), 100.0))
    measures = cast(Measures, SimpleNamespace(size=(640, 360), model=day))
    fixture = a_path(np.full(len(TIMES), -0.4), near=150 * (1 + 0.06 * np.sin(9 * TIMES)))
    comer = a_path(0.9 + eased(CONTACT - 1.5, 2.5, -1.0), near=60 * np.exp(0.15 * TIMES))._replace(number=1)
    found = candidates([fixture, comer], CONTACT, measures)
    assert [candidate.path.number for candidate in found] == [1, 0]
    assert found[0].lonely


def test_who_came_towards_the_ego_and_is_behind_it_by_now_was_not_hit() -> None:
    oncoming = a_path(np.full(len(TIMES), -0.9), near=1 / np.maximum(0.06 * (CONTACT - 0.9 - TIMES), 0.007))
    assert gone_by(oncoming, CONTACT, 360)
    assert not gone_by(oncoming, CONTACT - 0.6, 360)  # its rear may still be beside the ego
    in_the_way = oncoming._replace(across=oncoming.across + 0.8)
    assert not gone_by(in_the_way, CONTACT, 360)


def test_what_is_twice_as_near_at_once_far_off_is_another_thing() -> None:
    leader = a_path(np.full(len(TIMES), -0.3), near=np.where(CONTACT - 1.0 > TIMES, 40.0, 110.0))
    assert since_leap(leader, CONTACT).times[0] == pytest.approx(CONTACT - 1.0, abs=0.1)
    assert len(since_leap(leader._replace(near=leader.near * 2), CONTACT).times) == len(TIMES)  # close by, a foot hides


def test_a_thing_comes_from_the_vehicle_that_was_where_it_was_first_followed() -> None:
    leader = a_path(np.full(len(TIMES), 0.05), near=24.0)
    thing = a_path(np.full(len(TIMES), 0.05), near=24 / np.linspace(1, 0.15, len(TIMES)))
    thing = thing._replace(number=1, span=0.5 * np.ones(len(TIMES)))
    assert small(thing, CONTACT) > 0
    assert shed(thing, [leader, thing], CONTACT)
    assert not shed(thing, [thing], CONTACT)
    assert not shed(thing, [leader._replace(across=leader.across + 1.0), thing], CONTACT)


@pytest.mark.parametrize(
    ("width", "share", "fell"),
    [(0.55, 0.4, True), (0.55, 0.8, False), (1.3, 0.4, False)],
    ids=["a thing that slides", "a vehicle that brakes, half of it lost in the road's colour", "a wide one"],
)
def test_what_falls_off_a_vehicle_is_narrow_at_once_and_falls_back_quicker_than_brakes_would_make_it(
    width: float, share: float, fell: bool
) -> None:
    pace, off = 0.03, TIMES >= CONTACT - 0.6
    ways = pace * TIMES
    near = 1 / (1 / 40 - (1 - share) * np.maximum(0.0, ways - ways[np.argmax(off)]))
    path = a_path(np.zeros(len(TIMES)), near=near)._replace(span=np.where(off, width, 1.4))
    assert fell_off(path, ways, CONTACT) is fell


def test_one_that_kept_its_lane_is_where_it_is_seen_best() -> None:
    out = Keeping(0.0, CONTACT, (Move(0.0, 1.0, -1.0, 0.9),), 0.0)
    far = TIMES < 2.0
    path = a_path(np.where(far, 1.6, 1.0), -0.5, np.where(far, 18.0, 60.0)).first(len(TIMES))
    path = path._replace(times=path.times + 0.5)
    every, early = np.ones(len(TIMES), bool), TIMES < 0.5
    home = float(np.median(path.across[~far]))
    assert beside_at_first(path, every, early, STILL, out, home) == pytest.approx(0.0)
    assert beside_at_first(path, every, early, STILL._replace(kept=0.0), out, home) == pytest.approx(0.6)
    assert beside_at_first(path, every, early, STILL, STILL, home) == pytest.approx(1.6)


def test_a_vehicle_that_shows_its_width_now_and_then_is_no_thing() -> None:
    pieces = np.where(np.arange(len(TIMES)) % 6 == 0, 1.6, 0.6)
    torn = a_path(np.full(len(TIMES), 0.05), near=24 / np.linspace(1, 0.15, len(TIMES)))._replace(span=pieces)
    assert small(torn, CONTACT) == 0.0


def test_what_stays_beside_the_camera_goes_at_its_pace_unless_it_reaches_far_ahead() -> None:
    beside = a_path(np.full(len(TIMES), 1.0), near=180.0, cut=True)
    pace = pace_alongside(beside, CONTACT, 360)
    assert pace is not None
    assert pace.share == 1.0
    assert pace_alongside(beside._replace(front=np.full(len(TIMES), 30.0)), CONTACT, 360) is None


def test_an_ego_that_moves_out_and_back_hit_the_one_it_went_past() -> None:
    ego = 0.5 + eased(1.0, 1.5, -1.0) + eased(CONTACT - 0.9, 2.0, 1.0)
    gap = np.maximum(22 - 5.5 * TIMES, 1.5)  # m: level after some four seconds
    near = np.minimum(330 * 1.35 / gap, 150)
    seen = a_path(0.5 - ego, ego, near).first(60)
    own = Keeping(0.0, CONTACT, (Move(1.0, 2.5, -1.0, 0.9), Move(CONTACT - 0.9, CONTACT, 0.4, 0.7)), 0.0)
    found = overtaken([seen], own, 0.5, CONTACT, 360)
    assert found is not None
    assert found.how == "passed"
    assert overtaken([seen], own._replace(moves=own.moves[:1]), 0.5, CONTACT, 360) is None
    late = overtaken([seen.part(slice(38, None))], own, 0.5, CONTACT, 360)  # in sight when the ego had moved out
    assert late is not None
    assert late.how == "passed"


def test_two_that_moved_towards_each_other_met_in_the_lane_between() -> None:
    own = Keeping(0.0, CONTACT, (Move(4.5, CONTACT, 0.6, 0.9),), 0.0)
    theirs = Keeping(4.8, CONTACT, (Move(4.8, CONTACT, -0.4, 0.8),), 0.0)
    scene = a_scene(a_rival(1.35, theirs, start=4.8), own)
    assert relations.lane_relation(scene, Party.NONE).value == "two_lanes_apart"
    assert motions.target_lane_relation(scene, Party.SELF).value == "common_lane"
    assert motions.target_lane_relation(scene, Party.OTHER).value == "common_lane"


def test_one_first_seen_astride_a_line_and_coming_over_was_in_the_next_lane() -> None:
    coming = Keeping(4.8, CONTACT, (Move(4.9, CONTACT, -0.4, 0.8),), 0.0)
    assert (
        relations.lane_relation(a_scene(a_rival(0.45, coming, start=4.8), STILL), Party.NONE).value == "adjacent_lane"
    )
    staying = a_scene(a_rival(0.45, Keeping(4.8, CONTACT, (), 0.0), start=4.8), STILL)
    assert relations.lane_relation(staying, Party.NONE).value is None


def test_whose_lane_the_ego_moved_into_is_open_while_the_other_s_moves_are_unknown() -> None:
    own = Keeping(0.0, CONTACT, (Move(4.5, CONTACT, 0.6, 0.9),), 0.0)
    scene = a_scene(a_rival(1.0, Keeping(4.8, CONTACT, (), 0.0)), own)
    assert motions.target_lane_relation(scene, Party.SELF).value is None


def test_one_that_stood_ahead_has_not_overtaken_however_late_it_came_into_sight() -> None:
    late = {"start": CONTACT - 0.9, "place": "edge", "never_stood": 0.0, "late_pace": 0.3}
    stood = a_scene(a_rival(0.9, STILL, stood=0.85, **late), STILL)
    assert relations.overtaking(stood, Party.OTHER).value == "none"
    unknown = a_scene(a_rival(0.9, STILL, stood=0.0, **late), STILL)
    assert relations.overtaking(unknown, Party.OTHER).value is None
    assert motions.motion_at_contact(unknown, Party.OTHER).value is None  # moving along, or moving off


def test_what_one_out_of_sight_did_at_the_contact_is_open_and_so_is_a_pace_that_two_measures_differ_on() -> None:
    slowing = a_rival(0.1, STILL, pace=0.8, late_pace=0.2, never_stood=0.0, halted=False)
    assert motions.motion_at_contact(a_scene(slowing, STILL), Party.OTHER).value == "moving"
    hardly = slowing._replace(late_pace=0.02)
    assert motions.motion_at_contact(a_scene(hardly, STILL), Party.OTHER).value is None
    halted = hardly._replace(halted=True)
    assert motions.motion_at_contact(a_scene(halted, STILL), Party.OTHER).value == "just_stopped"
    passed = slowing._replace(how="passed", late_pace=0.8, never_stood=0.85)
    assert motions.motion_at_contact(a_scene(passed, STILL), Party.OTHER).value is None


def test_one_long_straight_ahead_stays_there_though_it_seems_to_grow_close_by() -> None:
    ahead = a_path(np.full(len(TIMES), 0.05), near=24 / np.linspace(1, 0.15, len(TIMES)))
    growing = ahead._replace(inner=ahead.inner - np.clip(TIMES - CONTACT + 1.0, 0, None) * 0.22)
    assert sideways(growing, CONTACT, STILL, eases(growing, CONTACT)).kept > 0
    brief = growing.part(slice(55, None))
    assert sideways(brief, CONTACT, STILL, eases(brief, CONTACT)).kept == 0


def test_a_road_with_a_footway_is_no_motorway() -> None:
    scene = a_scene(a_rival(0.9, STILL, place="edge", stood=0.85, never_stood=0.0), STILL)
    assert relations.road_class(scene, Party.NONE).value is None
    beside = scene._replace(roadway=Roadway(footway=True))
    assert relations.road_class(beside, Party.NONE).value == "ordinary"


def test_who_stands_out_of_the_way_of_an_ego_that_kept_its_lane_did_not_just_stand() -> None:
    scene = a_scene(a_rival(0.9, STILL, place="edge", stood=0.85, never_stood=0.0, late_pace=0.05), STILL)
    assert motions.maneuver(scene, Party.OTHER).value is None
    assert motions.motion_at_contact(scene, Party.OTHER).value is None


@pytest.mark.parametrize("changes", [{"pace": 1.3}, {"heading": None}, {"heading": "oncoming"}])
def test_of_one_that_comes_from_behind_or_goes_another_way_order_and_lanes_are_not_told(
    changes: dict[str, Any],
) -> None:
    scene = a_scene(a_rival(1.0, STILL, **changes), STILL)
    assert relations.order(scene, Party.NONE).value is None
    assert relations.lane_relation(scene, Party.NONE).value is None


def test_where_a_lane_ends_is_no_surer_than_that_this_vehicle_left_it() -> None:
    moved = Keeping(0.0, CONTACT, (Move(CONTACT - 1.0, CONTACT, -0.6, 0.5),), 0.0)
    scene = a_scene(a_rival(1.0, moved), STILL)._replace(roadway=Roadway(lane_ends=False))
    assert motions.lane_ends(scene, Party.OTHER).confidence == 0.5


BESIDE_IT = Keeping(0.0, CONTACT, (Move(CONTACT - 1.2, CONTACT, -0.4, 0.8),), 0.0)  # the ego comes over to the left


def test_a_wheel_that_shows_where_a_bumper_was_seen_is_no_move_of_one_that_the_ego_comes_over_to() -> None:
    ego = 0.5 - 0.4 * np.clip((TIMES - CONTACT + 1.2) / 1.2, 0, 1)
    side = np.where(TIMES < CONTACT - 2.5, -0.45, -0.2)  # nearer at once: its bumper doesn't reach down to the road
    path = a_path(side - ego - 0.25, ego, 150.0, cut=True)
    assert sideways(path, CONTACT, BESIDE_IT, eases(path, CONTACT)).kept > 0.6


def test_one_beside_that_comes_over_too_or_is_over_the_line_did_not_keep_its_lane() -> None:
    ego = 0.5 - 0.4 * np.clip((TIMES - CONTACT + 1.2) / 1.2, 0, 1)
    for side in (-0.45 + eased(CONTACT - 1.2, 1.4, 0.35), np.full(len(TIMES), 0.15)):
        jumped = np.where(TIMES < CONTACT - 2.5, -0.45, side)
        path = a_path(jumped - ego - 0.25, ego, 150.0, cut=True)
        assert sideways(path, CONTACT, BESIDE_IT, eases(path, CONTACT)).kept == 0.0


def test_one_overtakes_if_its_late_pace_is_above_the_ego_s_by_more_than_its_error() -> None:
    assert a_rival(-0.8, STILL, late_pace=1.32, late_error=0.02).overtakes
    assert not a_rival(-0.8, STILL, late_pace=1.32, late_error=0.08).overtakes


def test_of_one_in_the_next_lane_the_row_at_which_its_side_enters_the_picture_tells_whether_it_is_level() -> None:
    lanes = Lanes(2.7, np.full(len(TIMES), 0.5), np.full(len(TIMES), 0.4), 1.0)
    beside = a_path(np.full(len(TIMES), -0.95), 0.5, 150.0, cut=True)
    assert level_with(beside, CONTACT - 1, (640, 360), lanes, False) is True
    assert level_with(beside, CONTACT - 1, (640, 360), lanes, True) is None
    longer = beside._replace(front=np.full(len(TIMES), 70.0))
    assert level_with(longer, CONTACT - 1, (640, 360), lanes, False) is None
    two_lanes_off = a_path(np.full(len(TIMES), -1.8), 0.5, 120.0, cut=True)
    assert level_with(two_lanes_off, CONTACT - 1, (640, 360), lanes, False) is None
    lately = beside.part(slice(int(np.argmax(TIMES > CONTACT - 1.7)), None))  # three times a second before, by chance
    assert level_with(lately, CONTACT - 1, (640, 360), lanes, False) is None
    gaining = beside._replace(front=16.0 * np.exp(0.5 * TIMES))
    assert level_with(gaining, CONTACT - 2.5, (640, 360), lanes, False) is not True


def test_one_that_set_off_from_the_roadside_was_passed_on_its_left_and_crossed_no_lane_line_that_is_known() -> None:
    out = Keeping(0.0, CONTACT, (Move(4.0, CONTACT, -0.6, 0.9),), 0.0)
    rival = a_rival(0.8, out, place="edge", stood=0.85, inner=-0.05, at_contact=0.2)
    scene = a_scene(rival, STILL)._replace(roadway=Roadway(divider="solid", divider_tint="white"))
    assert relations.overtaking(scene, Party.SELF).value == "passing"
    assert relations.overtaking_side(scene, Party.SELF).value == "left"
    assert motions.maneuver(scene, Party.OTHER).value == "lane_change"
    assert motions.lane_line(scene, Party.OTHER).value is None
    assert motions.contact_area(scene, Party.OTHER).value is None
    golden = scene._replace(roadway=Roadway(divider="solid", divider_tint="yellow"))
    assert motions.centre_line_crossed(golden, Party.OTHER).value is None
    in_lane = scene._replace(rival=rival._replace(place="lane", stood=0.0))
    assert motions.lane_line(in_lane, Party.OTHER).value == "solid_white"


def test_which_lane_one_that_drew_up_and_kept_to_nothing_was_in_is_left_open() -> None:
    open_way = Keeping(CONTACT - 3, CONTACT, (), 0.0)
    own = Keeping(0.0, CONTACT, (Move(CONTACT - 1, CONTACT, 0.5, 0.9),), 0.0)
    drawn_up = a_rival(1.2, open_way, start=CONTACT - 3, drew_up=True)
    assert relations.lane_relation(a_scene(drawn_up, own), Party.NONE).value is None
    assert relations.lane_relation(a_scene(drawn_up._replace(drew_up=False), own), Party.NONE).value == "adjacent_lane"


def test_one_still_coming_over_may_have_been_met_by_a_corner() -> None:
    coming = Keeping(0.0, CONTACT, (Move(CONTACT - 1, CONTACT, -0.8, 0.9),), 0.0)
    straight_on = a_rival(0.0, STILL, at_contact=0.1)
    assert motions.contact_area(a_scene(straight_on, STILL), Party.OTHER).value == "rear"
    assert motions.contact_area(a_scene(straight_on._replace(keeping=coming), STILL), Party.OTHER).value is None


def test_one_that_the_ego_passed_and_was_moving_back_in_front_of_is_out_of_sight() -> None:
    out, back = Move(CONTACT - 3.5, CONTACT - 2, -1.0, 0.9), Move(CONTACT - 0.9, CONTACT, 0.5, 0.9)
    passed = a_rival(0.0, STILL, how="beside", at_contact=1.0)
    assert (
        motions.motion_at_contact(a_scene(passed, Keeping(0.0, CONTACT, (out, back), 0.0)), Party.OTHER).value is None
    )
    assert motions.motion_at_contact(a_scene(passed, STILL), Party.OTHER).value == "moving"


def test_a_lane_of_the_other_one_is_not_said_to_end_where_the_ego_moved_over_itself() -> None:
    coming = Keeping(0.0, CONTACT, (Move(CONTACT - 1, CONTACT, -0.8, 0.9),), 0.0)
    scene = a_scene(a_rival(1.0, coming), STILL)._replace(roadway=Roadway(lane_ends=True))
    assert motions.lane_ends(scene, Party.OTHER).value == "yes"
    own = Keeping(0.0, CONTACT, (Move(CONTACT - 1, CONTACT, 0.5, 0.9),), 0.0)
    assert motions.lane_ends(scene._replace(ego_keeping=own), Party.OTHER).value is None


def test_one_that_came_into_sight_in_mid_film_at_the_ego_s_pace_may_have_come_from_behind() -> None:
    seen_late = a_rival(-1.6, STILL, start=2.0, pace=0.95)
    assert relations.overtaking(a_scene(seen_late, STILL), Party.OTHER).value is None
    assert relations.overtaking(a_scene(seen_late._replace(pace=0.7), STILL), Party.OTHER).value == "none"


@pytest.mark.parametrize("party", [Party.OTHER, Party.SELF])
def test_a_yellow_line_that_another_crossed_on_the_ego_s_side_may_bound_an_area(party: Party) -> None:
    move = Keeping(0.0, CONTACT, (Move(CONTACT - 1, CONTACT, -0.8, 0.9),), 0.0)
    scene = a_scene(a_rival(1.0, move), move)._replace(roadway=Roadway(divider="solid", divider_tint="yellow"))
    assert motions.centre_line_crossed(scene, party).value == ("yes" if party is Party.SELF else None)
