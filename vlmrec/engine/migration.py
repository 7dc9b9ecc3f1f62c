"""Stored answers, said in the words of another ledger: kept, approximate by a named rule, or to be asked anew.

An answer is kept when question and wording are the same. It is approximate when only the wording changed
(rule ``shown_changed``), or when a declared migration between the two ``data_version``s says how. Everything
else needs a new answer: nothing is ever guessed from a likeness of names or values.
"""

from collections.abc import Iterable, Mapping
from importlib.resources import files
from typing import Any, Literal

import msgspec
import yaml
from msgspec import Struct, field

from vlmrec.canonical import canonical_json, sha256_hex
from vlmrec.errors import InputError
from vlmrec.ledger import Ledger, by_turn, identity_hash, shown_hash
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
    """Stored ``answers`` of ``source`` as answers of ``target``. Raises InputError for a migration between others."""
    if migration is not None and (migration.source, migration.target) != (source.data_version, target.data_version):
        raise InputError(
            f"the migration is from {migration.source} to {migration.target}, "
            f"not from {source.data_version} to {target.data_version}"
        )
    stored = by_turn(answers)
    mapped: list[MappedAnswer] = []
    missing: list[NeedsAnswer] = []
    for key in target.turns:
        made = _unchanged(source, target, key, stored)
        if made is None and migration is not None and not _same_identity(source, target, key):
            made = _carried(migration, target, key, stored) or _ruled(migration, source, target, key, stored)
        if made is not None:
            mapped.append(made)
            continue
        reason = _reason(source, target, migration, key, stored)
        if reason is not None:
            missing.append(NeedsAnswer(question_id=key.question_id, party=key.party, reason=reason))
    used = {ref.key for each in mapped for ref in each.sources}
    unused = sorted((key for key in stored if key not in used), key=source.order)
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
    try:
        migration = msgspec.convert(yaml.safe_load(text), Migration)
    except (yaml.YAMLError, msgspec.MsgspecError) as error:
        raise InputError(f"{name} is no migration: {error}") from error
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


def _unchanged(source: Ledger, target: Ledger, key: TurnKey, stored: Mapping[TurnKey, Answer]) -> MappedAnswer | None:
    answer = stored.get(key)
    if answer is None or not _same_identity(source, target, key):
        return None
    before = shown_hash(source, source.question(key.question_id), key.party)
    after = shown_hash(target, target.question(key.question_id), key.party)
    if before == after:
        return MappedAnswer(answer=answer, kind="kept", rule=None, sources=(_ref(key),))
    return MappedAnswer(answer=answer, kind="approximate", rule=SHOWN_CHANGED, sources=(_ref(key),))


def _same_identity(source: Ledger, target: Ledger, key: TurnKey) -> bool:
    if key.question_id not in source:
        return False
    return identity_hash(source.question(key.question_id)) == identity_hash(target.question(key.question_id))


def _carried(
    migration: Migration, target: Ledger, key: TurnKey, stored: Mapping[TurnKey, Answer]
) -> MappedAnswer | None:
    answer = stored.get(key)
    for carry in migration.carry:
        if answer is not None and key.question_id in carry.questions:
            return MappedAnswer(answer=answer, kind="approximate", rule=carry.rule, sources=(_ref(key),))
    return None


def _ruled(
    migration: Migration, source: Ledger, target: Ledger, key: TurnKey, stored: Mapping[TurnKey, Answer]
) -> MappedAnswer | None:
    for rule in migration.rules:
        if rule.question != key.question_id:
            continue
        names = tuple(rule.when) if rule.abstention_of is None else (rule.abstention_of,)
        read = [TurnKey(name, _party(source, name, key.party)) for name in names]
        answers = [stored[each] for each in read if each in stored]
        if len(answers) < len(read):
            continue
        made = _apply(rule, key, {answer.question_id: answer for answer in answers})
        if made is not None:
            sources = tuple(_ref(each) for each in read)
            return MappedAnswer(answer=made, kind="approximate", rule=rule.rule, sources=sources)
    return None


def _apply(rule: Rule, key: TurnKey, read: Mapping[str, Answer]) -> Answer | None:
    if rule.abstention_of is not None:
        status = read[rule.abstention_of].status
        if status is Status.OBSERVED:
            return None
        return Answer(question_id=key.question_id, party=key.party, status=status)
    if any(read[name].value not in values for name, values in rule.when.items()):
        return None
    value = rule.value if rule.copy is None else read[rule.copy].value
    return Answer(question_id=key.question_id, party=key.party, status=Status.OBSERVED, value=value)


def _party(source: Ledger, question_id: str, party: Party) -> Party:
    return party if party in source.question(question_id).parties else Party.NONE


def _reason(
    source: Ledger, target: Ledger, migration: Migration | None, key: TurnKey, stored: Mapping[TurnKey, Answer]
) -> Reason | None:
    if key.question_id not in source:
        return "new_question"
    if key not in stored or _same_identity(source, target, key):
        return None
    ruled = migration is not None and any(rule.question == key.question_id for rule in migration.rules)
    return "no_rule_holds" if ruled else "identity_changed"


def _ref(key: TurnKey) -> QuestionRef:
    return QuestionRef(question_id=key.question_id, party=key.party)
