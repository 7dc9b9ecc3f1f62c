"""What an engine replied, as the event that records it. Pure."""

from typing import NamedTuple

from vlmrec.canonical import make_blob
from vlmrec.events import CandidateBrief, EngineSubmitted
from vlmrec.protocol import Candidate, Evaluation
from vlmrec.terms import Blob


class EngineReply(NamedTuple):
    """A reply of the engine, as received and as decoded."""

    body: bytes
    evaluation: Evaluation
    http_status: int = 200


def submitted_payload(
    round_: int, attempt: int, request: Blob, reply: EngineReply
) -> tuple[EngineSubmitted, tuple[Blob, ...]]:
    """``engine.submitted`` from a reply."""
    body = make_blob(reply.body, "application/json")
    evaluation = reply.evaluation
    data = EngineSubmitted(
        round=round_,
        attempt=attempt,
        request=request.ref,
        reply=body.ref,
        http_status=reply.http_status,
        engine_version=evaluation.engine_version,
        data_version=evaluation.data_version,
        status=evaluation.status,
        stop_reason=evaluation.stop_reason,
        candidates=tuple(map(brief, evaluation.candidates)),
        eliminated=evaluation.eliminated,
        next_question=evaluation.next_question,
    )
    return data, (request, body)


def brief(candidate: Candidate) -> CandidateBrief:
    """A candidate as events keep it."""
    return CandidateBrief(
        chart=candidate.chart,
        variant=candidate.variant,
        self_is=candidate.self_is,
        fault_self=candidate.fault.self_,
        fault_self_range=candidate.fault_range.self_,
    )
