"""Labels as events, and what they come to: the answers and fields that stand, and gold files. Pure.

Each edit is a ``label.set``; taking one back is a ``label.withdrawn``, after which the edit before it
stands again. Nothing is ever overwritten, so two people at once lose nothing: what stands for a
labeller is that labeller's last edit that was not withdrawn, question by question.
"""

import re
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import msgspec
from msgspec.structs import replace

from vlmrec.errors import InputError
from vlmrec.events import Event, LabelSet, LabelWithdrawn
from vlmrec.gold import REVIEWED, GoldAnswer, GoldLabel
from vlmrec.ledger import Ledger
from vlmrec.table import Entity, EntityTable, TimedBox
from vlmrec.terms import Status

LABELER = re.compile(rf"[A-Z0-9]{{1,2}}|{REVIEWED}")
LABEL_FIELDS = {"gold_leaf", "review_leaf", "self_fault", "layer2_exclude"}
TABLE_FIELDS = {"contact_time", "ego_lane", "lane_count"}
ENTITY_FIELDS = {"kind", "heading", "lane", "descriptor", "first_seen", "last_seen"}
BOX = "stage0.counterpart_box"
Slot = tuple[str, ...]


class Standing(NamedTuple):
    """An edit that stands."""

    event: str
    data: LabelSet


def standing(events: Iterable[Event]) -> dict[tuple[str, str], dict[Slot, Standing]]:
    """By clip and labeller, the edits that stand, each under what it is about."""
    withdrawn: set[str] = set()
    made: list[tuple[str, str, LabelSet]] = []
    for event in events:
        if isinstance(event.data, LabelWithdrawn):
            withdrawn.add(event.data.label)
        elif isinstance(event.data, LabelSet) and event.clip is not None:
            made.append((event.id, event.clip, event.data))
    found: dict[tuple[str, str], dict[Slot, Standing]] = {}
    for event_id, clip, data in made:
        if event_id not in withdrawn:
            found.setdefault((clip, data.labeler), {})[slot(data)] = Standing(event_id, data)
    return found


def last_edit(events: Iterable[Event], clip: str, labeler: str) -> str | None:
    """The id of the labeller's last edit of a clip that was not withdrawn."""
    withdrawn: set[str] = set()
    made: list[str] = []
    for event in events:
        if isinstance(event.data, LabelWithdrawn):
            withdrawn.add(event.data.label)
        elif isinstance(event.data, LabelSet) and event.clip == clip and event.data.labeler == labeler:
            made.append(event.id)
    return next((event_id for event_id in reversed(made) if event_id not in withdrawn), None)


def slot(data: LabelSet) -> Slot:
    """What an edit is about: of two edits with one slot the later stands. Boxes at other times are other things."""
    if data.field is None:
        return ("answer", str(data.question_id), str(data.party))
    if data.field == BOX and isinstance(data.field_value, dict):
        return (data.field, f"{float(data.field_value['t']):.2f}")
    return (data.field,)


def checked(data: LabelSet, ledger: Ledger | None) -> LabelSet:
    """``data`` itself. Raises InputError for what no gold file could hold."""
    if LABELER.fullmatch(data.labeler) is None:
        raise InputError(f"labeller {data.labeler!r}: give one or two capital letters or digits, or {REVIEWED!r}")
    try:
        if data.field is None:
            _checked_answer(data, ledger)
        else:
            _with_field(_empty("clip", data), data)
    except (msgspec.ValidationError, ValueError, TypeError, KeyError) as error:
        raise InputError(f"this label can't be kept: {error}") from error
    return data


def gold_label(clip: str, labeler: str, edits: dict[Slot, Standing]) -> GoldLabel:
    """The labeller's gold file of a clip. Answers made with another ledger than the last one's are left out."""
    ordered = sorted((one.data for one in edits.values()), key=lambda data: data.ordinal)
    latest = ordered[-1]
    label = replace(_empty(clip, latest), labeler=labeler)
    answers = [_answer(data) for data in ordered if data.field is None and data.data_version == latest.data_version]
    label = replace(label, answers=tuple(sorted(answers, key=lambda answer: answer.key)))
    for data in ordered:
        if data.field is not None:
            label = _with_field(label, data)
    return label


