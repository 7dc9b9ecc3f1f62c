"""What one version of a rule engine asks: its questions, gates and rules of observation, as one checked whole.

A ledger is decoded from the very bytes of ``GET /meta`` and ``GET /questions``, checked as a whole
on the way in, and then never changes. Everything here is pure: no file, clock or network. Question
text, options and notes are data of the engine; nothing in this project repeats them elsewhere. Fields that a
newer engine adds are passed over, but for preconditions (``vlmrec.question``).
"""

from collections.abc import Iterable
from functools import cached_property

import msgspec
from msgspec import Struct

from vlmrec.canonical import canonical_json, sha256_hex
from vlmrec.errors import InputError
from vlmrec.question import PARTY_RANK, Clause, Language, Option, Question, clause_parties
from vlmrec.terms import Answer, Party, QuestionRef, Sha256, TurnKey

SWAPPED = {Party.SELF: Party.OTHER, Party.OTHER: Party.SELF, Party.NONE: Party.NONE}


class LedgerError(InputError):
    """The meta or questions of an engine contradict themselves; the message names the question."""


class Section(Struct, frozen=True, kw_only=True):
    """A group of questions, in the order of ``GET /meta``."""

    id: str
    title_ko: str
    title_en: str


class ObservationRule(Struct, frozen=True, kw_only=True):
    """How to look: a rule of judgement, and the questions that it bears on."""

    id: str
    text_ko: str
    text_en: str
    questions: tuple[str, ...]

    def text(self, language: Language) -> str:
        return self.text_ko if language == "ko" else self.text_en


class Meta(Struct, frozen=True, kw_only=True):
    """``GET /meta``. ``gates`` are in ledger order, as is everything else."""

    engine_version: str
    data_version: str
    chapter: str
    sections: tuple[Section, ...]
    gates: tuple[QuestionRef, ...]
    observation_rules: tuple[ObservationRule, ...] = ()


class Questions(Struct, frozen=True, kw_only=True):
    """``GET /questions``."""

    engine_version: str
    data_version: str
    questions: tuple[Question, ...]


class Ledger(Struct, frozen=True, kw_only=True, dict=True):
    """The questions and meta of one ``data_version``, indexed."""

    engine_version: str
    data_version: str
    meta: Meta
    questions: tuple[Question, ...]

    @property
    def gates(self) -> tuple[QuestionRef, ...]:
        return self.meta.gates

    @cached_property
    def _by_id(self) -> dict[str, Question]:
        return {question.id: question for question in self.questions}

    @cached_property
    def _order(self) -> dict[str, int]:
        return {question.id: index for index, question in enumerate(self.questions)}

    @cached_property
    def turns(self) -> tuple[TurnKey, ...]:
        """Every question in every form that it may be put in, in ledger order."""
        return tuple(TurnKey(question.id, party) for question in self.questions for party in question.parties)

    def __contains__(self, question_id: object) -> bool:
        return question_id in self._by_id

    def question(self, question_id: str) -> Question:
        """The question of that id. Raises LedgerError for an unknown one."""
        found = self._by_id.get(question_id)
        if found is None:
            raise LedgerError(f"the ledger {self.data_version} has no question {question_id!r}")
        return found

    def domain(self, question_id: str) -> tuple[Option, ...]:
        return self.question(question_id).domain

    def order(self, key: TurnKey) -> tuple[int, int]:
        """Sort key: the ledger's own order of questions, then self, other, none."""
        position = self._order.get(key.question_id)
        if position is None:
            raise LedgerError(f"the ledger {self.data_version} has no question {key.question_id!r}")
        return position, PARTY_RANK[key.party]

    def rules_for(self, question_id: str) -> tuple[ObservationRule, ...]:
        """The observation rules that bear on a question."""
        return tuple(rule for rule in self.meta.observation_rules if question_id in rule.questions)


def decode_ledger(meta: bytes, questions: bytes) -> Ledger:
    """A ledger from the bodies of ``GET /meta`` and ``GET /questions``. Raises LedgerError, naming what is wrong."""
    try:
        decoded_meta = msgspec.json.decode(meta, type=Meta)
        decoded = msgspec.json.decode(questions, type=Questions)
    except msgspec.MsgspecError as error:
        raise LedgerError(f"the engine's meta or questions are not as the protocol says: {error}") from error
    if decoded.data_version != decoded_meta.data_version:
        raise LedgerError(
            f"/meta is of {decoded_meta.data_version} and /questions of {decoded.data_version}: "
            "the engine changed between the two; ask again"
        )
    return checked_ledger(
        Ledger(
            engine_version=decoded_meta.engine_version,
            data_version=decoded_meta.data_version,
            meta=decoded_meta,
            questions=decoded.questions,
        )
    )


