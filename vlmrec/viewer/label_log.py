"""The store's label log, ``labels.db``: a log of kind ``labels`` under the same laws as a run's.

It is opened for each edit and closed again, so that several viewers over one store take turns; the
ordinals are taken under the writer's lock.
"""

import time
from collections.abc import Callable
from pathlib import Path
from threading import Lock
from typing import Any

import msgspec

from vlmrec.errors import InputError, LogBusy, LogError
from vlmrec.events import Event, LabelSet, LabelWithdrawn, make_event
from vlmrec.gold import REVIEWED, GoldLabel, GoldSet, load_gold, write_gold
from vlmrec.ledger import Ledger
from vlmrec.log.format import LogKind
from vlmrec.log.reader import open_log
from vlmrec.log.sealing import seal_if_idle
from vlmrec.log.writer import LogWriter
from vlmrec.terms import ClipId
from vlmrec.viewer.labels import Slot, Standing, checked, gold_label, last_edit, merged, ordinal, standing

TURN_S = 10.0
"""How long an edit waits for another process that writes the log."""


class LabelLog:
    """Edits and reads ``labels.db``. ``now`` gives RFC 3339 in UTC; ``new_uuid`` the uuid of a log not there yet."""

    def __init__(self, path: Path, *, now: Callable[[], str], new_uuid: Callable[[], str]) -> None:
        self.path = path
        self._now = now
        self._new_uuid = new_uuid
        self._guard = Lock()
        self._read: tuple[str | None, list[Event]] = (None, [])

    def events(self) -> list[Event]:
        """Every edit so far, in order."""
        if not self.path.is_file():
            return []
        with open_log(self.path) as log:
            head = log.head()
            if head != self._read[0] or head is None:
                log.check_chain()
                self._read = (head, list(log.events(["label.set", "label.withdrawn"])))
        return self._read[1]

    def set(self, clip: str, edit: dict[str, Any], *, data_version: str, ledger: Ledger | None) -> str:
        """Keep an edit; returns its event id. Raises InputError for what no gold file could hold."""
        try:
            wanted = msgspec.convert({**edit, "ordinal": 1, "data_version": data_version}, LabelSet)
        except msgspec.ValidationError as error:
            raise InputError(f"this label can't be kept: {error}") from error
        checked(wanted, ledger)
        return self._append(
            lambda events: make_event(
                msgspec.structs.replace(wanted, ordinal=ordinal(events, clip, LabelSet)), clip=clip, time=self._now()
            )
        )

    def undo(self, clip: str, labeler: str) -> str | None:
        """Withdraw the labeller's last edit of a clip; returns the id of the edit withdrawn, if there was one."""
        withdrawn: list[str | None] = []

        def make(events: list[Event]) -> Event | None:
            last = last_edit(events, clip, labeler)
            withdrawn.append(last)
            if last is None:
                return None
            data = LabelWithdrawn(ordinal=ordinal(events, clip, LabelWithdrawn), labeler=labeler, label=last)
            return make_event(data, clip=clip, time=self._now(), causation=last)

        self._append(make)
        return withdrawn[0]

    def standing(self) -> dict[tuple[str, str], dict[Slot, Standing]]:
        """The edits that stand, by clip and labeller."""
        return standing(self.events())

    def labels(self, base: GoldSet | None = None) -> list[GoldLabel]:
        """A gold label per clip and labeller, on top of what the gold files say."""
        found = []
        for (clip, labeler), edits in sorted(self.standing().items()):
            made = gold_label(clip, labeler, edits)
            found.append(merged(_label_in(base, clip, labeler), made))
        return found

    def export(self, folder: Path, base: GoldSet | None = None) -> list[Path]:
        """Write every label as a gold file."""
        return [write_gold(folder, label) for label in self.labels(base)]

    def seal(self) -> None:
        """Leave the log as one file, if nobody else writes it."""
        if self.path.is_file():
            seal_if_idle(self.path)

    def _append(self, make: Callable[[list[Event]], Event | None]) -> str:
        with self._guard:
            writer = self._writer()
            try:
                event = make(self.events())  # under the lock: nobody else appends between reading and writing
                if event is None:
                    return ""
                writer.append([event]).result()
                return event.id
            finally:
                writer.close()

    def _writer(self) -> LogWriter:
        until = time.monotonic() + TURN_S
        while True:
            try:
                if self.path.is_file():
                    return LogWriter.open(self.path)
                return LogWriter.create(self.path, kind=LogKind.LABELS, log_uuid=self._new_uuid(), created=self._now())
            except LogBusy:
                if time.monotonic() > until:
                    raise
            except LogError:
                if not self.path.is_file():
                    raise
            time.sleep(0.05)


def export_labels(store: Path, folder: Path, gold: Path | None) -> list[Path]:
    """Write the labels of a store as gold files, on top of the files in ``gold``. Raises InputError without any."""
    path = store / "labels.db"
    if not path.is_file():
        raise InputError(f"{path}: no labels yet; make some with `vlmrec view --serve`")

    def never() -> str:
        raise AssertionError("an export writes no event")

    base = load_gold(gold, may_be_empty=True) if gold is not None else None
    return LabelLog(path, now=never, new_uuid=never).export(folder, base)


def _label_in(gold: GoldSet | None, clip: str, labeler: str) -> GoldLabel | None:
    if gold is None:
        return None
    labels = gold.reviewed if labeler == REVIEWED else gold.labellers.get(labeler, {})
    return labels.get(ClipId(clip))
