"""``vlmrec reply read``: recorded cases, and stored calls of a run."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from media_factory import write_clip
from scripted_server import ChatCall, Reply, answer, completion, error_body, scripted_server

from vlmrec.cli import cli

CASE = {
    "id": "own",
    "reply": {
        "status": 200,
        "json": {
            "model": "m",
            "choices": [{"message": {"content": '```json\n{"kind": "접촉"}\n```'}, "finish_reason": "stop"}],
        },
    },
}
SCHEMA = {"properties": {"kind": {"enum": ["contact", "none"], "x-labels": {"contact": "접촉"}}}, "required": ["kind"]}


def vlmrec(*arguments: str | Path) -> Result:
    return CliRunner().invoke(cli, [str(argument) for argument in arguments])


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    case, schema = tmp_path / "case.json", tmp_path / "schema.json"
    case.write_text(json.dumps(CASE), "utf-8")
    schema.write_text(json.dumps(SCHEMA), "utf-8")
    return case, schema


def test_a_case_is_read_as_one_json_document(files: tuple[Path, Path]) -> None:
    result = vlmrec("reply", "read", files[0], "--schema", files[1], "--json")
    assert result.exit_code == 0, result.output
    read = json.loads(result.stdout)
    assert read["answer"] == {"kind": "contact"}
    assert read["warnings"] == ["text_around_json", "label_mapped", "usage_missing"]
    assert (read["outcome"], read["score_as"], read["retry"], read["stop_run"]) == ("answer", "answer", "no", False)
    assert read["retry_after_s"] is None


def test_a_case_is_read_for_people_too(files: tuple[Path, Path]) -> None:
    assert '{"kind": "contact"}' in vlmrec("reply", "read", files[0], "--schema", files[1]).stdout


def test_every_shared_case_is_printed(shared_data: Path) -> None:
    folder = shared_data / "replies"
    for case in sorted(folder.glob("r*.json")):
        result = vlmrec("reply", "read", case, "--schema", folder / "schema_crash_v1.json", "--json")
        assert result.exit_code == 0, (case, result.output)
        assert json.loads(result.stdout)["outcome"] in ("answer", "no_answer", "error")


@pytest.mark.parametrize("content", ["", "[]", "{", '{"reply": 1}'])
def test_what_is_no_case_is_refused_in_one_line(tmp_path: Path, files: tuple[Path, Path], content: str) -> None:
    broken = tmp_path / "broken.json"
    broken.write_text(content, "utf-8")
    result = vlmrec("reply", "read", broken, "--schema", files[1])
    assert result.exit_code == 2
    assert "Traceback" not in result.output
    assert vlmrec("reply", "read", tmp_path / "none.json", "--schema", files[1]).exit_code == 2
    assert vlmrec("reply", "read", files[0]).exit_code == 2


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A run of one clip whose questions were answered in different manners."""
    (tmp_path / "clips").mkdir()
    write_clip(tmp_path / "clips" / "가 clip.mp4", pts=tuple(range(4)), size=(32, 32))

    def rule(call: ChatCall) -> Any:
        if call.question == "q_collision":
            return f"<think>I see it</think>\n{json.dumps(answer('vehicle_contact'))}"
        if call.question == "q_maneuver" and call.attempt == 1:
            return error_body(503, {"error": {"message": "busy"}}, retry_after="0")
        if call.question == "q_vehicle_kind":
            return completion('{"status": "obs', finish_reason="length")
        if call.question == "q_lane_relation":
            return Reply(413, b"<html><title>too large</title></html>", {"content-type": "text/html"})
        return answer(None)

    store = tmp_path / "store"
    with scripted_server(rule) as server:
        made = vlmrec(
            "extract",
            tmp_path / "clips",
            "--run-id",
            "r",
            "--model",
            "test/m",
            "--base-url",
            server.url,
            "--store",
            store,
        )
    assert "1 failed" in made.output, made.output
    return store / "r.db"


def test_stored_calls_are_shown_with_their_attempts_and_how_they_were_read(run: Path) -> None:
    def read(call: str) -> dict[str, Any]:
        result = vlmrec("reply", "read", run, call, "--json")
        assert result.exit_code == 0, result.output
        found: dict[str, Any] = json.loads(result.stdout)
        return found

    thought = read("가 clip/predicate/q_collision/none/0")
    assert thought["readings"][0]["reasoning"] == "I see it"
    assert thought["readings"][0]["then"]["value"] == "vehicle_contact"
    assert thought["readings"][0]["then"] == thought["readings"][0]["now"]
    retried = read("q_maneuver/other")
    assert [(each["attempt"], each["outcome"]) for each in retried["attempts"]] == [(1, "failed"), (2, "completed")]
    assert retried["attempts"][0]["reason"] == "provider_error"
    cut = read("call.completed/가 clip/predicate/q_vehicle_kind/other/0")
    assert cut["readings"][0]["now"]["reason"] == "truncated"
    refused = read("call.failed/가 clip/predicate/q_lane_relation/none/0/1")
    assert refused["attempts"][0]["hint"]
    assert "<title>" in refused["attempts"][0]["body_start"]
    assert "truncated" in vlmrec("reply", "read", run, "q_vehicle_kind").stdout


def test_a_call_that_is_not_named_well_enough_is_refused_with_the_calls_there_are(run: Path) -> None:
    several = vlmrec("reply", "read", run, "q_maneuver")
    assert several.exit_code == 2
    assert "names 2 calls" in several.stderr
    none = vlmrec("reply", "read", run, "q_nothing")
    assert none.exit_code == 2
    assert "q_collision" in none.stderr
