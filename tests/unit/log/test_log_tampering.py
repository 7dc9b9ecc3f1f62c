"""What the file refuses by itself, and what ``verify`` names when somebody went round the file's own defence."""

import json
import shutil
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from logs import copied, filled, query, requested, tampering

from vlmrec.cli import cli
from vlmrec.commands.catalog import command as catalog_command
from vlmrec.commands.events import command as events_command
from vlmrec.errors import InputError, LogError
from vlmrec.log.reader import open_checked, open_log
from vlmrec.log.verify import VerifyReport, verify_log
from vlmrec.log.writer import LogWriter
from vlmrec.viewer.catalog import update_catalog

CALLS = 3
EVENTS = 2 * CALLS + 1
MIDDLE = 4
COLUMNS = {
    "events": ("seq", "id", "type", "version", "time", "subject", "correlation", "causation", "data", "hash"),
    "blobs": ("sha256", "media_type", "body"),
    "log": ("format", "kind", "uuid", "created", "parent_uuid", "parent_head", "requires"),
}
EVERY_COLUMN = [(table, column) for table, columns in COLUMNS.items() for column in columns]


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return filled(tmp_path_factory.mktemp("template") / "run.db", CALLS)


@pytest.fixture
def log(tmp_path: Path, template: Path) -> Path:
    return Path(shutil.copy(template, tmp_path))


def first_fault(report: VerifyReport) -> str:
    assert not report.holds
    return str(report.faults[0])


def test_an_untouched_log_holds(log: Path) -> None:
    report = verify_log(log)
    assert report.holds
    assert (report.events, report.blobs) == (EVENTS, 2 * CALLS)


def test_every_column_of_every_table_is_known_to_these_tests(log: Path) -> None:
    for table, columns in COLUMNS.items():
        assert tuple(row[1] for row in query(log, f"PRAGMA table_info({table})")) == columns


# ---- refused by the file -----------------------------------------------------------------------

ROW = "SELECT seq, id, type, version, time, subject, correlation, causation, data, hash FROM events"
REFUSED = {
    "update an event": "UPDATE events SET data = '{}' WHERE seq = 2",
    "update to the same value": "UPDATE events SET data = data",
    "update a blob": "UPDATE blobs SET media_type = 'x'",
    "update the log": "UPDATE log SET kind = 'run'",
    "delete an event": "DELETE FROM events WHERE seq = 7",
    "delete a blob": "DELETE FROM blobs",
    "delete the log": "DELETE FROM log",
    "replace an event": f"REPLACE INTO events {ROW} WHERE seq = 2",
    "insert or replace an id": "INSERT OR REPLACE INTO events SELECT 8, id, type, version, time, subject, correlation,"
    " causation, '{}', hash FROM events WHERE seq = 2",
    "insert or ignore an id": "INSERT OR IGNORE INTO events SELECT 8, id, type, version, time, subject, correlation,"
    " causation, data, hash FROM events WHERE seq = 2",
    "upsert an id": "INSERT INTO events SELECT 8, id, type, version, time, subject, correlation, causation, data, hash"
    " FROM events WHERE seq = 2 ON CONFLICT (id) DO UPDATE SET data = '{}'",
    "insert behind a gap": "INSERT INTO events SELECT 9, 'new', type, version, time, subject, correlation, causation,"
    " data, hash FROM events WHERE seq = 2",
    "insert before the first": "INSERT INTO events SELECT 0, 'new', type, version, time, subject, correlation, causation,"
    " data, hash FROM events WHERE seq = 2",
    "insert without a place": "INSERT INTO events (id, type, version, time, data, hash)"
    " SELECT 'new', type, version, time, data, hash FROM events WHERE seq = 2",
    "replace a blob": "REPLACE INTO blobs SELECT sha256, media_type, x'00' FROM blobs LIMIT 1",
    "insert or replace a blob": "INSERT OR REPLACE INTO blobs SELECT sha256, 'x', body FROM blobs LIMIT 1",
    "insert a blob again": "INSERT INTO blobs SELECT * FROM blobs LIMIT 1",
    "describe the log again": "INSERT INTO log SELECT * FROM log",
    "replace the log": "REPLACE INTO log SELECT * FROM log",
}


