"""Asking a server for JSON of a given schema (axis F), and leaving out what it doesn't read. Pure.

Under ``F=schema`` the schema goes into the request in the form the provider understands; under
``F=prompt`` nothing does, and the prompt alone asks. The two are never mixed, since forcing a format
hides format errors. What the engines take and refuse is in docs/providers.md, "Schemas".
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


def strict_schema(schema: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    """``schema`` within what OpenAI's strict mode takes: an object at the root, every key required, no defaults.

    Nothing that ``schema`` refuses becomes allowed. Keys keep their order; a key that was optional is to be
    given all the same, with null or its default for nothing.
    """
    made: dict[str, JsonValue] = _strict(dict(schema))
    root = str(made.pop("$ref", "")).rpartition("/")[2]
    if not root:
        return made
    others = {name: inner for name, inner in made["$defs"].items() if name != root}
    return {**made["$defs"][root], **({"$defs": others} if others else {})}


def _strict(schema: Any) -> Any:
    if isinstance(schema, list):
        return [_strict(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    made = {key: value for key, value in schema.items() if key != "default"}
    for key in ("properties", "$defs"):
        if key in made:
            made[key] = {name: _strict(inner) for name, inner in made[key].items()}
    for key in ("items", "anyOf"):
        if key in made:
            made[key] = _strict(made[key])
    if "properties" in made:
        made["required"] = list(made["properties"])
    if "enum" in made and "type" not in made:
        made = {"type": _type_of(made["enum"]), **made}
    places = made.pop("prefixItems", None)
    if places is not None and all(place == places[0] for place in places):
        made["items"] = _strict(places[0])  # as long as minItems and maxItems say
    elif places is not None:
        raise ValueError("strict mode has no array whose places differ")
    return made


def _type_of(values: list[Any]) -> str | list[str]:
    return ["string", "null"] if None in values else "string"


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
