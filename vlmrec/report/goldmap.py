"""Labels brought to a run: read, held against their own ledger and charts, and said in the words of the run's ledger.

Where a label's ledger is neither embedded nor the run's, nothing in it can be checked, and its answers stay as they
are; projections leave them out and count them, and ``unknown_ledgers`` names them.
"""

import difflib
from collections import Counter
from collections.abc import Collection, Iterator
from pathlib import Path

from msgspec.structs import replace

from vlmrec.engine.migration import Migration, load_migration, map_answers
from vlmrec.engine.reference import Reference, load_reference, versions
from vlmrec.errors import InputError
from vlmrec.gold import OUT_OF_SCOPE, GoldLabel, GoldSet, load_gold
from vlmrec.ledger import Ledger
from vlmrec.projections.labels import GoldMapping


def load_labels(folder: Path) -> GoldSet:
    """The labels in ``folder``. Raises InputError for a bad file, and for what the label's engine doesn't have.

    That is a question, a party of it, a value or a chart. A label set aside as ``out_of_section`` may name another
    chart: the one that it means belongs to another section.
    """
    gold = load_gold(folder)
    for name, label in _files(gold):
        reference = _embedded(label.data_version)
        if reference is not None:
            _check_answers(label, reference.ledger, f"{folder}/{name}")
            _check_charts(label, reference, f"{folder}/{name}")
    return gold


def unknown_ledgers(gold: GoldSet, known: Collection[str | None]) -> str | None:
    """A warning about the labels whose ledger is neither embedded nor among ``known``; None where there are none."""
    labels: Counter[str] = Counter()
    answers = 0
    for _, label in _files(gold):
        if label.data_version not in known and _embedded(label.data_version) is None:
            labels[label.data_version] += 1
            answers += len(label.answers)
    if not labels:
        return None
    told = ", ".join(f"{version} ({count} files)" for version, count in sorted(labels.items()))
    there = ", ".join(load_reference(version).data_version for version in versions())
    return (
        f"labels of a data_version that no ledger here has: {told}; nothing in them could be checked, and their "
        f"{answers} answers are left out. Embedded are {there}"
    )


def gold_for_ledger(gold: GoldSet, target: Ledger) -> tuple[GoldSet, GoldMapping]:
    """The labels as labels of ``target``, and what became of their answers on the way.

    Raises InputError for an answer of that very ledger which it doesn't have, where it is no embedded one.
    """
    for name, label in _files(gold):
        if label.data_version == target.data_version and _embedded(label.data_version) is None:
            _check_answers(label, target, name)
    work = _Mapping(target)
    reviewed = {clip: work.label(label) for clip, label in gold.reviewed.items()}
    labellers = {
        labeller: {clip: work.label(label) for clip, label in labels.items()}
        for labeller, labels in gold.labellers.items()
    }
    return GoldSet(reviewed=reviewed, labellers=labellers, content=gold.content), work.done()


class _Mapping:
    def __init__(self, target: Ledger) -> None:
        self._target = target
        self._migrations: dict[str, Migration] = {}
        self._mapped = self._approximate = self._unmapped = 0

    def label(self, label: GoldLabel) -> GoldLabel:
        """One label, carried over; as it is where it is of the target's ledger, or of an unknown one."""
        version = label.data_version
        if version == self._target.data_version:
            return label
        source = self._source(version)
        if source is None:
            return label
        stored = {answer.key: answer for answer in label.answers if answer.question_id in source}
        migration = load_migration(version, self._target.data_version)
        if migration is not None:
            self._migrations[migration.version] = migration
        mapped = map_answers(source, self._target, migration, (answer.answer for answer in stored.values()))
        answers = []
        for each in mapped.answers:
            said = each.answer
            first = stored[each.sources[0].key]  # evidence and confidence are those of what was said first
            answers.append(
                replace(first, question_id=said.question_id, party=said.party, status=said.status, value=said.value)
            )
            self._mapped += 1
            self._approximate += each.kind == "approximate"
        self._unmapped += len(mapped.unused) + len(label.answers) - len(stored)
        return replace(label, answers=tuple(answers), data_version=self._target.data_version)

    def done(self) -> GoldMapping:
        """The account of every label so far."""
        return GoldMapping(
            migrations=tuple(sorted(self._migrations)),
            mapped=self._mapped,
            approximate=self._approximate,
            unmapped=self._unmapped,
        )

    def _source(self, data_version: str) -> Ledger | None:
        reference = _embedded(data_version)
        return reference.ledger if reference is not None else None


def _embedded(data_version: str) -> Reference | None:
    """The embedded engine whose data is just this version's."""
    version = data_version.partition("+")[0]
    reference = load_reference(version) if version in versions() else None
    return reference if reference is not None and reference.data_version == data_version else None


def _files(gold: GoldSet) -> Iterator[tuple[str, GoldLabel]]:
    """Every label with the name of its file."""
    for clip, label in gold.reviewed.items():
        yield f"{clip}.json", label
    for labeller, labels in gold.labellers.items():
        for clip, label in labels.items():
            yield f"{clip}__{labeller}.json", label


def _check_answers(label: GoldLabel, ledger: Ledger, shown: str) -> None:
    for index, answer in enumerate(label.answers):
        where, name = f"{shown}: answers[{index}]", answer.question_id
        if name not in ledger:
            known = ", ".join(question.id for question in ledger.questions)
            near = difflib.get_close_matches(name, [question.id for question in ledger.questions], n=1)
            hint = f" (did you mean {near[0]}?)" if near else ""
            raise InputError(
                f"{where}.question_id names {name!r}, which {ledger.data_version} doesn't have{hint}; it has {known}"
            )
        question = ledger.question(name)
        if answer.party not in question.parties:
            asked = ", ".join(question.parties)
            raise InputError(
                f"{where}.party is {str(answer.party)!r}, but {ledger.data_version} asks {name} for {asked} alone"
            )
        if answer.value is not None and answer.value not in question.codes:
            raise InputError(
                f"{where}.value is {answer.value!r}, which is no option of {name} in {ledger.data_version}; "
                f"it has {', '.join(question.codes)}"
            )


def _check_charts(label: GoldLabel, reference: Reference, shown: str) -> None:
    if label.layer2_exclude == "out_of_section":
        return
    known = [chart.id for chart in reference.charts]
    for key, leaf in _leaves(label):
        if leaf not in known and leaf != OUT_OF_SCOPE:
            raise InputError(
                f"{shown}: {key} names the chart {leaf!r}, which {label.data_version} doesn't have; "
                f"it has {', '.join(known)}, and {OUT_OF_SCOPE} for none of them"
            )


def _leaves(label: GoldLabel) -> Iterator[tuple[str, str]]:
    for key, leaf in (("gold_leaf", label.gold_leaf), ("review_leaf", label.review_leaf)):
        if leaf is not None:
            yield key, leaf
    for index, leaf in enumerate(label.equivalent_leaves):
        yield f"equivalent_leaves[{index}]", leaf
