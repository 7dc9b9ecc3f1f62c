"""Walks a log's chain of hashes, so that no result is made of rows that somebody changed.

``check_chain`` computes each row's hash from its stored bytes, as the writer did, and compares. What that proves,
what it costs, and what only ``verify`` finds is in docs/log.md; ``bench/bench_log.py`` measures it.
"""

import hashlib
import sqlite3
from pathlib import Path
from typing import NamedTuple, NoReturn

from vlmrec.errors import LogError
from vlmrec.log.format import EVENT_COLUMNS, LogInfo, framed, genesis

_NUMBERS = {"seq", "version"}
_COLUMNS = ", ".join(f"CAST({name} AS TEXT)" if name in _NUMBERS else name for name in EVENT_COLUMNS)
_ROWS = f"SELECT {_COLUMNS} FROM events WHERE seq > ? ORDER BY seq"


class Link(NamedTuple):
    """The row up to which a chain was found in order; of seq 0, what the first row is chained to."""

    seq: int
    hash: str


def check_chain(connection: sqlite3.Connection, path: Path, info: LogInfo, since: Link | None = None) -> Link:
    """Walk the rows behind ``since``, or all. Raises LogError naming the run and the first row that is not in order."""
    factory, connection.text_factory = connection.text_factory, bytes
    try:
        return _walk(connection, path, since or Link(0, genesis(info.stored())))
    finally:
        connection.text_factory = factory


def _walk(connection: sqlite3.Connection, path: Path, at: Link) -> Link:
    sha256 = hashlib.sha256
    seq, link = at.seq, bytes.fromhex(at.hash)
    for *values, stored in connection.execute(_ROWS, (at.seq,)):
        seq += 1
        if values[0] != b"%d" % seq:
            _refuse(path, seq, f"it is missing, the next row is event {values[0].decode()}")
        link = sha256(link + framed(values)).digest()
        if link.hex().encode() != stored:
            with_log = " and the row of `log`" if seq == 1 else ""
            _refuse(path, seq, f"its bytes{with_log} don't give its hash")
    return Link(seq, link.hex())


def _refuse(path: Path, seq: int, what: str) -> NoReturn:
    raise LogError(
        f"{path}: run {path.stem} is not as it was recorded, from event {seq} on: {what}. No result is made of it; "
        f"`vlmrec verify {path}` lists every fault"
    )
