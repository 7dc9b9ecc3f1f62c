"""Frames of a request's media as small pictures with clip times, one at a time.

Everything is decoded in memory by one thread, scaled while converting, and bounded: at most
``MAX_FRAMES`` frames are ever handed on, at most ``MAX_RATE`` of them a second. Times count from the first frame.
"""

import io
import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from vlmrec.observer.request import BadRequest, ChatRequest, Still, Video

if TYPE_CHECKING:
    from av import VideoFrame

WORK_WIDTH = 640
MAX_RATE = 15.5
MAX_FRAMES = 900

Picture = NDArray[np.uint8]


class Frame(NamedTuple):
    """A picture (BGR, ``WORK_WIDTH`` wide or less) at a clip time in seconds; ``time`` is None when nobody said."""

    time: float | None
    picture: Picture


def read_frames(request: ChatRequest) -> Iterator[Frame]:
    """The frames of the request's media, in the order given. Raises BadRequest where no picture can be had."""
    for video in request.videos:
        yield from _video_frames(video)
    for index, still in enumerate(request.stills[:MAX_FRAMES]):
        yield Frame(still.time, _still_picture(still, index))


def _still_picture(still: Still, index: int) -> Picture:
    import cv2

    picture = cv2.imdecode(np.frombuffer(still.body, np.uint8), cv2.IMREAD_COLOR) if still.body else None
    if picture is None:
        raise BadRequest(f"Could not decode image {index}", param="messages")
    height, width = picture.shape[:2]
    if width <= WORK_WIDTH:
        return np.asarray(picture, np.uint8)
    size = (WORK_WIDTH, max(2, round(height * WORK_WIDTH / width)))
    return np.asarray(cv2.resize(picture, size, interpolation=cv2.INTER_AREA), np.uint8)


def _video_frames(video: Video) -> Iterator[Frame]:
    """Sampled at interval midpoints where the request names a rate below the clip's own, else every frame."""
    wanted = video.fps
    step = 1 / min(wanted or MAX_RATE, MAX_RATE)
    target = step / 2 if wanted else 0.0
    held: tuple[float, Picture] | None = None
    shown = 0
    for time, picture in _decode(video.body):
        if shown >= MAX_FRAMES:
            return
        if not wanted:
            if time >= target - 1e-6:
                yield Frame(time, picture)
                shown += 1
                target = max(target + step, time + step / 2)
            continue
        # Nearest frame to each midpoint, the earlier on a tie, none twice.
        while held is not None and time >= target:
            if target - held[0] <= time - target:
                yield Frame(*held)
                shown += 1
                held = None
                target += step
            else:
                target += step
                yield Frame(time, picture)
                shown += 1
                while target <= time:
                    target += step
                break
        else:
            held = (time, picture)
            continue
        held = None
    if held is not None and (shown == 0 or held[0] >= target - step / 2):
        yield Frame(*held)


def _decode(body: bytes) -> Iterator[tuple[float, Picture]]:
    import av
    import av.error

    failed: Exception | None = None
    count = 0
    try:
        with av.open(io.BytesIO(body), mode="r") as container:
            stream = container.streams.best("video")
            if stream is None:
                raise BadRequest("Could not open video stream", param="messages")
            # Threaded decoding can hang for good on damaged files.
            stream.codec_context.thread_count = 1
            stream.codec_context.thread_type = "SLICE"
            rate = float(stream.average_rate or 25)
            first: float | None = None
            last = -math.inf
            for frame in container.decode(stream):
                if not isinstance(frame, av.VideoFrame):
                    continue
                time = frame.time if frame.time is not None else count / rate
                first = time if first is None else first
                time -= first
                count += 1
                if time <= last:
                    continue
                last = time
                yield time, _to_picture(frame)
    except (av.error.FFmpegError, IndexError, ValueError, OSError) as error:
        failed = error
    if count == 0:
        raise BadRequest("Could not open video stream", param="messages") from failed


def _to_picture(frame: "VideoFrame") -> Picture:
    turned = frame.rotation % 180 != 0
    shown_width = frame.height if turned else frame.width
    scale = min(1.0, WORK_WIDTH / shown_width)
    width, height = max(2, round(frame.width * scale)), max(2, round(frame.height * scale))
    small = frame.reformat(width=width, height=height, format="bgr24", interpolation="AREA")
    picture = np.asarray(small.to_ndarray(), np.uint8)
    quarter_turns = (frame.rotation // 90) % 4
    return np.ascontiguousarray(np.rot90(picture, quarter_turns)) if quarter_turns else picture
