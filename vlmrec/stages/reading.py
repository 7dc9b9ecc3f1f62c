"""A stored reply, read as an answer, a table or a scene: what ``reply.parsed`` says of it. Pure.

The value is a code of the turn's own options or nothing. What stands beside it (reason, evidence,
confidence) never makes an answer unreadable: what can't be read there is left out and flagged.
"""

import math
from functools import lru_cache
from typing import Any, Literal, NamedTuple

import msgspec

from vlmrec.canonical import json_blob, text_blob
from vlmrec.events import Option, Stage, TurnOpened
from vlmrec.models.replies.read import ReplyReading, read_reply
from vlmrec.models.replies.schema import JsonSchema, compile_schema
from vlmrec.stages.condition import Condition
from vlmrec.stages.contract import answer_schema
from vlmrec.stages.describe import map_description
from vlmrec.stages.text import discipline_flags, evidence_flags, repetition, text_flags
from vlmrec.table import decode_table, table_schema
from vlmrec.terms import Blob, Status

_ASIDE = ("reason", "evidence_start", "evidence_end", "confidence")
_SCENE = compile_schema({"type": "string"})


class Reading(NamedTuple):
    """What was read. ``status`` is None unless there is an answer."""

    outcome: Literal["answer", "no_answer"]
    strictness: Literal["strict", "loose", "none"]
    recovered: tuple[str, ...] = ()
    reason: str | None = None
    status: Status | None = None
    value: str | None = None
    explanation: str | None = None
    evidence_start: float | None = None
    evidence_end: float | None = None
    confidence: float | None = None
    reasoning: str | None = None
    document: Blob | None = None
    repetition: float | None = None
    flags: tuple[str, ...] = ()


def read_turn(
    body: bytes, choice: int, turn: TurnOpened, condition: Condition, *, duration_s: float | None = None
) -> Reading:
    """One choice of a stored reply, read as what the turn asked for. ``duration_s`` is the clip's."""
    if turn.stage is Stage.TABLE:
        return read_table(body, choice)
    if turn.stage is Stage.SCENE:
        return read_scene(body, choice)
    if condition.mode == "describe-map":
        return read_description(body, choice, turn)
    return read_answer(body, choice, turn, grounding=int(condition.grounding), duration_s=duration_s)


def read_answer(
    body: bytes, choice: int, turn: TurnOpened, *, grounding: int = 0, duration_s: float | None = None
) -> Reading:
    """The reply to a question with options. ``grounding`` is what the reason was asked to keep to."""
    reply = read_reply(body, _schema(turn.options), choice=choice)
    if reply.outcome != "answer":
        return _nothing(reply, reply.reason or "unreadable")
    answer: dict[str, Any] = reply.answer
    status, value = Status(answer["status"]), answer.get("value")
    if (status is Status.OBSERVED) != (value is not None):
        return _nothing(reply, "bad_value")
    explanation = answer.get("reason") if isinstance(answer.get("reason"), str) else None
    start, end = _number(answer.get("evidence_start")), _number(answer.get("evidence_end"))
    confidence = _number(answer.get("confidence"))
    flags = [f"unreadable_{name}" for name in _ASIDE if _is_lost(name, answer.get(name))]
    if confidence is not None and not 0 <= confidence <= 1:
        confidence = None
        flags.append("unreadable_confidence")
    flags += evidence_flags(start, end, duration_s=duration_s)
    said = " ".join(filter(None, (explanation, reply.reasoning)))
    flags += [*text_flags(said), *discipline_flags(explanation or "", value, grounding=grounding)]
    return Reading(
        outcome="answer",
        strictness=reply.strictness,
        recovered=reply.warnings,
        status=status,
        value=value,
        explanation=explanation,
        evidence_start=start,
        evidence_end=end,
        confidence=confidence,
        reasoning=reply.reasoning,
        repetition=repetition(said),
        flags=tuple(flags),
    )


def read_description(body: bytes, choice: int, turn: TurnOpened) -> Reading:
    """The reply to a question that was put without options: its text, mapped to a code by the declared rules."""
    reply = read_reply(body, _SCENE, choice=choice)
    text = reply.answer if isinstance(reply.answer, str) else ""
    if not text:
        return _nothing(reply, reply.reason or "empty_content")
    said = map_description(turn.question_id, text, turn.party, [option.code for option in turn.options])
    if said.status is None:
        return _nothing(reply, "unmapped")._replace(explanation=text)
    return Reading(
        outcome="answer",
        strictness="strict",
        recovered=reply.warnings,
        status=said.status,
        value=said.value,
        explanation=text,
        reasoning=reply.reasoning,
        repetition=repetition(text),
        flags=(*text_flags(text), *(("describes_several",) if len(said.told) > 1 else ())),
    )


def read_table(body: bytes, choice: int) -> Reading:
    """The reply to the request for an entity table; the document is canonical JSON of the contract."""
    reply = read_reply(body, _table_schema(), choice=choice)
    if reply.outcome != "answer":
        return _nothing(reply, reply.reason or "unreadable")
    try:
        table = decode_table(msgspec.json.encode(reply.answer))
    except msgspec.ValidationError:
        return _nothing(reply, "bad_value")
    return Reading(
        outcome="answer",
        strictness=reply.strictness,
        recovered=reply.warnings,
        reasoning=reply.reasoning,
        document=json_blob(table),
    )


def read_scene(body: bytes, choice: int) -> Reading:
    """The reply to the request for a prose scene."""
    reply = read_reply(body, _SCENE, choice=choice)
    text = reply.answer if isinstance(reply.answer, str) else ""
    if not text:
        return _nothing(reply, reply.reason or "empty_content")
    return Reading(
        outcome="answer",
        strictness="strict",
        recovered=reply.warnings,
        reasoning=reply.reasoning,
        document=text_blob(text),
        repetition=repetition(text),
        flags=text_flags(text),
    )


def _nothing(reply: ReplyReading, reason: str) -> Reading:
    return Reading(
        outcome="no_answer",
        strictness="none",
        recovered=reply.warnings,
        reason=reason,
        reasoning=reply.reasoning,
        repetition=repetition(reply.text or ""),
        flags=text_flags(reply.text or ""),
    )


@lru_cache(maxsize=1024)
def _schema(options: tuple[Option, ...]) -> JsonSchema:
    schema = answer_schema(options)
    properties = {name: ({} if name in _ASIDE else rule) for name, rule in schema["properties"].items()}
    relaxed = {**schema, "properties": properties, "required": ["status"], "additionalProperties": True}
    return compile_schema(relaxed)


@lru_cache(maxsize=1)
def _table_schema() -> JsonSchema:
    return compile_schema(table_schema())


def _number(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        return None
    return float(value)


def _is_lost(name: str, value: Any) -> bool:
    if value is None:
        return False
    return not isinstance(value, str) if name == "reason" else _number(value) is None
