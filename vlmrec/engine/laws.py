"""The laws that any engine of the protocol keeps, each as a question put to a server over one case.

A law is a coroutine from a probe and a case to None, or to a sentence saying what was found instead. It
looks at the server's replies alone, so it holds for engines whose charts are unknown here.
"""

from collections.abc import Awaitable, Callable, Iterable
from typing import NamedTuple, Protocol

from vlmrec.ledger import Ledger, by_turn, flip
from vlmrec.protocol import Candidate, EngineStatus, Evaluation
from vlmrec.question import precondition
from vlmrec.terms import Answer, QuestionRef, Status, TurnKey


class Case(NamedTuple):
    """What is put to the server. Any part of a case is a case too, which is what shrinking rests on."""

    answers: tuple[Answer, ...] = ()
    skip: tuple[QuestionRef, ...] = ()


class Probe(Protocol):
    """A server under test: its ledger, and evaluations of cases, the same case being asked once only."""

    ledger: Ledger

    async def evaluate(self, case: Case) -> Evaluation: ...

    async def again(self, case: Case) -> tuple[bytes, bytes]:
        """The reply as first received, and as received when asked once more."""


class Law(NamedTuple):
    """A law by name, in one sentence."""

    name: str
    sentence: str
    broken_by: Callable[[Probe, Case], Awaitable[str | None]]


Place = tuple[str, str | None, str]

LATEST = 4
"""How many of a case's answers, from the end, are taken out in turn. Walks put every answer last once."""


async def _stateless(probe: Probe, case: Case) -> str | None:
    first, second = await probe.again(case)
    return None if first == second else "the same request gave two different replies"


async def _order(probe: Probe, case: Case) -> str | None:
    there = await probe.evaluate(Case(tuple(reversed(case.answers)), tuple(reversed(case.skip))))
    return None if there == await probe.evaluate(case) else "the same answers in reverse order gave another evaluation"


async def _abstention(probe: Probe, case: Case) -> str | None:
    for answer in case.answers[-LATEST:]:
        rest = tuple(other for other in case.answers if other != answer)
        unknown = Answer(question_id=answer.question_id, party=answer.party, status=Status.UNKNOWN)
        lost = _standing(await probe.evaluate(Case(rest))) - _standing(await probe.evaluate(Case((*rest, unknown))))
        if lost:
            return f"{_name(answer)} = unknown eliminated {_places(lost)}"
    return None


async def _monotone(probe: Probe, case: Case) -> str | None:
    standing = _standing(await probe.evaluate(case))
    for answer in case.answers[-LATEST:]:
        fewer = _standing(await probe.evaluate(Case(tuple(other for other in case.answers if other != answer))))
        if standing - fewer:
            return f"adding {_name(answer)} brought back {_places(standing - fewer)}"
    return None


async def _swap(probe: Probe, case: Case) -> str | None:
    here = await probe.evaluate(Case(case.answers))
    there = await probe.evaluate(Case(flip(probe.ledger, case.answers)))
    turned = {(place[0], place[1], "B" if place[2] == "A" else "A") for place in _standing(there)}
    if turned != _standing(here):
        return f"seen from the other vehicle, these differ: {_places(turned ^ _standing(here))}"
    shares = {
        _place(each): (each.base_fault.self_, each.fault.self_, *each.fault_range.self_) for each in here.candidates
    }
    for each in there.candidates:
        chart, variant, self_is = _place(each)
        low, high = each.fault_range.self_
        seen = (each.base_fault.other, each.fault.other, 100 - high, 100 - low)
        if shares[(chart, variant, "B" if self_is == "A" else "A")] != seen:
            return f"seen from the other vehicle, the shares of {chart} are not turned round"
    return None


async def _asks_once(probe: Probe, case: Case) -> str | None:
    asked = (await probe.evaluate(case)).next_question
    if asked is not None and asked.key in {answer.key for answer in case.answers}:
        return f"asks {_name(asked)}, which is answered"
    return None


