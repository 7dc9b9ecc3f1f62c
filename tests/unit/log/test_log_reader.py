"""The reader: decoded events in order, one state of the log, and refusal of what it doesn't know."""

import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec
import pytest
from logs import completed, create, filled, query, requested, stopped, tampering

from vlmrec import __version__
from vlmrec.canonical import sha256_hex
from vlmrec.errors import LogError
from vlmrec.events import CallCompleted, CallRequested
from vlmrec.log import upcast as upcasting
from vlmrec.log.reader import open_log
from vlmrec.log.writer import LogWriter


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("template") / "run.db"
    pairs = [pair for n in range(8) for pair in (requested(n, clip=f"c{n % 3}"), completed(n, clip=f"c{n % 3}"))]
    with create(path) as writer:
        writer.append([*(event for event, _ in pairs), stopped()], [blob for _, blob in pairs]).result()
        writer.seal()
    return path


@pytest.fixture
def log(tmp_path: Path, template: Path) -> Path:
    return Path(shutil.copy(template, tmp_path))


def test_events_come_back_as_they_went_in(log: Path) -> None:
    pairs = [pair for n in range(8) for pair in (requested(n, clip=f"c{n % 3}"), completed(n, clip=f"c{n % 3}"))]
    with open_log(log) as reader:
        assert list(reader.events()) == [*(event for event, _ in pairs), stopped()]
        for _, blob in pairs:
            assert reader.blob(blob.ref.sha256) == blob.body


@pytest.mark.parametrize(
    "types",
    [
        None,
        [],
        ["call.completed"],
        ["run.stopped"],
        ["call.requested", "run.stopped"],
        ["call.completed", "call.requested"],
        ["call.failed"],
    ],
)
@pytest.mark.parametrize("clip", [None, "c1", "nowhere"])
@pytest.mark.parametrize("after", [0, 5, 16, 99])
def test_selections_keep_the_order_of_the_log(log: Path, types: list[str] | None, clip: str | None, after: int) -> None:
    with open_log(log) as reader:
        everything = list(zip(reader.rows(), reader.events(), strict=True))
        wanted = [
            (row, event)
            for row, event in everything
            if row.seq > after and (types is None or row.type in types) and (clip is None or row.subject == clip)
        ]
        assert list(reader.rows(types, clip, after)) == [row for row, _ in wanted]
        assert list(reader.events(types, clip, after)) == [event for _, event in wanted]


def test_questions_about_the_whole(log: Path) -> None:
    with open_log(log) as reader:
        assert reader.last_seq() == reader.count() == 17
        assert reader.count(["call.completed", "run.stopped"]) == 9
        assert reader.clips() == ["c0", "c1", "c2"]
        assert reader.head() == query(log, "SELECT hash FROM events WHERE seq = 17")[0][0]
        assert reader.stopped()
        event = next(reader.events(["call.completed"]))
        assert reader.event(event.id) == event
        assert reader.event("nothing") is None
        assert isinstance(event.data, CallCompleted)
        assert reader.has_blob(event.data.body.sha256)


def test_a_body_that_is_not_there_is_named(log: Path) -> None:
    missing = sha256_hex(b"never stored")
    with open_log(log) as reader:
        assert not reader.has_blob(missing)
        with pytest.raises(LogError, match=missing):
            reader.blob(missing)


def test_an_empty_log_reads_as_empty(tmp_path: Path) -> None:
    path = tmp_path / "run.db"
    with create(path), open_log(path) as reader:
        assert (reader.head(), reader.last_seq(), reader.clips(), list(reader.events())) == (None, 0, [], [])
        assert not reader.stopped()


def test_a_reader_sees_one_state_and_a_live_one_sees_the_latest(tmp_path: Path) -> None:
    path = tmp_path / "run.db"
    with create(path) as writer, open_log(path) as still, open_log(path, live=True) as live:
        assert still.last_seq() == 0
        writer.append([stopped()]).result()
        assert (still.last_seq(), live.last_seq()) == (0, 1)
        before = live.data_version()
        writer.append([stopped(2)]).result()
        assert live.data_version() != before


