"""Reading a log: by anyone, at any time, and never in the way of its writer.

``open_log`` gives one state of the log, however long one reads: a run that is being written goes on
unseen. With ``live=True`` each call sees what is there by then. Events come decoded, in the order
of ``seq``, at the current version of their type; rows come as stored. ``open_checked`` is for whoever
makes a result of a log: it walks the chain first. Bodies are always compared with their hash.
"""

import sqlite3
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec

from vlmrec import __version__
from vlmrec.canonical import sha256_hex
from vlmrec.errors import LogBusy, LogError
from vlmrec.events import BY_TYPE, Event, decode_payload
from vlmrec.log.chain import Link, check_chain
from vlmrec.log.database import connect_reader, read_info
from vlmrec.log.format import EVENT_COLUMNS, LogInfo, Row
from vlmrec.log.upcast import upcast
from vlmrec.terms import ClipId

_FEW = 0.25
"""Below this share of the log, rows of some types are fetched through the index by type; above it, a plain scan is faster."""


@contextmanager
def open_log(path: Path, *, live: bool = False) -> Iterator["LogReader"]:
    """A reader of the log at ``path``. Raises LogError for what is no log, or one from a newer vlmrec."""
    with _opened(path, live=live) as log:
        log.refuse_unknown_types()
        yield log


@contextmanager
def open_checked(path: Path) -> Iterator["LogReader"]:
    """``open_log`` for what makes results. Raises LogError, naming the row, where the log is not as it was written."""
    with _opened(path, live=False) as log:
        log.check_chain()  # first: a type that was changed is no sign of a newer vlmrec
        log.refuse_unknown_types()
        yield log


@contextmanager
def _opened(path: Path, *, live: bool) -> Iterator["LogReader"]:
    connection = connect_reader(path)
    try:
        info = read_info(connection, path)
        if not live:
            connection.execute("BEGIN")
        yield LogReader(connection, path, info)
    except sqlite3.OperationalError as error:
        if "locked" in str(error):
            raise LogBusy(f"{path}: the file is locked by another process ({error}); try again") from error
        raise LogError(f"{path}: can't be read: {error}") from error
    except sqlite3.DatabaseError as error:
        raise LogError(f"{path}: the file is damaged ({error}); `vlmrec verify {path}` says where") from error
    finally:
        connection.close()


