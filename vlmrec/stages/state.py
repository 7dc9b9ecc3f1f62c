"""What is known of a clip, and how each event changes it. Pure.

``apply(state, event)`` owns its state and mutates it: copying per event costs more than the rest
together. Decisions and observations are both applied, so that a state rebuilt from a log equals
the one that wrote it.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

from vlmrec.events import (
    AnswerAccepted,
    AnswerGiven,
    AnswerValidated,
    CallCompleted,
    CallFailed,
    CallRequested,
    ClipFailed,
    ClipFinished,
    ClipOpened,
    ClipReopened,
    EngineSubmitted,
    Event,
    MediaFailed,
    MediaPrepared,
    ReplyParsed,
    Sample,
    SamplesVoted,
    Stage,
    TableChecked,
    TableGiven,
    TurnOpened,
)
from vlmrec.terms import Answer, Party, TurnKey

TASK_STAGES = (Stage.TABLE, Stage.SCENE)
"""Stages that put no question of the ledger."""


@dataclass(slots=True)
class Call:
    """What became of one call key. ``attempts`` counts the sends recorded; ``given_up``: it finally failed."""

    attempts: int = 0
    open: bool = False
    given_up: bool = False
    completed: CallCompleted | None = None
    completed_id: str | None = None
    fingerprint: str | None = None


@dataclass(slots=True)
class Turn:
    """One question put for one party (or one Stage 0 task), and what came of it."""

    opened: TurnOpened
    key: TurnKey
    calls: dict[Sample, Call] = field(default_factory=dict)
    monitors: dict[Sample, Call] = field(default_factory=dict)
    parsed: dict[int, ReplyParsed] = field(default_factory=dict)
    parsed_ids: dict[int, str] = field(default_factory=dict)
    voted: SamplesVoted | None = None
    validated: AnswerValidated | None = None
    accepted: AnswerAccepted | None = None
    answer: Answer | None = None


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a clip can't go on."""

    cause: Literal["media", "call", "engine"]
    retryable: bool
    reason: str
    event: str


@dataclass(slots=True)
class ClipState:
    """Everything the core knows of one clip."""

    clip: str
    opened: ClipOpened | None = None
    media: dict[str, MediaPrepared] = field(default_factory=dict)
    given: dict[TurnKey, AnswerGiven] = field(default_factory=dict)
    given_ids: dict[TurnKey, str] = field(default_factory=dict)
    given_count: int = 0
    table_given: TableGiven | None = None
    table_given_id: str | None = None
    table_checked: TableChecked | None = None
    round: int | None = None
    turns: dict[TurnKey, Turn] = field(default_factory=dict)
    by_round: dict[int, list[Turn]] = field(default_factory=dict)
    submissions: dict[int, EngineSubmitted] = field(default_factory=dict)
    submission_ids: dict[int, str] = field(default_factory=dict)
    in_flight: int = 0
    warmed: set[tuple[Stage, str]] = field(default_factory=set)
    failure: Failure | None = None
    ended: bool = False
    endings: int = 0
    finished: int = 0
    failed: int = 0
    reopened: int = 0
    media_failures: int = 0

    def turns_of(self, round_: int) -> list[Turn]:
        """The turns of one round, in the order in which they were opened."""
        return self.by_round.get(round_, [])


def apply(state: ClipState, event: Event) -> ClipState:
    """``state`` with ``event`` folded in. Events that don't concern the core change nothing."""
    handler = _HANDLERS.get(type(event.data))
    if handler is not None:
        handler(state, event)
    return state


def fold(clip: str, events: Iterable[Event]) -> ClipState:
    """The state of ``clip`` after ``events``."""
    state = ClipState(clip)
    for event in events:
        apply(state, event)
    return state


def _turn(state: ClipState, question_id: str, party: Party) -> Turn:
    return state.turns[TurnKey(question_id, party)]


def _clip_opened(state: ClipState, event: Event) -> None:
    assert isinstance(event.data, ClipOpened)
    state.opened = event.data


def _media_prepared(state: ClipState, event: Event) -> None:
    assert isinstance(event.data, MediaPrepared)
    state.media[event.data.window] = event.data


def _media_failed(state: ClipState, event: Event) -> None:
    assert isinstance(event.data, MediaFailed)
    state.media_failures += 1
    state.failure = Failure("media", event.data.transient, event.data.reason, event.id)


def _answer_given(state: ClipState, event: Event) -> None:
    assert isinstance(event.data, AnswerGiven)
    key = TurnKey(event.data.question_id, event.data.party)
    state.given[key] = event.data
    state.given_ids[key] = event.id
    state.given_count += 1


