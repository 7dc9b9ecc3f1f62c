"""An OpenAI-compatible server over real HTTP whose every reply a Python function chooses; it can fail in all ways.

    with scripted_server(answering({("q_maneuver", "other"): "lane_change"})) as server:
        ...  # server.url ends in /v1; server.calls is every request, in order of arrival

A rule gets a ``ChatCall`` and returns what to do with it: a dict (the answer object, sent as a good
completion), a str (the completion's text), or a ``Reply`` for all else.
"""

import asyncio
import json
import re
import socket
import struct
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, Literal
from urllib.parse import unquote

REASONS = {200: "OK", 400: "Bad Request", 402: "Payment Required", 404: "Not Found", 429: "Too Many Requests"}


@dataclass(frozen=True)
class ChatCall:
    """One request as the server saw it. ``clip``, ``stage``, ``sample`` and ``attempt`` come from X-Request-Id."""

    number: int
    path: str
    headers: dict[str, str]
    body: dict[str, Any]
    raw: bytes

    @property
    def text(self) -> str:
        """All text parts of the last message."""
        content = self.body["messages"][-1]["content"]
        if isinstance(content, str):
            return content
        return "\n".join(part["text"] for part in content if part.get("type") == "text")

    @property
    def question(self) -> str | None:
        return self._marked("question")

    @property
    def party(self) -> str | None:
        return self._marked("party")

    @property
    def task(self) -> str | None:
        """``entity_table`` or ``scene``; None for a question."""
        return self._marked("task")

    @property
    def options(self) -> list[str]:
        found = re.search(r"^\[options\]\n((?:- .*\n?)+)", self.text, re.MULTILINE)
        return re.findall(r"^- ([^:\n]+)", found.group(1), re.MULTILINE) if found else []

    @property
    def request_id(self) -> str:
        return unquote(self.headers.get("x-request-id", ""))

    @property
    def key(self) -> str:
        """The request id without log and attempt: what is never to be answered twice."""
        return "/".join(self.request_id.split("/")[1:-1])

    @property
    def clip(self) -> str | None:
        parts = self.request_id.split("/")
        return "/".join(parts[1:-5]) if len(parts) >= 7 else None

    @property
    def sample(self) -> str | None:
        parts = self.request_id.split("/")
        return parts[-2] if len(parts) >= 7 else None

    @property
    def attempt(self) -> int | None:
        last = self.request_id.rsplit("/", 1)[-1]
        return int(last) if last.isdigit() else None

    def _marked(self, name: str) -> str | None:
        found = re.search(rf"^\[{name}\] (\S+)", self.text, re.MULTILINE)
        return found.group(1) if found else None


@dataclass(frozen=True)
class Reply:
    """What goes over the wire. ``cut``: send so many bytes of the body, then close; ``reset``: close without a word."""

    status: int = 200
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)
    cut: int | None = None
    reset: bool = False
    delay_s: float = 0.0
    end: Literal["keep", "close"] = "keep"


Rule = Callable[[ChatCall], "Reply | dict[str, Any] | str"]


def completion(
    text: str | None,
    *,
    model: str = "scripted",
    finish_reason: str | None = "stop",
    usage: Mapping[str, Any] | None = None,
    message: Mapping[str, Any] | None = None,
    choices: int = 1,
    **extra: Any,
) -> Reply:
    """A good completion with ``text``."""
    return error_body(
        200,
        {
            "id": "chatcmpl-1",
            "object": "chat.completion",
            "model": model,
            "choices": [
                {
                    "index": index,
                    "message": {"role": "assistant", "content": text, **(message or {})},
                    "finish_reason": finish_reason,
                }
                for index in range(choices)
            ],
            "usage": {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120} if usage is None else usage,
            **extra,
        },
    )


def error_body(status: int, value: Any, **headers: str) -> Reply:
    """A JSON body under any status; underscores in header names become dashes."""
    named = {name.replace("_", "-"): text for name, text in headers.items()}
    return Reply(status, json.dumps(value).encode(), {"content-type": "application/json", **named})


def stream(chunks: list[Any], *, done: bool = True) -> Reply:
    """A stream of server-sent events, with keep-alives between; a str chunk is sent as a raw line."""
    lines = [chunk if isinstance(chunk, str) else f"data: {json.dumps(chunk)}" for chunk in chunks]
    text = "".join(f": keep-alive\n\n{line}\n\n" for line in lines) + ("data: [DONE]\n\n" if done else "")
    return Reply(200, text.encode(), {"content-type": "text/event-stream"})


