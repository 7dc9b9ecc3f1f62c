"""How media is made from a clip: the plan a log keeps, so that the same bytes can be made again.

Pure but for asking which releases of the encoders are installed. A plan names the source by hash,
every frame by its place and time stamp, and what was done to it; media bytes themselves are never kept.
"""

from collections.abc import Sequence
from fractions import Fraction
from functools import cache
from importlib.metadata import version
from math import isqrt
from typing import Annotated, Literal, NamedTuple

from msgspec import Meta, Struct

from vlmrec.errors import InputError
from vlmrec.media.facts import Probe
from vlmrec.media.sampling import Sampling, Window, cut_window, pick_frames, sampling_text, target_times
from vlmrec.media.timeline import seconds

JPEG_QUALITY = 90


class Pick(Struct, frozen=True, kw_only=True):
    """One frame of the source."""

    index: Annotated[int, Meta(ge=0, description="Place among the frames as decoded, from 0.")]
    pts: Annotated[int, Meta(description="Its time stamp, in ticks of the plan's time_base.")]
    time_s: Annotated[float, Meta(ge=0, description="Its clip time in seconds, to the microsecond.")]


class Encoder(Struct, frozen=True, kw_only=True):
    """What wrote the bytes: equal plans give equal bytes where these are equal too."""

    name: str
    version: str
    settings: dict[str, str | int]


class FramesPlan(Struct, frozen=True, kw_only=True, tag="frames"):
    """Single frames, each a JPEG file."""

    source_sha256: str
    reader: Annotated[str, Meta(description="The library that decoded the source, with its release.")]
    stream_index: int
    time_base: Annotated[str, Meta(description="Seconds in a tick of pts, as an exact fraction.")]
    start: Annotated[int, Meta(description="Time stamp of the first frame, in ticks: clip time counts from it.")]
    duration_s: float
    sampling: Annotated[str, Meta(description="The rule that chose the frames, such as frames-4fps.")]
    window: Annotated[tuple[str, str] | None, Meta(description="Start and end in clip time, as exact fractions.")] = (
        None
    )
    picks: tuple[Pick, ...]
    max_pixels: Annotated[int | None, Meta(description="Limit for one frame; None leaves the size alone.")] = None
    width: int
    height: int
    rotation: int
    burnt_clock: bool = False
    encoder: Encoder
    truncated: bool = False
    timestamps_synthesised: bool = False


class VideoPlan(Struct, frozen=True, kw_only=True, tag="video"):
    """One video file: the source's own bytes, or made from it."""

    source_sha256: str
    reader: str
    method: Annotated[
        Literal["as_is", "remux", "transcode"],
        Meta(description="Bytes untouched; packets copied into an MP4 file; or frames decoded and encoded again."),
    ]
    stream_index: int
    time_base: str
    start: Annotated[int, Meta(description="Time stamp of the first frame, in ticks: clip time counts from it.")]
    duration_s: float
    window: Annotated[tuple[str, str] | None, Meta(description="Start and end in clip time, as exact fractions.")] = (
        None
    )
    picks: Annotated[tuple[Pick, ...] | None, Meta(description="The frames encoded; None where none is.")] = None
    last_ticks: Annotated[int | None, Meta(ge=1, description="How long the last frame is shown, in ticks.")] = None
    max_pixels: int | None = None
    width: int
    height: int
    rotation: int
    burnt_clock: bool = False
    encoder: Encoder | None = None
    media_type: str
    truncated: bool = False
    timestamps_synthesised: bool = False


MediaPlan = FramesPlan | VideoPlan


class Size(NamedTuple):
    """Pixels across and down."""

    width: int
    height: int


def plan_frames(
    probe: Probe,
    sampling: Sampling,
    *,
    window: Window | None = None,
    max_pixels: int | None = None,
    burn_clock: bool = False,
) -> FramesPlan:
    """Which frames of a probed clip ``sampling`` shows, and how they are made into JPEG files."""
    window = None if window is None else cut_window(probe.exact_duration, window)
    times = probe.clip_times
    places = pick_frames(times, target_times(probe.exact_duration, sampling, window), window)
    size = fitted_size(probe.width, probe.height, max_pixels)
    return FramesPlan(
        source_sha256=probe.sha256,
        reader=reader(),
        stream_index=probe.stream_index,
        time_base=probe.time_base,
        start=min(probe.pts),
        duration_s=probe.duration_s,
        sampling=sampling_text(sampling),
        window=window_text(window),
        picks=picks_at(probe, places),
        max_pixels=max_pixels,
        width=size.width,
        height=size.height,
        rotation=probe.rotation,
        burnt_clock=burn_clock,
        encoder=jpeg_encoder(),
        truncated=probe.truncated,
        timestamps_synthesised=probe.timestamps_synthesised,
    )


def picks_at(probe: Probe, places: Sequence[int]) -> tuple[Pick, ...]:
    """The frames at ``places`` of the probed clip."""
    times = probe.clip_times
    return tuple(Pick(index=place, pts=probe.pts[place], time_s=seconds(times[place])) for place in places)


def fitted_size(width: int, height: int, max_pixels: int | None, *, multiple: int = 1) -> Size:
    """The largest size of the same shape with at most ``max_pixels``, both sides whole multiples of ``multiple``.

    A picture is never enlarged. Integer arithmetic only, so that every machine agrees.
    """
    if max_pixels is not None and max_pixels < multiple * multiple:
        raise InputError(
            f"a limit of {max_pixels} pixels for a frame is below the {multiple * multiple} that one needs"
        )
    if max_pixels is not None and width * height > max_pixels:
        shown = min(width, max(1, isqrt(max_pixels * width // height)), max_pixels)
        width, height = shown, min(max(1, shown * height // width), max_pixels // shown)
    return Size(max(multiple, width - width % multiple), max(multiple, height - height % multiple))


def window_text(window: Window | None) -> tuple[str, str] | None:
    """A window as a plan writes it."""
    return None if window is None else (str(Fraction(window.start)), str(Fraction(window.end)))


@cache
def reader() -> str:
    """The library that decodes, with its release."""
    return f"av {version('av')}"


@cache
def jpeg_encoder() -> Encoder:
    """How frames become JPEG files."""
    return Encoder(name="pillow", version=version("pillow"), settings={"quality": JPEG_QUALITY, "subsampling": "4:2:0"})
