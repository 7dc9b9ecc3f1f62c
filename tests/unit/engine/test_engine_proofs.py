"""Proofs over the chart data of every version: each is exhaustive, none is sampled."""

from collections.abc import Mapping
from itertools import combinations

import pytest

from vlmrec.engine.compiled import Need, Position
from vlmrec.engine.core import evaluate
from vlmrec.engine.reference import Reference, load_reference, versions
from vlmrec.engine.witness import observed, unknown, witness
from vlmrec.ledger import by_turn
from vlmrec.protocol import EngineStatus, EvaluateRequest
from vlmrec.question import precondition
from vlmrec.terms import TurnKey

UNSEEN_ROWS = {"0.1.1": {("차45-2", "B.start")}, "0.1.3": set()}
"""Rows that a ledger can't see, as the chart's readings say."""


@pytest.fixture(params=versions(), scope="module")
def reference(request: pytest.FixtureRequest) -> Reference:
    return load_reference(request.param)


def name(position: Position) -> tuple[str, str | None, str]:
    return (position.chart.id, None if position.variant is None else position.variant.key, position.self_is)


def contradict(needs: tuple[Need, ...], others: tuple[Need, ...]) -> bool:
    """Some question must be answered with values that have nothing in common."""
    expects = {need.key: set(need.expects) for need in needs}
    return any(need.key in expects and not expects[need.key] & set(need.expects) for need in others)


def test_no_complete_answer_set_meets_two_charts_variants_or_assignments(reference: Reference) -> None:
    # conditions are conjunctions, so two that contradict each other on one question can't both be met
    pairs = combinations(reference.tables.positions, 2)
    compatible = [(name(a), name(b)) for a, b in pairs if not contradict(a.needs, b.needs)]
    assert compatible == []


def test_every_chart_variant_and_assignment_is_confirmed_by_its_witness(reference: Reference) -> None:
    for position in reference.tables.positions:
        evaluation = evaluate(reference, EvaluateRequest(answers=witness(position)))
        assert evaluation.status is EngineStatus.CONFIRMED
        [candidate] = evaluation.candidates
        assert (candidate.chart, candidate.variant, candidate.self_is) == name(position)


def test_every_witness_is_found_by_the_planner_from_nothing(reference: Reference) -> None:
    for position in reference.tables.positions:
        known = by_turn(witness(position))
        answers = []
        while (asked := evaluate(reference, EvaluateRequest(answers=tuple(answers))).next_question) is not None:
            answers.append(known.get(asked.key) or unknown(asked.key))
        evaluation = evaluate(reference, EvaluateRequest(answers=tuple(answers)))
        assert evaluation.status is EngineStatus.CONFIRMED
        assert (evaluation.candidates[0].chart, evaluation.candidates[0].self_is) == name(position)[::2]


def test_what_a_chart_requires_may_be_asked_when_the_rest_of_it_is_met(reference: Reference) -> None:
    for position in reference.tables.positions:
        answers = by_turn(witness(position))
        for key in answers:
            assert precondition(reference.ledger.question(key.question_id), key.party, answers) is True, (
                name(position),
                key,
            )


def test_charts_require_only_what_a_dashcam_can_see(reference: Reference) -> None:
    for position in reference.tables.positions:
        for need in position.needs:
            assert reference.ledger.question(need.key.question_id).observable


def test_every_row_can_be_observed_beside_its_chart(reference: Reference) -> None:
    for position in reference.tables.positions:
        needs = {need.key: set(need.expects) for need in position.needs}
        for row in position.rows:
            possible = [way for way in row.when if fits(needs, way)]
            unseen = (position.chart.id, row.row.name) in UNSEEN_ROWS[reference.ledger.engine_version]
            assert bool(possible) != unseen, (name(position), row.row.name)


def test_an_observed_row_counts_at_its_printed_figure(reference: Reference) -> None:
    for position in reference.tables.positions:
        needs = {need.key: set(need.expects) for need in position.needs}
        for row in position.rows:
            for way in row.when:
                if not fits(needs, way):
                    continue
                answers = by_turn(witness(position))
                for need in way:
                    kept = [value for value in need.expects if value in needs.get(need.key, need.expects)]
                    answers[need.key] = observed(need.key, kept[0])
                evaluation = evaluate(reference, EvaluateRequest(answers=tuple(answers.values())))
                [candidate] = evaluation.candidates
                gated = position.chart.rules.gate == row.row.role and row.row.delta > 0 and position.base_a in (0, 100)
                counted = {(each.code, each.party, each.delta) for each in candidate.modifiers}
                assert ((row.row.code, row.party, row.row.delta) in counted) != gated, (name(position), row.row.name)


def test_the_planner_asks_for_every_visible_row_that_could_still_count(reference: Reference) -> None:
    for position in reference.tables.positions:
        answers = list(witness(position))
        asked: set[TurnKey] = set()
        while (ref := evaluate(reference, EvaluateRequest(answers=tuple(answers))).next_question) is not None:
            asked.add(ref.key)
            answers.append(unknown(ref.key))
        assert all(reference.ledger.question(key.question_id).observable for key in asked)
        wanted = {
            need.key
            for row in position.rows
            if row.row.ask and not (position.chart.rules.gate == row.row.role and row.row.delta > 0)
            for way in row.when
            if fits({answer.key: {answer.value} for answer in witness(position)}, way)
            for need in way
        }
        known = by_turn(answers)
        observable = {key for key in wanted if reference.ledger.question(key.question_id).observable}
        missed = {
            key
            for key in observable - asked - {answer.key for answer in witness(position)}
            if precondition(reference.ledger.question(key.question_id), key.party, known) is not False
        }
        assert missed == set(), name(position)


def fits(needs: Mapping[TurnKey, set[str | None]] | Mapping[TurnKey, set[str]], way: tuple[Need, ...]) -> bool:
    return all(need.key not in needs or needs[need.key] & set(need.expects) for need in way)
