"""Keeps keys and signatures out of every log, blob and message. Pure.

``Secrets`` holds the key values that are known; ``scrub`` replaces them in whatever spelling a server
may echo them (as they are, URL-encoded, JSON-escaped, within base64), together with the signatures of
presigned URLs and tokens that look like keys, known or not. What was replaced is marked and counted.
"""

import base64
import json
import re
from collections.abc import Iterable
from typing import overload
from urllib.parse import quote, quote_plus

MARK = "[secret]"
SHORTEST = 6
"""Shorter values can't be replaced without harm to ordinary words, and protect nothing."""

PLACEHOLDERS = frozenset({"none", "empty", "dummy", "not-needed", "no-key", "nokey", "unused", "token", "api-key"})

_MARK = MARK.encode()
_EQUALS = rb"(?:=|%3[dD]|%253[dD]|\\u003[dD])"
_VALUE = rb"(?!\[secret\])(?:(?!&|%26|%2526|\\u0026|\\\\u0026)[^\s\"'<>\\,;)\x00-\x1f])+"
_SIGNED = re.compile(
    rb"(?i)((?:X-Amz-(?:Signature|Credential|Security-Token)|X-Goog-(?:Signature|Credential)|AWSAccessKeyId"
    rb"|GoogleAccessId|(?<![\w-])Signature|(?<=[?&])sig)" + _EQUALS + rb")" + _VALUE
)
_SIGNATURE = re.compile(rb"(?<![0-9a-f])[0-9a-f]{64}(?![0-9a-f])")
_BEARER = re.compile(rb"(?i)(\bbearer(?:\s|%20)+)(?!\[secret\])[A-Za-z0-9._~+/=-]{8,}")
_SHAPED = re.compile(
    rb"(?<![A-Za-z0-9_-])(?:sk-[A-Za-z0-9_-]{20,}|nvapi-[A-Za-z0-9_-]{20,}|hf_[A-Za-z0-9]{30,}|AKIA[0-9A-Z]{16})"
)


class Secrets:
    """Key values that must not be recorded. Never printed: its text shows only how many there are."""

    def __init__(self, values: Iterable[str] = ()) -> None:
        self._values: frozenset[str] = frozenset()
        self._signatures: set[bytes] = set()
        self._known: re.Pattern[bytes] | None = None
        self.learn(values)

    def learn(self, values: Iterable[str]) -> None:
        """Keep these out as well. Signatures are looked up by their form, so that there may be many of them."""
        usable = {value.strip() for value in values}
        signatures = {value for value in usable if _SIGNATURE.fullmatch(value.encode("utf-8"))}
        self._signatures.update(value.encode("ascii") for value in signatures)
        new = {
            value for value in usable - signatures if len(value) >= SHORTEST and value.lower() not in PLACEHOLDERS
        } - self._values
        if not new:
            return
        self._values |= new
        spellings = {spelling for value in self._values for spelling in _spellings(value)}
        ordered = sorted(spellings, key=lambda spelling: (-len(spelling), spelling))
        self._known = re.compile(b"|".join(map(_pattern, ordered)))

    def __repr__(self) -> str:
        return f"Secrets({len(self._values)} values)"

    def __len__(self) -> int:
        return len(self._values)

    @overload
    def scrub(self, body: bytes) -> tuple[bytes, int]: ...

    @overload
    def scrub(self, body: str) -> tuple[str, int]: ...

    def scrub(self, body: bytes | str) -> tuple[bytes, int] | tuple[str, int]:
        """``body`` without secrets, and how many were replaced."""
        if isinstance(body, str):
            clean, count = self._scrub(body.encode("utf-8", "surrogatepass"))
            return clean.decode("utf-8", "surrogatepass"), count
        return self._scrub(body)

    def _scrub(self, body: bytes) -> tuple[bytes, int]:
        count = 0
        if self._known is not None:
            body, found = self._known.subn(_MARK, body)
            count += found
        if self._signatures:
            held = [found.group() in self._signatures for found in _SIGNATURE.finditer(body)]
            count += sum(held)
            if any(held):
                body = _SIGNATURE.sub(lambda found: _MARK if found.group() in self._signatures else found.group(), body)
        for pattern in (_SIGNED, _BEARER):
            body, found = pattern.subn(rb"\1" + _MARK, body)
            count += found
        body, found = _SHAPED.subn(_MARK, body)
        return body, count + found


def _spellings(value: str) -> set[bytes]:
    """The forms in which ``value`` may come back."""
    raw = value.encode("utf-8")
    texts = {
        value,
        quote(value, safe=""),
        quote(value),
        quote_plus(value),
        quote(quote(value, safe=""), safe=""),
        json.dumps(value)[1:-1],
        json.dumps(value, ensure_ascii=False)[1:-1],
        json.dumps(json.dumps(value)[1:-1])[1:-1],
        value.replace("/", "\\/"),
    }
    return {text.encode("utf-8") for text in texts} | _in_base64(raw)


def _in_base64(raw: bytes) -> set[bytes]:
    """The part of a base64 text that ``raw`` alone decides, at each of the three alignments, in both alphabets."""
    found = set()
    for shift in range(3):
        encoded = base64.b64encode(b"\0" * shift + raw)
        start = (shift * 8 + 5) // 6
        end = (shift + len(raw)) * 8 // 6
        core = encoded[start:end]
        if len(core) >= SHORTEST:
            found |= {core, core.replace(b"+", b"-").replace(b"/", b"_")}
    return found


def _pattern(spelling: bytes) -> bytes:
    """Percent escapes match in either case."""
    return re.sub(
        rb"%([0-9A-F]{2})",
        lambda found: b"%(?i:" + found.group(1) + b")",
        re.escape(spelling).replace(rb"\%", b"%"),
    )
