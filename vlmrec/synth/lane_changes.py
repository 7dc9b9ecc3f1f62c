"""Scenarios in which somebody changes lane: the counterpart, the ego, both, because a lane ends, past a safety zone."""

from typing import Literal, NamedTuple

import msgspec

from vlmrec.synth.cast import crash, ego_body, indicator, line_between
from vlmrec.synth.draw import Draw
from vlmrec.synth.motion import Move, Phase, after_impact, drive, first_contact, shifted, timed
from vlmrec.synth.plot import OTHER, SELF, Facts, Plot, draw_road, seen
from vlmrec.synth.story import Act, Side
from vlmrec.synth.traffic import keeps_clear, pick_body
from vlmrec.synth.world import Line, Road, Span, Track, Vehicle


def lane_change_from_left(draw: Draw, duration: float) -> Plot:
    """The counterpart, ahead in the lane on the left, changes into the ego's lane and is hit from behind."""
    road = draw_road(draw)
    return _cut_in(draw, duration, road, draw.pick("ego_lane", range(2, road.lanes + 1)), "right")


def lane_change_from_right(draw: Draw, duration: float) -> Plot:
    """The counterpart, ahead in the lane on the right, changes into the ego's lane and is hit from behind."""
    road = draw_road(draw)
    return _cut_in(draw, duration, road, draw.pick("ego_lane", range(1, road.lanes)), "left")


def busy_lane_change(draw: Draw, duration: float) -> Plot:
    """Among many vehicles, one of which changes lane harmlessly, another changes into the ego's lane and is hit."""
    road = draw_road(draw, lanes=(3, 4))
    lane = draw.pick("ego_lane", range(1, road.lanes))
    plan = _cut_in_motion(draw, duration, road, lane, "left")
    decoy_lane = draw.pick("decoy_lane", [each for each in range(1, road.lanes + 1) if each != lane])
    to = decoy_lane - 1 if decoy_lane > 1 and decoy_lane - 1 != lane else decoy_lane + 1
    to = to if 1 <= to <= road.lanes and to != lane else decoy_lane
    far = draw.noise(26, 40)
    decoy = drive(
        duration, s=far, d=road.lane_centre(decoy_lane), speed=plan.speed * 1.12,
        moves=[Move(draw.noise(1.0, 2.5), 2.4, (to - decoy_lane) * road.lane_width)],
    )  # fmt: skip
    extras: list[Vehicle] = []
    for slot in range(8):
        side = draw.pick(f"filler_{slot}", [each for each in range(1, road.lanes + 1) if each != lane])
        pace = plan.speed * draw.noise(0.95, 1.1)
        track = drive(duration, s=8.0 + 13 * slot + draw.noise(0, 5), d=road.lane_centre(side), speed=pace)
        extras.append(Vehicle(id="", body=pick_body(draw, f"filler_body_{slot}"), track=track))
    extras.append(Vehicle(id="", body=pick_body(draw, "decoy_body"), track=decoy))
    return _cut_in_plot(draw, duration, road, plan, extras=_clear_of(plan, extras))


def lane_ends(draw: Draw, duration: float) -> Plot:
    """The counterpart's lane, the rightmost, ends; it merges into the ego's lane and is hit."""
    road = draw_road(draw, lanes=(2, 3), divider=Line.DASHED_WHITE)
    plan = _cut_in_motion(draw, duration, road, road.lanes - 1, "left")
    begins = plan.other.track.at(plan.act.begins).s
    ends = plan.other.track.at(plan.contact).s + draw.noise(12, 20)
    taper = Span(lane=road.lanes, start=max(begins - draw.noise(2, 8), ends - 60), end=ends)
    road = msgspec.structs.replace(road, lane_end=taper)
    plan = plan._replace(act=msgspec.structs.replace(plan.act, lane_ends=True))
    return _cut_in_plot(draw, duration, road, plan, case="lane_ends")


def safety_zone(draw: Draw, duration: float) -> Plot:
    """The ego runs straight over a hatched zone; the counterpart ahead changes into that lane beyond it and is hit."""
    road = draw_road(draw, lanes=(2, 3))
    clear = draw.chance("clear_of_zone", 0.5)
    plan = _cut_in_motion(draw, duration, road, 1, "left")
    here = plan.ego.track.at(plan.contact).s
    end = here - draw.noise(16, 24) if clear else here + draw.noise(-2.5, 1.0)
    zone = Span(lane=1, start=end - draw.real("zone_m", 28, 42), end=end)
    road = msgspec.structs.replace(road, safety_zone=zone)
    crossed = plan.contact - (here - zone.start) / max(plan.speed, 5.0)
    value = "fully_left" if clear else "inside_or_at_edge"
    facts = seen("safety_zone", SELF, value, crossed, plan.contact)
    return _cut_in_plot(draw, duration, road, plan, case="zone_clear" if clear else "zone_edge", facts=facts)


