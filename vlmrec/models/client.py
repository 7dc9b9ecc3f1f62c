"""The one client for every OpenAI-compatible endpoint: one call of ``send`` is one attempt.

The openai package builds and sends the request (its own retries off), over httpx. What becomes of
the attempt is decided from the bytes that crossed the wire, not from the exceptions in between, so
that ``send`` never raises for what the world does. The same code runs over HTTP and, with an ASGI
app as ``transport``, in process.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Mapping
from typing import Any, Self
from urllib.parse import quote, urlsplit

import httpx
import openai
from openai import Omit

from vlmrec.models.failure_table import FAILURES
from vlmrec.models.failures import Verdict, classify, shown
from vlmrec.models.transport import MAX_REPLY, Exchange, RecordingTransport, current_exchange
from vlmrec.models.urls import check_base_url
from vlmrec.models.wire import Attempt, Completed, Failed, FailureKind, PreparedRequest

CHAT = "/chat/completions"
IDLE_S = 3.0
"""Idle connections are dropped before the server drops them (uvicorn, and so vLLM: after 5 s)."""

DROPPED_HEADERS = frozenset({"set-cookie", "authorization", "proxy-authenticate", "www-authenticate"})
HEADER_LENGTH = 1000

Scrub = Callable[[bytes], tuple[bytes, int]]


def _nothing_to_scrub(body: bytes) -> tuple[bytes, int]:
    return body, 0


class ChatClient:
    """A client of one base URL. ``key`` may be None (no Authorization header is sent then).

    ``timeout_s`` bounds a whole attempt. ``scrub`` replaces secrets in whatever came back, before
    anybody else sees it. ``wall`` and ``clock`` are the time sources (Unix seconds; monotonic).
    """

    def __init__(
        self,
        base_url: str,
        *,
        key: str | None = None,
        transport: httpx.AsyncBaseTransport | None = None,
        proxy: str | None = None,
        timeout_s: float = 600.0,
        connect_s: float = 10.0,
        connections: int = 128,
        largest_reply: int = MAX_REPLY,
        headers: Mapping[str, str] | None = None,
        scrub: Scrub = _nothing_to_scrub,
        wall: Callable[[], float] = time.time,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        check_base_url(base_url)
        limits = httpx.Limits(
            max_connections=connections, max_keepalive_connections=connections, keepalive_expiry=IDLE_S
        )
        inner = transport or httpx.AsyncHTTPTransport(limits=limits, proxy=proxy)
        self._http = httpx.AsyncClient(transport=RecordingTransport(inner), follow_redirects=False)
        self._api = openai.AsyncOpenAI(
            base_url=base_url,
            api_key=key or "none",
            max_retries=0,
            http_client=self._http,  # type: ignore[arg-type]  # openai 3 is typed for httpx2 and takes httpx as well
            timeout=httpx.Timeout(timeout_s, connect=connect_s),  # type: ignore[arg-type]  # likewise
        )
        self._key = key
        self._timeout_s = timeout_s
        self._headers = dict(headers or {})
        self._largest_reply = largest_reply
        self._scrub = scrub
        self._wall = wall
        self._clock = clock
        self.base_url = base_url

    async def send(self, request: PreparedRequest) -> Attempt:
        """Send ``request`` once.

        A cancelled call returns ``Failed`` of kind ``cancelled`` like any other failure, so that it
        can be recorded; the caller sees ``asyncio.current_task().cancelling()`` and ends after that.
        """
        exchange = Exchange(self._largest_reply)
        token = current_exchange.set(exchange)
        started = self._clock()
        problem: BaseException | None = None
        try:
            async with asyncio.timeout(self._timeout_s):
                await self._api.post(
                    CHAT,
                    cast_to=httpx.Response,
                    content=_Chunks(request.content),
                    options={
                        "headers": {
                            **self._headers,
                            **request.headers,
                            "Content-Length": str(request.size),
                            "Accept": "application/json, text/event-stream",
                            "Accept-Encoding": "identity",  # a broken reply is then kept as it came
                            "X-Request-Id": quote(request.request_id, safe="/:@+,="),
                            **({"Authorization": Omit()} if self._key is None else {}),
                        },
                        "follow_redirects": False,
                    },
                )
        except openai.APIStatusError:
            pass  # the exchange holds the status, and the body
        except (
            openai.APIConnectionError,
            httpx.HTTPError,
            httpx.StreamError,
            httpx.InvalidURL,
            TimeoutError,
            OSError,
            UnicodeError,
            asyncio.CancelledError,
        ) as error:
            problem = error
        finally:
            current_exchange.reset(token)
        return self._attempt(exchange, problem, request, self._clock() - started)

    async def get_json(self, path: str) -> tuple[int, bytes]:
        """Status and body of a GET below the base URL (``/models``). Raises httpx.HTTPError."""
        response = await self._http.get(
            f"{self.base_url.rstrip('/')}{path}", headers=self._authorization(), timeout=30.0
        )
        return response.status_code, self._scrub(response.content)[0]

    async def aclose(self) -> None:
        await self._api.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    def _authorization(self) -> dict[str, str]:
        return {} if self._key is None else {"Authorization": f"Bearer {self._key}"}

    def _attempt(
        self, exchange: Exchange, problem: BaseException | None, request: PreparedRequest, latency_s: float
    ) -> Attempt:
        body, redactions = self._scrub(exchange.body())
        headers, in_headers = self._kept(exchange.headers)
        redactions += in_headers
        answered = exchange.status is not None and (exchange.whole or exchange.status >= 400)
        if exchange.status is None or (problem is not None and not answered):
            verdict = None
        else:
            verdict = classify(
                exchange.status,
                exchange.headers,
                body,
                self._wall(),
                cut=not exchange.whole,
                request_bytes=request.size,
            )
        if verdict is None:
            return self._broken(exchange, problem, body, headers, latency_s, redactions)
        assert exchange.status is not None
        if verdict.completed:
            return _completed(exchange.status, headers, body, latency_s, verdict, redactions)
        return _failed(exchange.status, headers, body, latency_s, verdict, redactions)

    def _broken(
        self,
        exchange: Exchange,
        problem: BaseException | None,
        body: bytes,
        headers: dict[str, str],
        latency_s: float,
        redactions: int,
    ) -> Failed:
        """An exchange that ended without a whole reply."""
        kind, row = _broken_kind(exchange, problem)
        failure = FAILURES[row]
        told = _told(problem, self._timeout_s)
        if kind is FailureKind.CONNECT:
            told = f"no connection to {_address(self.base_url)}: {told}"
        text, hidden = self._scrub(shown(told).encode("utf-8", "replace"))
        return Failed(
            kind=kind,
            reason=failure.reason,
            message=text.decode("utf-8"),
            retry=failure.retry,
            latency_s=latency_s,
            status=exchange.status,
            headers=headers,
            body=body,
            in_doubt=exchange.sent,
            may_be_billed=exchange.sent,
            hint=failure.hint,
            redactions=redactions + hidden,
        )

    def _kept(self, headers: httpx.Headers) -> tuple[dict[str, str], int]:
        kept: dict[str, str] = {}
        count = 0
        for name, value in headers.items():
            if name.lower() not in DROPPED_HEADERS:
                text, hidden = self._scrub(value[:HEADER_LENGTH].encode("utf-8", "replace"))
                kept[name.lower()] = text.decode("utf-8", "replace")
                count += hidden
        return kept, count


def in_process(app: Any) -> httpx.AsyncBaseTransport:
    """A transport to an ASGI ``app`` in this process. An exception in the app becomes a 500, as over HTTP."""
    return httpx.ASGITransport(app, raise_app_exceptions=False)


class _Chunks:
    """Request content in pieces, without joining them. Re-iterable, as a client library may ask for it twice."""

    def __init__(self, chunks: tuple[bytes, ...]) -> None:
        self._chunks = chunks

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for chunk in self._chunks:
            yield chunk


def _broken_kind(exchange: Exchange, problem: BaseException | None) -> tuple[FailureKind, str]:
    cause = problem.__cause__ if isinstance(problem, openai.APIConnectionError) else problem
    if isinstance(cause, asyncio.CancelledError):
        return FailureKind.CANCELLED, "cancelled"
    if not exchange.sent:
        return FailureKind.CONNECT, "no_connection"
    if isinstance(cause, (TimeoutError, httpx.TimeoutException)):
        return FailureKind.TIMEOUT, "timed_out"
    return (FailureKind.RESET if exchange.status is None else FailureKind.CUT), "connection_lost"


def _address(base_url: str) -> str:
    """Scheme, host and port: what a person needs to look at, without what may be secret in a URL."""
    parts = urlsplit(base_url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"


def _told(problem: BaseException | None, timeout_s: float) -> str:
    cause = problem.__cause__ if isinstance(problem, openai.APIConnectionError) else problem
    if isinstance(cause, asyncio.CancelledError):
        return "the call was cancelled"
    if isinstance(cause, TimeoutError):
        return f"no whole reply within {timeout_s:g} s"
    if cause is None:
        return "the reply never came"
    return f"{type(cause).__name__}: {cause}" if str(cause) else f"the connection broke ({type(cause).__name__})"


def _completed(
    status: int, headers: dict[str, str], body: bytes, latency_s: float, verdict: Verdict, redactions: int
) -> Completed:
    envelope = verdict.envelope
    return Completed(
        status=status,
        headers=headers,
        body=body,
        latency_s=latency_s,
        usage=envelope.usage,
        cost=envelope.cost,
        served_model=_valid(envelope.model),
        finish_reasons=tuple(_valid(choice.finish_reason) for choice in envelope.choices),
        choices=len(envelope.choices),
        provider=_valid(envelope.provider),
        redactions=redactions,
    )


def _failed(
    status: int, headers: dict[str, str], body: bytes, latency_s: float, verdict: Verdict, redactions: int
) -> Failed:
    assert verdict.kind is not None
    assert verdict.reason is not None
    return Failed(
        kind=verdict.kind,
        reason=verdict.reason,
        message=verdict.message,
        retry=verdict.retry,
        latency_s=latency_s,
        status=status,
        headers=headers,
        body=body,
        in_doubt=verdict.in_doubt,
        may_be_billed=verdict.may_be_billed,
        retry_after_s=verdict.retry_after_s,
        stop_run=verdict.stop_run,
        hint=verdict.hint,
        provider=_valid(verdict.provider),
        usage=verdict.envelope.usage,
        cost=verdict.envelope.cost,
        redactions=redactions,
    )


def _valid(text: str | None) -> str | None:
    """Names from a reply, without the lone surrogates that no log can hold."""
    return None if text is None else text.encode("utf-8", "replace").decode("utf-8")[:500]
