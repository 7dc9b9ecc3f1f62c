"""Long runs over the engine: whole walks against the plain engine, and the conformance check with many cases."""

import random

import httpx
import pytest
from engine_oracle import evaluate_plainly

from vlmrec.engine.check import check_server
from vlmrec.engine.core import evaluate
from vlmrec.engine.reference import load_reference, versions
from vlmrec.engine.server import create_app
from vlmrec.engine.witness import observed, unknown, witness
from vlmrec.ledger import by_turn
from vlmrec.protocol import EvaluateRequest
from vlmrec.terms import Answer, QuestionRef

pytestmark = pytest.mark.deep


@pytest.mark.parametrize("version", versions())
@pytest.mark.parametrize("seed", range(4))
def test_engine_equals_the_plain_one_on_every_step_of_every_chart(version: str, seed: int) -> None:
    reference = load_reference(version)
    draw = random.Random(seed)
    for position in reference.tables.positions:
        known = by_turn(witness(position))
        answers: tuple[Answer, ...] = ()
        skip: tuple[QuestionRef, ...] = ()
        while True:
            request = EvaluateRequest(answers=answers, skip=skip)
            evaluation = evaluate(reference, request)
            assert evaluation == evaluate_plainly(reference, request)
            asked = evaluation.next_question
            if asked is None:
                break
            chance = draw.random() if seed else 1.0
            if chance < 0.1:
                skip = (*skip, asked)
            elif chance < 0.2:
                code = draw.choice(reference.ledger.question(asked.question_id).codes)
                answers = (*answers, observed(asked.key, code))
            else:
                answers = (*answers, known.get(asked.key) or unknown(asked.key))


@pytest.mark.parametrize("version", versions())
async def test_check_passes_over_many_cases(version: str) -> None:
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app=create_app(version)), base_url="http://e") as http:
        assert (await check_server(http, cases=400, seed=7)).broken == ()