def answer(value: str | None, *, status: str | None = None, **fields: Any) -> dict[str, Any]:
    """An answer object: ``observed`` with a value, an abstention without."""
    return {
        "status": status or ("observed" if value is not None else "unknown"),
        "value": value,
        "reason": "as scripted",
        "evidence_start": None,
        "evidence_end": None,
        "confidence": None,
        **fields,
    }


def answering(
    values: Mapping[tuple[str, str], str | None], *, table: Mapping[str, Any] | None = None, default: str | None = None
) -> Rule:
    """A rule that answers by (question, party); ``default`` (None: unknown) for all others, and an empty table."""

    def rule(call: ChatCall) -> Reply | dict[str, Any] | str:
        if call.task == "entity_table":
            empty = {"entities": [], "contact_time": None, "ego_lane": None, "lane_count": None, "camera_events": []}
            return dict(table) if table is not None else empty
        if call.task == "scene":
            return "A clear road. Nothing happens."
        value = values.get((call.question or "", call.party or ""), default)
        return answer(value)

    return rule


class ScriptedServer:
    """A running server: ``url`` is its base URL, ``calls`` what it was asked."""

    def __init__(self, rule: Rule, *, model: str) -> None:
        self.rule = rule
        self.model = model
        self.calls: list[ChatCall] = []
        self.in_flight = 0
        self.most_in_flight = 0
        self.port = 0
        self.errors: list[BaseException] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    @property
    def by_key(self) -> Counter[str]:
        """How often each call key was sent."""
        return Counter(call.key for call in self.calls)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while await self._exchange(reader, writer):
                pass
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            pass
        except Exception as error:  # noqa: BLE001 - shown to the test when the server is closed
            self.errors.append(error)
        finally:
            writer.close()
            with suppress(ConnectionError):
                await writer.wait_closed()

    async def _exchange(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        start, *lines = head.split("\r\n")
        method, path, _ = start.split(" ")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines if line)}
        raw = await reader.readexactly(int(headers.get("content-length", "0")))
        if method == "GET":
            listed = {"object": "list", "data": [{"id": self.model, "object": "model", "max_model_len": 16384}]}
            await _send(writer, error_body(200 if path.endswith("/models") else 404, listed))
            return True
        call = ChatCall(len(self.calls), path, headers, json.loads(raw), raw)
        self.calls.append(call)
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        try:
            chosen = self.rule(call)
            reply = self._as_reply(chosen, call)
            if reply.delay_s:
                await asyncio.sleep(reply.delay_s)
        finally:
            self.in_flight -= 1
        if reply.reset:
            sock: socket.socket = writer.get_extra_info("socket")
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            writer.transport.abort()
            return False
        await _send(writer, reply)
        return reply.cut is None and reply.end == "keep"

    def _as_reply(self, chosen: "Reply | dict[str, Any] | str", call: ChatCall) -> Reply:
        if isinstance(chosen, Reply):
            return chosen
        text = chosen if isinstance(chosen, str) else json.dumps(chosen, ensure_ascii=False)
        return completion(text, model=call.body.get("model", self.model), choices=call.body.get("n", 1))


async def _send(writer: asyncio.StreamWriter, reply: Reply) -> None:
    headers = {"content-type": "application/json", "content-length": str(len(reply.body)), **reply.headers}
    head = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    body = reply.body if reply.cut is None else reply.body[: reply.cut]
    writer.write(f"HTTP/1.1 {reply.status} {REASONS.get(reply.status, 'Status')}\r\n{head}\r\n".encode() + body)
    await writer.drain()


@contextmanager
def scripted_server(rule: Rule, *, model: str = "scripted") -> Iterator[ScriptedServer]:
    """Run a server on a free port in a thread of its own; an exception in ``rule`` is raised when the block ends."""
    server = ScriptedServer(rule, model=model)
    loop = asyncio.new_event_loop()
    ready = threading.Event()
    stop = asyncio.Event()

    async def run() -> None:
        listening = await asyncio.start_server(server.serve, "127.0.0.1", 0, limit=1 << 20)
        server.port = listening.sockets[0].getsockname()[1]
        ready.set()
        await stop.wait()
        listening.close()
        for task in asyncio.all_tasks() - {asyncio.current_task()}:
            task.cancel()
        await asyncio.sleep(0)

    thread = threading.Thread(target=loop.run_until_complete, args=(run(),), daemon=True)
    thread.start()
    assert ready.wait(10)
    try:
        yield server
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join(10)
        loop.close()
    if server.errors:
        raise server.errors[0]
