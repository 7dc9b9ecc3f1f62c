"""What an engine said of itself and replied, as the events that record it. Pure."""

from typing import NamedTuple

from vlmrec.canonical import json_blob, make_blob
from vlmrec.events import CandidateBrief, EngineDescribed, EngineSubmitted
from vlmrec.ledger import Ledger
from vlmrec.protocol import Candidate, EvaluateRequest, Evaluation
from vlmrec.terms import Blob


class EngineReply(NamedTuple):
    """A reply of the engine, as received and as decoded.

    ``body`` is None where an embedded engine was called as a function: its data version gives the same reply again.
    """

    body: bytes | None
    evaluation: Evaluation
    http_status: int | None = 200


def described_payload(
    source: str, ledger: Ledger, meta: bytes, questions: bytes
) -> tuple[EngineDescribed, tuple[Blob, ...]]:
    """``engine.described``, with the bodies of ``GET /meta`` and ``GET /questions`` that ``ledger`` was decoded from."""
    bodies = make_blob(meta, "application/json"), make_blob(questions, "application/json")
    data = EngineDescribed(
        ordinal=1,
        source=source,
        engine_version=ledger.engine_version,
        data_version=ledger.data_version,
        meta=bodies[0].ref,
        questions=bodies[1].ref,
    )
    return data, bodies


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
