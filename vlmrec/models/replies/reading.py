"""How a reply was read, as a value: outcome, strictness, warnings, and texts that any log can hold. Pure."""

from collections.abc import Sequence
from typing import Any, Literal

from msgspec import Struct

from vlmrec.canonical import MAX_SAFE_INTEGER
from vlmrec.models.failures import shown
from vlmrec.models.replies.scan import NOT_FINITE, Scanned
from vlmrec.models.replies.unicode import Repair, repair_text
from vlmrec.models.wire import Retry
from vlmrec.terms import JsonValue

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


def last_partial(values: Sequence[Scanned]) -> JsonValue:
    """The complete members of the object that a text breaks off in."""
    if not values or values[-1].flaw != "cut" or not values[-1].partial:
        return None
    return _storable(values[-1].partial)[0]


def answered(answer: JsonValue, notes: frozenset[str], thoughts: str | None, content: str) -> ReplyReading:
    """A reply that was read as ``answer``."""
    storable, repaired = _storable(answer)
    return _reading(
        notes | ({"bad_unicode"} if repaired else set()), thoughts, content, outcome="answer", answer=storable
    )


def no_answer(
    reason: str,
    detail: str,
    notes: frozenset[str] | tuple[()],
    thoughts: str | None,
    content: str | None,
    partial: JsonValue = None,
) -> ReplyReading:
    """A reply that gives no answer, and why."""
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
