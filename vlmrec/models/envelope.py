"""The body of a chat completion as Structs: choices, usage, errors, and what shape the body had. Pure.

Reads every shape met in the wild (OpenAI, vLLM, OpenRouter, NVIDIA; streamed or not; HTML pages in
between) and never raises. Which of them is a failure is decided in ``vlmrec.models.failures``.
"""

from decimal import Decimal
from typing import Any, Literal, TypeAlias

from msgspec import Struct

from vlmrec.events import Usage
from vlmrec.models.lenient import as_count, as_money, as_text, decode_text, is_cut_json, load_envelope
from vlmrec.models.sse import assemble_stream, looks_like_stream
from vlmrec.terms import JsonValue

Shape: TypeAlias = Literal["object", "stream", "other_json", "cut_json", "broken_json", "html", "text", "empty"]

ERROR_FINISHES = frozenset({"error", "abort", "aborted"})


class ErrorInfo(Struct, frozen=True, kw_only=True):
    """An error as the server told it. ``code`` is numeric where one was given, ``words`` all stable words found."""

    message: str
    code: int | None = None
    words: tuple[str, ...] = ()
    provider: str | None = None
    param: str | None = None
    title: str | None = None
    metadata: dict[str, Any] = {}


class Choice(Struct, frozen=True, kw_only=True):
    """One choice. Texts may hold lone surrogates; they are repaired where they are stored."""

    index: int
    has_message: bool
    content: str | None = None
    reasoning: str | None = None
    refusal: str | None = None
    finish_reason: str | None = None
    error: ErrorInfo | None = None


class Envelope(Struct, frozen=True, kw_only=True):
    """A reply's body, read."""

    shape: Shape
    choices: tuple[Choice, ...] = ()
    has_choices: bool = False
    error: ErrorInfo | None = None
    usage: Usage = Usage()
    has_usage: bool = False
    cost: Decimal | None = None
    model: str | None = None
    provider: str | None = None
    finished: bool = True
    text: str = ""


def read_envelope(body: bytes, content_type: str = "") -> Envelope:
    """What ``body`` holds. ``finished`` is False for a stream that broke off."""
    text = decode_text(body)
    stripped = text.lstrip()
    if not stripped:
        return Envelope(shape="empty")
    if looks_like_stream(content_type.lower(), stripped):
        value, finished = assemble_stream(stripped)
        return _from_object(value, "stream", text=text, finished=finished)
    value = load_envelope(text)
    if isinstance(value, dict):
        return _from_object(value, "object", text=text, finished=True)
    return Envelope(shape=_shape(stripped, value), text=text)


def _shape(text: str, value: JsonValue) -> Shape:
    if value is not None or text.strip() == "null":
        return "other_json"
    if text.startswith("<"):
        return "html"
    if is_cut_json(text):
        return "cut_json"
    return "broken_json" if text.startswith(("{", "[")) else "text"


def _from_object(value: dict[str, Any], shape: Shape, *, text: str, finished: bool) -> Envelope:
    choices = _choices(value.get("choices"))
    usage = value.get("usage")
    return Envelope(
        shape=shape,
        choices=choices,
        has_choices="choices" in value,
        error=_error(value),
        usage=_usage(usage),
        has_usage=isinstance(usage, dict) and as_count(usage.get("prompt_tokens")) is not None,
        cost=as_money(usage.get("cost")) if isinstance(usage, dict) else None,
        model=as_text(value.get("model")),
        provider=as_text(value.get("provider")),
        finished=finished,
        text=text,
    )


