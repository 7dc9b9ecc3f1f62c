"""Stage 0's entity table: the contract and its structural checks. Pure.

Times are seconds of clip time; boxes are ``[x1, y1, x2, y2]`` in 0..1000 per axis, origin top left;
lanes are counted from the recording vehicle's left, starting at 1.
"""

from collections.abc import Iterator
from typing import Annotated, Literal, NamedTuple

import msgspec
from msgspec import Meta, Struct

Coordinate = Annotated[float, Meta(ge=0, le=1000)]
Seconds = Annotated[float, Meta(ge=0)]


class TimedBox(Struct, frozen=True, kw_only=True):
    """Where an entity is at one time."""

    t: Seconds
    box: Annotated[tuple[Coordinate, Coordinate, Coordinate, Coordinate], Meta(description="x1, y1, x2, y2.")]


class Entity(Struct, frozen=True, kw_only=True):
    """One road user other than the recording vehicle."""

    id: Annotated[str, Meta(min_length=1, max_length=40)]
    kind: Literal["car", "truck", "bus", "motorcycle", "other"]
    role: Literal["counterpart", "other"] = "other"
    descriptor: Annotated[str, Meta(max_length=300)] = ""
    first_seen: Seconds | None = None
    last_seen: Seconds | None = None
    heading: Literal["parallel", "oncoming", "perpendicular", "unknown"] = "unknown"
    lane: Annotated[int, Meta(ge=1, le=12)] | None = None
    boxes: Annotated[tuple[TimedBox, ...], Meta(max_length=400)] = ()


class CameraEvent(Struct, frozen=True, kw_only=True):
    """Something that happened to the picture itself."""

    t: Seconds
    kind: Literal["shake", "cut", "brake"]


class EntityTable(Struct, frozen=True, kw_only=True):
    """Who is who: never prose."""

    entities: Annotated[tuple[Entity, ...], Meta(max_length=40)] = ()
    contact_time: Seconds | None = None
    ego_lane: Annotated[int, Meta(ge=1, le=12)] | None = None
    lane_count: Annotated[int, Meta(ge=1, le=12)] | None = None
    camera_events: Annotated[tuple[CameraEvent, ...], Meta(max_length=100)] = ()

    @property
    def counterpart(self) -> Entity | None:
        """The entity the recording vehicle collides with, where exactly one is named so."""
        named = [entity for entity in self.entities if entity.role == "counterpart"]
        return named[0] if len(named) == 1 else None


class TableFault(NamedTuple):
    """A structural check that does not hold."""

    rule: str
    message: str


TABLE_RULES = (
    "table_ids_unique",
    "table_one_counterpart",
    "table_times_inside_clip",
    "table_span_ordered",
    "table_box_ordered",
    "table_box_not_frozen",
    "table_contact_in_span",
    "table_lane_in_count",
)

FROZEN_BOXES = 4
"""Identical boxes over this many different times are a sign that the model repeated itself."""


def decode_table(document: bytes) -> EntityTable:
    """A table from its JSON bytes. Raises msgspec.ValidationError with the path that is wrong."""
    return msgspec.json.decode(document, type=EntityTable)


def table_schema() -> dict[str, object]:
    """The JSON Schema that models are given and replies are checked with."""
    return msgspec.json.schema(EntityTable)


def table_faults(table: EntityTable, *, duration_s: float) -> tuple[TableFault, ...]:
    """Every structural fault of ``table``, in the order of TABLE_RULES and entities."""
    return tuple(sorted(_faults(table, duration_s), key=lambda fault: TABLE_RULES.index(fault.rule)))


def _faults(table: EntityTable, duration_s: float) -> Iterator[TableFault]:
    ids = [entity.id for entity in table.entities]
    for doubled in sorted({name for name in ids if ids.count(name) > 1}):
        yield TableFault("table_ids_unique", f"two entities are called {doubled}")
    counterparts = [entity.id for entity in table.entities if entity.role == "counterpart"]
    if len(counterparts) > 1:
        yield TableFault("table_one_counterpart", f"several counterparts: {', '.join(counterparts)}")
    for name, time in _times(table):
        if time > duration_s:
            yield TableFault("table_times_inside_clip", f"{name} is {time:g} s, but the clip lasts {duration_s:g} s")
    for entity in table.entities:
        yield from _entity_faults(entity, table.lane_count)
    counterpart = table.counterpart
    if counterpart is not None and table.contact_time is not None:
        first = counterpart.first_seen if counterpart.first_seen is not None else 0.0
        last = counterpart.last_seen if counterpart.last_seen is not None else duration_s
        if not first <= table.contact_time <= last:
            yield TableFault(
                "table_contact_in_span",
                f"contact at {table.contact_time:g} s, but {counterpart.id} is seen from {first:g} to {last:g} s",
            )
    if table.ego_lane is not None and table.lane_count is not None and table.ego_lane > table.lane_count:
        yield TableFault("table_lane_in_count", f"ego_lane {table.ego_lane} of {table.lane_count} lanes")


def _entity_faults(entity: Entity, lane_count: int | None) -> Iterator[TableFault]:
    if entity.first_seen is not None and entity.last_seen is not None and entity.first_seen > entity.last_seen:
        yield TableFault(
            "table_span_ordered", f"{entity.id} is first seen at {entity.first_seen:g} s, after {entity.last_seen:g} s"
        )
    for timed in entity.boxes:
        x1, y1, x2, y2 = timed.box
        if x1 >= x2 or y1 >= y2:
            yield TableFault("table_box_ordered", f"{entity.id} at {timed.t:g} s has an empty box {list(timed.box)}")
    distinct_times = {timed.t for timed in entity.boxes}
    if len(distinct_times) >= FROZEN_BOXES and len({timed.box for timed in entity.boxes}) == 1:
        yield TableFault("table_box_not_frozen", f"{entity.id} has one and the same box at {len(distinct_times)} times")
    if entity.lane is not None and lane_count is not None and entity.lane > lane_count:
        yield TableFault("table_lane_in_count", f"{entity.id} is in lane {entity.lane} of {lane_count}")


def _times(table: EntityTable) -> Iterator[tuple[str, float]]:
    if table.contact_time is not None:
        yield "contact_time", table.contact_time
    for entity in table.entities:
        if entity.first_seen is not None:
            yield f"{entity.id}.first_seen", entity.first_seen
        if entity.last_seen is not None:
            yield f"{entity.id}.last_seen", entity.last_seen
        yield from ((f"{entity.id}.boxes", timed.t) for timed in entity.boxes)
    yield from ((f"camera_events.{event.kind}", event.t) for event in table.camera_events)
