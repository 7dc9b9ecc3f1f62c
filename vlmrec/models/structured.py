"""Asking a server for JSON of a given schema (axis F), and leaving out what it doesn't read. Pure.

Under ``F=schema`` the schema goes into the request in the form the provider understands; under
``F=prompt`` nothing does, and the prompt alone asks. The two are never mixed, since forcing a format
hides format errors.
"""

from collections.abc import Mapping
from typing import Any

from vlmrec.errors import InputError
from vlmrec.models.presets import Provider
from vlmrec.terms import JsonValue

UNSUPPORTED = frozenset(
    {"uniqueItems", "multipleOf", "minProperties", "maxProperties", "$schema", "$comment", "examples"}
)
"""Keywords that grammar engines refuse or ignore; replies are held to them when they are read."""


def schema_fields(schema: Mapping[str, JsonValue], *, name: str, provider: Provider) -> dict[str, JsonValue]:
    """The request fields that ask for ``schema``. Raises InputError where the provider has no way to."""
    grammar = grammar_schema(dict(schema))
    if provider.structured == "structured_outputs":
        return {"structured_outputs": {"json": grammar}}
    if provider.structured == "response_format":
        return {
            "response_format": {
                "type": "json_schema",
                "json_schema": {"name": name, "schema": grammar, "strict": True},
            }
        }
    raise InputError('F=schema: this provider can\'t be asked for a JSON Schema (structured = "none"); use F=prompt')


def grammar_schema(schema: Any) -> Any:
    """``schema`` without labels and keywords that a grammar engine may refuse."""
    if isinstance(schema, list):
        return [grammar_schema(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    kept: dict[str, Any] = {}
    for key, value in schema.items():
        if key in UNSUPPORTED or key.startswith("x-"):
            continue
        if key in ("properties", "$defs", "definitions") and isinstance(value, dict):
            kept[key] = {name: grammar_schema(inner) for name, inner in value.items()}
        else:
            kept[key] = value if key in ("enum", "const", "required", "default") else grammar_schema(value)
    return kept


def accepted_fields(
    fields: Mapping[str, JsonValue], provider: Provider
) -> tuple[dict[str, JsonValue], tuple[str, ...]]:
    """``fields`` in the provider's spelling, with its own added, and the names of those it doesn't read (left out)."""
    kept: dict[str, JsonValue] = {}
    left_out: list[str] = []
    for name, value in fields.items():
        spelt = provider.max_tokens_field if name == "max_tokens" else name
        if provider.accepts is not None and spelt not in provider.accepts and spelt not in ("model", "n"):
            left_out.append(name)
        elif spelt == "top_k" and value in (0, -1, None):
            kept[spelt] = provider.top_k_off
        else:
            kept[spelt] = value
    return {**kept, **{name: value for name, value in provider.extra.items() if name not in kept}}, tuple(left_out)