def test_a_log_whose_writer_was_killed_reads_without_a_writer(tmp_path: Path) -> None:
    path = tmp_path / "run.db"
    with create(path) as writer:
        writer.append([stopped()]).result()
        crashed = tmp_path / "crashed"
        crashed.mkdir()
        for name in ("run.db", "run.db-wal"):
            subprocess.run(["cp", str(tmp_path / name), str(crashed / name)], check=True)
    with open_log(crashed / "run.db") as reader:
        assert reader.last_seq() == 1


def test_reading_changes_nothing(log: Path) -> None:
    before = log.read_bytes()
    with open_log(log) as reader:
        assert len(list(reader.events())) == 17
        with pytest.raises(sqlite3.OperationalError, match="readonly"):
            reader._connection.execute("INSERT INTO blobs VALUES ('x', 'y', x'00')")
    assert log.read_bytes() == before
    assert [file.name for file in log.parent.iterdir() if file.name.startswith("run.db")] == ["run.db"]


WRITE = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[3])
from logs import create, stopped
writer = create(Path(sys.argv[1]))
writer.append([stopped()]).result()
{"sealed": writer.seal, "closed": writer.close, "live": int}[sys.argv[2]]()
print("ready", flush=True)
sys.stdin.read()
"""


@contextmanager
def written_by_another(path: Path, state: str) -> Iterator[None]:
    tests = str(Path(__file__).parents[2])
    command = [sys.executable, "-c", WRITE, str(path), state, tests]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        yield
        process.communicate()


def read_without_write_permission(path: Path) -> str:
    """What a process reads that can't write where the log lies, also when the tests run as root."""
    receive, send = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            if os.geteuid() == 0:
                os.setegid(65534)
                os.seteuid(65534)
            with open_log(path) as log:
                os.write(send, f"{log.last_seq()} {log.head()}".encode())
        except BaseException as error:  # noqa: BLE001  told to the parent
            os.write(send, repr(error).encode())
        os._exit(0)
    os.close(send)
    os.waitpid(child, 0)
    with os.fdopen(receive) as said:
        return said.read()


@pytest.mark.parametrize("state", ["sealed", "closed", "live"])
def test_a_log_in_a_folder_that_cannot_be_written_is_read(state: str) -> None:
    folder = Path(tempfile.mkdtemp())  # pytest's own folders are closed to other users
    path = folder / "run.db"
    try:
        with written_by_another(path, state):
            folder.chmod(0o555)
            assert read_without_write_permission(path).startswith("1 ")
            folder.chmod(0o755)
    finally:
        shutil.rmtree(folder)


def test_a_log_whose_last_rows_cannot_be_reached_is_refused_with_what_to_do() -> None:
    folder = Path(tempfile.mkdtemp())
    path = folder / "run.db"
    try:
        with written_by_another(folder / "source.db", "live"):
            shutil.copy(folder / "source.db", path)
            shutil.copy(folder / "source.db-wal", folder / "run.db-wal")
        folder.chmod(0o555)
        assert "copy both files to one that is" in read_without_write_permission(path)
        folder.chmod(0o755)
        assert read_without_write_permission(path) != ""
    finally:
        folder.chmod(0o755)
        shutil.rmtree(folder)


# ---- what it refuses ---------------------------------------------------------------------------


def test_what_is_no_log_is_refused(tmp_path: Path) -> None:
    with pytest.raises(LogError, match="no such file"), open_log(tmp_path / "nothing.db"):
        pass
    text = tmp_path / "text.db"
    text.write_text("not a database " * 100)
    with pytest.raises(LogError, match="can't be read as a vlmrec log"), open_log(text):
        pass
    empty = tmp_path / "empty.db"
    empty.touch()
    with pytest.raises(LogError, match="no vlmrec log"), open_log(empty):
        pass


