"""Evaluation: from answers to the charts that they leave standing, their shares, and the next question.

Three-valued after Kleene: an observed answer meets or breaks a condition, an abstention leaves it open
and rules nothing out. Both assignments of the two vehicles to A and B, and every variant, stand until
answers decide. The result depends on the set of answers alone, never on their order.

What a position makes of the answers is remembered by the answers that bear on it, and so are whole
evaluations; no caller can tell but by the clock.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from vlmrec.engine.compiled import Need, Position, Tables
from vlmrec.engine.modifiers import apply_rows
from vlmrec.engine.planner import next_question, separating_questions
from vlmrec.engine.requests import encode_request
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
from vlmrec.terms import QuestionRef, TurnKey

if TYPE_CHECKING:
    from vlmrec.engine.reference import Reference

NOTHING_DISCRIMINATES = "no_discriminating_question"
REMEMBERED = 20_000


def evaluate(reference: "Reference", request: EvaluateRequest) -> Evaluation:
    """The reply to ``POST /evaluate``. Raises RequestError for an item that the engine refuses."""
    state, closed = encode_request(reference.tables, request)
    memory = reference.memory
    known = memory.evaluations.get((state, closed))
    if known is None:
        known = _evaluate(reference, state, closed)
        if len(memory.evaluations) >= REMEMBERED:
            memory.evaluations.clear()
        memory.evaluations[(state, closed)] = known
    return known


class Memory:
    """What was worked out before, by what it depends on. Bounded, and of no consequence but for speed."""

    __slots__ = ("accounts", "evaluations", "separators")

    def __init__(self, positions: int) -> None:
        self.accounts: list[dict[int, Candidate | Eliminated]] = [{} for _ in range(positions)]
        self.evaluations: dict[tuple[int, int], Evaluation] = {}
        self.separators: dict[int, tuple[TurnKey, ...]] = {}


def account(tables: Tables, position: Position, state: int) -> Candidate | Eliminated:
    """What the answers make of one position: a candidate with met and open facts, or ruled out by which answer."""
    for need in position.barriers:
        if state & need.no:
            return _eliminated(tables, position, need, state)
    observed = [row.row for row in position.rows if row.holds(state)]
    result = apply_rows(position.base_a, observed, position.chart.rules)
    self_is_a = position.self_is == "A"
    low, high = result.lowest_a, result.highest_a
    return Candidate(
        chart=position.chart.id,
        variant=None if position.variant is None else position.variant.key,
        self_is=position.self_is,
        base_fault=_shares(position.base_a, self_is_a),
        fault=_shares(result.share_a, self_is_a),
        fault_range=FaultRange(self_=(low, high) if self_is_a else (100 - high, 100 - low)),
        modifiers=tuple(
            AppliedModifier(code=row.row.code, party=row.party, delta=row.row.delta)
            for row in position.rows
            if row.row in result.counted
        ),
        met=tuple(_fact(tables, need, state) for need in position.needs if state & need.yes),
        open=tuple(_fact(tables, need, state) for need in position.needs if not state & need.yes),
    )


def _evaluate(reference: "Reference", state: int, closed: int) -> Evaluation:
    tables, memory = reference.tables, reference.memory
    candidates: list[Candidate] = []
    eliminated: list[Eliminated] = []
    standing: list[Position] = []
    alive = 0
    for position, accounts in zip(tables.positions, memory.accounts, strict=True):
        bearing = state & position.atoms
        found = accounts.get(bearing)
        if found is None:
            if len(accounts) >= REMEMBERED:
                accounts.clear()
            found = accounts[bearing] = account(tables, position, bearing)
        if isinstance(found, Candidate):
            candidates.append(found)
            standing.append(position)
            alive |= 1 << position.number
        else:
            eliminated.append(found)
    asked = None
    if standing:
        asked = next_question(tables, _separators(tables, memory, alive), tuple(standing), state, closed)
    status, stop_reason = _status(tables, candidates, asked, state)
    return Evaluation(
        engine_version=reference.ledger.engine_version,
        data_version=reference.data_version,
        status=status,
        stop_reason=stop_reason,
        candidates=tuple(candidates),
        eliminated=tuple(eliminated),
        next_question=None if asked is None else QuestionRef(question_id=asked.question_id, party=asked.party),
    )


def _separators(tables: Tables, memory: Memory, alive: int) -> tuple[TurnKey, ...]:
    found = memory.separators.get(alive)
    if found is None:
        if len(memory.separators) >= REMEMBERED:
            memory.separators.clear()
        found = memory.separators[alive] = separating_questions(tables, alive)
    return found


def _status(
    tables: Tables, candidates: Sequence[Candidate], asked: TurnKey | None, state: int
) -> tuple[EngineStatus, str | None]:
    if not candidates:
        for gate in tables.gates:
            for need in gate.out:
                if state & need.no:
                    _, value = tables.answer(need.key, state)
                    return EngineStatus.OUT_OF_SCOPE, f"gate:{need.key.question_id}/{need.key.party}={value}"
        return EngineStatus.NONE, None
    if len({candidate.chart for candidate in candidates}) > 1:
        return (EngineStatus.OPEN, NOTHING_DISCRIMINATES) if asked is None else (EngineStatus.ASKING, None)
    if len(candidates) == 1 and not candidates[0].open:
        return EngineStatus.CONFIRMED, None
    return EngineStatus.LEADING, None


def _eliminated(tables: Tables, position: Position, need: Need, state: int) -> Eliminated:
    _, value = tables.answer(need.key, state)
    return Eliminated(
        chart=position.chart.id,
        variant=None if position.variant is None else position.variant.key,
        self_is=position.self_is,
        by=EliminatedBy(question_id=need.key.question_id, party=need.key.party, value=value),
    )


def _fact(tables: Tables, need: Need, state: int) -> Fact:
    status, value = tables.answer(need.key, state)
    return Fact(
        question_id=need.key.question_id, party=need.key.party, expects=need.expects, status=status, value=value
    )


def _shares(share_a: int, self_is_a: bool) -> Shares:
    share = share_a if self_is_a else 100 - share_a
    return Shares(self_=share, other=100 - share)
