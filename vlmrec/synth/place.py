"""The folder that clips go to: their labels, and ``gold/_scenarios.json``, which says what was drawn for whom and is no label.

Every file appears whole or not at all, and several commands may write into one folder at once.
"""

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple
from uuid import uuid4

from vlmrec.errors import InputError
from vlmrec.gold import GoldLabel, encode_label, label_name

NOTES = "_scenarios.json"
LOCK = ".synth.lock"


class Place(NamedTuple):
    """A folder that can be written to, whose notes can be read."""

    out: Path

    @classmethod
    def prepared(cls, out: Path) -> "Place":
        """Makes the folder where it is missing. Raises InputError where it can't be used, naming what is in the way."""
        for folder in (out, out / "gold"):
            try:
                folder.mkdir(parents=True, exist_ok=True)
                with _locked(folder / LOCK):
                    pass
            except OSError as error:
                raise InputError(
                    f"{folder}: can't write there: {error.strerror}; name a folder of your own with --out"
                ) from error
        _notes(out / "gold" / NOTES)
        return cls(out)

    def put_label(self, label: GoldLabel, note: dict[str, object]) -> Path:
        """Writes a clip's label and what is to be noted of it, and returns the label's path."""
        gold = self.out / "gold"
        with _locked(self.out / LOCK):  # another command may add to the notes between reading and writing
            notes = {**_notes(gold / NOTES), label.clip_id: note}
            text = json.dumps(dict(sorted(notes.items())), ensure_ascii=False, indent=1, sort_keys=True) + "\n"
            _put(gold / NOTES, text.encode())
        return _put(gold / label_name(label), encode_label(label))


def _notes(path: Path) -> dict[str, object]:
    try:
        found = json.loads(path.read_bytes())
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise InputError(f"{path}: can't be read: {error.strerror}") from error
    except ValueError as error:
        raise InputError(f"{path}: is damaged ({error}); {_REMEDY}") from error
    if not isinstance(found, dict):
        raise InputError(f"{path}: is damaged (expected an object with a key for each clip); {_REMEDY}")
    return found


_REMEDY = "move it away (it is no label, and rendering the same clips again writes it anew)"


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """The lock file at ``path`` is this process's own meanwhile, and gone afterwards."""
    while True:
        with path.open("w") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            try:
                mine = os.path.samestat(os.fstat(file.fileno()), path.stat())
            except FileNotFoundError:  # whoever had it has removed it while we waited
                mine = False
            if mine:
                try:
                    yield
                finally:
                    path.unlink()
                return


def _put(path: Path, body: bytes) -> Path:
    part = path.with_name(f".{path.name}.{uuid4().hex[:8]}.part")
    try:
        part.write_bytes(body)
        return part.replace(path)
    finally:
        part.unlink(missing_ok=True)
