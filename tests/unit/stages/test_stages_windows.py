"""Which part of a clip a question is shown under V=window, and how densely."""

from fractions import Fraction

import pytest

from vlmrec.engine.reference import load_reference, versions
from vlmrec.stages.condition import parse_condition
from vlmrec.stages.windows import Family, media_spec, window_of

LEDGER = load_reference(versions()[-1]).ledger
WINDOW = parse_condition("V=window,S2")


@pytest.mark.parametrize(
    ("question", "family"),
    [
        ("q_motion_at_contact", "contact"),
        ("q_contact_area", "contact"),
        ("q_collision", "contact"),
        ("q_maneuver", "contact"),
        ("q_direction_relation", "wide"),
        ("q_congestion", "wide"),
        ("q_turn_signal", "signal"),
        ("q_lane_line", "signal"),
    ],
)
def test_time_scope_subject_and_viewpoint_choose_the_window(question: str, family: Family) -> None:
    assert window_of(WINDOW, LEDGER.question(question)) == family
    assert window_of(parse_condition("V=frames-8"), LEDGER.question(question)) == "whole"


def test_every_question_has_a_window_and_all_families_are_used() -> None:
    families = {window_of(WINDOW, question) for question in LEDGER.questions if question.observable}
    assert families == {"contact", "signal", "wide"}


@pytest.mark.parametrize(
    ("contact", "window"),
    [(8.0, ("3", "9")), (2.5, ("0", "7/2")), (9.8, ("24/5", "10")), (None, None), (99.0, None)],
)
def test_the_contact_window_is_dense_around_the_contact_and_stays_inside_the_clip(
    contact: float | None, window: tuple[str, str] | None
) -> None:
    spec = media_spec(WINDOW, "contact", contact=contact, duration=Fraction(10))
    assert (spec.sampling, spec.window) == ("frames-8fps", window)
    for family in ("signal", "wide", "whole"):
        assert media_spec(WINDOW, family, contact=contact, duration=Fraction(10)).window is None