def ego_lane_change(draw: Draw, duration: float) -> Plot:
    """The ego changes lane beside the counterpart, which goes straight in the lane it moves into."""
    road = draw_road(draw)
    lane = draw.pick("ego_lane", range(1, road.lanes + 1))
    side: Side = draw.pick("side", ("left", "right"))
    side = "right" if lane == 1 else "left" if lane == road.lanes else side
    to = lane + (1 if side == "right" else -1)
    body, own = pick_body(draw, "counterpart"), ego_body(draw)
    speed, contact = draw.real("speed_kmh", 38, 70) / 3.6, duration * draw.real("contact_share", 0.55, 0.72)
    takes, gain, lead = draw.real("lane_change_s", 2.0, 3.6), draw.noise(0.3, 0.7), draw.noise(0.2, 1.1)

    def tracks(x: float) -> tuple[Track, Track]:
        move = Move(contact - 0.62 * takes + x, takes, (to - lane) * road.lane_width)
        ego = drive(duration, s=0, d=road.lane_centre(lane), speed=speed, moves=[move])
        other = drive(duration, s=0, d=road.lane_centre(to) + off, speed=speed - gain)
        return ego, shifted(other, s=ego.at(contact).s - other.at(contact).s + lead)

    off = draw.noise(-0.1, 0.1)
    (ego, other), shift = timed(tracks, (own, body), contact)
    begins = contact - 0.62 * takes + shift
    lamps, signal = indicator(draw, begins, takes, side)
    ego, other = _sideswipe(draw, ego, other, contact, side)
    act = Act(
        begins=begins, takes=takes, side=side, target="rivals_lane", signal=signal, line=line_between(road, lane, to)
    )
    return crash(
        draw, road, case="ego_change", duration=duration, speed=speed, contact=contact, acts={SELF: act},
        ego=Vehicle(id="ego", body=own, track=ego, lamps=lamps), other=Vehicle(id="e1", body=body, track=other),
    )  # fmt: skip


def both_change(draw: Draw, duration: float) -> Plot:
    """The ego and the counterpart, two lanes apart, change into the lane between them and touch."""
    road = draw_road(draw, lanes=(3, 4))
    right = draw.chance("ego_on_the_right", 0.5)
    lane = draw.pick("ego_lane", range(3, road.lanes + 1) if right else range(1, road.lanes - 1))
    step = -1 if right else 1
    body, own = pick_body(draw, "counterpart"), ego_body(draw)
    speed, contact = draw.real("speed_kmh", 38, 70) / 3.6, duration * draw.real("contact_share", 0.55, 0.72)
    takes, theirs, later = draw.real("lane_change_s", 2.2, 3.4), draw.noise(2.2, 3.4), draw.noise(-0.7, 0.7)
    lead, gain = draw.noise(1.6, 3.2), draw.noise(0.8, 2.0)

    def tracks(x: float) -> tuple[Track, Track]:
        begins = contact - 0.7 * takes + x
        ego = drive(
            duration, s=0, d=road.lane_centre(lane), speed=speed, moves=[Move(begins, takes, step * road.lane_width)]
        )
        other = drive(
            duration, s=0, d=road.lane_centre(lane + 2 * step), speed=speed - gain,
            moves=[Move(begins + later, theirs, -step * road.lane_width)],
        )  # fmt: skip
        return ego, shifted(other, s=ego.at(contact).s - other.at(contact).s + lead)

    (ego, other), shift = timed(tracks, (own, body), contact)
    begins = contact - 0.7 * takes + shift
    mine: Side = "left" if right else "right"
    other_side: Side = "right" if right else "left"
    lamps, signal = indicator(draw, begins + later, theirs, other_side)
    ego, other = _sideswipe(draw, ego, other, contact, mine)
    middle = lane + step
    acts = {
        SELF: Act(begins=begins, takes=takes, side=mine, target="common_lane", signal="none", line=line_between(road, lane, middle)),
        OTHER: Act(
            begins=begins + later, takes=theirs, side=other_side, target="common_lane", signal=signal,
            line=line_between(road, middle, lane + 2 * step),
        ),
    }  # fmt: skip
    return crash(
        draw, road, case="both_ego_right" if right else "both_ego_left", duration=duration, speed=speed, contact=contact, acts=acts,
        ego=Vehicle(id="ego", body=own, track=ego), other=Vehicle(id="e1", body=body, track=other, lamps=lamps),
    )  # fmt: skip


