"""The decision core decides as its version did: over fixed inputs, byte for byte."""

import json
from pathlib import Path
from typing import Any

import make_core
import pytest

from vlmrec.events import Event, decode_payload
from vlmrec.stages.context import CORE_VERSION
from vlmrec.stages.replay import replay_decisions
from vlmrec.terms import ClipId

FOLDER = make_core.FOLDER / f"v{CORE_VERSION}"
ADVICE = (
    f"core {CORE_VERSION} decides otherwise than it did. Released logs are replayed by it, so if that is meant: raise "
    f"CORE_VERSION in vlmrec/stages/context.py, then run `{make_core.COMMAND}` and review what it wrote. (While core "
    f"{CORE_VERSION} is in no release, run the command alone.)"
)


def read_case(name: str) -> tuple[dict[str, Any], list[Event], list[dict[str, Any]], dict[str, bytes]]:
    manifest, *rows = [json.loads(line) for line in (FOLDER / f"{name}.jsonl").read_text("utf-8").splitlines()]
    inputs = [
        Event(row["id"], ClipId("clip"), make_core.TIME, row["causation"], payload(row))
        for row in (each["input"] for each in rows if "input" in each)
    ]
    decisions = [each["decision"] for each in rows if "decision" in each]
    blobs = json.loads((FOLDER / f"{name}.blobs.json").read_text("utf-8"))
    return manifest["manifest"], inputs, decisions, {sha: body.encode("utf-8") for sha, body in blobs.items()}


def payload(row: dict[str, Any]) -> Any:
    return decode_payload(row["type"], json.dumps(row["data"]).encode())


def test_there_are_golden_cases_of_this_core_version() -> None:
    found = {path.stem for path in FOLDER.glob("*.jsonl")}
    assert found == set(make_core.CASES), f"run `{make_core.COMMAND}`"


@pytest.mark.parametrize("name", sorted(make_core.CASES))
def test_the_core_decides_over_stored_inputs_as_it_did(name: str) -> None:
    manifest, inputs, expected, blobs = read_case(name)
    context = make_core.read_context(FOLDER, manifest)
    decided = [make_core.as_json(event) for event in replay_decisions(context, "clip", inputs, blobs.__getitem__)]
    for was, now in zip(expected, decided, strict=False):
        assert now == was, ADVICE
    assert [each["id"] for each in decided] == [each["id"] for each in expected], ADVICE


def test_the_cases_cover_every_kind_of_decision_and_what_can_come_of_it() -> None:
    decisions = [row for name in make_core.CASES for row in read_case(name)[2]]
    assert {row["type"] for row in decisions} == {
        "turn.opened", "reply.parsed", "samples.voted", "table.checked", "answer.validated", "answer.accepted",
        "clip.finished", "clip.failed",
    }  # fmt: skip
    data = [row["data"] for row in decisions]
    assert {each["outcome"] for each in data if "tally" in each} == {"answer", "disagreement", "unusable"}
    assert {each["source"] for each in data if "source" in each} == {"model", "given"}
    assert any(each.get("demoted_by") for each in data)
    assert any(each.get("flags") for each in data)
    assert any(each.get("reason") == "unmapped" for each in data)


def test_other_versions_keep_their_cases() -> None:
    assert {path.name for path in Path(make_core.FOLDER).iterdir()} >= {f"v{CORE_VERSION}"}
