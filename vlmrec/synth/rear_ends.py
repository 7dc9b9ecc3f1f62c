"""Scenarios in one lane: somebody brakes, stops, stands or loses a load, and is run into."""

import msgspec
import numpy as np

from vlmrec.synth.cast import BED, crash, ego_body, riding, stage, standing
from vlmrec.synth.draw import Draw
from vlmrec.synth.motion import Move, Phase, after_impact, drive, shifted, timed
from vlmrec.synth.plot import NONE, OTHER, SELF, Plot, draw_road, seen
from vlmrec.synth.story import road_facts
from vlmrec.synth.traffic import pick_body
from vlmrec.synth.world import BODIES, Item, Lamps, Track, Vehicle

GRAVITY = 9.81


def rear_end(draw: Draw, duration: float) -> Plot:
    """The counterpart ahead brakes hard, nearly or fully to a halt, and the ego runs into its rear."""
    road = draw_road(draw, lanes=(1, 2, 3, 4))
    lane = draw.pick("ego_lane", range(1, road.lanes + 1))
    body, own = pick_body(draw, "counterpart"), ego_body(draw)
    speed, contact = draw.real("speed_kmh", 35, 65) / 3.6, duration * draw.real("contact_share", 0.55, 0.75)
    hard, begins = draw.real("lead_brake", 5.2, 7.5), contact - draw.real("notice_s", 1.7, 2.4)
    late = draw.real("reaction_s", 0.9, 1.4)
    centre = road.lane_centre(lane)
    ego = drive(
        duration, s=0, d=centre + draw.noise(-0.15, 0.15), speed=speed, phases=[Phase(begins + late, contact, -4.5)]
    )
    other = drive(duration, s=0, d=centre + draw.noise(-0.2, 0.2), speed=speed, phases=[Phase(begins, duration, -hard)])
    other = shifted(other, s=ego.at(contact).s - other.at(contact).s + (own.length + body.length) / 2 - 0.03)
    closing = ego.at(contact).speed - other.at(contact).speed
    stopped = other.at(contact).speed < 0.4
    first = Vehicle(id="ego", body=own, track=after_impact(ego, contact, kick=-0.55 * closing, decel=7))
    second = Vehicle(id="e1", body=body, track=after_impact(other, contact, kick=0.5 * closing, decel=5))
    facts = {
        **seen("maneuver", OTHER, "straight", 0, contact),
        **seen("motion_at_contact", OTHER, "just_stopped" if stopped else "moving", contact - 1.0, contact),
        **seen("braking_manner", OTHER, "sudden", begins, contact),
        **seen("brake_lamps", OTHER, "working", begins, contact),
    }
    if stopped:
        facts |= seen("stop_place", OTHER, "in_lane", contact - 1.0, contact)
    return crash(
        draw,
        road,
        case="rear_end_lead",
        duration=duration,
        speed=speed,
        ego=first,
        other=second,
        contact=contact,
        facts=facts,
    )


def rear_end_struck(draw: Draw, duration: float) -> Plot:
    """The ego stops behind a queue, and somebody unseen runs into its rear."""
    road = draw_road(draw, lanes=(1, 2, 3, 4))
    lane = draw.pick("ego_lane", range(1, road.lanes + 1))
    body, own = pick_body(draw, "counterpart"), ego_body(draw)
    speed, contact = draw.real("speed_kmh", 30, 50) / 3.6, duration * draw.real("contact_share", 0.6, 0.75)
    gentle, halted = draw.noise(2.2, 3.0), contact - draw.real("stopped_s", 0.8, 2.0)
    centre = road.lane_centre(lane)
    ego = drive(duration, s=0, d=centre, speed=speed, phases=[Phase(halted - speed / gentle, duration, -gentle)])
    other = drive(
        duration, s=0, d=centre + draw.noise(-0.2, 0.2), speed=speed, phases=[Phase(contact - 0.5, contact, -4)]
    )
    other = shifted(other, s=ego.at(contact).s - other.at(contact).s - (own.length + body.length) / 2 + 0.03)
    queue, s = [], ego.at(contact).s + own.length / 2 + draw.noise(4.5, 6.5)
    for place in range(3):
        kind = pick_body(draw, f"queue_{place}", only=("sedan", "hatch", "suv", "van"))
        track = standing(duration, s + kind.length / 2, centre + draw.noise(-0.2, 0.2))
        queue.append(Vehicle(id="", body=kind, track=track, lamps=Lamps(brake=((0.0, duration),))))
        s += kind.length + draw.noise(1.8, 3.0)
    struck = after_impact(ego, contact, kick=draw.noise(2.2, 3.2), decel=3.2)
    first = Vehicle(id="ego", body=own, track=struck)
    second = Vehicle(id="e1", body=body, track=after_impact(other, contact, kick=-0.7 * speed, decel=6))
    facts = {
        **seen("lane_relation", NONE, "same_lane", contact, contact + 0.6, inferred=True),
        **seen("order", NONE, "self_ahead", contact, contact + 0.6, inferred=True),
        **seen("direction_relation", NONE, "same_direction", contact, contact + 0.6, inferred=True),
        **seen("maneuver", SELF, "stopped", halted, contact),
        **seen("motion_at_contact", SELF, "just_stopped", halted, contact),
        **seen("stop_place", SELF, "in_lane", halted, contact),
        **seen("stop_reason", SELF, "traffic_or_signal", halted - 2.0, contact),
        **seen("braking_manner", SELF, "normal", halted - speed / gentle, halted),
        **seen("hazard_lamps", OTHER, "off", 0, contact),
    }
    return crash(
        draw, road, case="rear_end_struck", duration=duration, speed=speed, ego=first, other=second, contact=contact,
        extras=tuple(queue), facts=facts,
    )  # fmt: skip


