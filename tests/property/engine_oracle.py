"""A second engine, written for plainness alone: it reads chart data afresh and works everything out by definition.

It shares no table, bit mask or memory with the engine that it judges.
"""

from fractions import Fraction
from itertools import product
from typing import NamedTuple

from vlmrec.engine.charts import Chart, Condition, Row, Variant
from vlmrec.engine.reference import Reference
from vlmrec.ledger import Ledger, by_turn
from vlmrec.protocol import (
    AppliedModifier,
    Candidate,
    Eliminated,
    EliminatedBy,
    EngineStatus,
    EvaluateRequest,
    Evaluation,
    Fact,
    FaultRange,
    Shares,
)
from vlmrec.question import precondition
from vlmrec.terms import Answer, Party, QuestionRef, Status, TurnKey


class Side(NamedTuple):
    chart: Chart
    variant: Variant | None
    self_is: str

    @property
    def base_a(self) -> int:
        return self.chart.base_a if self.variant is None else self.variant.base_a


def evaluate_plainly(reference: Reference, request: EvaluateRequest) -> Evaluation:
    answers = by_turn(request.answers)
    closed = set(answers) | {ref.key for ref in request.skip}
    candidates, eliminated, standing = [], [], []
    for side in sides(reference):
        breaker = first_breaker(reference, side, answers)
        if breaker is None:
            standing.append(side)
            candidates.append(candidate(reference, side, answers))
        else:
            key, expects = breaker
            by = EliminatedBy(
                question_id=key.question_id,
                party=key.party,
                value=answers[key].value,
                expects=in_order(reference, key, expects),
            )
            variant = None if side.variant is None else side.variant.key
            eliminated.append(Eliminated(chart=side.chart.id, variant=variant, self_is=side.self_is, by=by))
    asked = plan(reference, standing, answers, closed) if standing else None
    status, reason = status_of(reference, candidates, asked, answers)
    return Evaluation(
        engine_version=reference.ledger.engine_version,
        data_version=reference.data_version,
        status=status,
        stop_reason=reason,
        candidates=tuple(candidates),
        eliminated=tuple(eliminated),
        next_question=None if asked is None else QuestionRef(question_id=asked.question_id, party=asked.party),
    )


def sides(reference: Reference) -> list[Side]:
    return [
        Side(chart, variant, self_is)
        for chart in reference.charts
        for self_is in ("A", "B")
        for variant in (chart.variants or (None,))
    ]


def bound(condition: Condition, self_is: str, ledger: Ledger) -> tuple[TurnKey, set[str]]:
    if condition.role == "none":
        party = Party.NONE
    elif condition.role == self_is:
        party = Party.SELF
    else:
        party = Party.OTHER
    flip = ledger.question(condition.question).flip if self_is == "B" else {}
    return TurnKey(condition.question, party), {flip.get(value, value) for value in condition.values}


_NEEDS: dict[tuple[str, str, str | None, str], dict[TurnKey, set[str]]] = {}


def needs(reference: Reference, side: Side) -> dict[TurnKey, set[str]]:
    """Worked out once for each side: chart data don't change."""
    name = (reference.data_version, side.chart.id, side.variant and side.variant.key, side.self_is)
    if name not in _NEEDS:
        _NEEDS[name] = read_needs(reference, side)
    return _NEEDS[name]


def read_needs(reference: Reference, side: Side) -> dict[TurnKey, set[str]]:
    found: dict[TurnKey, set[str]] = {}
    conditions = list(side.chart.where) + ([] if side.variant is None else list(side.variant.where))
    pairs = [bound(condition, side.self_is, reference.ledger) for condition in conditions]
    for gate in reference.chapter.gates:
        if gate.required:
            pairs.append((TurnKey(gate.question, Party(gate.party)), set(gate.in_scope)))
    for key, values in pairs:
        found[key] = found.get(key, values) & values
    return found


def vetoes(reference: Reference) -> list[tuple[TurnKey, set[str]]]:
    return [
        (TurnKey(gate.question, party), set(gate.in_scope))
        for gate in reference.chapter.gates
        for party in reference.ledger.question(gate.question).parties
    ]


def truth(answers: dict[TurnKey, Answer], key: TurnKey, values: set[str]) -> bool | None:
    answer = answers.get(key)
    if answer is None or answer.status is not Status.OBSERVED:
        return None
    return answer.value in values


def first_breaker(reference: Reference, side: Side, answers: dict[TurnKey, Answer]) -> tuple[TurnKey, set[str]] | None:
    """In ledger order; of two conditions on one question the chart's own."""
    conditions = [*needs(reference, side).items(), *vetoes(reference)]
    broken = [(key, values) for key, values in conditions if truth(answers, key, values) is False]
    return min(broken, key=lambda pair: reference.ledger.order(pair[0]), default=None)


def in_order(reference: Reference, key: TurnKey, values: set[str]) -> tuple[str, ...]:
    return tuple(code for code in reference.ledger.question(key.question_id).codes if code in values)


