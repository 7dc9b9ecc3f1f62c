"""Labels brought to a run: read, held against their engine's charts, and said in the words of the run's ledger.

Where a label's ledger is no embedded one, its charts can't be checked, and its answers stay as they are;
projections leave them out and count them.
"""

from collections.abc import Iterator
from pathlib import Path

from msgspec.structs import replace

from vlmrec.engine.migration import Migration, load_migration, map_answers
from vlmrec.engine.reference import Reference, load_reference, versions
from vlmrec.errors import InputError
from vlmrec.gold import OUT_OF_SCOPE, GoldLabel, GoldSet, load_gold
from vlmrec.ledger import Ledger
from vlmrec.projections.labels import GoldMapping


def load_labels(folder: Path) -> GoldSet:
    """The labels in ``folder``. Raises InputError for a bad file, and for a chart that the label's engine doesn't have.

    A label set aside as ``out_of_section`` may name one: the chart that it means belongs to another section.
    """
    gold = load_gold(folder)
    for clip, label in gold.reviewed.items():
        _check_charts(label, f"{folder}/{clip}.json")
    for labeller, labels in gold.labellers.items():
        for clip, label in labels.items():
            _check_charts(label, f"{folder}/{clip}__{labeller}.json")
    return gold


def gold_for_ledger(gold: GoldSet, target: Ledger) -> tuple[GoldSet, GoldMapping]:
    """The labels as labels of ``target``, and what became of their answers on the way."""
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


def _check_charts(label: GoldLabel, shown: str) -> None:
    reference = _embedded(label.data_version)
    if reference is None or label.layer2_exclude == "out_of_section":
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
