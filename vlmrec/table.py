"""The entity table: who is who in a clip. The contract of Stage 0, and of what a label says of it. Pure.

Times are seconds of clip time; boxes are ``[x1, y1, x2, y2]`` in 0..1000 per axis, origin top left;
lanes are counted from the recording vehicle's left, starting at 1.
"""

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Struct

Coordinate = Annotated[float, Meta(ge=0, le=1000)]
Seconds = Annotated[float, Meta(ge=0)]


class TimedBox(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where an entity is at one time."""

    t: Seconds
    box: Annotated[tuple[Coordinate, Coordinate, Coordinate, Coordinate], Meta(description="x1, y1, x2, y2.")]


class Entity(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
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


class CameraEvent(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Something that happened to the picture itself."""

    t: Seconds
    kind: Literal["shake", "cut", "brake"]


class EntityTable(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
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


def decode_table(document: bytes) -> EntityTable:
    """A table from its JSON bytes. Raises msgspec.ValidationError with the path that is wrong."""
    return msgspec.json.decode(document, type=EntityTable)


def table_schema() -> dict[str, Any]:
    """The JSON Schema that models are given and replies are checked with."""
    return msgspec.json.schema(EntityTable)
