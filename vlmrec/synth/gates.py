"""Scenarios outside the chapter: oncoming over the centre line, crossing traffic, no collision at all."""

import math

import msgspec
import numpy as np

from vlmrec.synth.cast import ego_body, stage
from vlmrec.synth.draw import Draw
from vlmrec.synth.motion import STEP, Move, Phase, after_impact, drive, first_contact, reversed_way, shifted
from vlmrec.synth.plot import NONE, OTHER, SELF, Facts, Plot, draw_road, seen
from vlmrec.synth.story import contact_area, road_facts
from vlmrec.synth.traffic import pick_body
from vlmrec.synth.world import Road, Track, Vehicle


def oncoming(draw: Draw, duration: float) -> Plot:
    """The counterpart comes the other way, drifts over the centre line and meets the ego."""
    road = draw_road(draw, lanes=(1, 2, 3), median=False)
    body, own = pick_body(draw, "counterpart"), ego_body(draw)
    speed, contact = draw.real("speed_kmh", 35, 60) / 3.6, duration * draw.real("contact_share", 0.6, 0.75)
    takes, theirs = draw.real("lane_change_s", 1.6, 2.6), speed * draw.noise(0.85, 1.1)
    begins = contact - takes * draw.noise(0.85, 1.0)
    shift = road.lane_centre(1) - road.lane_centre(0) - draw.noise(0.3, 0.9)
    ego = drive(duration, s=0, d=road.lane_centre(1), speed=speed, phases=[Phase(contact - 0.5, contact, -6)])
    way = drive(duration, s=0, d=road.lane_centre(0), speed=theirs, moves=[Move(begins, takes, shift)])
    meet = ego.at(contact).s + (own.length + body.length) / 2 - 0.1
    way = shifted(way, s=meet + (way.at(contact).s - way.s[0]) - way.s[0])
    found = first_contact(ego, own, reversed_way(way), body) or contact
    hit = after_impact(way, found, kick=-0.95 * theirs, decel=5, turn=draw.noise(-0.25, 0.25))
    first = Vehicle(
        id="ego", body=own, track=after_impact(ego, found, kick=-0.95 * ego.at(found).speed, decel=6, push=0.2)
    )
    second = Vehicle(id="e1", body=body, track=reversed_way(hit))
    scene = stage(draw, road, duration=duration, speed=speed, ego=first, other=second, contact=found)
    facts = {
        **_meeting(road, first, second, found, duration, "oncoming", "road_section"),
        **seen("maneuver", OTHER, "lane_change", begins, found),
        **seen("lane_change_direction", OTHER, "left", begins, found),
        **seen("target_lane_relation", OTHER, "rivals_lane", begins, found),
        **seen("centre_line_crossed", OTHER, "yes", begins, found),
        **seen("lane_line", OTHER, "none", begins, found),
        **seen("first_to_move", NONE, "other_first", begins, found),
    }
    return Plot(case="oncoming", scene=scene, facts=facts)


def crossing(draw: Draw, duration: float) -> Plot:
    """At a junction without signals the counterpart crosses from the side and meets the ego."""
    road = draw_road(draw, lanes=(1, 2), median=False)
    lane = draw.pick("ego_lane", range(1, road.lanes + 1))
    body, own = pick_body(draw, "counterpart"), ego_body(draw)
    speed, contact = draw.real("speed_kmh", 30, 50) / 3.6, duration * draw.real("contact_share", 0.58, 0.72)
    theirs = draw.real("crossing_kmh", 25, 40) / 3.6
    from_left = draw.chance("from_left", 0.5)
    way = 1 if from_left else -1
    ego = drive(duration, s=0, d=road.lane_centre(lane), speed=speed, phases=[Phase(contact - 0.4, contact, -6)])
    meet = ego.at(contact).s + own.length / 2 + body.width / 2 - 0.05
    place = meet - way * 1.8
    road = msgspec.structs.replace(road, crossing=place, bend=0.0)
    there = road.lane_centre(lane) - way * draw.noise(-1.0, 1.2)
    run = theirs * (np.arange(0, duration + STEP * 1.5, STEP) - contact)
    track = _across(meet, there + way * run, way, theirs)
    found = first_contact(ego, own, track, body) or contact
    first = Vehicle(id="ego", body=own, track=after_impact(ego, found, kick=-0.85 * ego.at(found).speed, decel=6))
    second = Vehicle(id="e1", body=body, track=_knocked(track, found, way, theirs, draw.noise(0.8, 1.6)))
    scene = stage(draw, road, duration=duration, speed=speed, ego=first, other=second, contact=found)
    facts = {
        **_meeting(road, first, second, found, duration, "crossing", "other_intersection"),
        **seen("maneuver", OTHER, "straight", found - 2.0, found),
    }
    return Plot(case="crossing", scene=scene, facts=facts)


