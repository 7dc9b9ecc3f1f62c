"""The writer: durable before acknowledged, whole batches, one writer, and what it refuses."""

import asyncio
import os
import sqlite3
import threading
from concurrent.futures import wait
from pathlib import Path

import pytest
from logs import PARENT, TIME, UUID, completed, create, filled, query, requested, stopped

from vlmrec.canonical import make_blob
from vlmrec.errors import DuplicateEvent, LogBusy, LogError
from vlmrec.events import AnswerAccepted, Event, LabelSet, Stage, make_event
from vlmrec.log import lock
from vlmrec.log.format import LogKind
from vlmrec.log.lock import lock_path
from vlmrec.log.reader import open_log
from vlmrec.log.sealing import seal_if_idle
from vlmrec.log.verify import verify_log
from vlmrec.log.writer import LogWriter
from vlmrec.terms import Party, Status


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "store" / "run.db"


@pytest.fixture(autouse=True)
def short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("vlmrec.log.writer.LOCK_WAIT_S", 0.1)
    monkeypatch.setattr("vlmrec.log.writer.SEAL_WAIT_S", 0.1)


def append(writer: LogWriter, *numbers: int) -> None:
    pairs = [requested(number) for number in numbers]
    writer.append([event for event, _ in pairs], [blob for _, blob in pairs]).result()


def test_a_new_log_says_what_it_is(path: Path) -> None:
    with create(path, kind=LogKind.DERIVED, parent=PARENT) as writer:
        assert (writer.last_seq, writer.head) == (0, None)
        assert (writer.info.kind, writer.info.uuid, writer.info.parent) == (LogKind.DERIVED, UUID, PARENT)
    with open_log(path) as log:
        assert log.info == writer.info
    assert verify_log(path).holds


def test_create_leaves_a_log_that_is_there_alone(path: Path) -> None:
    filled(path)
    before = path.read_bytes()
    with pytest.raises(LogError, match="there is a log already"):
        create(path)
    assert path.read_bytes() == before


def test_create_refuses_an_id_that_is_no_uuid(path: Path) -> None:
    with pytest.raises(ValueError, match="badly formed"):
        LogWriter.create(path, kind=LogKind.RUN, log_uuid="run-1", created=TIME)


def test_a_half_made_file_of_a_creator_that_died_is_in_nobodys_way(path: Path) -> None:
    path.parent.mkdir()
    (path.parent / ".run.db.new").write_bytes(b"SQLite format 3\0 and no more")
    with create(path) as writer:
        append(writer, 1)
    assert sorted(file.name for file in path.parent.iterdir()) == ["run.db", "run.db.lock"]


def test_open_needs_a_log(path: Path, tmp_path: Path) -> None:
    with pytest.raises(LogError, match="no such log"):
        LogWriter.open(path)
    other = tmp_path / "other.db"
    sqlite3.connect(other).execute("CREATE TABLE t (x)").connection.close()
    with pytest.raises(LogError, match="no vlmrec log"):
        LogWriter.open(other)


def test_places_and_heads_follow_each_other_over_reopening(path: Path) -> None:
    with create(path) as writer:
        event, blob = requested(1)
        first = writer.append([event], [blob]).result()
        assert (first.first_seq, first.last_seq, first.head) == (1, 1, writer.head)
    with LogWriter.open(path) as writer:
        assert (writer.last_seq, writer.head) == (1, first.head)
        append(writer, 2, 3)
        assert writer.last_seq == 3
    assert query(path, "SELECT seq, hash FROM events ORDER BY seq")[-1] == (3, writer.head)


def test_what_was_acknowledged_is_seen_by_another_connection(path: Path) -> None:
    with create(path) as writer:
        append(writer, 1)
        assert query(path, "SELECT count(*) FROM events") == [(1,)]


def test_durability_is_asked_of_sqlite(path: Path) -> None:
    with create(path) as writer:
        append(writer, 1)
        assert query(path, "PRAGMA journal_mode") == [("wal",)]
        connection = writer._commit._connection
        found = []
        writer_thread = writer._commit.run

        def asked(group: object) -> object:
            found.extend(connection.execute("PRAGMA synchronous").fetchall())
            return writer_thread(group)  # type: ignore[arg-type]

        writer._commit.run = asked  # type: ignore[assignment, method-assign]
        append(writer, 2)
        assert found == [(2,)]


def test_a_repeated_event_is_refused_by_name_and_takes_nothing_with_it(path: Path) -> None:
    with create(path) as writer:
        append(writer, 1)
        with pytest.raises(DuplicateEvent, match=r"'call\.requested/클립-1/predicate/q_maneuver/other/1/1'"):
            append(writer, 2, 1, 3)
        with pytest.raises(DuplicateEvent):
            append(writer, 4, 4)
        assert writer.last_seq == 1
        append(writer, 2)
        assert writer.last_seq == 2
    report = verify_log(path)
    assert report.holds
    assert report.blobs == 2


