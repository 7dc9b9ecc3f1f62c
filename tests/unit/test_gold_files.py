"""Gold files: what is read, what is refused and how the refusal names file and key."""

import json
import unicodedata
from pathlib import Path
from typing import Any

import pytest

from vlmrec.errors import InputError
from vlmrec.gold import (
    GoldAnswer,
    GoldLabel,
    decode_label,
    encode_label,
    gold_set,
    label_name,
    load_gold,
    split_name,
    write_gold,
)
from vlmrec.table import Entity, EntityTable, TimedBox
from vlmrec.terms import Party, Status

VERSION = "0.1.3+abc"


def label(clip_id: str = "k1", **changes: Any) -> GoldLabel:
    return GoldLabel(clip_id=clip_id, data_version=VERSION, **changes)


def body(**changes: Any) -> bytes:
    return json.dumps({"clip_id": "k1", "data_version": VERSION, **changes}, ensure_ascii=False).encode()


def answer(**changes: Any) -> dict[str, Any]:
    return {"question_id": "q_maneuver", "party": "other", "status": "observed", "value": "straight", **changes}


def test_a_label_comes_back_from_its_file_as_it_was_written(tmp_path: Path) -> None:
    written = label(
        labeler="reviewed",
        answers=(
            GoldAnswer(
                question_id="q_maneuver",
                party=Party.OTHER,
                status=Status.OBSERVED,
                value="lane_change",
                evidence_start=1.5,
                evidence_end=3.0,
                confidence=0.8,
            ),
            GoldAnswer(question_id="q_order", party=Party.NONE, status=Status.OFF_SCREEN),
        ),
        gold_leaf="차43-2",
        self_fault=30,
        equivalent_leaves=("차43-3",),
        layer2_exclude="policy",
        stage0=EntityTable(
            entities=(
                Entity(id="e1", kind="car", role="counterpart", boxes=(TimedBox(t=1.0, box=(0.0, 0.0, 10.0, 20.0)),)),
            ),
            contact_time=4.2,
            lane_count=3,
        ),
    )
    path = write_gold(tmp_path, written)
    assert path.name == "k1.json"
    assert load_gold(tmp_path).reviewed == {"k1": written}
    assert encode_label(decode_label(encode_label(written), name="k1.json")) == path.read_bytes()


def test_a_labellers_file_is_kept_apart_from_the_reviewed_one(tmp_path: Path) -> None:
    write_gold(tmp_path, label(labeler="A", gold_leaf="차41-1"))
    write_gold(tmp_path, label(gold_leaf="차43-2"))
    found = load_gold(tmp_path)
    assert found.reviewed["k1"].gold_leaf == "차43-2"
    assert found.labellers["A"]["k1"].gold_leaf == "차41-1"
    assert found.clip_ids == ("k1",)


def test_a_reviewed_file_may_name_the_person_who_reviewed_it() -> None:
    found = decode_label(body(labeler="kim"), name="k1.json")
    assert found.labeler == "kim"
    assert label_name(found) == "k1.json"


def test_files_set_aside_and_other_files_are_no_labels(tmp_path: Path) -> None:
    (tmp_path / "_notes.json").write_text("not a label")
    (tmp_path / "readme.txt").write_text("nor this")
    write_gold(tmp_path, label())
    assert list(load_gold(tmp_path).reviewed) == ["k1"]


