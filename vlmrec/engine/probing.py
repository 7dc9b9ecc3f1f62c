"""The other side of a conformance check: the server under test, cases to put to it, and smaller ones.

Cases come from a seed: random answer sets, and the states met on the way when the server's own questions
are answered at random, mostly in the way that some candidate expects, so that walks end in confirmed charts.
"""

import random
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import TypeVar

import httpx
import msgspec
from msgspec import Struct

from vlmrec.engine.laws import Case
from vlmrec.errors import ServiceError
from vlmrec.ledger import Ledger
from vlmrec.protocol import EvaluateRequest, Evaluation
from vlmrec.terms import ABSTENTIONS, Answer, QuestionRef, Status, TurnKey

T = TypeVar("T")
LONGEST_WALK = 40


class NoEvaluation(Exception):
    """The server gave something that is no evaluation, where one was due."""


class HttpProbe:
    """A server reached over HTTP. Remembers what it answered, and every ``data_version`` that is not the ledger's."""

    def __init__(self, http: httpx.AsyncClient, ledger: Ledger) -> None:
        self.http = http
        self.ledger = ledger
        self.other_versions: set[str] = set()
        self._known: dict[Case, tuple[bytes, Evaluation]] = {}

    async def evaluate(self, case: Case) -> Evaluation:
        found = self._known.get(case)
        if found is None:
            found = self._known[case] = await self._send(case)
        return found[1]

    async def again(self, case: Case) -> tuple[bytes, bytes]:
        await self.evaluate(case)
        return self._known[case][0], (await self._send(case))[0]

    async def post(self, body: bytes) -> httpx.Response:
        try:
            response = await self.http.post("/evaluate", content=body, headers={"content-type": "application/json"})
        except httpx.TransportError as error:
            raise ServiceError(f"the server went away during the check: {type(error).__name__} {error}") from error
        try:
            carried = msgspec.json.decode(response.content, type=_Versioned).data_version
        except msgspec.MsgspecError:
            carried = "none"
        if carried != self.ledger.data_version:
            self.other_versions.add(carried)
        return response

    async def _send(self, case: Case) -> tuple[bytes, Evaluation]:
        response = await self.post(msgspec.json.encode(EvaluateRequest(answers=case.answers, skip=case.skip)))
        if response.status_code != 200:
            raise NoEvaluation(f"a request that fits the ledger gave {response.status_code}: {response.text[:200]}")
        try:
            return response.content, msgspec.json.decode(response.content, type=Evaluation)
        except msgspec.MsgspecError as error:
            raise NoEvaluation(f"the reply is no evaluation: {error}") from error


class _Versioned(Struct, frozen=True):
    data_version: str


async def cases_for(probe: HttpProbe, draw: random.Random, count: int) -> AsyncIterator[Case]:
    """The empty case, ``count`` random ones, and the states of a walk for every third."""
    yield Case()
    turns = probe.ledger.turns
    for number in range(count):
        keys = draw.sample(turns, draw.randint(1, min(12, len(turns))))
        cut = draw.randint(0, len(keys) // 3)
        skip = tuple(QuestionRef(question_id=key.question_id, party=key.party) for key in keys[:cut])
        answers = [_random_answer(probe.ledger, key, draw) for key in keys[cut:]]
        yield Case(tuple(answers), skip)
        if number % 3 == 0:
            async for case in _walk(probe, draw):
                yield case


async def _walk(probe: HttpProbe, draw: random.Random) -> AsyncIterator[Case]:
    """The states on the way when the server's own questions are answered at random."""
    answers: dict[TurnKey, Answer] = {}
    for _ in range(LONGEST_WALK):
        case = Case(tuple(answers.values()))
        yield case
        try:
            evaluation = await probe.evaluate(case)
        except NoEvaluation:
            return
        asked = evaluation.next_question
        if asked is None or asked.question_id not in probe.ledger or asked.key in answers:
            return
        yield Case(case.answers, (asked,))  # a server that forgets what to skip is seen where it would ask
        expected = [
            fact.expects[0]
            for each in evaluation.candidates
            for fact in each.open
            if (fact.question_id, fact.party) == asked.key
        ]
        if expected and draw.random() < 0.8:
            value = draw.choice(expected)
            answers[asked.key] = Answer(
                question_id=asked.question_id, party=asked.party, status=Status.OBSERVED, value=value
            )
        else:
            answers[asked.key] = _random_answer(probe.ledger, asked.key, draw)


def _random_answer(ledger: Ledger, key: TurnKey, draw: random.Random) -> Answer:
    if draw.random() < 0.2:
        status = Status(draw.choice(sorted(ABSTENTIONS)))
        return Answer(question_id=key.question_id, party=key.party, status=status)
    value = draw.choice(ledger.question(key.question_id).codes)
    return Answer(question_id=key.question_id, party=key.party, status=Status.OBSERVED, value=value)


LawFunction = Callable[[HttpProbe, Case], Awaitable[str | None]]


async def verdict(probe: HttpProbe, broken_by: LawFunction, case: Case) -> str | None:
    """What breaks the law, if anything; a reply that is no evaluation breaks every one."""
    try:
        return await broken_by(probe, case)
    except NoEvaluation as error:
        return str(error)


async def shrunk(probe: HttpProbe, broken_by: LawFunction, case: Case) -> Case:
    """The case with everything left out that the law's breaking does not need."""
    smaller = True
    while smaller:
        smaller = False
        for candidate in _simpler(case):
            if await verdict(probe, broken_by, candidate) is not None:
                case, smaller = candidate, True
                break
    return case


def _simpler(case: Case) -> list[Case]:
    fewer = [Case(_without(case.answers, i), case.skip) for i in range(len(case.answers))]
    fewer += [Case(case.answers, _without(case.skip, i)) for i in range(len(case.skip))]
    vaguer = []
    for number, answer in enumerate(case.answers):
        if answer.status is Status.OBSERVED:
            unknown = Answer(question_id=answer.question_id, party=answer.party, status=Status.UNKNOWN)
            vaguer.append(Case((*case.answers[:number], unknown, *case.answers[number + 1 :]), case.skip))
    return [*fewer, *vaguer]


def _without(items: tuple[T, ...], index: int) -> tuple[T, ...]:
    return items[:index] + items[index + 1 :]
