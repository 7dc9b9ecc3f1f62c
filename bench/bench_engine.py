"""The engine core: clips mapped and rescored from stored answers, and evaluations, a second on one core.

10,000 clips with seeded answers near the charts of 0.1.1 (a tenth unsure, a twentieth wrong, modifiers and other
questions here and there). Each is mapped to 0.1.3 and evaluated in the target's own order, question by question,
until nothing is left to ask. Beside it stands what is aimed at, or a bare ``msgspec`` encoding of the replies.

The limit is the number of states never met before: a known one costs little more than reading its answers.

    python bench/bench_engine.py [clips]
"""

import json
import random
import sys
import time

import msgspec

from vlmrec.engine.compiled import Position
from vlmrec.engine.core import Memory, evaluate
from vlmrec.engine.migration import MappedAnswers, Mapper, load_migration
from vlmrec.engine.reference import Reference, load_reference
from vlmrec.engine.witness import observed, unknown, witness
from vlmrec.ledger import by_turn
from vlmrec.protocol import EvaluateRequest, Evaluation
from vlmrec.terms import Answer, QuestionRef, TurnKey

AIM_CLIPS_S = 1000.0
UNSURE, WRONG, OBSERVED_ROW, EXTRA = 0.10, 0.05, 0.10, 0.05


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    source, target = load_reference("0.1.1"), load_reference("0.1.3")
    draw = random.Random(20260101)
    clips = [answers_of_clip(source, draw.choice(source.tables.positions), draw) for _ in range(count)]
    mapper = Mapper(source.ledger, target.ledger, load_migration(source.data_version, target.data_version))

    started = time.process_time()
    mapped = [mapper.map(answers) for answers in clips]
    mapping_s = time.process_time() - started
    requests: list[EvaluateRequest] = []
    fresh(target)
    started = time.process_time()
    for each in mapped:
        requests += rescored(target, each)
    rescoring_s = time.process_time() - started
    clips_s = count / (mapping_s + rescoring_s)
    figure("engine: clips mapped and rescored in planned order", clips_s, AIM_CLIPS_S, "clips/s", ">= 1")
    figure("engine: clips mapped", count / mapping_s, AIM_CLIPS_S, "clips/s")

    fresh(target)
    started = time.process_time()
    replies = [evaluate(target, request) for request in requests]
    cold_s = time.process_time() - started
    seen = len({msgspec.json.encode(request) for request in requests})
    encoding_s = encoded(replies)
    per_s = len(requests) / cold_s
    beside = len(requests) / encoding_s
    figure(
        f"engine: evaluations, {seen} of {len(requests)} states new, beside encoding the replies", per_s, beside, "/s"
    )

    few = requests[: min(5000, len(requests))]
    for request in few:
        evaluate(target, request)
    started = time.process_time()
    for request in few:
        evaluate(target, request)
    figure("engine: evaluations of states met before", len(few) / (time.process_time() - started), per_s, "/s")


def answers_of_clip(reference: Reference, position: Position, draw: random.Random) -> tuple[Answer, ...]:
    found = by_turn(witness(position))
    for row in position.rows:
        if draw.random() < OBSERVED_ROW:
            for need in row.when[0] if row.when else ():
                found.setdefault(need.key, observed(need.key, draw.choice(need.expects)))
    for key in reference.ledger.turns:
        codes = reference.ledger.question(key.question_id).codes
        chance = draw.random()
        if key not in found:
            if chance < EXTRA:
                found[key] = observed(key, draw.choice(codes))
        elif chance < UNSURE:
            found[key] = unknown(key)
        elif chance < UNSURE + WRONG:
            found[key] = observed(key, draw.choice(codes))
    return tuple(found.values())


def rescored(reference: Reference, mapped: MappedAnswers) -> list[EvaluateRequest]:
    """Every request on the way of one clip; what was never answered is skipped."""
    known: dict[TurnKey, Answer] = {each.answer.key: each.answer for each in mapped.answers}
    answers: tuple[Answer, ...] = ()
    skip: tuple[QuestionRef, ...] = ()
    made = []
    while True:
        made.append(EvaluateRequest(answers=answers, skip=skip))
        asked = evaluate(reference, made[-1]).next_question
        if asked is None:
            return made
        answer = known.get(asked.key)
        if answer is None:
            skip = (*skip, asked)
        else:
            answers = (*answers, answer)


def fresh(reference: Reference) -> None:
    """Forget what was worked out before."""
    memory, empty = reference.memory, Memory(len(reference.tables.positions))
    for name in Memory.__slots__:
        setattr(memory, name, getattr(empty, name))


def encoded(replies: list[Evaluation]) -> float:
    started = time.process_time()
    for reply in replies[:5000]:
        msgspec.json.encode(reply)
    return (time.process_time() - started) * len(replies) / min(5000, len(replies))


def figure(name: str, measured: float, beside: float, unit: str, aim: str | None = None) -> None:
    line = {"name": name, "measured": measured, "beside": beside, "unit": unit, "ratio": measured / beside, "aim": aim}
    print(json.dumps(line))


if __name__ == "__main__":
    main()
