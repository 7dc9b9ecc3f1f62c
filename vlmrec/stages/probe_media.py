"""Media that a probe sends: a small moving clip, stills, and the same clip made heavier without changing a frame."""

import base64
import hashlib
import io
from fractions import Fraction
from typing import Any, NamedTuple

WIDTH, HEIGHT, FPS, SECONDS = 640, 360, 30, 4
FRAMES = FPS * SECONDS


class ProbeMedia(NamedTuple):
    """A body, and the plan that made it."""

    name: str
    body: bytes
    media_type: str
    plan: dict[str, Any]

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.body).hexdigest()

    def part(self) -> dict[str, Any]:
        """The content part that carries the body as a data URL."""
        return self._part(f"data:{self.media_type};base64,{base64.b64encode(self.body).decode('ascii')}")

    def loggable(self) -> dict[str, Any]:
        """The same part as a log may hold it."""
        return self._part({"sha256": self.sha256, "media_type": self.media_type, "bytes": len(self.body)})

    def _part(self, url: Any) -> dict[str, Any]:
        kind = "video_url" if self.media_type.startswith("video/") else "image_url"
        return {"type": kind, kind: {"url": url}}


def make_clip() -> ProbeMedia:
    """Four seconds of a bright bar that crosses a dark picture, as H.264 in MP4."""
    import av
    import numpy as np

    file = io.BytesIO()
    with av.open(file, "w", format="mp4") as output:
        stream: Any = output.add_stream(
            "libx264", rate=FPS, options={"crf": "28", "preset": "veryfast", "threads": "1"}
        )
        stream.width, stream.height, stream.pix_fmt = WIDTH, HEIGHT, "yuv420p"
        stream.codec_context.time_base = Fraction(1, FPS)
        for number in range(FRAMES):
            picture = np.full((HEIGHT, WIDTH, 3), 40, np.uint8)
            left = (WIDTH - 60) * number // (FRAMES - 1)
            picture[120:240, left : left + 60] = 220
            frame = av.VideoFrame.from_ndarray(picture, format="rgb24")
            frame.pts, frame.time_base = number, Fraction(1, FPS)
            output.mux(stream.encode(frame))
        output.mux(stream.encode(None))
    plan = {
        "type": "probe_clip",
        "size": [WIDTH, HEIGHT],
        "frames": FRAMES,
        "fps": FPS,
        "encoder": f"libx264, PyAV {av.__version__}",
    }
    return ProbeMedia("clip", file.getvalue(), "video/mp4", plan)


def make_still(number: int) -> ProbeMedia:
    """A small JPEG that differs by its number."""
    import numpy as np
    from PIL import Image

    picture = np.full((180, 320, 3), 30 + number % 200, np.uint8)
    picture[60:120, (number * 17) % 260 : (number * 17) % 260 + 50] = 230
    file = io.BytesIO()
    Image.fromarray(picture).save(file, "JPEG", quality=80)
    return ProbeMedia(f"still-{number}", file.getvalue(), "image/jpeg", {"type": "probe_still", "number": number})


def padded(clip: ProbeMedia, size: int) -> ProbeMedia:
    """``clip`` as a file of ``size`` bytes: an MP4 box that readers pass over is appended."""
    missing = max(8, size - len(clip.body))
    box = missing.to_bytes(4, "big") + b"free" + bytes(missing - 8)
    return ProbeMedia(f"clip-{size}", clip.body + box, clip.media_type, {**clip.plan, "padded_to": size})
