"""Stage 0 gold: what a person would put into the entity table, from the scene and the camera. Pure."""

import math

from msgspec import Struct

from vlmrec.synth.camera import Box, CameraPath, View, box_of, outline
from vlmrec.synth.look import Look, Mount, Rgb
from vlmrec.synth.world import BodyKind, Road, Scene, Vehicle
from vlmrec.table import CameraEvent, Entity, EntityTable, TimedBox

EVERY = 0.5
SMALLEST = 0.0006
HIDDEN = 0.85
BRAKING = -5.0
_KINDS = {
    "sedan": "car",
    "hatch": "car",
    "suv": "car",
    "van": "car",
    "pickup": "truck",
    "box_truck": "truck",
    "bus": "bus",
    "motorcycle": "motorcycle",
}
_COLOURS: tuple[tuple[str, Rgb], ...] = (
    ("white", (0.92, 0.92, 0.92)),
    ("silver", (0.72, 0.73, 0.75)),
    ("grey", (0.43, 0.44, 0.46)),
    ("black", (0.12, 0.12, 0.13)),
    ("blue", (0.16, 0.29, 0.52)),
    ("red", (0.62, 0.12, 0.11)),
    ("green", (0.16, 0.32, 0.22)),
    ("beige", (0.62, 0.52, 0.36)),
    ("yellow", (0.86, 0.70, 0.20)),
    ("orange", (0.80, 0.42, 0.14)),
    ("brown", (0.42, 0.30, 0.24)),
)


def entity_table(scene: Scene, look: Look, path: CameraPath, aspect: float) -> EntityTable:
    """The table of one clip. Boxes every half second, and at the contact, where the entity can be seen."""
    times = [k * EVERY for k in range(int(scene.duration / EVERY) + 1)]
    if scene.contact is not None:
        times = sorted({*times, round(scene.contact, 2)})
    shown = {time: _visible(scene, path.at(time), look.mount, aspect, time) for time in times}
    entities = tuple(
        _entity(
            scene,
            vehicle,
            look.paints[index],
            {time: boxes[vehicle.id] for time, boxes in shown.items() if vehicle.id in boxes},
        )
        for index, vehicle in enumerate(scene.vehicles)
    )
    start = scene.ego.track.at(0.0)
    lane = scene.road.lane_of(start.d)
    return EntityTable(
        entities=tuple(entity for entity in entities if entity.boxes or entity.role == "counterpart"),
        contact_time=None if scene.contact is None else round(scene.contact, 2),
        ego_lane=lane if 1 <= lane <= scene.road.lanes else None,
        lane_count=scene.road.lanes,
        camera_events=_camera_events(scene),
    )


class Sightings(Struct, frozen=True, kw_only=True):
    """When one vehicle can be seen, and when it is in the picture but hidden, sampled every tenth of a second."""

    seen: tuple[float, ...]
    hidden: tuple[float, ...]

    def within(self, start: float, end: float) -> tuple[float, float] | None:
        """The first and last moment at which it is seen between ``start`` and ``end``.

        Looked at ten times a second: one look just outside the stretch stands for its nearer end.
        """
        found = [time for time in self.seen if start - 0.05 <= time <= end + 0.05]
        if not found:
            return None
        first, last = min(max(start, found[0]), end), max(min(end, found[-1]), start)
        return min(first, last), last


def sightings(scene: Scene, look: Look, path: CameraPath, aspect: float, vehicle: Vehicle) -> Sightings:
    """When ``vehicle`` can be seen."""
    times = [round(k / 10, 1) for k in range(int(scene.duration * 10) + 1)]
    seen, hidden = [], []
    for time in times:
        view = path.at(time)
        if vehicle.id in _visible(scene, view, look.mount, aspect, time):
            seen.append(time)
        elif _box(scene.road, vehicle, view, look.mount, aspect, time) is not None:
            hidden.append(time)
    return Sightings(seen=tuple(seen), hidden=tuple(hidden))


def _visible(scene: Scene, view: View, mount: Mount, aspect: float, time: float) -> dict[str, Box]:
    """Boxes of the vehicles that can be seen, nearer ones hiding those behind them."""
    found: list[tuple[float, str, Box]] = []
    for vehicle in scene.vehicles:
        box = _box(scene.road, vehicle, view, mount, aspect, time)
        if box is not None:
            pose = vehicle.track.at(time)
            x, y = scene.road.place(pose.s, pose.d)
            found.append((math.hypot(x - view.x, y - view.y), vehicle.id, box))
    found.sort(key=lambda item: (item[0], item[1]))
    kept: dict[str, Box] = {}
    for _, name, box in found:
        if all(_overlap(box, other) / box.area < HIDDEN for other in kept.values()):
            kept[name] = box
    return kept


def _box(road: Road, vehicle: Vehicle, view: View, mount: Mount, aspect: float, time: float) -> Box | None:
    box = box_of(outline(road, vehicle.body, vehicle.track.at(time)), view, mount.hfov, aspect)
    return box if box is not None and box.area >= SMALLEST else None


def _overlap(a: Box, b: Box) -> float:
    return Box(max(a.x0, b.x0), max(a.y0, b.y0), min(a.x1, b.x1), min(a.y1, b.y1)).area


def _entity(scene: Scene, vehicle: Vehicle, paint: Rgb, boxes: dict[float, Box]) -> Entity:
    times = sorted(boxes)
    kind = _KINDS[vehicle.body.kind]
    first = times[0] if times else 0.0
    return Entity(
        id=vehicle.id,
        kind=kind,  # type: ignore[arg-type]  # the table above maps to the Literal's values
        role="counterpart" if vehicle is scene.counterpart else "other",
        descriptor=f"{colour_name(paint)} {_noun(vehicle.body.kind)}",
        first_seen=times[0] if times else None,
        last_seen=times[-1] if times else None,
        heading=_heading(vehicle, scene, first),  # type: ignore[arg-type]  # as above
        lane=_lane(vehicle, scene.road, first),
        boxes=tuple(TimedBox(t=time, box=_per_mille(boxes[time])) for time in times),
    )


def colour_name(paint: Rgb) -> str:
    """The everyday name of a paint."""
    return min(_COLOURS, key=lambda entry: math.dist(entry[1], paint))[0]


def _noun(kind: BodyKind) -> str:
    return {"hatch": "hatchback", "suv": "SUV", "box_truck": "box truck", "pickup": "flatbed truck"}.get(kind, kind)


def _heading(vehicle: Vehicle, scene: Scene, time: float) -> str:
    angle = abs(math.remainder(vehicle.track.at(time).yaw - scene.ego.track.at(time).yaw, math.tau))
    return "parallel" if angle < math.pi / 4 else "oncoming" if angle > math.pi * 3 / 4 else "perpendicular"


def _lane(vehicle: Vehicle, road: Road, time: float) -> int | None:
    lane = road.lane_of(vehicle.track.at(time).d)
    return lane if 1 <= lane <= road.lanes else None


def _per_mille(box: Box) -> tuple[float, float, float, float]:
    x0, y0, x1, y1 = (round(part * 1000, 1) for part in box)
    return (x0, y0, x1, y1)


def _camera_events(scene: Scene) -> tuple[CameraEvent, ...]:
    events = []
    track = scene.ego.track
    until = scene.contact if scene.contact is not None else scene.duration
    hard = track.t[(track.accel < BRAKING) & (track.t < until - 0.1)]
    if len(hard):
        events.append(CameraEvent(t=round(float(hard[0]), 2), kind="brake"))
    if scene.contact is not None:
        events.append(CameraEvent(t=round(scene.contact, 2), kind="shake"))
    return tuple(events)
