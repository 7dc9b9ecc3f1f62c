"""Reads a chat-completions request: the media it holds, and the question as it stands in the marked lines.

The door of the observer. What comes in is anybody's JSON; what goes on is a ``ChatRequest``, or a
``BadRequest`` that says which field is wrong. Nothing is fetched: media travel inside the request.
"""

import base64
import binascii
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from vlmrec.terms import Party

MAX_CHOICES = 64

_FRAME_LABEL = re.compile(r"\[frame\s+\d+\s+at\s+(\d+(?:\.\d+)?)\s*s\]")
_MARK = re.compile(r"^\[([a-z ]+)\][ \t]*(.*)$")
_MARKS = frozenset(("question", "party", "text", "options", "answer", "task"))
_json_decoder = json.JSONDecoder()
_OPTION = re.compile(r"^-\s*([A-Za-z0-9_.\-]+)\s*:\s*(.*)$")


class BadRequest(Exception):
    """The request can't be served as it stands; becomes an HTTP error in OpenAI's shape."""

    def __init__(self, message: str, *, param: str | None = None, status: int = 400) -> None:
        super().__init__(message)
        self.message = message
        self.param = param
        self.status = status


class Option(NamedTuple):
    """One value the question allows, as shown."""

    code: str
    label: str


class Question(NamedTuple):
    """The question as the marked lines give it. ``options`` is empty where none were shown."""

    question_id: str
    party: Party
    text: str
    options: tuple[Option, ...]

    @property
    def codes(self) -> frozenset[str]:
        return frozenset(option.code for option in self.options)


class Video(NamedTuple):
    """A whole video file. ``fps`` is the sampling rate asked for, None for every frame."""

    body: bytes
    fps: float | None


class Still(NamedTuple):
    """One frame as an image file. ``time`` in seconds of clip time, None where no label said so."""

    body: bytes
    time: float | None


class ChatRequest(NamedTuple):
    """What the observer needs of a request. ``table`` is the entity table's JSON object as sent, if any."""

    model: str | None
    n: int
    max_tokens: int | None
    schema: Mapping[str, Any] | None
    texts: tuple[str, ...]
    videos: tuple[Video, ...]
    stills: tuple[Still, ...]
    task: str | None
    question: Question | None
    table: Mapping[str, Any] | None


def read_request(body: bytes) -> ChatRequest:
    """The request in ``body``. Raises BadRequest naming the field that is wrong."""
    try:
        data = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise BadRequest(f"the body is not JSON: {error}") from error
    if not isinstance(data, dict):
        raise BadRequest("the body must be a JSON object")
    if data.get("stream"):
        raise BadRequest("streaming is not supported; send stream=false", param="stream")
    messages = data.get("messages")
    if not isinstance(messages, list) or not messages:
        raise BadRequest("messages must be a list with at least one message", param="messages")
    fps = _video_fps(data)
    texts: list[str] = []
    videos: list[Video] = []
    stills: list[Still] = []
    for index, message in enumerate(messages):
        _read_message(message, f"messages[{index}]", fps, texts, videos, stills)
    if videos and stills:
        raise BadRequest("a request holds either one video or frames, not both", param="messages")
    if len(videos) > 1:
        raise BadRequest(f"one video per request, found {len(videos)}", param="messages")
    task, question = _read_marks(texts)
    return ChatRequest(
        model=_optional(data, "model", str),
        n=_integer(data, "n", 1, MAX_CHOICES) or 1,
        max_tokens=_integer(data, "max_completion_tokens", 1, None) or _integer(data, "max_tokens", 1, None),
        schema=_response_schema(data),
        texts=tuple(texts),
        videos=tuple(videos),
        stills=tuple(stills),
        task=task,
        question=question,
        table=_read_table(texts),
    )


def _read_message(
    message: Any, where: str, fps: float | None, texts: list[str], videos: list[Video], stills: list[Still]
) -> None:
    if not isinstance(message, dict) or not isinstance(message.get("role"), str):
        raise BadRequest(f"{where} must be an object with a role", param=where)
    content = message.get("content")
    if content is None:
        return
    if isinstance(content, str):
        texts.append(content)
        return
    if not isinstance(content, list):
        raise BadRequest(f"{where}.content must be a string or a list of parts", param=f"{where}.content")
    label: float | None = None
    for index, part in enumerate(content):
        path = f"{where}.content[{index}]"
        kind = part.get("type") if isinstance(part, dict) else None
        if kind == "text" and isinstance(part.get("text"), str):
            text = part["text"]
            found = _FRAME_LABEL.search(text)
            label = float(found.group(1)) if found else None
            texts.append(text)
        elif kind == "image_url":
            stills.append(Still(_data_url(part, "image_url", path)[1], label))
            label = None
        elif kind == "video_url":
            media_type, body = _data_url(part, "video_url", path)
            if media_type == "video/jpeg":
                raise BadRequest(f"{path}: send frames as image_url parts with time labels", param=path)
            videos.append(Video(body, fps))
        else:
            raise BadRequest(f"{path}: unknown content part type {kind!r}", param=path)


