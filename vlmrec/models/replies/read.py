"""Reads a model's reply as a value of a schema: strict, loose (recovered, and how), or not at all. Pure.

The rules, in the order they apply: a refusal is a refusal; a truncated reply is never repaired into
a value; reasoning is kept apart from the answer; a value is a code of the domain, or a label or
spelling that maps to exactly one, with a warning; of several objects that disagree none is taken.
Never raises for what a model or server wrote.
"""

from vlmrec.models.envelope import Choice, Envelope
from vlmrec.models.failures import Verdict, classify
from vlmrec.models.replies.candidates import Found, fit, fit_or_none, has_not_finite, is_relevant
from vlmrec.models.replies.fit import MisfitError
from vlmrec.models.replies.reading import WARNINGS, ReplyReading, answered, last_partial, no_answer
from vlmrec.models.replies.schema import JsonSchema, same

__all__ = ["WARNINGS", "ReplyReading", "is_substitute", "read_reply", "read_text", "read_verdict"]

TRUNCATED = frozenset({"length", "max_tokens", "model_length", "max_output_tokens", "token_limit"})
REFUSED = frozenset({"content_filter", "safety", "refusal", "recitation", "prohibited_content", "blocklist", "spii"})


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
        return no_answer("empty_content", f"the reply holds no choice {choice}", (), None, None)
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
    found = Found.of(content, choice.reasoning, schema)
    if choice.refusal or finish in REFUSED:
        return no_answer("refused", choice.refusal or f"finish_reason {finish}", aside, found.thoughts, content)
    if finish in TRUNCATED:
        detail = f"cut by the token limit (finish_reason {finish})"
        return no_answer("truncated", detail, aside, found.thoughts, content, partial=last_partial(found.values))
    if found.open:
        return no_answer("truncated", "the reasoning never ended", aside, found.thoughts, content)
    if not found.text.strip():
        return no_answer("empty_content", "there is no text beside the reasoning", aside, found.thoughts, content)
    return _read_values(found, schema, aside | found.notes, content)


def _read_values(found: Found, schema: JsonSchema, notes: frozenset[str], content: str) -> ReplyReading:
    relevant = [value for value in found.values if is_relevant(value, schema, found.text)]
    if not relevant:
        return no_answer("unreadable", "no JSON object with the schema's keys", notes, found.thoughts, content)
    last = relevant[-1]
    if last.flaw == "cut":
        detail = "the text ends inside the object"
        return no_answer("truncated", detail, notes, found.thoughts, content, partial=last_partial(relevant))
    if last.flaw == "syntax":
        detail = f"not JSON at character {last.end}"
        return no_answer("unreadable", detail, notes, found.thoughts, content)
    around = found.text[: last.start] + found.text[last.end :] if len(relevant) == 1 else ""
    if around.strip():
        notes |= {"text_around_json"}
    if len(relevant) > 1:
        notes |= {"several_objects"}
    try:
        answer, how = fit(last, schema)
    except MisfitError as misfit:
        notes |= {"not_finite"} if has_not_finite(last.value) else set()
        return no_answer(misfit.reason, str(misfit), notes, found.thoughts, content)
    for other in relevant[:-1]:
        rival = fit_or_none(other, schema)
        if rival is not None and not same(rival[0], answer):
            return no_answer("ambiguous", "several objects that disagree", notes, found.thoughts, content)
    return answered(answer, notes | how, found.thoughts, content)
