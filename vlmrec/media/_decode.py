"""Open a video file with PyAV and decode it forward, once, from start to end. Runs inside a worker.

Every fault is either ``Fault`` (nothing can be had) or ``Decoding.stopped`` (frames came, then it
ended early). Never threaded: with frame threads and PyAV's log callback some damaged files hang for
good, and one thread makes the point where a damaged file stops the same each time.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import Any, BinaryIO

import av
import av.error

from vlmrec.media.facts import VideoStream

FORMATS = (
    "mov,mp4,m4a,3gp,3g2,mj2,matroska,webm,mpegts,mpeg,mpegvideo,avi,flv,live_flv,asf,"
    "h264,hevc,m4v,mjpeg,ogg,ivf,obu,av1,vc1,dv,mxf,nut"
)
"""Formats that hold video in the file itself. Playlists are left out: they would open other files and addresses."""

MAX_FRAME_PIXELS = 1 << 26
"""8192 x 8192. A damaged header can promise more than the machine has memory for."""

ATTACHED_PICTURE = 0x0400


class Fault(Exception):
    """Nothing can be had from the file; the text says why, without its path."""


@contextmanager
def opened(path: Path) -> Iterator[tuple[Any, Any]]:
    """The container and its best video stream, ready to decode."""
    options = {
        "protocol_whitelist": "file",
        "format_whitelist": FORMATS,
        "max_pixels": str(MAX_FRAME_PIXELS),
    }
    try:
        # Metadata may be in any encoding (Korean recorders write CP949); it's never used.
        container = av.open(f"file:{path}", options=options, metadata_errors="replace")
    except (av.error.FFmpegError, ValueError, IndexError, MemoryError) as error:
        raise Fault(_why_not_opened(path, error)) from None
    with container:
        stream = container.streams.best("video")
        if stream is None or int(stream.disposition) & ATTACHED_PICTURE:
            kinds = sorted({s.type or "unknown" for s in container.streams})
            raise Fault(f"has no video stream (it holds: {', '.join(kinds) or 'no stream at all'})")
        if stream.codec_context is None:
            raise Fault("is in a video codec that no decoder is installed for")
        stream.codec_context.thread_type = "NONE"
        yield container, stream


def video_streams(container: Any) -> tuple[VideoStream, ...]:
    """Every stream that holds moving pictures, also one that no decoder is installed for."""
    return tuple(
        VideoStream(
            index=stream.index,
            codec=stream.codec_context.name if stream.codec_context is not None else "unknown",
            width=stream.codec_context.width if stream.codec_context is not None else 0,
            height=stream.codec_context.height if stream.codec_context is not None else 0,
        )
        for stream in container.streams.video
        if not int(stream.disposition) & ATTACHED_PICTURE
    )


class Decoding:
    """The frames of a stream in the order decoded. Afterwards ``stopped`` says why they ended early, if they did."""

    def __init__(self, container: Any, stream: Any) -> None:
        self._container = container
        self._stream = stream
        self.packets = 0
        self.frames = 0
        self.stopped: str | None = None

    def __iter__(self) -> Iterator[Any]:
        try:
            for packet in video_packets(self._container, self._stream):
                self.packets += packet.size > 0
                for frame in packet.decode():
                    self.frames += 1
                    yield frame
        except EOFError:
            pass  # the decoder says that it has given everything
        except (av.error.FFmpegError, IndexError, MemoryError) as error:
            self.stopped = f"decoding stopped after {self.frames} frames: {what_happened(error)}"
        if self.stopped is None and self.packets < self._stream.frames:
            self.stopped = f"the file's index promises {self._stream.frames} frames, and it holds {self.packets}"


def video_packets(container: Any, stream: Any) -> Iterator[Any]:
    """The stream's packets in the order stored; the last is empty, and makes a decoder give what it still holds.

    Stops there: asked for more, PyAV raises IndexError if another stream appeared after opening.
    """
    for packet in container.demux(stream):
        yield packet
        if packet.size == 0 and packet.dts is None:
            return


def stated_rate(stream: Any) -> Fraction | None:
    """Frames a second as the stream states or FFmpeg guesses it."""
    for rate in (stream.guessed_rate, stream.average_rate, stream.base_rate):
        if rate:
            return Fraction(rate)
    return None


def what_happened(error: BaseException) -> str:
    """An error of PyAV in few words, without paths and numbers."""
    if isinstance(error, MemoryError):
        return "it asks for more memory than is allowed"
    if isinstance(error, av.error.FFmpegError):
        return str(error.strerror)
    return f"the reader failed ({type(error).__name__}: {error})"


def _why_not_opened(path: Path, error: BaseException) -> str:
    with path.open("rb") as file:
        head = file.read(12)
        if not head:
            return "is empty (0 bytes)"
        if head[4:8] == b"ftyp" and not _has_box(file, b"moov"):
            return "has no index (moov): the recording was cut off before the index was written"
    return f"can't be opened as video: {what_happened(error)}"


def _has_box(file: BinaryIO, name: bytes) -> bool:
    """Whether an MP4 file has a top-level box of this name. Walks headers only."""
    position = 0
    for _ in range(10_000):
        file.seek(position)
        header = file.read(16)
        if len(header) < 8:
            return False
        if header[4:8] == name:
            return True
        size = int.from_bytes(header[:4])
        if size == 1:
            size = int.from_bytes(header[8:16])
        if size < 8:
            return False
        position += size
    return False
