"""Evaluation: from answers to the charts that they leave standing, their shares, and the next question.

Three-valued after Kleene: an observed answer meets or breaks a condition, an abstention leaves it open
and rules nothing out. Both assignments of the two vehicles to A and B, and every variant, stand until
answers decide. The result depends on the set of answers alone, never on their order.

What a position makes of the answers is remembered by the answers that bear on it, and so are whole
evaluations; no caller can tell but by the clock.
"""

from collections.abc import Callable, Hashable, Sequence
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from vlmrec.engine.compiled import Position, Tables
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
    FaultRange,
    Shares,
)
from vlmrec.terms import Party, QuestionRef, TurnKey

if TYPE_CHECKING:
    from vlmrec.engine.reference import Reference

NOTHING_DISCRIMINATES = "no_discriminating_question"
REMEMBERED = 20_000
REMEMBERED_PER_POSITION = 4_000

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


def evaluate(reference: "Reference", request: EvaluateRequest) -> Evaluation:
    """The reply to ``POST /evaluate``. Raises RequestError for an item that the engine refuses."""
    state, closed = encode_request(reference.tables, request)
    return _remembered(reference.memory.evaluations, (state, closed), lambda: _evaluate(reference, state, closed))


class Memory:
    """What was worked out before, by what it depends on. Bounded, and of no consequence but for speed."""

    __slots__ = ("candidates", "eliminated", "evaluations", "separators", "splits")

    def __init__(self, positions: int) -> None:
        self.candidates: list[dict[int, Candidate]] = [{} for _ in range(positions)]
        self.eliminated: list[dict[int, Eliminated]] = [{} for _ in range(positions)]
        self.evaluations: dict[tuple[int, int], Evaluation] = {}
        self.splits: dict[int, Split] = {}
        self.separators: dict[int, tuple[TurnKey, ...]] = {}


class Split(NamedTuple):
    """What the observed answers leave standing, also as a bit mask, and what they rule out."""

    standing: tuple[Position, ...]
    alive: int
    eliminated: tuple[Eliminated, ...]


def _evaluate(reference: "Reference", state: int, closed: int) -> Evaluation:
    tables, memory = reference.tables, reference.memory
    split = _remembered(memory.splits, state & tables.breaking, lambda: _split(tables, memory, state))
    candidates = tuple(
        _remembered(
            memory.candidates[position.number],
            state & position.atoms,
            partial(_candidate, position, state),
            REMEMBERED_PER_POSITION,
        )
        for position in split.standing
    )
    asked = None
    if candidates:
        separators = _remembered(memory.separators, split.alive, lambda: separating_questions(tables, split.alive))
        asked = next_question(tables, separators, split.standing, state, closed)
    status, stop_reason = _status(tables, candidates, asked, state)
    return Evaluation(
        engine_version=reference.ledger.engine_version,
        data_version=reference.data_version,
        status=status,
        stop_reason=stop_reason,
        candidates=candidates,
        eliminated=split.eliminated,
        next_question=None if asked is None else QuestionRef(question_id=asked.question_id, party=asked.party),
    )


def _remembered(known: dict[K, V], key: K, work: Callable[[], V], limit: int = REMEMBERED) -> V:
    found = known.get(key)
    if found is None:
        if len(known) >= limit:
            known.clear()
        found = known[key] = work()
    return found


def _split(tables: Tables, memory: Memory, state: int) -> Split:
    standing: list[Position] = []
    eliminated: list[Eliminated] = []
    alive = 0
    for position in tables.positions:
        broken = state & position.breaking
        if not broken:
            standing.append(position)
            alive |= 1 << position.number
            continue
        first = broken & -broken  # atoms are numbered in ledger order, so this is the first answer that breaks it
        gone = memory.eliminated[position.number].get(first)
        if gone is None:
            gone = memory.eliminated[position.number][first] = _eliminated(tables, position, first)
        eliminated.append(gone)
    return Split(tuple(standing), alive, tuple(eliminated))


def _candidate(position: Position, state: int) -> Candidate:
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
            AppliedModifier(
                code=row.code, party=Party.SELF if row.role == position.self_is else Party.OTHER, delta=row.delta
            )
            for row in result.counted
        ),
        met=tuple(need.facts[state & need.atoms] for need in position.needs if state & need.yes),
        open=tuple(need.facts[state & need.atoms] for need in position.needs if not state & need.yes),
    )


def _eliminated(tables: Tables, position: Position, breaking: int) -> Eliminated:
    key, _, value = tables.values[breaking.bit_length() - 1]
    failed = next(barrier for barrier in position.barriers if barrier.no & breaking)
    return Eliminated(
        chart=position.chart.id,
        variant=None if position.variant is None else position.variant.key,
        self_is=position.self_is,
        by=EliminatedBy(question_id=key.question_id, party=key.party, value=value, expects=failed.expects),
    )


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


def _shares(share_a: int, self_is_a: bool) -> Shares:
    share = share_a if self_is_a else 100 - share_a
    return Shares(self_=share, other=100 - share)
