"""Server-sent events put together into one chat completion. Pure.

Comment lines and ``retry:`` are keep-alives. What is left is either ``data: [DONE]`` or a JSON
chunk; chunks of several choices may interleave. The whole is returned in the shape of an unstreamed
reply, so that the rest of the code knows one shape.
"""

import re
from collections.abc import Iterator
from typing import Any

from vlmrec.models.lenient import load_envelope
from vlmrec.terms import JsonValue

_LINE_END = re.compile(r"\r\n|\n|\r")
_TEXT_FIELDS = ("content", "reasoning", "reasoning_content", "refusal")


def looks_like_stream(content_type: str, text: str) -> bool:
    """Whether a body is a stream of events, whatever was asked for."""
    return content_type.startswith("text/event-stream") or text.startswith(("data:", "event:", ": "))


def assemble_stream(text: str) -> tuple[dict[str, Any], bool]:
    """The stream as one completion, and whether it came to its end (``[DONE]``, or every choice finished, or an error)."""
    whole: dict[str, Any] = {"object": "chat.completion", "choices": []}
    choices: dict[int, dict[str, Any]] = {}
    done = False
    for data in _events(text):
        if data.strip() == "[DONE]":
            done = True
            break
        chunk = load_envelope(data)
        if not isinstance(chunk, dict):
            whole.setdefault("error", {"message": "a chunk of the stream is not a JSON object", "code": "bad_chunk"})
            continue
        for name in ("id", "model", "provider", "system_fingerprint", "usage", "error"):
            if chunk.get(name) is not None:
                whole[name] = chunk[name]
        parts = chunk.get("choices")
        for part in parts if isinstance(parts, list) else ():
            if isinstance(part, dict):
                _fold(choices, part)
    whole["choices"] = [choices[index] for index in sorted(choices)]
    finished = bool(choices) and all(choice["finish_reason"] is not None for choice in choices.values())
    return whole, done or finished or "error" in whole


def _fold(choices: dict[int, dict[str, Any]], part: dict[str, JsonValue]) -> None:
    index = part.get("index")
    index = index if isinstance(index, int) else 0
    choice = choices.setdefault(index, {"index": index, "message": {"role": "assistant"}, "finish_reason": None})
    delta = part.get("delta") or part.get("message")
    if isinstance(delta, dict):
        message = choice["message"]
        for name in _TEXT_FIELDS:
            if isinstance(delta.get(name), str):
                message[name] = message.get(name, "") + delta[name]
    for name in ("finish_reason", "native_finish_reason", "error"):
        if part.get(name) is not None:
            choice[name] = part[name]


def _events(text: str) -> Iterator[str]:
    data: list[str] = []
    for line in _LINE_END.split(text):
        if not line:
            if data:
                yield "\n".join(data)
            data = []
        elif line.startswith("data:"):
            data.append(line[5:].removeprefix(" "))
    if data:
        yield "\n".join(data)
