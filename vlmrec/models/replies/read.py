"""Reads a model's reply as a value of a schema: strict, loose (recovered, and how), or not at all. Pure.

The rules, in the order they apply: a refusal is a refusal; a truncated reply is never repaired into
a value; reasoning is kept apart from the answer; a value is a code of the domain, or a label or
spelling that maps to exactly one, with a warning; of several objects that disagree none is taken.
Never raises for what a model or server wrote.
"""

from collections.abc import Sequence
from typing import Any, Literal

from msgspec import Struct

from vlmrec.canonical import MAX_SAFE_INTEGER
from vlmrec.models.envelope import Choice, Envelope
from vlmrec.models.failures import Verdict, classify, shown
from vlmrec.models.replies.fit import MisfitError, fit_value, fold
from vlmrec.models.replies.scan import NOT_FINITE, NOT_STRICT, Scanned, find_objects, scan_whole
from vlmrec.models.replies.schema import JsonSchema, same
from vlmrec.models.replies.thoughts import has_tags, split_thoughts
from vlmrec.models.replies.unicode import Repair, repair_text
from vlmrec.models.wire import Retry
from vlmrec.terms import JsonValue

TRUNCATED = frozenset({"length", "max_tokens", "model_length", "max_output_tokens", "token_limit"})
REFUSED = frozenset({"content_filter", "safety", "refusal", "recitation", "prohibited_content", "blocklist", "spii"})

WARNINGS = (
    "not_strict_json",
    "text_around_json",
    "list_unwrapped",
    "object_unwrapped",
    "several_objects",
    "key_normalised",
    "enum_normalised",
    "label_mapped",
    "number_from_text",
    "null_left_out",
    "extra_left_out",
    "not_finite",
    "orphan_think_tag",
    "answer_taken_from_reasoning",
    "bad_unicode",
    "usage_missing",
    "model_substituted",
)
"""Every warning there is, in the order they are shown."""

ASIDE = frozenset({"bad_unicode", "usage_missing", "model_substituted"})
"""Warnings that leave an answer strict: they say nothing about how its value was found."""


class ReplyReading(Struct, frozen=True, kw_only=True):
    """How a reply was read.

    ``outcome`` ``error``: the call itself failed. ``reasoning`` and ``text`` are valid Unicode;
    ``repairs`` undo what that took in ``text``. ``partial`` shows what a cut reply had begun with
    and is never an answer.
    """

    outcome: Literal["answer", "no_answer", "error"]
    strictness: Literal["strict", "loose", "none"]
    answer: JsonValue = None
    reason: str | None = None
    detail: str = ""
    warnings: tuple[str, ...] = ()
    reasoning: str | None = None
    text: str | None = None
    repairs: tuple[Repair, ...] = ()
    partial: JsonValue = None
    retry: Retry = Retry.NO

    @property
    def score_as(self) -> Literal["answer", "parse_failure", "not_scored"]:
        if self.outcome == "answer":
            return "answer"
        return "not_scored" if self.outcome == "error" or self.reason == "refused" else "parse_failure"

    @property
    def recovered(self) -> tuple[str, ...]:
        """The warnings that say how a loose answer was found."""
        return tuple(warning for warning in self.warnings if warning not in ASIDE)


def read_reply(
    body: bytes, schema: JsonSchema, *, choice: int = 0, asked_model: str | None = None, content_type: str = ""
) -> ReplyReading:
    """The body of a 2xx reply, read. ``choice`` picks by its ``index`` where a reply holds several."""
    verdict = classify(200, {"content-type": content_type}, body, 0.0)
    return read_verdict(verdict, schema, choice=choice, asked_model=asked_model)


def read_verdict(
    verdict: Verdict, schema: JsonSchema, *, choice: int = 0, asked_model: str | None = None
) -> ReplyReading:
    """A classified reply, read."""
    if not verdict.completed:
        return ReplyReading(
            outcome="error",
            strictness="none",
            reason=verdict.reason,
            detail=verdict.message,
            retry=verdict.retry,
        )
    found = next((item for item in verdict.envelope.choices if item.index == choice and item.has_message), None)
    if found is None:
        return _no_answer("empty_content", f"the reply holds no choice {choice}", (), None, None)
    return _read_choice(found, schema, _aside(verdict.envelope, asked_model))


