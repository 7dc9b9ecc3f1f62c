"""Stage 2: the deterministic rules that an answer passes before it is submitted. Pure.

The rules are data (``schemas/validation_rules.yaml``): which answers contradict each other, what an
entity table rules out, and limits of what counts as suspicious text. A contradiction demotes, all
else flags. A rule whose questions the ledger doesn't have is idle.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal, NamedTuple

import msgspec
from msgspec import Struct

from vlmrec.canonical import sha256_hex
from vlmrec.errors import InputError
from vlmrec.events import Violation
from vlmrec.ledger import Answers, Ledger, precondition
from vlmrec.projections.claims import counterpart_absent
from vlmrec.projections.describe_rules import RULES as MOTIONS
from vlmrec.projections.describe_rules import describe_map, without_code
from vlmrec.stages.table import ENTITY_ID
from vlmrec.stages.text import says_of_collision
from vlmrec.table import EntityTable
from vlmrec.terms import Answer, Party, QuestionRef, Status, TurnKey


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


class Limits(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """From where on a text is suspicious."""

    repetition: float
    evidence_slack_s: float


class RuleSet(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """All rules of one version of the file."""

    version: int
    contradictions: tuple[Contradiction, ...]
    table: tuple[TableRule, ...]
    limits: Limits


class Given(NamedTuple):
    """An answer to be checked, with what was said beside it."""

    answer: Answer
    explanation: str | None = None
    evidence_start: float | None = None
    evidence_end: float | None = None
    repetition: float | None = None
    window: tuple[float, float] | None = None


class Verdict(NamedTuple):
    """The rules that were applied to one answer, and those that did not hold."""

    checked: tuple[str, ...]
    violations: tuple[Violation, ...]

    @property
    def demoted_by(self) -> str | None:
        return next((violation.rule for violation in self.violations if violation.action == "demote"), None)


COLLISION = "q_collision"
"""The question whose answer says whether there was a contact."""
ANSWER_RULES = (
    "domain",
    "precondition",
    "evidence_inside_clip",
    "evidence_inside_window",
    "reason_names_chosen_code",
    "reason_describes_another_motion",
    "reason_against_collision",
    "reason_without_counterpart",
    "reason_names_unknown_entity",
    "repetition",
)
"""What every answer is checked by, beside the rules of the file."""

AMONG_REASONS = frozenset({"reason_against_collision", "reason_without_counterpart"})
"""Rules that hold one turn's reason against other turns."""


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
    said: Mapping[TurnKey, str] | None = None,
) -> list[Verdict]:
    """A verdict for each new answer of a round, against what was accepted and against the others of the round.

    ``said`` are the reasons given with accepted answers.
    Within a round neither of two answers is the newer one, so a contradiction among them demotes both.
    """
    earlier = [accepted[key] for key in sorted(accepted, key=ledger.order)]
    verdicts = []
    for index, given in enumerate(group):
        peers = [each for position, each in enumerate(group) if position != index]
        reasons = {**(said or {}), **{each.answer.key: each.explanation for each in peers if each.explanation}}
        others = _Others([*earlier, *(each.answer for each in peers)], reasons)
        verdicts.append(_check(rules, ledger, given, others, table, duration_s))
    return verdicts


class _Others(NamedTuple):
    """What else was answered on the clip, and the reasons that were given with it."""

    answers: Sequence[Answer]
    reasons: Mapping[TurnKey, str]


