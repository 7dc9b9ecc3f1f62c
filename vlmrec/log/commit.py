"""One group commit: several batches, one transaction, one fsync; used by the writer's thread alone.

The usual case writes all batches in one go. If the file refuses a row, everything is rolled back
and the batches are tried one by one, so that the refused one fails alone, with its reason.
After an error of the disk nothing more is written: what SQLite knows of the file is then uncertain,
and only opening the log anew settles it.
"""

import contextlib
import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from vlmrec.errors import DuplicateEvent, LogError
from vlmrec.log.encode import Batch
from vlmrec.log.format import Appended, LogInfo, chained_at, genesis
from vlmrec.terms import Blob, BlobRef

_INSERT_EVENT = "INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
_INSERT_BLOB = "INSERT INTO blobs VALUES (?, ?, ?)"
_KNOWN = 4096
_STORED_BLOB = "SELECT media_type, length(body) FROM blobs WHERE sha256 = ?"


Result = Appended | BaseException
"""Where a batch was stored, or why it was not."""


class Tip(NamedTuple):
    """The end of the chain: the last row's place, and the hash that the next row is chained to."""

    seq: int
    hash: str

    @property
    def head(self) -> str | None:
        return self.hash if self.seq else None


class Commit:
    """The end of one log, and the only code that adds to it."""

    def __init__(self, connection: sqlite3.Connection, path: Path, info: LogInfo) -> None:
        self._connection = connection
        self._path = path
        self._broken: str | None = None
        self._known: dict[str, BlobRef] = {}  # stored for certain, and as what; saves asking the file again
        self.info = info
        row = connection.execute("SELECT seq, hash FROM events ORDER BY seq DESC LIMIT 1").fetchone()
        self.durable = Tip(*row) if row is not None else Tip(0, genesis(info.stored()))

    def run(self, group: Sequence[Batch]) -> Sequence[Result]:
        """Store a group; what became of each batch, in the same order. When it returns, all is durable."""
        try:
            return self._stored(group)
        except BaseException as error:  # noqa: BLE001  whoever waits must hear of it, whatever it is
            self._give_up(error)
            return [error] * len(group)

    def _stored(self, group: Sequence[Batch]) -> Sequence[Result]:
        if self._broken is not None:
            return [self._no_more() for _ in group]
        try:
            return self._together(group)
        except (sqlite3.IntegrityError, LogError):
            self._roll_back()
        except sqlite3.Error as error:
            self._give_up(error)
            return [self._no_more() for _ in group]
        return [self._alone(batch) for batch in group]

    def _alone(self, batch: Batch) -> Result:
        if self._broken is not None:
            return self._no_more()
        try:
            return self._together([batch])[0]
        except LogError as error:
            self._roll_back()
            return error
        except sqlite3.IntegrityError as error:
            self._roll_back()
            return self._refused(batch, error)
        except sqlite3.Error as error:
            self._give_up(error)
            return self._no_more()

    def _together(self, group: Sequence[Batch]) -> list[Appended]:
        execute = self._connection.execute
        execute("BEGIN IMMEDIATE")
        seq, head = self.durable
        rows: list[tuple[object, ...]] = []
        results = []
        fresh: dict[str, BlobRef] = {}
        for batch in group:
            first = seq + 1
            for ref in batch.refs:
                if self._known.get(ref.sha256) != ref:
                    self._store_blob(ref, batch.blobs.get(ref.sha256))
                    fresh[ref.sha256] = ref
            for columns, tail, _ in batch.events:
                seq += 1
                head = chained_at(head, seq, tail)
                rows.append((seq, *columns, head))
            results.append(Appended(first, seq, head))
        self._connection.executemany(_INSERT_EVENT, rows)
        execute("COMMIT")
        self.durable = Tip(seq, head)
        if fresh:
            if len(self._known) > _KNOWN:
                self._known.clear()
            self._known.update(fresh)
        return results

    def _store_blob(self, ref: BlobRef, blob: Blob | None) -> None:
        stored = self._connection.execute(_STORED_BLOB, (ref.sha256,)).fetchone()
        if stored is None:
            if blob is None:
                raise LogError(f"{self._path}: blob {ref.sha256} is referred to, but neither stored nor given")
            self._connection.execute(_INSERT_BLOB, (ref.sha256, ref.media_type, blob.body))
        elif stored != (ref.media_type, ref.length):
            raise LogError(
                f"{self._path}: blob {ref.sha256} is stored as {stored[0]!r} of {stored[1]} bytes, "
                f"but referred to as {ref.media_type!r} of {ref.length}"
            )

    def _refused(self, batch: Batch, error: sqlite3.Error) -> LogError:
        seen: set[str] = set()
        for event in batch.events:
            event_id = event.columns[0]
            if event_id in seen or self._has_event(event_id):
                return DuplicateEvent(f"{self._path}: event {event_id!r} is in the log already; nothing was appended")
            seen.add(event_id)
        return LogError(f"{self._path}: the file refused what was to be appended: {error}")

    def _has_event(self, event_id: str) -> bool:
        return self._connection.execute("SELECT 1 FROM events WHERE id = ?", (event_id,)).fetchone() is not None

    def _give_up(self, error: BaseException) -> None:
        self._broken = self._broken or f"{type(error).__name__}: {error}"
        with contextlib.suppress(sqlite3.Error):  # the first error is the one to tell
            self._roll_back()

    def _roll_back(self) -> None:
        if self._connection.in_transaction:
            self._connection.execute("ROLLBACK")

    def _no_more(self) -> LogError:
        return LogError(
            f"{self._path}: the log can't be written any more ({self._broken}); all that was acknowledged is in it. "
            f"Mend the cause, then resume"
        )
