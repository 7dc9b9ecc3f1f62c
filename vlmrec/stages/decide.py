"""The decision core: what to do next with a clip, from what is known of it. Pure, sans I/O.

``decide(context, state, blobs)`` returns either decisions to record (all of them, before it is asked
again) or effects to carry out. It is used unchanged by extraction, resume, replay, re-scoring and
"what would fewer samples have given"; only where answers come from differs.

A clip advances in rounds: round 0 is Stage 0, if any; round 1 every gate; then one round for each
``next_question``. A round is fixed by the state at its start, and its results fold in ledger order.
"""

from collections.abc import Callable, Iterator
from fractions import Fraction
from operator import itemgetter
from typing import NamedTuple, TypeAlias

from msgspec.structs import replace

from vlmrec.canonical import text_blob
from vlmrec.events import (
    AnswerAccepted,
    AnswerValidated,
    CallCompleted,
    ClipFailed,
    ClipFinished,
    EngineSubmitted,
    Payload,
    ReplyParsed,
    Sample,
    SamplesVoted,
    Stage,
    TableChecked,
    TurnOpened,
    Violation,
)
from vlmrec.protocol import EngineStatus, EvaluateRequest
from vlmrec.stages.context import CORE_VERSION, RunContext
from vlmrec.stages.reading import Reading, read_turn
from vlmrec.stages.rules import Given, Verdict, check_group
from vlmrec.stages.state import TASK_STAGES, Call, ClipState, Turn
from vlmrec.stages.table import TABLE_RULES, table_faults
from vlmrec.stages.vote import Ballot, Vote, vote
from vlmrec.stages.windows import window_of
from vlmrec.table import EntityTable, decode_table
from vlmrec.terms import Answer, Blob, Status, TurnKey

Blobs: TypeAlias = Callable[[str], bytes]
"""The body of a stored blob, by its SHA-256."""


class Record(NamedTuple):
    """A decision, to be appended and applied before anything else."""

    data: Payload
    causation: str | None = None
    blobs: tuple[Blob, ...] = ()


class OpenClip(NamedTuple):
    """Hash and probe the clip's file; answered by ``clip.opened`` or ``media.failed``."""


class PrepareMedia(NamedTuple):
    """Make the media of a window family; answered by ``media.prepared`` or ``media.failed``."""

    window: str


class SendCall(NamedTuple):
    """Send a call; ``call.requested`` first, then ``call.completed`` or ``call.failed``."""

    turn: TurnOpened
    sample: Sample
    attempt: int


class Submit(NamedTuple):
    """Put the answers so far to the engine; answered by ``engine.submitted``."""

    round: int
    attempt: int
    request: EvaluateRequest


Effect: TypeAlias = OpenClip | PrepareMedia | SendCall | Submit
Command: TypeAlias = Record | Effect


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
    read = tuple(record for turn in turns for record in _unread(context, turn, blobs))
    if read:
        return read
    if not all(_is_answered(context, state, turn) for turn in turns):
        return tuple(_wanted(context, state, turns))
    settled = tuple(_settle(context, state, turns, blobs))
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


# ---- reading replies -------------------------------------------------------------------------


def _unread(context: RunContext, turn: Turn, blobs: Blobs) -> Iterator[Record]:
    for sample, call in turn.calls.items():
        if call.completed is None or call.completed_id is None:
            continue
        wanted = range(turn.opened.samples) if sample == "all" else (sample,)
        for index in wanted:
            if index not in turn.parsed:
                yield _read(context, turn.opened, call.completed, call.completed_id, index, blobs)


def _read(
    context: RunContext, turn: TurnOpened, completed: CallCompleted, call_id: str, sample: int, blobs: Blobs
) -> Record:
    body = blobs(completed.body.sha256)
    choice = sample if completed.sample == "all" else 0
    reading = read_turn(body, choice, turn, context.condition)
    return Record(*_reply_parsed(turn, reading, call_id, sample))


