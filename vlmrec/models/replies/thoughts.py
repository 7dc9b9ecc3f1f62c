"""Splits what a model thought aloud from what it answered. Pure.

Knows ``<think>`` (and thinking, thought, reasoning) and ``<answer>``. A closing tag without an
opening one ends the thoughts all the same (the template had opened them); an opening one without an
end means that the answer was never begun. Tags inside a JSON value are text of that value.
"""

import re
from bisect import bisect_left
from collections.abc import Sequence
from typing import NamedTuple

from vlmrec.models.replies.scan import Scanned

_TAG = re.compile(r"<\s*(/?)\s*(think|thinking|thought|thoughts|reasoning)\s*>", re.IGNORECASE)
_ANSWER = re.compile(r"<\s*answer\s*>(.*?)(?:<\s*/\s*answer\s*>|\Z)", re.IGNORECASE | re.DOTALL)


class Split(NamedTuple):
    """``answer`` is what stands outside the thoughts; ``open``: the thoughts never ended."""

    answer: str
    thoughts: str | None
    orphan: bool
    open: bool


def split_thoughts(text: str, values: Sequence[Scanned] = ()) -> Split:
    """``text`` in two. ``values``: JSON values in it, within which a tag is no tag."""
    spans = [(value.start, value.end) for value in values if value.flaw is None]
    starts = [start for start, _ in spans]
    outside: list[str] = []
    thoughts: list[str] = []
    position = 0
    opened = orphan = False
    for tag in _TAG.finditer(text):
        before = bisect_left(starts, tag.start())
        if before and tag.start() < spans[before - 1][1]:
            continue
        piece = text[position : tag.start()]
        position = tag.end()
        if tag.group(1):
            if not opened:
                # What stood before belongs to the thoughts, also what looked like an answer.
                orphan = True
                thoughts += [*outside, piece]
                outside = []
            else:
                thoughts.append(piece)
            opened = False
        else:
            (thoughts if opened else outside).append(piece)
            opened = True
    (thoughts if opened else outside).append(text[position:])
    joined = "\n".join(stripped for part in thoughts if (stripped := part.strip()))
    return Split(_within_answer("".join(outside)), joined or None, orphan, opened)


def has_tags(text: str) -> bool:
    """Whether ``text`` holds a tag that ``split_thoughts`` knows."""
    return _TAG.search(text) is not None or _ANSWER.search(text) is not None


def _within_answer(text: str) -> str:
    """What the last ``<answer>`` holds, closed or running to the end; the whole text where there is none."""
    found = list(_ANSWER.finditer(text))
    return found[-1].group(1) if found else text
