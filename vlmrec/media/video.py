"""A clip, or a part of it, as one video file that servers can read.

A file that already is MP4, QuickTime or WebM goes out as it is, every byte: what the server decodes
is what was recorded. Other containers are copied packet by packet into MP4 where the codec and the
time stamps allow it, else decoded and encoded again. A window, a burnt-in clock or a pixel limit
always means encoding again: H.264, each frame at its own time, rotation applied, no sound.
"""

from fractions import Fraction
from pathlib import Path
from typing import Annotated, Literal, NamedTuple

from msgspec import Meta, Struct

from vlmrec.canonical import sha256_hex
from vlmrec.errors import InputError, MediaError
from vlmrec.media.facts import Probe
from vlmrec.media.frames import clock_text
from vlmrec.media.plan import Encoder, Pick, VideoPlan, fitted_size, picks_at, reader, window_text
from vlmrec.media.sampling import Window, cut_window, frames_within
from vlmrec.media.workers import WorkerPool, in_thread, shared_pool

AS_IS = {"mov,mp4,m4a,3gp,3g2,mj2": "video/mp4", "matroska,webm": "video/webm"}
MAX_BYTES = 1 << 30
CUTS = (".mp4", ".m4v")
COPIED_CODECS = frozenset({"h264", "hevc"})
H264: dict[str, str | int] = {"crf": 18, "preset": "veryfast", "bf": 0, "threads": 1}
"""One thread and no B-frames: the same bytes each time, and a first time stamp of 0 without an edit list."""


class Video(NamedTuple):
    """One video file."""

    body: bytes
    media_type: str
    sha256: str


def plan_video(
    probe: Probe, *, window: Window | None = None, max_pixels: int | None = None, burn_clock: bool = False
) -> VideoPlan:
    """How a probed clip, or a window of it, becomes a video file."""
    window = None if window is None else cut_window(probe.exact_duration, window)
    size = fitted_size(probe.width, probe.height, max_pixels)
    untouched = window is None and not burn_clock and size == (probe.width, probe.height)
    method = _method(probe) if untouched else "transcode"
    picks = last_ticks = None
    if method == "transcode":
        size = fitted_size(probe.width, probe.height, max_pixels, multiple=2)
        picks = picks_at(probe, frames_within(probe.clip_times, window))
        last_ticks = _last_ticks(probe, picks[-1])
    return VideoPlan(
        source_sha256=probe.sha256,
        reader=reader(),
        method=method,
        stream_index=probe.stream_index,
        time_base=probe.time_base,
        start=min(probe.pts),
        duration_s=probe.duration_s,
        window=window_text(window),
        picks=picks,
        last_ticks=last_ticks,
        max_pixels=max_pixels,
        width=size.width,
        height=size.height,
        rotation=probe.rotation,
        burnt_clock=burn_clock,
        encoder=_encoder(method),
        media_type=AS_IS[probe.container] if method == "as_is" else "video/mp4",
        truncated=probe.truncated,
        timestamps_synthesised=probe.timestamps_synthesised,
    )


def make_video(path: Path, plan: VideoPlan, *, pool: WorkerPool | None = None) -> Video:
    """The plan's video file. Raises MediaError if the source isn't the one that was planned for."""
    if plan.method == "as_is":
        body = _read(path)
        if sha256_hex(body) != plan.source_sha256:
            raise MediaError(f"{path}: has other bytes than when it was probed; probe it again")
    else:
        (body,) = (pool or shared_pool()).call(plan.method, path, _arguments(plan), bool).items
    return Video(body, plan.media_type, sha256_hex(body))


async def make_video_async(path: Path, plan: VideoPlan, *, pool: WorkerPool | None = None) -> Video:
    """``make_video`` for asyncio."""
    return await in_thread(make_video, path, plan, pool=pool)


class WrittenVideo(Struct, frozen=True, kw_only=True):
    """One video file that was written."""

    file: str
    media_type: str
    frames: Annotated[int | None, Meta(description="Frames encoded; None where packets were copied.")]
    bytes: int
    sha256: str


def write_video(path: Path, plan: VideoPlan, out: Path) -> WrittenVideo:
    """Write the plan's video to ``out``. The source itself is never written over."""
    if out.exists() and out.samefile(path):
        raise InputError(f"{out}: is the clip itself; name another file")
    if out.suffix.lower() not in CUTS:
        raise InputError(f"{out}: a part is written as MP4; give the file the ending {' or '.join(CUTS)}")
    video = make_video(path, plan)
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_bytes(video.body)
    return WrittenVideo(
        file=str(out),
        media_type=video.media_type,
        frames=None if plan.picks is None else len(plan.picks),
        bytes=len(video.body),
        sha256=video.sha256,
    )


def _method(probe: Probe) -> Literal["as_is", "remux", "transcode"]:
    if probe.container == "matroska,webm" and probe.codec not in ("vp8", "vp9", "av1", "libdav1d"):
        return "remux" if probe.codec in COPIED_CODECS else "transcode"
    if probe.container in AS_IS:
        return "as_is"
    doubtful = probe.timestamps_synthesised or probe.pts_not_increasing > 0 or probe.truncated
    return "remux" if probe.codec in COPIED_CODECS and not doubtful else "transcode"


def _encoder(method: str) -> Encoder | None:
    if method == "transcode":
        return Encoder(name="libx264", version=reader(), settings=dict(H264))
    return Encoder(name="mp4", version=reader(), settings={}) if method == "remux" else None


def _arguments(plan: VideoPlan) -> dict[str, object]:
    if plan.method == "remux":
        return {"source_sha256": plan.source_sha256, "start": plan.start}
    if plan.picks is None or plan.encoder is None:
        raise ValueError("a plan to transcode names its frames and its encoder")
    start = plan.picks[0].pts
    return {
        "source_sha256": plan.source_sha256,
        "wanted": [
            {
                "index": pick.index,
                "pts": None if plan.timestamps_synthesised else pick.pts,
                "clock": clock_text(pick) if plan.burnt_clock else None,
                "shown_at": pick.pts - start,
            }
            for pick in plan.picks
        ],
        "time_base": plan.time_base,
        "last_ticks": plan.last_ticks,
        "max_pixels": plan.max_pixels,
        "settings": {name: str(value) for name, value in plan.encoder.settings.items()},
    }


def _last_ticks(probe: Probe, last: Pick) -> int:
    """To the next frame of the clip, or its end. Not to the end of the window: servers work out frame times
    from the number of frames and the length of the file, and a frame cut short would shift them all.
    """
    time = probe.clip_times[last.index]
    end = min((later for later in probe.clip_times if later > time), default=probe.exact_duration)
    return max(1, round((end - time) / Fraction(probe.time_base)))


def _read(path: Path) -> bytes:
    try:
        if path.stat().st_size > MAX_BYTES:
            raise MediaError(
                f"{path}: is larger than 1 GiB, too large to be sent whole; send frames, or a window of it"
            )
        return path.read_bytes()
    except OSError as error:
        raise MediaError(f"{path}: can't be read: {error.strerror}") from error
