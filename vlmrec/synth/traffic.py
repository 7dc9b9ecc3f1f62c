"""Other road users, drawn without regard to who plays which part, then kept out of everybody's way."""

from collections.abc import Iterable

import numpy as np

from vlmrec.synth.draw import Draw
from vlmrec.synth.motion import drive, reversed_way, separation
from vlmrec.synth.world import BODIES, Body, BodyKind, Road, Vehicle

KINDS: tuple[BodyKind, ...] = ("sedan", "hatch", "suv", "van", "pickup", "box_truck", "bus")
SHARES = (8, 4, 6, 2, 2, 1, 1)
ROOM = 1.2


def pick_body(draw: Draw, name: str, *, only: tuple[BodyKind, ...] = KINDS) -> Body:
    """A body drawn by how common its kind is."""
    return BODIES[draw.pick(name, only, [SHARES[KINDS.index(kind)] for kind in only])]


def background(
    draw: Draw, road: Road, cast: tuple[Vehicle, ...], *, duration: float, speed: float
) -> tuple[Vehicle, ...]:
    """Traffic around ``cast``: ahead in the other lanes, oncoming, parked at the edge.

    ``speed`` is the pace of the road in m/s. A vehicle that would come within ``ROOM`` metres of the cast,
    or of traffic placed before it, is left out.
    """
    density = draw.real("traffic", 0.3, 1.0)
    kept: list[Vehicle] = []
    for candidate in _candidates(draw, road, duration=duration, speed=speed, density=density):
        if keeps_clear(candidate, [*cast, *kept]):
            kept.append(candidate)
    return tuple(
        Vehicle(id=f"e{index}", body=vehicle.body, track=vehicle.track, lamps=vehicle.lamps)
        for index, vehicle in enumerate(kept, start=2)
    )


def keeps_clear(vehicle: Vehicle, others: Iterable[Vehicle]) -> bool:
    """Whether a vehicle stays ``ROOM`` metres from all the others, all the time."""
    return all(float(np.min(separation(vehicle.track, vehicle.body, each.track, each.body))) > ROOM for each in others)


def _candidates(draw: Draw, road: Road, *, duration: float, speed: float, density: float) -> list[Vehicle]:
    found = []
    for lane in range(1, road.lanes + 1):
        for slot in range(4):
            body = BODIES[KINDS[_share_index(draw.noise(0, sum(SHARES)))]]
            start = 14 + slot * 26 + draw.noise(-6, 6)
            pace = speed * draw.noise(0.92, 1.12)
            wanted = draw.noise(0, 1) < density * 0.45
            track = drive(duration, s=start, d=road.lane_centre(lane) + draw.noise(-0.25, 0.25), speed=pace)
            if wanted and not _on_spans(road, lane, track.s):
                found.append(Vehicle(id="", body=body, track=track))
    for lane in range(0, -road.oncoming_lanes, -1):
        for slot in range(7):
            body = BODIES[KINDS[_share_index(draw.noise(0, sum(SHARES)))]]
            start = 30 + slot * 45 + draw.noise(-15, 15)
            pace = max(6.0, speed * draw.noise(0.8, 1.1))
            wanted = draw.noise(0, 1) < density * 0.6
            track = reversed_way(drive(duration, s=start, d=road.lane_centre(lane) + draw.noise(-0.2, 0.2), speed=pace))
            if wanted and road.crossing is None:
                found.append(Vehicle(id="", body=body, track=track))
    return found


def _share_index(ticket: float) -> int:
    return int(np.searchsorted(np.cumsum(SHARES), ticket, side="right"))


def _on_spans(road: Road, lane: int, s: np.ndarray) -> bool:
    """True where a lane is hatched or ends somewhere on the way: nobody else drives there."""
    spans = [span for span in (road.lane_end, road.safety_zone) if span is not None and span.lane == lane]
    return bool(spans) or (road.crossing is not None and bool(np.any(np.abs(s - road.crossing) < 25)))
