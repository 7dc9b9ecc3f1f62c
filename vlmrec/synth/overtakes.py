"""Scenarios in which somebody overtakes and comes back in front: over the centre line, over a solid lane line."""

from vlmrec.synth.cast import crash, ego_body, indicator
from vlmrec.synth.draw import Draw
from vlmrec.synth.motion import Move, Phase, after_impact, drive, shifted, timed
from vlmrec.synth.plot import NONE, OTHER, SELF, Plot, draw_road, seen
from vlmrec.synth.story import Act
from vlmrec.synth.traffic import pick_body
from vlmrec.synth.world import Line, Road, Track, Vehicle


def overtake_centre_line(draw: Draw, duration: float) -> Plot:
    """On a road with one lane each way one of the two overtakes from close behind over the dashed centre line, and cuts in."""
    road = draw_road(draw, lanes=(1,), centre=Line.DASHED_YELLOW, median=False)
    overtaker = draw.pick("overtaker", ("other", "self"))
    return _ego_overtakes(draw, road, duration) if overtaker == "self" else _ego_is_overtaken(draw, road, duration)


def _ego_is_overtaken(draw: Draw, road: Road, duration: float) -> Plot:
    body, own = pick_body(draw, "counterpart", only=("sedan", "hatch", "suv", "van", "pickup")), ego_body(draw)
    speed, contact = draw.real("speed_kmh", 35, 55) / 3.6, duration * draw.real("contact_share", 0.58, 0.72)
    faster, takes, lead = draw.real("passing_ms", 3.6, 5.0), draw.real("lane_change_s", 1.5, 2.3), draw.noise(2.4, 3.4)
    gap = draw.noise(4.0, 7.0)

    def tracks(x: float) -> tuple[Track, Track]:
        ego = drive(duration, s=0, d=road.lane_centre(1), speed=speed)
        behind = (own.length + body.length) / 2 + gap
        out = max(0.4, contact - (behind + lead) / faster - 0.9)
        other = drive(
            duration, s=0, d=road.lane_centre(1), speed=speed, phases=[Phase(out, out + 1.5, faster / 1.5)],
            moves=[Move(out, 1.7, -road.lane_width), Move(contact - 0.6 * takes + x, takes, road.lane_width)],
        )  # fmt: skip
        return ego, shifted(other, s=ego.at(contact).s - other.at(contact).s + lead)

    (ego, other), shift = timed(tracks, (own, body), contact)
    begins = contact - 0.6 * takes + shift
    lamps, signal = indicator(draw, begins, takes, "right")
    first = Vehicle(id="ego", body=own, track=after_impact(ego, contact, kick=-0.5, decel=6.5, push=0.3, turn=0.02))
    second = Vehicle(
        id="e1",
        body=body,
        track=after_impact(other, contact, kick=-0.5, decel=3.0, push=-0.35, turn=-0.03),
        lamps=lamps,
    )
    act = Act(
        begins=begins, takes=takes, side="right", target="rivals_lane", signal=signal, line=None, crosses_centre=True
    )
    end = min(contact, begins + takes)
    facts = {
        **seen("overtaking", OTHER, "cut_in", begins - 1.5, end),
        **seen("overtaking_side", OTHER, "left", begins - 1.5, begins),
        **seen("overtaking_gap", OTHER, "close", 0, 0.5),
        **seen("order", NONE, "self_ahead", 0, begins, inferred=True),
        **seen("lane_relation", NONE, "same_lane", 0, begins, inferred=True),
        **seen("no_overtaking_place", NONE, "no", 0, contact),
        **seen("hazardous_place", NONE, "no", 0, contact),
        **seen("blocked_overtaking", SELF, "no", begins - 1.5, contact),
    }
    return crash(
        draw, road, case="overtake_centre", duration=duration, speed=speed, ego=first, other=second, contact=contact,
        acts={OTHER: act}, facts=facts,
    )  # fmt: skip