@pytest.mark.parametrize("statement", REFUSED.values(), ids=REFUSED.keys())
@pytest.mark.parametrize("recursive", [False, True])
def test_the_file_refuses_to(log: Path, statement: str, recursive: bool) -> None:
    before = log.read_bytes()
    connection = sqlite3.connect(log)
    connection.execute(f"PRAGMA recursive_triggers = {recursive}")
    with pytest.raises(sqlite3.IntegrityError, match="append-only"):
        connection.execute(statement)
    connection.close()
    assert log.read_bytes() == before


def test_the_file_refuses_a_value_of_another_type(log: Path) -> None:
    connection = sqlite3.connect(log)
    with pytest.raises(sqlite3.IntegrityError, match="cannot store TEXT value in INTEGER column"):
        connection.execute("INSERT INTO events VALUES (8, 'x', 'x', 'one', 'x', NULL, NULL, NULL, '{}', 'x')")
    connection.close()


# ---- named by verify ---------------------------------------------------------------------------


def flipped(value: Any, at: float) -> Any:
    """The value with one bit changed: the lowest of an integer, else one of the byte that lies at this share of it."""
    if isinstance(value, int):
        return value ^ 1
    raw = bytearray(value.encode() if isinstance(value, str) else value)
    index = min(int(at * len(raw)), len(raw) - 1)
    raw[index] ^= 4
    return raw.decode("utf-8", "surrogateescape") if isinstance(value, str) else bytes(raw)


def change(path: Path, table: str, column: str, at: float) -> Any:
    """Flip a bit of a column in the table's middle row. Returns the row's key before."""
    key, where = {"events": ("seq", f"seq = {MIDDLE}"), "blobs": ("sha256", "rowid = 3"), "log": ("uuid", "1")}[table]
    with tampering(path) as connection:
        value, name = connection.execute(f"SELECT {column}, {key} FROM {table} WHERE {where}").fetchone()
        new = flipped(value, at)
        if column == "seq":
            new = 1000 + new  # the next ones are taken
        if isinstance(new, str):
            connection.execute(
                f"UPDATE {table} SET {column} = CAST(? AS TEXT) WHERE {where}",
                (new.encode("utf-8", "surrogateescape"),),
            )
        else:
            connection.execute(f"UPDATE {table} SET {column} = ? WHERE {where}", (new,))
    return name


@pytest.mark.parametrize("at", [0.0, 0.5, 0.999])
@pytest.mark.parametrize(("table", "column"), EVERY_COLUMN)
def test_verify_names_the_row_of_a_flipped_byte(log: Path, table: str, column: str, at: float) -> None:
    key = change(log, table, column, at)
    report = verify_log(log)
    first = report.faults[0]
    if table == "events":
        assert first.seq == MIDDLE
    elif table == "blobs":
        assert key in (first.sha256, *(fault.sha256 for fault in report.faults))
    else:
        assert first.where == "log" or first.seq == 1


@pytest.mark.parametrize("column", ["causation", "correlation", "subject"])
def test_null_is_unlike_empty(tmp_path: Path, column: str) -> None:
    log = filled(tmp_path / "run.db", 1, parent=None)
    with tampering(log) as connection:
        connection.execute(f"UPDATE events SET {column} = '' WHERE seq = 3")  # a run.stopped has none of them
    assert verify_log(log).faults[0].seq == 3


def test_a_parent_that_becomes_empty_text_is_noticed(tmp_path: Path) -> None:
    log = filled(tmp_path / "run.db", 1, parent=None)
    with tampering(log) as connection:
        connection.execute("UPDATE log SET parent_uuid = '', parent_head = ''")
    assert "of `log`" in first_fault(verify_log(log))


def test_a_value_moved_from_one_column_to_the_next_is_noticed(log: Path) -> None:
    with tampering(log) as connection:
        connection.execute(
            "UPDATE events SET subject = substr(subject, 1, 2), correlation = substr(subject, 3) || correlation WHERE seq = 4"
        )
    assert verify_log(log).faults[0].seq == MIDDLE


@pytest.mark.parametrize("gone", [1, MIDDLE, EVENTS - 1])
def test_verify_names_a_removed_row(log: Path, gone: int) -> None:
    with tampering(log) as connection:
        connection.execute("DELETE FROM events WHERE seq = ?", (gone,))
    assert first_fault(verify_log(log)).startswith(f"event {gone}: is missing")


def test_verify_names_the_place_of_a_removed_row_when_the_rest_was_renumbered(log: Path) -> None:
    with tampering(log) as connection:
        connection.execute("DELETE FROM events WHERE seq = 3")
        connection.execute("UPDATE events SET seq = seq - 1 WHERE seq > 3")
    assert verify_log(log).faults[0].seq == 3


