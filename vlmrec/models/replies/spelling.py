"""Spellings: which one code, number, boolean or null a text stands for, if it is exactly one. Pure."""

import json
import re
import unicodedata
from collections.abc import Iterable, Sequence

from vlmrec.terms import JsonValue


def fold(text: str) -> str:
    """``text`` without what spellings of one word differ in: case, width, blanks, dashes, quotes, a full stop."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    return re.sub(r"[\s_\u2010-\u2015-]+", "", folded.strip(" \t\r\n\"'`“”‘’.。,;"))


def spelt(value: str, codes: Sequence[JsonValue], labels: dict[str, tuple[str, ...]]) -> tuple[JsonValue, str | None]:
    """The one code that ``value`` is a label or a spelling of, and which; None for the note where there isn't one."""
    folded = fold(value)
    if not folded:
        return None, None
    by_name: dict[str, JsonValue] = {code if isinstance(code, str) else json.dumps(code): code for code in codes}
    spelt = {name for name in by_name if fold(name) == folded}
    labelled = {name for name in by_name if any(fold(label) == folded for label in labels.get(name, ()))}
    found = spelt | labelled
    if not found:
        found = labelled = _code_and_label(value, by_name, labels)
    if len(found) != 1:
        return None, None
    name = next(iter(found))
    return by_name[name], "label_mapped" if name in labelled and name not in spelt else "enum_normalised"


def _code_and_label(value: str, names: Iterable[str], labels: dict[str, tuple[str, ...]]) -> set[str]:
    """Codes that ``value`` gives together with their own label, as an option is shown: ``code: label``."""
    found = set()
    for name in names:
        for label in labels.get(name, ()):
            code, text = fold(name), fold(label)
            pairs = {f"{code}{sign}{text}" for sign in (":", "=", "/", "(", "")} | {f"{text}({code}", f"{text}{code}"}
            if code and text and fold(value).rstrip(")") in pairs:
                found.add(name)
    return found


def is_of(value: JsonValue, types: Sequence[str]) -> bool:
    """Whether ``value`` is of one of JSON Schema's ``types``."""
    if value is None:
        return "null" in types
    if isinstance(value, bool):
        return "boolean" in types
    if isinstance(value, int):
        return "integer" in types or "number" in types
    if isinstance(value, float):
        return "number" in types or ("integer" in types and value.is_integer())
    if isinstance(value, str):
        return "string" in types
    return ("array" if isinstance(value, list) else "object") in types


def from_text(value: str, types: Sequence[str], labels: dict[str, tuple[str, ...]]) -> tuple[JsonValue, str | None]:
    """A number, boolean or null that was written as a text."""
    candidates: list[JsonValue] = []
    if "boolean" in types:
        candidates += [True, False]
    if "null" in types:
        candidates.append(None)
    found, note = spelt(value, candidates, labels)
    if note is not None:
        return found, note
    if "null" in types and fold(value) == "none":
        return None, "enum_normalised"
    text = value.strip()
    if ("number" in types or "integer" in types) and re.fullmatch(r"-?(0|[1-9]\d{0,14})(\.\d{1,15})?", text, re.ASCII):
        number: int | float = float(text) if "." in text else int(text)
        if is_of(number, types):
            return number, "number_from_text"
    return None, None
