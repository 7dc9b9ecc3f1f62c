"""Texts that no UTF-8 can hold, made storable without losing what they were. Pure.

Half a surrogate pair (sent as a ``\\uXXXX`` escape, or standing for a byte that was no UTF-8)
becomes U+FFFD, and a ``Repair`` remembers where it stood and what it was.
"""

import re
from collections.abc import Sequence

from msgspec import Struct

_LONE = re.compile("[\ud800-\udfff]")


class Repair(Struct, frozen=True, kw_only=True):
    """``text[offset]`` is U+FFFD in place of the code unit ``unit`` (0xD800 to 0xDFFF)."""

    offset: int
    unit: int


def repair_text(text: str) -> tuple[str, tuple[Repair, ...]]:
    """``text`` as valid Unicode, and what was replaced; ``restore_text`` undoes it."""
    if _LONE.search(text) is None:
        return text, ()
    repairs = tuple(Repair(offset=found.start(), unit=ord(found.group())) for found in _LONE.finditer(text))
    return _LONE.sub("\ufffd", text), repairs


def restore_text(text: str, repairs: Sequence[Repair]) -> str:
    """The text before ``repair_text``."""
    letters = list(text)
    for repair in repairs:
        letters[repair.offset] = chr(repair.unit)
    return "".join(letters)
