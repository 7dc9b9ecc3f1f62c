"""Layer 1: single answers against what people saw. Pure counting.

Correct: the same value, or an abstention where the person abstained too. Wrong: another value. Missed: the
person observed and the model abstained. Invented: the person abstained and the model did not. What was never
put to the model, or could not be read, is none of these and is counted apart.
"""

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import NamedTuple, TypeAlias

from msgspec import Struct

from vlmrec.gold import GoldAnswer
from vlmrec.terms import Party, Status, TurnKey


class Verdict(StrEnum):
    """What an answer is, beside the label."""

    CORRECT = "correct"
    WRONG = "wrong"
    MISSED = "missed"
    INVENTED = "invented"


class Given(Struct, frozen=True, gc=False):  # a long run holds many, and none can be part of a cycle
    """An accepted answer, as layer 1 needs it."""

    event: str
    status: Status
    value: str | None
    source: str
    start: float | None
    end: float | None
    demoted_from: str | None


Answers: TypeAlias = Mapping[tuple[str, Party], Given]
"""Accepted answers by question and party: plain pairs, which cost less to keep than named ones."""


class Item(NamedTuple):
    """One label that met an answer."""

    key: TurnKey
    verdict: Verdict
    given: Given
    gold: GoldAnswer


class Tally(Struct, frozen=True, kw_only=True):
    """Items by verdict. The four sum to ``items``."""

    items: int
    correct: int
    wrong: int
    missed: int
    invented: int
    accuracy: float | None


class TurnTally(Struct, frozen=True, kw_only=True):
    """The tally of one question as put for one party."""

    question_id: str
    party: str
    tally: Tally


class Discipline(Struct, frozen=True, kw_only=True):
    """How well the model knows when not to answer."""

    observed: int
    """Labelled items that the model answered with a value."""
    precision: float | None
    """Of those, the share that is right."""
    to_be_seen: int
    """Labelled items that the person answered with a value."""
    recall: float | None
    missed_share: float | None
    """Of those, the share on which the model abstained."""
    not_to_be_seen: int
    """Labelled items on which the person abstained."""
    invented_share: float | None
    """Of those, the share that the model answered with a value."""
    kinds: dict[str, dict[str, int]]
    """Abstention against abstention: the person's kind, then the model's."""


class Evidence(Struct, frozen=True, kw_only=True):
    """Whether observed answers cite a time, and whether it meets the time the person cites."""

    observed: int
    cited: int
    cited_share: float | None
    comparable: int
    """Right answers where both cite a time."""
    overlapping: int
    """Of those, the two spans meet."""


def verdict(given: Given, gold: GoldAnswer) -> Verdict:
    """What one answer is, beside its label."""
    seen, answered = gold.status is Status.OBSERVED, given.status is Status.OBSERVED
    if seen and answered:
        return Verdict.CORRECT if given.value == gold.value else Verdict.WRONG
    if seen:
        return Verdict.MISSED
    return Verdict.INVENTED if answered else Verdict.CORRECT


def items(answers: Answers, gold: Mapping[TurnKey, GoldAnswer]) -> tuple[Item, ...]:
    """Every label that met an answer the model was asked for, in order of turn."""
    return tuple(
        Item(key, verdict(answers[key], gold[key]), answers[key], gold[key])
        for key in sorted(gold)
        if key in answers and answers[key].source != "not_observable"
    )


def tally(verdicts: Iterable[Verdict]) -> Tally:
    """The count of each verdict."""
    found = list(verdicts)
    correct = found.count(Verdict.CORRECT)
    return Tally(
        items=len(found),
        correct=correct,
        wrong=found.count(Verdict.WRONG),
        missed=found.count(Verdict.MISSED),
        invented=found.count(Verdict.INVENTED),
        accuracy=share(correct, len(found)),
    )


def by_turn(found: Iterable[Item]) -> tuple[TurnTally, ...]:
    """A tally for every question and party, in order of both."""
    verdicts: dict[TurnKey, list[Verdict]] = {}
    for item in found:
        verdicts.setdefault(item.key, []).append(item.verdict)
    return tuple(
        TurnTally(question_id=key.question_id, party=key.party, tally=tally(verdicts[key])) for key in sorted(verdicts)
    )


def discipline(found: Iterable[Item]) -> Discipline:
    """Precision of observed answers, missed and invented, and the kinds of abstention side by side."""
    every = list(found)
    observed = [item for item in every if item.given.status is Status.OBSERVED]
    seen = [item for item in every if item.gold.status is Status.OBSERVED]
    unseen = [item for item in every if item.gold.status is not Status.OBSERVED]
    right = sum(item.verdict is Verdict.CORRECT for item in observed)
    kinds: dict[str, dict[str, int]] = {}
    for item in unseen:
        if item.given.status is not Status.OBSERVED:
            row = kinds.setdefault(item.gold.status, {})
            row[item.given.status] = row.get(item.given.status, 0) + 1
    return Discipline(
        observed=len(observed),
        precision=share(right, len(observed)),
        to_be_seen=len(seen),
        recall=share(right, len(seen)),
        missed_share=share(sum(item.verdict is Verdict.MISSED for item in seen), len(seen)),
        not_to_be_seen=len(unseen),
        invented_share=share(sum(item.verdict is Verdict.INVENTED for item in unseen), len(unseen)),
        kinds={kind: dict(sorted(row.items())) for kind, row in sorted(kinds.items())},
    )


def evidence(answers: Iterable[Given], found: Iterable[Item]) -> Evidence:
    """Times cited with observed answers, labelled or not; and how right answers' times meet the person's."""
    observed = [given for given in answers if given.status is Status.OBSERVED and given.source == "model"]
    cited = sum(given.start is not None for given in observed)
    both = [
        (item.given.start, item.given.end, item.gold.evidence_start, item.gold.evidence_end)
        for item in found
        if item.verdict is Verdict.CORRECT and item.given.start is not None and item.gold.evidence_start is not None
    ]
    meeting = sum(_meets(start, end, from_, to) for start, end, from_, to in both)
    return Evidence(
        observed=len(observed),
        cited=cited,
        cited_share=share(cited, len(observed)),
        comparable=len(both),
        overlapping=meeting,
    )


def share(part: int, whole: int) -> float | None:
    """A ratio, or None of nothing."""
    return part / whole if whole else None


def _meets(start: float | None, end: float | None, from_: float | None, to: float | None) -> bool:
    if start is None or from_ is None:
        return False
    return start <= (from_ if to is None else to) and from_ <= (start if end is None else end)
