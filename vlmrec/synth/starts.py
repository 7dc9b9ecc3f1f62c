"""Scenarios in which a standing vehicle sets off: from the roadside, out of a queue."""

import msgspec

from vlmrec.synth.cast import crash, ego_body, indicator, line_between, standing
from vlmrec.synth.draw import Draw
from vlmrec.synth.motion import Move, Phase, after_impact, drive, shifted, timed
from vlmrec.synth.plot import NONE, OTHER, SELF, Plot, draw_road, seen
from vlmrec.synth.story import Act, Side
from vlmrec.synth.traffic import pick_body
from vlmrec.synth.world import Lamps, Track, Vehicle


def start_roadside(draw: Draw, duration: float) -> Plot:
    """The counterpart stands at the edge of the road, sets off into the ego's lane as the ego passes, and they touch."""
    road = draw_road(draw, lanes=(1, 2, 3), parking=True)
    lane = road.lanes
    body, own = pick_body(draw, "counterpart", only=("sedan", "hatch", "suv", "van", "pickup")), ego_body(draw)
    speed, contact = draw.real("speed_kmh", 32, 52) / 3.6, duration * draw.real("contact_share", 0.55, 0.72)
    place = road.right_edge + road.shoulder / 2 - draw.noise(0.0, 0.15)
    takes, eager, lead = draw.real("lane_change_s", 2.4, 3.4), draw.noise(1.6, 2.4), draw.noise(2.2, 3.6)
    braking = Phase(contact - draw.noise(0.1, 0.5), contact, -5)

    def tracks(x: float) -> tuple[Track, Track]:
        begins = contact - 0.6 * takes + x
        ego = drive(duration, s=0, d=road.lane_centre(lane), speed=speed, phases=[braking])
        other = drive(
            duration, s=0, d=place, speed=0.0, phases=[Phase(begins - 0.3, duration, eager)],
            moves=[Move(begins, takes, road.lane_centre(lane) - place)],
        )  # fmt: skip
        return ego, shifted(other, s=ego.at(contact).s - other.at(contact).s + lead)

    (ego, other), shift = timed(tracks, (own, body), contact)
    begins = contact - 0.6 * takes + shift
    lamps, signal = indicator(draw, begins, takes, "left")
    first = Vehicle(
        id="ego",
        body=own,
        track=after_impact(ego, contact, kick=-0.35 * speed, decel=6.5, push=-0.9, turn=-0.03, settle=0.3),
    )
    second = Vehicle(
        id="e1",
        body=body,
        track=after_impact(other, contact, kick=2.0, decel=3.5, push=0.9, turn=0.05, settle=0.3),
        lamps=lamps,
    )
    act = Act(begins=begins, takes=takes, side="left", target="rivals_lane", signal=signal, line=None)
    facts = {
        **seen("overtaking", SELF, "passing", begins - 1.0, contact),
        **seen("overtaking_side", SELF, "left", begins - 1.0, contact),
        **seen("centre_line_crossed", SELF, "no", begins - 1.0, contact),
        **seen("order", NONE, "other_ahead", 0, begins),
        **seen("lane_relation", NONE, "lane_vs_roadside", 0, begins),
        **seen("no_overtaking_place", NONE, "no", 0, contact),
        **seen("hazardous_place", NONE, "no", 0, contact),
        **seen("prior_stop_kind", OTHER, "standing", 0, begins),
        **seen("motion_at_contact", OTHER, "moving_off", begins, contact),
        **seen("stop_place", OTHER, "road_edge", 0, begins),
        **seen("stop_reason", OTHER, "parked_or_waiting", 0, begins),
    }
    return crash(
        draw, road, case="start_roadside", duration=duration, speed=speed, ego=first, other=second, contact=contact,
        acts={OTHER: act}, facts=facts,
    )  # fmt: skip


def queue_pull_out(draw: Draw, duration: float) -> Plot:
    """The counterpart waits in a queue in the next lane and swings out of it into the side of the passing ego."""
    road = draw_road(draw, lanes=(2, 3))
    lane = draw.pick("ego_lane", range(1, road.lanes + 1))
    side: Side = draw.pick("side", ("left", "right"))
    beside = lane - 1 if (side == "right" and lane > 1) or lane == road.lanes else lane + 1
    side = "right" if beside < lane else "left"
    way = 1 if side == "right" else -1
    body, own = pick_body(draw, "counterpart", only=("sedan", "hatch", "suv", "van")), ego_body(draw)
    speed, contact = draw.real("speed_kmh", 28, 45) / 3.6, duration * draw.real("contact_share", 0.6, 0.75)
    takes, eager, lead = draw.real("lane_change_s", 1.8, 2.4), draw.noise(2.4, 3.0), draw.noise(-1.6, -0.6)

    def tracks(x: float) -> tuple[Track, Track]:
        begins = contact - 0.6 * takes + x
        ego = drive(duration, s=0, d=road.lane_centre(lane), speed=speed)
        other = drive(
            duration, s=0, d=road.lane_centre(beside), speed=0.0, phases=[Phase(begins - 0.2, duration, eager)],
            moves=[Move(begins, takes, way * road.lane_width)],
        )  # fmt: skip
        return ego, shifted(other, s=ego.at(contact).s - other.at(contact).s + lead)

    (ego, other), shift = timed(tracks, (own, body), contact)
    begins = contact - 0.6 * takes + shift
    start, queue = float(other.s[0]), []
    ahead, behind = start + body.length / 2 + draw.noise(3.6, 4.4), start - body.length / 2 - draw.noise(1.6, 2.4)
    for place in range(5):
        kind = pick_body(draw, f"queue_{place}", only=("sedan", "hatch", "suv", "van"))
        if place < 3:
            s, ahead = ahead + kind.length / 2, ahead + kind.length + draw.noise(1.8, 2.8)
        else:
            s, behind = behind - kind.length / 2, behind - kind.length - draw.noise(1.8, 2.8)
        track = standing(duration, s, road.lane_centre(beside) + draw.noise(-0.15, 0.15))
        queue.append(Vehicle(id="", body=kind, track=track, lamps=Lamps(brake=((0.0, duration),))))
    lamps, signal = indicator(draw, begins, takes, side)
    lamps = msgspec.structs.replace(lamps, brake=((0.0, begins - 0.2),))
    first = Vehicle(id="ego", body=own, track=after_impact(ego, contact, decel=6.0, push=way * 0.4, turn=way * 0.03))
    second = Vehicle(
        id="e1", body=body, track=after_impact(other, contact, kick=0.4, decel=5, push=-way * 0.2), lamps=lamps
    )
    act = Act(
        begins=begins,
        takes=takes,
        side=side,
        target="rivals_lane",
        signal=signal,
        line=line_between(road, lane, beside),
    )
    facts = {
        **seen("prior_stop_kind", OTHER, "queue", 0, begins),
        **seen("order", NONE, "other_ahead", begins - 1.0, begins),
        **seen("congestion", NONE, "yes", 0, contact),
        **seen("contact_area", OTHER, "front_corner", contact - 0.6, contact),
        **seen("stop_place", OTHER, "in_lane", 0, begins),
        **seen("motion_at_contact", OTHER, "moving", begins, contact),
    }
    return crash(
        draw, road, case="queue_pull_out", duration=duration, speed=speed, ego=first, other=second, contact=contact,
        acts={OTHER: act}, extras=tuple(queue), facts=facts,
    )  # fmt: skip