def no_collision(draw: Draw, duration: float) -> Plot:
    """Ordinary driving; somebody may change lane ahead or brake, but nobody touches the ego."""
    road = draw_road(draw, lanes=(2, 3, 4))
    lane = draw.pick("ego_lane", range(1, road.lanes + 1))
    own, body = ego_body(draw), pick_body(draw, "neighbour")
    speed = draw.real("speed_kmh", 35, 65) / 3.6
    event, at = draw.pick("event", ("lane_change", "braking", "nothing")), duration * draw.real("event_share", 0.4, 0.6)
    beside = lane - 1 if lane > 1 else lane + 1
    slowing = [Phase(at + 1.0, at + 2.4, -2.5)] if event != "nothing" else []
    ego = drive(duration, s=0, d=road.lane_centre(lane), speed=speed, phases=slowing)
    if event == "lane_change":
        other = drive(
            duration, s=14 + own.length, d=road.lane_centre(beside), speed=speed * 0.97,
            moves=[Move(at, draw.real("lane_change_s", 1.8, 3.4), (lane - beside) * road.lane_width)],
        )  # fmt: skip
    else:
        braking = [Phase(at, at + 1.6, -3.0)] if event == "braking" else []
        other = drive(duration, s=20 + own.length, d=road.lane_centre(lane), speed=speed, phases=braking)
    first, second = Vehicle(id="ego", body=own, track=ego), Vehicle(id="", body=body, track=other)
    scene = stage(draw, road, duration=duration, speed=speed, ego=first, extras=(second,))
    facts = {
        **road_facts(road, duration),
        **seen("collision", NONE, "no_contact", 0, duration),
        **seen("maneuver", SELF, "straight", 0, duration),
        **seen("bus_lane", SELF, "no", 0, duration),
        **seen("safety_zone", SELF, "not_crossed", 0, duration),
        **seen("congestion", NONE, "no", 0, duration),
    }
    return Plot(case="no_collision", scene=scene, facts=facts)


def _meeting(
    road: Road, ego: Vehicle, other: Vehicle, contact: float, duration: float, direction: str, place: str
) -> Facts:
    return {
        **road_facts(road, duration),
        **seen("collision", NONE, "vehicle_contact", contact - 0.5, contact + 0.7),
        **seen("direction_relation", NONE, direction, contact - 2.0, contact),
        **seen("place", NONE, place, contact - 1.0, contact),
        **seen("congestion", NONE, "no", 0, contact),
        **seen("maneuver", SELF, "straight", 0, contact),
        **seen("motion_at_contact", SELF, "moving", contact - 0.5, contact),
        **seen("motion_at_contact", OTHER, "moving", contact - 0.5, contact),
        **seen("prior_stop_kind", SELF, "none", 0, contact),
        **seen("safety_zone", SELF, "not_crossed", 0, contact),
        **seen("bus_lane", SELF, "no", 0, contact),
        **seen("contact_area", SELF, contact_area(ego, other, contact), contact - 0.3, contact + 0.3),
        **seen("contact_area", OTHER, contact_area(other, ego, contact), contact - 0.3, contact + 0.3),
    }


def _across(s: float, d: np.ndarray, way: int, speed: float) -> Track:
    t = np.asarray(np.arange(len(d)) * STEP, np.float64)
    flat = np.zeros_like(t)
    return Track(t=t, s=np.full_like(t, s), d=d, yaw=flat + way * math.pi / 2, speed=flat + speed, accel=flat)


def _knocked(track: Track, contact: float, way: int, speed: float, along: float) -> Track:
    """A crossing vehicle after the ego has hit its flank: it turns a little, is pushed on, and stops."""
    i = int(np.searchsorted(track.t, contact))
    tau = np.maximum(0.0, track.t - track.t[i])
    left = 0.55 * speed
    stop = left / 4.5
    went = np.where(tau < stop, left * tau - 2.25 * tau**2, left * stop / 2)
    settled = 1 - np.exp(-tau / 0.4)
    after = tau > 0
    return msgspec.structs.replace(
        track,
        d=np.where(after, track.d[i] + way * went, track.d),
        s=track.s + along * settled,
        yaw=track.yaw - way * 0.3 * settled,
        speed=np.where(after, np.maximum(0.0, left - 4.5 * tau), track.speed),
        accel=np.where(after & (tau < stop), -4.5, 0.0),
    )
