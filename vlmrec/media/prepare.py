"""From a probed clip to the content parts of a request, and the same parts as a log may hold them.

``PreparedMedia.parts`` go to the server: they carry bytes as data URLs, or an address with a
signature. ``PreparedMedia.loggable`` are the same parts with each body or address replaced by its
hash, media type and length; nothing else may be stored, shown or fingerprinted.
"""

import asyncio
import base64
from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any, NamedTuple

from msgspec import Meta, Struct

from vlmrec.errors import InputError
from vlmrec.media.facts import Probe
from vlmrec.media.frames import Frame, extract_frames
from vlmrec.media.plan import FramesPlan, MediaPlan, VideoPlan, plan_frames
from vlmrec.media.sampling import Window, parse_sampling
from vlmrec.media.video import Video, make_video, plan_video
from vlmrec.media.workers import WorkerPool

Part = Mapping[str, Any]
"""One content part of a chat message, as the OpenAI protocol writes it."""


class MediaSpec(Struct, frozen=True, kw_only=True):
    """What of a clip a request shows."""

    sampling: Annotated[str | None, Meta(description="frames-N or frames-Xfps; None sends a video file.")] = None
    window: Annotated[
        tuple[str, str] | None, Meta(description="Start and end in clip time, as decimals or fractions.")
    ] = None
    max_pixels: Annotated[int | None, Meta(ge=1, description="Limit for one frame.")] = None
    burn_clock: Annotated[bool, Meta(description="Write the clip time into each picture.")] = False


class MediaRef(Struct, frozen=True, kw_only=True):
    """Stands in a log for bytes that were sent."""

    sha256: str
    media_type: str
    bytes: int
    time_s: Annotated[float | None, Meta(description="Clip time of a frame.")] = None


class PreparedMedia(NamedTuple):
    """A clip made ready for requests."""

    parts: tuple[Part, ...]
    loggable: tuple[Part, ...]
    plan: MediaPlan
    media: tuple[MediaRef, ...]


def prepare(path: Path, probe: Probe, spec: MediaSpec, *, pool: WorkerPool | None = None) -> PreparedMedia:
    """Make the parts that show a clip as ``spec`` asks, with bodies as data URLs.

    Raises MediaError for a fault of the file, InputError for a ``spec`` that can't be met.
    """
    plan = make_plan(probe, spec)
    if isinstance(plan, VideoPlan):
        video = make_video(path, plan, pool=pool)
        return video_media(plan, video, data_url(video.media_type, video.body))
    return frames_media(plan, extract_frames(path, plan, pool=pool))


async def prepare_async(path: Path, probe: Probe, spec: MediaSpec, *, pool: WorkerPool | None = None) -> PreparedMedia:
    """``prepare`` for asyncio."""
    return await asyncio.to_thread(prepare, path, probe, spec, pool=pool)


def make_plan(probe: Probe, spec: MediaSpec) -> MediaPlan:
    """What will be made for ``spec``, before any of it is."""
    window = None if spec.window is None else Window(*(_time(bound) for bound in spec.window))
    if spec.sampling is None:
        return plan_video(probe, window=window, max_pixels=spec.max_pixels, burn_clock=spec.burn_clock)
    sampling = parse_sampling(spec.sampling)
    return plan_frames(probe, sampling, window=window, max_pixels=spec.max_pixels, burn_clock=spec.burn_clock)


def video_media(plan: VideoPlan, video: Video, url: str) -> PreparedMedia:
    """One video part whose ``url`` leads to ``video``."""
    ref = MediaRef(sha256=video.sha256, media_type=video.media_type, bytes=len(video.body))
    return PreparedMedia((_part("video_url", url),), (_part("video_url", _shown(ref)),), plan, (ref,))


def frames_media(plan: FramesPlan, frames: Sequence[Frame]) -> PreparedMedia:
    """Two parts for each frame: a label with its time, and the picture."""
    parts: list[Part] = []
    loggable: list[Part] = []
    refs: list[MediaRef] = []
    for frame in frames:
        label = {"type": "text", "text": frame.label}
        ref = MediaRef(sha256=frame.sha256, media_type="image/jpeg", bytes=len(frame.jpeg), time_s=frame.pick.time_s)
        parts += [label, _part("image_url", data_url("image/jpeg", frame.jpeg))]
        loggable += [label, _part("image_url", _shown(ref))]
        refs.append(ref)
    return PreparedMedia(tuple(parts), tuple(loggable), plan, tuple(refs))


def data_url(media_type: str, body: bytes) -> str:
    """``body`` as a ``data:`` URL."""
    return f"data:{media_type};base64,{base64.b64encode(body).decode('ascii')}"


def _part(kind: str, url: str | dict[str, object]) -> Part:
    return {"type": kind, kind: {"url": url}}


def _shown(ref: MediaRef) -> dict[str, object]:
    return {"sha256": ref.sha256, "media_type": ref.media_type, "bytes": ref.bytes}


def _time(text: str) -> Fraction:
    try:
        return Fraction(text)
    except (ValueError, ZeroDivisionError):
        raise InputError(f"{text!r} is not a time; write seconds as 4.25, or an exact fraction as 17/4") from None
