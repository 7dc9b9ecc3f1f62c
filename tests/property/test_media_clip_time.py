"""The laws of clip time, over arbitrary time stamps."""

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from vlmrec.media.timeline import clip_times, make_timeline

bases = st.sampled_from([Fraction(1, 25), Fraction(1, 1000), Fraction(1, 90_000), Fraction(1001, 30_000)])
rates = st.sampled_from([Fraction(4), Fraction(25), Fraction(30_000, 1001)])
stamps = st.lists(st.integers(-(2**40), 2**40), min_size=1, max_size=50)
some_missing = st.lists(st.one_of(st.none(), st.integers(0, 10_000)), min_size=1, max_size=50)


@given(
    pts=stamps,
    base=bases,
    rate=rates,
    own=st.one_of(st.none(), st.integers(0, 100)),
    shift=st.integers(-(2**33), 2**33),
)
def test_clip_time_does_not_depend_on_where_stamps_begin(
    pts: list[int], base: Fraction, rate: Fraction, own: int | None, shift: int
) -> None:
    here = make_timeline(pts, base, last_own=own, rate=rate)
    there = make_timeline([tick + shift for tick in pts], base, last_own=own, rate=rate)
    assert clip_times(here.pts, here.time_base) == clip_times(there.pts, there.time_base)
    assert here.duration == there.duration


@given(pts=some_missing, base=bases, rate=rates, own=st.one_of(st.none(), st.integers(0, 100)))
def test_every_frame_lies_inside_the_clip(
    pts: list[int | None], base: Fraction, rate: Fraction, own: int | None
) -> None:
    line = make_timeline(pts, base, last_own=own, rate=rate)
    times = clip_times(line.pts, line.time_base)
    assert len(times) == len(pts)
    assert min(times) == 0
    assert max(times) < line.duration
    assert line.synthesised == (None in pts)


@given(pts=some_missing, base=bases, rate=rates)
def test_stamps_that_are_there_are_kept_exactly(pts: list[int | None], base: Fraction, rate: Fraction) -> None:
    line = make_timeline(pts, base, last_own=None, rate=rate)
    for given_tick, tick in zip(pts, line.pts, strict=True):
        if given_tick is not None:
            assert tick * line.time_base == given_tick * base


@given(count=st.integers(1, 200), base=bases, rate=rates)
def test_without_any_stamp_frames_are_one_over_the_rate_apart(count: int, base: Fraction, rate: Fraction) -> None:
    line = make_timeline([None] * count, base, last_own=None, rate=rate)
    assert clip_times(line.pts, line.time_base) == tuple(place / rate for place in range(count))
    assert line.duration == count / rate