def test_a_refused_batch_takes_no_other_of_its_commit_with_it(path: Path) -> None:
    with create(path) as writer:
        append(writer, 1)
        gate = hold(writer)
        good = [writer.append([requested(n)[0]], [requested(n)[1]]) for n in (2, 3)]
        bad = writer.append([requested(1)[0]], [requested(1)[1]])
        late = writer.append([requested(4)[0]], [requested(4)[1]])
        gate.set()
        assert [future.result().last_seq for future in good] == [2, 3]
        assert isinstance(bad.exception(), DuplicateEvent)
        assert late.result().last_seq == 4
    assert verify_log(path).holds


def hold(writer: LogWriter) -> threading.Event:
    """Keep the writer's thread from committing, so that what is appended now shares a commit."""
    gate = threading.Event()
    run = writer._commit.run

    def wait_first(group: object) -> object:
        gate.wait(5)
        writer._commit.run = run  # type: ignore[method-assign]
        return run(group)  # type: ignore[arg-type]

    writer._commit.run = wait_first  # type: ignore[assignment, method-assign]
    return gate


def test_a_body_is_stored_once(path: Path) -> None:
    with create(path) as writer:
        event, blob = requested(1)
        again = make_event(event.data, clip="other", time=TIME)
        third = make_event(event.data, clip="third", time=TIME)
        writer.append([event], [blob]).result()
        writer.append([again], [blob]).result()  # given again
        writer.append([third]).result()  # only referred to
    assert query(path, "SELECT count(*) FROM blobs") == [(1,)]
    with LogWriter.open(path) as writer:  # with nothing remembered
        writer.append([make_event(event.data, clip="fourth", time=TIME)]).result()


def test_a_reference_to_a_body_that_is_nowhere_is_refused(path: Path) -> None:
    with create(path) as writer:
        event, _ = requested(1)
        with pytest.raises(LogError, match="neither stored nor given"):
            writer.append([event]).result()
        assert writer.last_seq == 0


def test_a_refused_body_is_not_remembered_as_stored(path: Path) -> None:
    with create(path) as writer:
        event, blob = requested(1)
        missing, _ = requested(2)
        with pytest.raises(LogError, match="neither stored nor given"):
            writer.append([event, missing], [blob]).result()
        with pytest.raises(LogError, match="neither stored nor given"):
            writer.append([event]).result()


def test_a_body_has_one_media_type(path: Path) -> None:
    with create(path) as writer:
        append(writer, 1)
        other = make_blob(requested(1)[1].body, "text/plain; charset=utf-8")
        payload = requested(2)[0].data
        changed = type(payload)(**{**{f: getattr(payload, f) for f in payload.__struct_fields__}, "request": other.ref})
        with pytest.raises(
            LogError, match="is stored as 'application/json' of 12 bytes, but referred to as 'text/plain"
        ):
            writer.append([make_event(changed, clip="c", time=TIME)], [other]).result()


def test_a_body_that_no_event_refers_to_is_refused(path: Path) -> None:
    with create(path) as writer, pytest.raises(ValueError, match="no event of its batch refers to it"):
        writer.append([stopped()], [make_blob(b"x", "text/plain")])


def test_a_body_that_is_not_what_its_reference_says_is_refused(path: Path) -> None:
    event, blob = requested(1)
    with create(path) as writer, pytest.raises(ValueError, match="its body has 1 bytes"):
        writer.append([event], [blob._replace(body=b"x")])


def answer(confidence: float | None = None, explanation: str | None = None) -> Event:
    payload = AnswerAccepted(
        stage=Stage.PREDICATE, question_id="q", party=Party.SELF, core=1, status=Status.UNKNOWN, source="model",
        confidence=confidence, explanation=explanation,
    )  # fmt: skip
    return make_event(payload, clip="c", time=TIME)


@pytest.mark.parametrize("number", [float("nan"), float("inf"), -float("inf")])
def test_what_json_cannot_say_is_refused_with_its_path(path: Path, number: float) -> None:
    with create(path) as writer, pytest.raises(ValueError, match=r"answer\.accepted/c/.*\$\.confidence"):
        writer.append([answer(confidence=number)])


def test_integers_that_would_lose_digits_are_refused(path: Path) -> None:
    label = LabelSet(ordinal=1, labeler="A", data_version="v", field="x", field_value={"n": [2**53 + 1]})
    with create(path) as writer, pytest.raises(ValueError, match=r"\$\.field_value\.n\[0\].*2\^53"):
        writer.append([make_event(label, clip="c", time=TIME)])


