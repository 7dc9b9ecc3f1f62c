"""Stored answers, said in the words of another ledger: kept, approximate by a named rule, or to be asked anew.

An answer is kept when question and wording are the same. It is approximate when only the wording changed
(rule ``shown_changed``), or when a declared migration between the two ``data_version``s says how. Everything
else needs a new answer: nothing is ever guessed from a likeness of names or values.
"""

from collections.abc import Iterable, Mapping
from importlib.resources import files
from typing import Any, Literal, NamedTuple

from msgspec import Struct, field

from vlmrec.canonical import canonical_json, sha256_hex
from vlmrec.engine.datafile import read_data
from vlmrec.errors import InputError
from vlmrec.ledger import Ledger, by_turn, shown_hash
from vlmrec.question import identity_hash
from vlmrec.terms import Answer, Party, QuestionRef, Status, TurnKey

SHOWN_CHANGED = "shown_changed"
Kind = Literal["kept", "approximate"]
Reason = Literal["new_question", "identity_changed", "no_rule_holds"]


class Carry(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Questions whose identity changed and whose answers, abstentions included, still mean the same."""

    rule: str
    why: str
    questions: tuple[str, ...]


class Rule(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Answer ``question`` from stored answers of the same party (scene and relation questions have none).

    With ``when``, all of them must have been observed with one of the values; ``value`` is the answer, or with
    ``copy`` the stored value itself. With ``abstention_of``, the stored question's abstention is passed on.
    """

    rule: str
    why: str
    question: str
    when: dict[str, tuple[str, ...]] = {}
    value: str | None = None
    copy: str | None = None
    abstention_of: str | None = None


class Migration(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is declared between two ledgers. Of several rules for a question the first that holds decides."""

    source: str = field(name="from")
    target: str = field(name="to")
    carry: tuple[Carry, ...] = ()
    rules: tuple[Rule, ...] = ()

    @property
    def version(self) -> str:
        """Names the migration by its content."""
        return f"{self.source}->{self.target}#{sha256_hex(canonical_json(self))[:12]}"


class MappedAnswer(Struct, frozen=True, kw_only=True):
    """An answer in the words of the target, and how it got there."""

    answer: Answer
    kind: Kind
    rule: str | None
    sources: tuple[QuestionRef, ...]


class NeedsAnswer(Struct, frozen=True, kw_only=True):
    """A turn of the target ledger for which the stored answers say nothing."""

    question_id: str
    party: Party
    reason: Reason


class MappedAnswers(Struct, frozen=True, kw_only=True):
    """Everything that became of a set of answers, in the target's ledger order; ``unused`` in the source's.

    Turns that the source never answered and that both ledgers share are not in ``needs_new_answer``: what is
    missing on a clip's path is for the path to tell.
    """

    answers: tuple[MappedAnswer, ...]
    needs_new_answer: tuple[NeedsAnswer, ...]
    unused: tuple[QuestionRef, ...]


def map_answers(
    source: Ledger, target: Ledger, migration: Migration | None, answers: Iterable[Answer]
) -> MappedAnswers:
    """Stored ``answers`` of ``source`` as answers of ``target``. Raises InputError for a migration between others.

    For many answer sets make one ``Mapper`` and keep it: most of the work is comparing the ledgers.
    """
    return Mapper(source, target, migration).map(answers)


class Mapper:
    """What becomes of each turn between two ledgers, worked out once."""

    def __init__(self, source: Ledger, target: Ledger, migration: Migration | None) -> None:
        ends = (source.data_version, target.data_version)
        if migration is not None and (migration.source, migration.target) != ends:
            raise InputError(
                f"the migration is from {migration.source} to {migration.target}, not from {ends[0]} to {ends[1]}"
            )
        self._source = source
        self._steps = tuple(_step(source, target, migration, key) for key in target.turns)

    def map(self, answers: Iterable[Answer]) -> MappedAnswers:
        """Everything that becomes of one set of stored answers."""
        stored = by_turn(answers)
        mapped: list[MappedAnswer] = []
        missing: list[NeedsAnswer] = []
        used: set[TurnKey] = set()
        for step in self._steps:
            answer = stored.get(step.key)
            made = _made(step, answer, stored)
            if made is not None:
                mapped.append(made)
                used.update(ref.key for ref in made.sources)
            elif step.missing is not None and (step.always_missing or answer is not None):
                missing.append(step.missing)
        unused = sorted((key for key in stored if key not in used), key=self._source.order)
        return MappedAnswers(
            answers=tuple(mapped), needs_new_answer=tuple(missing), unused=tuple(_ref(key) for key in unused)
        )


def load_migration(source: str, target: str) -> Migration | None:
    """The declared migration between two ``data_version``s, if there is one."""
    return declared_migrations().get((source, target))


def declared_migrations() -> Mapping[tuple[str, str], Migration]:
    """All declared migrations, by source and target."""
    found: dict[tuple[str, str], Migration] = {}
    for entry in sorted(files("vlmrec.engine").joinpath("migrations").iterdir(), key=lambda each: each.name):
        if entry.name.endswith(".yaml"):
            migration = decode_migration(entry.read_bytes(), entry.name)
            found[(migration.source, migration.target)] = migration
    return found


def decode_migration(text: bytes, name: str) -> Migration:
    """A migration from its file. Raises InputError, naming the file and what is wrong."""
    migration = read_data(text, Migration, f"the migration {name}")
    for rule in migration.rules:
        ways: list[Any] = [rule.value, rule.copy, rule.abstention_of]
        if sum(way is not None for way in ways) != 1 or (rule.abstention_of is None) != bool(rule.when):
            raise InputError(
                f"{name}: rule {rule.rule} for {rule.question} needs `when` with `value` or `copy`, "
                "or else `abstention_of` alone"
            )
    return migration


def check_migration(migration: Migration, source: Ledger, target: Ledger) -> None:
    """That everything a migration names exists in its two ledgers. Raises InputError, naming what does not."""
    for carry in migration.carry:
        for question_id in carry.questions:
            codes = set(source.question(question_id).codes)
            if not codes <= set(target.question(question_id).codes):
                raise InputError(f"{carry.rule}: {question_id} lost values; a carried question keeps them all")
    for rule in migration.rules:
        wanted = set(target.question(rule.question).codes)
        for question_id, values in rule.when.items():
            if not set(values) <= set(source.question(question_id).codes):
                raise InputError(f"{rule.rule}: {question_id} never had all of the values {sorted(values)}")
        given = set(rule.when.get(rule.copy, ())) if rule.copy else {rule.value} if rule.value else set()
        if not given <= wanted:
            raise InputError(f"{rule.rule}: {rule.question} can't be {sorted(given - wanted)}")
        if rule.abstention_of is not None:
            source.question(rule.abstention_of)


class _Step(NamedTuple):
    """How one turn of the target is answered. ``unchanged``: the question is the same, with this kind and rule."""

    key: TurnKey
    ref: QuestionRef
    unchanged: tuple[Kind, str | None] | None
    carried: str | None
    rules: tuple[tuple[Rule, tuple[TurnKey, ...]], ...]
    missing: NeedsAnswer | None
    always_missing: bool


def _step(source: Ledger, target: Ledger, migration: Migration | None, key: TurnKey) -> _Step:
    ref = _ref(key)
    after = target.question(key.question_id)
    before = source.question(key.question_id) if key.question_id in source else None
    if before is not None and identity_hash(before) == identity_hash(after):
        same = shown_hash(source, before, key.party) == shown_hash(target, after, key.party)
        return _Step(key, ref, ("kept", None) if same else ("approximate", SHOWN_CHANGED), None, (), None, False)
    carries = () if migration is None else migration.carry
    carried = next((carry.rule for carry in carries if key.question_id in carry.questions), None)
    declared = () if migration is None else migration.rules
    rules = tuple((rule, _read(source, rule, key.party)) for rule in declared if rule.question == key.question_id)
    reason: Reason = "new_question" if before is None else "no_rule_holds" if rules else "identity_changed"
    missing = NeedsAnswer(question_id=key.question_id, party=key.party, reason=reason)
    return _Step(key, ref, None, carried, rules, missing, before is None)


def _read(source: Ledger, rule: Rule, party: Party) -> tuple[TurnKey, ...]:
    """The stored turns that a rule reads: of the same party, or of none where the question is put so."""
    names = tuple(rule.when) if rule.abstention_of is None else (rule.abstention_of,)
    return tuple(TurnKey(name, party if party in source.question(name).parties else Party.NONE) for name in names)


def _made(step: _Step, answer: Answer | None, stored: Mapping[TurnKey, Answer]) -> MappedAnswer | None:
    if answer is not None and step.unchanged is not None:
        kind, rule = step.unchanged
        return MappedAnswer(answer=answer, kind=kind, rule=rule, sources=(step.ref,))
    if answer is not None and step.carried is not None:
        return MappedAnswer(answer=answer, kind="approximate", rule=step.carried, sources=(step.ref,))
    for declared, read in step.rules:
        made = _apply(declared, step.key, read, stored)
        if made is not None:
            sources = tuple(_ref(key) for key in read)
            return MappedAnswer(answer=made, kind="approximate", rule=declared.rule, sources=sources)
    return None


def _apply(rule: Rule, key: TurnKey, read: tuple[TurnKey, ...], stored: Mapping[TurnKey, Answer]) -> Answer | None:
    answers = [stored.get(each) for each in read]
    if rule.abstention_of is not None:
        answer = answers[0]
        if answer is None or answer.status is Status.OBSERVED:
            return None
        return Answer(question_id=key.question_id, party=key.party, status=answer.status)
    value = rule.value
    for answer, (name, values) in zip(answers, rule.when.items(), strict=True):
        if answer is None or answer.value not in values:
            return None
        if name == rule.copy:
            value = answer.value
    return Answer(question_id=key.question_id, party=key.party, status=Status.OBSERVED, value=value)


def _ref(key: TurnKey) -> QuestionRef:
    return QuestionRef(question_id=key.question_id, party=key.party)