class LogReader:
    """One open log. ``path`` and ``info`` say which."""

    def __init__(self, connection: sqlite3.Connection, path: Path, info: LogInfo) -> None:
        self._connection = connection
        self.path = path
        self.info = info

    def head(self) -> str | None:
        """The hash of the last row; None in a log without events."""
        row = self._connection.execute("SELECT hash FROM events ORDER BY seq DESC LIMIT 1").fetchone()
        return None if row is None else str(row[0])

    def last_seq(self) -> int:
        """The place of the last row; 0 in a log without events."""
        (seq,) = self._connection.execute("SELECT coalesce(max(seq), 0) FROM events").fetchone()
        return int(seq)

    def clips(self) -> list[ClipId]:
        """The clips that events speak of, sorted."""
        found = self._connection.execute("SELECT DISTINCT subject FROM events WHERE subject IS NOT NULL ORDER BY 1")
        return [ClipId(clip) for (clip,) in found]

    def count(self, types: Iterable[str] | None = None) -> int:
        """How many events there are, of some types or of all."""
        return self._count(None if types is None else sorted(set(types)))

    def events(self, types: Iterable[str] | None = None, clip: str | None = None, after: int = 0) -> Iterator[Event]:
        """Events in order, decoded and upcast: of some types, of one clip, or behind a place."""
        new = tuple.__new__
        current = _CURRENT
        for seq, event_id, event_type, version, time, subject, causation, data in self._select(
            "seq, id, type, version, time, subject, causation, CAST(data AS BLOB)", types, clip, after
        ):
            decode = current.get((event_type, version))
            try:
                payload = decode(data) if decode is not None else self._older(seq, event_type, version, data)
            except msgspec.MsgspecError as error:
                raise LogError(f"{self.path}: event {seq} ({event_type}) can't be read: {error}") from error
            yield new(Event, (event_id, subject, time, causation, payload))

    def rows(self, types: Iterable[str] | None = None, clip: str | None = None, after: int = 0) -> Iterator[Row]:
        """Rows in order, as stored."""
        return map(Row._make, self._select(", ".join(EVENT_COLUMNS), types, clip, after))

    def event(self, event_id: str) -> Event | None:
        """One event by its id."""
        found = self._connection.execute("SELECT seq, type FROM events WHERE id = ?", (event_id,)).fetchone()
        return None if found is None else next(self.events([found[1]], after=found[0] - 1), None)

    def has_blob(self, sha256: str) -> bool:
        """Whether a body is stored."""
        return self._connection.execute("SELECT 1 FROM blobs WHERE sha256 = ?", (sha256,)).fetchone() is not None

    def blob(self, sha256: str) -> bytes:
        """A stored body. Raises LogError if there is none, or other bytes lie under its hash."""
        row = self._connection.execute("SELECT body FROM blobs WHERE sha256 = ?", (sha256,)).fetchone()
        if row is None:
            raise LogError(
                f"{self.path}: it holds no blob {sha256}; `vlmrec verify {self.path}` says which event needs it"
            )
        body = bytes(row[0])
        if (actual := sha256_hex(body)) != sha256:
            raise LogError(
                f"{self.path}: blob {sha256} of run {self.path.stem} was changed, its bytes have the SHA-256 {actual}; "
                f"`vlmrec verify {self.path}` lists every fault"
            )
        return body

    def check_chain(self, since: Link | None = None) -> Link:
        """The last row, once the chain of all rows (or of those behind ``since``) is in order. Raises LogError if not."""
        return check_chain(self._connection, self.path, self.info, since)

    def stopped(self) -> bool:
        """Whether the last act on the run was to stop it; False too in a log that holds no run."""
        row = self._connection.execute(
            "SELECT type FROM events WHERE type IN ('run.started', 'run.resumed', 'run.stopped') ORDER BY seq DESC LIMIT 1"
        ).fetchone()
        return row is not None and row[0] == "run.stopped"

    def data_version(self) -> int:
        """A number that changes when another connection has written; for readers that are live."""
        (version,) = self._connection.execute("PRAGMA data_version").fetchone()
        return int(version)

    def refuse_unknown_types(self) -> None:
        """Raise LogError when the log holds a type of event that this vlmrec doesn't know."""
        # one step in the index per type, however many events there are
        found = self._connection.execute(
            "WITH RECURSIVE t(type) AS (SELECT min(type) FROM events UNION ALL "
            "SELECT (SELECT min(type) FROM events WHERE type > t.type) FROM t WHERE t.type IS NOT NULL) "
            "SELECT type FROM t WHERE type IS NOT NULL"
        )
        for (event_type,) in found.fetchall():
            if event_type not in BY_TYPE:
                first = self._connection.execute("SELECT min(seq) FROM events WHERE type = ?", (event_type,))
                raise self._too_new(first.fetchone()[0], event_type, None)

    def _select(self, columns: str, types: Iterable[str] | None, clip: str | None, after: int) -> sqlite3.Cursor:
        wanted = None if types is None else sorted(set(types))
        where, values = ["seq > ?"], [after]  # type: list[str], list[Any]
        if clip is not None:
            where.append("subject = ?")
            values.append(clip)
        if wanted is not None:
            where.append(self._of_types(wanted, through_index=clip is None))
            values.extend(wanted)
        return self._connection.execute(
            f"SELECT {columns} FROM events WHERE {' AND '.join(where)} ORDER BY seq", values
        )

    def _of_types(self, wanted: list[str], *, through_index: bool) -> str:
        marks = ", ".join("?" * len(wanted))
        if not through_index or self._count(wanted) > _FEW * self.last_seq():
            return f"+type IN ({marks})"  # the sign keeps SQLite from sorting what a scan finds in order
        return f"seq IN (SELECT seq FROM events WHERE type IN ({marks}))"

    def _count(self, wanted: list[str] | None) -> int:
        if wanted is None:
            (found,) = self._connection.execute("SELECT count(*) FROM events").fetchone()
        else:
            marks = ", ".join("?" * len(wanted))
            (found,) = self._connection.execute(
                f"SELECT count(*) FROM events WHERE type IN ({marks})", wanted
            ).fetchone()
        return int(found)

    def _older(self, seq: int, event_type: str, version: int, data: bytes) -> Any:
        cls = BY_TYPE.get(event_type)
        if cls is None or version > cls.schema_version:
            raise self._too_new(seq, event_type, version)
        return decode_payload(event_type, upcast(event_type, version, data, current=cls.schema_version))

    def _too_new(self, seq: int, event_type: str, version: int | None) -> LogError:
        written_by = self._connection.execute(
            "SELECT coalesce(json_extract(data, '$.manifest.vlmrec_version'), json_extract(data, '$.vlmrec_version')) "
            "FROM events WHERE type IN ('run.started', 'run.resumed') AND seq <= ? ORDER BY seq DESC LIMIT 1",
            (seq,),
        ).fetchone()
        needed = f"vlmrec {written_by[0]}" if written_by and written_by[0] else "a later vlmrec"
        what = event_type if version is None else f"{event_type} version {version}"
        return LogError(
            f"{self.path}: event {seq} is a {what}, which vlmrec {__version__} doesn't know; it needs {needed}"
        )


_CURRENT: dict[tuple[str, int], Callable[[bytes], Any]] = {
    (name, cls.schema_version): msgspec.json.Decoder(cls).decode for name, cls in BY_TYPE.items()
}