def test_text_that_is_not_utf8_is_refused(path: Path) -> None:
    with create(path) as writer, pytest.raises(ValueError, match="surrogates not allowed"):
        writer.append([answer(explanation="\ud800")])


def test_a_payload_that_no_reader_would_take_is_refused(path: Path) -> None:
    event, _ = requested(1)
    broken = type(event.data)(**{**{f: getattr(event.data, f) for f in event.data.__struct_fields__}, "attempt": 0})
    with create(path) as writer, pytest.raises(ValueError, match="a reader would refuse it"):
        writer.append([make_event(broken, clip="c", time=TIME)])


@pytest.mark.parametrize("time", ["2026-01-05", "2026-01-05T09:00:00", "2026-01-05T09:00:00+09:00", "now"])
def test_a_time_that_is_not_utc_is_refused(path: Path, time: str) -> None:
    with create(path) as writer, pytest.raises(ValueError, match="not RFC 3339 in UTC"):
        writer.append([stopped()._replace(time=time)])


def test_an_append_of_nothing_is_refused(path: Path) -> None:
    with create(path) as writer, pytest.raises(ValueError, match="at least one event"):
        writer.append([])


def test_producers_on_many_threads_lose_nothing(path: Path) -> None:
    with create(path) as writer:

        def produce(thread: int) -> None:
            for number in range(20):
                append(writer, 1000 * thread + number)

        threads = [threading.Thread(target=produce, args=(n,)) for n in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert writer.last_seq == 120
    assert verify_log(path).events == 120


async def test_tasks_that_append_together_share_commits(path: Path) -> None:
    groups = []
    with create(path) as writer:
        run = writer._commit.run
        writer._commit.run = lambda group: (groups.append(len(group)), run(group))[1]  # type: ignore[method-assign]

        async def produce(task: int) -> None:
            for number in range(10):
                event, blob = requested(100 * task + number)
                assert (await writer.append_async([event], [blob])).last_seq <= writer.last_seq

        await asyncio.gather(*(produce(task) for task in range(16)))
    assert sum(groups) == 160
    assert len(groups) < 40
    assert verify_log(path).events == 160


async def test_an_append_is_carried_out_though_its_waiter_is_cancelled(path: Path) -> None:
    with create(path) as writer:
        event, blob = requested(1)
        gate = hold(writer)
        task = asyncio.create_task(writer.append_async([event], [blob]))
        await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        future = writer.append([stopped()])
        assert not future.cancel()
        gate.set()
        wait([future])
        assert writer.last_seq == 2
        await asyncio.sleep(0)  # the loop is told of the first one too, and nobody waits


async def test_async_appends_raise_what_the_file_refuses(path: Path) -> None:
    with create(path) as writer:
        await writer.append_async([stopped()])
        with pytest.raises(DuplicateEvent):
            await writer.append_async([stopped()])


def test_a_loop_that_has_gone_does_not_disturb_the_writer(path: Path) -> None:
    with create(path) as writer:
        gate = hold(writer)

        async def leave() -> None:
            task = asyncio.ensure_future(writer.append_async([stopped(1)]))
            await asyncio.sleep(0)
            task.cancel()

        asyncio.run(leave())
        gate.set()
        assert writer.append([stopped(2)]).result().last_seq == 2


def test_close_commits_what_was_appended(path: Path) -> None:
    writer = create(path)
    gate = hold(writer)
    futures = [writer.append([requested(n)[0]], [requested(n)[1]]) for n in range(5)]
    gate.set()
    writer.close()
    writer.close()
    assert [future.result().last_seq for future in futures] == [1, 2, 3, 4, 5]
    with pytest.raises(LogError, match="has been closed"):
        writer.append([stopped()])


def test_after_an_error_of_the_disk_nothing_more_is_written(path: Path) -> None:
    with create(path) as writer:
        append(writer, 1)
        connection = writer._commit._connection

        class Full:
            in_transaction = False

            def execute(self, statement: str, *values: object) -> object:
                if statement == "COMMIT":
                    raise sqlite3.OperationalError("database or disk is full")
                return connection.execute(statement, *values)

            def executemany(self, statement: str, rows: object) -> object:
                return connection.executemany(statement, rows)  # type: ignore[arg-type]

        writer._commit._connection = Full()  # type: ignore[assignment]
        with pytest.raises(LogError, match="disk is full"):
            append(writer, 2)
        writer._commit._connection = connection
        with pytest.raises(LogError, match="can't be written any more"):
            append(writer, 3)
        assert writer.last_seq == 1
    with LogWriter.open(path) as writer:
        append(writer, 2)
    assert verify_log(path).events == 2


def test_an_unexpected_error_reaches_whoever_waits(path: Path) -> None:
    with create(path) as writer:
        writer._commit._together = lambda group: 1 / 0  # type: ignore[assignment, method-assign, return-value]
        with pytest.raises(ZeroDivisionError):
            append(writer, 1)
        with pytest.raises(LogError, match="ZeroDivisionError"):
            append(writer, 2)


# ---- one writer --------------------------------------------------------------------------------


def test_a_second_writer_is_told_who_the_first_is(path: Path) -> None:
    with create(path), pytest.raises(LogBusy, match=rf"the log of run is being written by process {os.getpid()}"):
        LogWriter.open(path)


def test_another_name_for_the_same_log_has_the_same_lock(path: Path, tmp_path: Path) -> None:
    with create(path):
        link = tmp_path / "link.db"
        link.symlink_to(path)
        with pytest.raises(LogBusy):
            LogWriter.open(link)


def test_a_lock_file_without_a_holder_is_no_lock(path: Path) -> None:
    with create(path):
        pass
    assert lock_path(path).exists()
    LogWriter.open(path).close()


def test_whether_a_log_is_being_written_can_be_asked(path: Path) -> None:
    assert not lock.is_held(path)
    with create(path):
        assert lock.is_held(path)
    assert not lock.is_held(path)


def test_a_folder_that_takes_no_lock_file_is_told_as_such(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(LogError, match="can't take the writer's lock") as refused:
        lock.acquire(tmp_path / "file" / "run.db", wait_s=0)
    assert not isinstance(refused.value, LogBusy)


def test_a_failed_opening_frees_the_lock(path: Path) -> None:
    path.parent.mkdir()
    path.write_bytes(b"no database at all, and long enough to be looked at" * 20)
    for _ in range(2):
        with pytest.raises(LogError, match="can't be read as a vlmrec log"):
            LogWriter.open(path)


# ---- sealing -----------------------------------------------------------------------------------


def test_a_sealed_log_is_one_file_that_opens_after_being_copied_alone(path: Path, tmp_path: Path) -> None:
    filled(path)
    assert sorted(file.name for file in path.parent.iterdir()) == ["run.db", "run.db.lock"]
    alone = tmp_path / "alone.db"
    alone.write_bytes(path.read_bytes())
    with open_log(alone) as log:
        assert log.last_seq() == 7
    assert verify_log(alone).holds
    assert sorted(file.name for file in tmp_path.iterdir()) == ["alone.db", "store"]


def test_a_reader_puts_the_seal_off_and_the_file_holds_every_row_all_the_same(path: Path, tmp_path: Path) -> None:
    writer = create(path)
    append(writer, 1)
    with open_log(path, live=True) as log:
        assert log.last_seq() == 1
        append(writer, 2)
        assert log.last_seq() == 2
        assert writer.seal() is False
        alone = tmp_path / "alone.db"
        alone.write_bytes(path.read_bytes())
        assert verify_log(alone).events == 2
        assert seal_if_idle(path) is False
    assert seal_if_idle(path) is True
    assert seal_if_idle(path) is True
    assert sorted(file.name for file in path.parent.iterdir()) == ["run.db", "run.db.lock"]


def test_a_log_that_is_being_written_is_not_sealed_by_others(path: Path) -> None:
    with create(path) as writer:
        append(writer, 1)
        assert seal_if_idle(path) is False
        append(writer, 2)


def test_a_sealed_log_is_reopened_appended_to_and_sealed_again(path: Path) -> None:
    head = verify_log(filled(path)).head
    writer = LogWriter.open(path)
    append(writer, 9)
    assert writer.seal()
    report = verify_log(path, head)
    assert report.holds
    assert report.after_head == 1
    assert query(path, "PRAGMA journal_mode") == [("delete",)]


def test_opening_waits_for_readers_and_then_says_so(path: Path) -> None:
    filled(path)
    reader = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    reader.execute("BEGIN")
    reader.execute("SELECT count(*) FROM events").fetchone()
    with pytest.raises(LogBusy, match=r"waited 0\.2 s for its readers"):
        LogWriter.open(path, wait_s=0.2)
    leaving = threading.Timer(0.3, reader.execute, ["COMMIT"])
    leaving.start()
    LogWriter.open(path, wait_s=5).close()
    leaving.join()
    reader.close()


def test_a_log_of_labels_and_of_a_probe_have_the_same_laws(tmp_path: Path) -> None:
    for kind in (LogKind.LABELS, LogKind.PROBE):
        path = tmp_path / f"{kind}.db"
        with create(path, kind=kind) as writer:
            label = LabelSet(ordinal=1, labeler="A", data_version="v", question_id="q", status=Status.OCCLUDED)
            writer.append([make_event(label, clip="c", time=TIME)]).result()
            event, blob = completed(1)
            writer.append([event], [blob]).result()
            assert writer.seal()
        report = verify_log(path)
        assert report.holds
        assert report.info is not None
        assert report.info.kind is kind
