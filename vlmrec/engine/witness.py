"""Answers that meet a chart exactly: for proofs that it can be reached, and as material for tests and examples."""

from vlmrec.engine.compiled import Position
from vlmrec.engine.reference import Reference
from vlmrec.terms import Answer, Status, TurnKey


def witness(position: Position) -> tuple[Answer, ...]:
    """One observed answer for each required condition, in ledger order: the first value that is expected."""
    return tuple(observed(need.key, need.expects[0]) for need in position.needs)


def observed(key: TurnKey, value: str) -> Answer:
    """An observed answer."""
    return Answer(question_id=key.question_id, party=key.party, status=Status.OBSERVED, value=value)


def unknown(key: TurnKey) -> Answer:
    """The abstention ``unknown``."""
    return Answer(question_id=key.question_id, party=key.party, status=Status.UNKNOWN)


def position_of(reference: Reference, chart: str, self_is: str, variant: str | None = None) -> Position:
    """The position of a chart, variant and assignment. Raises KeyError where there is none."""
    for position in reference.tables.positions:
        key = None if position.variant is None else position.variant.key
        if (position.chart.id, position.self_is, key) == (chart, self_is, variant):
            return position
    raise KeyError((chart, self_is, variant))