def test_a_log_of_a_newer_format_is_refused_with_the_version_it_needs(log: Path) -> None:
    with tampering(log) as connection:
        connection.execute("PRAGMA user_version = 2")
        connection.execute("UPDATE log SET format = 2, requires = '3.1.0'")
    for attempt in (lambda: open_log(log).__enter__(), lambda: LogWriter.open(log)):
        with pytest.raises(LogError, match=rf"format 2; this is vlmrec {__version__}.*Install vlmrec 3\.1\.0 or later"):
            attempt()


def test_an_unknown_type_of_event_is_refused_on_opening(log: Path) -> None:
    with tampering(log) as connection:
        connection.execute("UPDATE events SET type = 'answer.revised' WHERE seq = 4")
    with (
        pytest.raises(LogError, match=r"event 4 is a answer\.revised, which vlmrec .* needs a later vlmrec"),
        open_log(log),
    ):
        pass


def test_a_newer_version_of_an_event_is_refused_naming_who_wrote_it(log: Path) -> None:
    with tampering(log) as connection:
        connection.execute("UPDATE events SET version = 2 WHERE seq = 4")
        connection.execute(
            "UPDATE events SET type = 'run.resumed', data = json_object('ordinal', 1, 'vlmrec_version', '0.9.0') WHERE seq = 3"
        )
    with open_log(log) as reader:
        assert len(list(reader.events(["call.requested"]))) == 7  # what isn't touched isn't missed
        with pytest.raises(LogError, match=r"event 4 is a call\.completed version 2.*it needs vlmrec 0\.9\.0"):
            list(reader.events())


def test_an_older_version_is_led_to_the_current_one_by_each_step(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    steps: dict[tuple[str, int], upcasting.Upcaster] = {
        ("call.requested", -1): lambda data: {**data, "server": data.pop("host")},
        ("call.requested", 0): lambda data: {**data, "endpoint": data.pop("server")},
    }
    for key, step in steps.items():
        monkeypatch.setitem(upcasting.UPCASTERS, key, step)
    with tampering(log) as connection:
        connection.execute(
            "UPDATE events SET version = -1, data = replace(data, '\"endpoint\"', '\"host\"') WHERE seq = 1"
        )
    with open_log(log) as reader:
        assert '"host"' in next(reader.rows()).data
        first = next(reader.events())
    assert isinstance(first.data, CallRequested)
    assert first.data == requested(0, clip="c0")[0].data


def test_a_payload_that_cannot_be_read_is_named(log: Path) -> None:
    with tampering(log) as connection:
        connection.execute('UPDATE events SET data = \'{"attempt":"one"}\' WHERE seq = 2')
    with (
        open_log(log) as reader,
        pytest.raises(LogError, match=r"event 2 \(call\.completed\) can't be read.*\$\.attempt"),
    ):
        list(reader.events())


def test_damage_is_told_with_the_command_that_finds_it(log: Path) -> None:
    whole = bytearray(log.read_bytes())
    for at in range(4096, len(whole), 64):
        whole[at] ^= 0xFF
    log.write_bytes(whole)
    with pytest.raises(LogError, match=r"damaged|can't be read"), open_log(log) as reader:
        list(reader.rows())


def test_stored_text_is_what_msgspec_reads(log: Path) -> None:
    with open_log(log) as reader:
        for row, event in zip(reader.rows(), reader.events(), strict=True):
            assert msgspec.json.decode(row.data.encode(), type=type(event.data)) == event.data


def test_memory_follows_one_event_and_not_the_log(tmp_path: Path) -> None:
    with open_log(filled(tmp_path / "run.db")) as reader:
        stream = reader.events()
        next(stream)
        assert reader.has_blob(requested(0)[1].ref.sha256)  # other reads go on beside an open stream
        assert len(list(stream)) == 6
