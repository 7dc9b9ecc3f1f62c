"""Finds JSON values in a text, strict or nearly so, and says what was not strict. Pure, never raises.

Beyond JSON it reads Python literals (single quotes, True, None), trailing commas, comments,
unquoted keys and raw line breaks in strings: spellings that stand for exactly one value. It never
closes what is open: a text that ends inside a value is *cut*. Duplicate keys are reported, and
NaN, infinities and numbers too large for a double become ``NOT_FINITE``.
"""

import json
import math
import re
from collections.abc import Callable
from typing import Any, Final, Literal, NamedTuple

from vlmrec.terms import JsonValue

MAX_DEPTH = 64
_strict_string: Callable[[str, int, bool], tuple[str, int]] = json.decoder.scanstring  # type: ignore[attr-defined]  # in C, and not in the stubs
NOT_STRICT = "not_strict_json"


class NotFinite:
    """A number that JSON can't hold."""

    def __repr__(self) -> str:
        return "NOT_FINITE"


NOT_FINITE: Final = NotFinite()


class Scanned(NamedTuple):
    """A value that stands in a text from ``start`` to ``end``; ``flaw`` says why there is none.

    ``partial``: the members of a cut object that were complete, for showing only.
    """

    start: int
    end: int
    value: JsonValue = None
    strict: bool = True
    duplicate: str | None = None
    flaw: Literal["cut", "syntax"] | None = None
    partial: dict[str, JsonValue] | None = None


def scan_value(text: str, start: int = 0) -> Scanned:
    """The value that begins at ``start`` (blanks skipped)."""
    reader = _Reader(text)
    try:
        value, end = reader.value(reader.skip(start), 0)
    except _CutError:
        return Scanned(start, len(text), flaw="cut", partial=reader.partial, duplicate=reader.duplicate)
    except _SyntaxError as error:
        return Scanned(start, error.at, flaw="syntax", duplicate=reader.duplicate)
    return Scanned(start, end, value, reader.strict, reader.duplicate)


def scan_whole(text: str) -> Scanned | None:
    """The value that ``text`` consists of, blanks aside; None where it is anything else."""
    found = scan_value(text)
    return found if found.flaw is None and not text[found.end :].strip() else None


def find_objects(text: str) -> list[Scanned]:
    """The objects (and lists that begin with one) in ``text``, in order, none inside another.

    Braces of prose are passed over. What begins like an object and breaks off ends the search: its
    inner parts must not be taken for answers.
    """
    found: list[Scanned] = []
    position = 0
    while (opening := _OPENING.search(text, position)) is not None:
        start = opening.start()
        scanned = scan_value(text, start)
        if scanned.flaw is None:
            found.append(scanned)
            position = scanned.end
            continue
        end = None if scanned.flaw == "cut" else _closing(text, start)
        found.append(scanned._replace(end=len(text) if end is None else end))
        if end is None:
            break
        position = end
    return found


_OPENING = re.compile(r"""\{(?=\s*(?:["'“}]|[^\W\d]\w*\s*:))|\[(?=\s*\{)""")
_BLANK = re.compile(r"[ \t\n\r]*")
_LOOSE_BLANK = re.compile(r"(?:[\s\ufeff]|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_LOOSE_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.[0-9]*|\.[0-9]+|[1-9][0-9]*|0)(?:[eE][+-]?[0-9]+)?")
_WORD = re.compile(r"[+-]?[^\W\d]\w*")
_NAME = re.compile(r"[^\W\d]\w*")
_PLAIN = {
    '"': re.compile(r'[^"\\\x00-\x1f]*'),
    "'": re.compile(r"[^'\\\x00-\x1f]*"),
    "“": re.compile(r"[^”\\\x00-\x1f]*"),
}
_CLOSES = {'"': '"', "'": "'", "“": "”"}
_ESCAPES = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_HEX = re.compile(r"[0-9a-fA-F]{4}")
_WORDS: dict[str, tuple[Any, bool]] = {
    "true": (True, True),
    "false": (False, True),
    "null": (None, True),
    "True": (True, False),
    "False": (False, False),
    "None": (None, False),
    **{sign + name: (NOT_FINITE, True) for name in ("NaN", "nan", "Infinity", "inf") for sign in ("", "-", "+")},
}
_BRACKETS = re.compile(r'"(?:[^"\\]|\\.)*"|[][{}]', re.DOTALL)


class _CutError(Exception):
    pass


class _SyntaxError(Exception):
    def __init__(self, at: int) -> None:
        self.at = at