def _table_given(state: ClipState, event: Event) -> None:
    assert isinstance(event.data, TableGiven)
    state.table_given = event.data
    state.table_given_id = event.id


def _turn_opened(state: ClipState, event: Event) -> None:
    data = event.data
    assert isinstance(data, TurnOpened)
    state.round = data.round if state.round is None else max(state.round, data.round)
    key = TurnKey(data.question_id, data.party)
    turn = state.turns[key] = Turn(data, key)
    state.by_round.setdefault(data.round, []).append(turn)


def _call_requested(state: ClipState, event: Event) -> None:
    data = event.data
    assert isinstance(data, CallRequested)
    turn = _turn(state, data.question_id, data.party)
    calls = turn.monitors if data.stage is Stage.MONITOR else turn.calls
    call = calls.setdefault(data.sample, Call())
    call.attempts = data.attempt
    call.open = True
    call.fingerprint = data.fingerprint
    state.in_flight += 1


def _call_completed(state: ClipState, event: Event) -> None:
    data = event.data
    assert isinstance(data, CallCompleted)
    call = _came_back(state, data)
    call.completed = data
    call.completed_id = event.id
    state.warmed.add((data.stage, _turn(state, data.question_id, data.party).opened.window))


def _call_failed(state: ClipState, event: Event) -> None:
    data = event.data
    assert isinstance(data, CallFailed)
    call = _came_back(state, data)
    call.given_up = data.final
    if data.final and data.stage is not Stage.MONITOR and state.failure is None:
        state.failure = Failure("call", data.transient, f"{data.reason}: {data.message}", event.id)


def _came_back(state: ClipState, data: CallCompleted | CallFailed) -> Call:
    turn = _turn(state, data.question_id, data.party)
    call = (turn.monitors if data.stage is Stage.MONITOR else turn.calls)[data.sample]
    call.open = False
    state.in_flight -= 1
    return call


def _reply_parsed(state: ClipState, event: Event) -> None:
    data = event.data
    assert isinstance(data, ReplyParsed)
    turn = _turn(state, data.question_id, data.party)
    turn.parsed[data.sample] = data
    turn.parsed_ids[data.sample] = event.id


def _table_checked(state: ClipState, event: Event) -> None:
    assert isinstance(event.data, TableChecked)
    state.table_checked = event.data


def _samples_voted(state: ClipState, event: Event) -> None:
    assert isinstance(event.data, SamplesVoted)
    _turn(state, event.data.question_id, event.data.party).voted = event.data


def _answer_validated(state: ClipState, event: Event) -> None:
    assert isinstance(event.data, AnswerValidated)
    _turn(state, event.data.question_id, event.data.party).validated = event.data


def _answer_accepted(state: ClipState, event: Event) -> None:
    data = event.data
    assert isinstance(data, AnswerAccepted)
    turn = _turn(state, data.question_id, data.party)
    turn.accepted = data
    turn.answer = Answer(question_id=data.question_id, party=data.party, status=data.status, value=data.value)


def _engine_submitted(state: ClipState, event: Event) -> None:
    data = event.data
    assert isinstance(data, EngineSubmitted)
    state.submissions[data.round] = data
    state.submission_ids[data.round] = event.id
    if data.error is not None and data.final:
        state.failure = Failure("engine", True, data.error, event.id)


def _clip_finished(state: ClipState, event: Event) -> None:
    state.finished += 1
    state.ended = True


def _clip_failed(state: ClipState, event: Event) -> None:
    state.failed += 1
    state.ended = True


def _clip_reopened(state: ClipState, event: Event) -> None:
    state.reopened += 1
    state.failure = None
    state.ended = False


_HANDLERS = {
    ClipOpened: _clip_opened,
    MediaPrepared: _media_prepared,
    MediaFailed: _media_failed,
    AnswerGiven: _answer_given,
    TableGiven: _table_given,
    TurnOpened: _turn_opened,
    CallRequested: _call_requested,
    CallCompleted: _call_completed,
    CallFailed: _call_failed,
    ReplyParsed: _reply_parsed,
    TableChecked: _table_checked,
    SamplesVoted: _samples_voted,
    AnswerValidated: _answer_validated,
    AnswerAccepted: _answer_accepted,
    EngineSubmitted: _engine_submitted,
    ClipFinished: _clip_finished,
    ClipFailed: _clip_failed,
    ClipReopened: _clip_reopened,
}