def meta_bytes(ledger: Ledger) -> bytes:
    """The body of ``GET /meta``."""
    return canonical_json(ledger.meta)


def questions_bytes(ledger: Ledger) -> bytes:
    """The body of ``GET /questions``."""
    return canonical_json(
        Questions(engine_version=ledger.engine_version, data_version=ledger.data_version, questions=ledger.questions)
    )


def shown_hash(ledger: Ledger, question: Question, party: Party) -> Sha256:
    """What a person or model is shown when the question is put for ``party``: text, options, notes and rules."""
    rules = ledger.rules_for(question.id)
    return sha256_hex(
        canonical_json(
            [
                {
                    "text": question.text(party, language),
                    "options": [[option.code, option.label(language)] for option in question.domain],
                    "notes": question.notes(language),
                    "rules": [rule.text(language) for rule in rules],
                }
                for language in ("ko", "en")
            ]
        )
    )


def by_turn(answers: Iterable[Answer]) -> dict[TurnKey, Answer]:
    """Answers by question and party. A later one stands over an earlier one."""
    return {answer.key: answer for answer in answers}


def flip(ledger: Ledger, answers: Iterable[Answer]) -> tuple[Answer, ...]:
    """The same scene as the other vehicle would have recorded it: parties swapped, relations turned round."""
    return tuple(
        Answer(
            question_id=answer.question_id,
            party=SWAPPED[answer.party],
            status=answer.status,
            value=None if answer.value is None else ledger.question(answer.question_id).flipped(answer.value),
        )
        for answer in answers
    )


def checked_ledger(ledger: Ledger) -> Ledger:
    """The ledger itself, once everything that it refers to is known to exist. Raises LedgerError."""
    known: dict[str, Question] = {}
    sections = {section.id for section in ledger.meta.sections}
    for question in ledger.questions:
        if question.id in known:
            raise LedgerError(f"question {question.id} is in the ledger twice")
        known[question.id] = question
        _check_question(question, sections)
    for question in ledger.questions:
        for clause in question.any_of:
            _check_clause(question, clause, known.get(clause.question))
    for gate in ledger.meta.gates:
        if gate.question_id not in known or gate.party not in known[gate.question_id].parties:
            raise LedgerError(f"the gate {gate.question_id} for {gate.party} is not a question of this ledger")
    for rule in ledger.meta.observation_rules:
        for question_id in rule.questions:
            if question_id not in known:
                raise LedgerError(f"observation rule {rule.id} bears on {question_id}, which is not in the ledger")
    return ledger


def _check_question(question: Question, sections: set[str]) -> None:
    if question.section not in sections:
        raise LedgerError(f"{question.id} is in section {question.section!r}, which /meta does not list")
    codes = question.codes
    if len(codes) < 2 or len(set(codes)) != len(codes):
        raise LedgerError(f"{question.id} needs two or more domain codes, each once; found {list(codes)}")
    if not question.parties or list(question.parties) != sorted(set(question.parties), key=PARTY_RANK.__getitem__):
        raise LedgerError(f"{question.id}: parties must be some of self, other, none in that order, each once")
    for party in question.parties:
        for wording in (question.text_ko, question.text_en):
            if not wording.for_party(party):
                raise LedgerError(f"{question.id} has no text in the form for {party}")
    if any(question.flip.get(value) != code for code, value in question.flip.items()) or not set(question.flip) <= set(
        codes
    ):
        raise LedgerError(f"{question.id}: the flip map must send codes of its domain to and fro in pairs")


def _check_clause(question: Question, clause: Clause, target: Question | None) -> None:
    if target is None:
        raise LedgerError(f"{question.id} depends on {clause.question}, which is not in the ledger")
    unknown = set(clause.values) - set(target.codes)
    if unknown or not clause.values:
        raise LedgerError(f"{question.id} depends on values of {clause.question} that it has not: {sorted(unknown)}")
    for party in question.parties:
        for needed in clause_parties(clause, party):
            if needed not in target.parties:
                raise LedgerError(f"{question.id} for {party} depends on {clause.question} for {needed}")