def parked(draw: Draw, duration: float) -> Plot:
    """The counterpart is parked at the edge of the road; the ego drifts over and hits it."""
    road = draw_road(draw, lanes=(1, 2, 3), parking=True)
    lane = road.lanes
    body, own = pick_body(draw, "counterpart", only=("sedan", "hatch", "suv", "van", "pickup")), ego_body(draw)
    speed, contact = draw.real("speed_kmh", 30, 55) / 3.6, duration * draw.real("contact_share", 0.55, 0.72)
    place = road.right_edge + road.shoulder / 2 - draw.noise(0.0, 0.15)
    drift = place - own.width / 2 - body.width / 2 + draw.noise(0.35, 0.7) - road.lane_centre(lane)
    braking = Phase(contact - 0.3, contact, -3.0)
    ego = drive(
        duration, s=0, d=road.lane_centre(lane), speed=speed, phases=[braking], moves=[Move(contact - 3.4, 3.2, drift)]
    )
    other = standing(duration, ego.at(contact).s + (own.length + body.length) / 2 - 0.05, place)
    row = []
    s = float(other.s[0])
    for number, way in enumerate((-1, 1, 1)):
        kind = pick_body(draw, f"row_{number}", only=("sedan", "hatch", "suv", "van"))
        s_here = s + way * (body.length / 2 + kind.length / 2 + draw.noise(1.2, 3.0) + 6.5 * (number == 2))
        row.append(Vehicle(id="", body=kind, track=standing(duration, s_here, place + draw.noise(-0.1, 0.1))))
    row = row[1:]
    first = Vehicle(id="ego", body=own, track=after_impact(ego, contact, kick=-0.65 * speed, decel=7, push=-0.35))
    second = Vehicle(
        id="e1", body=body, track=after_impact(other, contact, kick=min(3.0, 0.25 * speed), decel=5, push=0.15)
    )
    facts = {
        **seen("lane_relation", NONE, "lane_vs_roadside", 0, contact),
        **seen("maneuver", OTHER, "stopped", 0, contact),
        **seen("motion_at_contact", OTHER, "standing", 0, contact),
        **seen("stop_place", OTHER, "road_edge", 0, contact),
        **seen("stop_reason", OTHER, "parked_or_waiting", 0, contact),
        **seen("hazard_lamps", OTHER, "off", 0, contact),
        **seen("warning_sign", OTHER, "not_set_up", 0, contact),
        **seen("lane_occupied", OTHER, "not_at_all", 0, contact),
        **seen("parking_manner", OTHER, "proper", 0, contact),
    }
    return crash(
        draw, road, case="parked", duration=duration, speed=speed, ego=first, other=second, contact=contact,
        extras=tuple(row), facts=facts,
    )  # fmt: skip


