"""Which question comes next.

In this order: gates; what separates the charts still standing; what settles the last one (assignment,
variant, required conditions); its visible modifiers. Of all these, those whose precondition holds come
before those whose precondition is still open, and one whose precondition is false never comes.
Separating questions are ranked by the expected number of positions left, ties by ledger order.
"""

from collections.abc import Iterator, Sequence

from vlmrec.engine.compiled import Position, Tables
from vlmrec.engine.modifiers import is_gated
from vlmrec.terms import TurnKey


def next_question(
    tables: Tables, separators: tuple[TurnKey, ...], standing: Sequence[Position], state: int, closed: int
) -> TurnKey | None:
    """The next question, or None. ``closed`` has the bit of each question that was answered or skipped.

    ``separators`` are ``separating_questions`` of what stands; they depend on nothing else, so a caller may keep them.
    """
    undecided = None
    for key in _worth_asking(tables, separators, standing, state):
        if closed & tables.key_bit[key]:
            continue
        verdict = tables.precondition(key, state)
        if verdict:
            return key
        if verdict is None and undecided is None:
            undecided = key
    return undecided


def separating_questions(tables: Tables, alive: int) -> tuple[TurnKey, ...]:
    """Questions of which some value rules out a part of what stands, the best split first."""
    total = alive.bit_count()
    ranked: list[tuple[float, int, TurnKey]] = []
    for number, (key, masks) in enumerate(tables.survivors.items()):
        left = [(alive & mask).bit_count() for mask in masks]
        if any(0 < count < total for count in left):
            # a value is as likely as the number of positions that allow it; quotients of integers this small
            # are equal or apart as doubles just as they are as fractions, so ties are the same everywhere
            ranked.append((sum(count * count for count in left) / sum(left), number, key))
    return tuple(key for _, _, key in sorted(ranked, key=lambda entry: entry[:2]))


def _worth_asking(
    tables: Tables, separators: tuple[TurnKey, ...], standing: Sequence[Position], state: int
) -> Iterator[TurnKey]:
    for gate in tables.gates:
        yield gate.key
    yield from separators
    if len({position.chart.id for position in standing}) == 1:
        yield from _required(tables, standing)
        yield from _modifiers(tables, standing, state)


def _required(tables: Tables, standing: Sequence[Position]) -> list[TurnKey]:
    keys = {need.key for position in standing for need in position.needs}
    return sorted(keys, key=tables.ledger.order)


def _modifiers(tables: Tables, standing: Sequence[Position], state: int) -> Iterator[TurnKey]:
    for position in standing:
        observed = [row.row for row in position.rows if row.holds(state)]
        open_rows = [row for row in position.rows if row.row.ask and row.row not in observed]
        for row in sorted(open_rows, key=lambda row: -abs(row.row.delta)):
            if is_gated(position.base_a, observed, position.chart.rules, row.row):
                continue
            for alternative in row.when:
                if not any(state & need.no for need in alternative):
                    yield from (need.key for need in alternative if need.key in tables.observable)
