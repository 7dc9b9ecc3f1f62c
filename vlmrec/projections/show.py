"""The story of a clip, turn by turn: asked, answered, evidence, candidates before and after.

Result: every clip in order of its id, its turns in rounds, each with the events that tell of it.
Measured: latency, cost and tokens of each turn.
"""

from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple

from msgspec.structs import replace

from vlmrec.events import (
    AnswerAccepted,
    AnswerGiven,
    AnswerValidated,
    CallCompleted,
    CallFailed,
    ClipFailed,
    ClipFinished,
    ClipOpened,
    EngineSubmitted,
    Event,
    Key,
    MediaFailed,
    Payload,
    ReplyParsed,
    SamplesVoted,
    Stage,
    TableChecked,
    TableGiven,
    TurnOpened,
)
from vlmrec.projections.core import Combined, Note, RunResults
from vlmrec.projections.ends import ENDS, ClipEnd
from vlmrec.projections.meter import CallFigures, Meter, merged
from vlmrec.projections.registry import Inputs, register
from vlmrec.projections.shown import (
    AnswerShown,
    ClipShown,
    Gone,
    OutcomeShown,
    SampleShown,
    Shown,
    ShownMeasured,
    TableShown,
    TurnMeasured,
    TurnShown,
)
from vlmrec.terms import ClipId

__all__ = ["ClipShown", "ClipStory", "Show", "Shown", "ShownMeasured", "TurnShown"]


class _State:
    """A clip under way. Payloads are kept by turn; each kind comes once for a turn."""

    __slots__ = ("end", "given", "media", "meters", "opened", "submissions", "table", "turns")

    def __init__(self) -> None:
        self.opened: ClipOpened | None = None
        self.media: MediaFailed | None = None
        self.table: tuple[str, TableChecked | TableGiven] | None = None
        self.given = False
        self.turns: dict[tuple[str, str], _Turn] = {}
        self.submissions: dict[int, EngineSubmitted] = {}
        self.meters: dict[Key, Meter] = {}
        self.end: ClipEnd | None = None


class _Turn:
    __slots__ = ("accepted", "given", "opened", "parsed", "validated", "voted")

    def __init__(self) -> None:
        self.opened: tuple[str, TurnOpened] | None = None
        self.parsed: dict[int, tuple[str, ReplyParsed]] = {}
        self.voted: SamplesVoted | None = None
        self.validated: AnswerValidated | None = None
        self.accepted: tuple[str, AnswerAccepted] | None = None
        self.given: tuple[str, AnswerGiven] | None = None


class ClipStory(NamedTuple):
    """A clip's result: what is shown, its figures by (stage, question, party), and all calls together."""

    shown: ClipShown
    figures: tuple[tuple[Key, CallFigures], ...]
    total: Meter


class Show:
    """The projection behind ``vlmrec show``."""

    name: ClassVar[str] = "show"
    version: ClassVar[int] = 2
    several: ClassVar[bool] = False
    handles: ClassVar[tuple[type[Payload], ...]] = (
        ClipOpened,
        MediaFailed,
        TableGiven,
        TableChecked,
        TurnOpened,
        AnswerGiven,
        ReplyParsed,
        SamplesVoted,
        AnswerValidated,
        AnswerAccepted,
        CallCompleted,
        CallFailed,
        EngineSubmitted,
        *ENDS,
    )

    def inputs(self) -> dict[str, str]:
        return {}

    def initial(self) -> _State:
        return _State()

    def apply(self, state: _State, event: Event) -> None:
        data = event.data
        if isinstance(data, CallCompleted):
            _meter(state, data).completed(data)
        elif isinstance(data, CallFailed):
            _meter(state, data).failed(data)
        elif isinstance(data, (TurnOpened, ReplyParsed, SamplesVoted, AnswerValidated, AnswerAccepted, AnswerGiven)):
            if data.stage is Stage.PREDICATE:
                _of_turn(state, event.id, data)
        elif isinstance(data, EngineSubmitted):
            if data.status is not None:
                state.submissions[data.round] = data
        elif isinstance(data, ClipOpened):
            state.opened = data
        elif isinstance(data, MediaFailed):
            state.media = data
        elif isinstance(data, TableGiven):
            state.given, state.table = True, (event.id, data)
        elif isinstance(data, TableChecked):
            state.table = (event.id, data)
        elif isinstance(data, (ClipFinished, ClipFailed)):
            state.end = ClipEnd(event.id, data)

    def result(self, state: _State) -> ClipStory:
        opened = state.opened
        put = (item for item in state.turns.items() if item[1].opened or item[1].parsed or item[1].accepted)
        turns = sorted(put, key=lambda item: (_round_of(item[1]), item[0]))  # not answers given that nobody asked for
        shown = ClipShown(
            clip="",
            path=opened.path if opened else state.media.path if state.media else None,
            duration_s=opened.duration_s if opened else None,
            truncated=opened.truncated if opened else False,
            media_failure=state.media.reason if state.media else None,
            table=_table(state),
            turns=tuple(_turn_shown(key, turn, state.submissions) for key, turn in turns),
            outcome=_outcome(state.end),
            notes=(),
        )
        figures = tuple((key, meter.figures()) for key, meter in sorted(state.meters.items(), key=_text_key))
        return ClipStory(shown, figures, merged(state.meters.values()))

    def combine(self, runs: Sequence[RunResults[ClipStory]]) -> Combined[Shown, ShownMeasured]:
        (run,) = runs
        facts = run.facts
        turns = [_measured(clip, key, figures) for clip, story in run.clips for key, figures in story.figures]
        shown = Shown(
            condition=facts.manifest.condition if facts.manifest else None,
            data_version=facts.data_version,
            notes=tuple(note for note in facts.notes if note.clip is None),
            clips=tuple(_named(clip, story.shown, facts.notes) for clip, story in run.clips),
        )
        return Combined(
            shown, ShownMeasured(turns=tuple(turns), total=merged(story.total for _, story in run.clips).figures())
        )


