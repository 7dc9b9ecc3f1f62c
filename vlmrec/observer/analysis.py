"""From frames to a ``Scene``: one pass over the clip, then the findings."""

from collections.abc import Iterator
from typing import NamedTuple

import cv2
import numpy as np

from vlmrec.observer.flow import Gray, track_corners
from vlmrec.observer.footage import Frame
from vlmrec.observer.scene import EgoState, Scene, Span

MAX_GAP = 0.5  # s between frames beyond which flow means nothing
STILL_SPEED = 4.0  # px/s of median flow, at 640 px width: below it the camera stands
MOVING_SPEED = 10.0  # px/s: above it it moves; between the two nothing is said
MIN_POINTS = 25
MIN_SPAN = 0.6  # s that a state must last


class _Step(NamedTuple):
    time: float
    speed: float | None  # px/s of the picture's lower part; None where it can't be had


def analyse(frames: Iterator[Frame]) -> Scene:
    """The scene in ``frames``. Deterministic: one thread, no randomness."""
    cv2.setNumThreads(1)
    steps: list[_Step] = []
    before: tuple[float, Gray] | None = None
    count = 0
    timed = True
    start = end = 0.0
    for frame in frames:
        if frame.time is None:
            timed = False
        count += 1
        time = frame.time or 0.0
        start = time if count == 1 else start
        end = time
        gray = np.asarray(cv2.cvtColor(frame.picture, cv2.COLOR_BGR2GRAY), np.uint8)
        if before is not None and 0 < time - before[0] <= MAX_GAP:
            speed = _picture_speed(before[1], gray)
            steps.append(_Step(time, None if speed is None else speed / (time - before[0])))
        before = (time, gray)
    if not timed or len(steps) < 8:
        return Scene(count, start, end, False, "too few frames with known times to measure motion")
    return Scene(count, start, end, True, "", _ego_spans(steps))


def _picture_speed(before: Gray, after: Gray) -> float | None:
    """Median length of the flow in the picture's lower part, in px at 640 px width."""
    height, width = before.shape
    mask = np.zeros_like(before)
    mask[int(height * 0.45) : int(height * 0.9)] = 255
    flow = track_corners(before, after, mask=mask)
    if len(flow.before) < MIN_POINTS:
        return None
    return float(np.median(np.linalg.norm(flow.moved, axis=1)) * 640 / width)


def _ego_spans(steps: list[_Step]) -> tuple[Span, ...]:
    """Stretches of one state, by a majority of the steps within a third of a second, short ones left out."""
    spans: list[Span] = []
    times = np.array([step.time for step in steps])
    speeds = np.array([np.nan if step.speed is None else step.speed for step in steps])
    run: list[float] = []
    state: EgoState | None = None
    for time in times:
        near = speeds[(np.abs(times - time) <= 0.3)]
        known = near[~np.isnan(near)]
        now: EgoState | None = None
        if len(known) >= max(2, 0.6 * len(near)):
            middle = float(np.median(known))
            now = "stopped" if middle < STILL_SPEED else "moving" if middle > MOVING_SPEED else None
        if now != state:
            _close(spans, run, state)
            run = []
            state = now
        run.append(float(time))
    _close(spans, run, state)
    return tuple(spans)


def _close(spans: list[Span], run: list[float], state: EgoState | None) -> None:
    if state is not None and run[-1] - run[0] >= MIN_SPAN:
        spans.append(Span(run[0], run[-1], state, 0.8))
