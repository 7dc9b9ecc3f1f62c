"""The log between processes: one writer, death at any moment, readers beside a writer. Real processes, real files."""

import json
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from logs import completed, create, filled, query, requested, stopped

from vlmrec.log.reader import open_log
from vlmrec.log.sealing import seal_if_idle
from vlmrec.log.verify import verify_log
from vlmrec.log.writer import LogWriter

VLMREC = [sys.executable, "-m", "vlmrec.cli"]
TESTS = str(Path(__file__).parents[1])

WRITE = """
import asyncio, sys, threading
from pathlib import Path
sys.path.insert(0, sys.argv[2])
from logs import create, requested, completed, stopped
from vlmrec.log.writer import LogWriter

path, first = Path(sys.argv[1]), int(sys.argv[3])
writer = LogWriter.open(path) if path.exists() else create(path)
ready = threading.Event()

async def produce(lane):
    number = first + lane
    while True:
        for event, blob in (requested(number), completed(number)):
            await writer.append_async([event], [blob])
            print(event.id, flush=True)  # acknowledged, and told to somebody who outlives this process
        number += 8

async def main():
    await asyncio.gather(*(produce(lane) for lane in range(8)))

asyncio.run(main())
"""


def start_writer(path: Path, first: int) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", WRITE, str(path), TESTS, str(first)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def kill_at_random(path: Path, rounds: int, chance: random.Random) -> None:
    acknowledged: list[str] = []
    for turn in range(rounds):
        process = start_writer(path, turn * 100_000)
        lines: list[str] = []
        assert process.stdout is not None
        reading = threading.Thread(target=lines.extend, args=(process.stdout,))
        first_line = process.stdout.readline()
        reading.start()
        time.sleep(chance.uniform(0, 0.15))
        process.kill()
        process.wait()
        reading.join()
        process.stdout.close()
        acknowledged += [line.rstrip("\n") for line in (first_line, *lines) if line.endswith("\n")]
        with open_log(path) as log:
            stored = [event.id for event in log.events()]
        assert not set(acknowledged) - set(stored), "an acknowledged event is missing"
        if turn % 5 == 0:
            report = verify_log(path)
            assert report.holds, report.faults
    assert verify_log(path).holds
    assert len(acknowledged) > rounds
    writer = LogWriter.open(path)
    head = writer.head
    assert writer.seal()
    assert verify_log(path, head).after_head == 0


def test_what_was_acknowledged_survives_kill_9(tmp_path: Path) -> None:
    kill_at_random(tmp_path / "run.db", 4, random.Random(4))


@pytest.mark.deep
def test_what_was_acknowledged_survives_two_hundred_kills(tmp_path: Path) -> None:
    kill_at_random(tmp_path / "run.db", 200, random.Random())


@pytest.fixture
def running(tmp_path: Path) -> Iterator[tuple[Path, subprocess.Popen[str]]]:
    path = tmp_path / "run.db"
    process = start_writer(path, 0)
    assert process.stdout is not None
    process.stdout.readline()
    drain = threading.Thread(target=process.stdout.read)
    drain.start()
    yield path, process
    process.kill()
    process.wait()
    drain.join()
    process.stdout.close()


def vlmrec(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*VLMREC, *map(str, arguments)], capture_output=True, text=True, check=False, timeout=60)


def test_a_second_writer_gets_a_clear_message(running: tuple[Path, subprocess.Popen[str]]) -> None:
    path, process = running
    refused = vlmrec("note", path, "not now")
    assert refused.returncode == 2
    assert refused.stdout == ""
    assert f"the log of run is being written by process {process.pid}" in refused.stderr
    assert "Traceback" not in refused.stderr


def test_two_writers_that_start_together_are_one(tmp_path: Path) -> None:
    path = filled(tmp_path / "run.db")
    both = [start_writer(path, 1000 * n) for n in (1, 2)]
    time.sleep(2.5)
    for process in both:
        process.send_signal(signal.SIGKILL)
    codes = sorted(process.wait() for process in both)
    for process in both:
        assert process.stdout is not None
        process.stdout.close()
    assert codes == [-signal.SIGKILL, 1]
    assert verify_log(path).holds


def test_verify_and_readers_work_beside_a_writer(running: tuple[Path, subprocess.Popen[str]]) -> None:
    path, process = running
    first = vlmrec("verify", path, "--json")
    assert first.returncode == 0, first.stderr
    report = json.loads(first.stdout)["log"]
    time.sleep(0.1)
    later = vlmrec("verify", path, "--head", report["head"], "--json")
    assert later.returncode == 0
    assert json.loads(later.stdout)["log"]["after_head"] > 0
    assert process.poll() is None


def test_follow_shows_a_run_while_it_is_written_and_ends_on_interrupt(
    running: tuple[Path, subprocess.Popen[str]],
) -> None:
    path, _ = running
    command = [*VLMREC, "events", str(path), "--follow", "--type", "call.completed", "--format", "cloudevents"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as follower:
        assert follower.stdout is not None
        assert follower.stderr is not None
        there_is = query(path, "SELECT max(seq) FROM events")[0][0]
        for line in follower.stdout:
            event = json.loads(line)
            assert (event["specversion"], event["type"]) == ("1.0", "call.completed")
            if int(event["sequence"]) > there_is + 50:
                break
        follower.send_signal(signal.SIGINT)
        follower.stdout.read()
        assert follower.wait() == 0
        assert follower.stderr.read() == ""


def test_follow_ends_with_the_run_and_leaves_it_sealed(tmp_path: Path) -> None:
    path = tmp_path / "run.db"
    writer = create(path)
    event, blob = requested(1)
    writer.append([event], [blob]).result()
    command = [*VLMREC, "events", str(path), "--follow"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as follower:
        assert follower.stdout is not None
        assert json.loads(follower.stdout.readline())["id"] == event.id
        later, reply = completed(1)
        writer.append([later], [reply]).result()
        assert json.loads(follower.stdout.readline())["id"] == later.id
        writer.append([stopped()]).result()
        sealed = writer.seal()
        assert json.loads(follower.stdout.readline())["type"] == "run.stopped"
        assert follower.stdout.read() == ""
        assert follower.wait() == 0
    assert sealed or query(path, "PRAGMA journal_mode") == [("delete",)]
    assert not path.with_name("run.db-wal").exists()


def test_a_killed_run_is_sealed_by_the_next_command(running: tuple[Path, subprocess.Popen[str]]) -> None:
    path, process = running
    process.kill()
    process.wait()
    assert path.with_name("run.db-wal").exists()
    assert vlmrec("verify", path).returncode == 0
    assert sorted(file.name for file in path.parent.iterdir() if file.name.startswith("run.db")) == [
        "run.db",
        "run.db.lock",
    ]


def test_a_writers_process_opens_no_other_descriptor_on_its_log(running: tuple[Path, subprocess.Popen[str]]) -> None:
    path, process = running
    folder = Path(f"/proc/{process.pid}/fd")
    if not folder.is_dir():
        pytest.skip("needs /proc")
    opened = sorted(link for link in (str(entry.readlink()) for entry in folder.iterdir()) if str(path) in link)
    assert opened == [f"{path}{ending}" for ending in ("", "-shm", "-wal", ".lock")]


def test_the_file_grows_with_what_it_holds(running: tuple[Path, subprocess.Popen[str]]) -> None:
    """The write-ahead log is brought into the file as it goes, and doesn't grow with the run."""
    path, process = running
    time.sleep(1)
    process.kill()
    process.wait()
    assert path.with_name("run.db-wal").stat().st_size < 64 * 2**20
    assert seal_if_idle(path)
