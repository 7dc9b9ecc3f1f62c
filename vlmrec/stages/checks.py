"""What every answer is checked by, beside the rules of the file: domain, cited times, and its reason against all else. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal, NamedTuple

from msgspec import Struct

from vlmrec.events import Violation
from vlmrec.ledger import Ledger, by_turn
from vlmrec.projections.claims import counterpart_absent
from vlmrec.projections.describe_rules import RULES as MOTIONS
from vlmrec.projections.describe_rules import describe_map, without_code
from vlmrec.question import precondition
from vlmrec.stages.table import ENTITY_ID
from vlmrec.stages.text import says_of_collision
from vlmrec.table import EntityTable
from vlmrec.terms import Answer, Party, QuestionRef, Status, TurnKey

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


class Limits(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """From where on a text is suspicious."""

    repetition: float
    evidence_slack_s: float


class Given(NamedTuple):
    """An answer to be checked, with what was said beside it."""

    answer: Answer
    explanation: str | None = None
    evidence_start: float | None = None
    evidence_end: float | None = None
    repetition: float | None = None
    window: tuple[float, float] | None = None


class Others(NamedTuple):
    """What else was answered on the clip, and the reasons that were given with it."""

    answers: Sequence[Answer]
    reasons: Mapping[TurnKey, str] | None
    """None: reasons are not to be held against each other."""


def answer_violations(
    limits: Limits,
    ledger: Ledger,
    given: Given,
    others: Others,
    table: EntityTable | None,
    duration_s: float | None,
) -> Iterator[Violation]:
    """Every one of ANSWER_RULES that does not hold for an answer."""
    yield from _improper(ledger, given.answer, others.answers)
    yield from _evidence(limits, given, duration_s)
    yield from _reason(ledger, given, table)
    if others.reasons is not None:
        yield from _reason_against_others(given, others.answers, others.reasons)
    yield from _repeated(limits, given)


def said_as(answer: Answer) -> str:
    """An answer as messages name it."""
    return f"{answer.question_id} ({answer.party}) = {answer.value or answer.status}"


def _improper(ledger: Ledger, answer: Answer, others: Sequence[Answer]) -> Iterator[Violation]:
    """Values outside the domain, and answers to questions that don't arise."""
    question = ledger.question(answer.question_id)
    if answer.value is not None and answer.value not in question.codes:
        yield Violation(rule="domain", action="demote", message=f"{said_as(answer)} is no code of {question.id}")
    if not question.any_of or answer.status is not Status.OBSERVED:
        return
    if precondition(question, answer.party, by_turn(others)) is False:
        yield Violation(
            rule="precondition", action="flag", message=f"{said_as(answer)}, though its precondition is false"
        )


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


def _reason_against_others(
    given: Given, others: Sequence[Answer], reasons: Mapping[TurnKey, str]
) -> Iterator[Violation]:
    """A collision said in one turn and denied in another; a counterpart absent here and acting there. The first of each."""
    clashes = {violation.rule: violation for violation in reversed(list(_clashes(given, others, reasons)))}
    yield from (clashes[rule] for rule in sorted(clashes))


def _clashes(given: Given, others: Sequence[Answer], reasons: Mapping[TurnKey, str]) -> Iterator[Violation]:
    answer, mine = given.answer, given.explanation or ""
    stance, absent = says_of_collision(mine), bool(counterpart_absent(mine))
    for other in others:
        theirs = reasons.get(other.key, "")
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
