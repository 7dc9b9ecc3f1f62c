"""Fits a decoded value to a schema: a code of the domain, or a spelling that stands for exactly one. Pure.

Never a guess: what fits in two ways, or in none, is a ``MisfitError`` that names the place. Every change on
the way is noted by a word of the warnings' vocabulary. A value that comes back is valid under the
schema.
"""

import json
import math
import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from fractions import Fraction

from vlmrec.canonical import MAX_SAFE_INTEGER
from vlmrec.models.replies.scan import NOT_FINITE
from vlmrec.models.replies.schema import JsonSchema, Schema, labels_of, same
from vlmrec.models.replies.spelling import fold, from_text, is_of, spelt
from vlmrec.terms import JsonValue

MAX_NESTING = 80


class MisfitError(Exception):
    """A value that the schema doesn't hold; the text names the place and what was expected."""

    def __init__(self, path: str, message: str, reason: str = "bad_value") -> None:
        super().__init__(f"{path}: {message}")
        self.reason = reason


def fit_value(value: JsonValue, schema: JsonSchema) -> tuple[JsonValue, frozenset[str]]:
    """``value`` in the schema's own spelling, and the notes on how it got there. Raises MisfitError."""
    fitter = _Fitter(schema)
    fitted = fitter.fit(value, schema.root, "$", 0)
    return fitted, frozenset(fitter.notes)


class _Fitter:
    def __init__(self, schema: JsonSchema) -> None:
        self.schema = schema
        self.notes: set[str] = set()

    def fit(self, value: JsonValue, raw_schema: JsonValue, path: str, depth: int) -> JsonValue:
        if depth > MAX_NESTING:
            raise MisfitError(path, "nested too deeply")
        schema = self.schema.resolve(raw_schema)
        if value is NOT_FINITE:
            return self._not_finite(schema, path, depth)
        for part in schema.get("allOf", ()):
            value = self.fit(value, part, path, depth + 1)
        for keyword in ("anyOf", "oneOf"):
            if keyword in schema:
                value = self._branch(value, schema, keyword, path, depth)
        if "const" in schema and "enum" not in schema:
            value = self._code(value, [schema["const"]], schema, path)
        elif "enum" in schema:
            value = self._code(value, schema["enum"], schema, path)
            if "const" in schema and not same(value, schema["const"]):
                raise MisfitError(path, f"expected {_shown(schema['const'])}")
        value = self._typed(value, schema, path)
        if isinstance(value, dict):
            value = self._object(value, schema, path, depth)
        elif isinstance(value, list):
            value = self._list(value, schema, path, depth)
        elif isinstance(value, str):
            _check_text(value, schema, path)
        elif isinstance(value, (int, float)) and not isinstance(value, bool):
            _check_number(value, schema, path)
        return value

    def _not_finite(self, schema: Schema, path: str, depth: int) -> JsonValue:
        self.notes.add("not_finite")
        try:
            return self.fit(None, schema, path, depth + 1)
        except MisfitError:
            raise MisfitError(path, "NaN or infinity, where a finite number was expected") from None

    def _branch(self, value: JsonValue, schema: Schema, keyword: str, path: str, depth: int) -> JsonValue:
        """The one way in which ``value`` fits a branch; an exact fit stands over one that needs notes."""
        branches: Sequence[JsonValue] = schema[keyword]
        exactly_one = keyword == "oneOf"
        fits: list[tuple[JsonValue, frozenset[str]]] = []
        labels = {"x-labels": schema["x-labels"]} if "x-labels" in schema else {}
        for branch in branches:
            trial = _Fitter(self.schema)
            inner = self.schema.resolve(branch)
            try:
                fitted = trial.fit(value, {**labels, **inner}, path, depth + 1)
            except MisfitError:
                continue
            fits.append((fitted, frozenset(trial.notes)))
        best = [fit for fit in fits if not fit[1]] or fits
        if not best:
            raise MisfitError(path, f"{_shown(value)} fits none of the {len(branches)} branches")
        if any(not same(fitted, best[0][0]) for fitted, _ in best):
            raise MisfitError(path, f"{_shown(value)} can be read in more than one way")
        if exactly_one and self._exact(best[0][0], branches, path, depth) != 1:
            raise MisfitError(path, f"{_shown(value)} does not fit exactly one of the {len(branches)} branches")
        self.notes |= best[0][1]
        return best[0][0]

    def _exact(self, value: JsonValue, branches: Sequence[JsonValue], path: str, depth: int) -> int:
        count = 0
        for branch in branches:
            trial = _Fitter(self.schema)
            with suppress(MisfitError):
                count += same(trial.fit(value, branch, path, depth + 1), value) and not trial.notes
        return count

    def _code(self, value: JsonValue, codes: Sequence[JsonValue], schema: Schema, path: str) -> JsonValue:
        for code in codes:
            if same(value, code):
                return code
        if isinstance(value, list) and len(value) == 1 and not any(isinstance(code, list) for code in codes):
            found = self._code(value[0], codes, schema, path)
            self.notes.add("list_unwrapped")
            return found
        if isinstance(value, str):
            found, note = spelt(value, codes, labels_of(schema))
            if note is not None:
                self.notes.add(note)
                return found
        raise MisfitError(path, f"{_shown(value)} is not one of {', '.join(map(_shown, codes))}")

    def _typed(self, value: JsonValue, schema: Schema, path: str) -> JsonValue:
        if "type" not in schema:
            return value
        types = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
        if is_of(value, types):
            return int(value) if isinstance(value, float) and "number" not in types else value
        if isinstance(value, list) and len(value) == 1 and is_of(value[0], types):
            self.notes.add("list_unwrapped")
            return self._typed(value[0], schema, path)
        if isinstance(value, str):
            found, note = from_text(value, types, labels_of(schema))
            if note is not None:
                self.notes.add(note)
                return found
        raise MisfitError(path, f"{_shown(value)} is not of type {' or '.join(types)}")

    def _object(self, value: dict[str, JsonValue], schema: Schema, path: str, depth: int) -> dict[str, JsonValue]:
        properties: dict[str, JsonValue] = schema.get("properties", {})
        required = set(schema.get("required", ()))
        value = self._keys(value, properties, path)
        result: dict[str, JsonValue] = {}
        for key, item in value.items():
            if key in properties:
                self._member(result, key, item, properties[key], f"{path}.{key}", depth, required)
                continue
            extra = schema.get("additionalProperties", True)
            if extra is False:
                self.notes.add("extra_left_out")
            else:
                result[key] = self.fit(self._plain(item, f"{path}.{key}"), extra, f"{path}.{key}", depth + 1)
        missing = sorted(required - result.keys())
        if missing:
            raise MisfitError(path, f"required, and missing: {', '.join(missing)}")
        _check_size(len(result), schema, "Properties", path)
        return result

    def _member(
        self,
        result: dict[str, JsonValue],
        key: str,
        item: JsonValue,
        schema: JsonValue,
        path: str,
        depth: int,
        required: set[str],
    ) -> None:
        try:
            result[key] = self.fit(item, schema, path, depth + 1)
        except MisfitError:
            if item is not None or key in required:
                raise
            self.notes.add("null_left_out")

    def _keys(self, value: dict[str, JsonValue], properties: Iterable[str], path: str) -> dict[str, JsonValue]:
        """Keys in the schema's spelling; two spellings of one property are a duplicate."""
        by_fold: dict[str, list[str]] = {}
        for name in properties:
            by_fold.setdefault(fold(name), []).append(name)
        result: dict[str, JsonValue] = {}
        for key, item in value.items():
            names = [key] if key in properties else by_fold.get(fold(key), [])
            name = names[0] if len(names) == 1 else key
            if name in result or (name != key and name in value):
                raise MisfitError(path, f"the key {name!r} stands there more than once", "duplicate_key")
            if name != key:
                self.notes.add("key_normalised")
            result[name] = item
        return result

    def _plain(self, value: JsonValue, path: str) -> JsonValue:
        """A value that the schema says nothing about, fit for canonical JSON."""
        if value is NOT_FINITE:
            self.notes.add("not_finite")
            return None
        if isinstance(value, dict):
            return {key: self._plain(item, f"{path}.{key}") for key, item in value.items()}
        if isinstance(value, list):
            return [self._plain(item, f"{path}[{index}]") for index, item in enumerate(value)]
        if isinstance(value, int) and abs(value) > MAX_SAFE_INTEGER:
            raise MisfitError(path, f"{value} is too large for a JSON number")
        return value

    def _list(self, value: list[JsonValue], schema: Schema, path: str, depth: int) -> list[JsonValue]:
        first: list[JsonValue] = schema.get("prefixItems", [])
        rest = schema.get("items", True)
        result = [
            self.fit(
                self._plain_unless_typed(item, path), (first[i] if i < len(first) else rest), f"{path}[{i}]", depth + 1
            )
            for i, item in enumerate(value)
        ]
        _check_size(len(result), schema, "Items", path)
        if schema.get("uniqueItems") is True and any(
            same(left, right) for i, left in enumerate(result) for right in result[:i]
        ):
            raise MisfitError(path, "holds an item twice")
        return result

    def _plain_unless_typed(self, item: JsonValue, path: str) -> JsonValue:
        return item if item is NOT_FINITE or isinstance(item, (dict, list)) else self._plain(item, path)


