"""The facts that follow from the tracks alone: lanes, order, contact areas, who moved over and how.

Scenarios add what only they know. Nothing here asks what chart a scene belongs to.
"""

import math
from typing import Literal

import numpy as np
from msgspec import Struct

from vlmrec.synth.plot import NONE, OTHER, SELF, Facts, seen
from vlmrec.synth.world import Body, Line, Pose, Road, Track, Vehicle
from vlmrec.terms import Party

Side = Literal["left", "right"]
STANDING = 0.4
SUDDEN = -5.0
BESIDE = 0.75
"""Vehicles whose middles are closer along the road than this share of their mean length are side by side."""


class Act(Struct, frozen=True, kw_only=True):
    """A move into another lane. ``lane`` is the lane it leads to."""

    begins: float
    takes: float
    side: Side
    target: Literal["rivals_lane", "common_lane", "shoulder", "elsewhere"]
    signal: Literal["in_time", "late", "none"]
    line: Line | None
    lane_ends: bool = False
    crosses_centre: bool = False


Acts = dict[Party, Act]


def road_facts(road: Road, duration: float) -> Facts:
    """What the road itself shows, whoever drives on it."""
    count = "one" if road.lanes == 1 else "two" if road.lanes == 2 else "three_or_more"
    dashed = road.centre is Line.DASHED_YELLOW
    centre = "barrier" if road.median else "dashed_yellow" if dashed else "solid_yellow"
    return {
        **seen("road_class", NONE, "ordinary", 0, duration),
        **seen("lanes_per_direction", NONE, count, 0, duration),
        **seen("centre_line", NONE, centre, 0, duration),
    }


def collision_facts(road: Road, ego: Vehicle, other: Vehicle, contact: float, acts: Acts) -> Facts:
    """What holds of any collision of two vehicles that travel the same way, given who moved over."""
    first = min((act.begins for act in acts.values()), default=contact - 1.0)
    facts: Facts = {
        **seen("collision", NONE, "vehicle_contact", contact - 0.5, contact + 0.7),
        **seen("direction_relation", NONE, "same_direction", first - 1.5, contact),
        **seen("place", NONE, "road_section", contact - 1.0, contact),
        **seen("lane_relation", NONE, _lane_relation(road, ego, other, first), first - 1.0, first),
        **seen("order", NONE, _order(ego, other, first), first - 1.0, first),
        **seen("congestion", NONE, "no", 0, contact),
    }
    for party, vehicle, rival in ((SELF, ego, other), (OTHER, other, ego)):
        facts |= _motion(party, vehicle, rival, contact, party in acts)
        if party in acts:
            facts |= _act(party, acts[party], contact)
    if len(acts) == 2:
        mine, theirs = acts[SELF], acts[OTHER]
        same = "same_side" if mine.side == theirs.side else "opposite_sides"
        facts |= seen("change_direction_relation", NONE, same, max(mine.begins, theirs.begins), contact)
    if acts:
        facts |= seen("first_to_move", NONE, _first(acts), first, first + 1.0)
    return facts


def _motion(party: Party, vehicle: Vehicle, rival: Vehicle, contact: float, moves_over: bool) -> Facts:
    track = vehicle.track
    speed = track.at(contact - 0.05).speed
    facts: Facts = {
        **seen("overtaking", party, "none", 0, contact),
        **seen("safety_zone", party, "not_crossed", max(0.0, contact - 4.0), contact),
        **seen("bus_lane", party, "no", 0, contact),
        **seen("contact_area", party, contact_area(vehicle, rival, contact), contact - 0.3, contact + 0.3),
    }
    if not moves_over:
        facts |= seen("maneuver", party, "straight" if speed > STANDING else "stopped", contact - 3.0, contact)
    if float(np.min(track.speed[track.t < contact])) > STANDING:
        facts |= seen("prior_stop_kind", party, "none", 0, contact)
        facts |= seen("motion_at_contact", party, "moving", contact - 0.5, contact)
        facts |= seen("driving_slow", party, "no", 0, contact)
        facts |= _braking(party, track, contact)
    return facts


def _braking(party: Party, track: Track, contact: float) -> Facts:
    before = (track.t < contact - 0.1) & (track.accel < SUDDEN)
    if not before.any():
        return seen("braking_manner", party, "normal", contact - 3.0, contact)
    begins = float(track.t[np.argmax(before)])
    return seen("braking_manner", party, "sudden", begins, contact)


