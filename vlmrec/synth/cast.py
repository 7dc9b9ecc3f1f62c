"""Puts a scene together from its leading parts: traffic around them, loads on flatbeds, the facts that follow."""

from typing import Literal

import msgspec
import numpy as np

from vlmrec.errors import InputError
from vlmrec.synth.draw import Draw
from vlmrec.synth.motion import drive, first_contact
from vlmrec.synth.plot import Facts, Plot
from vlmrec.synth.story import Acts, Side, collision_facts, road_facts
from vlmrec.synth.traffic import background, pick_body
from vlmrec.synth.world import Body, Item, Lamps, Line, Road, Scene, Track, Vehicle

BED = 0.78
Signal = Literal["in_time", "late", "none"]


def ego_body(draw: Draw) -> Body:
    """The recording vehicle's shape."""
    return pick_body(draw, "ego", only=("sedan", "hatch", "suv"))


def crash(
    draw: Draw, road: Road, *, case: str, duration: float, speed: float, ego: Vehicle, other: Vehicle, contact: float,
    acts: Acts | None = None, extras: tuple[Vehicle, ...] = (), facts: Facts | None = None,
) -> Plot:  # fmt: skip
    """The plot of two vehicles that collide at ``contact`` while going the same way. ``facts`` stand over the general ones."""
    _check_feasible(ego, other, contact, acts or {})
    scene = stage(draw, road, duration=duration, speed=speed, ego=ego, other=other, extras=extras, contact=contact)
    found = {**road_facts(road, duration), **collision_facts(road, ego, other, contact, acts or {})}
    return Plot(case=case, scene=scene, facts={**found, **(facts or {})})


def _check_feasible(ego: Vehicle, other: Vehicle, contact: float, acts: Acts) -> None:
    """Values given by hand can ask for what can't be; drawn ones never do."""
    found = first_contact(ego.track, ego.body, other.track, other.body)
    if found is None or abs(found - contact) > 0.2:
        raise InputError(
            "with these values the vehicles would not meet as the scenario says; stay nearer to what is drawn"
        )
    early = min((act.begins for act in acts.values()), default=1.0)
    if early < 0.3:
        raise InputError(
            "with these values the manoeuvre would begin before the clip; use a shorter one or a longer --duration"
        )


def stage(
    draw: Draw, road: Road, *, duration: float, speed: float, ego: Vehicle, other: Vehicle | None = None,
    extras: tuple[Vehicle, ...] = (), items: tuple[Item, ...] = (), contact: float | None = None,
) -> Scene:  # fmt: skip
    """A scene with traffic around its cast, and boxes on some flatbeds, so that a load means nothing by itself."""
    cast = (ego, *((other,) if other else ()), *extras)
    around = background(draw, road, cast, duration=duration, speed=speed)
    traffic = tuple(
        msgspec.structs.replace(vehicle, id=f"e{number}")
        for number, vehicle in enumerate((*extras, *around), start=2 if other else 1)
    )
    loads = []
    for vehicle in (*((other,) if other else ()), *traffic):
        wanted = draw.noise(0, 1) < 0.6
        if wanted and vehicle.body.kind == "pickup" and not items:
            loads.append(riding(vehicle, f"load_{vehicle.id}", (1.1, 1.3, draw.noise(0.5, 0.9))))
    return Scene(
        road=road,
        duration=duration,
        ego=ego,
        counterpart=other,
        traffic=traffic,
        items=(*items, *loads),
        contact=contact,
    )


def riding(vehicle: Vehicle, name: str, size: tuple[float, float, float]) -> Item:
    """A box that stays on a flatbed."""
    track = vehicle.track
    back = vehicle.body.length * 0.22
    return Item(
        id=name,
        size=size,
        t=track.t,
        s=track.s - back * np.cos(track.yaw),
        d=track.d - back * np.sin(track.yaw),
        z=np.full_like(track.t, BED),
        tumble=np.zeros_like(track.t),
    )


def indicator(draw: Draw, begins: float, takes: float, side: Side) -> tuple[Lamps, Signal]:
    """Indicator lamps for a move that begins at ``begins``, lit in time, late or never."""
    when: Signal = draw.pick("signal", ("in_time", "late", "none"), (3, 1, 2))
    if when == "none":
        return Lamps(), when
    lit = ((max(0.0, begins - 3.0) if when == "in_time" else begins + 0.25 * takes, begins + takes + 0.4),)
    return (Lamps(left=lit) if side == "left" else Lamps(right=lit)), when


def line_between(road: Road, a: int, b: int) -> Line | None:
    """The line between two neighbouring lanes of the ego's direction."""
    lane = min(a, b)
    return road.dividers[lane - 1] if 1 <= lane < road.lanes else None


def standing(duration: float, s: float, d: float) -> Track:
    """A vehicle that never moves."""
    return drive(duration, s=s, d=d, speed=0.0)
