"""Canonical bytes: one value, one byte string, on every machine and under every hash seed.

Canonical JSON is UTF-8, keys sorted, no insignificant blanks. The form is a contract: ids,
fingerprints and the hash chain rest on it. NaN and infinities are refused (JSON has none, and
msgspec would write ``null`` in silence), and so are integers that a double can't hold exactly.
"""

import hashlib
import math
from typing import Any

import msgspec

from vlmrec.terms import Blob, BlobRef, Sha256

MAX_SAFE_INTEGER = 2**53

_encoder = msgspec.json.Encoder(order="sorted")


def canonical_json(value: Any) -> bytes:
    """``value`` (a Struct or builtins) as canonical JSON bytes.

    Raises ValueError, naming the path, for NaN, infinities and integers beyond ±2^53.
    """
    plain = msgspec.to_builtins(value, str_keys=True)
    _refuse_inexact(plain, "$")
    return _encoder.encode(plain)


def sha256_hex(body: bytes) -> Sha256:
    """The SHA-256 of ``body`` in lower-case hexadecimal."""
    return Sha256(hashlib.sha256(body).hexdigest())


def make_blob(body: bytes, media_type: str) -> Blob:
    """A blob with its reference computed."""
    return Blob(BlobRef(sha256=sha256_hex(body), media_type=media_type, length=len(body)), body)


def json_blob(value: Any) -> Blob:
    """A blob that holds ``value`` as canonical JSON."""
    return make_blob(canonical_json(value), "application/json")


def text_blob(text: str) -> Blob:
    """A blob that holds ``text`` as UTF-8. Raises UnicodeEncodeError for lone surrogates."""
    return make_blob(text.encode("utf-8"), "text/plain; charset=utf-8")


def _refuse_inexact(value: Any, path: str) -> None:
    if value is None or isinstance(value, (str, bool)):
        return
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ValueError(f"{path}: {value} is not a JSON number")
    elif isinstance(value, int):
        if not -MAX_SAFE_INTEGER <= value <= MAX_SAFE_INTEGER:
            raise ValueError(f"{path}: {value} is beyond 2^53 and would lose digits; carry it as a string")
    elif isinstance(value, dict):
        for key, item in value.items():
            _refuse_inexact(item, f"{path}.{key}")
    else:
        for index, item in enumerate(value):
            _refuse_inexact(item, f"{path}[{index}]")