class _CutIn(NamedTuple):
    ego: Vehicle
    other: Vehicle
    act: Act
    contact: float
    speed: float


def _cut_in(draw: Draw, duration: float, road: Road, lane: int, side: Side) -> Plot:
    return _cut_in_plot(draw, duration, road, _cut_in_motion(draw, duration, road, lane, side))


def _cut_in_plot(
    draw: Draw, duration: float, road: Road, plan: _CutIn, *,
    case: str = "cut_in", extras: tuple[Vehicle, ...] = (), facts: Facts | None = None,
) -> Plot:  # fmt: skip
    return crash(
        draw, road, case=case, duration=duration, speed=plan.speed, ego=plan.ego, other=plan.other, contact=plan.contact,
        acts={OTHER: plan.act}, extras=extras, facts=facts,
    )  # fmt: skip


def _cut_in_motion(draw: Draw, duration: float, road: Road, lane: int, side: Side) -> _CutIn:
    """The counterpart moves to ``side`` into the ego's lane, a little slower than the ego, and is caught up with."""
    body, own = pick_body(draw, "counterpart"), ego_body(draw)
    speed, contact = draw.real("speed_kmh", 38, 70) / 3.6, duration * draw.real("contact_share", 0.52, 0.72)
    slower, takes = draw.real("closing_ms", 2.5, 5.0), draw.real("lane_change_s", 1.2, 3.6)
    begins = contact - takes * draw.noise(0.62, 0.85)
    from_lane, shift = (lane - 1, road.lane_width) if side == "right" else (lane + 1, -road.lane_width)
    braking = Phase(contact - draw.noise(0.0, 0.45), contact, -draw.noise(2, 4))
    ego = drive(duration, s=0, d=road.lane_centre(lane) + draw.noise(-0.1, 0.1), speed=speed, phases=[braking])
    start = road.lane_centre(from_lane) + draw.noise(-0.15, 0.15)
    other = drive(duration, s=0, d=start, speed=speed - slower, moves=[Move(begins, takes, shift)])
    other = shifted(other, s=ego.at(contact).s - other.at(contact).s + (own.length + body.length) / 2 - 0.03)
    contact = first_contact(ego, own, other, body) or contact
    way = 1 if side == "right" else -1
    turn, push = draw.noise(0.01, 0.07) * way, draw.noise(0.1, 0.5) * way
    lamps, signal = indicator(draw, begins, takes, side)
    act = Act(
        begins=begins,
        takes=takes,
        side=side,
        target="rivals_lane",
        signal=signal,
        line=line_between(road, from_lane, lane),
    )
    return _CutIn(
        Vehicle(id="ego", body=own, track=after_impact(ego, contact, kick=-0.55 * slower, decel=6.5, push=-0.2 * push)),
        Vehicle(id="e1", body=body, track=after_impact(other, contact, kick=0.5 * slower, decel=3.5, push=push, turn=turn), lamps=lamps),
        act, contact, speed,
    )  # fmt: skip


def _clear_of(plan: _CutIn, extras: list[Vehicle]) -> tuple[Vehicle, ...]:
    """Those of ``extras`` that stay out of the way of the cast and of each other."""
    kept: list[Vehicle] = []
    for vehicle in extras:
        if keeps_clear(vehicle, [plan.ego, plan.other, *kept]):
            kept.append(vehicle)
    return tuple(kept)


def _sideswipe(
    draw: Draw, ego: Track, other: Track, contact: float, ego_side: Literal["left", "right"]
) -> tuple[Track, Track]:
    """Both are thrown apart and brake; the counterpart more gently, so that it rolls on into view."""
    way = 1 if ego_side == "right" else -1
    hard = draw.noise(0.35, 0.6)
    return (
        after_impact(ego, contact, decel=6.5, push=-way * hard, turn=-way * draw.noise(0.0, 0.03)),
        after_impact(other, contact, decel=3.2, push=way * hard, turn=way * draw.noise(0.01, 0.05)),
    )
