"""What an engine replied, as the event that records it. Pure."""

from typing import NamedTuple

from vlmrec.canonical import json_blob, make_blob
from vlmrec.events import CandidateBrief, EngineSubmitted
from vlmrec.protocol import Candidate, EvaluateRequest, Evaluation
from vlmrec.terms import Blob


class EngineReply(NamedTuple):
    """A reply of the engine, as received and as decoded.

    ``body`` is None where an embedded engine was called as a function: its data version gives the same reply again.
    """

    body: bytes | None
    evaluation: Evaluation
    http_status: int | None = 200


def submitted_payload(
    round_: int, attempt: int, request: EvaluateRequest, reply: EngineReply
) -> tuple[EngineSubmitted, tuple[Blob, ...]]:
    """``engine.submitted`` from a reply, with the bodies of both where they went over a protocol."""
    blobs = () if reply.body is None else (json_blob(request), make_blob(reply.body, "application/json"))
    evaluation = reply.evaluation
    data = EngineSubmitted(
        round=round_,
        attempt=attempt,
        request=blobs[0].ref if blobs else None,
        reply=blobs[1].ref if blobs else None,
        http_status=reply.http_status,
        engine_version=evaluation.engine_version,
        data_version=evaluation.data_version,
        status=evaluation.status,
        stop_reason=evaluation.stop_reason,
        candidates=tuple(map(brief, evaluation.candidates)),
        eliminated=evaluation.eliminated,
        next_question=evaluation.next_question,
    )
    return data, blobs


def refused_payload(
    round_: int, attempt: int, request: EvaluateRequest, error: str
) -> tuple[EngineSubmitted, tuple[Blob, ...]]:
    """``engine.submitted`` without a usable reply, not to be tried again."""
    body = json_blob(request)
    data = EngineSubmitted(round=round_, attempt=attempt, request=body.ref, error=error, final=True)
    return data, (body,)


def brief(candidate: Candidate) -> CandidateBrief:
    """A candidate as events keep it."""
    return CandidateBrief(
        chart=candidate.chart,
        variant=candidate.variant,
        self_is=candidate.self_is,
        fault_self=candidate.fault.self_,
        fault_self_range=candidate.fault_range.self_,
    )