def _data_url(part: Mapping[str, Any], key: str, path: str) -> tuple[str, bytes]:
    holder = part.get(key)
    url = holder.get("url") if isinstance(holder, dict) else holder
    if not isinstance(url, str):
        raise BadRequest(f"{path}.{key}.url must be a string", param=f"{path}.{key}.url")
    head, comma, payload = url.partition(",")
    if not head.startswith("data:") or not comma or not head.endswith(";base64"):
        raise BadRequest(
            f"{path}: the observer takes media only as data:<type>;base64 URLs; it fetches nothing", param=path
        )
    try:
        return head[len("data:") : -len(";base64")], base64.b64decode(payload, validate=True)
    except (binascii.Error, ValueError) as error:
        raise BadRequest(f"{path}: {error}", param=path) from error


def _video_fps(data: Mapping[str, Any]) -> float | None:
    kwargs = data.get("media_io_kwargs")
    video = kwargs.get("video") if isinstance(kwargs, dict) else None
    fps = video.get("fps") if isinstance(video, dict) else None
    if fps is None or fps == -1:
        return None
    if isinstance(fps, bool) or not isinstance(fps, (int, float)) or not 0 < fps <= 1000:
        raise BadRequest(f"media_io_kwargs.video.fps must be a number above 0, found {fps!r}", param="media_io_kwargs")
    return float(fps)


def _response_schema(data: Mapping[str, Any]) -> Mapping[str, Any] | None:
    wanted = data.get("response_format")
    if wanted is None:
        return None
    kind = wanted.get("type") if isinstance(wanted, dict) else None
    if kind in ("text", "json_object"):
        return None
    if kind != "json_schema":
        raise BadRequest(f"response_format.type {kind!r} is not known", param="response_format")
    holder = wanted.get("json_schema")
    schema = holder.get("schema") if isinstance(holder, dict) else None
    if not isinstance(schema, dict):
        raise BadRequest("response_format.json_schema.schema must be an object", param="response_format")
    return schema


def _read_marks(texts: Sequence[str]) -> tuple[str | None, Question | None]:
    """Task and question from the last marked block. Lines without a mark carry on the text before them."""
    marks: dict[str, str] = {}
    options: list[Option] = []
    open_mark = ""
    for line in "\n".join(texts).splitlines():
        mark = _MARK.match(line.strip())
        if mark:
            open_mark = mark.group(1)
            if open_mark in ("question", "task"):
                marks, options = {}, []
            if open_mark in _MARKS:
                marks[open_mark] = mark.group(2).strip()
        elif open_mark == "options" and (option := _OPTION.match(line.strip())):
            options.append(Option(option.group(1), option.group(2).strip()))
        elif open_mark == "text":
            marks["text"] = f"{marks['text']}\n{line}".strip()
    task = marks.get("task")
    question_id = marks.get("question")
    if question_id is None:
        return task, None
    party = marks.get("party", "none")
    if party not in tuple(Party):
        raise BadRequest(f"[party] must be self, other or none, found {party!r}", param="messages")
    return task, Question(question_id, Party(party), marks.get("text", ""), tuple(options))


def _read_table(texts: Sequence[str]) -> Mapping[str, Any] | None:
    """The JSON object after a line ``[entity table]``. A table that can't be read is left out: it is only a help."""
    for text in texts:
        head, mark, rest = text.partition("[entity table]")
        if not mark or (head and not head.endswith("\n")):
            continue
        start = rest.find("{")
        if start < 0:
            continue
        try:
            table, _ = _json_decoder.raw_decode(rest[start:])
        except ValueError:
            continue
        if isinstance(table, dict):
            return table
    return None


def _optional(data: Mapping[str, Any], key: str, kind: type[str]) -> str | None:
    value = data.get(key)
    if value is not None and not isinstance(value, kind):
        raise BadRequest(f"{key} must be a string", param=key)
    return value


def _integer(data: Mapping[str, Any], key: str, least: int, most: int | None) -> int | None:
    value = data.get(key)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int) or value < least or (most is not None and value > most):
        span = f"from {least} to {most}" if most is not None else f"of at least {least}"
        raise BadRequest(f"{key} must be an integer {span}, found {value!r}", param=key)
    return value