def candidate(reference: Reference, side: Side, answers: dict[TurnKey, Answer]) -> Candidate:
    required = sorted(needs(reference, side).items(), key=lambda item: reference.ledger.order(item[0]))
    counted = counted_rows(side, [row for row in side.chart.rows if row_holds(reference, side, row, answers)])
    pulls = [row.delta if row.role == side.self_is else -row.delta for row in counted]
    base = side.base_a if side.self_is == "A" else 100 - side.base_a
    possible = [clamp(base + sum(choice)) for choice in product(*((0, pull) for pull in pulls))]
    full = clamp(base + sum(pulls))

    def fact(key: TurnKey, values: set[str]) -> Fact:
        answer = answers.get(key)
        return Fact(
            question_id=key.question_id,
            party=key.party,
            expects=in_order(reference, key, values),
            status=None if answer is None else answer.status,
            value=None if answer is None else answer.value,
        )

    return Candidate(
        chart=side.chart.id,
        variant=None if side.variant is None else side.variant.key,
        self_is=side.self_is,
        base_fault=Shares(self_=base, other=100 - base),
        fault=Shares(self_=full, other=100 - full),
        fault_range=FaultRange(self_=(min(possible), max(possible))),
        modifiers=tuple(
            AppliedModifier(
                code=row.code, party=Party.SELF if row.role == side.self_is else Party.OTHER, delta=row.delta
            )
            for row in counted
        ),
        met=tuple(fact(key, values) for key, values in required if truth(answers, key, values)),
        open=tuple(fact(key, values) for key, values in required if not truth(answers, key, values)),
    )


def row_holds(reference: Reference, side: Side, row: Row, answers: dict[TurnKey, Answer]) -> bool:
    for alternative in row.when:
        pairs = [bound(condition, side.self_is, reference.ledger) for condition in alternative]
        if all(truth(answers, key, values) for key, values in pairs):
            return True
    return False


def counted_rows(side: Side, observed: list[Row]) -> list[Row]:
    rules = side.chart.rules
    rows = observed
    for sets in rules.exclusive_sets:
        winner = None
        for names in sets:
            if winner is None and any(row.name in names for row in rows):
                winner = names
        losers = [name for names in sets if names != winner for name in names]
        rows = [row for row in rows if row.name not in losers]
    for group in [("A.marked", "A.gross"), ("B.marked", "B.gross"), *rules.exclusive]:
        inside = [row for row in rows if row.name in group]
        if len(inside) > 1:
            size = max(abs(row.delta) for row in inside)
            kept = next(row for row in inside if abs(row.delta) == size)
            rows = [row for row in rows if row is kept or row not in inside]
    return [row for row in rows if not held_back(side, rows, row)]


def held_back(side: Side, rows: list[Row], row: Row) -> bool:
    gate = side.chart.rules.gate
    if gate is None or row.role != gate or row.delta < 0:
        return False
    share = side.base_a if gate == "A" else 100 - side.base_a
    for other in rows:
        if other.role != gate:
            share -= other.delta
    return share >= 100


def clamp(share: int) -> int:
    return max(0, min(100, share))


def status_of(
    reference: Reference, candidates: list[Candidate], asked: TurnKey | None, answers: dict[TurnKey, Answer]
) -> tuple[EngineStatus, str | None]:
    if not candidates:
        for key, values in vetoes(reference):
            if truth(answers, key, values) is False:
                return EngineStatus.OUT_OF_SCOPE, f"gate:{key.question_id}/{key.party}={answers[key].value}"
        return EngineStatus.NONE, None
    if len({each.chart for each in candidates}) > 1:
        if asked is None:
            return EngineStatus.OPEN, "no_discriminating_question"
        return EngineStatus.ASKING, None
    settled = len(candidates) == 1 and not candidates[0].open
    return (EngineStatus.CONFIRMED if settled else EngineStatus.LEADING), None


def plan(
    reference: Reference, standing: list[Side], answers: dict[TurnKey, Answer], closed: set[TurnKey]
) -> TurnKey | None:
    ledger = reference.ledger
    undecided = None
    for key in [key for phase in phases(reference, standing, answers) for key in phase]:
        if key in closed:
            continue
        verdict = precondition(ledger.question(key.question_id), key.party, answers)
        if verdict is True:
            return key
        if verdict is None and undecided is None:
            undecided = key
    return undecided


def phases(reference: Reference, standing: list[Side], answers: dict[TurnKey, Answer]) -> list[list[TurnKey]]:
    ledger = reference.ledger
    barred = vetoes(reference)
    found = [[TurnKey(gate.question, Party(gate.party)) for gate in reference.chapter.gates]]
    splits = []
    for key in ledger.turns:
        left = [
            sum(allows(needs(reference, side), barred, key, code) for side in standing)
            for code in ledger.question(key[0]).codes
        ]
        if any(0 < count < len(standing) for count in left):
            splits.append((Fraction(sum(n * n for n in left), sum(left)), ledger.order(key), key))
    found.append([key for _, _, key in sorted(splits)])
    if len({side.chart.id for side in standing}) > 1:
        return found
    found.append(sorted({key for side in standing for key in needs(reference, side)}, key=ledger.order))
    rows: list[TurnKey] = []
    for side in standing:
        holding = [row for row in side.chart.rows if row_holds(reference, side, row, answers)]
        wanted = [row for row in side.chart.rows if row.ask and row not in holding]
        for row in sorted(wanted, key=lambda row: -abs(row.delta)):
            if not held_back(side, holding, row):
                for alternative in row.when:
                    pairs = [bound(condition, side.self_is, ledger) for condition in alternative]
                    if not any(truth(answers, key, values) is False for key, values in pairs):
                        rows += [key for key, _ in pairs]
    found.append([key for key in rows if ledger.question(key[0]).observable])
    return found


def allows(required: dict[TurnKey, set[str]], barred: list[tuple[TurnKey, set[str]]], key: TurnKey, code: str) -> bool:
    if key in required and code not in required[key]:
        return False
    return all(code in values for veto, values in barred if veto == key)