def _check(
    rules: RuleSet,
    ledger: Ledger,
    given: Given,
    others: _Others,
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
        *_improper(ledger, answer, {each.key: each for each in others.answers}),
        *_evidence(rules.limits, given, duration_s),
        *_reason(ledger, given, table),
        *_reason_against_others(given, others),
        *_repeated(rules.limits, given),
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
                        message=f"{_say(answer)} contradicts {_say(other)}: {rule.why}",
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
                message=f"{_say(answer)}, but the entity table has {rule.field} = {said}: {rule.why}",
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


def _improper(ledger: Ledger, answer: Answer, answers: Mapping[TurnKey, Answer]) -> Iterator[Violation]:
    """Values outside the domain, and answers to questions that don't arise."""
    question = ledger.question(answer.question_id)
    if answer.value is not None and answer.value not in question.codes:
        yield Violation(rule="domain", action="demote", message=f"{_say(answer)} is no code of {question.id}")
    if answer.status is Status.OBSERVED and precondition(question, answer.party, answers) is False:
        yield Violation(rule="precondition", action="flag", message=f"{_say(answer)}, though its precondition is false")


def _evidence(limits: Limits, given: Given, duration_s: float | None) -> Iterator[Violation]:
    """Cited times run forwards, and lie inside the clip and the part of it that was shown."""
    start, end = given.evidence_start, given.evidence_end
    slack = limits.evidence_slack_s
    if start is not None and end is not None and start > end:
        yield Violation(
            rule="evidence_inside_clip", action="flag", message=f"evidence from {start:g} s to {end:g} s runs backwards"
        )
    for time in (start, end):
        if time is None:
            continue
        if duration_s is not None and not 0 <= time <= duration_s + slack:
            yield Violation(
                rule="evidence_inside_clip",
                action="flag",
                message=f"evidence at {time:g} s lies outside the clip of {duration_s:g} s",
            )
        elif given.window is not None and not given.window[0] - slack <= time <= given.window[1] + slack:
            first, last = given.window
            yield Violation(
                rule="evidence_inside_window",
                action="flag",
                message=f"evidence at {time:g} s lies outside what was shown, {first:g} s to {last:g} s",
            )


def _reason(ledger: Ledger, given: Given, table: EntityTable | None) -> Iterator[Violation]:
    """The reason against the answer that it is given for, and against the table's names."""
    answer, reason = given.answer, given.explanation
    if not reason:
        return
    codes = ledger.question(answer.question_id).codes
    if answer.value is not None:
        named = [code for code in codes if len(code) > 2 and code in reason]
        if named and answer.value not in named:
            yield Violation(
                rule="reason_names_chosen_code",
                action="flag",
                message=f"the reason names {', '.join(named)}, but the answer is {answer.value}",
            )
        if answer.question_id in MOTIONS:
            described = describe_map(answer.question_id, without_code(reason, codes), answer.party, codes).code
            if described is not None and described != answer.value:
                yield Violation(
                    rule="reason_describes_another_motion",
                    action="flag",
                    message=f"the reason describes {described}, but the answer is {answer.value}",
                )
    if table is not None and table.entities:
        unknown = sorted(set(ENTITY_ID.findall(reason)) - {entity.id for entity in table.entities})
        if unknown:
            yield Violation(
                rule="reason_names_unknown_entity",
                action="flag",
                message=f"the reason speaks of {', '.join(unknown)}, which the entity table does not have",
            )


def _reason_against_others(given: Given, others: _Others) -> Iterator[Violation]:
    """A collision said in one turn and denied in another; a counterpart absent here and acting there. The first of each."""
    clashes = {violation.rule: violation for violation in reversed(list(_clashes(given, others)))}
    yield from (clashes[rule] for rule in sorted(clashes))


def _clashes(given: Given, others: _Others) -> Iterator[Violation]:
    answer, mine = given.answer, given.explanation or ""
    stance, absent = says_of_collision(mine), bool(counterpart_absent(mine))
    for other in others.answers:
        theirs = others.reasons.get(other.key, "")
        said = _collision_answer(other) or says_of_collision(theirs)
        if stance is not None and said is not None and stance != said:
            yield _between("reason_against_collision", answer, other, f"a collision is {stance} here and {said} there")
        if absent and _acts(other) and not counterpart_absent(theirs):
            why = "no other vehicle is seen here, and one acts there"
            yield _between("reason_without_counterpart", answer, other, why)
        elif not absent and _acts(answer) and counterpart_absent(theirs):
            why = "another vehicle acts here, and none is seen there"
            yield _between("reason_without_counterpart", answer, other, why)


def _collision_answer(answer: Answer) -> Literal["asserted", "denied"] | None:
    if answer.question_id != COLLISION or answer.status is not Status.OBSERVED:
        return None
    return "denied" if answer.value == "no_contact" else "asserted"


def _acts(answer: Answer) -> bool:
    return answer.party is Party.OTHER and answer.status is Status.OBSERVED


def _between(rule: str, answer: Answer, other: Answer, why: str) -> Violation:
    against = QuestionRef(question_id=other.question_id, party=other.party)
    message = f"the reasons of {answer.question_id} ({answer.party}) and {other.question_id} ({other.party}): {why}"
    return Violation(rule=rule, action="flag", message=message, against=against)


def _repeated(limits: Limits, given: Given) -> Iterator[Violation]:
    if given.repetition is not None and given.repetition > limits.repetition:
        yield Violation(
            rule="repetition",
            action="flag",
            message=f"{given.repetition:.0%} of the text repeats itself, more than {limits.repetition:.0%}",
        )


def _say(answer: Answer) -> str:
    return f"{answer.question_id} ({answer.party}) = {answer.value or answer.status}"