def _reply_parsed(
    turn: TurnOpened, reading: Reading, call_id: str, sample: int
) -> tuple[ReplyParsed, str, tuple[Blob, ...]]:
    reasoning = text_blob(reading.reasoning) if reading.reasoning else None
    data = ReplyParsed(
        core=CORE_VERSION,
        stage=turn.stage,
        question_id=turn.question_id,
        party=turn.party,
        sample=sample,
        call=call_id,
        outcome=reading.outcome,
        strictness=reading.strictness,
        recovered=reading.recovered,
        reason=reading.reason,
        status=reading.status,
        value=reading.value,
        explanation=reading.explanation,
        reasoning=reasoning.ref if reasoning else None,
        evidence_start=reading.evidence_start,
        evidence_end=reading.evidence_end,
        confidence=reading.confidence,
        document=reading.document.ref if reading.document else None,
        repetition=reading.repetition,
        flags=reading.flags,
    )
    return data, call_id, tuple(blob for blob in (reasoning, reading.document) if blob is not None)


# ---- settling a round ------------------------------------------------------------------------


class _Proposal(NamedTuple):
    turn: Turn
    status: Status
    value: str | None
    source: str
    causation: str | None
    backing: ReplyParsed | None


def _settle(context: RunContext, state: ClipState, turns: list[Turn], blobs: Blobs) -> Iterator[Record]:
    """The votes, verdicts and accepted answers that a round still lacks, in ledger order."""
    if turns[0].opened.stage is Stage.TABLE:
        if state.table_checked is None:
            yield _check_table(state, turns[0], blobs)
        return
    if turns[0].opened.stage is Stage.SCENE:
        return
    turns = sorted(turns, key=lambda turn: context.rank[turn.key])
    votes = {turn.key: _vote(context, turn) for turn in turns if turn.opened.samples}
    proposals = [proposal for turn in turns if (proposal := _propose(state, turn, votes.get(turn.key))) is not None]
    unvoted = [turn for turn in turns if turn.key in votes and turn.voted is None]
    unaccepted = [proposal for proposal in proposals if proposal.turn.accepted is None]
    for turn in unvoted:
        yield Record(_samples_voted(turn, votes[turn.key]), _last_reply(turn))
    if not unaccepted:
        return
    verdicts = _verdicts(context, state, proposals, blobs)
    for proposal, verdict in zip(proposals, verdicts, strict=True):
        if proposal.turn.accepted is not None:
            continue
        if verdict is not None and proposal.turn.validated is None:
            yield Record(_answer_validated(proposal, verdict), proposal.causation)
        yield Record(_answer_accepted(proposal, verdict), proposal.causation)


def _propose(state: ClipState, turn: Turn, result: Vote | None) -> _Proposal | None:
    given = state.given.get(turn.key)
    if given is not None:
        return _Proposal(turn, given.status, given.value, "given", state.given_ids[turn.key], None)
    if not turn.opened.put:
        return _Proposal(turn, Status.UNKNOWN, None, "not_observable", None, None)
    if result is None or result.status is None:
        return None
    backing = turn.parsed[result.backing[0]] if result.backing else None
    return _Proposal(turn, result.status, result.value, "model", _last_reply(turn), backing)


def _vote(context: RunContext, turn: Turn) -> Vote:
    ballots = [
        Ballot(sample, parsed.status, parsed.value)
        for sample, parsed in sorted(turn.parsed.items())
        if parsed.status is not None
    ]
    return vote(ballots, n=turn.opened.samples, threshold=context.threshold)


def _samples_voted(turn: Turn, result: Vote) -> SamplesVoted:
    return SamplesVoted(
        core=CORE_VERSION,
        stage=turn.opened.stage,
        question_id=turn.opened.question_id,
        party=turn.opened.party,
        n=turn.opened.samples,
        usable=sum(result.tally.values()),
        tally=result.tally,
        outcome=result.outcome,
        status=result.status,
        value=result.value,
        backing=result.backing,
    )


def _last_reply(turn: Turn) -> str | None:
    return turn.parsed_ids[max(turn.parsed_ids)] if turn.parsed_ids else None


