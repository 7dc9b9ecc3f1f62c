"""The chain's form is a contract: computed here from docs/log.md alone, without the code under test."""

import hashlib
import sqlite3
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from logs import filled, query

from vlmrec.log.format import chained, chained_at, framed, tail

STORED = st.one_of(st.none(), st.binary(max_size=8))


def documented_frame(values: tuple[Any, ...]) -> bytes:
    """Eight bytes of length for each value, big-endian, all ones for NULL; then the values one after another."""
    stored = [None if v is None else str(v).encode() for v in values]
    lengths = b"".join((2**64 - 1 if s is None else len(s)).to_bytes(8, "big") for s in stored)
    return lengths + b"".join(s for s in stored if s is not None)


def test_the_chain_can_be_computed_by_the_document_alone(tmp_path: Path) -> None:
    path = filled(tmp_path / "run.db")
    (log_row,) = query(path, "SELECT * FROM log")
    previous = hashlib.sha256(b"vlmrec log" + documented_frame(log_row)).digest()
    rows = query(path, "SELECT * FROM events ORDER BY seq")
    assert rows
    for *values, stored_hash in rows:
        previous = hashlib.sha256(previous + documented_frame(tuple(values))).digest()
        assert previous.hex() == stored_hash


@given(st.lists(STORED, min_size=9, max_size=9), st.lists(STORED, min_size=9, max_size=9))
def test_no_two_rows_frame_alike(one: list[bytes | None], other: list[bytes | None]) -> None:
    assert (framed(one) == framed(other)) == (one == other)


def test_neighbours_cannot_lend_each_other_bytes() -> None:
    rows = [(b"ab", b"c", None), (b"a", b"bc", None), (b"abc", b"", None), (b"abc", None, b""), (b"", b"abc", None)]
    assert len({framed(row) for row in rows}) == len(rows)


@given(st.integers(1, 2**40), st.lists(STORED, min_size=8, max_size=8))
def test_a_row_made_ready_before_its_place_is_known_chains_alike(seq: int, rest: list[bytes | None]) -> None:
    assert chained_at("ab" * 32, seq, tail(rest)) == chained("ab" * 32, (b"%d" % seq, *rest))


def test_the_file_says_what_it_is_in_its_header(tmp_path: Path) -> None:
    path = filled(tmp_path / "run.db")
    header = path.read_bytes()[:100]
    assert header[68:72] == b"vlmr"
    assert int.from_bytes(header[60:64], "big") == 1
    assert query(path, "PRAGMA encoding") == [("UTF-8",)]


def test_every_table_is_strict(tmp_path: Path) -> None:
    connection = sqlite3.connect(filled(tmp_path / "run.db"))
    strict = {row[1]: row[5] for row in connection.execute("PRAGMA table_list") if row[2] == "table"}
    connection.close()
    assert {name: value for name, value in strict.items() if not name.startswith("sqlite_")} == {
        "log": 1,
        "events": 1,
        "blobs": 1,
    }
