"""An account of an evaluation: what stands and why, what ruled the others out, and why the next question.

``account`` gives it as values, for programs; ``explained`` makes plain text of it, for people.
"""

from collections.abc import Iterator
from typing import Literal

from msgspec import Struct

from vlmrec.engine.compiled import Position
from vlmrec.engine.core import evaluate
from vlmrec.engine.planner import separating_questions
from vlmrec.engine.reference import Reference
from vlmrec.engine.requests import encode_request
from vlmrec.protocol import Candidate, Eliminated, EngineStatus, EvaluateRequest, Evaluation, Fact
from vlmrec.question import Language
from vlmrec.terms import Party, Status, TurnKey

SAYS = {
    EngineStatus.CONFIRMED: "one chart, one assignment, every required condition met",
    EngineStatus.LEADING: "one chart, not fully settled",
    EngineStatus.ASKING: "several charts, and a question that separates them",
    EngineStatus.OPEN: "several charts, and no question left that separates them",
    EngineStatus.NONE: "the answers rule out every chart",
    EngineStatus.OUT_OF_SCOPE: "a gate says that the chapter does not apply",
}

Why = Literal["gate", "separates", "required_condition", "modifier"]


class Obstacle(Struct, frozen=True, kw_only=True):
    """An answer that stands in a chart's way, and what the chart needs instead."""

    question_id: str
    party: Party
    value: str | None
    expects: tuple[str, ...]


class Closest(Struct, frozen=True, kw_only=True):
    """A chart that was ruled out by as few answers as any: where to look for a wrong one."""

    chart: str
    variant: str | None
    self_is: str
    but_for: tuple[Obstacle, ...]


class Branch(Struct, frozen=True, kw_only=True):
    """What an answer to the next question would leave."""

    value: str
    left: int
    charts: tuple[str, ...]


class Decides(Struct, frozen=True, kw_only=True):
    """A modifier that the next question decides."""

    code: str
    party: Party
    delta: int


class Next(Struct, frozen=True, kw_only=True):
    """The next question, and why it is asked."""

    question_id: str
    party: Party
    text: str
    why: Why
    branches: tuple[Branch, ...] = ()
    modifiers: tuple[Decides, ...] = ()
    precondition_open: bool = False


class Account(Struct, frozen=True, kw_only=True):
    """An evaluation as POST /evaluate replies, with what a reader needs beside it."""

    evaluation: Evaluation
    says: str
    titles: dict[str, str]
    """Of the candidates' charts."""
    labels: dict[str, str]
    """Of the modifiers that count, ``chart/code``."""
    closest: tuple[Closest, ...] = ()
    """Only where no chart is left."""
    next: Next | None = None


def account(reference: Reference, request: EvaluateRequest, language: Language = "en") -> Account:
    """The account as values. Raises RequestError as ``evaluate`` does."""
    evaluation = evaluate(reference, request)
    charts = {each.chart: reference.chart(each.chart) for each in evaluation.candidates}
    applied = {(each.chart, modifier.code) for each in evaluation.candidates for modifier in each.modifiers}
    return Account(
        evaluation=evaluation,
        says=SAYS[evaluation.status],
        titles={id_: chart.title_ko if language == "ko" else chart.title_en for id_, chart in charts.items()},
        labels={
            f"{id_}/{row.code}": row.label_ko if language == "ko" else row.label_en
            for id_, chart in charts.items()
            for row in chart.rows
            if (id_, row.code) in applied
        },
        closest=tuple(_closest(reference, request)) if evaluation.status is EngineStatus.NONE else (),
        next=_next(reference, request, evaluation, language),
    )


def explained(told: Account) -> str:
    """The account as several lines of text."""
    return "\n".join(_lines(told)) + "\n"


# ---- what is said beside the evaluation -------------------------------------------------------


def _closest(reference: Reference, request: EvaluateRequest) -> Iterator[Closest]:
    state, _ = encode_request(reference.tables, request)
    broken = [
        (position, {need.key: need for need in position.barriers if state & need.no})
        for position in reference.tables.positions
    ]
    fewest = min(len(needs) for _, needs in broken)
    for position, needs in broken:
        if len(needs) == fewest:
            yield Closest(
                chart=position.chart.id,
                variant=None if position.variant is None else position.variant.key,
                self_is=position.self_is,
                but_for=tuple(
                    Obstacle(
                        question_id=key.question_id,
                        party=key.party,
                        value=reference.tables.answer(key, state)[1],
                        expects=need.expects,
                    )
                    for key, need in needs.items()
                ),
            )


def _next(reference: Reference, request: EvaluateRequest, evaluation: Evaluation, language: Language) -> Next | None:
    asked = evaluation.next_question
    if asked is None:
        return None
    state, _ = encode_request(reference.tables, request)
    standing = [position for position in reference.tables.positions if not state & position.breaking]
    why, branches, modifiers = _why(reference, standing, asked.key)
    return Next(
        question_id=asked.question_id,
        party=asked.party,
        text=reference.ledger.question(asked.question_id).text(asked.party, language),
        why=why,
        branches=branches,
        modifiers=modifiers,
        precondition_open=reference.tables.precondition(asked.key, state) is None,
    )


