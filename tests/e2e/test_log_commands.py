"""``verify``, ``events`` and ``note`` as a person runs them."""

import json
import shutil
import sqlite3
import subprocess
import sys
import unicodedata
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator
from logs import tampering
from runbuilder import RunBuilder

from vlmrec.events import RunStopped

VLMREC = [sys.executable, "-m", "vlmrec.cli"]


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    run = RunBuilder(run_id="demo", clips=["클립 1"])
    run.clip("클립 1").turn("q_maneuver", "other", value="straight").submit("confirmed", ["차43-2"]).finish()
    run.add(RunStopped(ordinal=1, reason="done"))
    return run.write(tmp_path_factory.mktemp("commands"))


@pytest.fixture
def store(tmp_path: Path, template: Path) -> Path:
    shutil.copy(template, tmp_path)
    return tmp_path


def vlmrec(store: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [*VLMREC, *arguments, "--store", str(store)]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)


def test_verify_says_that_a_log_holds(store: Path) -> None:
    done = vlmrec(store, "verify", "demo")
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert lines[0].endswith("run log, 13 events, 3 blobs")
    assert lines[1].startswith("head ")
    head = lines[1].removeprefix("head ")
    again = vlmrec(store, "verify", "demo", "--head", head)
    assert again.returncode == 0
    assert "0 events follow it" in again.stdout


def test_verify_names_the_broken_row_and_ends_with_one(store: Path) -> None:
    with tampering(store / "demo.db") as connection:
        connection.execute(
            "UPDATE events SET data = replace(data, 'straight', 'stopped!') WHERE type = 'answer.accepted'"
        )
    done = vlmrec(store, "verify", "demo")
    assert done.returncode == 1
    assert "FAULT event" in done.stdout
    assert "answer.accepted/클립 1/predicate/q_maneuver/other" in done.stderr
    assert "Traceback" not in done.stderr
    as_json = vlmrec(store, "verify", "demo", "--json")
    assert as_json.returncode == 1
    assert json.loads(as_json.stdout)["log"]["faults"][0]["seq"] > 0


@pytest.mark.parametrize(("head", "code"), [("ab" * 32, 1), ("short", 2)])
def test_verify_refuses_a_head_that_is_not_there(store: Path, head: str, code: int) -> None:
    done = vlmrec(store, "verify", "demo", "--head", head)
    assert done.returncode == code
    assert "Error: " in done.stderr


def test_verify_of_what_is_no_log_is_one_clear_line(store: Path) -> None:
    (store / "text.db").write_text("hello " * 1000)
    sqlite3.connect(store / "other.db").execute("CREATE TABLE t (x)").connection.close()
    for name in ("text", "other"):
        done = vlmrec(store, "verify", name)
        assert done.returncode == 2
        assert done.stderr.count("\n") == 1
    assert sorted(path.name for path in store.iterdir()) == ["demo.db", "other.db", "text.db"]


def test_events_prints_the_stored_rows(store: Path) -> None:
    done = vlmrec(store, "events", "demo")
    assert (done.returncode, done.stderr) == (0, "")
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert [row["seq"] for row in rows] == list(range(1, 14))
    assert rows[0]["type"] == "run.started"
    only = vlmrec(
        store, "events", "demo", "--type", "turn.opened", "--type", "clip.finished", "--clip", "클립 1", "--after", "4"
    )
    assert [json.loads(line)["type"] for line in only.stdout.splitlines()] == ["clip.finished"]


def test_events_of_a_stopped_run_can_be_followed_to_their_end(store: Path) -> None:
    assert vlmrec(store, "events", "demo", "--follow").stdout == vlmrec(store, "events", "demo").stdout


def test_events_as_cloudevents_are_valid_and_carry_the_stored_data(store: Path) -> None:
    plain = [json.loads(line) for line in vlmrec(store, "events", "demo").stdout.splitlines()]
    done = vlmrec(store, "events", "demo", "--format", "cloudevents")
    events = [json.loads(line) for line in done.stdout.splitlines()]
    required = {"required": ["specversion", "id", "source", "type"], "properties": {"specversion": {"const": "1.0"}}}
    for row, event in zip(plain, events, strict=True):
        Draft202012Validator(required).validate(event)
        assert (event["id"], event["data"]) == (row["id"], row["data"])
        assert event["source"].startswith("urn:uuid:")
    assert len({(event["source"], event["id"]) for event in events}) == len(events)


def test_events_refuses_a_type_that_does_not_exist(store: Path) -> None:
    done = vlmrec(store, "events", "demo", "--type", "call")
    assert done.returncode == 2
    assert "there are: answer.accepted, " in done.stderr


@pytest.mark.parametrize("follow", [[], ["--follow"]])
def test_events_refuses_a_clip_that_the_run_does_not_have(store: Path, follow: list[str]) -> None:
    done = vlmrec(store, "events", "demo", "--clip", "클립 2", *follow)
    assert (done.returncode, done.stdout) == (2, "")
    assert "demo has no clip '클립 2'; did you mean '클립 1'? its clips: 클립 1" in done.stderr


def test_events_refuses_a_place_before_the_first(store: Path) -> None:
    done = vlmrec(store, "events", "demo", "--after", "-1")
    assert done.returncode == 2
    assert "--after" in done.stderr


def test_a_clip_is_found_by_its_name_in_either_unicode_form(store: Path) -> None:
    name = unicodedata.normalize("NFD", "클립 1")
    for command in (["events", "demo", "--clip"], ["show", "demo"], ["note", "demo", "x", "--clip"]):
        done = vlmrec(store, *command, name)
        assert (done.returncode, done.stderr) == (0, ""), command
    noted = vlmrec(store, "events", "demo", "--type", "note.added").stdout
    assert json.loads(noted)["data"]["clip"] == "클립 1"


def test_a_reader_that_leaves_early_is_no_error(store: Path) -> None:
    command = f"{sys.executable} -m vlmrec.cli events demo --store {store} | head -1"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
    assert done.stdout.count("\n") == 1
    assert "Traceback" not in done.stderr


def test_a_note_is_added_sealed_and_seen(store: Path) -> None:
    done = vlmrec(
        store, "note", "demo", "잘못된 클립", "--exclude", "--clip", "클립 1", "--question", "q_maneuver/other"
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("demo: noted as event 14, head ")
    found = vlmrec(store, "events", "demo", "--type", "note.added").stdout
    data = json.loads(found)["data"]
    assert (data["text"], data["exclude"], data["clip"], data["party"]) == ("잘못된 클립", True, "클립 1", "other")
    assert vlmrec(store, "verify", "demo").returncode == 0
    assert sorted(path.name for path in store.iterdir()) == ["demo.db", "demo.db.lock"]
    missing = vlmrec(store, "note", "demo", "x", "--clip", "nowhere")
    assert missing.returncode == 2
    assert "has no clip 'nowhere'; its clips: 클립 1" in missing.stderr


def test_an_unknown_run_is_refused_with_those_there_are(store: Path) -> None:
    for command in (["verify", "x"], ["events", "x"], ["note", "x", "text"]):
        done = vlmrec(store, *command)
        assert done.returncode == 2
        assert "demo" in done.stderr
