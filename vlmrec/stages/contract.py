"""The shape of an answer, question by question: what constrained decoding enforces and replies are read with. Pure."""

from vlmrec.events import Option
from vlmrec.terms import JsonValue, Status

REASON_LENGTH = 1500
"""A string without a bound can run to ``max_tokens`` under constrained decoding."""


def answer_schema(options: tuple[Option, ...]) -> dict[str, JsonValue]:
    """The JSON Schema of an answer with ``options``. The reason comes first, so that it is written before the choice.

    Every key is required: under constrained decoding a weak model leaves out what it may, the reason first of all,
    and OpenAI's strict mode takes no schema with optional keys. Replies are read with less (``stages.reading``).
    """
    labels = {option.code: option.label for option in options}
    return _answer(
        status={"type": "string", "enum": [status.value for status in Status]},
        value={"type": ["string", "null"], "enum": [*labels, None], "x-labels": labels},
    )


def coupled_answer_schema(options: tuple[Option, ...]) -> dict[str, JsonValue]:
    """``answer_schema`` in which status and value agree: observed with a code, or an abstention with null.

    A choice between two objects at the root, because no schema of one object can hold two of its keys together.
    Grammar engines take it. OpenAI's strict mode refuses it twice over: it takes no ``anyOf`` at the root, and
    within a property none whose objects begin with the same key, which here is the reason and has to be.
    """
    labels = {option.code: option.label for option in options}
    observed = _answer(
        status={"type": "string", "enum": [Status.OBSERVED.value]},
        value={"type": "string", "enum": [*labels], "x-labels": labels},
    )
    abstained = _answer(
        status={"type": "string", "enum": [status.value for status in Status if status is not Status.OBSERVED]},
        value={"type": "null"},
    )
    return {"anyOf": [observed, abstained]}


def _answer(*, status: JsonValue, value: JsonValue) -> dict[str, JsonValue]:
    properties: dict[str, JsonValue] = {
        "reason": {"type": "string", "maxLength": REASON_LENGTH},
        "status": status,
        "value": value,
        "evidence_start": {"type": ["number", "null"], "minimum": 0, "maximum": 3600},
        "evidence_end": {"type": ["number", "null"], "minimum": 0, "maximum": 3600},
        "confidence": {"type": ["number", "null"], "minimum": 0, "maximum": 1},
    }
    return {"type": "object", "properties": properties, "required": [*properties], "additionalProperties": False}
