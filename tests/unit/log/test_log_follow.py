"""Following a log while it is written."""

import threading
from pathlib import Path

import pytest
from logs import TIME, completed, create, requested, stopped

from vlmrec.events import NoteAdded, RunResumed, make_event
from vlmrec.log.follow import follow_rows
from vlmrec.log.writer import LogWriter


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "run.db"


def test_rows_appear_as_they_are_written_and_end_with_the_run(path: Path) -> None:
    script = [requested(1), completed(1), requested(2)]
    seen = []
    with create(path) as writer:
        waits = 0

        def write_more(seconds: float) -> None:
            nonlocal waits
            waits += 1
            if script:
                event, blob = script.pop(0)
                writer.append([event], [blob]).result()
            else:
                writer.append([stopped()]).result()

        seen = [row.seq for row in follow_rows(path, sleep=write_more)]
    assert seen == [1, 2, 3, 4]
    assert waits == 4


def test_a_run_that_has_stopped_is_given_once_and_ends(path: Path) -> None:
    with create(path) as writer:
        event, blob = requested(1)
        writer.append([event, stopped()], [blob]).result()
    assert [row.seq for row in follow_rows(path, sleep=never)] == [1, 2]
    assert [row.seq for row in follow_rows(path, after=1, sleep=never)] == [2]
    with LogWriter.open(path) as writer:
        writer.append([make_event(NoteAdded(ordinal=1, text="x"), clip=None, time=TIME)]).result()
    assert [row.seq for row in follow_rows(path, sleep=never)] == [1, 2, 3]


def never(seconds: float) -> None:
    pytest.fail("it waited for a run that had stopped")


def test_the_end_is_seen_though_the_filter_hides_it(path: Path) -> None:
    with create(path) as writer:
        event, blob = requested(1)
        writer.append([event], [blob]).result()

        def stop(seconds: float) -> None:
            writer.append([completed(1)[0], stopped()], [completed(1)[1]]).result()

        assert [row.type for row in follow_rows(path, types=["call.completed"], sleep=stop)] == ["call.completed"]


def test_a_resumed_run_is_followed_again(path: Path) -> None:
    with create(path) as writer:
        writer.append([stopped()]).result()
        writer.append([make_event(RunResumed(ordinal=1, vlmrec_version="0.1.0"), clip=None, time=TIME)]).result()

        def stop(seconds: float) -> None:
            writer.append([stopped(2)]).result()

        assert [row.seq for row in follow_rows(path, sleep=stop)] == [1, 2, 3]


def test_a_slow_reader_holds_nobody_up(path: Path) -> None:
    with create(path) as writer:
        pairs = [requested(n) for n in range(1200)]
        writer.append([event for event, _ in pairs], [blob for _, blob in pairs]).result()
        rows = follow_rows(path, sleep=lambda s: None)
        assert next(rows).seq == 1  # and now it looks away
        done = threading.Event()
        writer.append([stopped()]).add_done_callback(lambda future: done.set())
        assert done.wait(5)
        assert [row.seq for row in rows] == list(range(2, 1202))