def read_text(
    content: str | None,
    reasoning: str | None,
    schema: JsonSchema,
    *,
    finish_reason: str | None = None,
    refusal: str | None = None,
) -> ReplyReading:
    """A message's text, read. ``reasoning`` is what the server had set apart already."""
    choice = Choice(
        index=0,
        has_message=True,
        content=content,
        reasoning=reasoning,
        refusal=refusal,
        finish_reason=finish_reason,
    )
    return _read_choice(choice, schema, frozenset())


def _aside(envelope: Envelope, asked_model: str | None) -> frozenset[str]:
    missing = {"usage_missing"} if not envelope.has_usage else set()
    substituted = {"model_substituted"} if is_substitute(asked_model, envelope.model) else set()
    return frozenset(missing | substituted)


def is_substitute(asked: str | None, served: str | None) -> bool:
    """Whether another model answered than the one asked for. A dated release of the same name is no other."""
    if asked is None or served is None or asked.casefold() == served.casefold():
        return False
    rest = served.casefold().removeprefix(asked.casefold())
    return not (rest != served.casefold() and rest[0] in "-@" and rest[1:].replace("-", "").isdigit() and len(rest) > 4)


def _read_choice(choice: Choice, schema: JsonSchema, aside: frozenset[str]) -> ReplyReading:
    content = choice.content or ""
    finish = (choice.finish_reason or "").lower()
    found = _Found.of(content, choice.reasoning, schema)
    if choice.refusal or finish in REFUSED:
        return _no_answer("refused", choice.refusal or f"finish_reason {finish}", aside, found.thoughts, content)
    if finish in TRUNCATED:
        detail = f"cut by the token limit (finish_reason {finish})"
        return _no_answer("truncated", detail, aside, found.thoughts, content, partial=_last_partial(found.values))
    if found.open:
        return _no_answer("truncated", "the reasoning never ended", aside, found.thoughts, content)
    if not found.text.strip():
        return _no_answer("empty_content", "there is no text beside the reasoning", aside, found.thoughts, content)
    return _read_values(found, schema, aside | found.notes, content)


class _Found(Struct, frozen=True, kw_only=True):
    """Where the answer is to be looked for, and the values found there."""

    text: str
    values: Sequence[Scanned]
    thoughts: str | None
    notes: frozenset[str] = frozenset()
    open: bool = False

    @staticmethod
    def of(content: str, reasoning: str | None, schema: JsonSchema) -> "_Found":
        whole = _whole(content, schema)
        if whole is not None:
            return _Found(text=content, values=[whole], thoughts=reasoning)
        split = split_thoughts(content, find_objects(content))
        thoughts = "\n".join(part for part in (reasoning, split.thoughts) if part) or None
        notes = frozenset({"orphan_think_tag"}) if split.orphan else frozenset()
        if not split.answer.strip() and not split.open and split.thoughts is None and reasoning:
            # A server's reasoning parser takes all for reasoning when a model answers without thinking.
            inner = split_thoughts(reasoning, find_objects(reasoning))
            taken = _whole(inner.answer, schema) if not inner.open else None
            if taken is not None:
                kept = inner.thoughts
                return _Found(
                    text=inner.answer, values=[taken], thoughts=kept, notes=notes | {"answer_taken_from_reasoning"}
                )
        text = split.answer
        whole = _whole(text, schema)
        values = [whole] if whole is not None else find_objects(text)
        return _Found(text=text, values=values, thoughts=thoughts, notes=notes, open=split.open)


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