def _act(party: Party, act: Act, contact: float) -> Facts:
    end = min(contact, act.begins + act.takes)
    line = {Line.DASHED_WHITE: "dashed_white", Line.SOLID_WHITE: "solid_white"}.get(
        act.line or Line.SOLID_YELLOW, "none"
    )
    facts: Facts = {
        **seen("maneuver", party, "lane_change", act.begins, end),
        **seen("lane_change_direction", party, act.side, act.begins, end),
        **seen("target_lane_relation", party, act.target, act.begins, end),
        **seen("lane_ends", party, "yes" if act.lane_ends else "no", act.begins - 1.5, end),
        **seen("centre_line_crossed", party, "yes" if act.crosses_centre else "no", act.begins, end),
        **seen("lane_line", party, line, act.begins, end),
        **seen("consecutive_lane_changes", party, "no", act.begins, end),
    }
    if party is OTHER:  # the ego's own lamps are behind the camera
        facts |= seen("turn_signal", party, act.signal, act.begins - 3.0, end)
    return facts


def _first(acts: Acts) -> str:
    if len(acts) == 1:
        return "self_first" if SELF in acts else "other_first"
    lead = acts[OTHER].begins - acts[SELF].begins
    return "together" if abs(lead) < 0.5 else "self_first" if lead > 0 else "other_first"


def _lane_relation(road: Road, ego: Vehicle, other: Vehicle, time: float) -> str:
    mine, theirs = (road.lane_of(vehicle.track.at(time - 0.1).d) for vehicle in (ego, other))
    if theirs > road.lanes:
        return "lane_vs_roadside"
    return {0: "same_lane", 1: "adjacent_lane"}.get(abs(mine - theirs), "two_lanes_apart")


def _order(ego: Vehicle, other: Vehicle, time: float) -> str:
    lead = other.track.at(time).s - ego.track.at(time).s
    if abs(lead) < BESIDE * (ego.body.length + other.body.length) / 2:
        return "side_by_side"
    return "other_ahead" if lead > 0 else "self_ahead"


def contact_area(vehicle: Vehicle, rival: Vehicle, contact: float) -> str:
    """Which part of ``vehicle`` the other one touches, from the overlap of their outlines just after contact."""
    mine, theirs = vehicle.track.at(contact), rival.track.at(contact)
    inside = [point for point in _grid(rival.body, theirs) if _is_inside(point, vehicle.body, mine)]
    inside += [point for point in _grid(vehicle.body, mine) if _is_inside(point, rival.body, theirs)]
    if not inside:
        corner = min(_grid(rival.body, theirs), key=lambda point: _outside(point, vehicle.body, mine))
        inside = [corner]
    local = np.array([_local(point, mine) for point in inside])
    along, across = local[:, 0], local[:, 1]
    half_l, half_w = vehicle.body.length / 2, vehicle.body.width / 2
    middle = float(np.mean(along))
    width = float(np.ptp(across)) / (2 * half_w)
    end = "front" if middle > 0 else "rear"
    if half_l - abs(middle) > 0.55:
        return "side"
    off = abs(float(np.mean(across))) / half_w
    return end if width > 0.4 or off < 0.45 else f"{end}_corner"


def _grid(body: Body, pose: Pose) -> list[tuple[float, float]]:
    half_l, half_w = body.length / 2 + 0.06, body.width / 2 + 0.06
    edge = [(u * half_l, v * half_w) for u in np.linspace(-1, 1, 41) for v in np.linspace(-1, 1, 21)]
    cos, sin = math.cos(pose.yaw), math.sin(pose.yaw)
    return [(pose.s + u * cos - v * sin, pose.d + u * sin + v * cos) for u, v in edge]


def _local(point: tuple[float, float], pose: Pose) -> tuple[float, float]:
    s, d = point[0] - pose.s, point[1] - pose.d
    cos, sin = math.cos(pose.yaw), math.sin(pose.yaw)
    return (s * cos + d * sin, d * cos - s * sin)


def _outside(point: tuple[float, float], body: Body, pose: Pose) -> float:
    along, across = _local(point, pose)
    return max(abs(along) - body.length / 2, abs(across) - body.width / 2)


def _is_inside(point: tuple[float, float], body: Body, pose: Pose) -> bool:
    return _outside(point, body, pose) <= 0.06
