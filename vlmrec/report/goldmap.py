"""Labels made with one ledger, said in the words of another, through the engine's declared migrations.

Where a label's ledger is no embedded one, its answers stay as they are; projections leave them out and count them.
"""

from msgspec.structs import replace

from vlmrec.engine.migration import Migration, load_migration, map_answers
from vlmrec.engine.reference import load_reference, versions
from vlmrec.gold import GoldLabel, GoldSet
from vlmrec.ledger import Ledger
from vlmrec.projections.labels import GoldMapping


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
        self._sources: dict[str, Ledger | None] = {}
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
        if data_version not in self._sources:
            embedded = (load_reference(version).ledger for version in versions())
            self._sources[data_version] = next((one for one in embedded if one.data_version == data_version), None)
        return self._sources[data_version]
