"""Structural checks of Stage 0's entity table: what can't be so, whatever the clip shows. Pure."""

import re
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import NamedTuple

from vlmrec.table import Entity, EntityTable


class TableFault(NamedTuple):
    """A structural check that does not hold."""

    rule: str
    message: str


TABLE_RULES = (
    "table_ids_unique",
    "table_ids_referenced",
    "table_one_counterpart",
    "table_times_inside_clip",
    "table_span_ordered",
    "table_box_ordered",
    "table_box_not_frozen",
    "table_contact_in_span",
    "table_lane_in_count",
)

FROZEN_BOXES = 4
"""One box over this many times in a row, while the vehicle must have moved in the picture, was copied and not seen."""
OUT_OF_SIGHT_S = 1.5
"""A counterpart beside the camera is out of the picture at contact, for no longer than this."""
SETTLED_S = 0.5
"""Boxes are of given times; the first of those after a contact may lie a little before it."""
ENTITY_ID = re.compile(r"\be\d{1,2}\b")
"""How texts name an entity of the table; ids of other forms are ordinary words."""


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
        yield from _unknown_ids(entity, ids)
        yield from _frozen(entity, table)
    counterpart = table.counterpart
    if counterpart is not None and table.contact_time is not None:
        first = counterpart.first_seen if counterpart.first_seen is not None else 0.0
        last = counterpart.last_seen if counterpart.last_seen is not None else duration_s
        if not first - OUT_OF_SIGHT_S <= table.contact_time <= last + OUT_OF_SIGHT_S:
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
    if entity.lane is not None and lane_count is not None and entity.lane > lane_count:
        yield TableFault("table_lane_in_count", f"{entity.id} is in lane {entity.lane} of {lane_count}")


def _unknown_ids(entity: Entity, ids: Iterable[str]) -> Iterator[TableFault]:
    unknown = sorted(set(ENTITY_ID.findall(entity.descriptor)) - set(ids))
    if unknown:
        yield TableFault(
            "table_ids_referenced", f"{entity.id} is described by {', '.join(unknown)}, which is not there"
        )


def _frozen(entity: Entity, table: EntityTable) -> Iterator[TableFault]:
    """Nobody is faulted for a vehicle that stands: that something moved must follow from the table itself."""
    ordered = sorted({timed.t: timed.box for timed in entity.boxes}.items())
    for box, run in groupby(ordered, key=lambda each: each[1]):
        times = [time for time, _ in run]
        if len(times) >= FROZEN_BOXES and _moved(entity, table, times[0], times[-1]):
            yield TableFault(
                "table_box_not_frozen",
                f"{entity.id} has one and the same box {list(box)} at {len(times)} times, {times[0]:g} s to {times[-1]:g} s",
            )


def _moved(entity: Entity, table: EntityTable, start: float, end: float) -> bool:
    """Whether the picture must have changed between two times: a contact with it in between, or others that moved.

    After a contact vehicles stand while traffic goes by; nothing follows from that.
    """
    if table.contact_time is not None and start >= table.contact_time - SETTLED_S:
        return False
    if entity.role == "counterpart" and table.contact_time is not None and start < table.contact_time <= end:
        return True
    others = (each for each in table.entities if each is not entity)
    return any(len({timed.box for timed in each.boxes if start <= timed.t <= end}) > 1 for each in others)


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
