"""Whether answers follow the place of an option rather than what it says. Pure.

Two runs that show options in different orders are laid side by side: an answer that changed and chose the same
place in both lists was chosen by its place.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple, TypeAlias

from msgspec import Struct

from vlmrec.projections.findings import Answered, Elsewhere, Finding
from vlmrec.projections.layer1 import share
from vlmrec.terms import Status, TurnKey


class Shown(Struct, frozen=True, gc=False):
    """The options of a turn in the order shown, and the round it was put in."""

    codes: tuple[str, ...]
    round: int


OfClip: TypeAlias = tuple[Mapping[TurnKey, Answered], Mapping[TurnKey, Shown]]


class OrderEffect(Struct, frozen=True, kw_only=True):
    """Two runs that differ in axis O, over the turns that both answered with a value under different orders."""

    a: int
    b: int
    turns: int
    changed: int
    changed_share: float | None
    same_place: int
    """Of the changed, those that chose the same place in both orders."""
    first_a: float | None
    """How often run ``a`` chose the first option it was shown; with no preference, one in the number of options."""
    first_b: float | None
    first_expected: float | None


class _Pair(NamedTuple):
    clip: str
    key: TurnKey
    a: Answered
    b: Answered
    place_a: int
    place_b: int
    options: int


def order_effects(runs: Sequence[Mapping[str, OfClip]], orders: Sequence[str | None]) -> tuple[OrderEffect, ...]:
    """Every pair of runs with different option orders."""
    return tuple(_effect(a, b, _pairs(runs[a], runs[b])) for a, b in _differing(orders))


def order_findings(runs: Sequence[Mapping[str, OfClip]], orders: Sequence[str | None]) -> list[Finding]:
    """Each answer that changed with the order and kept its place; charged to the second run of a pair."""
    found = []
    for a, b in _differing(orders):
        for pair in _pairs(runs[a], runs[b]):
            if pair.a.answer.value != pair.b.answer.value and pair.place_a == pair.place_b:
                found.append(
                    Finding(
                        kind="order",
                        rule="same_place",
                        run=b,
                        clip=pair.clip,
                        stage="predicate",
                        question_id=pair.key.question_id,
                        party=pair.key.party,
                        event=pair.b.event,
                        message=f"{pair.a.answer.value} became {pair.b.answer.value}: option {pair.place_b + 1} in both orders",
                        against=Elsewhere(
                            question_id=pair.key.question_id,
                            party=pair.key.party,
                            event=pair.a.event,
                            words=pair.a.answer.value or "",
                        ),
                    )
                )
    return found


def _differing(orders: Sequence[str | None]) -> list[tuple[int, int]]:
    return [
        (a, b)
        for a in range(len(orders))
        for b in range(a + 1, len(orders))
        if orders[a] is not None and orders[b] is not None and orders[a] != orders[b]
    ]


def _pairs(of_a: Mapping[str, OfClip], of_b: Mapping[str, OfClip]) -> list[_Pair]:
    pairs = []
    for clip in sorted(set(of_a) & set(of_b)):
        (answers_a, shown_a), (answers_b, shown_b) = of_a[clip], of_b[clip]
        for key in sorted(set(answers_a) & set(answers_b) & set(shown_a) & set(shown_b)):
            one, two, codes_a, codes_b = answers_a[key], answers_b[key], shown_a[key].codes, shown_b[key].codes
            if codes_a == codes_b or set(codes_a) != set(codes_b):
                continue
            value_a, value_b = one.answer.value, two.answer.value
            if value_a in codes_a and value_b in codes_b and _observed(one) and _observed(two):
                places = codes_a.index(value_a), codes_b.index(value_b)
                pairs.append(_Pair(clip, key, one, two, *places, len(codes_a)))
    return pairs


def _observed(answered: Answered) -> bool:
    return answered.answer.status is Status.OBSERVED


def _effect(a: int, b: int, pairs: Sequence[_Pair]) -> OrderEffect:
    changed = [pair for pair in pairs if pair.a.answer.value != pair.b.answer.value]
    return OrderEffect(
        a=a,
        b=b,
        turns=len(pairs),
        changed=len(changed),
        changed_share=share(len(changed), len(pairs)),
        same_place=sum(pair.place_a == pair.place_b for pair in changed),
        first_a=share(sum(pair.place_a == 0 for pair in pairs), len(pairs)),
        first_b=share(sum(pair.place_b == 0 for pair in pairs), len(pairs)),
        first_expected=sum(1 / pair.options for pair in pairs) / len(pairs) if pairs else None,
    )
