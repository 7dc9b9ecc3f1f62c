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
from vlmrec.projections.core import Combined, RunResults
from vlmrec.projections.ends import ENDS, ClipEnd
from vlmrec.projections.facts import Note
from vlmrec.projections.meter import CallFigures, Meter, merged
from vlmrec.projections.registry import Inputs, register
from vlmrec.projections.shown import (
    ClipShown,
    Gone,
    OutcomeShown,
    Shown,
    ShownMeasured,
    TableShown,
    TurnMeasured,
)
from vlmrec.projections.turnstory import PlainKey, Standing, TurnStory, standing, turn_shown
from vlmrec.terms import ClipId


class _State:
    """A clip under way."""

    __slots__ = ("end", "given", "gone", "media", "meters", "opened", "standings", "table", "turns")

    def __init__(self) -> None:
        self.opened: ClipOpened | None = None
        self.media: MediaFailed | None = None
        self.table: tuple[str, TableChecked | TableGiven] | None = None
        self.given = False
        self.turns: dict[PlainKey, TurnStory] = {}
        self.standings: dict[int, Standing] = {}
        self.gone: dict[tuple[object, ...], tuple[Gone, PlainKey]] = {}
        self.meters: dict[Key, Meter] = {}
        self.end: ClipEnd | None = None


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
                key = (data.question_id, data.party)
                turn = state.turns.get(key)
                if turn is None:
                    turn = state.turns[key] = TurnStory()
                turn.take(event.id, data)
        elif isinstance(data, EngineSubmitted):
            if data.status is not None:
                state.standings[data.round] = standing(data, state.gone)
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
        told = (item for item in state.turns.items() if item[1].told)
        turns = sorted(told, key=lambda item: (item[1].round, item[0]))
        shown = ClipShown(
            clip="",
            path=opened.path if opened else state.media.path if state.media else None,
            duration_s=opened.duration_s if opened else None,
            truncated=opened.truncated if opened else False,
            stream_index=opened.stream_index if opened else None,
            video_streams=opened.video_streams if opened else 1,
            media_failure=state.media.reason if state.media else None,
            table=_table(state),
            turns=tuple(turn_shown(key, turn, state.standings) for key, turn in turns),
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
