"""When each decoded frame is shown: exact times from time stamps, made from the rate where there are none.

Pure. Clip time is a frame's time minus the first frame's; the duration is last minus first plus the
last frame's own (its packet's, else the gap before it, else 1/rate). First and last are meant in
time: some files hold a frame whose stamp goes back.
"""

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from math import lcm
from typing import NamedTuple


class Timeline(NamedTuple):
    """Times of the frames of one clip in the order decoded, as whole ticks of ``time_base`` seconds."""

    pts: tuple[int, ...]
    time_base: Fraction
    duration: Fraction
    synthesised: bool
    """Some time stamps were missing, and were made from the rate."""

    @property
    def first(self) -> Fraction:
        return min(self.pts) * self.time_base

    @property
    def last(self) -> Fraction:
        return max(self.pts) * self.time_base


def make_timeline(
    pts: Sequence[int | None], time_base: Fraction, *, last_own: int | None, rate: Fraction | None
) -> Timeline:
    """The times of frames whose stamps are ``pts`` ticks of ``time_base``.

    ``last_own`` is the packet duration, in ticks, of the frame that is last in time; ``rate`` the
    frames per second that the stream states. Raises ValueError when a stamp is missing and no rate
    is known to make it from.
    """
    stamps = [tick for tick in pts if tick is not None]
    if len(stamps) < len(pts):
        if rate is None:
            raise ValueError("frames carry no time stamp, and the stream states no frame rate to make them from")
        return _synthesised(pts, time_base, rate)
    return Timeline(tuple(stamps), time_base, _duration(stamps, time_base, last_own, rate), synthesised=False)


def clip_times(pts: Sequence[int], time_base: Fraction) -> tuple[Fraction, ...]:
    """Each frame's clip time in seconds, in the order decoded."""
    first = min(pts)
    return tuple((tick - first) * time_base for tick in pts)


def is_variable(pts: Sequence[int]) -> bool:
    """Whether gaps between frames differ by more than rounding to a whole tick can explain.

    Clocks that run in steps (milliseconds, 1/90000 s) write a constant rate as gaps one tick apart.
    """
    ticks = sorted(pts)
    gaps = [after - before for before, after in pairwise(ticks)]
    return bool(gaps) and max(gaps) - min(gaps) > 1


def seconds(time: Fraction) -> float:
    """``time`` in seconds to the microsecond, for people and JSON; rounded from the exact value."""
    return float(round(time, 6))


def _duration(ticks: Sequence[int], time_base: Fraction, last_own: int | None, rate: Fraction | None) -> Fraction:
    in_time = sorted(ticks)
    span = (in_time[-1] - in_time[0]) * time_base
    if last_own is not None and last_own > 0:
        return span + last_own * time_base
    if len(in_time) > 1 and in_time[-1] > in_time[-2]:
        return span + (in_time[-1] - in_time[-2]) * time_base
    return span + (1 / rate if rate else time_base)


def _synthesised(pts: Sequence[int | None], time_base: Fraction, rate: Fraction) -> Timeline:
    """A missing stamp follows the frame before it by 1/rate; before the first known one, it leads it likewise."""
    step = 1 / rate
    known = next((place for place, tick in enumerate(pts) if tick is not None), None)
    stamp = None if known is None else pts[known]
    time = Fraction(0) if known is None or stamp is None else stamp * time_base - known * step
    times: list[Fraction] = []
    for place, tick in enumerate(pts):
        if tick is not None:
            time = tick * time_base
        elif place > 0:
            time = times[-1] + step
        times.append(time)
    common = Fraction(1, lcm(*(moment.denominator for moment in (*times, step))))
    ticks = tuple(int(moment / common) for moment in times)
    return Timeline(ticks, common, (max(ticks) - min(ticks)) * common + step, synthesised=True)
