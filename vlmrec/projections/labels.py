"""What the labels of a clip come to, when several people labelled it and one reviewed.

The rule: the reviewed label stands on top, answer by answer. Where it is silent, the labellers' answer
counts if all who gave one agree; if they don't, the item is *disputed* and left out, and counted as such.
The same goes for the final chart. A label made with another ledger than the run's has its answers left
out and counted; map them first.
"""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from msgspec import Struct

from vlmrec.gold import GoldAnswer, GoldLabel, GoldSet
from vlmrec.stats.agreement import Agreement, agreement
from vlmrec.table import EntityTable
from vlmrec.terms import ClipId, TurnKey

RULE = (
    "reviewed labels stand on top; elsewhere an answer counts where all labellers who gave one agree, "
    "and is left out as disputed where they do not"
)


class ClipGold(NamedTuple):
    """The label of a clip, as it is used."""

    answers: dict[TurnKey, GoldAnswer]
    disputed: frozenset[TurnKey]
    other_ledger: int
    leaf: str | None
    leaf_disputed: bool
    equivalent: frozenset[str]
    exclude: str | None
    self_fault: int | None
    table: EntityTable | None


class GoldMapping(Struct, frozen=True, kw_only=True):
    """How labels were carried from other ledgers to the run's, before they came here."""

    migrations: tuple[str, ...] = ()
    """Versions of the declared migrations that were used."""
    mapped: int = 0
    approximate: int = 0
    """Of the mapped answers, those said by a named rule rather than kept as they were."""
    unmapped: int = 0
    """Answers that say nothing in the run's ledger, left out."""


UNMAPPED = GoldMapping()


class GoldCounts(Struct, frozen=True, kw_only=True):
    """How many labels there were, and how many answers could not be used."""

    rule: str
    clips: int
    reviewed: int
    labellers: dict[str, int]
    answers: int
    disputed: int
    disputed_charts: int
    other_ledger: int
    """Answers of another ``data_version`` than the run's, left out."""
    mapping: GoldMapping


class LabellersCompared(Struct, frozen=True, kw_only=True):
    """Two labellers over all answers that both gave, over what was seen at all, and over final charts."""

    a: str
    b: str
    answers: Agreement
    by_question: dict[str, Agreement]
    charts: Agreement


def clip_gold(gold: GoldSet, *, data_version: str | None) -> dict[ClipId, ClipGold]:
    """The label of every labelled clip, by the rule."""
    return {clip: _of_clip(gold, clip, data_version) for clip in gold.clip_ids}


def only_clips(gold: GoldSet, clips: frozenset[str]) -> GoldSet:
    """The same labels, of these clips alone."""
    return GoldSet(
        reviewed=_only(gold.reviewed, clips),
        labellers={labeller: _only(labels, clips) for labeller, labels in gold.labellers.items()},
        content=gold.content,
    )


def gold_counts(gold: GoldSet, labels: Mapping[ClipId, ClipGold], mapping: GoldMapping) -> GoldCounts:
    """What the labels amount to."""
    return GoldCounts(
        rule=RULE,
        clips=len(labels),
        reviewed=len(gold.reviewed),
        labellers={labeller: len(found) for labeller, found in sorted(gold.labellers.items())},
        answers=sum(len(label.answers) for label in labels.values()),
        disputed=sum(len(label.disputed) for label in labels.values()),
        disputed_charts=sum(label.leaf_disputed for label in labels.values()),
        other_ledger=sum(label.other_ledger for label in labels.values()),
        mapping=mapping,
    )


def labellers_compared(gold: GoldSet) -> tuple[LabellersCompared, ...]:
    """Every pair of labellers, in order of name."""
    names = sorted(gold.labellers)
    return tuple(
        _compared(a, gold.labellers[a], b, gold.labellers[b]) for i, a in enumerate(names) for b in names[i + 1 :]
    )


def _of_clip(gold: GoldSet, clip: ClipId, data_version: str | None) -> ClipGold:
    reviewed = gold.reviewed.get(clip)
    others = [labels[clip] for _, labels in sorted(gold.labellers.items()) if clip in labels]
    every = [*([reviewed] if reviewed else []), *others]
    usable = [label for label in every if data_version is None or label.data_version == data_version]
    answers, disputed = _answers(reviewed, [label for label in others if label in usable], reviewed in usable)
    leaf = reviewed.leaf if reviewed else None
    leaves = {label.leaf for label in others if label.leaf is not None} if leaf is None else set()
    return ClipGold(
        answers=answers,
        disputed=disputed,
        other_ledger=sum(len(label.answers) for label in every if label not in usable),
        leaf=leaf if leaf is not None else next(iter(leaves)) if len(leaves) == 1 else None,
        leaf_disputed=len(leaves) > 1,
        equivalent=frozenset(leaf for label in every for leaf in label.equivalent_leaves),
        exclude=next((label.layer2_exclude for label in every if label.layer2_exclude is not None), None),
        self_fault=next((label.self_fault for label in every if label.self_fault is not None), None),
        table=next((label.stage0 for label in every if label.stage0 is not None), None),
    )


def _answers(
    reviewed: GoldLabel | None, others: Iterable[GoldLabel], use_reviewed: bool
) -> tuple[dict[TurnKey, GoldAnswer], frozenset[TurnKey]]:
    given: dict[TurnKey, list[GoldAnswer]] = {}
    for label in others:
        for answer in label.answers:
            given.setdefault(answer.key, []).append(answer)
    settled = {key: answers[0] for key, answers in given.items() if len({_said(answer) for answer in answers}) == 1}
    on_top = {answer.key: answer for answer in reviewed.answers} if reviewed is not None and use_reviewed else {}
    disputed = frozenset(key for key in given if key not in settled and key not in on_top)
    return {**settled, **on_top}, disputed


def _compared(a: str, of_a: Mapping[ClipId, GoldLabel], b: str, of_b: Mapping[ClipId, GoldLabel]) -> LabellersCompared:
    pairs: dict[str, list[tuple[str, str]]] = {}
    charts: list[tuple[str, str]] = []
    for clip in sorted(set(of_a) & set(of_b)):
        one = {answer.key: _said(answer) for answer in of_a[clip].answers}
        two = {answer.key: _said(answer) for answer in of_b[clip].answers}
        for key in sorted(set(one) & set(two)):
            pairs.setdefault(key.question_id, []).append((one[key], two[key]))
        chart_a, chart_b = of_a[clip].leaf, of_b[clip].leaf
        if chart_a is not None and chart_b is not None:
            charts.append((chart_a, chart_b))
    return LabellersCompared(
        a=a,
        b=b,
        answers=agreement([pair for _, found in sorted(pairs.items()) for pair in found]),
        by_question={question: agreement(found) for question, found in sorted(pairs.items())},
        charts=agreement(charts),
    )


def _said(answer: GoldAnswer) -> str:
    return f"{answer.status}:{answer.value}" if answer.value is not None else str(answer.status)


def _only(labels: Mapping[ClipId, GoldLabel], clips: frozenset[str]) -> dict[ClipId, GoldLabel]:
    return {clip: label for clip, label in labels.items() if clip in clips}
