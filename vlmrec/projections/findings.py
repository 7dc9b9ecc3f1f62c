"""What a scan can find, and the checks that look at one clip alone. Pure.

A finding names its clip and turn and the event it rests on, and quotes; whoever reads it can go and look.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from msgspec import Struct

from vlmrec.errors import InputError
from vlmrec.ledger import Ledger
from vlmrec.projections.claims import Drift, Said
from vlmrec.stages.checks import Given as Checked
from vlmrec.stages.rules import RuleSet, check_group
from vlmrec.table import EntityTable
from vlmrec.terms import Answer, Party, Status, TurnKey

KINDS = ("contradictions", "repetition", "drift", "order", "propagation", "provider", "format")

TOUCHED: Mapping[str, bool] = {
    "vehicle_contact": True,
    "object_contact": True,
    "yes": True,
    "no_contact": False,
    "no": False,
}
"""Whether an answer to ``q_collision`` says that something was hit."""
COLLISION = "q_collision"


class Elsewhere(Struct, frozen=True, kw_only=True):
    """The other side of a finding."""

    question_id: str | None
    party: str | None
    event: str | None
    words: str


class Finding(Struct, frozen=True, kw_only=True):
    """Something that is wrong with an answer or its text, or that its provider did wrong."""

    kind: str
    rule: str
    run: int
    clip: str
    stage: str
    question_id: str
    party: str
    event: str
    message: str
    words: tuple[str, ...] = ()
    against: Elsewhere | None = None


class Text(Struct, frozen=True, gc=False):
    """What was found in the texts of one reply."""

    event: str
    key: TurnKey
    collision: tuple[Said, ...]
    absent: tuple[str, ...]
    acts: tuple[str, ...]
    drift: Drift | None
    repetition: float | None


class Answered(Struct, frozen=True, gc=False):
    """An accepted answer, with the value it had before validation demoted it."""

    event: str
    answer: Answer
    explanation: str | None
    start: float | None
    end: float | None
    repetition: float | None


class ClipTexts(NamedTuple):
    """All that the checks of one clip need."""

    run: int
    clip: str
    answers: Mapping[TurnKey, Answered]
    texts: Sequence[Text]
    table: EntityTable | None
    duration_s: float | None


def clip_findings(clip: ClipTexts, rules: RuleSet, ledger: Ledger | None) -> Iterator[Finding]:
    """Every contradiction, repetition and drift of one clip."""
    if ledger is not None:
        yield from _by_rules(clip, rules, ledger)
    yield from _collision_told_both_ways(clip)
    yield from _absent_yet_acting(clip)
    for text in clip.texts:
        if text.repetition is not None and text.repetition > rules.limits.repetition:
            share = f"{text.repetition:.0%} of the text repeats itself, more than {rules.limits.repetition:.0%}"
            yield _finding("repetition", "repetition", clip, text.key, text.event, share)
        if text.drift is not None:
            steps = f"a place in the {text.drift.side} lane became a crossing course"
            yield _finding("drift", "lane_to_crossing", clip, text.key, text.event, steps, words=text.drift.steps)


def _by_rules(clip: ClipTexts, rules: RuleSet, ledger: Ledger) -> Iterator[Finding]:
    """The validation rules over all answers at once, whether or not the run applied them.

    But for those over pairs of reasons: texts are held against each other below, with their reasoning and in
    their own words.
    """
    known = [clip.answers[key] for key in sorted(clip.answers) if key.question_id in ledger]
    group = [Checked(a.answer, a.explanation, a.start, a.end, None) for a in known]
    seen: set[tuple[str, frozenset[TurnKey]]] = set()
    verdicts = check_group(rules, ledger, group, {}, table=clip.table, duration_s=clip.duration_s, said=None)
    for answered, verdict in zip(known, verdicts, strict=True):
        for violation in verdict.violations:
            against = violation.against.key if violation.against is not None else None
            both = (violation.rule, frozenset(key for key in (answered.answer.key, against) if key is not None))
            if both in seen:
                continue  # told from the other side already
            seen.add(both)
            other = clip.answers.get(against) if against is not None else None
            yield _finding(
                "contradictions",
                violation.rule,
                clip,
                answered.answer.key,
                answered.event,
                violation.message,
                against=_answer_elsewhere(other) if other is not None else None,
            )


def _collision_told_both_ways(clip: ClipTexts) -> Iterator[Finding]:
    """A text that denies a collision which the answer, or another turn's text, asserts; or the other way round.

    One finding a turn: the answer is what texts are held against; without one, the first text is.
    """
    answered = next((a for key, a in sorted(clip.answers.items()) if key.question_id == COLLISION), None)
    said = TOUCHED.get(answered.answer.value or "") if answered is not None else None
    told = [(text, one) for text in clip.texts for one in text.collision]
    standing: Elsewhere | None = None
    if answered is not None and said is not None:
        standing = _answer_elsewhere(answered)
    elif told:
        first, one = told[0]
        said = one.stance == "asserted"
        standing = Elsewhere(
            question_id=first.key.question_id, party=first.key.party, event=first.event, words=one.words
        )
    if standing is None:
        return
    charged: set[str] = set()
    for text, one in told:
        if (one.stance == "asserted") != said and text.event not in charged and text.event != standing.event:
            charged.add(text.event)
            message = f"the text has a collision {one.stance}, elsewhere it is {'asserted' if said else 'denied'}"
            yield _finding(
                "contradictions", "collision_told_both_ways", clip, text.key, text.event, message,
                words=(one.words,), against=standing,
            )  # fmt: skip


def _absent_yet_acting(clip: ClipTexts) -> Iterator[Finding]:
    """A text that has no counterpart in the clip, though another turn has it do something."""
    acting = _first_act(clip)
    if acting is None:
        return
    for text in clip.texts:
        if text.absent and text.event != acting.event:
            message = "the text has no counterpart, elsewhere the counterpart acts"
            yield _finding(
                "contradictions", "absent_yet_acting", clip, text.key, text.event, message,
                words=text.absent[:1], against=acting,
            )  # fmt: skip


def _first_act(clip: ClipTexts) -> Elsewhere | None:
    for key, answered in sorted(clip.answers.items()):
        if key.party is Party.OTHER and answered.answer.status is Status.OBSERVED:
            return _answer_elsewhere(answered)
    for text in clip.texts:
        if text.acts:
            return Elsewhere(
                question_id=text.key.question_id, party=text.key.party, event=text.event, words=text.acts[0]
            )
    return None


def _answer_elsewhere(answered: Answered) -> Elsewhere:
    answer = answered.answer
    return Elsewhere(
        question_id=answer.question_id,
        party=answer.party,
        event=answered.event,
        words=answer.value or f"({answer.status})",
    )


def _finding(
    kind: str,
    rule: str,
    clip: ClipTexts,
    key: TurnKey,
    event: str,
    message: str,
    *,
    words: tuple[str, ...] = (),
    against: Elsewhere | None = None,
) -> Finding:
    return Finding(
        kind=kind,
        rule=rule,
        run=clip.run,
        clip=clip.clip,
        stage="predicate",
        question_id=key.question_id,
        party=key.party,
        event=event,
        message=message,
        words=words,
        against=against,
    )


def chosen_kinds(names: Sequence[str]) -> tuple[str, ...]:
    """The kinds asked for; all, for none. Raises InputError for one that there isn't."""
    unknown = [name for name in names if name not in KINDS]
    if unknown:
        raise InputError(f"there is no scan for {unknown[0]!r}; there are: {', '.join(KINDS)}")
    return tuple(names) or KINDS
