"""Small video files for tests, whose every frame can be told from its pixels.

``write_clip(path)`` makes a 2 s clip; any frame's number is ``frame_number(picture)`` again, also
after a lossy codec, scaling and a quarter turn back to upright.
"""

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

import av
import numpy as np

BITS = 10


def write_clip(
    path: Path,
    *,
    pts: Sequence[int] = tuple(range(20)),
    time_base: Fraction = Fraction(1, 10),
    size: tuple[int, int] = (160, 120),
    codec: str = "libx264",
    container: str | None = None,
    rotation: int = 0,
    options: dict[str, str] | None = None,
    last_ticks: int | None = None,
    paint: Callable[[int, int, int], np.ndarray[Any, Any]] | None = None,
) -> Path:
    """Write one frame for each of ``pts`` (ticks of ``time_base``), each showing its number as stripes.

    ``rotation`` is the counter-clockwise turn that the file asks for; ``paint(number, width, height)``
    gives other pictures, as RGB arrays.
    """
    width, height = size
    quiet = {"crf": "10", "preset": "ultrafast", "bf": "0"} if codec == "libx264" else {}
    with av.open(str(path), "w", format=container) as output:
        stream = output.add_stream(codec, options={**quiet, **(options or {})})
        stream.width, stream.height = width, height
        stream.pix_fmt = "yuvj420p" if codec == "mjpeg" else "yuv420p"
        stream.codec_context.time_base = time_base
        if codec in ("mjpeg", "mpeg4"):
            stream.codec_context.framerate = 1 / time_base
        if rotation:
            stream.set_display_rotation(rotation)
        gaps = {before: after - before for before, after in pairwise(pts)}
        gaps[pts[-1]] = last_ticks or (pts[-1] - pts[-2] if len(pts) > 1 else 1)
        for number, ticks in enumerate(pts):
            frame = av.VideoFrame.from_ndarray((paint or striped)(number, width, height), format="rgb24")
            frame.pts, frame.time_base = ticks, time_base
            _mux(output, stream.encode(frame), gaps)
        _mux(output, stream.encode(None), gaps)
    return path


def write_two_streams(path: Path) -> Path:
    """Two cameras in one file: a small picture first, which muxers mark as the default stream, and a larger one."""
    with av.open(str(path), "w") as output:
        streams = []
        for width, height in ((80, 60), (160, 120)):
            stream = output.add_stream("libx264", rate=10, options={"crf": "10", "preset": "ultrafast", "bf": "0"})
            stream.width, stream.height, stream.pix_fmt = width, height, "yuv420p"
            streams.append(stream)
        for number in range(10):
            for stream in streams:
                picture = striped(number, stream.width, stream.height)
                output.mux(stream.encode(av.VideoFrame.from_ndarray(picture, format="rgb24")))
        for stream in streams:
            output.mux(stream.encode(None))
    return path


def striped(number: int, width: int, height: int) -> np.ndarray[Any, Any]:
    """A picture of ``BITS`` upright stripes, light or dark: ``number`` in binary, the highest bit to the left."""
    bits = [number >> (BITS - 1 - bit) & 1 for bit in range(BITS)]
    column = np.repeat(np.array(bits, dtype=np.uint8) * 180 + 40, -(-width // BITS))[:width]
    return np.repeat(np.tile(column, (height, 1))[:, :, None], 3, axis=2)


def frame_number(picture: np.ndarray[Any, Any]) -> int:
    """The number that a picture by ``striped`` shows, read from its lower half."""
    line = picture[picture.shape[0] * 3 // 4].reshape(picture.shape[1], -1).mean(axis=1)
    middles = [int((bit + 0.5) * len(line) / BITS) for bit in range(BITS)]
    return sum((line[x] > 130) << (BITS - 1 - bit) for bit, x in enumerate(middles))


def read_jpeg(body: bytes) -> np.ndarray[Any, Any]:
    """A JPEG file as an RGB array."""
    import io

    from PIL import Image

    return np.asarray(Image.open(io.BytesIO(body)).convert("RGB"))


def _mux(output: Any, packets: Any, gaps: dict[int, int]) -> None:
    for packet in packets:
        packet.duration = gaps.get(packet.pts, packet.duration)
        output.mux(packet)
