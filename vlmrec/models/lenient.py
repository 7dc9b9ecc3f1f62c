"""Decoding what servers call JSON, without ever raising. Pure.

The envelope of a reply is read leniently (a stray control character must not hide an answer), but
never repaired: what can't be decoded is None. Numbers keep their digits, since money is among them.
"""

import json
from decimal import Decimal, InvalidOperation
from typing import Any

from vlmrec.terms import JsonValue


def decode_text(body: bytes) -> str:
    """``body`` as text; bytes that are no UTF-8 become lone surrogates (U+DC80 to U+DCFF), so nothing is lost."""
    return body.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "surrogateescape")


def load_envelope(text: str) -> JsonValue:
    """The JSON value in ``text``; None where there is none. Fractions are Decimal, NaN and infinities None."""
    try:
        return _decoder.decode(text)
    except (ValueError, RecursionError):
        return None


def is_cut_json(text: str) -> bool:
    """Whether ``text`` begins as a JSON object and ends before the object does."""
    stripped = text.strip()
    if not stripped.startswith("{"):
        return False
    try:
        _decoder.decode(stripped)
    except json.JSONDecodeError as error:
        # An unfinished string is reported at its start, every other early end at the text's end.
        return error.pos >= len(stripped) - 1 or error.msg.startswith(("Unterminated string", "Invalid \\"))
    except (ValueError, RecursionError):
        return False
    return False


def as_text(value: JsonValue) -> str | None:
    """``value`` where it is a text that isn't empty."""
    return value if isinstance(value, str) and value else None


def as_count(value: JsonValue) -> int | None:
    """``value`` where it is a whole number that isn't negative (a Decimal without a fraction counts)."""
    if isinstance(value, bool):
        return None
    if isinstance(value, Decimal) and value.is_finite() and value == value.to_integral_value() and value < 2**53:
        value = int(value)
    return value if isinstance(value, int) and 0 <= value <= 2**53 else None


def as_money(value: JsonValue) -> Decimal | None:
    """``value`` as an amount: a number or a text that holds one; never negative, never NaN."""
    if isinstance(value, bool) or not isinstance(value, (int, str, Decimal)):
        return None
    try:
        amount = Decimal(value)
    except (InvalidOperation, ValueError):
        return None
    return amount if amount.is_finite() and 0 <= amount < 10**9 else None


def _whole(digits: str) -> Any:
    return int(digits) if len(digits) <= 40 else Decimal(digits)


_decoder = json.JSONDecoder(strict=False, parse_float=Decimal, parse_int=_whole, parse_constant=lambda _: None)
