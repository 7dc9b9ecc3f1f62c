"""Which frames stand for a clip: target times, and the frame shown at each of them.

Pure and exact: times are rationals in clip time (seconds since the first frame), so that the same
clip and rule give the same frames on every machine. The rule is design.md's, under Frames: targets
are interval midpoints; the frame shown at a target is the nearest, the earlier on a tie; no frame
is shown twice, so very short clips give fewer; one frame at least is always shown.
"""

import re
from bisect import bisect_left
from collections.abc import Sequence
from fractions import Fraction
from math import ceil
from typing import NamedTuple

from vlmrec.errors import InputError

MAX_TARGETS = 100_000
"""Above this a request is a mistake or a damaged time stamp; refused before memory is spent on it."""


class FramesPerSecond(NamedTuple):
    """``frames-Xfps``: targets at (i + 1/2)/X, below the duration."""

    rate: Fraction


class FrameCount(NamedTuple):
    """``frames-N``: targets at (i + 1/2)·duration/N."""

    frames: int


Sampling = FramesPerSecond | FrameCount


class Window(NamedTuple):
    """A part of a clip, in clip time: from ``start`` to just below ``end``."""

    start: Fraction
    end: Fraction


def target_times(duration: Fraction, sampling: Sampling, window: Window | None = None) -> list[Fraction]:
    """The times at which ``sampling`` looks at a clip, or at a window of it: increasing, at least one.

    A window is cut to the clip; its targets are those of a clip that begins at its start. Raises
    InputError for a rate or count that isn't positive, for a window with nothing of the clip in it,
    and for more than ``MAX_TARGETS`` targets.
    """
    start, end = Window(Fraction(0), duration) if window is None else cut_window(duration, window)
    length = end - start
    if isinstance(sampling, FramesPerSecond):
        if sampling.rate <= 0:
            raise InputError(f"a frame rate must be above 0, not {sampling.rate}")
        step, count = 1 / sampling.rate, ceil(length * sampling.rate - Fraction(1, 2))
    else:
        if sampling.frames < 1:
            raise InputError(f"a number of frames must be at least 1, not {sampling.frames}")
        step, count = length / sampling.frames, sampling.frames
    if count > MAX_TARGETS:
        raise InputError(
            f"{sampling_text(sampling)} over {float(length):.3f} s asks for {count} frames; at most {MAX_TARGETS} "
            "are allowed: ask for a lower rate, or check the time stamps with `vlmrec media probe`"
        )
    if count < 1:
        return [start + length / 2]
    return [start + (2 * i + 1) * step / 2 for i in range(count)]


def cut_window(duration: Fraction, window: Window) -> Window:
    """The part of ``window`` that lies in a clip of this duration. Raises InputError where nothing does."""
    cut = Window(max(window.start, Fraction(0)), min(window.end, duration))
    if cut.start >= cut.end:
        raise InputError(
            f"the window {float(window.start):.3f} to {float(window.end):.3f} s holds nothing of a clip "
            f"of {float(duration):.3f} s; give a start below its end, inside the clip"
        )
    return cut


def pick_frames(times: Sequence[Fraction], targets: Sequence[Fraction], window: Window | None = None) -> list[int]:
    """The places in ``times`` (clip times of the frames as decoded) shown at ``targets``, in order of time, none twice.

    With a window only the frames inside it are shown; where none is inside, the one nearest to its
    middle. ``times`` need not increase: of frames with one time the first decoded is shown.
    """
    if not times:
        raise ValueError("a clip without a frame has nothing to pick from")
    order = sorted(range(len(times)), key=lambda place: (times[place], place))
    if window is not None:
        inside = [place for place in order if window.start <= times[place] < window.end]
        if not inside:
            targets = [(window.start + window.end) / 2]
        order = inside or order
    sorted_times = [times[place] for place in order]
    picked: dict[int, None] = {}
    for target in sorted(targets):
        picked[order[_nearest(sorted_times, target)]] = None
    return list(picked)


def frames_within(times: Sequence[Fraction], window: Window | None = None) -> list[int]:
    """The places of all frames in ``window`` (or the clip) that can follow each other in a video file.

    In the order decoded, times strictly increasing: a frame whose time stamp goes back is left out.
    Where the window holds no frame, the one nearest to its middle.
    """
    shown: list[int] = []
    for place, time in enumerate(times):
        inside = window is None or window.start <= time < window.end
        if inside and (not shown or time > times[shown[-1]]):
            shown.append(place)
    if not shown and window is not None:
        return pick_frames(times, [(window.start + window.end) / 2])
    return shown


def sampling_text(sampling: Sampling) -> str:
    """``frames-4fps``, ``frames-8``: as the V axis writes it, and ``parse_sampling`` reads it."""
    if isinstance(sampling, FramesPerSecond):
        return f"frames-{_rate_text(sampling.rate)}fps"
    return f"frames-{sampling.frames}"


def parse_sampling(text: str) -> Sampling:
    """Read ``frames-N`` or ``frames-Xfps`` (X a decimal or a fraction: 4, 0.5, 30000/1001)."""
    if match := re.fullmatch(r"frames-(\d{1,9})", text):
        sampling: Sampling = FrameCount(int(match[1]))
    elif match := re.fullmatch(r"frames-(\d{1,9}(?:\.\d{1,9}|/\d{1,9})?)fps", text):
        sampling = FramesPerSecond(_fraction(match[1], text))
    else:
        raise InputError(f"{text!r} is not a frame sampling; write frames-8 (a number) or frames-4fps (a rate)")
    if (sampling.frames if isinstance(sampling, FrameCount) else sampling.rate) <= 0:
        raise InputError(f"{text!r} asks for no frame at all; the number must be above 0")
    return sampling


def parse_window(start: str, end: str) -> Window:
    """Read a window from two times in seconds, each a decimal or a fraction (4.25, 17/4)."""
    times = []
    for text in (start, end):
        try:
            times.append(Fraction(text))
        except (ValueError, ZeroDivisionError):
            raise InputError(f"{text!r} is not a time; write seconds as 4.25, or an exact fraction as 17/4") from None
    return Window(*times)


def _nearest(times: Sequence[Fraction], target: Fraction) -> int:
    after = bisect_left(times, target)
    if after == 0:
        return 0
    before = bisect_left(times, times[after - 1])  # of equal times, the first decoded
    if after == len(times) or target - times[before] <= times[after] - target:
        return before
    return after


def _rate_text(rate: Fraction) -> str:
    scaled = rate * 10**9
    if rate.denominator == 1 or scaled.denominator != 1:
        return str(rate)
    whole, part = divmod(scaled.numerator, 10**9)
    return f"{whole}.{part:09d}".rstrip("0")


def _fraction(number: str, text: str) -> Fraction:
    try:
        return Fraction(number)
    except ZeroDivisionError:
        raise InputError(f"{text!r} divides by zero; write a rate such as frames-4fps") from None