def _choices(value: JsonValue) -> tuple[Choice, ...]:
    """Choices in the order of their ``index``; in that of the list where the indexes don't tell them apart."""
    items = [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []
    told = [as_count(item.get("index")) for item in items]
    indexes = [index for index in told if index is not None]
    if len(set(indexes)) != len(items):
        indexes = list(range(len(items)))
    return tuple(sorted(map(_choice, indexes, items), key=lambda choice: choice.index))


def _choice(index: int, item: dict[str, Any]) -> Choice:
    message = item.get("message")
    reason = as_text(item.get("finish_reason"))
    error = read_error(item.get("error"))
    if error is None and reason is not None and reason.lower() in ERROR_FINISHES:
        error = ErrorInfo(message=f"the choice ended with finish_reason {reason}")
    if not isinstance(message, dict):
        plain = as_text(item.get("text"))  # the older completions shape
        return Choice(index=index, has_message=plain is not None, content=plain, finish_reason=reason, error=error)
    content, thoughts = _content(message.get("content"))
    told = [as_text(message.get("reasoning")) or as_text(message.get("reasoning_content")) or _details(message)]
    reasoning = "\n".join(part for part in (*told, thoughts) if part) or None
    return Choice(
        index=index,
        has_message=True,
        content=content,
        reasoning=reasoning,
        refusal=as_text(message.get("refusal")),
        finish_reason=reason,
        error=error,
    )


def _content(value: JsonValue) -> tuple[str | None, str | None]:
    """Text and thoughts of a message's content, which may be a list of parts."""
    if isinstance(value, str):
        return value, None
    if not isinstance(value, list):
        return None, None
    texts: list[str] = []
    thoughts: list[str] = []
    for part in value:
        if isinstance(part, str):
            texts.append(part)
        elif isinstance(part, dict):
            is_thought = part.get("type") in ("thinking", "reasoning")
            text = as_text(part.get("thinking")) or as_text(part.get("text"))
            if text is not None:
                (thoughts if is_thought else texts).append(text)
    return "".join(texts) or None, "\n".join(thoughts) or None


def _details(message: dict[str, Any]) -> str | None:
    details = message.get("reasoning_details")
    if not isinstance(details, list):
        return None
    parts = (as_text(d.get("text")) or as_text(d.get("summary")) for d in details if isinstance(d, dict))
    return "\n".join(part for part in parts if part) or None


def _usage(value: JsonValue) -> Usage:
    if not isinstance(value, dict):
        return Usage()
    prompt = value.get("prompt_tokens_details")
    prompt = prompt if isinstance(prompt, dict) else {}
    completion = value.get("completion_tokens_details")
    completion = completion if isinstance(completion, dict) else {}
    media = prompt.get("multimodal_tokens")
    media_counts = [as_count(count) for count in media.values()] if isinstance(media, dict) else []
    media_tokens = sum(count for count in media_counts if count is not None) if media_counts else None
    if media_tokens is None:
        media_tokens = as_count(prompt.get("video_tokens"))
    return Usage(
        prompt_tokens=as_count(value.get("prompt_tokens")),
        completion_tokens=as_count(value.get("completion_tokens")),
        cached_tokens=as_count(prompt.get("cached_tokens")),
        media_tokens=media_tokens,
        reasoning_tokens=as_count(completion.get("reasoning_tokens")),
    )


def _error(value: dict[str, Any]) -> ErrorInfo | None:
    """The error of a body: ``error`` as object or text, or ``detail`` / ``title`` / ``message`` where no choices are."""
    error = read_error(value.get("error"))
    if error is not None or value.get("choices"):
        return error
    detail, title = value.get("detail"), as_text(value.get("title"))
    if detail is None and title is None:
        message = as_text(value.get("message"))
        return ErrorInfo(message=message, code=as_count(value.get("code"))) if message else None
    text = detail if isinstance(detail, str) else "" if detail is None else str(detail)
    return ErrorInfo(message=text or title or "", code=as_count(value.get("status")), title=title)


def read_error(value: JsonValue) -> ErrorInfo | None:
    """An ``error`` member, as object or text; None where it is null, absent or empty."""
    if isinstance(value, str):
        return ErrorInfo(message=value) if value else None
    if not isinstance(value, dict) or not value:
        return None
    metadata = value.get("metadata")
    metadata = metadata if isinstance(metadata, dict) else {}
    if isinstance(value.get("availability"), dict):
        metadata = {**metadata, "availability": value["availability"]}
    code = value.get("code")
    number = as_count(
        int(code) if isinstance(code, str) and code.isascii() and code.isdigit() and len(code) < 6 else code
    )
    words = (code, value.get("type"), metadata.get("error_type"), metadata.get("limit_source"))
    raw = as_text(metadata.get("raw"))
    message = as_text(value.get("message")) or ""
    return ErrorInfo(
        message=f"{message} ({raw})" if raw and raw not in message else message,
        code=number,
        words=tuple(word.lower() for word in words if isinstance(word, str) and not word.isdigit()),
        provider=as_text(metadata.get("provider_name")),
        param=as_text(value.get("param")),
        metadata=metadata,
    )
