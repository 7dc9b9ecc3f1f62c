"""What is known of a clip once its frames are decoded: facts for the log, and every frame's time stamp."""

from fractions import Fraction
from typing import Annotated

from msgspec import Meta, Struct

from vlmrec.media.timeline import clip_times


class VideoStream(Struct, frozen=True, kw_only=True):
    """A video stream of a file, as the header describes it. Attached pictures are none."""

    index: int
    codec: str
    width: int
    height: int

    def __str__(self) -> str:
        return f"stream {self.index} ({self.width}x{self.height} {self.codec})"


class ClipFacts(Struct, frozen=True, kw_only=True):
    """The facts of one clip that a log holds and a person reads."""

    duration_s: Annotated[float, Meta(ge=0, description="Last frame minus first plus the last one's own, in seconds.")]
    duration: Annotated[str, Meta(description="The same as an exact fraction of seconds, such as 221/25.")]
    frames: Annotated[int, Meta(ge=1, description="Frames that decode, whatever the header says.")]
    first_s: Annotated[float, Meta(description="Time stamp of the first frame, in seconds; clip time counts from it.")]
    last_s: Annotated[float, Meta(description="Time stamp of the last frame, in seconds.")]
    average_rate: Annotated[float, Meta(description="Frames a second that the container states, else as counted.")]
    average_rate_exact: Annotated[str, Meta(description="The same as an exact fraction, such as 30000/1001.")]
    variable_rate: Annotated[bool, Meta(description="Gaps between frames differ by more than rounding explains.")]
    width: Annotated[int, Meta(ge=1, description="Pixels across, as shown: after rotation, pixels not stretched.")]
    height: Annotated[int, Meta(ge=1, description="Pixels down, as shown: after rotation, pixels not stretched.")]
    rotation: Annotated[int, Meta(description="Counter-clockwise turn that the file asks for, as FFmpeg states it.")]
    sample_aspect_ratio: Annotated[str, Meta(description="Width of a stored pixel over its height; 1 if unstated.")]
    codec: str
    pixel_format: str
    container: Annotated[str, Meta(description="FFmpeg's name for the file format.")]
    stream_index: Annotated[int, Meta(ge=0, description="The stream shown: FFmpeg's choice of the best video stream.")]
    video_streams: Annotated[
        tuple[VideoStream, ...],
        Meta(description="Every video stream of the file; only the one at stream_index is shown."),
    ] = ()
    sha256: Annotated[str, Meta(pattern="^[0-9a-f]{64}$")]
    bytes: Annotated[int, Meta(ge=0)]
    truncated: Annotated[bool, Meta(description="The file decodes in part; see truncated_reason.")]
    truncated_reason: str | None = None
    timestamps_synthesised: Annotated[bool, Meta(description="Missing time stamps were made from the rate.")] = False
    pts_not_increasing: Annotated[int, Meta(ge=0, description="Frames whose time stamp is not after the last.")] = 0


class Probe(ClipFacts, frozen=True, kw_only=True):
    """The facts of one clip, and the time stamp of every frame in the order decoded."""

    time_base: Annotated[str, Meta(description="Seconds in a tick of pts, as an exact fraction.")]
    pts: tuple[int, ...]

    @property
    def exact_duration(self) -> Fraction:
        return Fraction(self.duration)

    @property
    def clip_times(self) -> tuple[Fraction, ...]:
        return clip_times(self.pts, Fraction(self.time_base))

    @property
    def facts(self) -> ClipFacts:
        """The facts alone, without a number for each frame."""
        return ClipFacts(**{name: getattr(self, name) for name in ClipFacts.__struct_fields__})