@register("show")
def _make(inputs: Inputs) -> Show:
    return Show()


def _meter(state: _State, call: CallCompleted | CallFailed) -> Meter:
    key: Key = (call.stage, call.question_id, call.party)
    meter = state.meters.get(key)
    if meter is None:
        meter = state.meters[key] = Meter()
    return meter


def _of_turn(
    state: _State,
    event: str,
    data: TurnOpened | ReplyParsed | SamplesVoted | AnswerValidated | AnswerAccepted | AnswerGiven,
) -> None:
    key = (data.question_id, data.party)
    turn = state.turns.get(key)
    if turn is None:
        turn = state.turns[key] = _Turn()
    if isinstance(data, ReplyParsed):
        turn.parsed[data.sample] = (event, data)
    elif isinstance(data, TurnOpened):
        turn.opened = (event, data)
    elif isinstance(data, SamplesVoted):
        turn.voted = data
    elif isinstance(data, AnswerValidated):
        turn.validated = data
    elif isinstance(data, AnswerAccepted):
        turn.accepted = (event, data)
    else:
        turn.given = (event, data)


def _round_of(turn: _Turn) -> int:
    return turn.opened[1].round if turn.opened else 0


def _turn_shown(key: tuple[str, str], turn: _Turn, submissions: dict[int, EngineSubmitted]) -> TurnShown:
    event, opened = turn.opened or (None, None)
    before = submissions.get(opened.round - 1) if opened else None
    after = submissions.get(opened.round) if opened else None
    return TurnShown(
        event=event,
        question_id=key[0],
        party=key[1],
        round=opened.round if opened else None,
        put=opened.put if opened else True,
        text=opened.text if opened else None,
        options=opened.options if opened else (),
        window=opened.window if opened else None,
        samples=tuple(_sample(*turn.parsed[sample]) for sample in sorted(turn.parsed)),
        tally=dict(sorted(turn.voted.tally.items())) if turn.voted else None,
        vote=turn.voted.outcome if turn.voted else None,
        violations=turn.validated.violations if turn.validated else (),
        answer=_answer(*turn.accepted, turn.given[1] if turn.given else None) if turn.accepted else None,
        before=charts(before) if before else None,
        after=charts(after) if after else None,
        eliminated=_eliminated(key, before, after),
    )


def charts(submission: EngineSubmitted) -> tuple[str, ...]:
    """The charts that a submission left standing, sorted, each once."""
    return tuple(sorted({candidate.chart for candidate in submission.candidates}))


def _eliminated(
    key: tuple[str, str], before: EngineSubmitted | None, after: EngineSubmitted | None
) -> tuple[Gone, ...]:
    if after is None:
        return ()
    known = {(e.chart, e.self_is, e.variant) for e in before.eliminated} if before else set()
    return tuple(
        Gone(chart=e.chart, self_is=e.self_is, variant=e.variant)
        for e in after.eliminated
        if (e.by.question_id, e.by.party) == key and (e.chart, e.self_is, e.variant) not in known
    )


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


def _table(state: _State) -> TableShown | None:
    if state.table is None:
        return None
    event, data = state.table
    violations = data.violations if isinstance(data, TableChecked) else ()
    return TableShown(event=event, table=data.table, violations=violations, taken_over=state.given)


def _outcome(end: ClipEnd | None) -> OutcomeShown | None:
    if end is None:
        return None
    event, data = end
    if isinstance(data, ClipFailed):
        return OutcomeShown(
            event=event,
            outcome="failed",
            reason=f"{data.cause}: {data.reason}",
            incomplete=False,
            retryable=data.retryable,
            candidates=(),
        )
    return OutcomeShown(
        event=event,
        outcome=data.outcome,
        reason=data.stop_reason,
        incomplete=data.incomplete,
        retryable=False,
        candidates=data.candidates,
    )


def _named(clip: ClipId, shown: ClipShown, notes: tuple[Note, ...]) -> ClipShown:
    return replace(shown, clip=clip, notes=tuple(note for note in notes if note.clip == clip))


def _measured(clip: ClipId, key: Key, figures: CallFigures) -> TurnMeasured:
    stage, question_id, party = key
    return TurnMeasured(clip=clip, stage=str(stage), question_id=str(question_id), party=str(party), calls=figures)


def _text_key(item: tuple[Key, Any]) -> tuple[str, ...]:
    return tuple(str(part) for part in item[0])
