"""Small logs for tests, and the means to tamper with them as somebody with a SQLite client would."""

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from vlmrec.canonical import make_blob
from vlmrec.events import CallCompleted, CallRequested, Event, RunStopped, Stage, make_event
from vlmrec.log.database import connect_writer
from vlmrec.log.format import LogKind, Parent
from vlmrec.log.writer import LogWriter
from vlmrec.terms import Blob, Party

TIME = "2026-01-05T09:00:00Z"
UUID = "0a9f7f5e-3c1d-4b7a-9d2e-5f60718293a4"
PARENT = Parent(uuid="1b9f7f5e-3c1d-4b7a-9d2e-5f60718293a4", head="ab" * 32)


def create(path: Path, *, kind: LogKind = LogKind.RUN, parent: Parent | None = None) -> LogWriter:
    return LogWriter.create(path, kind=kind, log_uuid=UUID, created=TIME, parent=parent)


def requested(number: int, *, clip: str = "클립-1", attempt: int = 1) -> tuple[Event, Blob]:
    """A call that is about to leave, with a request of its own."""
    blob = make_blob(f'{{"number":{number}}}'.encode(), "application/json")
    payload = CallRequested(
        stage=Stage.PREDICATE,
        question_id="q_maneuver",
        party=Party.OTHER,
        sample=number,
        attempt=attempt,
        fingerprint="v1:0",
        request=blob.ref,
        model="test/model",
        endpoint="in-process",
    )
    return make_event(payload, clip=clip, time=TIME), blob


def completed(number: int, *, clip: str = "클립-1") -> tuple[Event, Blob]:
    """The reply to it."""
    blob = make_blob(f"reply {number}".encode(), "text/plain; charset=utf-8")
    payload = CallCompleted(
        stage=Stage.PREDICATE,
        question_id="q_maneuver",
        party=Party.OTHER,
        sample=number,
        attempt=1,
        status=200,
        body=blob.ref,
        latency_s=0.25,
    )
    cause = requested(number, clip=clip)[0].id
    return make_event(payload, clip=clip, time=TIME, causation=cause), blob


def stopped(ordinal: int = 1) -> Event:
    return make_event(RunStopped(ordinal=ordinal, reason="done"), clip=None, time=TIME)


def filled(path: Path, calls: int = 3, *, parent: Parent | None = PARENT, seal: bool = True) -> Path:
    """A log of ``calls`` calls and their replies, then the run's stop: ``2 * calls + 1`` events."""
    with create(path, kind=LogKind.DERIVED if parent else LogKind.RUN, parent=parent) as writer:
        pairs = [pair for number in range(calls) for pair in (requested(number), completed(number))]
        writer.append([*(event for event, _ in pairs), stopped()], [blob for _, blob in pairs]).result()
        if seal:
            assert writer.seal()
    return path


def copied(path: Path, name: str = "copy.db") -> Path:
    return Path(shutil.copyfile(path, path.with_name(name)))


@contextmanager
def tampering(path: Path) -> Iterator[sqlite3.Connection]:
    """The log without its triggers; they are put back afterwards, so that only what was done shows."""
    connection = connect_writer(path, wait_s=1)
    try:
        connection.execute("PRAGMA synchronous = OFF")
        connection.execute("PRAGMA ignore_check_constraints = ON")
        triggers = connection.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'").fetchall()
        for name, _ in triggers:
            connection.execute(f"DROP TRIGGER {name}")
        yield connection
        for _, sql in triggers:
            connection.execute(sql)
    finally:
        connection.close()


def query(path: Path, sql: str, *values: Any) -> list[tuple[Any, ...]]:
    connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    try:
        return connection.execute(sql, values).fetchall()
    finally:
        connection.close()