class _Reader:
    """One pass over one value; what it noticed on the way is in its fields."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.strict = True
        self.duplicate: str | None = None
        self.partial: dict[str, JsonValue] | None = None

    def skip(self, at: int) -> int:
        end = _match_end(_BLANK, self.text, at)
        loose = _match_end(_LOOSE_BLANK, self.text, end)
        if loose > end:
            self.strict = False
        return loose

    def value(self, at: int, depth: int) -> tuple[JsonValue, int]:
        if at >= len(self.text):
            raise _CutError
        letter = self.text[at]
        if letter in _CLOSES:
            return self.string(at)
        if letter == "{":
            return self.object(at, depth)
        if letter == "[":
            return self.array(at, depth)
        return self.word(at) if _WORD.match(self.text, at) else self.number(at)

    def object(self, at: int, depth: int) -> tuple[JsonValue, int]:
        if depth >= MAX_DEPTH:
            raise _SyntaxError(at)
        members: dict[str, JsonValue] = {}
        if depth == 0:
            self.partial = members
        at = self.skip(at + 1)
        while True:
            if self._at(at) == "}":
                return members, at + 1
            key, at = self.key(at)
            at = self.skip(at)
            if self._at(at) != ":":
                raise _SyntaxError(at)
            value, at = self.value(self.skip(at + 1), depth + 1)
            if key in members and self.duplicate is None:
                self.duplicate = key
            members[key] = value
            at = self.comma(at, "}")

    def array(self, at: int, depth: int) -> tuple[JsonValue, int]:
        if depth >= MAX_DEPTH:
            raise _SyntaxError(at)
        items: list[JsonValue] = []
        at = self.skip(at + 1)
        while True:
            if self._at(at) == "]":
                return items, at + 1
            item, at = self.value(at, depth + 1)
            items.append(item)
            at = self.comma(at, "]")

    def comma(self, at: int, closing: str) -> int:
        """Past the comma after a member, or at the ``closing`` bracket."""
        at = self.skip(at)
        letter = self._at(at)
        if letter == closing:
            return at
        if letter != ",":
            raise _SyntaxError(at)
        at = self.skip(at + 1)
        if self._at(at) == closing:
            self.strict = False
        return at

    def key(self, at: int) -> tuple[str, int]:
        if self._at(at) in _CLOSES:
            return self.string(at)
        name = _NAME.match(self.text, at)
        if name is None:
            raise _SyntaxError(at)
        self.strict = False
        return name.group(), name.end()

    def string(self, at: int) -> tuple[str, int]:
        quote = self.text[at]
        if quote == '"':
            try:
                return _strict_string(self.text, at + 1, True)
            except json.JSONDecodeError:
                pass  # not strict JSON: below it is read more leniently, or told where it breaks
        if quote != '"':
            self.strict = False
        plain = _PLAIN[quote]
        pieces: list[str] = []
        at += 1
        while True:
            end = _match_end(plain, self.text, at)
            pieces.append(self.text[at:end])
            letter = self._at(end)
            if letter == _CLOSES[quote]:
                return _join_pairs("".join(pieces)), end + 1
            if letter == "\\":
                piece, at = self.escape(end + 1)
                pieces.append(piece)
            else:
                self.strict = False  # a raw line break or another control character
                pieces.append(letter)
                at = end + 1

    def escape(self, at: int) -> tuple[str, int]:
        letter = self._at(at)
        if letter in _ESCAPES:
            return _ESCAPES[letter], at + 1
        if letter == "u":
            digits = _HEX.match(self.text, at + 1)
            if digits is not None:
                return chr(int(digits.group(), 16)), digits.end()
            if len(self.text) < at + 5:
                raise _CutError
            raise _SyntaxError(at)
        self.strict = False
        return (letter if letter in "'”" else "\\" + letter), at + 1

    def word(self, at: int) -> tuple[JsonValue, int]:
        found = _WORD.match(self.text, at)
        assert found is not None
        word = found.group()
        if word not in _WORDS:
            if found.end() == len(self.text) and any(known.startswith(word) for known in _WORDS):
                raise _CutError
            raise _SyntaxError(at)
        value, strict = _WORDS[word]
        self.strict = self.strict and strict
        return value, found.end()

    def number(self, at: int) -> tuple[JsonValue, int]:
        found = _NUMBER.match(self.text, at)
        loose = _LOOSE_NUMBER.match(self.text, at)
        if loose is not None and (found is None or loose.end() > found.end()):
            found = loose
            self.strict = False
        if found is None:
            raise _CutError if at + 1 >= len(self.text) and self.text[at] in "+-." else _SyntaxError(at)
        if found.end() == len(self.text):
            if at != _match_end(_LOOSE_BLANK, self.text, 0):
                raise _CutError  # more digits may have been on their way
        elif self.text[found.end()].isalnum() or self.text[found.end()] in "_.%+-":
            raise _SyntaxError(found.end())
        return _number(found.group()), found.end()

    def _at(self, at: int) -> str:
        if at >= len(self.text):
            raise _CutError
        return self.text[at]


def _number(digits: str) -> JsonValue:
    if digits.lstrip("+-").isdigit():
        return int(digits) if len(digits) <= 300 else NOT_FINITE
    value = float(digits)
    return value if math.isfinite(value) else NOT_FINITE


def _join_pairs(text: str) -> str:
    """Two escapes that make one character, joined; lone halves stay."""
    if not any("\ud800" <= letter <= "\udbff" for letter in text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


def _match_end(pattern: re.Pattern[str], text: str, at: int) -> int:
    found = pattern.match(text, at)
    return at if found is None else found.end()


def _closing(text: str, start: int) -> int | None:
    """Where the bracket at ``start`` is closed, double-quoted strings passed over; None where it isn't."""
    depth = 0
    for found in _BRACKETS.finditer(text, start):
        if found.group() in "[{":
            depth += 1
        elif found.group() in "]}":
            depth -= 1
            if depth == 0:
                return found.end()
    return None
