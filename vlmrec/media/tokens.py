"""How many prompt tokens a video or image costs on a Qwen3-VL style server (Cosmos-Reason2, Cosmos3).

Pure. Follows the sampler and the processor of vLLM 0.32 with transformers 5.19 in their own floating
point arithmetic; compared with what a server counted, it tells whether a frame rate or a pixel limit
was obeyed. Text and chat template aren't included: measure them once with ``/tokenize``.

Two frames share one grid of 32 x 32 pixel cells; each pair also carries a time label and two markers.
"""

from math import ceil, floor, sqrt
from typing import NamedTuple

CELL = 32
"""Pixels along a token's side: patch of 16, merged 2 by 2."""

DEFAULT_FPS = 2.0
MIN_FRAMES, MAX_FRAMES = 4, 768
SHORTEST_EDGE, LONGEST_EDGE = 4096, 25_165_824
"""Limits on frames x height x width of a whole clip, despite their names in the configuration."""
IMAGE_SHORTEST_EDGE, IMAGE_LONGEST_EDGE = 65_536, 16_777_216


class VideoTokens(NamedTuple):
    """What a server makes of a clip."""

    frames: int
    width: int
    height: int
    tokens: int


def video_tokens(
    total_frames: int,
    source_fps: float,
    width: int,
    height: int,
    *,
    fps: float = DEFAULT_FPS,
    shortest_edge: int = SHORTEST_EDGE,
    longest_edge: int = LONGEST_EDGE,
) -> VideoTokens:
    """Frames used, their size after scaling, and tokens, for a clip sent whole with ``fps`` asked for."""
    count = sampled_frames(total_frames, source_fps, fps)
    last = total_frames - 1
    places = [round(i * last / (count - 1)) for i in range(count)] if count > 1 else [0]
    return video_tokens_of([place / source_fps for place in places], width, height, shortest_edge, longest_edge)


def video_tokens_of(
    times: list[float],
    width: int,
    height: int,
    shortest_edge: int = SHORTEST_EDGE,
    longest_edge: int = LONGEST_EDGE,
) -> VideoTokens:
    """The same for frames already chosen, at these times in seconds."""
    count = len(times)
    rows, columns = _scaled(count, round(count / 2) * 2, height, width, shortest_edge, longest_edge)
    paired = times if count % 2 == 0 else [*times, times[-1]]  # an odd last frame is doubled
    labels = [(first + second) / 2 for first, second in zip(paired[::2], paired[1::2], strict=True)]
    cells = (rows // CELL) * (columns // CELL)
    return VideoTokens(count, columns, rows, sum(cells + _label_tokens(label) for label in labels))


def image_tokens(
    width: int, height: int, *, shortest_edge: int = IMAGE_SHORTEST_EDGE, longest_edge: int = IMAGE_LONGEST_EDGE
) -> int:
    """Tokens of one image part, without its two markers."""
    rows, columns = _scaled(1, 1, height, width, shortest_edge, longest_edge)
    return (rows // CELL) * (columns // CELL)


def sampled_frames(total_frames: int, source_fps: float, fps: float = DEFAULT_FPS) -> int:
    """Frames that the server looks at.

    Asked for every frame it has, it samples again at its own default: a rate at or above the clip's
    own gives no more than 2 frames a second.
    """
    count = _frames_at(total_frames, source_fps, fps)
    return count if count < total_frames else _frames_at(total_frames, source_fps, DEFAULT_FPS)


def _frames_at(total_frames: int, source_fps: float, fps: float) -> int:
    return min(max(int(total_frames / source_fps * fps), MIN_FRAMES), MAX_FRAMES, total_frames)


def _scaled(count: int, counted: int, height: int, width: int, lowest: int, highest: int) -> tuple[int, int]:
    rows, columns = round(height / CELL) * CELL, round(width / CELL) * CELL
    if counted * rows * columns > highest:
        by = sqrt(count * height * width / highest)
        return max(CELL, floor(height / by / CELL) * CELL), max(CELL, floor(width / by / CELL) * CELL)
    if counted * rows * columns < lowest:
        by = sqrt(lowest / (count * height * width))
        return ceil(height * by / CELL) * CELL, ceil(width * by / CELL) * CELL
    return rows, columns


def _label_tokens(seconds: float) -> int:
    """``<1.3 seconds>`` and two vision markers; each digit is a token."""
    return 5 + len(f"{seconds:.1f}")
