"""Finds what in a reply could be meant as the answer, and fits one such value to the schema. Pure."""

from collections.abc import Sequence

from msgspec import Struct

from vlmrec.models.replies.fit import MisfitError, fit_value
from vlmrec.models.replies.scan import NOT_FINITE, NOT_STRICT, Scanned, find_objects, scan_whole
from vlmrec.models.replies.schema import JsonSchema, same
from vlmrec.models.replies.spelling import fold
from vlmrec.models.replies.thoughts import has_tags, split_thoughts
from vlmrec.terms import JsonValue


class Found(Struct, frozen=True, kw_only=True):
    """Where the answer is to be looked for, and the values found there."""

    text: str
    values: Sequence[Scanned]
    thoughts: str | None
    notes: frozenset[str] = frozenset()
    open: bool = False

    @staticmethod
    def of(content: str, reasoning: str | None, schema: JsonSchema) -> "Found":
        whole = _whole(content, schema)
        if whole is not None:
            return Found(text=content, values=[whole], thoughts=reasoning)
        split = split_thoughts(content, find_objects(content))
        thoughts = "\n".join(part for part in (reasoning, split.thoughts) if part) or None
        notes = frozenset({"orphan_think_tag"}) if split.orphan else frozenset()
        if not split.answer.strip() and not split.open and split.thoughts is None and reasoning:
            # A server's reasoning parser takes all for reasoning when a model answers without thinking.
            inner = split_thoughts(reasoning, find_objects(reasoning))
            taken = _whole(inner.answer, schema) if not inner.open else None
            if taken is not None:
                kept = inner.thoughts
                return Found(
                    text=inner.answer, values=[taken], thoughts=kept, notes=notes | {"answer_taken_from_reasoning"}
                )
        text = split.answer
        whole = _whole(text, schema)
        values = [whole] if whole is not None else find_objects(text)
        return Found(text=text, values=values, thoughts=thoughts, notes=notes, open=split.open)


def _whole(text: str, schema: JsonSchema) -> Scanned | None:
    """The one value that ``text`` consists of, if it is of the kind the schema asks for."""
    found = scan_whole(text)
    if schema.is_scalar:
        return _bare(text, found, schema)
    if found is not None and isinstance(found.value, str):
        inner = scan_whole(found.value)  # an object encoded twice
        found = inner._replace(start=0, end=len(text), strict=False) if inner is not None else None
    return found if found is not None and isinstance(found.value, (dict, list)) else None


def _bare(text: str, found: Scanned | None, schema: JsonSchema) -> Scanned | None:
    """A value that needs no JSON around it: ``text`` itself, or what it is the JSON of."""
    if found is not None and (isinstance(found.value, str) or not schema.is_text):
        return found if not isinstance(found.value, (dict, list)) else None
    stripped = text.strip()
    return Scanned(0, len(text), stripped) if stripped and not has_tags(stripped) else None


def fit(scanned: Scanned, schema: JsonSchema) -> tuple[JsonValue, frozenset[str]]:
    """The value in the schema's own spelling, and the notes on how it got there. Raises MisfitError."""
    if scanned.duplicate is not None:
        raise MisfitError("$", f"the key {scanned.duplicate!r} stands there more than once", "duplicate_key")
    notes = frozenset() if scanned.strict else frozenset({NOT_STRICT})
    value = scanned.value
    if isinstance(value, list) and not schema.is_list:
        value, unwrapped = _unwrap_list(value, schema)
        notes |= unwrapped
    if isinstance(value, dict) and _is_wrapper(value, schema):
        value = next(iter(value.values()))
        notes |= {"object_unwrapped"}
    fitted, how = fit_value(value, schema)
    return fitted, notes | how


def _unwrap_list(value: list[JsonValue], schema: JsonSchema) -> tuple[JsonValue, frozenset[str]]:
    if len(value) == 1:
        return value[0], frozenset({"list_unwrapped"})
    readings = [fit_value(item, schema)[0] for item in value]
    if readings and all(same(reading, readings[0]) for reading in readings):
        return value[0], frozenset({"list_unwrapped", "several_objects"})
    raise MisfitError("$", f"a list of {len(value)}, expected one object", "ambiguous" if value else "bad_value")


def fit_or_none(scanned: Scanned, schema: JsonSchema) -> tuple[JsonValue, frozenset[str]] | None:
    """``fit``, or None where it doesn't."""
    if scanned.flaw is not None:
        return None
    try:
        return fit(scanned, schema)
    except MisfitError:
        return None


def is_relevant(scanned: Scanned, schema: JsonSchema, text: str) -> bool:
    """Whether a value could be meant as the answer: it has a key of the schema (or there are none to have)."""
    if scanned.flaw is not None:
        piece = fold(text[scanned.start : scanned.end])
        return not schema.names or any(fold(name) in piece for name in schema.names)
    if schema.is_scalar or schema.is_list or not schema.names:
        return True
    return _has_name(scanned.value, schema, depth=2)


def _has_name(value: JsonValue, schema: JsonSchema, depth: int) -> bool:
    if isinstance(value, list):
        return any(_has_name(item, schema, depth - 1) for item in value[:50]) if depth else False
    if not isinstance(value, dict):
        return False
    if _has_key(value, schema):
        return True
    return depth > 0 and len(value) == 1 and _has_name(next(iter(value.values())), schema, depth - 1)


def _has_key(value: dict[str, JsonValue], schema: JsonSchema) -> bool:
    folded = {fold(name) for name in schema.names}
    return any(key in schema.names or fold(key) in folded for key in value)


def _is_wrapper(value: dict[str, JsonValue], schema: JsonSchema) -> bool:
    """``{"result": {the answer}}``: one key that the schema doesn't know, around an object that has its keys."""
    if len(value) != 1 or not schema.names or _has_key(value, schema):
        return False
    inner = next(iter(value.values()))
    return isinstance(inner, dict) and _has_key(inner, schema)


def has_not_finite(value: JsonValue) -> bool:
    """Whether NaN or an infinity stands anywhere in ``value``."""
    if isinstance(value, dict):
        return any(map(has_not_finite, value.values()))
    return any(map(has_not_finite, value)) if isinstance(value, list) else value is NOT_FINITE
