"""Published decided cases: the right chart is confirmed, and where the decision lies outside the range a row is named."""

import pytest

from vlmrec.engine.cases import DecidedCase, decided_cases, judge
from vlmrec.engine.reference import load_reference, versions

CASES = decided_cases()


@pytest.mark.parametrize("version", versions())
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.case)
def test_the_right_chart_is_confirmed_with_its_base(version: str, case: DecidedCase) -> None:
    reference = load_reference(version)
    result = judge(reference, case)
    assert result.confirmed == case.chart
    assert (reference.chart(case.chart).base_a, 100 - reference.chart(case.chart).base_a) == case.base


@pytest.mark.parametrize("version", versions())
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.case)
def test_a_decision_outside_the_range_names_a_printed_row_that_does_not_count(version: str, case: DecidedCase) -> None:
    reference = load_reference(version)
    result = judge(reference, case)
    assert result.within == (case.missing_row is None)
    if case.missing_row is not None:
        assert case.missing_row.row in {row.name for row in reference.chart(case.chart).rows}
        assert not result.rows


@pytest.mark.parametrize("version", versions())
def test_every_answer_is_marked_as_selector_or_fact_truthfully(version: str) -> None:
    reference = load_reference(version)
    for case in CASES:
        asked = {(each.question, each.role) for each in reference.chart(case.chart).where}
        asked |= {(gate.question, gate.party) for gate in reference.chapter.gates}
        for answer in case.answers[version]:
            role = {"self": "A", "other": "B", "none": "none"}[answer.party]
            assert (answer.source == "selector") == ((answer.question_id, role) in asked)


def test_there_are_ten_cases_and_two_lie_outside() -> None:
    assert len(CASES) == 10
    assert [case.case for case in CASES if case.missing_row] == ["2019-039292", "2019-007380"]
