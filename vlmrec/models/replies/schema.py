"""A JSON Schema (2020-12) with labels, checked once for what the reader can hold it to. Pure.

``x-labels`` beside an ``enum`` (or a boolean) maps each code to its label, or to a list of them. A
keyword that restricts values and isn't supported is refused when the schema is compiled, so that no
value is ever accepted that the schema would refuse.
"""

import json
import re
from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from vlmrec.errors import InputError
from vlmrec.terms import JsonValue

_RESTRICTING = (
    "type enum const properties required additionalProperties minProperties maxProperties items prefixItems minItems "
    "maxItems uniqueItems minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minLength maxLength pattern "
    "anyOf oneOf allOf $ref"
)
_TELLING = (
    "$schema $id $anchor $comment $defs definitions title description default examples example deprecated readOnly "
    "writeOnly format nullable contentMediaType contentEncoding strict name"
)
SUPPORTED = frozenset(_RESTRICTING.split())
ANNOTATIONS = frozenset(_TELLING.split())
MAX_REFS = 40

Schema = dict[str, JsonValue]


class JsonSchema(Struct, frozen=True, kw_only=True):
    """A compiled schema: ``root`` is the schema itself, ``names`` the properties an answer to it may have."""

    root: Schema
    names: frozenset[str]

    def resolve(self, schema: JsonValue) -> Schema:
        """``schema`` with its ``$ref`` followed; ``true`` and ``false`` in their long form."""
        for _ in range(MAX_REFS):
            if isinstance(schema, bool):
                return {} if schema else {"enum": []}
            if not isinstance(schema, dict) or "$ref" not in schema:
                break
            target = _lookup(self.root, schema["$ref"])
            rest = {key: value for key, value in schema.items() if key != "$ref"}
            schema = {**target, **rest} if isinstance(target, dict) and not set(target) & set(rest) else (
                {"allOf": [target], **rest} if rest else target
            )  # fmt: skip
        if not isinstance(schema, dict):
            raise InputError(f"JSON Schema: expected an object, found {schema!r:.80}")
        return schema

    @property
    def is_scalar(self) -> bool:
        """Whether an answer is a bare value rather than an object or a list."""
        return not _types_of(self.resolve(self.root)) & {"object", "array"}

    @property
    def is_text(self) -> bool:
        """Whether any text is an answer."""
        schema = self.resolve(self.root)
        return schema.get("type") == "string" and not {"enum", "const"} & schema.keys()

    @property
    def is_list(self) -> bool:
        types = _types_of(self.resolve(self.root))
        return "array" in types and "object" not in types


def compile_schema(schema: Mapping[str, JsonValue]) -> JsonSchema:
    """``schema`` ready for reading. Raises InputError that names the keyword and its place."""
    root = dict(schema)
    compiled = JsonSchema(root=root, names=frozenset())
    names: set[str] = set()
    _check(compiled, root, "$", names, ())
    return JsonSchema(root=root, names=frozenset(names))


def same(left: JsonValue, right: JsonValue) -> bool:
    """Equality as JSON Schema has it: 1 equals 1.0, but true is not 1."""
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(same(value, right[key]) for key, value in left.items())
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(same, left, right))
    return bool(left == right)


def _types_of(schema: Schema) -> set[str]:
    kind = schema.get("type")
    if isinstance(kind, str):
        return {kind}
    if isinstance(kind, list):
        return set(kind)
    if "enum" in schema or "const" in schema:
        return {"scalar"}
    return {"object"}


def _lookup(root: Schema, reference: JsonValue) -> JsonValue:
    if not isinstance(reference, str) or not reference.startswith("#"):
        raise InputError(f"JSON Schema: $ref {reference!r}: only references within the document (#/…) are followed")
    found: JsonValue = root
    for part in reference[1:].split("/")[1:]:
        name = part.replace("~1", "/").replace("~0", "~")
        if isinstance(found, list) and name.isdigit() and int(name) < len(found):
            found = found[int(name)]
        elif isinstance(found, dict) and name in found:
            found = found[name]
        else:
            raise InputError(f"JSON Schema: $ref {reference!r} names nothing in the document")
    return found


def _check(compiled: JsonSchema, schema: JsonValue, path: str, names: set[str], seen: tuple[str, ...]) -> None:
    """Walk every sub-schema; ``names`` collects the properties that can stand at the top of an answer."""
    if isinstance(schema, bool):
        return
    if not isinstance(schema, dict):
        raise InputError(f"JSON Schema at {path}: expected an object, found {schema!r:.80}")
    unknown = sorted(key for key in schema if key not in SUPPORTED | ANNOTATIONS and not key.startswith("x-"))
    if unknown:
        raise InputError(f"JSON Schema at {path}: keyword {unknown[0]!r} is not supported; supported: {_supported()}")
    reference = schema.get("$ref")
    if isinstance(reference, str) and reference not in seen:
        _check(compiled, _lookup(compiled.root, reference), path, names, (*seen, reference))
    elif reference is not None and not isinstance(reference, str):
        _lookup(compiled.root, reference)
    _check_keywords(schema, path)
    top = "." not in path and "[" not in path
    for name, inner in schema.get("properties", {}).items():
        if top:
            names.add(name)
        _check(compiled, inner, f"{path}.{name}", names, seen)
    for keyword in ("anyOf", "oneOf", "allOf"):
        for inner in schema.get(keyword, ()):
            _check(compiled, inner, path, names, seen)
    for index, inner in enumerate(schema.get("prefixItems", ())):
        _check(compiled, inner, f"{path}[{index}]", names, seen)
    for keyword in ("items", "additionalProperties"):
        if keyword in schema:
            _check(compiled, schema[keyword], f"{path}[]", names, seen)


def _check_keywords(schema: Schema, path: str) -> None:
    expected: dict[str, type | tuple[type, ...]] = {
        "properties": dict,
        "required": list,
        "enum": list,
        "anyOf": list,
        "oneOf": list,
        "allOf": list,
        "prefixItems": list,
        "pattern": str,
        "type": (str, list),
        "x-labels": dict,
        **dict.fromkeys(("minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"), int),
        **dict.fromkeys(("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"), (int, float)),
    }
    for keyword, kind in expected.items():
        if keyword in schema and (not isinstance(schema[keyword], kind) or isinstance(schema[keyword], bool)):
            raise InputError(
                f"JSON Schema at {path}: {keyword} can't be {json.dumps(schema[keyword], default=str):.80}"
            )
    if "pattern" in schema:
        try:
            re.compile(schema["pattern"])
        except re.error as error:
            raise InputError(f"JSON Schema at {path}: pattern {schema['pattern']!r}: {error}") from error


def labels_of(schema: Schema) -> dict[str, tuple[str, ...]]:
    """``x-labels`` with every code's labels as a tuple."""
    raw: dict[str, Any] = schema.get("x-labels", {})
    return {
        code: tuple(label for label in (told if isinstance(told, list) else [told]) if isinstance(label, str))
        for code, told in raw.items()
    }


def _supported() -> str:
    return ", ".join(sorted(SUPPORTED))
