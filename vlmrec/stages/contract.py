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
    codes = [option.code for option in options]
    return {
        "type": "object",
        "properties": {
            "reason": {"type": "string", "maxLength": REASON_LENGTH},
            "status": {"enum": [status.value for status in Status]},
            "value": {
                "enum": [*codes, None],
                "x-labels": {option.code: option.label for option in options},
            },
            "evidence_start": {"type": ["number", "null"], "minimum": 0, "maximum": 3600},
            "evidence_end": {"type": ["number", "null"], "minimum": 0, "maximum": 3600},
            "confidence": {"type": ["number", "null"], "minimum": 0, "maximum": 1},
        },
        "required": ["reason", "status", "value", "evidence_start", "evidence_end", "confidence"],
        "additionalProperties": False,
    }
