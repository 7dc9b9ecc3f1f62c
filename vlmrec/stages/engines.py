"""Which engine a run talks to: an embedded version in process, or a server; one client path for both."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import NamedTuple

import httpx

from vlmrec.engine.client import EngineClient
from vlmrec.engine.reference import versions
from vlmrec.engine.server import create_app
from vlmrec.errors import InputError
from vlmrec.models.urls import check_base_url
from vlmrec.protocol import EvaluateRequest
from vlmrec.stages.extract import EngineDescription
from vlmrec.stages.submission import EngineReply

EMBEDDED = "embedded:"


class OpenEngine(NamedTuple):
    """A connected engine and what it said of itself."""

    port: "EnginePort"
    description: EngineDescription


class EnginePort:
    """The orchestrator's engine over the protocol's client."""

    def __init__(self, client: EngineClient) -> None:
        self._client = client

    async def evaluate(self, request: EvaluateRequest) -> EngineReply:
        reply = await self._client.evaluate(request)
        return EngineReply(reply.raw, reply.evaluation)


def engine_source(version: str | None, url: str | None) -> str:
    """``embedded:VERSION`` or a base URL. Raises InputError when both are named, an unknown version, or no such URL."""
    if version is not None and url is not None:
        raise InputError("name an embedded engine with --engine, or a server with --engine-url, not both")
    if url is not None:
        check_base_url(url)
        return url.rstrip("/")
    known = versions()
    chosen = version or known[-1]
    if chosen not in known:
        raise InputError(f"there is no embedded engine {chosen!r}; there are {', '.join(known)}")
    return f"{EMBEDDED}{chosen}"


@asynccontextmanager
async def open_engine(source: str) -> AsyncIterator[OpenEngine]:
    """Connect to the engine named by ``source`` and ask what it is."""
    if source.startswith(EMBEDDED):
        app = create_app(source.removeprefix(EMBEDDED))
        http = httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url="http://engine")
    else:
        http = httpx.AsyncClient(base_url=source)
    async with http:
        client = EngineClient(http)
        meta, questions = await client.meta_bytes(), await client.questions_bytes()
        yield OpenEngine(EnginePort(client), EngineDescription(source, meta, questions))
