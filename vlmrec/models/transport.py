"""An httpx transport that writes down what crosses the wire, however the exchange ends.

A client library drops the bytes of a reply that breaks off, and can't say whether a request had
left when time ran out. This wrapper keeps both, over a socket and in process alike: every request
carries an ``Exchange`` in its extensions, filled in as things happen.
"""

import zlib
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from contextvars import ContextVar
from typing import Any

import httpx

MAX_REPLY = 64 << 20
"""Bytes of a reply that are taken at most: a server may never end."""


class Exchange:
    """One request's passage: whether it left, and what of the reply has arrived."""

    __slots__ = ("_largest", "_pieces", "_size", "headers", "sent", "status", "whole")

    def __init__(self, largest: int = MAX_REPLY) -> None:
        self.sent = False
        self.status: int | None = None
        self.headers: httpx.Headers = httpx.Headers()
        self.whole = False
        self._pieces: list[bytes] = []
        self._size = 0
        self._largest = largest

    def keep(self, piece: bytes) -> None:
        """Raises httpx.ReadError beyond the largest reply."""
        self._size += len(piece)
        if self._size > self._largest:
            raise httpx.ReadError(f"the reply is longer than {self._largest:,} bytes")
        self._pieces.append(piece)

    def body(self) -> bytes:
        """The body after content decoding, as far as it came; the bytes as they are where they can't be decoded."""
        raw = b"".join(self._pieces)
        encoding = self.headers.get("content-encoding", "").strip().lower()
        if encoding in ("gzip", "x-gzip", "deflate"):
            for window in (zlib.MAX_WBITS | 32, -zlib.MAX_WBITS):
                with suppress(zlib.error):
                    return zlib.decompressobj(window).decompress(raw, self._largest)
        return raw


current_exchange: ContextVar[Exchange | None] = ContextVar("current_exchange", default=None)
"""The exchange that the running task's next request fills in. The client library between has no place to carry it."""


class RecordingTransport(httpx.AsyncBaseTransport):
    """Passes requests on to ``inner`` and fills in the task's ``current_exchange``."""

    def __init__(self, inner: httpx.AsyncBaseTransport) -> None:
        self._inner = inner
        self._has_trace = isinstance(inner, httpx.AsyncHTTPTransport)

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        exchange = current_exchange.get()
        if exchange is None:
            return await self._inner.handle_async_request(request)
        if self._has_trace:
            request.extensions["trace"] = _note_sending(exchange)
        else:
            exchange.sent = True
        response = await self._inner.handle_async_request(request)
        exchange.status = response.status_code
        exchange.headers = response.headers
        if isinstance(response.stream, httpx.AsyncByteStream):
            response.stream = _Tee(response.stream, exchange)
        return response

    async def aclose(self) -> None:
        await self._inner.aclose()


class _Tee(httpx.AsyncByteStream):
    def __init__(self, inner: httpx.AsyncByteStream, exchange: Exchange) -> None:
        self._inner = inner
        self._exchange = exchange

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for piece in self._inner:
            self._exchange.keep(piece)
            yield piece
        self._exchange.whole = True

    async def aclose(self) -> None:
        await self._inner.aclose()


def _note_sending(exchange: Exchange) -> Callable[[str, Any], Awaitable[None]]:
    async def trace(event: str, _: Any) -> None:
        if event.endswith("send_request_headers.started"):
            exchange.sent = True

    return trace
