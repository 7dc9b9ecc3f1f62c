"""A question of a rule engine: its wordings and options, the precondition under which it may be put, what makes it
the same question. Pure.

Questions are decoded from an engine's own bytes and never change. Fields that a newer engine adds are passed over,
except in a precondition, where they would change what may be asked.
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import Literal, TypeAlias

from msgspec import Struct, field

from vlmrec.canonical import canonical_json, sha256_hex
from vlmrec.terms import Answer, Party, Sha256, Status, TurnKey

Language = Literal["ko", "en"]
Answers: TypeAlias = Mapping[TurnKey, Answer]

PARTY_RANK = {Party.SELF: 0, Party.OTHER: 1, Party.NONE: 2}


class Subject(StrEnum):
    """What a question is about: one vehicle, the scene, or how the two vehicles stand to each other."""

    PARTY = "party"
    SCENE = "scene"
    RELATION = "relation"


class TimeScope(StrEnum):
    """When the answer is read: one moment, a stretch before contact, or no particular time."""

    INSTANT = "instant"
    SPAN = "span"
    NONE = "none"


class Viewpoint(StrEnum):
    """Where the evidence is to be seen."""

    VEHICLE = "vehicle"
    ROAD = "road"
    SIGNAL = "signal"
    WIDE = "wide"
    CABIN = "cabin"
    RECORD = "record"


class Modality(StrEnum):
    """What kind of evidence decides."""

    MOTION = "motion"
    POSITION = "position"
    CONTACT = "contact"
    LAMPS = "lamps"
    MARKINGS = "markings"
    SIGNS = "signs"
    LIGHT = "light"
    APPEARANCE = "appearance"
    PERSON = "person"
    DOCUMENT = "document"


class Wording(Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """A text in the form for each party that a question may be put for."""

    self_: str | None = field(name="self", default=None)
    other: str | None = None
    none: str | None = None

    def for_party(self, party: Party) -> str | None:
        if party is Party.SELF:
            return self.self_
        return self.other if party is Party.OTHER else self.none


class Option(Struct, frozen=True, kw_only=True):
    """One value of a question's closed domain."""

    code: str
    label_ko: str
    label_en: str

    def label(self, language: Language) -> str:
        return self.label_ko if language == "ko" else self.label_en


class Clause(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """``question`` was answered with one of ``values``, for the same party, a named one, or any."""

    question: str
    party: Literal["same", "self", "other", "none", "any"]
    values: tuple[str, ...]


class Question(Struct, frozen=True, kw_only=True):
    """One closed-domain question. It may be asked when any clause of ``any_of`` holds, or when there is none."""

    id: str
    section: str
    subject: Subject
    parties: tuple[Party, ...]
    time_scope: TimeScope
    viewpoint: Viewpoint
    modality: Modality
    observable: bool
    text_ko: Wording
    text_en: Wording
    domain: tuple[Option, ...]
    notes_ko: tuple[str, ...] = ()
    notes_en: tuple[str, ...] = ()
    any_of: tuple[Clause, ...] = ()
    flip: dict[str, str] = {}

    @property
    def codes(self) -> tuple[str, ...]:
        return tuple(option.code for option in self.domain)

    def text(self, party: Party, language: Language) -> str:
        """The question in the form for ``party``."""
        wording = (self.text_ko if language == "ko" else self.text_en).for_party(party)
        if wording is None:
            raise ValueError(f"{self.id} is not put for {party}")
        return wording

    def notes(self, language: Language) -> tuple[str, ...]:
        return self.notes_ko if language == "ko" else self.notes_en

    def flipped(self, value: str) -> str:
        """``value`` as it reads when the two vehicles change places."""
        return self.flip.get(value, value)


def precondition(question: Question, party: Party, answers: Answers) -> bool | None:
    """Whether the question may be put for ``party``: yes, no, or None while the answers leave it open."""
    if not question.any_of:
        return True
    verdicts = [_clause(clause, party, answers) for clause in question.any_of]
    if True in verdicts:
        return True
    return None if None in verdicts else False


def clause_parties(clause: Clause, party: Party) -> tuple[Party, ...]:
    """The parties whose answers a clause reads when its question is put for ``party``; ``any`` is either vehicle."""
    if clause.party == "any":
        return Party.SELF, Party.OTHER
    return (party,) if clause.party == "same" else (Party(clause.party),)


def identity_hash(question: Question) -> Sha256:
    """What makes it the same question: id, party form, domain codes (in any order) and precondition."""
    return sha256_hex(
        canonical_json(
            {
                "id": question.id,
                "parties": sorted(question.parties),
                "codes": sorted(question.codes),
                "any_of": sorted([clause.question, clause.party, sorted(clause.values)] for clause in question.any_of),
            }
        )
    )


def _clause(clause: Clause, party: Party, answers: Answers) -> bool | None:
    found = [_holds(clause, TurnKey(clause.question, read), answers) for read in clause_parties(clause, party)]
    if True in found:
        return True
    return None if None in found else False


def _holds(clause: Clause, key: TurnKey, answers: Answers) -> bool | None:
    answer = answers.get(key)
    if answer is None or answer.status is not Status.OBSERVED:
        return None
    return answer.value in clause.values
