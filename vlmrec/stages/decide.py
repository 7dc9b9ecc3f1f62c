"""The decision core: what to do next with a clip, from what is known of it. Pure, sans I/O.

``decide(context, state, blobs)`` returns either decisions to record (all of them, before it is asked
again) or effects to carry out. It is used unchanged by extraction, resume, replay, re-scoring and
"what would fewer samples have given"; only where answers come from differs.

A clip advances in rounds: round 0 is Stage 0, if any; round 1 every gate; then one round for each
``next_question``. A round is fixed by the state at its start, and its results fold in ledger order.
"""

from collections.abc import Iterator
from operator import itemgetter

from msgspec.structs import replace

from vlmrec.events import ClipFailed, ClipFinished, EngineSubmitted, Sample, Stage, TurnOpened
from vlmrec.protocol import EngineStatus, EvaluateRequest
from vlmrec.stages.context import CORE_VERSION, RunContext
from vlmrec.stages.effects import Blobs, Command, OpenClip, PrepareMedia, Record, SendCall, Submit
from vlmrec.stages.settle import settle, unread
from vlmrec.stages.state import TASK_STAGES, Call, ClipState, Turn
from vlmrec.stages.windows import window_of
from vlmrec.terms import TurnKey


def decide(context: RunContext, state: ClipState, blobs: Blobs) -> tuple[Command, ...]:
    """What to do next. Empty when the clip has ended, or waits for an effect that is under way or was not answered."""
    if state.ended:
        return ()
    if state.failure is not None:
        return () if state.in_flight else (Record(_clip_failed(state), state.failure.event),)
    if _waits_for_given(context, state):
        return ()
    if state.opened is None and context.source != "stored":
        return (OpenClip(),)
    round_ = context.first_round if state.round is None else state.round
    unopened = [key for key in _round_keys(context, state, round_) if key not in state.turns]
    if unopened:
        return tuple(Record(_turn_opened(context, state, key, round_)) for key in unopened)
    turns = state.turns_of(round_)
    read = tuple(record for turn in turns for record in unread(context, state, turn, blobs))
    if read:
        return read
    if not all(_is_answered(context, state, turn) for turn in turns):
        return tuple(_wanted(context, state, turns))
    settled = tuple(settle(context, state, turns, blobs))
    if settled:
        return settled
    return tuple(_after_round(context, state, round_))


# ---- rounds ----------------------------------------------------------------------------------


def _waits_for_given(context: RunContext, state: ClipState) -> bool:
    if state.given_count < context.given.get(state.clip, 0):
        return True
    return state.clip in context.tables_given and state.table_given is None


def _round_keys(context: RunContext, state: ClipState, round_: int) -> list[TurnKey]:
    if round_ == 0:
        return [context.stage_zero[1]]
    if round_ == 1:
        keys = set(context.gates)
        if context.every_given_at_once:
            keys |= set(state.given)
        return sorted(keys, key=context.rank.__getitem__)
    question = state.submissions[round_ - 1].next_question
    return [question.key] if question is not None else []


def _turn_opened(context: RunContext, state: ClipState, key: TurnKey, round_: int) -> TurnOpened:
    if round_ == 0:
        given = state.table_given is not None
        return TurnOpened(
            core=CORE_VERSION,
            stage=context.stage_zero[0],
            question_id=key.question_id,
            party=key.party,
            round=0,
            text="",
            options=(),
            identity_hash="",
            shown_hash="",
            window="whole",
            samples=0 if given else 1,
            put=not given,
        )
    asked = context.asked(key)
    to_model = (
        asked.observable
        and key not in state.given
        and context.source != "stored"
        and context.has_replies(state.clip, key)
    )
    return TurnOpened(
        core=CORE_VERSION,
        stage=Stage.PREDICATE,
        question_id=key.question_id,
        party=key.party,
        round=round_,
        text=asked.text,
        options=asked.options,
        identity_hash=asked.identity_hash,
        shown_hash=asked.shown_hash,
        window=window_of(context.condition, context.ledger.question(key.question_id)),
        samples=context.samples if to_model else 0,
        put=asked.observable,
    )


def _after_round(context: RunContext, state: ClipState, round_: int) -> Iterator[Command]:
    if round_ == 0:
        yield from (Record(_turn_opened(context, state, key, 1)) for key in _round_keys(context, state, 1))
        return
    submitted = state.submissions.get(round_)
    if submitted is None:
        yield Submit(round_, 1, _request(context, state))
        return
    if submitted.error is not None:
        yield Submit(round_, submitted.attempt + 1, _request(context, state))
        return
    if submitted.next_question is None:
        yield _finish(state, submitted, round_)
    elif submitted.next_question.key in state.turns:
        yield Record(_asked_again(state, submitted, round_), state.submission_ids[round_])
    else:
        cause = state.submission_ids[round_]
        yield Record(_turn_opened(context, state, submitted.next_question.key, round_ + 1), cause)


