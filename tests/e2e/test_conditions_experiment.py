"""An experiment of four conditions: planned, killed and started again, over budget, and refused where it is another."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner
from media_factory import write_clip

from vlmrec.cli import cli
from vlmrec.engine.reference import load_reference, versions
from vlmrec.log.reader import open_log

VLMREC = [sys.executable, "-m", "vlmrec.cli"]
NAMES = ("plain", "grounded", "table", "english")
FILE = """
clips = ["clips"]
base = "V=frames-3"
{more}
[settings]
max_tokens = 512
workers = 2

[[condition]]
name = "plain"

[[condition]]
name = "grounded"
set = "G3"

[[condition]]
name = "table"
set = "S2"
stage0_from = "gold:gold"

[[condition]]
name = "english"
set = "L=en"
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    clips, gold = tmp_path / "clips", tmp_path / "gold"
    clips.mkdir()
    gold.mkdir()
    version = load_reference(versions()[-1]).data_version
    answer = {"question_id": "q_collision", "party": "none", "status": "observed", "value": "vehicle_contact"}
    for number in range(2):
        write_clip(clips / f"clip-{number}.mp4", pts=tuple(range(4 + number)))
        label = {
            "clip_id": f"clip-{number}",
            "answers": [answer],
            "gold_leaf": "차43-2",
            "data_version": version,
            "stage0": {"entities": [{"id": "e1", "kind": "car", "role": "counterpart"}], "contact_time": 0.2},
        }
        (gold / f"clip-{number}.json").write_text(json.dumps(label), encoding="utf-8")
    write(tmp_path / "whole.toml")
    write(tmp_path / "killed.toml")
    return tmp_path


def write(path: Path, more: str = "", **changes: str) -> Path:
    text = FILE.format(more=more)
    for old, new in changes.items():
        text = text.replace(old, new)
    path.write_text(text, encoding="utf-8")
    return path


def start(folder: Path, name: str, *arguments: str) -> "subprocess.Popen[bytes]":
    command = [*VLMREC, "experiment", str(folder / f"{name}.toml"), "--store", str(folder / "store"), *arguments]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def finish(process: "subprocess.Popen[bytes]") -> tuple[int, str, str]:
    output, errors = process.communicate(timeout=240)
    return process.returncode, output.decode(), errors.decode()


def events(folder: Path) -> int:
    count = 0
    for log in (folder / "store").glob("killed-*.db"):
        with open_log(log) as reader:
            count += reader.last_seq()
    return count


def here(*arguments: str) -> str:
    """A command in this process: only what is killed needs one of its own."""
    result = CliRunner().invoke(cli, list(arguments))
    assert result.exit_code == 0, result.output
    return result.stdout


def score(folder: Path, run_id: str) -> dict[str, object]:
    said = here("score", run_id, "--store", str(folder / "store"), "--gold", str(folder / "gold"), "--json")
    document: dict[str, object] = json.loads(said)
    return {name: value for name, value in document.items() if name not in ("measured", "provenance")}


def test_an_experiment_that_is_killed_and_started_again_ends_as_one_that_was_not(folder: Path) -> None:
    code, output, errors = finish(start(folder, "whole", "--json"))
    assert code == 0, errors
    assert [run["result"]["finished"] for run in json.loads(output)["runs"]] == [2, 2, 2, 2]
    chance, hits = random.Random(4), 0
    while hits < 2:
        process = start(folder, "killed")
        before, deadline = events(folder), time.monotonic() + 60
        while process.poll() is None and events(folder) < before + 20 and time.monotonic() < deadline:
            time.sleep(0.01)
        time.sleep(chance.random() * 0.4)
        if process.poll() is not None:
            process.communicate()
            break
        os.kill(process.pid, signal.SIGKILL)
        process.communicate()
        hits += 1
    assert hits == 2
    code, _, errors = finish(start(folder, "killed"))
    assert code == 0, errors
    for name in NAMES:
        assert score(folder, f"killed-{name}") == score(folder, f"whole-{name}")
        log = str(folder / "store" / f"killed-{name}.db")
        here("verify", "--replay", log)
    output = here("experiment", str(folder / "killed.toml"), "--store", str(folder / "store"), "--json")
    assert all(run["skipped"] for run in json.loads(output)["runs"])


def test_a_dry_run_prints_what_would_be_done_and_makes_nothing(folder: Path) -> None:
    shared = ["experiment", str(folder / "whole.toml"), "--store", str(folder / "store"), "--dry-run"]
    output = here(*shared, "--json")
    plans = json.loads(output)["runs"]
    assert [plan["run_id"] for plan in plans] == [f"whole-{name}" for name in NAMES]
    assert [plan["differs"] for plan in plans] == [
        "",
        "G: 0 -> 3",
        "S: 0 -> 2, table: model -> gold:gold",
        "L: ko -> en",
    ]
    assert {plan["state"] for plan in plans} == {"new"}
    assert len({plan["short_hash"] for plan in plans}) == 4
    assert all(0 < plan["calls_at_least"] < plan["calls_at_most"] for plan in plans)
    assert not (folder / "store").exists()
    assert "G: 0 -> 3" in here(*shared)


def test_one_budget_covers_all_runs_and_the_rest_is_left_for_later(folder: Path) -> None:
    write(
        folder / "killed.toml",
        **{'[[condition]]\nname = "plain"': '[budget]\nmax_calls = 30\n\n[[condition]]\nname = "plain"'},
    )
    code, output, errors = finish(start(folder, "killed", "--json"))
    assert code == 3, errors
    runs = json.loads(output)["runs"]
    reasons = [run["result"]["reason"] if run["result"] else None for run in runs]
    assert "budget" in reasons
    assert reasons[-1] is None
    sent = 0
    for log in (folder / "store").glob("killed-*.db"):
        with open_log(log) as reader:
            sent += reader.count(["call.requested"])
    assert sent == 30
    write(folder / "killed.toml")
    shared = ["experiment", str(folder / "killed.toml"), "--store", str(folder / "store"), "--dry-run", "--json"]
    states = [plan["state"] for plan in json.loads(here(*shared))["runs"]]
    assert states == ["done"] * states.index("unfinished") + ["unfinished"] + ["new"] * (3 - states.index("unfinished"))


def test_a_stored_run_with_other_settings_is_refused_with_the_first_that_differs(folder: Path) -> None:
    write(folder / "killed.toml", **{"max_tokens = 512": "max_tokens = 512\nseed = 1"})
    text = (folder / "killed.toml").read_text("utf-8")
    (folder / "killed.toml").write_text(text[: text.index('[[condition]]\nname = "grounded"')], encoding="utf-8")
    code, _, errors = finish(start(folder, "killed"))
    assert code == 0, errors
    write(folder / "killed.toml")
    code, _, errors = finish(start(folder, "killed"))
    assert code == 2
    assert "parameters.seed is 1 there and 0 in the file" in errors
