"""Whether a log is what its writer wrote: chain, payloads, blobs, schema and triggers, file.

``verify_log`` reads one state of the log and reports every fault it finds, the first broken row
first. It proves that nothing before a known head was changed or removed; against somebody who can
rewrite the whole chain only a head that was kept elsewhere helps (``head``).
"""

import re
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
from msgspec import Struct

from vlmrec.canonical import sha256_hex
from vlmrec.errors import InputError, LogError
from vlmrec.events import BY_TYPE, event_id
from vlmrec.log.database import connect_reader, info_of, read_info, schema_faults
from vlmrec.log.encode import references
from vlmrec.log.format import (
    APPLICATION_ID,
    EVENT_COLUMNS,
    FORMAT,
    LOG_COLUMNS,
    LogInfo,
    Stored,
    chained,
    genesis,
)
from vlmrec.log.payload import is_canonical
from vlmrec.log.upcast import upcast

MOST_FAULTS = 100
"""Reported at most; a log that is broken so often is broken."""


class Fault(Struct, frozen=True, kw_only=True):
    """One thing that is not as it must be: which row, and what about it."""

    where: str
    what: str
    seq: int | None = None
    sha256: str | None = None

    def __str__(self) -> str:
        return f"{self.where}: {self.what}"


class VerifyReport(Struct, frozen=True, kw_only=True):
    """What a verification found; it holds when there are no faults."""

    path: str
    info: LogInfo | None
    events: int
    blobs: int
    head: str | None
    faults: tuple[Fault, ...]
    head_seq: int | None = None
    after_head: int | None = None

    @property
    def holds(self) -> bool:
        return not self.faults


def verify_log(path: Path, head: str | None = None) -> VerifyReport:
    """Check a log. Raises LogError only for what is no log, or needs a newer vlmrec."""
    wanted = None if head is None else _checked_head(head)
    connection = connect_reader(path)
    try:
        connection.execute("BEGIN")  # one state, also of a log that is being written
        _refuse_newer(connection, path)
        return _Verification(connection, wanted).report(path)
    except sqlite3.DatabaseError as error:
        raise LogError(f"{path}: can't be read as a vlmrec log: {error}") from error
    finally:
        connection.close()


class _Row(NamedTuple):
    seq: int
    stored: tuple[Stored, ...]
    hash: str

    @property
    def data(self) -> bytes:
        return self.stored[-1] or b""

    def text(self, column: str) -> str | None:
        value = self.stored[EVENT_COLUMNS.index(column)]
        return None if value is None else _text(value)