def _request(context: RunContext, state: ClipState) -> EvaluateRequest:
    rank = context.rank
    turns = sorted([(rank[key], turn) for key, turn in state.turns.items() if key in rank], key=itemgetter(0))
    return EvaluateRequest(
        answers=tuple([turn.answer for _, turn in turns if turn.answer is not None]),
        skip=tuple([turn.opened.ref for _, turn in turns if turn.answer is None]),
    )


# ---- what a round still needs ----------------------------------------------------------------


def _is_answered(context: RunContext, state: ClipState, turn: Turn) -> bool:
    """Whether everything that was to be asked in a turn has been. A monitoring call is waited for, not needed."""
    if len(turn.parsed) < turn.opened.samples:
        return False
    return all(_is_over(turn.monitors.get(sample)) for sample in _monitored(context, state, turn))


def _is_over(call: Call | None) -> bool:
    return call is not None and (call.completed is not None or call.given_up)


def _wanted(context: RunContext, state: ClipState, turns: list[Turn]) -> Iterator[Command]:
    """The effects that the round's unanswered turns need. The first call of a prefix goes alone and warms its cache."""
    asked_for: set[str] = set()
    held: set[tuple[Stage, str]] = set()
    for turn in turns:
        window = turn.opened.window
        prefix = (turn.opened.stage, window)
        if _is_answered(context, state, turn):
            continue
        if window not in state.media:
            if window not in asked_for:
                asked_for.add(window)
                yield PrepareMedia(window)
            continue
        for sample in _samples(context, turn):
            call = turn.calls.get(sample, Call())
            if call.completed is not None or prefix in held:
                continue
            if prefix not in state.warmed:
                held.add(prefix)
            if not call.open:
                yield SendCall(turn.opened, sample, call.attempts + 1)
        if prefix in state.warmed:
            yield from _monitoring(context, state, turn)


def _monitoring(context: RunContext, state: ClipState, turn: Turn) -> Iterator[SendCall]:
    """The unconstrained calls that a turn still needs. They are counted and kept, and never read as answers."""
    for sample in _monitored(context, state, turn):
        call = turn.monitors.get(sample, Call())
        if not call.open and not _is_over(call):
            yield SendCall(replace(turn.opened, stage=Stage.MONITOR), sample, call.attempts + 1)


def _monitored(context: RunContext, state: ClipState, turn: Turn) -> Iterator[Sample]:
    if turn.opened.stage is Stage.PREDICATE and turn.opened.samples and context.monitor_rate:
        yield from (each for each in _samples(context, turn) if context.is_monitored(state.clip, turn.key, each))


def _samples(context: RunContext, turn: Turn) -> tuple[Sample, ...]:
    if context.one_call and turn.opened.samples > 1:
        return ("all",)
    return tuple(range(turn.opened.samples))


# ---- endings ---------------------------------------------------------------------------------


def _finish(state: ClipState, submitted: EngineSubmitted, round_: int) -> Record:
    cause = state.submission_ids[round_]
    if submitted.status is None or submitted.status is EngineStatus.ASKING:
        message = "the engine has no next question and yet no outcome"
        return Record(_engine_failure(state, cause, message), cause)
    skipped = any(turn.accepted is None for turn in state.turns.values() if turn.opened.stage not in TASK_STAGES)
    data = ClipFinished(
        core=CORE_VERSION,
        ordinal=state.finished + 1,
        outcome=submitted.status,
        incomplete=skipped,
        stop_reason=submitted.stop_reason,
        candidates=submitted.candidates,
        rounds=round_,
        submission=cause,
        truncated=state.opened.truncated if state.opened is not None else False,
    )
    return Record(data, cause)


def _asked_again(state: ClipState, submitted: EngineSubmitted, round_: int) -> ClipFailed:
    question = submitted.next_question
    assert question is not None
    message = f"the engine asked {question.question_id} ({question.party}) again, though it was answered or skipped"
    return _engine_failure(state, state.submission_ids[round_], message)


def _engine_failure(state: ClipState, event: str, message: str) -> ClipFailed:
    return ClipFailed(
        core=CORE_VERSION, ordinal=state.failed + 1, cause="engine", retryable=False, reason=message, event=event
    )


def _clip_failed(state: ClipState) -> ClipFailed:
    failure = state.failure
    assert failure is not None
    return ClipFailed(
        core=CORE_VERSION,
        ordinal=state.failed + 1,
        cause=failure.cause,
        retryable=failure.retryable,
        reason=failure.reason,
        event=failure.event,
    )