def _verdicts(context: RunContext, state: ClipState, proposals: list[_Proposal], blobs: Blobs) -> list[Verdict | None]:
    """Stage 2. What was taken over was validated where it was made, and what can't be observed has nothing to check."""
    checked = [proposal for proposal in proposals if proposal.source == "model"]
    if context.rules is None or not checked:
        return [None] * len(proposals)
    round_ = proposals[0].turn.opened.round
    earlier = {key: turn for key, turn in state.turns.items() if turn.answer is not None and turn.opened.round < round_}
    accepted = {key: turn.answer for key, turn in earlier.items() if turn.answer is not None}
    said = {
        key: turn.accepted.explanation for key, turn in earlier.items() if turn.accepted and turn.accepted.explanation
    }
    verdicts = iter(
        check_group(
            context.rules,
            context.ledger,
            [_as_given(state, proposal) for proposal in checked],
            accepted,
            said=said,
            table=accepted_table(state, blobs),
            duration_s=state.opened.duration_s if state.opened else None,
        )
    )
    return [next(verdicts) if proposal.source == "model" else None for proposal in proposals]


def _as_given(state: ClipState, proposal: _Proposal) -> Given:
    opened, backing = proposal.turn.opened, proposal.backing
    answer = Answer(question_id=opened.question_id, party=opened.party, status=proposal.status, value=proposal.value)
    if backing is None:
        return Given(answer)
    return Given(
        answer,
        backing.explanation,
        backing.evidence_start,
        backing.evidence_end,
        backing.repetition,
        _window_shown(state, opened.window),
    )


def _window_shown(state: ClipState, window: str) -> tuple[float, float] | None:
    """The part of the clip that a turn was shown, where it was not the whole."""
    made = state.media.get(window)
    bounds = made.plan.get("window") if made is not None else None
    return (float(Fraction(bounds[0])), float(Fraction(bounds[1]))) if bounds else None


def _answer_validated(proposal: _Proposal, verdict: Verdict) -> AnswerValidated:
    opened = proposal.turn.opened
    return AnswerValidated(
        core=CORE_VERSION,
        stage=opened.stage,
        question_id=opened.question_id,
        party=opened.party,
        checked=verdict.checked,
        violations=verdict.violations,
    )


def _answer_accepted(proposal: _Proposal, verdict: Verdict | None) -> AnswerAccepted:
    opened, backing = proposal.turn.opened, proposal.backing
    demoted_by = verdict.demoted_by if verdict is not None else None
    return AnswerAccepted(
        core=CORE_VERSION,
        stage=opened.stage,
        question_id=opened.question_id,
        party=opened.party,
        status=Status.UNKNOWN if demoted_by else proposal.status,
        value=None if demoted_by else proposal.value,
        source=proposal.source,  # type: ignore[arg-type]  # one of the three literals, from _propose alone
        explanation=backing.explanation if backing else None,
        evidence_start=backing.evidence_start if backing else None,
        evidence_end=backing.evidence_end if backing else None,
        confidence=backing.confidence if backing else None,
        demoted_from=proposal.value if demoted_by else None,
        demoted_by=demoted_by,
    )


# ---- Stage 0 ---------------------------------------------------------------------------------


def accepted_table(state: ClipState, blobs: Blobs) -> EntityTable | None:
    """The clip's entity table, once checked and usable."""
    checked = state.table_checked
    return decode_table(blobs(checked.table.sha256)) if checked is not None and checked.table is not None else None


def accepted_scene(state: ClipState, blobs: Blobs) -> str | None:
    """The clip's prose scene under S1, once read."""
    for turn in state.turns_of(0):
        parsed = turn.parsed.get(0)
        if turn.opened.stage is Stage.SCENE and parsed is not None and parsed.document is not None:
            return blobs(parsed.document.sha256).decode("utf-8")
    return None


def _check_table(state: ClipState, turn: Turn, blobs: Blobs) -> Record:
    parsed = turn.parsed.get(0)
    document = parsed.document if parsed else None
    causation = turn.parsed_ids.get(0)
    if state.table_given is not None:
        document, causation = state.table_given.table, state.table_given_id
    if document is None:
        return Record(TableChecked(core=CORE_VERSION, table=None), causation)
    duration_s = state.opened.duration_s if state.opened is not None else float("inf")
    table = decode_table(blobs(document.sha256))
    faults = table_faults(table, duration_s=duration_s)
    violations = tuple(Violation(rule=fault.rule, action="flag", message=fault.message) for fault in faults)
    return Record(
        TableChecked(core=CORE_VERSION, table=document, checked=TABLE_RULES, violations=violations), causation
    )


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
