"""The worker's ``probe``: decode a file from start to end, and say what it is."""

import hashlib
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

from vlmrec.media._decode import Decoding, Fault, opened, stated_rate, video_streams
from vlmrec.media._wire import Emit
from vlmrec.media.facts import Probe
from vlmrec.media.timeline import Timeline, is_variable, make_timeline, seconds

MAX_FRAMES = 2_000_000
"""Nine hours at 60 a second. Every frame's time stamp is kept in memory."""


def probe(path: Path, emit: Emit) -> Probe:
    """Decode the whole file, and say what it is. Raises Fault when not a single frame can be had."""
    sha256, size = file_digest(path, emit)
    with opened(path) as (container, stream):
        decoding = Decoding(container, stream)
        pts: list[int | None] = []
        shape: _Shape | None = None
        last: tuple[int, int] | None = None
        for frame in decoding:
            shape = shape or _Shape(frame)
            pts.append(frame.pts)
            if len(pts) > MAX_FRAMES:
                raise Fault(f"has more than {MAX_FRAMES} frames; cut it into clips first")
            if frame.pts is not None and (last is None or frame.pts >= last[0]):
                last = (frame.pts, frame.duration)
            emit.progress()
        if shape is None:
            raise Fault(f"not a single frame decodes: {decoding.stopped or 'the stream ends without giving one'}")
        timeline = _timeline(pts, stream, last)
        average = Fraction(stream.average_rate or len(pts) / timeline.duration)
        return Probe(
            duration_s=seconds(timeline.duration),
            duration=str(timeline.duration),
            frames=len(pts),
            first_s=seconds(timeline.first),
            last_s=seconds(timeline.last),
            average_rate=seconds(average),
            average_rate_exact=str(average),
            variable_rate=is_variable(timeline.pts),
            width=shape.width,
            height=shape.height,
            rotation=shape.rotation,
            sample_aspect_ratio=str(stream.sample_aspect_ratio or 1),
            codec=stream.codec_context.name,
            pixel_format=shape.pixel_format,
            container=container.format.name,
            stream_index=stream.index,
            video_streams=video_streams(container),
            sha256=sha256,
            bytes=size,
            truncated=decoding.stopped is not None,
            truncated_reason=decoding.stopped,
            timestamps_synthesised=timeline.synthesised,
            pts_not_increasing=sum(b <= a for a, b in pairwise(timeline.pts)),
            time_base=str(timeline.time_base),
            pts=timeline.pts,
        )


def file_digest(path: Path, emit: Emit) -> tuple[str, int]:
    """SHA-256 and length of the file's bytes."""
    digest, size = hashlib.sha256(), 0
    with path.open("rb") as file:
        while chunk := file.read(1 << 20):
            digest.update(chunk)
            size += len(chunk)
            emit.progress()
    return digest.hexdigest(), size


def quarter_turns(rotation: int) -> int:
    """How many quarter turns counter-clockwise show a picture upright that asks for ``rotation`` degrees."""
    return round(rotation / 90) % 4


class _Shape:
    """What the first frame says of all."""

    def __init__(self, frame: Any) -> None:
        self.rotation = int(frame.rotation)
        self.pixel_format = str(frame.format.name)
        size = (int(frame.width), int(frame.height))
        self.width, self.height = size if quarter_turns(self.rotation) % 2 == 0 else size[::-1]


def _timeline(pts: list[int | None], stream: Any, last: tuple[int, int] | None) -> Timeline:
    try:
        own = last[1] if last else None
        return make_timeline(pts, Fraction(stream.time_base), last_own=own, rate=stated_rate(stream))
    except ValueError as error:
        raise Fault(str(error)) from None
