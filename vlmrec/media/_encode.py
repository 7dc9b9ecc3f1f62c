"""The worker's ``transcode`` and ``remux``: a new MP4 file, made in memory and given as one item."""

import io
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

import av
import av.error
from av.video.reformatter import ColorRange, Colorspace
from msgspec import convert

from vlmrec.media._decode import Fault, opened, video_packets, what_happened
from vlmrec.media._render import SCALED, Wanted, burn, upright_image, wanted_frames
from vlmrec.media._scan import file_digest
from vlmrec.media._wire import Emit


def transcode(
    path: Path,
    emit: Emit,
    *,
    source_sha256: str,
    wanted: list[dict[str, Any]],
    time_base: str,
    last_ticks: int,
    max_pixels: int | None,
    settings: dict[str, str],
) -> bool:
    """Encode the wanted frames as H.264, each shown at its own ``shown_at`` ticks."""
    ticks = Fraction(time_base)
    asked = convert(wanted, list[Wanted])
    shown_for = {a.shown_at: b.shown_at - a.shown_at for a, b in pairwise(asked)}
    with _mp4() as (output, body):
        stream: Any = None
        for frame, want in wanted_frames(path, emit, source_sha256, asked):
            image = upright_image(frame, max_pixels, multiple=2)
            if want.clock is not None:
                burn(image, want.clock)
            if stream is None:
                stream = _h264_stream(output, image.width, image.height, ticks, settings)
            elif image.size != (stream.width, stream.height):
                raise Fault(f"changes its picture size at frame {want.index}, and can't be encoded as one video")
            picture = _video_frame(image).reformat(
                format="yuv420p",
                interpolation=SCALED,
                dst_colorspace=Colorspace.SMPTE170M,
                dst_color_range=ColorRange.MPEG,
            )
            picture.pts, picture.time_base = want.shown_at, ticks
            _mux(output, stream.encode(picture), shown_for, last_ticks)
        _mux(output, stream.encode(None), shown_for, last_ticks)
    emit.item(body.getvalue())
    return True


def remux(path: Path, emit: Emit, *, source_sha256: str, start: int) -> bool:
    """Copy the video packets into an MP4 file, time stamps moved so that ``start`` becomes 0."""
    if file_digest(path, emit)[0] != source_sha256:
        raise Fault("has other bytes than when it was probed; probe it again")
    with opened(path) as (source, stream), _mp4() as (output, body):
        copy = output.add_stream_from_template(stream)
        for packet in video_packets(source, stream):
            emit.progress()
            if packet.size == 0 or packet.pts is None or packet.dts is None:
                continue
            packet.pts -= start
            packet.dts -= start
            packet.stream = copy
            output.mux(packet)
    emit.item(body.getvalue())
    return True


@contextmanager
def _mp4() -> Iterator[tuple[Any, io.BytesIO]]:
    body = io.BytesIO()
    try:
        with av.open(body, "w", format="mp4", options={"fflags": "+bitexact"}) as output:
            yield output, body
    except av.error.FFmpegError as error:
        raise Fault(f"can't be written as MP4: {what_happened(error)}") from None


def _h264_stream(output: Any, width: int, height: int, ticks: Fraction, settings: dict[str, str]) -> Any:
    stream = output.add_stream("libx264", options=settings)
    stream.width, stream.height, stream.pix_fmt = width, height, "yuv420p"
    stream.codec_context.time_base = ticks
    stream.codec_context.colorspace = Colorspace.SMPTE170M
    stream.codec_context.color_range = ColorRange.MPEG
    return stream


def _video_frame(image: Any) -> Any:
    from_image: Any = av.VideoFrame.from_image
    return from_image(image)


def _mux(output: Any, packets: Any, shown_for: dict[int, int], last_ticks: int) -> None:
    for packet in packets:
        packet.duration = shown_for.get(packet.pts, last_ticks)
        output.mux(packet)