async def _skip(probe: Probe, case: Case) -> str | None:
    evaluation = await probe.evaluate(case)
    asked = evaluation.next_question
    if asked is not None and asked in case.skip:
        return f"asks {_name(asked)}, which is to be skipped"
    changed = _standing(evaluation) ^ _standing(await probe.evaluate(Case(case.answers)))
    return f"skipping a question changed whether {_places(changed)} stands" if changed else None


async def _asks_from_ledger(probe: Probe, case: Case) -> str | None:
    asked = (await probe.evaluate(case)).next_question
    if asked is None:
        return None
    if asked.question_id not in probe.ledger:
        return f"asks {asked.question_id}, which GET /questions does not list"
    if asked.party not in probe.ledger.question(asked.question_id).parties:
        return f"asks {_name(asked)}, a party that the question is not put for"
    return None


async def _precondition(probe: Probe, case: Case) -> str | None:
    asked = (await probe.evaluate(case)).next_question
    if asked is None or asked.question_id not in probe.ledger:
        return None
    question = probe.ledger.question(asked.question_id)
    if precondition(question, asked.party, by_turn(case.answers)) is False:
        return f"asks {_name(asked)}, whose precondition is false"
    return None


async def _open_precondition_last(probe: Probe, case: Case) -> str | None:
    answers = by_turn(case.answers)
    asked = (await probe.evaluate(case)).next_question
    if asked is None or asked.question_id not in probe.ledger or asked.key in {ref.key for ref in case.skip}:
        return None
    if precondition(probe.ledger.question(asked.question_id), asked.party, answers) is not None:
        return None
    then = (await probe.evaluate(Case(case.answers, (*case.skip, asked)))).next_question
    if then is None or then.question_id not in probe.ledger:
        return None
    if precondition(probe.ledger.question(then.question_id), then.party, answers) is True:
        return f"asks {_name(asked)}, whose precondition is open, before {_name(then)}, whose precondition is true"
    return None


async def _status(probe: Probe, case: Case) -> str | None:
    evaluation = await probe.evaluate(case)
    charts = {each.chart for each in evaluation.candidates}
    asked, status = evaluation.next_question is not None, evaluation.status
    single = len(evaluation.candidates) == 1 and not evaluation.candidates[0].open
    fits = {
        EngineStatus.CONFIRMED: single,
        EngineStatus.LEADING: len(charts) == 1 and not single,
        EngineStatus.ASKING: len(charts) > 1 and asked,
        EngineStatus.OPEN: len(charts) > 1 and not asked and evaluation.stop_reason is not None,
        EngineStatus.NONE: not charts and not asked,
        EngineStatus.OUT_OF_SCOPE: not asked,
    }
    if fits[status]:
        return None
    return (
        f"status {status} with {len(charts)} charts, {len(evaluation.candidates)} candidates, "
        f"{sum(bool(each.open) for each in evaluation.candidates)} of them with open conditions, "
        f"{'a' if asked else 'no'} next question and stop_reason {evaluation.stop_reason!r}"
    )


async def _shares(probe: Probe, case: Case) -> str | None:
    for each in (await probe.evaluate(case)).candidates:
        for kind, shares in (("base", each.base_fault), ("resulting", each.fault)):
            if shares.self_ + shares.other != 100 or not 0 <= shares.self_ <= 100:
                return f"the {kind} shares of {each.chart} are {shares.self_} and {shares.other}"
    return None


async def _range(probe: Probe, case: Case) -> str | None:
    for each in (await probe.evaluate(case)).candidates:
        low, high = each.fault_range.self_
        pulls = [row.delta if row.party == "self" else -row.delta for row in each.modifiers]
        base = each.base_fault.self_
        widest = (
            max(0, base + sum(pull for pull in pulls if pull < 0)),
            min(100, base + sum(pull for pull in pulls if pull > 0)),
        )
        if not widest[0] <= low <= each.fault.self_ <= high <= widest[1]:
            return (
                f"fault_range of {each.chart} is {low} to {high} around {each.fault.self_}; "
                f"its observed modifiers allow {widest[0]} to {widest[1]}"
            )
    return None


