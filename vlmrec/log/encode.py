"""From events and blobs to what will be stored: checked and encoded before the writer's thread sees them.

Pure. Canonical JSON makes a blob reference a fixed run of bytes, so the references of an event are
found in its stored text by one expression, the same for the writer and for ``verify``, whatever the
event's type and version.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from vlmrec.canonical import canonical_json, sha256_hex
from vlmrec.events import Event
from vlmrec.log.format import Stored
from vlmrec.terms import Blob, BlobRef

_REFERENCE = re.compile(rb'\{"length":(\d+),"media_type":("(?:[^"\\]|\\.)*"),"sha256":"([0-9a-f]{64})"\}')
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")


class Encoded(NamedTuple):
    """An event but for its place: the column values, and their stored bytes."""

    columns: tuple[str, str, int, str, str | None, str | None, str | None, str]
    stored: tuple[Stored, ...]


class Batch(NamedTuple):
    """One append: all of it is stored, or nothing."""

    events: tuple[Encoded, ...]
    blobs: dict[str, Blob]
    refs: dict[str, BlobRef]


def encode_batch(events: Sequence[Event], blobs: Sequence[Blob] = ()) -> Batch:
    """What an append will store. Raises ValueError, naming event and path, for what a log can't hold."""
    if not events:
        raise ValueError("an append needs at least one event")
    encoded = tuple(_encode_event(event) for event in events)
    bodies = {blob.ref.sha256: _checked(blob) for blob in blobs}
    refs: dict[str, BlobRef] = {}
    for event, row in zip(events, encoded, strict=True):
        for ref in references(row.stored[-1] or b""):
            if refs.setdefault(ref.sha256, ref) != ref:
                raise ValueError(
                    f"{event.id}: blob {ref.sha256} is referred to as {_said(ref)} and {_said(refs[ref.sha256])}"
                )
    for sha256, blob in bodies.items():
        if sha256 not in refs:
            raise ValueError(f"blob {sha256}: no event of its batch refers to it, so nothing would vouch for it")
        if refs[sha256] != blob.ref:
            raise ValueError(f"blob {sha256} is {_said(blob.ref)}, but is referred to as {_said(refs[sha256])}")
    return Batch(encoded, bodies, refs)


def references(data: bytes) -> list[BlobRef]:
    """The blobs that a stored payload refers to, wherever in it, in order."""
    if b'{"length":' not in data:
        return []
    return [
        BlobRef(sha256=sha256.decode(), media_type=msgspec.json.decode(media_type, type=str), length=int(length))
        for length, media_type, sha256 in _REFERENCE.findall(data)
    ]


def _encode_event(event: Event) -> Encoded:
    payload = event.data
    if _TIME.fullmatch(event.time) is None:
        raise ValueError(f"{event.id}: time {event.time!r} is not RFC 3339 in UTC, such as 2026-01-31T09:30:00.125Z")
    if event.clip == "":
        raise ValueError(f"{event.id}: an empty clip id names no clip")
    try:
        data = canonical_json(payload)
    except ValueError as error:
        raise ValueError(f"{event.id}: {error}") from error
    columns = (
        event.id,
        payload.type,
        payload.schema_version,
        event.time,
        event.clip,
        payload.turn(),
        event.causation,
        data.decode(),
    )
    stored = tuple(None if value is None else str(value).encode() for value in columns[:-1])
    return Encoded(columns, (*stored, data))


def _checked(blob: Blob) -> Blob:
    ref, body = blob
    if ref.length != len(body) or ref.sha256 != sha256_hex(body):
        raise ValueError(f"blob {ref.sha256}: its body has {len(body)} bytes and the SHA-256 {sha256_hex(body)}")
    return blob


def _said(ref: BlobRef) -> str:
    return f"{ref.media_type!r} of {ref.length} bytes"
