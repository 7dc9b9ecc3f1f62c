"""What is the same for every clip of a run: manifest, ledger, rules, and what follows from them. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from random import Random
from typing import Literal

from vlmrec.canonical import sha256_hex
from vlmrec.errors import InputError
from vlmrec.events import Manifest, Option, Sample, Stage
from vlmrec.ledger import Ledger, shown_hash
from vlmrec.question import Language, Question, identity_hash
from vlmrec.stages.condition import Condition, condition_from_axes
from vlmrec.stages.rules import RuleSet, parse_rules
from vlmrec.terms import Party, TurnKey

CORE_VERSION = 1
"""Raised by hand whenever the core would decide anything differently."""

Source = Literal["model", "stored", "stored_then_model"]

TABLE_TURN = TurnKey("entity_table", Party.NONE)
SCENE_TURN = TurnKey("scene", Party.NONE)


@dataclass(frozen=True, slots=True)
class Asked:
    """A question as it is shown for one party: what a ``turn.opened`` says."""

    text: str
    options: tuple[Option, ...]
    identity_hash: str
    shown_hash: str
    observable: bool


class RunContext:
    """Everything beside a clip's own events that a decision may rest on.

    ``given`` says for each clip how many answers, and whether a table, were taken over from elsewhere:
    the core waits for that many before it decides anything. ``available`` says for each clip which turns
    have stored replies, where a run is replayed with fewer samples; what has none is skipped. ``monitor_rate``
    is the share of calls that are sent a second time without constrained decoding, and never used.
    """

    def __init__(self, manifest: Manifest, ledger: Ledger, rules: bytes | None) -> None:
        if manifest.data_version != ledger.data_version:
            raise InputError(f"the run was made with the ledger {manifest.data_version}, not {ledger.data_version}")
        self.manifest = manifest
        self.ledger = ledger
        self.condition: Condition = condition_from_axes(manifest.axes)
        self.rules: RuleSet | None = parse_rules(rules) if rules is not None and self.condition.stages == "2" else None
        self.language: Language = "en" if self.condition.language == "en" else "ko"
        self.threshold = Fraction(manifest.vote_threshold)
        self.samples = manifest.samples
        self.one_call = bool(manifest.extra.get("n_in_one_call", False))
        self.source: Source = manifest.extra.get("source", "model")
        self.every_given_at_once = manifest.extra.get("mode") == "all"
        self.given: Mapping[str, int] = manifest.extra.get("given", {})
        self.tables_given: frozenset[str] = frozenset(manifest.extra.get("tables_given", ()))
        self.monitor_rate = Fraction(manifest.extra.get("monitor_rate", 0))
        self._available: Mapping[str, Sequence[str]] | None = manifest.extra.get("available")
        self.gates = tuple(gate.key for gate in ledger.gates)
        self.rank: Mapping[TurnKey, int] = {key: place for place, key in enumerate(ledger.turns)}
        self._asked: dict[TurnKey, Asked] = {}

    @property
    def first_round(self) -> int:
        return 1 if self.condition.stages == "0" or self.source == "stored" else 0

    @property
    def stage_zero(self) -> tuple[Stage, TurnKey]:
        """The task of round 0."""
        return (Stage.SCENE, SCENE_TURN) if self.condition.stages == "1" else (Stage.TABLE, TABLE_TURN)

    def has_replies(self, clip: str, key: TurnKey) -> bool:
        """Whether a model's replies to the turn can be had: always, unless stored ones alone are used."""
        return self._available is None or f"{key.question_id}/{key.party}" in self._available.get(clip, ())

    def is_monitored(self, clip: str, key: TurnKey, sample: Sample) -> bool:
        """Whether a call is also sent without constraints: by a hash of its key, so that every run picks the same."""
        if not self.monitor_rate:
            return False
        picked = int(sha256_hex(f"{clip}/{key.question_id}/{key.party}/{sample}".encode())[:16], 16)
        return picked < self.monitor_rate * 2**64

    def asked(self, key: TurnKey) -> Asked:
        """The question behind ``key`` as shown in this run."""
        found = self._asked.get(key)
        if found is None:
            found = self._asked[key] = self._show(key)
        return found

    def _show(self, key: TurnKey) -> Asked:
        question = self.ledger.question(key.question_id)
        return Asked(
            text=question.text(key.party, self.language),
            options=shown_options(question, key.party, self.language, self.condition.order),
            identity_hash=identity_hash(question),
            shown_hash=shown_hash(self.ledger, question, key.party),
            observable=question.observable,
        )


def shown_options(question: Question, party: Party, language: Language, order: str) -> tuple[Option, ...]:
    """The options in the order of axis O: the ledger's, or shuffled by the seed and the turn, alike in every clip."""
    options = [Option(code=option.code, label=option.label(language)) for option in question.domain]
    if order != "ledger":
        seed = int(sha256_hex(f"{order}/{question.id}/{party}".encode())[:16], 16)
        Random(seed).shuffle(options)
    return tuple(options)
