"""Arbitrary answer sets: wholly random ones, and ones near a chart, which get deep into an evaluation."""

from hypothesis import strategies as st

from vlmrec.engine.reference import Reference
from vlmrec.engine.witness import observed, unknown, witness
from vlmrec.ledger import by_turn
from vlmrec.protocol import EvaluateRequest
from vlmrec.terms import ABSTENTIONS, Answer, QuestionRef, Status, TurnKey


def answers_for(reference: Reference, key: TurnKey) -> st.SearchStrategy[Answer]:
    codes = reference.ledger.question(key.question_id).codes
    return st.sampled_from(
        [observed(key, code) for code in codes]
        + [Answer(question_id=key.question_id, party=key.party, status=Status(name)) for name in sorted(ABSTENTIONS)]
    )


@st.composite
def answer_sets(draw: st.DrawFn, reference: Reference) -> tuple[Answer, ...]:
    """Up to forty answers, each question and party once, in any order."""
    found = {}
    if draw(st.booleans()):
        position = draw(st.sampled_from(reference.tables.positions))
        near = list(witness(position))
        rows = [need for row in position.rows for alternative in row.when for need in alternative]
        if rows:
            near += [observed(need.key, need.expects[0]) for need in draw(st.lists(st.sampled_from(rows), max_size=8))]
        kept = draw(st.lists(st.sampled_from(near), max_size=len(near), unique_by=lambda answer: answer.key))
        found = by_turn(near if draw(st.booleans()) else kept)
        if draw(st.booleans()):  # as a clip stands at its end, when all that could be asked was asked
            found = by_turn(unknown(need.key) for need in rows) | found
    keys = draw(st.lists(st.sampled_from(reference.ledger.turns), unique=True, max_size=6 if found else 25))
    for key in keys:
        found[key] = draw(answers_for(reference, key))
    return tuple(draw(st.permutations(list(found.values()))))


@st.composite
def requests(draw: st.DrawFn, reference: Reference) -> EvaluateRequest:
    """Answers, and skipped questions among the others."""
    answers = draw(answer_sets(reference))
    answered = {answer.key for answer in answers}
    rest = [key for key in reference.ledger.turns if key not in answered]
    skipped = draw(st.lists(st.sampled_from(rest), unique=True, max_size=6))
    return EvaluateRequest(
        answers=answers, skip=tuple(QuestionRef(question_id=key.question_id, party=key.party) for key in skipped)
    )