def test_rows_in_another_order_are_noticed(log: Path) -> None:
    with tampering(log) as connection:
        connection.execute("UPDATE events SET seq = -1 WHERE seq = 3")
        connection.execute("UPDATE events SET seq = 3 WHERE seq = 4")
        connection.execute("UPDATE events SET seq = 4 WHERE seq = -1")
    assert verify_log(log).faults[0].seq == 3


def test_a_changed_hash_breaks_its_own_row_alone(log: Path) -> None:
    change(log, "events", "hash", 0.5)
    report = verify_log(log)
    assert [fault.seq for fault in report.faults] == [MIDDLE]


@pytest.mark.parametrize("kept", [0, 1, EVENTS - 1])
def test_removed_last_rows_are_noticed_by_a_head_noted_earlier(log: Path, kept: int) -> None:
    head = verify_log(log).head
    assert verify_log(log, head).after_head == 0
    with tampering(log) as connection:
        connection.execute("DELETE FROM events WHERE seq > ?", (kept,))
        connection.execute(
            "DELETE FROM blobs WHERE sha256 NOT IN (SELECT json_extract(data, '$.request.sha256') FROM events UNION ALL"
            " SELECT json_extract(data, '$.body.sha256') FROM events WHERE type = 'call.completed' UNION ALL SELECT '')"
            if kept < EVENTS - 1
            else "SELECT 1"
        )
    report = verify_log(log, head)
    assert [fault.where for fault in report.faults][-1] == "head"


def test_removed_last_rows_leave_bodies_that_nothing_refers_to(log: Path) -> None:
    with tampering(log) as connection:
        connection.execute("DELETE FROM events WHERE seq > 4")
    assert "no event refers to it" in first_fault(verify_log(log))


def test_a_head_holds_though_rows_follow_it(log: Path) -> None:
    ((head,),) = query(log, "SELECT hash FROM events WHERE seq = 5")
    report = verify_log(log, head.upper())
    assert report.holds
    assert (report.head_seq, report.after_head) == (5, EVENTS - 5)


def test_a_head_that_is_none_is_refused(log: Path) -> None:
    with pytest.raises(InputError, match="64 hexadecimal digits"):
        verify_log(log, "abc")


def test_verify_names_swapped_blobs(log: Path) -> None:
    (one, body), (other, other_body) = query(log, "SELECT sha256, body FROM blobs ORDER BY rowid LIMIT 2")
    with tampering(log) as connection:
        connection.execute("UPDATE blobs SET body = ? WHERE sha256 = ?", (other_body, one))
        connection.execute("UPDATE blobs SET body = ? WHERE sha256 = ?", (body, other))
    assert {one, other} <= {fault.sha256 for fault in verify_log(log).faults}


def test_verify_names_a_removed_blob_and_the_event_that_needs_it(log: Path) -> None:
    with tampering(log) as connection:
        connection.execute("DELETE FROM blobs WHERE rowid = 3")
    fault = verify_log(log).faults[0]
    assert fault.seq == 3
    assert "is missing" in fault.what


def test_verify_names_a_body_that_nobody_refers_to(log: Path) -> None:
    connection = sqlite3.connect(log)  # the triggers allow it: it is a new body
    connection.execute(
        "INSERT INTO blobs VALUES (?, 'text/plain', ?)",
        ("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", b""),
    )
    connection.commit()
    connection.close()
    assert first_fault(verify_log(log)).startswith("blob e3b0c4")


def test_an_event_added_without_the_writer_is_noticed(log: Path) -> None:
    connection = sqlite3.connect(log)
    connection.execute(
        "INSERT INTO events SELECT 8, 'x', type, version, time, subject, correlation, causation, data, hash FROM events WHERE seq = 7"
    )
    connection.commit()
    connection.close()
    assert verify_log(log).faults[0].seq == 8


# ---- refused by whoever makes a result ---------------------------------------------------------


@pytest.mark.parametrize("at", [0.0, 0.999])
@pytest.mark.parametrize("column", COLUMNS["events"])
def test_a_log_with_a_flipped_byte_gives_no_result(log: Path, column: str, at: float) -> None:
    change(log, "events", column, at)
    with (
        pytest.raises(LogError, match=rf"run run is not as it was recorded, from event {MIDDLE} on: .*vlmrec verify"),
        open_checked(log),
    ):
        pass


