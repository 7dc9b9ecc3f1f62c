"""Labels as events: the last edit that stands, undo, and what becomes a gold file."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from viewer_runs import LEDGER

from vlmrec.errors import InputError
from vlmrec.events import Event, LabelSet, LabelWithdrawn, make_event
from vlmrec.gold import GoldAnswer, GoldLabel, decode_label, encode_label
from vlmrec.terms import Party, Status
from vlmrec.viewer.labels import checked, gold_label, last_edit, merged, standing

TIME = "2026-01-05T09:00:00Z"


def edit(ordinal: int, value: str | None = "on", *, labeler: str = "A", **more: Any) -> Event:
    given: dict[str, Any] = {"question_id": "q_signal", "party": Party.OTHER, "status": Status.OBSERVED, "value": value}
    fields = {**(given if "field" not in more else {}), **more}
    return make_event(LabelSet(ordinal=ordinal, labeler=labeler, data_version="v1", **fields), clip="day", time=TIME)


def withdraw(ordinal: int, label: Event) -> Event:
    data = LabelWithdrawn(ordinal=ordinal, labeler="A", label=label.id)
    return make_event(data, clip="day", time=TIME)


def value_of(events: list[Event], labeler: str = "A") -> str | None:
    edits = standing(events).get(("day", labeler), {})
    found = edits.get(("answer", "q_signal", "other"))
    return found.data.value if found else None


def test_the_last_edit_stands_and_undo_brings_the_one_before_back() -> None:
    first, second = edit(1, "on"), edit(2, "off")
    assert value_of([first, second]) == "off"
    assert last_edit([first, second], "day", "A") == second.id
    undone = [first, second, withdraw(1, second)]
    assert value_of(undone) == "on"
    assert last_edit(undone, "day", "A") == first.id
    assert value_of([*undone, withdraw(2, first)]) is None


@given(st.lists(st.tuples(st.sampled_from(["A", "B"]), st.sampled_from(["on", "off", "undo"])), max_size=30))
def test_one_persons_edits_never_touch_anothers(steps: list[tuple[str, str]]) -> None:
    events: list[Event] = []
    kept: dict[str, list[str]] = {"A": [], "B": []}
    for at, (who, what) in enumerate(steps, start=1):
        if what == "undo":
            last = last_edit(events, "day", who)
            if last is not None:
                events.append(make_event(LabelWithdrawn(ordinal=at, labeler=who, label=last), clip="day", time=TIME))
                kept[who].pop()
        else:
            events.append(edit(at, what, labeler=who))
            kept[who].append(what)
    for who, values in kept.items():
        assert value_of(events, who) == (values[-1] if values else None)


def test_fields_and_boxes_become_stage_0_and_the_file_reads_back() -> None:
    events = [
        edit(1, "on", evidence_start=0.5, evidence_end=0.9, confidence=0.8),
        edit(2, field="gold_leaf", field_value="차43-2"),
        edit(3, field="stage0.contact_time", field_value=1.5),
        edit(4, field="stage0.counterpart_box", field_value={"t": 1.0, "box": [1, 2, 3, 4]}),
        edit(5, field="stage0.counterpart_box", field_value={"t": 1.5, "box": [5, 6, 7, 8]}),
        edit(6, field="stage0.counterpart_box", field_value={"t": 1.0, "box": [9, 9, 10, 10]}),
        edit(7, field="stage0.counterpart_kind", field_value="truck"),
        edit(8, field="layer2_exclude", field_value="policy"),
    ]
    label = gold_label("day", "A", standing(events)[("day", "A")])
    assert label.leaf == "차43-2"
    assert label.layer2_exclude == "policy"
    assert label.stage0 is not None
    (entity,) = label.stage0.entities
    assert entity.kind == "truck"
    assert [(box.t, box.box[0]) for box in entity.boxes] == [(1.0, 9.0), (1.5, 5.0)]
    assert decode_label(encode_label(label), name="day__A.json") == label


def test_edits_stand_over_a_gold_file_answer_by_answer() -> None:
    answers = tuple(
        GoldAnswer(question_id=name, party=Party.OTHER, status=Status.UNKNOWN) for name in ("q_maneuver", "q_signal")
    )
    base = GoldLabel(clip_id="day", labeler="A", answers=answers, gold_leaf="차41-1", data_version="v1")
    made = gold_label("day", "A", standing([edit(1, "on")])[("day", "A")])
    both = merged(base, made)
    assert [(answer.question_id, answer.value) for answer in both.answers] == [("q_maneuver", None), ("q_signal", "on")]
    assert both.gold_leaf == "차41-1"
    other_ledger = GoldLabel(clip_id="day", labeler="A", answers=answers, data_version="v0")
    assert merged(other_ledger, made) == made


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"value": "sideways"}, "not a value"),
        ({"labeler": "a/b"}, "capital letters"),
        ({"status": Status.UNKNOWN}, "a value goes with observed"),
        ({"evidence_start": 2.0, "evidence_end": 1.0}, "before it starts"),
        ({"confidence": 2.0}, "<= 1"),
        ({"field": "self_fault", "field_value": 140}, "<= 100"),
        ({"field": "stage0.ego_lane", "field_value": "two"}, "Expected"),
        ({"field": "stage0.counterpart_box", "field_value": {"t": -1, "box": [1, 2, 3, 4]}}, ">= 0"),
        ({"field": "nonsense", "field_value": 1}, "no field"),
    ],
)
def test_what_no_gold_file_could_hold_is_refused(change: dict[str, Any], why: str) -> None:
    given: dict[str, Any] = {"question_id": "q_signal", "party": Party.OTHER, "status": Status.OBSERVED, "value": "on"}
    if "field" in change:
        given = {}
    wanted = {"ordinal": 1, "labeler": "A", "data_version": "v1", **given, **change}
    with pytest.raises(InputError, match=why):
        checked(LabelSet(**wanted), LEDGER)