def merged(base: GoldLabel | None, made: GoldLabel) -> GoldLabel:
    """A gold file with the edits made since on top of it. Of two ledgers the edits' stands alone."""
    if base is None or base.data_version != made.data_version:
        return made
    answers = {answer.key: answer for answer in (*base.answers, *made.answers)}
    kept = {name: getattr(made, name) for name in LABEL_FIELDS if getattr(made, name) is not None}
    if made.stage0 is not None:
        kept["stage0"] = made.stage0
    return replace(base, answers=tuple(answers[key] for key in sorted(answers)), **kept)


def _empty(clip: str, data: LabelSet) -> GoldLabel:
    return GoldLabel(clip_id=clip, labeler=data.labeler, data_version=data.data_version)


def _answer(data: LabelSet) -> GoldAnswer:
    plain = {
        name: getattr(data, name)
        for name in ("question_id", "party", "status", "value", "evidence_start", "evidence_end", "confidence")
    }
    return msgspec.convert(msgspec.to_builtins(plain), GoldAnswer)


def _checked_answer(data: LabelSet, ledger: Ledger | None) -> None:
    answer = _answer(data)
    if (answer.status is Status.OBSERVED) != (answer.value is not None):
        raise ValueError("a value goes with observed, and only with it")
    if (
        answer.evidence_start is not None
        and answer.evidence_end is not None
        and answer.evidence_end < answer.evidence_start
    ):
        raise ValueError(f"the evidence ends at {answer.evidence_end} s, before it starts at {answer.evidence_start} s")
    if ledger is None:
        return
    question = ledger.question(answer.question_id)
    if answer.party not in question.parties:
        raise ValueError(f"{answer.question_id} is not asked for {answer.party}")
    if answer.value is not None and answer.value not in question.codes:
        raise ValueError(f"{answer.value!r} is not a value of {answer.question_id} ({', '.join(question.codes)})")


def _with_field(label: GoldLabel, data: LabelSet) -> GoldLabel:
    name, value = str(data.field), data.field_value
    if name in LABEL_FIELDS:
        plain = msgspec.to_builtins(label) | {name: value}
        return msgspec.convert(plain, GoldLabel)
    group, _, part = name.partition(".")
    if group != "stage0":
        raise ValueError(f"there is no field {name!r}")
    table = label.stage0 or EntityTable()
    if part in TABLE_FIELDS:
        table = msgspec.convert(msgspec.to_builtins(table) | {part: value}, EntityTable)
    elif name == BOX:
        box = msgspec.convert(value, TimedBox)
        if box.box[0] >= box.box[2] or box.box[1] >= box.box[3]:
            raise ValueError("the box is empty")
        counterpart = _counterpart(table)
        boxes = [one for one in counterpart.boxes if f"{one.t:.2f}" != f"{box.t:.2f}"]
        table = _put(table, replace(counterpart, boxes=tuple(sorted([*boxes, box], key=lambda one: one.t))))
    elif part.removeprefix("counterpart_") in ENTITY_FIELDS:
        changed: dict[str, Any] = msgspec.to_builtins(_counterpart(table)) | {part.removeprefix("counterpart_"): value}
        table = _put(table, msgspec.convert(changed, Entity))
    else:
        raise ValueError(f"there is no field {name!r}")
    return replace(label, stage0=table)


def _counterpart(table: EntityTable) -> Entity:
    return next(
        (entity for entity in table.entities if entity.role == "counterpart"),
        Entity(id="counterpart", kind="other", role="counterpart"),
    )


def _put(table: EntityTable, entity: Entity) -> EntityTable:
    others = [one for one in table.entities if one.role != "counterpart"]
    return replace(table, entities=(entity, *others))


def ordinal(events: Sequence[Event], clip: str, kind: type[LabelSet] | type[LabelWithdrawn]) -> int:
    """The next ordinal of its kind for a clip."""
    return 1 + max(
        (event.data.ordinal for event in events if isinstance(event.data, kind) and event.clip == clip), default=0
    )
