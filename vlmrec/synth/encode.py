"""H.264 in MP4 by PyAV, the same bytes for the same frames: no time of day, no names inside.

Tried on many runs: with one thread, x264's macroblock tree and swscale's colour conversion still gave other
bytes now and then, so the tree is off and the conversion is OpenCV's.
"""

from collections.abc import Iterable
from fractions import Fraction
from pathlib import Path

import av
import cv2
import numpy as np
from numpy.typing import NDArray

from vlmrec.errors import InputError


def write_video(path: Path, frames: Iterable[NDArray[np.uint8]], *, fps: int, width: int, height: int, crf: int) -> int:
    """Writes BGR frames of even width and height as a video and returns how many there were.

    Raises InputError where the file can't be written.
    """
    try:
        return _write(path, frames, fps=fps, width=width, height=height, crf=crf)
    except (av.FFmpegError, OSError) as error:
        why = error.strerror or str(error)
        raise InputError(f"{path}: can't write the video there: {why}; is there room, and may you write?") from error


def _write(path: Path, frames: Iterable[NDArray[np.uint8]], *, fps: int, width: int, height: int, crf: int) -> int:
    count = 0
    with av.open(str(path), "w", format="mp4", options={"fflags": "+bitexact"}) as container:
        stream = container.add_stream("libx264", rate=fps)
        stream.width, stream.height, stream.pix_fmt = width, height, "yuv420p"
        stream.time_base = Fraction(1, fps)
        stream.options = {"preset": "veryfast", "crf": str(crf), "threads": "1", "x264-params": "mbtree=0"}
        stream.codec_context.thread_count = 1
        for image in frames:
            planes = np.asarray(cv2.cvtColor(image, cv2.COLOR_BGR2YUV_I420), np.uint8)
            frame = av.VideoFrame.from_ndarray(planes, format="yuv420p")
            frame.pts, frame.time_base = count, Fraction(1, fps)
            container.mux(stream.encode(frame))
            count += 1
        container.mux(stream.encode())
    return count
