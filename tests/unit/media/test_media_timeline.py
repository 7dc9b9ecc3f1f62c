"""Exact times from time stamps, and from the rate where there are none."""

from fractions import Fraction

import pytest

from vlmrec.media.timeline import clip_times, is_variable, make_timeline, seconds

TICK = Fraction(1, 10)


def test_the_duration_ends_with_the_last_frames_own() -> None:
    assert make_timeline([3, 4, 5], TICK, last_own=4, rate=Fraction(10)).duration == Fraction(6, 10)


def test_without_a_packet_duration_the_gap_before_the_last_frame_stands_for_it() -> None:
    assert make_timeline([0, 1, 4], TICK, last_own=None, rate=Fraction(10)).duration == Fraction(7, 10)
    assert make_timeline([0, 1, 4], TICK, last_own=0, rate=None).duration == Fraction(7, 10)


def test_a_single_frame_without_a_duration_lasts_one_over_the_rate() -> None:
    assert make_timeline([7], TICK, last_own=None, rate=Fraction(25)).duration == Fraction(1, 25)


def test_first_and_last_are_meant_in_time_also_where_a_stamp_goes_back() -> None:
    line = make_timeline([0, 3, 2, 5], TICK, last_own=1, rate=None)
    assert (line.first, line.last, line.duration) == (0, Fraction(1, 2), Fraction(6, 10))
    assert clip_times(line.pts, line.time_base) == (0, Fraction(3, 10), Fraction(2, 10), Fraction(5, 10))


def test_a_stream_without_stamps_is_timed_from_its_rate_and_flagged() -> None:
    line = make_timeline([None] * 4, Fraction(1, 1_200_000), last_own=None, rate=Fraction(30000, 1001))
    assert line.synthesised
    assert clip_times(line.pts, line.time_base) == tuple(i * Fraction(1001, 30000) for i in range(4))
    assert line.duration == 4 * Fraction(1001, 30000)


def test_a_missing_stamp_follows_the_one_before_it_and_leads_the_first() -> None:
    line = make_timeline([None, 10, None, 20], TICK, last_own=None, rate=Fraction(4))
    assert line.synthesised
    assert [tick * line.time_base for tick in line.pts] == [Fraction(3, 4), 1, Fraction(5, 4), 2]


def test_stamps_that_can_not_be_made_are_an_error() -> None:
    with pytest.raises(ValueError, match="no frame rate"):
        make_timeline([None], TICK, last_own=None, rate=None)


@pytest.mark.parametrize(
    ("ticks", "variable"),
    [([0], False), ([0, 33, 67, 100, 133], False), ([0, 3000, 6000, 9150], True), ([0, 1], False)],
)
def test_rounding_to_a_tick_is_no_variable_rate(ticks: list[int], variable: bool) -> None:
    assert is_variable(ticks) is variable


def test_seconds_are_rounded_from_the_exact_value() -> None:
    assert seconds(Fraction(471301, 90000)) == 5.236678
    assert seconds(Fraction(1, 3)) == 0.333333
