"""A recorded reply as a case file, read through the code that runs use. Pure, but for the two ``load_`` functions.

A case holds ``reply`` (``status``, ``headers``, and ``json`` or ``body``, perhaps cut after
``close_after_bytes``) and optionally ``request`` (``model``, ``body_bytes``). The reply's Date
header is the clock where there is one.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct

from vlmrec.errors import InputError
from vlmrec.models.failures import classify
from vlmrec.models.replies.read import read_verdict
from vlmrec.models.replies.schema import JsonSchema, compile_schema
from vlmrec.terms import JsonValue


class CaseReading(Struct, frozen=True, kw_only=True):
    """How a case was read, in the words of the case files."""

    outcome: str
    answer: JsonValue
    reason: str | None
    warnings: tuple[str, ...]
    score_as: str
    retry: str
    retry_after_s: float | int | None
    stop_run: bool
    strictness: str
    detail: str
    hint: str | None
    provider: str | None
    usage: dict[str, int] | None
    finish_reason: str | None
    partial: JsonValue
    reasoning: str | None


def load_case(path: Path) -> JsonValue:
    """The case in the file at ``path``. Raises InputError."""
    return _load(path)


def load_schema(path: Path) -> JsonSchema:
    """The schema in the file at ``path``, compiled. Raises InputError."""
    schema = _load(path)
    if not isinstance(schema, dict):
        raise InputError(f"{path}: a JSON Schema is an object here, found {type(schema).__name__}")
    try:
        return compile_schema(schema)
    except InputError as error:
        raise InputError(f"{path}: {error}") from error


def _load(path: Path) -> JsonValue:
    try:
        return json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(f"{path}: expected a JSON document: {error}") from error


def read_case(case: JsonValue, schema: JsonSchema, *, now: float) -> CaseReading:
    """Read ``case``. Raises InputError that names what a case lacks."""
    reply, request = _parts(case)
    body, cut = _body(reply)
    headers = {str(name): str(value) for name, value in _mapping(reply, "headers").items()}
    status = reply.get("status", 200)
    if not isinstance(status, int) or isinstance(status, bool):
        raise InputError(f"reply.status: expected a whole number, found {status!r:.40}")
    size, asked = request.get("body_bytes"), request.get("model")
    verdict = classify(status, headers, body, now, cut=cut, request_bytes=size if isinstance(size, int) else None)
    reading = read_verdict(verdict, schema, asked_model=asked if isinstance(asked, str) else None)
    usage = verdict.envelope.usage
    counts = {name: getattr(usage, name) for name in usage.__struct_fields__}
    after = verdict.retry_after_s
    first = verdict.envelope.choices[0] if verdict.envelope.choices else None
    return CaseReading(
        outcome=reading.outcome,
        answer=reading.answer,
        reason=reading.reason,
        warnings=reading.warnings,
        score_as=reading.score_as,
        retry=str(reading.retry),
        retry_after_s=int(after) if after is not None and after == int(after) else after,
        stop_run=verdict.stop_run,
        strictness=reading.strictness,
        detail=reading.detail,
        hint=verdict.hint,
        provider=verdict.provider,
        usage={name: count for name, count in counts.items() if count is not None} or None,
        finish_reason=first.finish_reason if first is not None else None,
        partial=reading.partial,
        reasoning=reading.reasoning,
    )


def _parts(case: JsonValue) -> tuple[dict[str, Any], dict[str, Any]]:
    if not isinstance(case, dict) or not isinstance(case.get("reply"), dict):
        raise InputError("a case is a JSON object with a member `reply` (status, headers, json or body)")
    return case["reply"], dict(_mapping(case, "request"))


def _mapping(owner: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    value = owner.get(name)
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise InputError(f"{name}: expected an object, found {value!r:.40}")
    return value


def _body(reply: dict[str, Any]) -> tuple[bytes, bool]:
    """The bytes that arrived, and whether the connection ended before the body did."""
    if "json" in reply:
        body = json.dumps(reply["json"]).encode("ascii")  # lone surrogates travel as escapes
    else:
        text = reply.get("body", "")
        if not isinstance(text, str):
            raise InputError(f"reply.body: expected a text, found {text!r:.40}")
        body = text.encode("utf-8", "surrogatepass")
    end = reply.get("close_after_bytes")
    if end is None:
        return body, False
    if not isinstance(end, int) or isinstance(end, bool) or end < 0:
        raise InputError(f"reply.close_after_bytes: expected a whole number, found {end!r:.40}")
    promised = {str(name).lower(): str(value) for name, value in _mapping(reply, "headers").items()}.get(
        "content-length", ""
    )
    whole = int(promised) if promised.isdigit() else len(body)
    return body[:end], min(end, len(body)) < whole
