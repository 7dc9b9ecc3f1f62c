"""An extraction that is killed at random moments and resumed loses nothing, repeats nothing, and ends the same."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

import pytest
from media_factory import write_clip

from vlmrec.engine.reference import load_reference, versions
from vlmrec.log.reader import open_log
from vlmrec.log.verify import verify_log

CLIPS = 3
VLMREC = [sys.executable, "-m", "vlmrec.cli"]


class Observer:
    """A counting observer in its own process."""

    def __init__(self, folder: Path, delay_s: float) -> None:
        self.seen = folder / "requests.txt"
        script = Path(__file__).parent.parent / "counting_observer.py"
        command = [sys.executable, str(script), str(self.seen), str(delay_s)]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        self.url = self.process.stdout.readline().strip()

    def requests(self) -> list[str]:
        return [unquote(line) for line in self.seen.read_text("ascii").splitlines()] if self.seen.exists() else []

    def close(self) -> None:
        self.process.terminate()
        self.process.wait()
        assert self.process.stdout is not None
        self.process.stdout.close()


@pytest.fixture
def observer(tmp_path: Path) -> Iterator[Observer]:
    served = Observer(tmp_path, 0.01)
    yield served
    served.close()


@pytest.fixture
def clips(tmp_path: Path) -> Path:
    folder = tmp_path / "clips"
    folder.mkdir()
    for number in range(CLIPS):
        write_clip(folder / f"한글 clip {number}.mp4", pts=tuple(range(6 + number)))
    (folder / "broken.mp4").write_bytes(b"\0" * 100)
    return folder


def extract(store: Path, *arguments: str) -> "subprocess.Popen[bytes]":
    environment = {**os.environ, "VLMREC_STORE": str(store)}
    command = [*VLMREC, "extract", "--workers", "3", "--in-flight", "4", *arguments]
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def finish(process: "subprocess.Popen[bytes]") -> tuple[int, str]:
    output, errors = process.communicate(timeout=240)
    return process.returncode, (output + errors).decode()


def has_begun(log: Path) -> bool:
    if not log.exists():
        return False
    with open_log(log) as reader:
        return reader.last_seq() > 0


def run_with_kills(
    run_id: str, store: Path, clips: Path, observer: Observer, chance: random.Random, *, kills: int
) -> int:
    """Kill the run ``kills`` times at random moments while it lasts, then let it end. Returns the kills that hit it."""
    log = store / f"{run_id}.db"
    arguments = [str(clips), "--run-id", run_id, "--base-url", observer.url]
    hit = 0
    acknowledged: list[str] = []
    while hit < kills:
        process = extract(store, *arguments, *(["--resume"] if has_begun(log) else []))
        before = len(observer.requests())
        deadline = time.monotonic() + 60
        while process.poll() is None and len(observer.requests()) == before and time.monotonic() < deadline:
            time.sleep(0.005)
        time.sleep(chance.random() * 0.25)
        if process.poll() is not None:
            code, said = finish(process)
            assert code == 1, said
            return hit
        os.kill(process.pid, signal.SIGKILL)
        process.communicate()
        hit += 1
        if log.exists():
            with open_log(log) as reader:
                if (head := reader.head()) is not None:
                    acknowledged.append(head)
    code, said = finish(extract(store, *arguments, *(["--resume"] if has_begun(log) else [])))
    assert code == 1, said
    for head in acknowledged:
        assert verify_log(log, head).holds, f"an event that was on disk is gone: {head}"
    return hit


def check_nothing_repeated(log: Path, requests: list[str]) -> int:
    """The issue's bound on sends, and a recorded request behind every one. Returns the calls in doubt."""
    with open_log(log) as reader:
        uuid = reader.info.uuid
        requested = list(reader.events(["call.requested"]))
        completed = Counter(event.id for event in reader.events(["call.completed"]))
        in_doubt = sum(event.data.in_doubt for event in reader.events(["call.failed"]))  # type: ignore[attr-defined]
    keys = {(event.clip, event.data.call_key()) for event in requested}  # type: ignore[attr-defined]
    mine = [request for request in requests if request.startswith(uuid)]
    assert len(mine) <= len(keys) + in_doubt
    assert set(completed.values()) == {1}
    assert len(completed) == len(keys)
    recorded = {event.id.removeprefix("call.requested/") for event in requested}
    assert {request.removeprefix(f"{uuid}/") for request in mine} <= recorded
    return in_doubt


def outcome(run_id: str, store: Path, gold: Path) -> dict[str, object]:
    environment = {**os.environ, "VLMREC_STORE": str(store)}
    command = [*VLMREC, "score", run_id, "--gold", str(gold), "--json"]
    said = subprocess.run(command, env=environment, capture_output=True, check=True).stdout
    document: dict[str, object] = json.loads(said)
    document.pop("measured")
    document.pop("provenance")
    return document


def make_gold(folder: Path) -> Path:
    folder.mkdir()
    for number in range(CLIPS):
        name = f"한글 clip {number}"
        label = {
            "clip_id": name,
            "labeler": "A",
            "answers": [
                {"question_id": "q_collision", "party": "none", "status": "observed", "value": "vehicle_contact"}
            ],
            "gold_leaf": "차43-2",
            "data_version": load_reference(versions()[-1]).data_version,
        }
        (folder / f"{name}.json").write_text(json.dumps(label), encoding="utf-8")
    return folder


def check_runs(tmp_path: Path, clips: Path, observer: Observer, *, runs: int, kills: int) -> tuple[int, int]:
    store, gold = tmp_path / "store", make_gold(tmp_path / "gold")
    code, said = finish(extract(store, str(clips), "--run-id", "whole", "--base-url", observer.url))
    assert code == 1, said
    expected = outcome("whole", store, gold)
    hits = doubts = 0
    for number in range(runs):
        run_id = f"killed-{number}"
        hits += run_with_kills(run_id, store, clips, observer, random.Random(number), kills=kills)
        log = store / f"{run_id}.db"
        doubts += check_nothing_repeated(log, observer.requests())
        verify = subprocess.run([*VLMREC, "verify", "--replay", str(log)], capture_output=True, text=True, check=False)
        assert verify.returncode == 0, verify.stdout + verify.stderr
        assert outcome(run_id, store, gold) == expected
    return hits, doubts


def test_a_run_killed_and_resumed_sends_nothing_twice_and_ends_the_same(
    tmp_path: Path, clips: Path, observer: Observer
) -> None:
    hits, _ = check_runs(tmp_path, clips, observer, runs=1, kills=3)
    assert hits == 3


@pytest.mark.deep
def test_two_hundred_kills_over_several_runs_lose_and_repeat_nothing(
    tmp_path: Path, clips: Path, observer: Observer
) -> None:
    hits, doubts = check_runs(tmp_path, clips, observer, runs=20, kills=10)
    print(f"{hits} kills, {doubts} calls in doubt")
    assert hits >= 200
    assert doubts > 0