@pytest.mark.parametrize("column", ["uuid", "created", "parent_uuid", "parent_head"])
def test_a_changed_description_of_the_log_breaks_its_first_event(log: Path, column: str) -> None:
    change(log, "log", column, 0.5)
    with pytest.raises(LogError, match="from event 1 on: its bytes and the row of `log`"), open_checked(log):
        pass


@pytest.mark.parametrize(
    ("statements", "first"),
    [
        (["DELETE FROM events WHERE seq = 3"], 3),
        (["DELETE FROM events WHERE seq = 1"], 1),
        (["DELETE FROM events WHERE seq = 3", "UPDATE events SET seq = seq - 1 WHERE seq > 3"], 3),
        (["UPDATE events SET causation = '' WHERE seq = 7"], 7),
        (["INSERT INTO events SELECT 8, 'x', type, version, time, subject, correlation, causation, data, hash FROM events WHERE seq = 7"], 8),
    ],
)  # fmt: skip
def test_a_log_with_rows_gone_moved_or_added_gives_no_result(log: Path, statements: list[str], first: int) -> None:
    with tampering(log) as connection:
        for statement in statements:
            connection.execute(statement)
    with pytest.raises(LogError, match=f"from event {first} on"), open_checked(log):
        pass


def test_a_changed_body_is_not_handed_out(log: Path) -> None:
    change(log, "blobs", "body", 0.5)
    ((name,),) = query(log, "SELECT sha256 FROM blobs WHERE rowid = 3")
    with open_checked(log) as reader:
        with pytest.raises(LogError, match=f"blob {name} of run run was changed"):
            reader.blob(name)
        ((other,),) = query(log, "SELECT sha256 FROM blobs WHERE rowid = 2")
        assert reader.blob(other)


def test_a_log_that_is_being_written_is_checked_as_far_as_it_goes(tmp_path: Path) -> None:
    path = filled(tmp_path / "run.db", 1, seal=False)
    with LogWriter.open(path) as writer, open_log(path, live=True) as reader:
        first = reader.check_chain()
        assert first.seq == 3
        events, bodies = zip(requested(5), requested(6), strict=True)
        writer.append(events, bodies).result()
        assert reader.check_chain(first) == reader.check_chain() == (5, reader.head())


@pytest.mark.parametrize(
    "arguments",
    [
        ["status", "run"],
        ["show", "run"],
        ["scan", "run"],
        ["score", "run", "--gold", "gold"],
        ["compare", "run", "run", "--gold", "gold"],
        ["confusion", "run", "--gold", "gold", "--question", "q_collision"],
        ["report", "run", "-o", "report.html"],
        ["view", "run", "-o", "view.html"],
        ["rescore", "run", "--engine", "0.1.3"],
        ["rescore", "run", "--engine", "0.1.3", "--save"],
        ["extract", "--top-up", "run", "--engine", "0.1.3", "--dry-run"],
        ["reply", "read", "run", "c"],
    ],
    ids=lambda arguments: " ".join(arguments),
)
def test_a_command_refuses_a_log_that_was_changed(
    log: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str]
) -> None:
    change(log, "events", "time", 0.999)
    monkeypatch.chdir(log.parent)
    Path("gold").mkdir()
    Path("gold/c.json").write_text('{"clip_id":"c","labeler":"reviewed","answers":[]}', encoding="utf-8")
    monkeypatch.setenv("VLMREC_STORE", ".")
    said = CliRunner().invoke(cli, arguments)
    assert (said.exit_code, said.stdout) == (2, "")
    assert f"run run is not as it was recorded, from event {MIDDLE} on" in said.stderr
    assert "vlmrec verify run.db" in said.stderr
    assert not list(Path().glob("*.html"))
    assert [path.name for path in Path().glob("*.db")] == ["run.db"]


def test_events_are_printed_of_a_changed_log_with_a_warning(log: Path) -> None:
    change(log, "events", "time", 0.999)
    printed = CliRunner().invoke(events_command, [str(log)])
    assert printed.exit_code == 0
    assert len(printed.stdout.splitlines()) == EVENTS
    assert f"from event {MIDDLE} on" in printed.stderr


def test_the_catalog_leaves_a_changed_log_out_and_names_it(log: Path) -> None:
    change(log, "events", "time", 0.999)
    done = update_catalog(log.parent)
    assert done.runs == 0
    assert f"from event {MIDDLE} on" in done.refused["run"]


