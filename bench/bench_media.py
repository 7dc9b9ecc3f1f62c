"""Sampling frames beside decoding every frame with bare PyAV, on a 10 s clip of 1280 x 720 at 15 frames a second.

The bare loop opens the file and decodes it, on one thread as ours does, and keeps nothing. Ours
chooses frames at 2 a second and makes JPEG files of them in a running helper process: once for a
clip that was probed before, and once with the probe, as a run meets a clip for the first time.

    python bench/bench_media.py
"""

import json
import tempfile
import time
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from statistics import median

import av
import numpy as np

from vlmrec.media.frames import extract_frames
from vlmrec.media.plan import plan_frames
from vlmrec.media.probe import probe
from vlmrec.media.sampling import parse_sampling

ROUNDS = 9
SAMPLING = parse_sampling("frames-2fps")


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        clip = make_clip(Path(folder) / "clip.mp4")
        plan = plan_frames(probe(clip), SAMPLING)
        ours: dict[str, Callable[[], object]] = {
            "sample 20 frames of a probed 10 s clip": lambda: extract_frames(clip, plan),
            "probe a 10 s clip": lambda: probe(clip),
            "probe and sample a 10 s clip": lambda: extract_frames(clip, plan_frames(probe(clip), SAMPLING)),
        }
        for name, action in ours.items():
            rounds = [(seconds(action), seconds(lambda: decode_all(clip))) for _ in range(ROUNDS)]
            measured, beside = (median(column) * 1000 for column in zip(*rounds, strict=True))
            figure = {"name": f"{name}, beside bare decoding", "measured": measured, "beside": beside, "unit": "ms"}
            print(json.dumps({**figure, "ratio": measured / beside}))


def make_clip(path: Path) -> Path:
    """Moving texture with some noise: about what a road costs to decode."""
    rng = np.random.default_rng(7)
    texture = (rng.random((720, 2560, 3)) * 255).astype(np.uint8)
    texture = (texture // 8 + np.linspace(40, 180, 2560, dtype=np.uint8)[None, :, None]).astype(np.uint8)
    with av.open(str(path), "w") as output:
        stream = output.add_stream("libx264", rate=15, options={"crf": "23", "preset": "veryfast"})
        stream.width, stream.height, stream.pix_fmt = 1280, 720, "yuv420p"
        for number in range(150):
            picture = np.ascontiguousarray(texture[:, number * 8 : number * 8 + 1280])
            frame = av.VideoFrame.from_ndarray(picture, format="rgb24")
            frame.pts, frame.time_base = number, Fraction(1, 15)
            output.mux(stream.encode(frame))
        output.mux(stream.encode(None))
    return path


def decode_all(path: Path) -> int:
    with av.open(str(path)) as container:
        stream = container.streams.video[0]
        stream.thread_type = "NONE"
        return sum(1 for _ in container.decode(stream))


def seconds(action: Callable[[], object]) -> float:
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


if __name__ == "__main__":
    main()