def _ego_overtakes(draw: Draw, road: Road, duration: float) -> Plot:
    body, own = pick_body(draw, "counterpart", only=("sedan", "hatch", "suv", "van", "pickup")), ego_body(draw)
    speed, contact = draw.real("speed_kmh", 35, 50) / 3.6, duration * draw.real("contact_share", 0.68, 0.78)
    faster, takes = draw.real("passing_ms", 3.8, 5.0), draw.real("lane_change_s", 1.5, 2.3)
    gap, lead = draw.noise(4.0, 7.0), (own.length + body.length) / 2 * draw.noise(0.72, 0.88)
    out_takes = draw.noise(1.7, 2.2)
    out = max(0.8, contact - ((own.length + body.length) / 2 + gap + lead) / faster - 0.9)

    def tracks(x: float) -> tuple[Track, Track]:
        ego = drive(
            duration, s=0, d=road.lane_centre(1), speed=speed, phases=[Phase(out, out + 1.5, faster / 1.5)],
            moves=[Move(out, out_takes, -road.lane_width), Move(contact - 0.6 * takes + x, takes, road.lane_width)],
        )  # fmt: skip
        other = drive(duration, s=0, d=road.lane_centre(1), speed=speed)
        return ego, shifted(other, s=ego.at(contact).s - other.at(contact).s - lead)

    (ego, other), shift = timed(tracks, (own, body), contact)
    begins = contact - 0.6 * takes + shift
    lamps, signal = indicator(draw, out, out_takes, "left")
    first = Vehicle(id="ego", body=own, track=after_impact(ego, contact, decel=5.5, push=-0.3, turn=-0.03), lamps=lamps)
    second = Vehicle(id="e1", body=body, track=after_impact(other, contact, kick=-0.5, decel=6, push=0.3, turn=0.02))
    act = Act(
        begins=out, takes=begins + takes - out, side="left", target="rivals_lane", signal=signal, line=None,
        crosses_centre=True,
    )  # fmt: skip
    facts = {
        **seen("overtaking", SELF, "cut_in", out, contact),
        **seen("overtaking_side", SELF, "left", out, begins),
        **seen("overtaking_gap", SELF, "close", out - 0.5, out + 0.5),
        **seen("no_overtaking_place", NONE, "no", 0, contact),
        **seen("hazardous_place", NONE, "no", 0, contact),
        **seen("maneuver", OTHER, "straight", 0, begins),
        **seen("prior_stop_kind", OTHER, "none", 0, begins),
        **seen("overtaking", OTHER, "none", 0, begins),
        **seen("braking_manner", OTHER, "normal", 0, begins),
        **seen("blocked_overtaking", OTHER, "no", out, begins),
    }
    return crash(
        draw, road, case="overtake_centre_ego", duration=duration, speed=speed, ego=first, other=second,
        contact=contact, acts={SELF: act}, facts=facts,
    )  # fmt: skip


def overtake_solid_line(draw: Draw, duration: float) -> Plot:
    """The ego leaves its lane over a solid line, overtakes the counterpart and cuts back in front of it."""
    road = draw_road(draw, lanes=(2, 3), divider=Line.SOLID_WHITE)
    lane = draw.pick("ego_lane", range(2, road.lanes + 1))
    body, own = pick_body(draw, "counterpart"), ego_body(draw)
    speed, contact = draw.real("speed_kmh", 42, 60) / 3.6, duration * draw.real("contact_share", 0.68, 0.78)
    slower, takes, lead = (
        draw.real("passing_ms", 4.2, 5.2),
        draw.real("lane_change_s", 1.5, 2.3),
        draw.noise(0.72, 0.88),
    )
    out, out_takes = draw.noise(0.8, 1.4), draw.noise(1.7, 2.2)
    behind = (own.length + body.length) / 2 * lead

    def tracks(x: float) -> tuple[Track, Track]:
        ego = drive(
            duration, s=0, d=road.lane_centre(lane), speed=speed,
            moves=[Move(out, out_takes, -road.lane_width), Move(contact - 0.6 * takes + x, takes, road.lane_width)],
        )  # fmt: skip
        other = drive(duration, s=0, d=road.lane_centre(lane), speed=speed - slower)
        return ego, shifted(other, s=ego.at(contact).s - other.at(contact).s - behind)

    (ego, other), shift = timed(tracks, (own, body), contact)
    begins = contact - 0.6 * takes + shift
    lamps, signal = indicator(draw, out, out_takes, "left")
    first = Vehicle(id="ego", body=own, track=after_impact(ego, contact, decel=5.5, push=-0.3, turn=-0.03), lamps=lamps)
    second = Vehicle(id="e1", body=body, track=after_impact(other, contact, kick=-0.5, decel=6, push=0.3, turn=0.02))
    act = Act(
        begins=out, takes=begins + takes - out, side="left", target="rivals_lane", signal=signal, line=Line.SOLID_WHITE
    )
    facts = {
        **seen("overtaking", SELF, "cut_in", out, contact),
        **seen("overtaking_side", SELF, "left", out, begins),
        **seen("overtaking_gap", SELF, "ample", out - 0.5, out + 0.5),
        **seen("no_overtaking_place", NONE, "no", 0, contact),
        **seen("hazardous_place", NONE, "no", 0, contact),
        **seen("maneuver", OTHER, "straight", 0, begins),
        **seen("prior_stop_kind", OTHER, "none", 0, begins),
        **seen("overtaking", OTHER, "none", 0, begins),
        **seen("braking_manner", OTHER, "normal", 0, begins),
    }
    return crash(
        draw, road, case="overtake_solid", duration=duration, speed=speed, ego=first, other=second, contact=contact,
        acts={SELF: act}, facts=facts,
    )  # fmt: skip
