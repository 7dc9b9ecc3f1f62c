"""The laws of evaluation, over arbitrary answer sets, for every embedded version."""

import msgspec
import pytest
from engine_oracle import evaluate_plainly
from engine_strategies import answer_sets, answers_for, requests
from hypothesis import given
from hypothesis import strategies as st

from vlmrec.engine.core import evaluate
from vlmrec.engine.reference import Reference, load_reference, versions
from vlmrec.engine.server import evaluate_bytes
from vlmrec.engine.witness import unknown
from vlmrec.ledger import by_turn, flip
from vlmrec.protocol import EngineStatus, EvaluateRequest, Evaluation
from vlmrec.question import precondition
from vlmrec.terms import ABSTENTIONS, Answer, QuestionRef, Status


@pytest.fixture(params=versions(), scope="module")
def reference(request: pytest.FixtureRequest) -> Reference:
    return load_reference(request.param)


def standing(evaluation: Evaluation) -> set[tuple[str, str | None, str]]:
    return {(each.chart, each.variant, each.self_is) for each in evaluation.candidates}


@given(data=st.data())
def test_engine_equals_the_plain_one(reference: Reference, data: st.DataObject) -> None:
    request = data.draw(requests(reference))
    assert evaluate(reference, request) == evaluate_plainly(reference, request)


@given(data=st.data())
def test_engine_gives_the_same_evaluation_over_asgi(reference: Reference, data: st.DataObject) -> None:
    request = data.draw(requests(reference))
    status, body = evaluate_bytes(reference, msgspec.json.encode(request))
    assert (status, msgspec.json.decode(body, type=Evaluation)) == (200, evaluate(reference, request))


@given(data=st.data())
def test_engine_ignores_the_order_of_answers(reference: Reference, data: st.DataObject) -> None:
    answers = data.draw(answer_sets(reference))
    shuffled = tuple(data.draw(st.permutations(answers)))
    first = msgspec.json.encode(evaluate(reference, EvaluateRequest(answers=answers)))
    assert first == msgspec.json.encode(evaluate(reference, EvaluateRequest(answers=shuffled)))


@given(data=st.data())
def test_an_abstention_eliminates_nothing(reference: Reference, data: st.DataObject) -> None:
    answers = data.draw(answer_sets(reference))
    answered = {answer.key for answer in answers}
    key = data.draw(st.sampled_from([key for key in reference.ledger.turns if key not in answered]))
    status = data.draw(st.sampled_from(sorted(ABSTENTIONS)))
    more = (*answers, Answer(question_id=key.question_id, party=key.party, status=Status(status)))
    before = evaluate(reference, EvaluateRequest(answers=answers))
    after = evaluate(reference, EvaluateRequest(answers=more))
    assert standing(before) == standing(after)
    assert before.eliminated == after.eliminated


@given(data=st.data())
def test_adding_an_answer_never_brings_a_chart_back(reference: Reference, data: st.DataObject) -> None:
    answers = data.draw(answer_sets(reference))
    kept = tuple(data.draw(st.lists(st.sampled_from(answers), unique_by=lambda a: a.key))) if answers else ()
    fewer = evaluate(reference, EvaluateRequest(answers=kept))
    assert standing(evaluate(reference, EvaluateRequest(answers=answers))) <= standing(fewer)


@given(data=st.data())
def test_swapping_self_and_other_swaps_assignment_and_shares(reference: Reference, data: st.DataObject) -> None:
    answers = data.draw(answer_sets(reference))
    here = evaluate(reference, EvaluateRequest(answers=answers))
    there = evaluate(reference, EvaluateRequest(answers=flip(reference.ledger, answers)))
    swapped = {
        (each.chart, each.variant, "B" if each.self_is == "A" else "A"): (
            each.base_fault.other,
            each.fault.other,
            tuple(100 - share for share in reversed(each.fault_range.self_)),
        )
        for each in there.candidates
    }
    assert swapped == {
        (each.chart, each.variant, each.self_is): (each.base_fault.self_, each.fault.self_, each.fault_range.self_)
        for each in here.candidates
    }
    # which question comes next may differ by tie-break, but not whether a chart is confirmed or ruled out
    ends = {EngineStatus.CONFIRMED, EngineStatus.NONE, EngineStatus.OUT_OF_SCOPE}
    assert {here.status, there.status} & ends == ({here.status} & ends)


@given(data=st.data())
def test_the_planner_ends_asks_nothing_twice_and_nothing_whose_precondition_is_false(
    reference: Reference, data: st.DataObject
) -> None:
    request = data.draw(requests(reference))
    answers, closed = list(request.answers), {answer.key for answer in request.answers}
    closed |= {ref.key for ref in request.skip}
    for _ in range(len(reference.ledger.turns) + 1):
        asked = evaluate(reference, EvaluateRequest(answers=tuple(answers), skip=request.skip)).next_question
        if asked is None:
            return
        assert asked.key not in closed
        question = reference.ledger.question(asked.question_id)
        assert precondition(question, asked.party, by_turn(answers)) is not False
        assert question.observable
        closed.add(asked.key)
        answers.append(data.draw(answers_for(reference, asked.key) | st.just(unknown(asked.key))))
    pytest.fail("the planner asked more questions than there are")


@given(data=st.data())
def test_a_skipped_question_changes_nothing_but_what_is_asked(reference: Reference, data: st.DataObject) -> None:
    request = data.draw(requests(reference))
    without = evaluate(reference, EvaluateRequest(answers=request.answers))
    with_skip = evaluate(reference, request)
    assert with_skip.candidates == without.candidates
    assert with_skip.eliminated == without.eliminated
    asked = with_skip.next_question
    assert asked is None or QuestionRef(question_id=asked.question_id, party=asked.party) not in request.skip


@given(data=st.data())
def test_shares_sum_to_100_and_lie_in_their_range(reference: Reference, data: st.DataObject) -> None:
    for each in evaluate(reference, EvaluateRequest(answers=data.draw(answer_sets(reference)))).candidates:
        low, high = each.fault_range.self_
        assert each.fault.self_ + each.fault.other == each.base_fault.self_ + each.base_fault.other == 100
        assert 0 <= low <= each.fault.self_ <= high <= 100
        if not each.modifiers:
            assert (low, high) == (each.base_fault.self_, each.base_fault.self_)
