"""A readable account of an evaluation: what stands and why, what ruled the others out, and why the next question.

Plain text for people; the protocol's reply is the place for programs.
"""

from collections.abc import Iterator

from vlmrec.engine.compiled import Position
from vlmrec.engine.core import evaluate
from vlmrec.engine.planner import separating_questions
from vlmrec.engine.reference import Reference
from vlmrec.engine.requests import encode_request
from vlmrec.ledger import Language
from vlmrec.protocol import Candidate, Eliminated, EngineStatus, EvaluateRequest, Evaluation, Fact
from vlmrec.terms import Status, TurnKey

SAYS = {
    EngineStatus.CONFIRMED: "one chart, one assignment, every required condition met",
    EngineStatus.LEADING: "one chart, not fully settled",
    EngineStatus.ASKING: "several charts, and a question that separates them",
    EngineStatus.OPEN: "several charts, and no question left that separates them",
    EngineStatus.NONE: "the answers rule out every chart",
    EngineStatus.OUT_OF_SCOPE: "a gate says that the chapter does not apply",
}


def explain(reference: Reference, request: EvaluateRequest, language: Language = "en") -> str:
    """The account, several lines of text. Raises RequestError as ``evaluate`` does."""
    evaluation = evaluate(reference, request)
    return "\n".join(_lines(reference, request, evaluation, language)) + "\n"


def _lines(reference: Reference, request: EvaluateRequest, evaluation: Evaluation, language: Language) -> Iterator[str]:
    yield f"engine {evaluation.engine_version}, data {evaluation.data_version}"
    yield f"{evaluation.status}: {SAYS[evaluation.status]}" + _stopped(evaluation)
    yield ""
    yield f"candidates ({len(evaluation.candidates)})"
    for candidate in evaluation.candidates:
        yield from _candidate(reference, candidate, language)
    yield ""
    yield f"eliminated ({len(evaluation.eliminated)})"
    yield from _eliminations(evaluation.eliminated)
    if evaluation.status is EngineStatus.NONE:
        yield ""
        yield "closest charts"
        yield from _closest(reference, request)
    yield ""
    yield from _next(reference, request, evaluation, language)


def _stopped(evaluation: Evaluation) -> str:
    return "" if evaluation.stop_reason is None else f" ({evaluation.stop_reason})"


def _candidate(reference: Reference, candidate: Candidate, language: Language) -> Iterator[str]:
    chart = reference.chart(candidate.chart)
    low, high = candidate.fault_range.self_
    title = chart.title_ko if language == "ko" else chart.title_en
    yield f"  {_called(candidate)}: {title}"
    yield (
        f"    self {candidate.fault.self_} : other {candidate.fault.other}"
        f" (base {candidate.base_fault.self_} : {candidate.base_fault.other}, self between {low} and {high})"
    )
    labels = {row.code: row.label_ko if language == "ko" else row.label_en for row in chart.rows}
    for modifier in candidate.modifiers:
        yield f"    modifier {modifier.delta:+d} on {modifier.party}: {labels[modifier.code]} [{modifier.code}]"
    if candidate.met:
        yield "    met   " + ", ".join(f"{_key(fact)}={fact.value}" for fact in candidate.met)
    if candidate.open:
        yield "    open  " + ", ".join(_open(fact) for fact in candidate.open)


def _open(fact: Fact) -> str:
    said = "" if fact.status in (None, Status.OBSERVED) else f", is {fact.status}"
    return f"{_key(fact)} (needs {' or '.join(fact.expects)}{said})"


def _eliminations(eliminated: tuple[Eliminated, ...]) -> Iterator[str]:
    by_answer: dict[str, list[str]] = {}
    for each in eliminated:
        answer = f"{each.by.question_id}/{each.by.party}={each.by.value} (needs {' or '.join(each.by.expects)})"
        by_answer.setdefault(answer, []).append(_called(each))
    for answer, charts in by_answer.items():
        yield f"  by {answer}: {', '.join(charts)}"


def _closest(reference: Reference, request: EvaluateRequest) -> Iterator[str]:
    """The positions that the fewest answers rule out, and those answers: where to look for a wrong one."""
    state, _ = encode_request(reference.tables, request)
    broken = [
        (position, {need.key: need for need in position.barriers if state & need.no})
        for position in reference.tables.positions
    ]
    fewest = min(len(needs) for _, needs in broken)
    for position, needs in broken:
        if len(needs) == fewest:
            failed = (
                f"{key.question_id}/{key.party}={reference.tables.answer(key, state)[1]}"
                f" (needs {' or '.join(need.expects)})"
                for key, need in needs.items()
            )
            variant = "" if position.variant is None else f"({position.variant.key})"
            yield f"  {position.chart.id}{variant} with self as {position.self_is} but for {', '.join(failed)}"


def _next(reference: Reference, request: EvaluateRequest, evaluation: Evaluation, language: Language) -> Iterator[str]:
    asked = evaluation.next_question
    if asked is None:
        yield "next question: none"
        return
    text = reference.ledger.question(asked.question_id).text(asked.party, language)
    yield f"next question: {asked.question_id}/{asked.party}: {text}"
    state, _ = encode_request(reference.tables, request)
    standing = [position for position in reference.tables.positions if not state & position.breaking]
    yield from (f"  {line}" for line in _why(reference, standing, asked.key, state))


def _why(reference: Reference, standing: list[Position], key: TurnKey, state: int) -> Iterator[str]:
    tables = reference.tables
    alive = sum(1 << position.number for position in standing)
    if any(gate.key == key for gate in tables.gates):
        yield "a gate: it decides whether the chapter applies"
    elif key in separating_questions(tables, alive):
        yield "its answer separates what stands:"
        for code, mask in zip(reference.ledger.question(key.question_id).codes, tables.survivors[key], strict=True):
            left = [position for position in standing if mask >> position.number & 1]
            charts = dict.fromkeys(position.chart.id for position in left)
            yield f"  {code}: {len(left)} left" + (f" ({', '.join(charts)})" if left else "")
    elif any(need.key == key for position in standing for need in position.needs):
        yield "a required condition of the chart that is left"
    else:
        for position in standing:
            for row in position.rows:
                if any(need.key == key for alternative in row.when for need in alternative):
                    yield f"it decides the modifier {row.row.code} ({row.row.delta:+d} on {row.party})"
    if tables.precondition(key, state) is None:
        yield "its precondition is still open; nothing whose precondition holds was left to ask"


def _called(each: Candidate | Eliminated) -> str:
    return f"{each.chart}{f'({each.variant})' if each.variant else ''} with self as {each.self_is}"


def _key(fact: Fact) -> str:
    return f"{fact.question_id}/{fact.party}"
