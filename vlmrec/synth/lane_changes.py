"""Scenarios in which somebody changes lane: the counterpart, the ego, both, because a lane ends, past a safety zone."""

from typing import Literal

from vlmrec.synth.draw import Draw
from vlmrec.synth.motion import Move, Phase, after_impact, drive, shifted, timed
from vlmrec.synth.plot import NONE, OTHER, SELF, Facts, Plot, draw_road, seen
from vlmrec.synth.traffic import background, pick_body
from vlmrec.synth.world import BODIES, Lamps, Scene, Track, Vehicle

Side = Literal["left", "right"]


def lane_change_from_left(draw: Draw, duration: float) -> Plot:
    """The counterpart, ahead in the lane on the left, changes into the ego's lane and is hit from behind."""
    return _cut_in(draw, duration, "left")


def lane_change_from_right(draw: Draw, duration: float) -> Plot:
    """The counterpart, ahead in the lane on the right, changes into the ego's lane and is hit from behind."""
    return _cut_in(draw, duration, "right")


def _cut_in(draw: Draw, duration: float, side: Side) -> Plot:
    road = draw_road(draw)
    lane = draw.pick("ego_lane", range(2, road.lanes + 1) if side == "left" else range(1, road.lanes))
    body, own = pick_body(draw, "counterpart"), pick_body(draw, "ego", only=("sedan", "hatch", "suv"))
    speed, contact = draw.real("speed_kmh", 38, 70) / 3.6, duration * draw.real("contact_share", 0.52, 0.72)
    slower, takes = draw.real("closing_ms", 2.5, 5.0), draw.real("lane_change_s", 1.2, 3.6)
    begins = contact - takes * draw.noise(0.62, 0.85)
    shift = road.lane_width if side == "left" else -road.lane_width
    from_lane = lane - 1 if side == "left" else lane + 1
    brake = draw.noise(0.0, 0.45)
    ego = drive(
        duration,
        s=0,
        d=road.lane_centre(lane),
        speed=speed,
        phases=[Phase(contact - brake, contact, -draw.noise(2, 4))],
    )
    other = drive(
        duration, s=0, d=road.lane_centre(from_lane), speed=speed - slower, moves=[Move(begins, takes, shift)]
    )
    ahead = (own.length + body.length) / 2
    other = shifted(other, s=ego.at(contact).s - other.at(contact).s + ahead)
    turn = draw.noise(0.01, 0.07) * (1 if side == "left" else -1)
    cast = _impact(ego, other, contact, ego_kick=-1.5, other_kick=slower * 0.7, push=draw.noise(0.1, 0.5), turn=turn)
    lamps, signal = indicator(draw, begins, takes, "right" if side == "left" else "left")
    vehicles = (Vehicle(id="ego", body=own, track=cast[0]), Vehicle(id="e1", body=body, track=cast[1], lamps=lamps))
    traffic = background(draw, road, vehicles, duration=duration, speed=speed)
    scene = Scene(
        road=road, duration=duration, ego=vehicles[0], counterpart=vehicles[1], traffic=traffic, contact=contact
    )
    facts: Facts = {}
    return Plot(case="cut_in", scene=scene, facts=facts)


def _impact(
    ego: Track,
    other: Track,
    contact: float,
    *,
    ego_kick: float,
    other_kick: float,
    push: float = 0.0,
    turn: float = 0.0,
) -> tuple[Track, Track]:
    return (
        after_impact(ego, contact, kick=ego_kick, decel=6.5, push=-push * 0.2),
        after_impact(other, contact, kick=other_kick, decel=3.5, push=push * (1 if turn >= 0 else -1), turn=turn),
    )


def indicator(draw: Draw, begins: float, takes: float, side: Side) -> tuple[Lamps, str]:
    """Indicator lamps for a move that begins at ``begins``, lit in time, late or never."""
    when = draw.pick("signal", ("in_time", "late", "none"), (3, 1, 2))
    if when == "none":
        return Lamps(), when
    lit = ((max(0.0, begins - 3.0) if when == "in_time" else begins + 0.25 * takes, begins + takes + 0.4),)
    return (Lamps(left=lit) if side == "left" else Lamps(right=lit)), when
