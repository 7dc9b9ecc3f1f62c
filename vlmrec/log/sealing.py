"""From a log under way to one file that can be copied alone, and back.

Sealing never waits for long and never fails: a reader may put it off, and the next command that finds
the log idle does it. Going back to be written waits for readers, and says after how long it gave up.
"""

import contextlib
import sqlite3
import time
from pathlib import Path

from vlmrec.errors import LogBusy, LogError
from vlmrec.log import lock
from vlmrec.log.database import connect_reader, connect_writer, read_info


def seal_if_idle(path: Path) -> bool:
    """Seal a log that nobody writes, if it isn't sealed. True when it is sealed now; never waits for anybody."""
    try:
        if not _is_unsealed(path):
            return True
        held = lock.acquire(path, wait_s=0)
    except (LogError, sqlite3.Error):
        return False  # no log, being written, or where it can't be sealed: whoever reads it next will be told
    try:
        connection = connect_writer(path, wait_s=0)
        try:
            return sealed(connection, 0)
        finally:
            connection.close()
    except sqlite3.Error:
        return False
    finally:
        held.release()


def sealed(connection: sqlite3.Connection, wait_s: float) -> bool:
    """Bring every row into the database file, then leave WAL mode unless a reader is connected.

    A reader that is in the middle of reading an older state also keeps the rows after it out of the file.
    """
    if connection.execute("PRAGMA journal_mode").fetchone()[0] != "wal":
        return True
    connection.execute(f"PRAGMA busy_timeout = {int(wait_s * 1000)}")
    with contextlib.suppress(sqlite3.OperationalError):  # a full disk: the rows stay in the write-ahead log
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    deadline = time.monotonic() + wait_s
    while True:
        with contextlib.suppress(sqlite3.OperationalError):
            if connection.execute("PRAGMA journal_mode = DELETE").fetchone()[0] == "delete":
                return True
        if time.monotonic() >= deadline:
            return False
        time.sleep(0.02)


def to_wal(connection: sqlite3.Connection, path: Path, wait_s: float) -> None:
    """Put a log into WAL mode, where it is written. Raises LogBusy when readers hold it for longer than ``wait_s``."""
    deadline = time.monotonic() + wait_s
    while True:
        try:
            if connection.execute("PRAGMA journal_mode = WAL").fetchone()[0] == "wal":
                return
            reason = "SQLite keeps another journal mode"
        except sqlite3.OperationalError as error:
            reason = str(error)
        if time.monotonic() >= deadline:
            raise LogBusy(
                f"{path}: the log can't be opened for writing ({reason}): waited {wait_s:g} s for its readers. "
                f"Close what reads it (a viewer, Datasette, `vlmrec events --follow`) and try again"
            )
        time.sleep(0.05)


def _is_unsealed(path: Path) -> bool:
    connection = connect_reader(path)
    try:
        read_info(connection, path)  # nothing is done to a file that is no log
        return bool(connection.execute("PRAGMA journal_mode").fetchone()[0] == "wal")
    finally:
        connection.close()
