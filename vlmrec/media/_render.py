"""The worker's ``frames``: decode forward once, and turn the chosen frames into JPEG files.

Holds one picture at a time; each file leaves as soon as it is made. Scaling uses FFmpeg's bit-exact
arithmetic, so that the processor's special instructions make no difference to the bytes.
"""

import io
from pathlib import Path
from typing import Any

from av.video.reformatter import Interpolation
from msgspec import Struct, convert
from PIL import Image, ImageDraw, ImageFont

from vlmrec.media._decode import Decoding, Fault, opened
from vlmrec.media._scan import file_digest, quarter_turns
from vlmrec.media._wire import Emit
from vlmrec.media.plan import fitted_size

EXACT = Interpolation.ACCURATE_RND | Interpolation.BITEXACT
SCALED = Interpolation.BICUBIC | EXACT
UNSCALED = Interpolation.POINT | EXACT
"""Colour samples are repeated, not blended: JPEG and H.264 store one for four pixels again, and so get them back."""

UPRIGHT = (None, Image.Transpose.ROTATE_90, Image.Transpose.ROTATE_180, Image.Transpose.ROTATE_270)


class Wanted(Struct, frozen=True, kw_only=True):
    """A frame to show."""

    index: int
    """Its place as decoded."""
    pts: int | None
    """The time stamp it must have; None where that was made from the rate."""
    clock: str | None
    """What to write into the picture."""
    shown_at: int = 0
    """Ticks from the start of a new video file."""


def frames(
    path: Path,
    emit: Emit,
    *,
    source_sha256: str,
    wanted: list[dict[str, Any]],
    max_pixels: int | None,
    quality: int,
) -> list[tuple[int, int, int]]:
    """Give the wanted frames as JPEG files, in the order decoded; return each one's index, width and height."""
    made: list[tuple[int, int, int]] = []
    for frame, want in wanted_frames(path, emit, source_sha256, convert(wanted, list[Wanted])):
        image = upright_image(frame, max_pixels, multiple=1)
        if want.clock is not None:
            burn(image, want.clock)
        body = io.BytesIO()
        image.save(body, "JPEG", quality=quality, subsampling="4:2:0")
        emit.item(body.getvalue())
        made.append((want.index, image.width, image.height))
    return made


def wanted_frames(path: Path, emit: Emit, source_sha256: str, wanted: list[Wanted]) -> Any:
    """Iterate over (decoded frame, what was wanted of it), in the order decoded; none after the last wanted."""
    if file_digest(path, emit)[0] != source_sha256:
        raise Fault("has other bytes than when it was probed; probe it again")
    by_index = {want.index: want for want in wanted}
    if not by_index:
        return
    last = max(by_index)
    with opened(path) as (container, stream):
        decoding = Decoding(container, stream)
        for index, frame in enumerate(decoding):
            emit.progress()
            if (want := by_index.get(index)) is not None:
                if want.pts is not None and want.pts != frame.pts:
                    raise Fault(f"frame {index} has the time stamp {frame.pts}, not {want.pts} as when it was probed")
                yield frame, want
            if index == last:
                return
    raise Fault(f"frame {last} can't be decoded again: {decoding.stopped or 'the stream ends before it'}")


def upright_image(frame: Any, max_pixels: int | None, *, multiple: int) -> Image.Image:
    """The frame as RGB, scaled to the limit, turned as the file asks."""
    turns = quarter_turns(frame.rotation)
    sides = (frame.width, frame.height) if turns % 2 == 0 else (frame.height, frame.width)
    size = fitted_size(*sides, max_pixels, multiple=multiple)
    width, height = size if turns % 2 == 0 else size[::-1]
    scaling = UNSCALED if (width, height) == (frame.width, frame.height) else SCALED
    rgb = frame.reformat(width=width, height=height, format="rgb0", interpolation=scaling)
    # `frame.to_image` does the same, but copies line by line and takes four times as long
    plane: Any = rgb.planes[0]
    image = Image.frombuffer("RGB", (width, height), plane, "raw", "RGBX", plane.line_size, 1)
    turn = UPRIGHT[turns]
    return image if turn is None else image.transpose(turn)


def burn(image: Image.Image, text: str) -> None:
    """Write ``text`` into the top left corner, light on dark, its height a twentieth of the picture's."""
    pixels = max(10, image.height // 20)
    font = ImageFont.load_default(pixels)
    draw = ImageDraw.Draw(image)
    left, top, right, bottom = draw.textbbox((pixels // 2, pixels // 2), text, font=font)
    margin = pixels // 4
    draw.rectangle((left - margin, top - margin, right + margin, bottom + margin), fill=(0, 0, 0))
    draw.text((pixels // 2, pixels // 2), text, font=font, fill=(255, 255, 255))