def test_the_catalog_drops_a_run_whose_log_was_changed_behind_its_head(log: Path) -> None:
    assert update_catalog(log.parent).runs == 1
    change(log, "events", "time", 0.999)
    done = CliRunner().invoke(catalog_command, ["--store", str(log.parent), "--json"])
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)
    assert (told["runs"], told["removed"], [one["run"] for one in told["refused"]]) == (0, ["run"], ["run"])


# ---- the schema --------------------------------------------------------------------------------


def every_object(kind: str) -> list[str]:
    from vlmrec.log.database import shipped_schema

    return [found.name for found in shipped_schema() if found.type == kind and not found.name.startswith("sqlite_")]


@pytest.mark.parametrize("kind", ["trigger", "index", "view"])
def test_verify_names_whatever_was_dropped(log: Path, kind: str) -> None:
    assert every_object(kind)
    for name in every_object(kind):
        path = copied(log, f"{name}.db")
        connection = sqlite3.connect(path)
        connection.execute(f"DROP {kind} {name}")
        connection.close()
        assert first_fault(verify_log(path)) == f"schema: {kind} {name} is missing"


def test_verify_names_a_weakened_trigger_and_one_that_was_added(log: Path) -> None:
    connection = sqlite3.connect(log)
    connection.executescript(
        "DROP TRIGGER events_no_update; CREATE TRIGGER events_no_update BEFORE UPDATE ON events BEGIN SELECT 1; END;"
        "CREATE TRIGGER extra AFTER INSERT ON events BEGIN SELECT 1; END;"
    )
    connection.close()
    assert [str(fault) for fault in verify_log(log).faults] == [
        "schema: trigger events_no_update has been changed",
        "schema: trigger extra is not part of a log",
    ]


def test_a_writer_refuses_a_log_whose_triggers_are_gone(log: Path) -> None:
    connection = sqlite3.connect(log)
    connection.execute("DROP TRIGGER events_no_update")
    connection.close()
    with pytest.raises(LogError, match="trigger events_no_update is missing"):
        LogWriter.open(log)


def test_a_log_rewritten_whole_is_noticed_only_by_a_head_kept_elsewhere(log: Path, tmp_path: Path) -> None:
    head = verify_log(log).head
    forged = filled(tmp_path / "forged.db", CALLS - 1)
    assert verify_log(forged).holds
    assert not verify_log(forged, head).holds


def test_a_file_header_that_says_another_format_is_named(log: Path) -> None:
    with tampering(log) as connection:
        connection.execute("PRAGMA user_version = 7")
    assert "it says format 1, the file's header says 7" in first_fault(verify_log(log))


def test_a_file_header_that_says_another_application_is_named(log: Path) -> None:
    with tampering(log) as connection:
        connection.execute("PRAGMA application_id = 0")
    assert first_fault(verify_log(log)).startswith("file header: the application id is 0x0")
    with pytest.raises(LogError, match="no vlmrec log"), open_log(log):
        pass


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=150)
@given(data=st.data())
def test_a_bit_flipped_anywhere_in_the_file_is_noticed_or_changes_nothing(log: Path, data: st.DataObject) -> None:
    whole = log.read_bytes()
    at = data.draw(st.integers(0, len(whole) - 1), label="byte")
    bit = data.draw(st.integers(0, 7), label="bit")
    damaged = log.with_name("damaged.db")
    damaged.write_bytes(whole[:at] + bytes([whole[at] ^ 1 << bit]) + whole[at + 1 :])
    try:
        report = verify_log(damaged)
    except LogError:
        return
    if report.holds:
        everything = "SELECT * FROM events", "SELECT * FROM blobs ORDER BY sha256", "SELECT * FROM log"
        for statement in everything:
            assert query(damaged, statement) == query(log, statement)


def test_damage_to_the_chain_does_not_stop_the_walk(log: Path) -> None:
    with tampering(log) as connection:
        connection.execute("UPDATE events SET time = '2027' WHERE seq IN (2, 5)")
    assert [fault.seq for fault in verify_log(log).faults] == [2, 5]


def test_verify_reads_a_log_while_it_is_written(tmp_path: Path) -> None:
    path = filled(tmp_path / "run.db", 2, seal=False)
    with LogWriter.open(path) as writer:
        event, blob = requested(9)
        writer.append([event], [blob]).result()
        assert verify_log(path, writer.head).after_head == 0
