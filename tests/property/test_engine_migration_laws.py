"""Laws of mapping stored answers, over arbitrary answer sets and both directions."""

from functools import cache

import pytest
from engine_strategies import answer_sets
from hypothesis import given
from hypothesis import strategies as st

from vlmrec.engine.core import evaluate
from vlmrec.engine.migration import SHOWN_CHANGED, Mapper, load_migration, map_answers
from vlmrec.engine.reference import Reference, load_reference
from vlmrec.ledger import shown_hash
from vlmrec.protocol import EvaluateRequest
from vlmrec.question import identity_hash

PAIRS = [("0.1.1", "0.1.3"), ("0.1.3", "0.1.1")]


@pytest.fixture(params=PAIRS, ids=lambda pair: " to ".join(pair), scope="module")
def pair(request: pytest.FixtureRequest) -> tuple[Reference, Reference]:
    return load_reference(request.param[0]), load_reference(request.param[1])


@cache
def mapper(source: Reference, target: Reference) -> Mapper:
    return Mapper(source.ledger, target.ledger, load_migration(source.data_version, target.data_version))


@given(data=st.data())
def test_mapped_answers_fit_the_target_and_name_their_rule(
    pair: tuple[Reference, Reference], data: st.DataObject
) -> None:
    source, target = pair
    answers = data.draw(answer_sets(source))
    migration = load_migration(source.data_version, target.data_version)
    assert migration is not None
    declared = {rule.rule for rule in (*migration.rules, *migration.carry)}
    result = mapper(source, target).map(answers)
    evaluate(target, EvaluateRequest(answers=tuple(each.answer for each in result.answers)))  # refuses what doesn't fit
    stored = {answer.key: answer for answer in answers}
    for each in result.answers:
        key = each.answer.key
        assert all(ref.key in stored for ref in each.sources)
        if each.rule in (None, SHOWN_CHANGED):
            before, after = source.ledger.question(key.question_id), target.ledger.question(key.question_id)
            assert each.answer == stored[key]
            assert identity_hash(before) == identity_hash(after)
            same = shown_hash(source.ledger, before, key.party) == shown_hash(target.ledger, after, key.party)
            assert same == (each.kind == "kept") == (each.rule is None)
        else:
            assert each.kind == "approximate"
            assert each.rule in declared


@given(data=st.data())
def test_every_stored_answer_is_used_or_named_and_no_turn_is_both_answered_and_missing(
    pair: tuple[Reference, Reference], data: st.DataObject
) -> None:
    source, target = pair
    answers = data.draw(answer_sets(source))
    result = mapper(source, target).map(answers)
    used = {ref.key for each in result.answers for ref in each.sources}
    assert used | {ref.key for ref in result.unused} == {answer.key for answer in answers}
    made = [each.answer.key for each in result.answers]
    missing = [(each.question_id, each.party) for each in result.needs_new_answer]
    assert len(set(made)) == len(made)
    assert not set(made) & set(missing)
    assert made == sorted(made, key=target.ledger.order)


@given(data=st.data())
def test_mapping_does_not_depend_on_the_order_of_answers(
    pair: tuple[Reference, Reference], data: st.DataObject
) -> None:
    source, target = pair
    answers = data.draw(answer_sets(source))
    shuffled = data.draw(st.permutations(answers))
    assert mapper(source, target).map(answers) == mapper(source, target).map(shuffled)


@given(data=st.data())
def test_mapping_to_the_same_ledger_keeps_everything(pair: tuple[Reference, Reference], data: st.DataObject) -> None:
    ledger = pair[0].ledger
    answers = data.draw(answer_sets(pair[0]))
    result = map_answers(ledger, ledger, None, answers)
    assert {each.answer for each in result.answers} == set(answers)
    assert {each.kind for each in result.answers} <= {"kept"}
    assert result.needs_new_answer == result.unused == ()
