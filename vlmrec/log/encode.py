"""From events and blobs to what will be stored: checked and encoded before the writer's thread sees them.

Pure. Canonical JSON makes a blob reference a fixed run of bytes, so the references of an event are
found in its stored text by one expression, the same for the writer and for ``verify``, whatever the
event's type and version.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from vlmrec.canonical import sha256_hex
from vlmrec.events import Event
from vlmrec.log.format import Tail, tail
from vlmrec.log.payload import stored_data
from vlmrec.terms import Blob, BlobRef

_references = re.compile(rb'\{"length":(\d++),"media_type":("(?:[^"\\]++|\\.)*+"),"sha256":"([0-9a-f]{64})"\}').findall
_text = msgspec.json.Decoder(str).decode
_is_time = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z").fullmatch


class Encoded(NamedTuple):
    """An event but for its place: its column values, and their stored bytes framed for the chain."""

    columns: tuple[str, str, int, str, str | None, str | None, str | None, str]
    tail: Tail
    refs: Sequence[BlobRef]


class Batch(NamedTuple):
    """One append: all of it is stored, or nothing. Every blob is referred to, and every reference occurs once."""

    events: Sequence[Encoded]
    refs: Sequence[BlobRef]
    blobs: dict[str, Blob]


def encode_batch(events: Sequence[Event], blobs: Sequence[Blob] = ()) -> Batch:
    """What an append will store. Raises ValueError, naming event and path, for what a log can't hold."""
    if not events:
        raise ValueError("an append needs at least one event")
    encoded = [_encode_event(event) for event in events]
    if len(encoded) == 1 and len(encoded[0].refs) < 2 and not blobs:  # nothing that could disagree
        return Batch(encoded, encoded[0].refs, {})
    refs: dict[str, BlobRef] = {}
    for event in encoded:
        for ref in event.refs:
            if refs.setdefault(ref.sha256, ref) != ref:
                other = _said(refs[ref.sha256])
                raise ValueError(f"{event.columns[0]}: blob {ref.sha256} is referred to as {_said(ref)} and as {other}")
    bodies = {blob.ref.sha256: _checked(blob) for blob in blobs}
    for sha256, blob in bodies.items():
        if sha256 not in refs:
            raise ValueError(f"blob {sha256}: no event of its batch refers to it, so nothing would vouch for it")
        if refs[sha256] != blob.ref:
            raise ValueError(f"blob {sha256} is {_said(blob.ref)}, but is referred to as {_said(refs[sha256])}")
    return Batch(encoded, list(refs.values()), bodies)


def references(data: bytes) -> Sequence[BlobRef]:
    """The blobs that a stored payload refers to, wherever in it, in order."""
    if b'{"length":' not in data:
        return ()
    return [
        BlobRef(sha256=sha256.decode(), media_type=_text(media_type), length=int(length))
        for length, media_type, sha256 in _references(data)
    ]


def _encode_event(event: Event) -> Encoded:
    event_id, clip, time, causation, payload = event
    if _is_time(time) is None:
        raise ValueError(f"{event_id}: time {time!r} is not RFC 3339 in UTC, such as 2026-01-31T09:30:00.125Z")
    if clip == "":
        raise ValueError(f"{event_id}: an empty clip id names no clip")
    try:
        data = stored_data(payload)
    except ValueError as error:
        raise ValueError(f"{event_id}: {error}") from error
    kind, version, turn = payload.type, payload.schema_version, payload.turn()
    columns = (event_id, kind, version, time, clip, turn, causation, data.decode())
    stored = tail(
        (
            event_id.encode(),
            kind.encode(),
            b"%d" % version,
            time.encode(),
            None if clip is None else clip.encode(),
            None if turn is None else turn.encode(),
            None if causation is None else causation.encode(),
            data,
        )
    )
    return Encoded(columns, stored, references(data))


def _checked(blob: Blob) -> Blob:
    ref, body = blob
    if ref.length != len(body) or ref.sha256 != sha256_hex(body):
        raise ValueError(f"blob {ref.sha256}: its body has {len(body)} bytes and the SHA-256 {sha256_hex(body)}")
    return blob


def _said(ref: BlobRef) -> str:
    return f"{ref.media_type!r} of {ref.length} bytes"
