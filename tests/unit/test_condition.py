"""The condition's id is one string per setting, in any order of writing."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vlmrec.errors import InputError
from vlmrec.stages.condition import (
    Condition,
    axis_values,
    canonical_id,
    check_condition,
    condition_from_axes,
    difference,
    parse_condition,
)

conditions = st.builds(
    Condition,
    model=st.sampled_from(["openrouter/qwen3.5-plus", "observer/classical", "replay:run-1"]),
    video=st.sampled_from(["frames-8", "frames-4fps", "frames-0.5fps"]),
    pixels=st.sampled_from(["native", "200704"]),
    context=st.sampled_from("012"),
    definitions=st.sampled_from("01"),
    repetition=st.sampled_from(["1", "3", "15"]),
    grounding=st.sampled_from("0123"),
    stages=st.sampled_from("012"),
    format=st.sampled_from(["prompt", "schema"]),
    language=st.sampled_from(["ko", "en"]),
    order=st.sampled_from(["ledger", "shuffle-7"]),
)


@given(conditions, st.randoms())
def test_an_id_parses_back_to_its_condition_in_any_order_of_settings(condition: Condition, random: object) -> None:
    settings = canonical_id(condition).split(",")
    random.shuffle(settings)  # type: ignore[attr-defined]  # hypothesis' Random is typed as object in a signature
    assert parse_condition(",".join(settings)) == condition
    assert condition_from_axes(axis_values(condition)) == condition


def test_the_id_prints_every_axis_in_the_order_of_the_table() -> None:
    condition = parse_condition("S2,G3,V=frames-4fps,F=schema,M=openrouter/qwen3.5-plus")
    expected = "M=openrouter/qwen3.5-plus,V=frames-4fps,P=native,A0,C0,R1,G3,Q=choice,S2,F=schema,L=ko,O=ledger"
    assert canonical_id(condition) == expected


def test_the_difference_names_only_the_axes_that_differ() -> None:
    assert difference(parse_condition("R5"), parse_condition("R3,L=en")) == {"R": ("5", "3"), "L": ("ko", "en")}


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("X1", "X1"),
        ("A7", "A=7"),
        ("V=half", "V=half"),
        ("V=frames-0fps", "frames-0fps"),
        ("A1,A=2", "axis A is set twice"),
        ("Q=describe-map,F=schema", "F=schema"),
        ("V=window,S1", "S1"),
        ("P=1000", "V=full"),
        ("A", "'A'"),
    ],
)
def test_a_condition_that_makes_no_sense_is_refused_with_the_reason(text: str, named: str) -> None:
    with pytest.raises(InputError, match=named.replace("=", "=")):
        parse_condition(text)


def test_a_checked_condition_is_returned_as_it_is() -> None:
    assert check_condition(Condition()) == Condition()
