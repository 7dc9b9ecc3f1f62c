"""The log against a model in memory: append, refuse, crash, reopen, seal, read and tamper in any order.

A crash copies the files as they lie while the writer is alive, as ``kill -9`` leaves them, and goes on with the
copy. What was acknowledged must be in it; what was not may be, whole batches only, and in order.
"""

import shutil
import subprocess
import tempfile
from concurrent.futures import Future
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from logs import TIME, create, query, requested, tampering

from vlmrec.errors import DuplicateEvent, LogError
from vlmrec.events import Event, NoteAdded, make_event
from vlmrec.log.format import Appended
from vlmrec.log.reader import open_log
from vlmrec.log.sealing import seal_if_idle
from vlmrec.log.verify import verify_log
from vlmrec.log.writer import LogWriter
from vlmrec.terms import Blob

NUMBERS = st.integers(0, 40)
PLACES = st.integers(0, 1000)
"""Taken modulo the model's length: what survives a crash is a race, and what is drawn must not depend on it."""


class LogMachine(RuleBasedStateMachine):
    """``model`` holds what is durable, ``flying`` what was appended and not yet acknowledged."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(prefix="vlmrec-machine-"))
        self.path = self.folder / "run.db"
        self.writer: LogWriter | None = None
        self.model: list[Event] = []
        self.bodies: dict[str, bytes] = {}
        self.flying: list[tuple[list[Event], list[Blob], Future[Appended]]] = []
        self.heads: list[str | None] = []
        self.crashes = 0

    @initialize()
    def make(self) -> None:
        self.writer = create(self.path)
        self.heads = [None]

    def teardown(self) -> None:
        if self.writer is not None:
            self.writer.close()
        shutil.rmtree(self.folder)

    # ---- appending -----------------------------------------------------------------------------

    @precondition(lambda self: self.writer is not None)
    @rule(numbers=st.lists(NUMBERS, min_size=1, max_size=4))
    def append(self, numbers: list[int]) -> None:
        assert self.writer is not None
        events, blobs = batch(numbers)
        future = self.writer.append(events, blobs)
        self.land()
        if self.is_new(events):
            self.acknowledge(events, blobs, future.result())
        else:
            with pytest.raises(DuplicateEvent):
                future.result()

    @precondition(lambda self: self.writer is not None)
    @rule(numbers=st.lists(NUMBERS, min_size=1, max_size=3))
    def append_without_waiting(self, numbers: list[int]) -> None:
        assert self.writer is not None
        events, blobs = batch(numbers)
        self.flying.append((events, blobs, self.writer.append(events, blobs)))

    @precondition(lambda self: self.writer is not None)
    @rule(number=st.integers(100, 140))
    def append_without_its_body(self, number: int) -> None:
        assert self.writer is not None
        (event,), _ = batch([number])
        with pytest.raises(LogError, match="neither stored nor given"):
            self.writer.append([event]).result()

    @precondition(lambda self: self.writer is not None)
    @rule()
    def append_a_remark(self) -> None:
        assert self.writer is not None
        self.land()
        note = make_event(NoteAdded(ordinal=len(self.model) + 1, text="메모"), clip=None, time=TIME)
        self.acknowledge([note], [], self.writer.append([note]).result())

    # ---- closing, sealing, crashing ------------------------------------------------------------

    @precondition(lambda self: self.writer is not None)
    @rule(sealing=st.booleans())
    def close(self, sealing: bool) -> None:
        assert self.writer is not None
        if sealing:
            assert self.writer.seal()
            assert not self.path.with_name("run.db-wal").exists()
        else:
            self.writer.close()
        self.land()
        self.writer = None

    @precondition(lambda self: self.writer is None)
    @rule()
    def seal_when_idle(self) -> None:
        assert seal_if_idle(self.path)

    @precondition(lambda self: self.writer is None)
    @rule()
    def reopen(self) -> None:
        self.writer = LogWriter.open(self.path)

    @precondition(lambda self: self.writer is not None)
    @rule(junk=st.binary(max_size=5000))
    def crash(self, junk: bytes) -> None:
        """Go on with the files as they are now. ``junk`` is a commit that the crash cut off."""
        assert self.writer is not None
        self.crashes += 1
        left = self.folder / f"crash-{self.crashes}"
        left.mkdir()
        for name in ("run.db", "run.db-wal"):  # by another process: a descriptor of ours would drop SQLite's locks
            if self.path.with_name(name).exists():
                subprocess.run(["cp", str(self.path.with_name(name)), str(left / name)], check=True)
        wal = left / "run.db-wal"
        if wal.exists():
            with wal.open("ab") as file:
                file.write(junk)
        self.writer.close()
        flying, self.flying = self.flying, []
        self.path, self.writer = left / "run.db", None
        self.take_over_what_survived(flying)

    def take_over_what_survived(self, flying: list[tuple[list[Event], list[Blob], Future[Appended]]]) -> None:
        with open_log(self.path) as log:
            stored = list(log.events())
        hashes = [found for (found,) in query(self.path, "SELECT hash FROM events ORDER BY seq")]
        assert stored[: len(self.model)] == self.model, "an acknowledged event is missing"
        for events, blobs, future in flying:
            if future.exception() is None and len(stored) > len(self.model):
                at = len(self.model)
                assert stored[at : at + len(events)] == events, "a batch is not whole, or not in order"
                self.model += events
                self.heads += hashes[at : at + len(events)]
                self.bodies.update((blob.ref.sha256, blob.body) for blob in blobs)
        assert stored == self.model

    # ---- looking -------------------------------------------------------------------------------

    @rule(place=PLACES)
    def read(self, place: int) -> None:
        self.land()
        with open_log(self.path) as log:
            assert list(log.events()) == self.model
            after = place % (len(self.model) + 1)
            assert list(log.events(["note.added"], after=after)) == [
                event for event in self.model[after:] if event.data.type == "note.added"
            ]
            assert all(log.blob(sha256) == body for sha256, body in self.bodies.items())

    @rule(place=PLACES)
    def verify(self, place: int) -> None:
        self.land()
        noted = self.heads[place % len(self.heads)]
        report = verify_log(self.path, noted)
        assert report.holds, report.faults
        assert (report.events, report.blobs) == (len(self.model), len(self.bodies))
        if noted is not None:
            assert report.after_head == len(self.model) - self.heads.index(noted)

    @precondition(lambda self: self.writer is None)
    @rule(place=PLACES, column=st.sampled_from(["type", "time", "data", "causation", "hash", "id", None]))
    def tamper(self, place: int, column: str | None) -> None:
        """On a copy: whatever is done to a row, it is named."""
        if not self.model:
            return
        seal_if_idle(self.path)
        copy = Path(shutil.copy(self.path, self.folder / "tampered.db"))
        seq = 1 + place % len(self.model)
        with tampering(copy) as connection:
            if column is None:
                connection.execute("DELETE FROM events WHERE seq = ?", (seq,))
            else:
                connection.execute(f"UPDATE events SET {column} = coalesce({column}, '') || ' ' WHERE seq = ?", (seq,))
        report = verify_log(copy, self.heads[-1])
        assert not report.holds
        if column is not None or seq < len(self.model):
            assert report.faults[0].seq == seq
        copy.unlink()

    @invariant()
    def the_tip_is_the_models(self) -> None:
        if self.writer is not None and not self.flying:
            assert self.writer.last_seq == len(self.model)
            assert self.writer.head == self.heads[-1]

    # ---- the model -----------------------------------------------------------------------------

    def land(self) -> None:
        """Wait for everything that is under way, and take it into the model in the order of appending."""
        flying, self.flying = self.flying, []
        for events, blobs, future in flying:
            if self.is_new(events):
                self.acknowledge(events, blobs, future.result())
            else:
                assert isinstance(future.exception(), DuplicateEvent)

    def is_new(self, events: list[Event]) -> bool:
        ids = [event.id for event in events]
        return len(set(ids)) == len(ids) and not set(ids) & {event.id for event in self.model}

    def acknowledge(self, events: list[Event], blobs: list[Blob], appended: Appended) -> None:
        assert appended.first_seq == len(self.model) + 1
        self.model += events
        assert appended.last_seq == len(self.model)
        self.bodies.update((blob.ref.sha256, blob.body) for blob in blobs)
        found = query(self.path, "SELECT hash FROM events WHERE seq BETWEEN ? AND ? ORDER BY seq", *appended[:2])
        self.heads += [row[0] for row in found]
        assert self.heads[-1] == appended.head


def batch(numbers: list[int]) -> tuple[list[Event], list[Blob]]:
    pairs = [requested(number, clip=f"c{number % 3}") for number in numbers]
    return [event for event, _ in pairs], [blob for _, blob in pairs]


TestLogMachine = LogMachine.TestCase
TestLogMachine.settings = settings(max_examples=12, stateful_step_count=25, deadline=None)


@pytest.mark.deep
class TestLogMachineDeep(LogMachine.TestCase):  # type: ignore[misc]
    settings = settings(max_examples=200, stateful_step_count=50, deadline=None)
