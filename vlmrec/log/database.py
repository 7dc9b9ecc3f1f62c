"""A log as a SQLite file: made whole, opened for its one writer or read-only for anybody, its schema as shipped.

Promises that what is returned is a vlmrec log of a format this version knows; everything else is a
LogError that says what the file is instead, or which vlmrec it needs.
"""

import os
import sqlite3
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

from vlmrec import __version__
from vlmrec.errors import LogBusy, LogError
from vlmrec.log.format import APPLICATION_ID, FORMAT, LOG_COLUMNS, LogInfo, LogKind, Parent

OLDEST_SQLITE = (3, 37, 0)  # STRICT tables


class SchemaObject(NamedTuple):
    """A table, index, trigger or view."""

    type: str
    name: str

    def __str__(self) -> str:
        return f"{self.type} {self.name}"


def make_file(path: Path, info: LogInfo) -> None:
    """Write the file under another name and rename it, so that a log is there whole or not at all."""
    fresh = path.with_name(f".{path.name}.new")
    for leftover in (fresh, fresh.with_name(fresh.name + "-journal")):
        leftover.unlink(missing_ok=True)
    connection = sqlite3.connect(fresh, isolation_level=None)
    try:
        parent = (info.parent.uuid, info.parent.head) if info.parent else (None, None)
        connection.executescript(
            f"BEGIN; PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = {info.format};\n{shipped_ddl()}"
        )
        row = (info.format, info.kind.value, info.uuid, info.created, *parent, info.requires)
        connection.execute(f"INSERT INTO log ({', '.join(LOG_COLUMNS)}) VALUES (?, ?, ?, ?, ?, ?, ?)", row)
        connection.execute("COMMIT")
    finally:
        connection.close()
    fresh.rename(path)
    _sync_folder(path.parent)


def connect_writer(path: Path, *, wait_s: float) -> sqlite3.Connection:
    """A read-write connection in autocommit mode; the file must exist."""
    return _connect(f"file:{quote(os.fsencode(path))}?mode=rw", wait_s)


def connect_reader(path: Path) -> sqlite3.Connection:
    """A read-only connection that waits a little for locks. Raises LogError if there is no such file, or it is no log."""
    if not path.is_file():
        raise LogError(f"{path}: there is no such file")
    base = f"file:{quote(os.fsencode(path))}?mode=ro"
    connection = _connect(base, 5.0)
    try:
        _application_id(connection)
    except sqlite3.OperationalError as error:
        connection.close()
        # A log in WAL mode needs files beside it. Where none can be made and none is there, the file is whole.
        if not _wal_path(path).exists():
            return _connect(base + "&immutable=1", 5.0)
        raise LogError(
            f"{path}: can't be read where it lies ({error}): its last rows are in {_wal_path(path).name}, and this "
            f"folder is not writable; copy both files to one that is"
        ) from error
    except sqlite3.DatabaseError:
        return connection  # read_info says what is wrong with it
    return connection


def read_info(connection: sqlite3.Connection, path: Path) -> LogInfo:
    """The log's own row, with the file's format checked."""
    try:
        application_id = _application_id(connection)
        (user_version,) = connection.execute("PRAGMA user_version").fetchone()
        if application_id != APPLICATION_ID:
            raise LogError(f"{path}: this is no vlmrec log (its application id is {application_id:#x})")
        if user_version > FORMAT:
            (requires,) = connection.execute("SELECT requires FROM log").fetchone()
            raise LogError(
                f"{path}: the log has format {user_version}; this is vlmrec {__version__}, which reads up to {FORMAT}. "
                f"Install vlmrec {requires} or later"
            )
        row = connection.execute(f"SELECT {', '.join(LOG_COLUMNS)} FROM log").fetchone()
        if row is None:
            raise LogError(f"{path}: the table `log` is empty; the file is damaged")
        return info_of(row)
    except sqlite3.OperationalError as error:
        if "locked" in str(error):
            raise LogBusy(f"{path}: the file is locked by another process ({error}); try again") from error
        raise LogError(f"{path}: can't be read as a vlmrec log: {error}") from error
    except (sqlite3.DatabaseError, TypeError, ValueError) as error:
        raise LogError(f"{path}: can't be read as a vlmrec log: {error}") from error


def info_of(row: tuple[Any, ...]) -> LogInfo:
    """The Struct for a row of ``log``."""
    version, kind, uuid, created, parent_uuid, parent_head, requires = row
    parent = None if parent_uuid is None or parent_head is None else Parent(uuid=parent_uuid, head=parent_head)
    return LogInfo(format=version, kind=LogKind(kind), uuid=uuid, created=created, parent=parent, requires=requires)


@cache
def shipped_ddl(version: int = FORMAT) -> str:
    """The statements that make an empty log of a format."""
    folder = files("vlmrec.log")
    return "\n".join((folder / f"{part}_{version}.sql").read_text("utf-8") for part in ("format", "views"))


@cache
def shipped_schema(version: int = FORMAT) -> dict[SchemaObject, str | None]:
    """Every object of an empty log of a format, with its statement."""
    memory = sqlite3.connect(":memory:")
    try:
        memory.executescript(shipped_ddl(version))
        return stored_schema(memory)
    finally:
        memory.close()


def stored_schema(connection: sqlite3.Connection) -> dict[SchemaObject, str | None]:
    """Every object of a database, with its statement."""
    rows = connection.execute("SELECT type, name, sql FROM sqlite_schema ORDER BY type, name")
    return {SchemaObject(kind, name): sql for kind, name, sql in rows}


def schema_faults(connection: sqlite3.Connection, version: int = FORMAT) -> list[str]:
    """How a log's schema differs from the shipped one, object by object; empty when it doesn't."""
    shipped, stored = shipped_schema(version), stored_schema(connection)
    return [
        *(f"{name} is missing" for name in shipped if name not in stored),
        *(f"{name} has been changed" for name in shipped if name in stored and stored[name] != shipped[name]),
        *(f"{name} is not part of a log" for name in stored if name not in shipped),
    ]


def check_sqlite() -> None:
    """Raise LogError where the SQLite that Python was built with is too old."""
    if sqlite3.sqlite_version_info < OLDEST_SQLITE:
        needed = ".".join(map(str, OLDEST_SQLITE))
        raise LogError(f"this Python has SQLite {sqlite3.sqlite_version}; run logs need {needed} or later")


def _connect(uri: str, wait_s: float) -> sqlite3.Connection:
    check_sqlite()
    try:
        return sqlite3.connect(uri, uri=True, timeout=wait_s, isolation_level=None, cached_statements=64)
    except sqlite3.Error as error:
        raise LogError(f"{uri}: can't be opened: {error}") from error


def _application_id(connection: sqlite3.Connection) -> int:
    # the pragma alone reads nothing from a file that can't be opened; the schema does
    connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
    (found,) = connection.execute("PRAGMA application_id").fetchone()
    return int(found)


def _wal_path(path: Path) -> Path:
    return path.with_name(path.name + "-wal")


def _sync_folder(folder: Path) -> None:
    if hasattr(os, "O_DIRECTORY"):
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
