"""Stage 2: the deterministic rules that an answer passes before it is submitted. Pure.

The rules are data (``schemas/validation_rules.yaml``): which answers contradict each other, what an
entity table rules out, and limits of what counts as suspicious text. A contradiction demotes, all
else flags. A rule whose questions the ledger doesn't have is idle.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Literal, NamedTuple

import msgspec
from msgspec import Struct

from vlmrec.canonical import sha256_hex
from vlmrec.errors import InputError
from vlmrec.events import Violation
from vlmrec.ledger import Ledger
from vlmrec.question import Answers
from vlmrec.stages.checks import ANSWER_RULES, Given, Limits, Others, answer_violations, said_as
from vlmrec.table import EntityTable
from vlmrec.terms import Answer, Party, QuestionRef, Status, TurnKey

NOTHING_SAID: Mapping[TurnKey, str] = MappingProxyType({})


class Claim(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An observed answer with one of ``values``; any observed value when there are none."""

    question: str
    party: Literal["self", "other", "none", "any"] = "any"
    values: tuple[str, ...] = ()

    def holds(self, answer: Answer) -> bool:
        return (
            answer.status is Status.OBSERVED
            and answer.question_id == self.question
            and self.party in ("any", answer.party)
            and (not self.values or answer.value in self.values)
        )


class Contradiction(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Two claims that can't both be true, and why."""

    id: str
    one: Claim
    other: Claim
    why: str


class TableRule(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a field of the entity table rules out: when it has one of ``values``, ``claim`` can't be true."""

    id: str
    field: Literal["counterpart", "counterpart.heading", "counterpart.kind", "lane_count", "contact"]
    values: tuple[str, ...]
    claim: Claim
    why: str
    action: Literal["demote", "flag"] = "demote"


class RuleSet(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """All rules of one version of the file."""

    version: int
    contradictions: tuple[Contradiction, ...]
    table: tuple[TableRule, ...]
    limits: Limits


class Verdict(NamedTuple):
    """The rules that were applied to one answer, and those that did not hold."""

    checked: tuple[str, ...]
    violations: tuple[Violation, ...]

    @property
    def demoted_by(self) -> str | None:
        return next((violation.rule for violation in self.violations if violation.action == "demote"), None)


def parse_rules(document: bytes) -> RuleSet:
    """The rule set from its YAML bytes. Raises InputError with the path that is wrong."""
    try:
        return msgspec.yaml.decode(document, type=RuleSet)
    except msgspec.MsgspecError as error:
        raise InputError(f"validation_rules.yaml: {error}") from error


def rules_hash(document: bytes) -> str:
    """What a manifest pins."""
    return sha256_hex(document)


def check_group(
    rules: RuleSet,
    ledger: Ledger,
    group: Sequence[Given],
    accepted: Answers,
    *,
    table: EntityTable | None,
    duration_s: float | None,
    said: Mapping[TurnKey, str] | None = NOTHING_SAID,
) -> list[Verdict]:
    """A verdict for each new answer of a round, against what was accepted and against the others of the round.

    ``said`` are the reasons given with accepted answers; None: reasons are not to be held against each other.
    Within a round neither of two answers is the newer one, so a contradiction among them demotes both.
    """
    earlier = [accepted[key] for key in sorted(accepted, key=ledger.order)]
    verdicts = []
    for index, given in enumerate(group):
        peers = [each for position, each in enumerate(group) if position != index]
        theirs = {each.answer.key: each.explanation for each in peers if each.explanation} if said is not None else {}
        others = Others([*earlier, *(each.answer for each in peers)], None if said is None else {**said, **theirs})
        verdicts.append(_check(rules, ledger, given, others, table, duration_s))
    return verdicts


def _check(
    rules: RuleSet,
    ledger: Ledger,
    given: Given,
    others: Others,
    table: EntityTable | None,
    duration_s: float | None,
) -> Verdict:
    answer = given.answer
    contradictions = [
        rule for rule in rules.contradictions if answer.question_id in (rule.one.question, rule.other.question)
    ]
    table_rules = [rule for rule in rules.table if rule.claim.question == answer.question_id] if table else []
    checked = (*(rule.id for rule in contradictions), *(rule.id for rule in table_rules), *ANSWER_RULES)
    violations = (
        *_contradicted(contradictions, answer, others.answers),
        *(_against_table(table_rules, answer, table) if table else ()),
        *answer_violations(rules.limits, ledger, given, others, table, duration_s),
    )
    return Verdict(checked, violations)


def _contradicted(rules: Iterable[Contradiction], answer: Answer, others: Sequence[Answer]) -> Iterator[Violation]:
    for rule in rules:
        for mine, theirs in ((rule.one, rule.other), (rule.other, rule.one)):
            if not mine.holds(answer):
                continue
            for other in others:
                if other.key != answer.key and theirs.holds(other) and _same_vehicle(mine, theirs, answer, other):
                    yield Violation(
                        rule=rule.id,
                        action="demote",
                        message=f"{said_as(answer)} contradicts {said_as(other)}: {rule.why}",
                        against=QuestionRef(question_id=other.question_id, party=other.party),
                    )


def _same_vehicle(mine: Claim, theirs: Claim, answer: Answer, other: Answer) -> bool:
    """Two claims about ``any`` party speak of one and the same vehicle."""
    if mine.party != "any" or theirs.party != "any":
        return True
    return answer.party == other.party or Party.NONE in (answer.party, other.party)


def _against_table(rules: Iterable[TableRule], answer: Answer, table: EntityTable) -> Iterator[Violation]:
    for rule in rules:
        said = _table_value(table, rule.field)
        if said is not None and said in rule.values and rule.claim.holds(answer):
            yield Violation(
                rule=rule.id,
                action=rule.action,
                message=f"{said_as(answer)}, but the entity table has {rule.field} = {said}: {rule.why}",
            )


def _table_value(table: EntityTable, field: str) -> str | None:
    counterpart = table.counterpart
    if field == "counterpart":
        return "present" if any(entity.role == "counterpart" for entity in table.entities) else "absent"
    if field == "counterpart.heading":
        return counterpart.heading if counterpart else None
    if field == "counterpart.kind":
        return counterpart.kind if counterpart else None
    if field == "lane_count":
        return None if table.lane_count is None else str(table.lane_count)
    return "absent" if table.contact_time is None else "present"
