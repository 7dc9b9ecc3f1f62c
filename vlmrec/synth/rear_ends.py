"""Scenarios in one lane: somebody brakes, stops or stands, and is hit from behind."""

from vlmrec.synth.draw import Draw
from vlmrec.synth.motion import Phase, after_impact, drive, shifted
from vlmrec.synth.plot import Facts, Plot, draw_road
from vlmrec.synth.traffic import background, pick_body
from vlmrec.synth.world import Scene, Vehicle


def rear_end(draw: Draw, duration: float) -> Plot:
    """The counterpart ahead brakes, to a halt or nearly, and the ego runs into its rear."""
    road = draw_road(draw, lanes=(1, 2, 3, 4))
    lane = draw.pick("ego_lane", range(1, road.lanes + 1))
    body, own = pick_body(draw, "counterpart"), pick_body(draw, "ego", only=("sedan", "hatch", "suv"))
    speed, contact = draw.real("speed_kmh", 35, 65) / 3.6, duration * draw.real("contact_share", 0.55, 0.75)
    hard = draw.real("lead_brake", 4.5, 7.5)
    begins = contact - draw.real("notice_s", 1.7, 2.4)
    late = draw.real("reaction_s", 1.0, 1.5)
    ego = drive(
        duration,
        s=0,
        d=road.lane_centre(lane) + draw.noise(-0.15, 0.15),
        speed=speed,
        phases=[Phase(begins + late, contact, -5.5)],
    )
    other = drive(
        duration,
        s=0,
        d=road.lane_centre(lane) + draw.noise(-0.2, 0.2),
        speed=speed,
        phases=[Phase(begins, duration, -hard)],
    )
    other = shifted(other, s=ego.at(contact).s - other.at(contact).s + (own.length + body.length) / 2)
    closing = ego.at(contact).speed - other.at(contact).speed
    ego_after = after_impact(ego, contact, kick=-closing * 0.55, decel=7)
    other_after = after_impact(other, contact, kick=closing * 0.5, decel=5)
    vehicles = (Vehicle(id="ego", body=own, track=ego_after), Vehicle(id="e1", body=body, track=other_after))
    traffic = background(draw, road, vehicles, duration=duration, speed=speed)
    scene = Scene(
        road=road, duration=duration, ego=vehicles[0], counterpart=vehicles[1], traffic=traffic, contact=contact
    )
    facts: Facts = {}
    return Plot(case="rear_end_lead", scene=scene, facts=facts)