def _check_text(value: str, schema: Schema, path: str) -> None:
    _check_size(len(value), schema, "Length", path)
    if "pattern" in schema and re.search(schema["pattern"], value) is None:
        raise MisfitError(path, f"{_shown(value)} does not match {schema['pattern']!r}")


def _check_number(value: float, schema: Schema, path: str) -> None:
    if isinstance(value, float) and not math.isfinite(value):
        raise MisfitError(path, "not a finite number")
    if isinstance(value, int) and abs(value) > MAX_SAFE_INTEGER:
        raise MisfitError(path, f"{value} is too large for a JSON number")
    bounds = (
        ("minimum", lambda bound: value >= bound),
        ("maximum", lambda bound: value <= bound),
        ("exclusiveMinimum", lambda bound: value > bound),
        ("exclusiveMaximum", lambda bound: value < bound),
        ("multipleOf", lambda bound: (Fraction(str(value)) / Fraction(str(bound))).denominator == 1),
    )
    for keyword, holds in bounds:
        if keyword in schema and not holds(schema[keyword]):
            raise MisfitError(path, f"{value} breaks {keyword} {schema[keyword]}")


def _check_size(size: int, schema: Schema, what: str, path: str) -> None:
    low, high = schema.get(f"min{what}"), schema.get(f"max{what}")
    if (low is not None and size < low) or (high is not None and size > high):
        raise MisfitError(path, f"{what.lower()}: {size}, expected {low or 0} to {'any' if high is None else high}")


def _shown(value: JsonValue) -> str:
    text = repr(value) if value is NOT_FINITE else json.dumps(value, ensure_ascii=False, default=repr)
    return text if len(text) <= 60 else text[:59] + "…"
