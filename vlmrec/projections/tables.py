"""Stage 0 against its labels: contact time, counterpart, heading, lanes, boxes. Pure."""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from msgspec import Struct

from vlmrec.projections.layer1 import share
from vlmrec.projections.meter import median
from vlmrec.table import Entity, EntityTable

SAME_MOMENT_S = 0.25
"""Two boxes are of one moment when no further apart than this."""
SAME_VEHICLE = 0.3
"""Two counterparts are one vehicle when their boxes overlap by this mean intersection over union."""
CONTACT_CLOSE_S = 0.5


class Hits(Struct, frozen=True, kw_only=True):
    """How many of those that could be compared agree."""

    right: int
    of: int
    share: float | None


class Stage0(Struct, frozen=True, kw_only=True):
    """Tables against labels, over the clips that have both."""

    labelled: int
    tables: int
    unusable: int
    """Clips with a label whose table could not be used or is missing."""
    contact_median_s: float | None
    contact_close: Hits
    """Contact times no more than half a second from the label's."""
    contact_presence: Hits
    """Whether there is a contact at all."""
    counterpart: Hits
    heading: Hits
    lane: Hits
    ego_lane: Hits
    lane_count: Hits
    box_iou_median: float | None


class Compared(NamedTuple):
    """One clip's table beside its label; None where they can't be compared."""

    contact_off: float | None
    contact_presence: bool
    counterpart: bool | None
    heading: bool | None
    lane: bool | None
    ego_lane: bool | None
    lane_count: bool | None
    iou: float | None


class _Box(Protocol):
    @property
    def t(self) -> float: ...
    @property
    def box(self) -> tuple[float, float, float, float]: ...


def compared(table: EntityTable, gold: EntityTable) -> Compared:
    """A table beside its label."""
    ours, theirs = table.counterpart, _counterpart(gold)
    iou = mean_iou(ours.boxes, theirs.boxes) if ours is not None and theirs is not None else None
    off = None
    if table.contact_time is not None and gold.contact_time is not None:
        off = abs(table.contact_time - gold.contact_time)
    return Compared(
        contact_off=off,
        contact_presence=(table.contact_time is None) == (gold.contact_time is None),
        counterpart=_same_counterpart(ours, theirs, iou),
        heading=_equal(ours.heading if ours else None, _known(theirs.heading) if theirs else None),
        lane=_equal(ours.lane if ours else None, theirs.lane if theirs else None),
        ego_lane=_equal(table.ego_lane, gold.ego_lane),
        lane_count=_equal(table.lane_count, gold.lane_count),
        iou=iou,
    )


def stage0(pairs: Sequence[Compared], *, labelled: int) -> Stage0:
    """The figures over all clips that could be compared."""
    offs = [pair.contact_off for pair in pairs if pair.contact_off is not None]
    return Stage0(
        labelled=labelled,
        tables=len(pairs),
        unusable=labelled - len(pairs),
        contact_median_s=median(offs),
        contact_close=_hits([off <= CONTACT_CLOSE_S for off in offs]),
        contact_presence=_hits([pair.contact_presence for pair in pairs]),
        counterpart=_hits([pair.counterpart for pair in pairs]),
        heading=_hits([pair.heading for pair in pairs]),
        lane=_hits([pair.lane for pair in pairs]),
        ego_lane=_hits([pair.ego_lane for pair in pairs]),
        lane_count=_hits([pair.lane_count for pair in pairs]),
        box_iou_median=median(pair.iou for pair in pairs if pair.iou is not None),
    )


def mean_iou(boxes: Sequence[_Box], gold: Sequence[_Box]) -> float | None:
    """Mean intersection over union, each of our boxes beside the label's nearest in time; None without a common moment."""
    found = []
    for box in boxes:
        nearest = min(gold, key=lambda other: (abs(other.t - box.t), other.t), default=None)
        if nearest is not None and abs(nearest.t - box.t) <= SAME_MOMENT_S:
            found.append(_iou(box.box, nearest.box))
    return sum(found) / len(found) if found else None


def _iou(a: tuple[float, float, float, float], b: tuple[float, float, float, float]) -> float:
    width = min(a[2], b[2]) - max(a[0], b[0])
    height = min(a[3], b[3]) - max(a[1], b[1])
    common = max(0.0, width) * max(0.0, height)
    either = (a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]) - common
    return common / either if either > 0 else 0.0


def _counterpart(gold: EntityTable) -> Entity | None:
    named = [entity for entity in gold.entities if entity.role == "counterpart"]
    return named[0] if len(named) == 1 else None


def _same_counterpart(ours: Entity | None, theirs: Entity | None, iou: float | None) -> bool | None:
    """Right when both name none, or both name one in the same place; unknown without boxes of one moment."""
    if ours is None or theirs is None:
        return ours is None and theirs is None
    return None if iou is None else iou >= SAME_VEHICLE


def _known(heading: str) -> str | None:
    return None if heading == "unknown" else heading


def _equal(ours: str | int | None, gold: str | int | None) -> bool | None:
    """Whether a labelled thing is right; what the table leaves open is not. None where nothing is labelled."""
    return None if gold is None else ours == gold


def _hits(found: Sequence[bool | None]) -> Hits:
    known = [hit for hit in found if hit is not None]
    return Hits(right=sum(known), of=len(known), share=share(sum(known), len(known)))
