"""From a probed clip to the content parts of a request, and the same parts as a log may hold them.

``PreparedMedia.parts`` go to the server: they carry bytes as data URLs, or an address with a
signature. ``PreparedMedia.loggable`` are the same parts with each body or address replaced by its
hash, media type and length; nothing else may be stored, shown or fingerprinted.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, NamedTuple

from msgspec import Meta, Struct

from vlmrec.media.delivery import Body, DataUrls, Delivery
from vlmrec.media.facts import Probe
from vlmrec.media.frames import Frame, extract_frames
from vlmrec.media.plan import MediaPlan, VideoPlan, plan_frames
from vlmrec.media.sampling import parse_sampling, parse_window
from vlmrec.media.video import Video, make_video, plan_video
from vlmrec.media.workers import WorkerPool, in_thread

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


@dataclass(frozen=True)
class PreparedMedia:
    """A clip made ready for requests. Its repr shows neither bodies nor signatures."""

    parts: tuple[Part, ...] = field(repr=False)
    """For the request, and for nothing else."""
    loggable: tuple[Part, ...]
    """For logs and fingerprints: each address replaced by hash, media type and length."""
    plan: MediaPlan
    media: tuple[MediaRef, ...]
    delivery: str
    """``data_url``, ``presigned_url`` or ``file``."""
    secrets: tuple[str, ...] = field(default=(), repr=False)
    """Strings in ``parts`` to be taken out of whatever a server echoes."""


def prepare(
    path: Path, probe: Probe, spec: MediaSpec, *, delivery: Delivery | None = None, pool: WorkerPool | None = None
) -> PreparedMedia:
    """Make the parts that show a clip as ``spec`` asks, delivered as data URLs unless said otherwise.

    Raises MediaError for a fault of the file, InputError for a ``spec`` that can't be met, and what
    the delivery raises.
    """
    plan = make_plan(probe, spec)
    if isinstance(plan, VideoPlan):
        made = _video(path, plan, make_video(path, plan, pool=pool))
    else:
        made = _frames(extract_frames(path, plan, pool=pool))
    return _delivered(made, plan, delivery or DataUrls())


async def prepare_async(
    path: Path, probe: Probe, spec: MediaSpec, *, delivery: Delivery | None = None, pool: WorkerPool | None = None
) -> PreparedMedia:
    """``prepare`` for asyncio."""
    return await in_thread(prepare, path, probe, spec, delivery=delivery, pool=pool)


def make_plan(probe: Probe, spec: MediaSpec) -> MediaPlan:
    """What will be made for ``spec``, before any of it is."""
    window = None if spec.window is None else parse_window(*spec.window)
    if spec.sampling is None:
        return plan_video(probe, window=window, max_pixels=spec.max_pixels, burn_clock=spec.burn_clock)
    sampling = parse_sampling(spec.sampling)
    return plan_frames(probe, sampling, window=window, max_pixels=spec.max_pixels, burn_clock=spec.burn_clock)


class _Shown(NamedTuple):
    """One body, the kind of part that shows it, and for a frame its label and clip time."""

    kind: str
    body: Body
    label: str | None = None
    time_s: float | None = None


def _video(path: Path, plan: VideoPlan, video: Video) -> list[_Shown]:
    source = path if plan.method == "as_is" else None
    return [_Shown("video_url", Body(video.body, video.media_type, video.sha256, source))]


def _frames(frames: Sequence[Frame]) -> list[_Shown]:
    return [
        _Shown("image_url", Body(frame.jpeg, "image/jpeg", frame.sha256), frame.label, frame.pick.time_s)
        for frame in frames
    ]


def _delivered(made: Sequence[_Shown], plan: MediaPlan, delivery: Delivery) -> PreparedMedia:
    parts: list[Part] = []
    loggable: list[Part] = []
    refs: list[MediaRef] = []
    secrets: list[str] = []
    for kind, body, label, time_s in made:
        address = delivery.deliver(body)
        ref = MediaRef(sha256=body.sha256, media_type=body.media_type, bytes=len(body.content), time_s=time_s)
        for shown, url in ((parts, address.url), (loggable, _in_a_log(ref))):
            if label is not None:
                shown.append({"type": "text", "text": label})
            shown.append({"type": kind, kind: {"url": url}})
        refs.append(ref)
        secrets += address.secrets
    return PreparedMedia(tuple(parts), tuple(loggable), plan, tuple(refs), delivery.name, tuple(dict.fromkeys(secrets)))


def _in_a_log(ref: MediaRef) -> dict[str, object]:
    return {"sha256": ref.sha256, "media_type": ref.media_type, "bytes": ref.bytes}
