"""The model client beside the plain openai call and beside bare httpx, over loopback HTTP.

CPU per call with a 12 MB clip as data URL, by the process's own CPU clock; and calls a second
against a server without latency, 64 in flight. The server is another process. Each figure is the median of
rounds that alternate between the contestants. (An aiohttp transport under httpx was tried as well: 4.0 ms
a call where ours takes 6.2; not worth a dependency.)

    python bench/bench_client.py [cpu|calls]
"""

import asyncio
import base64
import json
import multiprocessing
import os
import sys
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from multiprocessing.connection import Connection
from statistics import median
from typing import Any

import httpx
import openai

from vlmrec.models.client import ChatClient
from vlmrec.models.request import encode_json, encode_prefix, encode_request, whole_request
from vlmrec.models.wire import Completed, PreparedRequest

CLIP_BYTES = 12_000_000
ROUNDS = 7
CPU_CALLS = 6
CALLS = 600
IN_FLIGHT = 64
SYSTEM = {"role": "system", "content": "You answer questions about dashcam clips with one JSON object."}
QUESTION = {"type": "text", "text": "[question] q_maneuver\n[party] other\nWhat was the other vehicle doing?"}
FIELDS = {"model": "bench/model", "temperature": 0, "max_tokens": 256}
REPLY = json.dumps(
    {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": "bench/model",
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": '{"status": "observed", "value": "straight"}'},
                "finish_reason": "stop",
            }
        ],
        "usage": {"prompt_tokens": 1384, "completion_tokens": 31, "total_tokens": 1415},
    }
).encode()
HEAD = f"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {len(REPLY)}\r\n\r\n".encode()


def main() -> None:
    chosen = sys.argv[1:] or ["cpu", "calls"]
    receive, send = multiprocessing.Pipe(duplex=False)
    server = multiprocessing.get_context("spawn").Process(target=serve, args=(send,), daemon=True)
    server.start()
    url = f"http://127.0.0.1:{receive.recv()}/v1"
    try:
        if "cpu" in chosen:
            asyncio.run(bench_cpu(url))
        if "calls" in chosen:
            asyncio.run(bench_calls(url))
    finally:
        server.kill()


async def bench_cpu(url: str) -> None:
    """CPU seconds of one call whose request carries the clip."""
    video = {
        "type": "video_url",
        "video_url": {"url": "data:video/mp4;base64," + base64.b64encode(os.urandom(CLIP_BYTES)).decode()},
    }
    prefix = encode_prefix(messages=[SYSTEM], content=[video])
    whole = whole_request(messages=[SYSTEM], prefix_content=[video], content=[QUESTION], fields=FIELDS)
    ready = encode_json(whole)
    headers = {"content-type": "application/json"}
    plain = openai.AsyncOpenAI(base_url=url, api_key="none", max_retries=0)
    async with ChatClient(url, key="none") as client, httpx.AsyncClient() as bare:
        contestants: dict[str, Callable[[], Awaitable[Any]]] = {
            "ours": lambda: client.send(
                PreparedRequest(content=encode_request(prefix, content=[QUESTION], fields=FIELDS), request_id="bench/1")
            ),
            "openai": lambda: plain.chat.completions.create(**whole),
            "httpx": lambda: bare.post(f"{url}/chat/completions", content=ready, headers=headers),
        }
        spent = await alternate(contestants, CPU_CALLS, time.process_time)
    await plain.close()
    report("client: CPU a call, 12 MB clip, beside bare httpx", spent["ours"], spent["httpx"], "<= 1.3", "s")
    report("client: CPU a call, 12 MB clip, beside plain openai", spent["ours"], spent["openai"], None, "s")


async def bench_calls(url: str) -> None:
    """Small calls a second, so many in flight."""
    prefix = encode_prefix(messages=[SYSTEM], content=[])
    ready = encode_json(whole_request(messages=[SYSTEM], prefix_content=[], content=[QUESTION], fields=FIELDS))
    headers = {"content-type": "application/json"}
    limits = httpx.Limits(max_connections=IN_FLIGHT, max_keepalive_connections=IN_FLIGHT)
    async with ChatClient(url, key="none", connections=IN_FLIGHT) as client, httpx.AsyncClient(limits=limits) as bare:

        async def ours() -> None:
            chunks = encode_request(prefix, content=[QUESTION], fields=FIELDS)
            attempt = await client.send(PreparedRequest(content=chunks, request_id="bench/1"))
            assert isinstance(attempt, Completed)

        async def theirs() -> None:
            (await bare.post(f"{url}/chat/completions", content=ready, headers=headers)).raise_for_status()

        async def many(call: Callable[[], Awaitable[Any]]) -> None:
            left = iter(range(CALLS))

            async def worker() -> None:
                for _ in left:
                    await call()

            async with asyncio.TaskGroup() as group:
                for _ in range(IN_FLIGHT):
                    group.create_task(worker())

        spent = await alternate({"ours": lambda: many(ours), "httpx": lambda: many(theirs)}, 1, time.perf_counter)
    rate = {name: CALLS / seconds for name, seconds in spent.items()}
    report("client: calls a second, 64 in flight, beside bare httpx", rate["ours"], rate["httpx"], ">= 0.6", "/s")


async def alternate(
    contestants: dict[str, Callable[[], Awaitable[Any]]], calls: int, clock: Callable[[], float]
) -> dict[str, float]:
    """Median seconds of ``clock`` that one call of each takes; the first round only warms up."""
    spent: dict[str, list[float]] = {name: [] for name in contestants}
    for turn in range(ROUNDS + 1):
        for name, call in contestants.items():
            began = clock()
            for _ in range(calls):
                await call()
            if turn:
                spent[name].append((clock() - began) / calls)
    return {name: median(each) for name, each in spent.items()}


def report(name: str, measured: float, beside: float, aim: str | None, unit: str) -> None:
    print(
        json.dumps(
            {"name": name, "measured": measured, "beside": beside, "unit": unit, "ratio": measured / beside, "aim": aim}
        ),
        flush=True,
    )


# ---- the server --------------------------------------------------------------------------------


class Instant(asyncio.Protocol):
    """Answers every request with the same reply as soon as its last byte is in; keeps no body."""

    def __init__(self) -> None:
        self.head = b""
        self.left: int | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        while data:
            if self.left is None:
                self.head += data
                end = self.head.find(b"\r\n\r\n")
                if end < 0:
                    return
                lines = self.head[:end].lower().split(b"\r\n")
                length = next(line for line in lines if line.startswith(b"content-length:"))
                self.left = int(length.partition(b":")[2])
                data, self.head = self.head[end + 4 :], b""
            taken = min(len(data), self.left)
            self.left, data = self.left - taken, data[taken:]
            if self.left == 0:
                self.transport.write(HEAD + REPLY)
                self.left = None


def serve(send: Connection) -> None:
    async def run() -> None:
        server = await asyncio.get_running_loop().create_server(Instant, "127.0.0.1", 0)
        send.send(server.sockets[0].getsockname()[1])
        await server.serve_forever()

    with suppress(KeyboardInterrupt):
        asyncio.run(run())


if __name__ == "__main__":
    main()
