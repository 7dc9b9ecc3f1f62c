"""The clips of a log by the names that people type: in either Unicode form, and never one that isn't there."""

import unicodedata
from difflib import get_close_matches

from vlmrec.errors import InputError
from vlmrec.log.reader import LogReader
from vlmrec.terms import ClipId

_SHOWN = 20


def find_clip(log: LogReader, name: str) -> ClipId:
    """The clip that ``name`` means in ``log``. Raises InputError, naming the nearest and the known ones, for none."""
    clips = log.clips()
    wanted = same_form(name)
    for clip in clips:
        if same_form(clip) == wanted:
            return clip
    near = get_close_matches(wanted, clips, n=1)
    meant = f"did you mean {near[0]!r}? " if near else ""
    known = ", ".join(clips[:_SHOWN]) + (" …" if len(clips) > _SHOWN else "") if clips else "none"
    raise InputError(f"{log.path.stem} has no clip {name!r}; {meant}its clips: {known}")


def same_form(name: str) -> ClipId:
    """``name`` in NFC, as clip ids are: one text is one clip, however a keyboard or file system spells it."""
    return ClipId(unicodedata.normalize("NFC", name))