def _why(
    reference: Reference, standing: list[Position], key: TurnKey
) -> tuple[Why, tuple[Branch, ...], tuple[Decides, ...]]:
    tables = reference.tables
    alive = sum(1 << position.number for position in standing)
    if any(gate.key == key for gate in tables.gates):
        return "gate", (), ()
    if key in separating_questions(tables, alive):
        codes = reference.ledger.question(key.question_id).codes
        pairs = zip(codes, tables.survivors[key], strict=True)
        return "separates", tuple(_branch(code, mask, standing) for code, mask in pairs), ()
    if any(need.key == key for position in standing for need in position.needs):
        return "required_condition", (), ()
    decided = tuple(
        Decides(code=row.row.code, party=row.party, delta=row.row.delta)
        for position in standing
        for row in position.rows
        if any(need.key == key for alternative in row.when for need in alternative)
    )
    return "modifier", (), decided


def _branch(code: str, mask: int, standing: list[Position]) -> Branch:
    left = [position for position in standing if mask >> position.number & 1]
    return Branch(value=code, left=len(left), charts=tuple(dict.fromkeys(position.chart.id for position in left)))


# ---- as text ----------------------------------------------------------------------------------


def _lines(told: Account) -> Iterator[str]:
    evaluation = told.evaluation
    yield f"engine {evaluation.engine_version}, data {evaluation.data_version}"
    stopped = "" if evaluation.stop_reason is None else f" ({evaluation.stop_reason})"
    yield f"{evaluation.status}: {told.says}{stopped}"
    yield ""
    yield f"candidates ({len(evaluation.candidates)})"
    for candidate in evaluation.candidates:
        yield from _candidate_lines(told, candidate)
    yield ""
    yield f"eliminated ({len(evaluation.eliminated)})"
    yield from _elimination_lines(evaluation.eliminated)
    if told.closest:
        yield ""
        yield "closest charts"
        yield from map(_closest_line, told.closest)
    yield ""
    yield from _next_lines(told.next)


def _candidate_lines(told: Account, candidate: Candidate) -> Iterator[str]:
    low, high = candidate.fault_range.self_
    yield f"  {_called(candidate)}: {told.titles[candidate.chart]}"
    yield (
        f"    self {candidate.fault.self_} : other {candidate.fault.other}"
        f" (base {candidate.base_fault.self_} : {candidate.base_fault.other}, self between {low} and {high})"
    )
    for modifier in candidate.modifiers:
        label = told.labels[f"{candidate.chart}/{modifier.code}"]
        yield f"    modifier {modifier.delta:+d} on {modifier.party}: {label} [{modifier.code}]"
    if candidate.met:
        yield "    met   " + ", ".join(f"{_key(fact)}={fact.value}" for fact in candidate.met)
    if candidate.open:
        yield "    open  " + ", ".join(_open(fact) for fact in candidate.open)


def _open(fact: Fact) -> str:
    said = "" if fact.status in (None, Status.OBSERVED) else f", is {fact.status}"
    return f"{_key(fact)} (needs {' or '.join(fact.expects)}{said})"


def _elimination_lines(eliminated: tuple[Eliminated, ...]) -> Iterator[str]:
    by_answer: dict[str, list[str]] = {}
    for each in eliminated:
        answer = f"{each.by.question_id}/{each.by.party}={each.by.value} (needs {' or '.join(each.by.expects)})"
        by_answer.setdefault(answer, []).append(_called(each))
    for answer, charts in by_answer.items():
        yield f"  by {answer}: {', '.join(charts)}"


def _closest_line(closest: Closest) -> str:
    variant = "" if closest.variant is None else f"({closest.variant})"
    failed = ", ".join(
        f"{each.question_id}/{each.party}={each.value} (needs {' or '.join(each.expects)})" for each in closest.but_for
    )
    return f"  {closest.chart}{variant} with self as {closest.self_is} but for {failed}"


def _next_lines(asked: Next | None) -> Iterator[str]:
    if asked is None:
        yield "next question: none"
        return
    yield f"next question: {asked.question_id}/{asked.party}: {asked.text}"
    if asked.why == "gate":
        yield "  a gate: it decides whether the chapter applies"
    elif asked.why == "separates":
        yield "  its answer separates what stands:"
        for branch in asked.branches:
            yield f"    {branch.value}: {branch.left} left" + (
                f" ({', '.join(branch.charts)})" if branch.charts else ""
            )
    elif asked.why == "required_condition":
        yield "  a required condition of the chart that is left"
    for decided in asked.modifiers:
        yield f"  it decides the modifier {decided.code} ({decided.delta:+d} on {decided.party})"
    if asked.precondition_open:
        yield "  its precondition is still open; nothing whose precondition holds was left to ask"


def _called(each: Candidate | Eliminated) -> str:
    return f"{each.chart}{f'({each.variant})' if each.variant else ''} with self as {each.self_is}"


def _key(fact: Fact) -> str:
    return f"{fact.question_id}/{fact.party}"
