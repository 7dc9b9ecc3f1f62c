"""Tailing a log that is being written: rows as they become durable."""

import time
from collections.abc import Callable, Collection, Iterator
from itertools import islice
from pathlib import Path

from vlmrec.log.format import Row
from vlmrec.log.reader import open_log

POLL_S = 0.2
_CHUNK = 500  # rows in memory, so that no read stays open while a reader's terminal is slow


def follow_rows(
    path: Path,
    *,
    types: Collection[str] | None = None,
    clip: str | None = None,
    after: int = 0,
    sleep: Callable[[float], None] = time.sleep,
) -> Iterator[Row]:
    """The rows there are, then each new one; ends once the run has stopped and every row was given.

    SQLite's ``data_version`` tells without reading whether anything was committed. The log is open
    between polls, yet in no transaction, so that its writer is never held up.
    """
    with open_log(path, live=True) as log:
        seen = None
        while True:
            version = log.data_version()
            if version != seen:
                seen = version
                stopped, last = log.stopped(), log.last_seq()
                while chunk := list(islice(log.rows(types, clip, after), _CHUNK)):
                    after = chunk[-1].seq
                    yield from chunk
                after = max(after, last)
                if stopped:
                    return
            sleep(POLL_S)