@pytest.mark.parametrize(
    ("name", "clip", "labeler"),
    [
        ("k1.json", "k1", None),
        ("k1__A.json", "k1", "A"),
        ("a__b.json", "a__b", None),
        ("a__b__B.json", "a__b", "B"),
        ("__A.json", "__A", None),
    ],
)
def test_the_name_says_clip_and_labeller(name: str, clip: str, labeler: str | None) -> None:
    assert split_name(name) == (clip, labeler)


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        (b"{", "not valid JSON"),
        (body(gold_leef="x"), "gold_leef"),
        (body(clip_id="k2"), "clip_id is 'k2'"),
        (json.dumps({"clip_id": "k1"}).encode(), "data_version"),
        (body(answers=[answer(party="both")]), r"answers\[0\].party"),
        (body(answers=[answer(status="unknown")]), r"answers\[0\] \(q_maneuver, other\).*value"),
        (body(answers=[answer(value=None)]), r"answers\[0\].*value"),
        (body(answers=[answer(), answer(value="stopped")]), r"answers\[1\].*already answered"),
        (body(answers=[answer(evidence_start=3, evidence_end=2)]), "evidence_end 2.0 lies before"),
        (body(answers=[answer(confidence=1.2)]), "confidence"),
        (body(layer2_exclude="whatever"), "layer2_exclude"),
        (body(self_fault=120), "self_fault"),
    ],
)
def test_a_bad_file_is_refused_naming_file_and_key(broken: bytes, message: str) -> None:
    with pytest.raises(InputError, match=message) as error:
        decode_label(broken, name="k1.json", shown="gold/k1.json")
    assert "gold/k1.json" in str(error.value)


def test_a_labeller_that_disagrees_with_the_name_is_refused() -> None:
    with pytest.raises(InputError, match="labeler is 'B'"):
        decode_label(body(labeler="B"), name="k1__A.json")


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no_such"):
        load_gold(tmp_path / "no_such")


def test_a_folder_without_labels_is_refused_unless_they_are_still_to_come(tmp_path: Path) -> None:
    (tmp_path / "_notes.json").write_text("not a label")
    with pytest.raises(InputError, match=f"no labels in {tmp_path} .*<clip_id>.json"):
        load_gold(tmp_path)
    assert load_gold(tmp_path, may_be_empty=True).clip_ids == ()


def test_names_in_either_unicode_form_are_one_clip() -> None:
    name = "사고_1"
    decomposed = unicodedata.normalize("NFD", name)
    found = gold_set({f"{decomposed}.json": body(clip_id=name)})
    assert list(found.reviewed) == [name]
    assert found.content == gold_set({f"{name}.json": body(clip_id=name)}).content


def test_two_files_for_one_clip_are_refused_with_both_names() -> None:
    name = "사고_1"
    decomposed = unicodedata.normalize("NFD", name)
    with pytest.raises(InputError, match="already labelled"):
        gold_set({f"{name}.json": body(clip_id=name), f"{decomposed}.json": body(clip_id=name)})


def test_the_content_hash_depends_on_bytes_and_names_but_not_on_order() -> None:
    files = {"k1.json": body(), "k2.json": body(clip_id="k2")}
    content = gold_set(files).content
    assert gold_set(dict(reversed(files.items()))).content == content
    assert gold_set({**files, "k2.json": body(clip_id="k2", gold_leaf="차41-1")}).content != content
    assert gold_set({"k1.json": body()}).content != content


def test_the_reviews_leaf_stands_over_the_labels() -> None:
    found = label(gold_leaf="차43-2", review_leaf="차41-1", equivalent_leaves=("차42-1",))
    assert found.leaf == "차41-1"
    assert found.accepted_leaves == {"차41-1", "차42-1"}
    assert label().accepted_leaves == frozenset()


@pytest.mark.parametrize(
    ("box", "message"),
    [([900, 10, 100, 20], "x2 100 lies before x1 900"), ([10, 800, 20, 100], "y2 100 lies before y1 800")],
)
def test_a_box_that_ends_before_it_begins_is_refused_naming_its_key(box: list[int], message: str) -> None:
    entity = {"id": "e1", "kind": "car", "boxes": [{"t": 1, "box": [0, 0, 0, 0]}, {"t": 2, "box": box}]}
    key = r"gold/k1.json: stage0.entities\[0\].boxes\[1\].box \(e1 at 2 s\): "
    with pytest.raises(InputError, match=key + message):
        decode_label(body(stage0={"entities": [entity]}), name="k1.json", shown="gold/k1.json")
