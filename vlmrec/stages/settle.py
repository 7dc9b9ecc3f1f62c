"""From replies to accepted answers: reading, voting, Stage 0's checks and Stage 2's verdicts, as decisions to record. Pure."""

from collections.abc import Iterator
from fractions import Fraction
from typing import NamedTuple

from vlmrec.canonical import text_blob
from vlmrec.events import (
    AnswerAccepted,
    AnswerValidated,
    ReplyParsed,
    SamplesVoted,
    Stage,
    TableChecked,
    TurnOpened,
    Violation,
)
from vlmrec.stages.checks import Given
from vlmrec.stages.context import CORE_VERSION, RunContext
from vlmrec.stages.effects import Blobs, Record
from vlmrec.stages.reading import Reading, read_turn
from vlmrec.stages.rules import Verdict, check_group
from vlmrec.stages.state import ClipState, Turn
from vlmrec.stages.table import TABLE_RULES, table_faults
from vlmrec.stages.vote import Ballot, Vote, vote
from vlmrec.table import EntityTable, decode_table
from vlmrec.terms import Answer, Blob, Status

# ---- reading replies -------------------------------------------------------------------------


def unread(context: RunContext, state: ClipState, turn: Turn, blobs: Blobs) -> Iterator[Record]:
    """A ``reply.parsed`` for every sample of a turn that came back and was not read."""
    duration_s = state.opened.duration_s if state.opened else None
    for sample, call in turn.calls.items():
        if call.completed is None or call.completed_id is None:
            continue
        wanted = range(turn.opened.samples) if sample == "all" else (sample,)
        for index in wanted:
            if index not in turn.parsed:
                body = blobs(call.completed.body.sha256)
                choice = index if call.completed.sample == "all" else 0
                reading = read_turn(body, choice, turn.opened, context.condition, duration_s=duration_s)
                yield Record(*_reply_parsed(turn.opened, reading, call.completed_id, index))


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


def settle(context: RunContext, state: ClipState, turns: list[Turn], blobs: Blobs) -> Iterator[Record]:
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
