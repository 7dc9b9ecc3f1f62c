"""When a vehicle can be seen: what is handed on as evidence never runs backwards, and stays in its stretch."""

from hypothesis import given
from hypothesis import strategies as st

from vlmrec.synth.grounding import Sightings

TENTHS = st.lists(st.integers(0, 100), unique=True).map(lambda ticks: tuple(tick / 10 for tick in sorted(ticks)))
HUNDREDTHS = st.integers(0, 1000).map(lambda tick: tick / 100)


@given(seen=TENTHS, one=HUNDREDTHS, other=HUNDREDTHS)
def test_a_stretch_in_sight_lies_inside_the_one_asked_for(seen: tuple[float, ...], one: float, other: float) -> None:
    start, end = min(one, other), max(one, other)
    span = Sightings(seen=seen, hidden=()).within(start, end)
    if span is not None:
        assert start <= span[0] <= span[1] <= end


def test_one_look_just_before_the_stretch_stands_for_its_beginning() -> None:
    assert Sightings(seen=(3.9,), hidden=()).within(3.91, 4.4) == (3.91, 3.91)


def test_nothing_seen_near_the_stretch_is_no_evidence() -> None:
    assert Sightings(seen=(1.0,), hidden=(2.0,)).within(2.0, 3.0) is None
