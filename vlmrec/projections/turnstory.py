"""A turn under way, and what is shown of it. Of each kind of event a turn keeps what its story tells, not the event."""

from msgspec import Struct

from vlmrec.events import (
    AnswerAccepted,
    AnswerGiven,
    AnswerValidated,
    EngineSubmitted,
    ReplyParsed,
    SamplesVoted,
    TurnOpened,
)
from vlmrec.projections.shown import AnswerShown, Gone, SampleShown, TurnShown

PlainKey = tuple[str, str]
"""Question and party."""


class Standing(Struct, frozen=True, gc=False):
    """What a submission left: the charts standing, and what was gone, each with the turn that had ruled it out."""

    charts: tuple[str, ...]
    gone: tuple[tuple[Gone, PlainKey], ...]


class TurnStory(Struct, gc=False):
    """The events of one turn so far; each kind comes once, and a reply once for a sample."""

    opened: TurnOpened | None = None
    opened_by: str | None = None
    samples: dict[int, SampleShown] = {}
    voted: SamplesVoted | None = None
    validated: AnswerValidated | None = None
    accepted: AnswerAccepted | None = None
    accepted_by: str = ""
    given: AnswerGiven | None = None

    def take(
        self,
        event: str,
        data: TurnOpened | ReplyParsed | SamplesVoted | AnswerValidated | AnswerAccepted | AnswerGiven,
    ) -> None:
        """Take in an event of the turn."""
        if isinstance(data, ReplyParsed):
            self.samples[data.sample] = _sample(event, data)
        elif isinstance(data, TurnOpened):
            self.opened, self.opened_by = data, event
        elif isinstance(data, AnswerAccepted):
            self.accepted, self.accepted_by = data, event
        elif isinstance(data, SamplesVoted):
            self.voted = data
        elif isinstance(data, AnswerValidated):
            self.validated = data
        else:
            self.given = data

    @property
    def told(self) -> bool:
        """Whether there is anything to tell: not of an answer given that nobody asked for."""
        return bool(self.opened or self.samples or self.accepted)

    @property
    def round(self) -> int:
        """The round that put it; 0 as long as that isn't known."""
        return self.opened.round if self.opened else 0


def turn_shown(key: PlainKey, turn: TurnStory, standings: dict[int, Standing]) -> TurnShown:
    """The turn as it stands, between the submissions before and after it."""
    opened = turn.opened
    before = standings.get(opened.round - 1) if opened else None
    after = standings.get(opened.round) if opened else None
    return TurnShown(
        event=turn.opened_by,
        question_id=key[0],
        party=key[1],
        round=opened.round if opened else None,
        put=opened.put if opened else True,
        text=opened.text if opened else None,
        options=opened.options if opened else (),
        window=opened.window if opened else None,
        samples=tuple(turn.samples[sample] for sample in sorted(turn.samples)),
        tally=dict(sorted(turn.voted.tally.items())) if turn.voted else None,
        vote=turn.voted.outcome if turn.voted else None,
        violations=turn.validated.violations if turn.validated else (),
        answer=_answer(turn.accepted_by, turn.accepted, turn.given) if turn.accepted else None,
        before=before.charts if before else None,
        after=after.charts if after else None,
        eliminated=_eliminated(key, before, after),
    )


def standing(submission: EngineSubmitted, seen: dict[tuple[object, ...], tuple[Gone, PlainKey]]) -> Standing:
    """What the submission left. ``seen`` holds what is gone, once for all submissions: each repeats the last one's."""
    gone = []
    for each in submission.eliminated:
        by = each.by
        place = (each.chart, each.self_is, each.variant, by.question_id, by.party)
        entry = seen.get(place)
        if entry is None:
            shown = Gone(chart=each.chart, self_is=each.self_is, variant=each.variant)
            entry = seen[place] = (shown, (by.question_id, by.party))
        gone.append(entry)
    charts = sorted({candidate.chart for candidate in submission.candidates})
    return Standing(tuple(charts), tuple(gone))


def _eliminated(key: PlainKey, before: Standing | None, after: Standing | None) -> tuple[Gone, ...]:
    mine = [gone for gone, by in after.gone if by == key] if after is not None else []
    if not mine or before is None:
        return tuple(mine)
    known = {(gone.chart, gone.self_is, gone.variant) for gone, _ in before.gone}
    return tuple(gone for gone in mine if (gone.chart, gone.self_is, gone.variant) not in known)


def _sample(event: str, parsed: ReplyParsed) -> SampleShown:
    return SampleShown(
        event=event,
        call=parsed.call,
        sample=parsed.sample,
        outcome=parsed.outcome,
        strictness=parsed.strictness,
        recovered=parsed.recovered,
        reason=parsed.reason,
        status=parsed.status,
        value=parsed.value,
        explanation=parsed.explanation,
        evidence_start=parsed.evidence_start,
        evidence_end=parsed.evidence_end,
        confidence=parsed.confidence,
        repetition=parsed.repetition,
        flags=parsed.flags,
        reasoning=parsed.reasoning,
    )


def _answer(event: str, accepted: AnswerAccepted, given: AnswerGiven | None) -> AnswerShown:
    told = given if given is not None and accepted.source == "given" else accepted  # who gave it knew why and when
    return AnswerShown(
        event=event,
        status=accepted.status,
        value=accepted.value,
        source=accepted.source,
        explanation=told.explanation,
        evidence_start=told.evidence_start,
        evidence_end=told.evidence_end,
        confidence=accepted.confidence,
        demoted_from=accepted.demoted_from,
        demoted_by=accepted.demoted_by,
    )