async def _eliminated_by(probe: Probe, case: Case) -> str | None:
    given = by_turn(case.answers)
    for each in (await probe.evaluate(case)).eliminated:
        answer = given.get(TurnKey(each.by.question_id, each.by.party))
        if answer is None or answer.status is not Status.OBSERVED or answer.value != each.by.value:
            return f"{each.chart} is eliminated by {each.by.question_id}/{each.by.party}={each.by.value}, not an answer"
    return None


async def _accounted(probe: Probe, case: Case) -> str | None:
    evaluation, everything = await probe.evaluate(case), await probe.evaluate(Case())
    standing, gone = _standing(evaluation), {(e.chart, e.variant, e.self_is) for e in evaluation.eliminated}
    if standing & gone:
        return f"{_places(standing & gone)} is both candidate and eliminated"
    if len(standing) != len(evaluation.candidates) or len(gone) != len(evaluation.eliminated):
        return "a chart, variant and assignment is listed twice"
    known = _standing(everything) | {(e.chart, e.variant, e.self_is) for e in everything.eliminated}
    missing = known ^ (standing | gone)
    return f"{_places(missing)} is neither candidate nor eliminated, or is new" if missing else None


async def _facts(probe: Probe, case: Case) -> str | None:
    given = by_turn(case.answers)
    for each in (await probe.evaluate(case)).candidates:
        for fact in (*each.met, *each.open):
            answer = given.get(TurnKey(fact.question_id, fact.party))
            holds = answer is not None and answer.status is Status.OBSERVED and answer.value in fact.expects
            if holds != (fact in each.met):
                listed = "met" if fact in each.met else "open"
                return f"{each.chart} lists {fact.question_id}/{fact.party} as {listed}; the answers say otherwise"
    return None


LAWS = (
    Law("stateless", "The same request gives the same reply, whatever was asked between.", _stateless),
    Law("order", "The order of answers does not matter.", _order),
    Law("abstention", "An abstention eliminates nothing.", _abstention),
    Law("monotone", "Adding an answer never brings a chart back.", _monotone),
    Law("swap", "Swapping self and other swaps assignment and shares.", _swap),
    Law("asks_once", "A question that is answered is not asked.", _asks_once),
    Law("skip", "A skipped question is not asked, and is no answer.", _skip),
    Law(
        "asks_from_ledger",
        "What is asked is a question of the ledger, for a party that it is put for.",
        _asks_from_ledger,
    ),
    Law("precondition", "A question whose precondition is false is not asked.", _precondition),
    Law(
        "open_precondition_last",
        "A question whose precondition is open is asked only after all whose precondition is true.",
        _open_precondition_last,
    ),
    Law("status", "The status says what the candidates and the next question say.", _status),
    Law("shares", "Shares lie in 0 to 100 and sum to 100.", _shares),
    Law("fault_range", "fault_range holds the result and spans observed modifiers only.", _range),
    Law("eliminated_by", "Each eliminated chart names the observed answer that ruled it out.", _eliminated_by),
    Law("accounted", "Every chart, variant and assignment is either a candidate or eliminated.", _accounted),
    Law("facts", "Met and open conditions are what the answers make of them.", _facts),
)


def _standing(evaluation: Evaluation) -> set[Place]:
    return {_place(each) for each in evaluation.candidates}


def _place(each: Candidate) -> Place:
    return (each.chart, each.variant, each.self_is)


def _places(places: Iterable[Place]) -> str:
    listed = sorted((chart, variant or "", self_is) for chart, variant, self_is in places)
    shown = ", ".join(
        f"{chart}{variant and f'({variant})'} with self as {self_is}" for chart, variant, self_is in listed[:3]
    )
    return shown + (f" and {len(listed) - 3} more" if len(listed) > 3 else "")


def _name(item: Answer | QuestionRef) -> str:
    return f"{item.question_id}/{item.party}"
