"""Request bodies as bytes: the large part is encoded once per clip and spliced before every turn's tail.

A chat request is the shared *prefix* (system message, media) and a *tail* (the turn's own text,
model and parameters). ``encode_request`` joins ready prefix bytes and a freshly encoded tail into
chunks whose concatenation is exactly the JSON encoding of ``whole_request``: a 12 MB clip is
scanned by the JSON encoder once, not once per question. Pure.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence

from msgspec import Struct

from vlmrec.terms import JsonValue, Sha256

CHUNK = 1 << 18
"""Bytes handed to the socket at a time; larger pieces make the transport copy what it can't send at once."""


class Prefix(Struct, frozen=True, kw_only=True):
    """The encoded start of every request of one clip and window family. ``parts`` counts the content parts within."""

    chunks: tuple[bytes, ...]
    parts: int
    digest: "hashlib._Hash"

    @property
    def size(self) -> int:
        return sum(map(len, self.chunks))


def encode_json(value: JsonValue) -> bytes:
    """``value`` as compact UTF-8 JSON, keys in the order given. Raises ValueError for NaN and lone surrogates."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode("utf-8")


def encode_prefix(*, messages: Sequence[JsonValue], content: Sequence[JsonValue]) -> Prefix:
    """The shared start: whole ``messages`` (system), then the first ``content`` parts of the user's message."""
    head = b"".join(
        (
            b'{"messages":[',
            *(encode_json(message) + b"," for message in messages),
            b'{"role":"user","content":[',
            b",".join(encode_json(part) for part in content),
        )
    )
    return Prefix(
        chunks=tuple(head[start : start + CHUNK] for start in range(0, len(head), CHUNK)),
        parts=len(content),
        digest=hashlib.sha256(head),
    )


def encode_request(
    prefix: Prefix, *, content: Sequence[JsonValue], fields: Mapping[str, JsonValue]
) -> tuple[bytes, ...]:
    """The body as chunks: ``prefix``, the turn's own ``content`` parts, then the top-level ``fields``."""
    return (*prefix.chunks, _tail(prefix.parts, content, fields))


def request_digest(prefix: Prefix, chunks: Sequence[bytes]) -> Sha256:
    """SHA-256 of the whole body, without hashing the prefix again."""
    digest = prefix.digest.copy()
    for chunk in chunks[len(prefix.chunks) :]:
        digest.update(chunk)
    return Sha256(digest.hexdigest())


def whole_request(
    *,
    messages: Sequence[JsonValue],
    prefix_content: Sequence[JsonValue],
    content: Sequence[JsonValue],
    fields: Mapping[str, JsonValue],
) -> dict[str, JsonValue]:
    """The same request as one value: what ``encode_request`` encodes."""
    user = {"role": "user", "content": [*prefix_content, *content]}
    return {"messages": [*messages, user], **_checked(fields)}


def _tail(parts: int, content: Sequence[JsonValue], fields: Mapping[str, JsonValue]) -> bytes:
    encoded = [encode_json(part) for part in content]
    joined = (b"," if parts and encoded else b"") + b",".join(encoded) + b"]}]"
    members = (b"," + encode_json(name) + b":" + encode_json(value) for name, value in _checked(fields).items())
    return joined + b"".join(members) + b"}"


def _checked(fields: Mapping[str, JsonValue]) -> Mapping[str, JsonValue]:
    if "messages" in fields:
        raise ValueError("the messages come from the prefix and the content; they can't be a field")
    return fields
