"""Remarks on a run, added after the fact: open, append, seal again."""

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from vlmrec.errors import InputError
from vlmrec.events import NoteAdded, TurnOpened, make_event
from vlmrec.log.clips import find_clip
from vlmrec.log.reader import LogReader, open_log
from vlmrec.log.writer import LogWriter
from vlmrec.terms import Party


class Noted(NamedTuple):
    """The note's event id, its place, and the log's head after it."""

    event: str
    seq: int
    head: str


def add_note(
    path: Path,
    text: str,
    *,
    time: str,
    exclude: bool = False,
    clip: str | None = None,
    question: str | None = None,
) -> Noted:
    """Append a ``note.added`` about the run, a clip of it, or a turn (``question`` as ``ID`` or ``ID/PARTY``).

    With ``exclude`` it says that run, clip or turn is not to be counted, and why. Raises InputError for a
    clip or question that the run doesn't have, and LogBusy while the run is being written.
    """
    if not text.strip():
        raise InputError("a note needs a text: it is what others will read as the reason")
    with LogWriter.open(path) as writer:
        with open_log(path) as log:
            clip = None if clip is None else find_clip(log, clip)
            question_id, party = (None, None) if question is None else _asked(question, log, clip)
            ordinal = log.count(["note.added"]) + 1
        note = NoteAdded(
            ordinal=ordinal,
            text=text,
            exclude=exclude,
            clip=clip,
            question_id=question_id,
            party=party,
        )
        event = make_event(note, clip=None, time=time)
        appended = writer.append([event]).result()
        writer.seal()
    return Noted(event.id, appended.last_seq, appended.head)


def _asked(question: str, log: LogReader, clip: str | None) -> tuple[str, Party | None]:
    """The question named, if it was put in this run."""
    question_id, _, party = question.partition("/")
    turns = [event.data for event in log.events(["turn.opened"], clip) if isinstance(event.data, TurnOpened)]
    asked = {f"{turn.question_id}/{turn.party}" for turn in turns}
    if question in asked:
        return question_id, Party(party)
    if not party and question_id in {turn.question_id for turn in turns}:
        return question_id, None
    where = log.path.stem if clip is None else f"clip {clip} of {log.path.stem}"
    raise InputError(f"{where} was not asked {question!r}; it was asked: {_some(sorted(asked))}")


def _some(names: Iterable[str]) -> str:
    found = list(names)
    return ", ".join(found[:20]) + (" …" if len(found) > 20 else "") if found else "none"