def falling_load(draw: Draw, duration: float) -> Plot:
    """A box falls from the flatbed ahead, and the ego runs into it."""
    road = draw_road(draw, lanes=(1, 2, 3, 4))
    lane = draw.pick("ego_lane", range(1, road.lanes + 1))
    body, own = BODIES["pickup"], ego_body(draw)
    speed, contact = draw.real("speed_kmh", 40, 65) / 3.6, duration * draw.real("contact_share", 0.55, 0.72)
    gap, centre = draw.real("gap_m", 11, 17), road.lane_centre(lane)
    ego = drive(duration, s=0, d=centre, speed=speed, phases=[Phase(contact - 0.35, contact, -4)])
    truck = drive(duration, s=0, d=centre + draw.noise(-0.2, 0.2), speed=speed)
    truck = shifted(truck, s=gap + (own.length + body.length) / 2)
    other = Vehicle(id="e1", body=body, track=truck)
    size = (1.0, 1.0, draw.noise(0.7, 0.9))
    load = riding(other, "load", size)
    slide, side = draw.noise(5.0, 6.5), draw.noise(-0.3, 0.3)

    def tracks(x: float) -> tuple[Track, Track]:
        box = _dropped(load, contact - 2.2 + x, slide=slide, side=side)
        flat = Track(
            t=box.t, s=box.s, d=box.d, yaw=np.zeros_like(box.t), speed=np.zeros_like(box.t), accel=np.zeros_like(box.t)
        )
        return ego, flat

    crate = msgspec.structs.replace(own, length=size[1], width=size[0])
    _, shift = timed(tracks, (own, crate), contact)
    falls = contact - 2.2 + shift
    box = _pushed(_dropped(load, falls, slide=slide, side=side), contact, ego.at(contact).speed * 0.8)
    first = Vehicle(id="ego", body=own, track=after_impact(ego, contact, kick=-1.5, decel=6))
    scene = stage(draw, road, duration=duration, speed=speed, ego=first, other=other, items=(box,), contact=contact)
    facts = {
        **road_facts(road, duration),
        **seen("collision", NONE, "object_contact", contact - 0.5, contact + 0.7),
        **seen("direction_relation", NONE, "same_direction", 0, contact),
        **seen("place", NONE, "road_section", contact - 1.0, contact),
        **seen("lane_relation", NONE, "same_lane", falls - 1.0, falls),
        **seen("order", NONE, "other_ahead", falls - 1.0, falls),
        **seen("falling_object", NONE, "other_lost", falls, contact),
        **seen("congestion", NONE, "no", 0, contact),
        **seen("maneuver", SELF, "straight", 0, contact),
        **seen("maneuver", OTHER, "straight", 0, contact),
        **seen("overtaking", SELF, "none", 0, contact),
        **seen("overtaking", OTHER, "none", 0, contact),
        **seen("prior_stop_kind", SELF, "none", 0, contact),
        **seen("prior_stop_kind", OTHER, "none", 0, contact),
        **seen("motion_at_contact", SELF, "moving", contact - 0.5, contact),
        **seen("motion_at_contact", OTHER, "moving", contact - 0.5, contact),
        **seen("safety_zone", SELF, "not_crossed", 0, contact),
        **seen("safety_zone", OTHER, "not_crossed", 0, contact),
        **seen("bus_lane", SELF, "no", 0, contact),
        **seen("bus_lane", OTHER, "no", 0, contact),
    }
    return Plot(case="falling_load", scene=scene, facts=facts)


def _dropped(load: Item, falls: float, *, slide: float, side: float) -> Item:
    """The load's way after it leaves the bed: a fall, then a slide that stops it."""
    i = int(np.searchsorted(load.t, falls))
    tau = np.maximum(0.0, load.t - load.t[min(i, len(load.t) - 1)])
    v = float(np.gradient(load.s, load.t)[min(i, len(load.t) - 1)])
    back = 1.3 * np.clip(tau / 0.3, 0, 1)
    landing = (2 * BED / GRAVITY) ** 0.5
    sliding = np.maximum(0.0, tau - landing)
    stop = v / slide
    went = np.where(sliding < stop, v * sliding - slide * sliding**2 / 2, v * stop / 2)
    s = np.where(tau > 0, load.s[i] - back + v * np.minimum(tau, landing) + went, load.s)
    z = np.maximum(0.0, load.z - GRAVITY * tau**2 / 2)
    tumble = np.where(tau > 0, np.minimum(tau, 0.5) * np.pi, 0.0)
    d = load.d[i] + side * np.clip(tau / 1.5, 0, 1)
    d = np.where(tau > 0, d, load.d)
    return msgspec.structs.replace(load, s=s, z=z, tumble=tumble, d=d)


def _pushed(box: Item, contact: float, speed: float) -> Item:
    """The box is shoved along after the ego has hit it."""
    i = int(np.searchsorted(box.t, contact))
    tau = np.maximum(0.0, box.t - box.t[i])
    stop = speed / 5.0
    went = np.where(tau < stop, speed * tau - 2.5 * tau**2, speed * stop / 2)
    return msgspec.structs.replace(box, s=np.where(tau > 0, box.s[i] + went, box.s))