def _read_values(found: _Found, schema: JsonSchema, notes: frozenset[str], content: str) -> ReplyReading:
    relevant = [value for value in found.values if _is_relevant(value, schema, found.text)]
    if not relevant:
        return _no_answer("unreadable", "no JSON object with the schema's keys", notes, found.thoughts, content)
    last = relevant[-1]
    if last.flaw == "cut":
        detail = "the text ends inside the object"
        return _no_answer("truncated", detail, notes, found.thoughts, content, partial=_last_partial(relevant))
    if last.flaw == "syntax":
        detail = f"not JSON at character {last.end}"
        return _no_answer("unreadable", detail, notes, found.thoughts, content)
    around = found.text[: last.start] + found.text[last.end :] if len(relevant) == 1 else ""
    if around.strip():
        notes |= {"text_around_json"}
    if len(relevant) > 1:
        notes |= {"several_objects"}
    try:
        answer, how = _fit(last, schema)
    except MisfitError as misfit:
        notes |= {"not_finite"} if _has_not_finite(last.value) else set()
        return _no_answer(misfit.reason, str(misfit), notes, found.thoughts, content)
    for other in relevant[:-1]:
        rival = _fit_or_none(other, schema)
        if rival is not None and not same(rival[0], answer):
            return _no_answer("ambiguous", "several objects that disagree", notes, found.thoughts, content)
    return _answered(answer, notes | how, found.thoughts, content)


def _fit(scanned: Scanned, schema: JsonSchema) -> tuple[JsonValue, frozenset[str]]:
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


def _fit_or_none(scanned: Scanned, schema: JsonSchema) -> tuple[JsonValue, frozenset[str]] | None:
    if scanned.flaw is not None:
        return None
    try:
        return _fit(scanned, schema)
    except MisfitError:
        return None


def _is_relevant(scanned: Scanned, schema: JsonSchema, text: str) -> bool:
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


def _has_not_finite(value: JsonValue) -> bool:
    if isinstance(value, dict):
        return any(map(_has_not_finite, value.values()))
    return any(map(_has_not_finite, value)) if isinstance(value, list) else value is NOT_FINITE


def _last_partial(values: Sequence[Scanned]) -> JsonValue:
    """The complete members of the object that a text breaks off in."""
    if not values or values[-1].flaw != "cut" or not values[-1].partial:
        return None
    return _storable(values[-1].partial)[0]


def _answered(answer: JsonValue, notes: frozenset[str], thoughts: str | None, content: str) -> ReplyReading:
    storable, repaired = _storable(answer)
    return _reading(
        notes | ({"bad_unicode"} if repaired else set()), thoughts, content, outcome="answer", answer=storable
    )


def _no_answer(
    reason: str,
    detail: str,
    notes: frozenset[str] | tuple[()],
    thoughts: str | None,
    content: str | None,
    partial: JsonValue = None,
) -> ReplyReading:
    retry = Retry.CHANGED_REQUEST if reason == "truncated" else Retry.NO
    return _reading(
        frozenset(notes),
        thoughts,
        content,
        outcome="no_answer",
        reason=reason,
        detail=shown(detail),
        partial=partial,
        retry=retry,
    )


def _reading(notes: frozenset[str], thoughts: str | None, content: str | None, **fields: Any) -> ReplyReading:
    text, repairs = repair_text(content or "")
    reasoning, in_reasoning = repair_text(thoughts or "")
    if repairs or in_reasoning:
        notes |= {"bad_unicode"}
    warnings = tuple(warning for warning in WARNINGS if warning in notes)
    loose = any(warning not in ASIDE for warning in warnings)
    answered = fields["outcome"] == "answer"
    return ReplyReading(
        strictness=("loose" if loose else "strict") if answered else "none",
        warnings=warnings,
        reasoning=reasoning or None,
        text=text if content is not None else None,
        repairs=repairs,
        **fields,
    )


def _storable(value: JsonValue) -> tuple[JsonValue, bool]:
    """``value`` as canonical JSON can hold it, and whether a text in it had to be repaired."""
    if isinstance(value, str):
        text, repairs = repair_text(value)
        return text, bool(repairs)
    if isinstance(value, dict):
        pairs = [(_storable(key), _storable(item)) for key, item in value.items()]
        return {key[0]: item[0] for key, item in pairs}, any(key[1] or item[1] for key, item in pairs)
    if isinstance(value, list):
        items = [_storable(item) for item in value]
        return [item[0] for item in items], any(item[1] for item in items)
    if isinstance(value, int) and abs(value) > MAX_SAFE_INTEGER:
        return str(value), False  # only among what is shown of a cut reply; no answer holds one
    return (None if value is NOT_FINITE else value), False