class _Verification:
    """One pass over one log. Faults are kept in the order in which they are found."""

    def __init__(self, connection: sqlite3.Connection, wanted: str | None) -> None:
        self._connection = connection
        self._wanted = wanted
        self._faults: list[Fault] = []
        self._referred: set[bytes] = set()
        self._events = self._blobs = 0
        self._genesis = ""
        self._head: str | None = None
        self._head_seq: int | None = None
        self._up_to_head = 0

    def report(self, path: Path) -> VerifyReport:
        schema = schema_faults(self._connection)
        self._connection.text_factory = bytes
        info = self._log_row()
        self._chain()
        self._bodies()
        for fault in schema:
            self._fault("schema", fault)
        self._file()
        if self._wanted is not None and self._head_seq is None:
            self._fault("head", f"no row has the hash {self._wanted}: it, or a row before it, was removed or changed")
        return VerifyReport(
            path=str(path),
            info=info,
            events=self._events,
            blobs=self._blobs,
            head=self._head,
            faults=tuple(self._faults),
            head_seq=self._head_seq,
            after_head=None if self._head_seq is None else self._events - self._up_to_head,
        )

    def _fault(self, where: str, what: str, *, seq: int | None = None, sha256: str | None = None) -> None:
        if len(self._faults) < MOST_FAULTS:
            self._faults.append(Fault(where=where, what=what, seq=seq, sha256=sha256))

    def _log_row(self) -> LogInfo | None:
        (application_id,) = self._connection.execute("PRAGMA application_id").fetchone()
        if application_id != APPLICATION_ID:
            self._fault("file header", f"the application id is {application_id:#x}, not {APPLICATION_ID:#x}")
        rows = self._connection.execute(f"SELECT {', '.join(LOG_COLUMNS)} FROM log").fetchall()
        if len(rows) != 1:
            self._fault("log", f"the table must have one row, and has {len(rows)}")
            return None
        self._genesis = genesis([_stored(value) for value in rows[0]])
        (user_version,) = self._connection.execute("PRAGMA user_version").fetchone()
        if rows[0][0] != user_version:
            self._fault("log", f"it says format {rows[0][0]}, the file's header says {user_version}")
        try:
            return info_of(tuple(value.decode() if isinstance(value, bytes) else value for value in rows[0]))
        except ValueError as error:
            self._fault("log", f"its row can't be read: {error}")
            return None

    def _chain(self) -> None:
        earlier = {self._genesis}  # the hashes that the next row may be chained to
        expected = 1
        for row in self._rows():
            self._events += 1
            if row.seq == expected:
                earlier = self._link(row, earlier)
            else:
                self._fault(f"event {expected}", f"is missing; the next row is event {row.seq}", seq=expected)
                earlier = {row.hash}
            if row.hash == self._wanted:
                self._head_seq, self._up_to_head = row.seq, self._events
            self._references(row)
            expected = row.seq + 1
            self._head = row.hash

    def _link(self, row: _Row, earlier: set[str]) -> set[str]:
        computed = {chained(previous, row.stored) for previous in earlier if _is_hash(previous)}
        if row.hash not in computed:
            what = "its bytes don't give its hash"
            if row.seq == 1:
                what += ": it was changed, or the row of `log` that it binds was"
            self._fault(f"event {row.seq} ({row.text('id')})", what, seq=row.seq)
            return {row.hash, *computed}  # a changed hash alone breaks one row, not two
        try:
            self._meaning(row)
        except (msgspec.MsgspecError, ValueError, KeyError) as error:
            self._fault(f"event {row.seq} ({row.text('id')})", f"its data can't be read: {error}", seq=row.seq)
        return {row.hash}

    def _references(self, row: _Row) -> None:
        for ref in references(row.data):
            self._referred.add(bytes.fromhex(ref.sha256))
            found = self._connection.execute(
                "SELECT media_type, length(body) FROM blobs WHERE sha256 = ?", (ref.sha256,)
            ).fetchone()
            if found == (ref.media_type.encode(), ref.length):
                continue
            stored = "missing" if found is None else f"stored as {_text(found[0])!r} of {found[1]} bytes"
            what = f"is {stored}; event {row.seq} refers to it as {ref.media_type!r} of {ref.length}"
            self._fault(f"blob {ref.sha256}", what, seq=row.seq, sha256=ref.sha256)

    def _meaning(self, row: _Row) -> None:
        data, event_type, version = row.data, row.text("type") or "", int(row.text("version") or 0)
        cls = BY_TYPE.get(event_type)
        if cls is None or version > cls.schema_version:
            raise ValueError(f"{event_type} version {version} is from a newer vlmrec")
        if not is_canonical(data):
            raise ValueError("it is not canonical JSON")
        payload = msgspec.json.decode(upcast(event_type, version, data, current=cls.schema_version), type=cls)
        if version == cls.schema_version:
            named = event_id(payload, row.text("subject"))
            if named != row.text("id") or payload.turn() != row.text("correlation"):
                raise ValueError(f"type, clip and key give the id {named}")

    def _bodies(self) -> None:
        for sha256, body in self._read("blob", "SELECT sha256, body FROM blobs ORDER BY rowid"):
            self._blobs += 1
            name = _text(sha256)
            actual = sha256_hex(body)
            if actual != name:
                self._fault(f"blob {name}", f"its body has the SHA-256 {actual}", sha256=name)
            elif bytes.fromhex(name) not in self._referred:
                self._fault(f"blob {name}", "no event refers to it: those that did have been removed", sha256=name)

    def _file(self) -> None:
        for (message,) in self._read("file", "PRAGMA integrity_check(20)"):
            if message != b"ok":
                self._fault("file", _text(message))

    def _rows(self) -> Iterator[_Row]:
        for row in self._read("events", f"SELECT {', '.join(EVENT_COLUMNS)} FROM events ORDER BY seq"):
            yield _Row(row[0], tuple(_stored(value) for value in row[:-1]), _text(row[-1]))

    def _read(self, what: str, query: str) -> Iterator[tuple[Any, ...]]:
        """Rows of a query; damage to the file ends them, and is a fault of the row after the last good one."""
        count = 0
        try:
            for row in self._connection.execute(query):
                yield row
                count += 1
        except sqlite3.DatabaseError as error:
            self._fault(what, f"after {count} good rows the file can't be read: {error}")


def _refuse_newer(connection: sqlite3.Connection, path: Path) -> None:
    (user_version,) = connection.execute("PRAGMA user_version").fetchone()
    row = connection.execute("SELECT max(format) FROM log").fetchone()
    if user_version > FORMAT and row[0] is not None and row[0] > FORMAT:
        read_info(connection, path)


def _checked_head(head: str) -> str:
    if not _is_hash(head.lower()):
        raise InputError(f"--head {head!r}: a head is the 64 hexadecimal digits that `vlmrec verify` prints")
    return head.lower()


def _is_hash(text: str) -> bool:
    return re.fullmatch("[0-9a-f]{64}", text) is not None


def _text(stored: bytes) -> str:
    return stored.decode("utf-8", "backslashreplace")


def _stored(value: Any) -> Stored:
    return value if value is None or isinstance(value, bytes) else str(value).encode()
