"""Stage 0 entity tables: made from a scene, and read from a request as hints. Pure.

A table in a request is taken at its word where it says when contact was and which boxes the counterpart has: a good
one helps to find the right vehicle, a wrong one misleads, as it would any model.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from vlmrec.observer.scene import Scene

Box = tuple[float, float, float, float]


class Hint(NamedTuple):
    """What a table in the request says that can steer the judgement. Boxes are in 0..1000 per axis."""

    contact: float | None
    boxes: tuple[tuple[float, Box], ...]


def read_hint(table: Mapping[str, Any] | None) -> Hint | None:
    """The hint in a table as sent; None where there is none. Parts that don't have the contract's form are passed over."""
    if table is None:
        return None
    contact = table.get("contact_time")
    boxes: list[tuple[float, Box]] = []
    entities = table.get("entities")
    for entity in entities if isinstance(entities, list) else ():
        if isinstance(entity, dict) and entity.get("role") == "counterpart":
            shown = entity.get("boxes")
            boxes += [found for item in (shown if isinstance(shown, list) else ()) if (found := _box(item)) is not None]
    hint = Hint(float(contact) if contact is not None and _number(contact) else None, tuple(sorted(boxes)))
    return hint if hint.contact is not None or hint.boxes else None


def entity_table(scene: Scene | None) -> dict[str, Any]:
    """The table of a scene; an empty one where nothing was measured."""
    if scene is None or not scene.usable:
        return {"entities": [], "contact_time": None, "ego_lane": None, "lane_count": None, "camera_events": []}
    rival = scene.rival.track if scene.rival is not None else None
    entities = [
        {
            "id": f"e{number}",
            "kind": sight.kind,
            "role": "counterpart" if sight.track == rival else "other",
            "descriptor": f"vehicle first seen {sight.place}",
            "first_seen": round(sight.first, 2),
            "last_seen": round(sight.last, 2),
            "heading": sight.heading,
            "lane": sight.lane,
            "boxes": [{"t": round(time, 2), "box": list(box)} for time, box in sight.boxes],
        }
        for number, sight in enumerate(scene.sights, start=1)
    ]
    contact = round(scene.contact.time, 2) if scene.contact is not None and scene.rival is not None else None
    knocks = [] if scene.contact is None else [{"t": round(scene.contact.time, 2), "kind": "shake"}]
    return {
        "entities": entities,
        "contact_time": contact,
        "ego_lane": scene.ego_lane,
        "lane_count": scene.lane_count,
        "camera_events": knocks,
    }


def _box(item: Any) -> tuple[float, Box] | None:
    if not isinstance(item, dict) or not _number(item.get("t")):
        return None
    box = item.get("box")
    if not isinstance(box, list) or len(box) != 4 or not all(_number(part) for part in box):
        return None
    return float(item["t"]), (float(box[0]), float(box[1]), float(box[2]), float(box[3]))


def _number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)
