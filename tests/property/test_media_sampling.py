"""The laws of frame sampling, over arbitrary clips."""

from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vlmrec.errors import InputError
from vlmrec.media.sampling import (
    FrameCount,
    FramesPerSecond,
    Sampling,
    Window,
    frames_within,
    parse_sampling,
    pick_frames,
    sampling_text,
    target_times,
)

durations = st.fractions(min_value=Fraction(1, 1000), max_value=100, max_denominator=90_000)
rates = st.fractions(min_value=Fraction(1, 50), max_value=120, max_denominator=1001)
samplings: st.SearchStrategy[Sampling] = st.one_of(
    st.builds(FramesPerSecond, rates), st.builds(FrameCount, st.integers(1, 300))
)
clips = st.lists(st.integers(0, 5000), min_size=1, max_size=200).map(
    lambda ticks: [Fraction(tick - min(ticks), 90) for tick in ticks]
)


@given(duration=durations, rate=rates)
def test_targets_of_a_rate_are_all_midpoints_below_the_duration(duration: Fraction, rate: Fraction) -> None:
    targets = target_times(duration, FramesPerSecond(rate))
    midpoints = [(i + Fraction(1, 2)) / rate for i in range(len(targets) + 1)]
    if midpoints[0] >= duration:
        assert targets == [duration / 2]
    else:
        assert targets == midpoints[:-1]
        assert midpoints[-1] >= duration > targets[-1]


@given(duration=durations, count=st.integers(1, 300))
def test_targets_of_a_count_are_the_middles_of_equal_parts(duration: Fraction, count: int) -> None:
    assert target_times(duration, FrameCount(count)) == [(i + Fraction(1, 2)) * duration / count for i in range(count)]


@given(times=clips, duration=durations, sampling=samplings)
def test_the_frames_picked_are_the_nearest_earlier_on_a_tie_none_twice(
    times: list[Fraction], duration: Fraction, sampling: Sampling
) -> None:
    targets = target_times(duration, sampling)
    picked = pick_frames(times, targets)
    nearest = [min(range(len(times)), key=lambda i: (abs(times[i] - t), times[i], i)) for t in targets]
    assert picked == list(dict.fromkeys(nearest))
    assert picked
    assert [times[i] for i in picked] == sorted(times[i] for i in picked)


@given(times=clips, duration=durations, sampling=samplings, bounds=st.tuples(durations, durations))
def test_a_window_shows_no_frame_from_outside_unless_it_holds_none(
    times: list[Fraction], duration: Fraction, sampling: Sampling, bounds: tuple[Fraction, Fraction]
) -> None:
    window = Window(min(bounds) - Fraction(1, 1000), max(bounds))
    if window.start >= duration:
        with pytest.raises(InputError, match="holds nothing"):
            target_times(duration, sampling, window)
        return
    targets = target_times(duration, sampling, window)
    assert all(window.start <= target < window.end for target in targets)
    picked = pick_frames(times, targets, window)
    inside = [i for i, time in enumerate(times) if window.start <= time < window.end]
    assert picked
    assert set(picked) <= set(inside) if inside else len(picked) == 1


@given(times=clips, bounds=st.tuples(durations, durations))
def test_frames_for_a_video_file_follow_each_other_in_time(
    times: list[Fraction], bounds: tuple[Fraction, Fraction]
) -> None:
    whole = frames_within(times)
    assert whole[0] == 0
    for shown in (whole, frames_within(times, Window(min(bounds), max(bounds)))):
        assert shown
        assert all(a < b and times[a] < times[b] for a, b in pairwise(shown))


@given(sampling=samplings)
def test_a_sampling_is_read_back_from_its_text(sampling: Sampling) -> None:
    assert parse_sampling(sampling_text(sampling)) == sampling


def test_ten_seconds_at_two_frames_a_second_give_twenty_frames_at_quarters() -> None:
    times = [Fraction(i, 100) for i in range(1000)]
    targets = target_times(Fraction(10), parse_sampling("frames-2fps"))
    assert targets == [Fraction(1, 4) + Fraction(i, 2) for i in range(20)]
    assert [times[i] for i in pick_frames(times, targets)] == targets


@pytest.mark.parametrize("text", ["frames-0", "frames-0fps", "frames-1/0fps", "frames--4", "8", "frames-4 fps", ""])
def test_a_sampling_that_means_nothing_is_refused(text: str) -> None:
    with pytest.raises(InputError, match=r"frames-|no frame"):
        parse_sampling(text)


def test_a_damaged_duration_can_not_ask_for_millions_of_frames() -> None:
    with pytest.raises(InputError, match="at most"):
        target_times(Fraction(2**40), FramesPerSecond(Fraction(4)))
