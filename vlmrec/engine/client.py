"""The client of a rule engine: the same few calls, in process or over the network.

A client pins the first ``data_version`` that it sees, or the one it is given; a reply of another one
raises ``DataVersionChanged`` before anything is made of it. Transport errors, 5xx and 429 are tried
again a few times; what then remains is a ServiceError that says what was asked and what came back.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import NamedTuple, TypeVar

import httpx
import msgspec
from msgspec import Struct

from vlmrec.errors import InputError, ServiceError, StopRun
from vlmrec.ledger import Ledger, decode_ledger
from vlmrec.protocol import EvaluateRequest, Evaluation, Refusal, Refused, Version

PAUSES_S = (0.2, 0.8, 2.0)
T = TypeVar("T")


class DataVersionChanged(StopRun):
    """The engine answered with another ``data_version`` than the one that was pinned."""


class EngineRefused(InputError):
    """The engine refused a request; ``refusal`` says which item, when the engine did."""

    def __init__(self, message: str, refusal: Refusal | None) -> None:
        super().__init__(message)
        self.refusal = refusal


class Reply(NamedTuple):
    """An evaluation, and the exact bytes that it was read from."""

    raw: bytes
    evaluation: Evaluation


class _Versioned(Struct, frozen=True):
    data_version: str


class EngineClient:
    """Talks to one engine. ``http`` has the base URL; whoever made it closes it."""

    def __init__(
        self,
        http: httpx.AsyncClient,
        *,
        data_version: str | None = None,
        timeout_s: float = 30.0,
        pauses_s: tuple[float, ...] = PAUSES_S,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._http = http
        self._timeout_s = timeout_s
        self._pauses_s = pauses_s
        self._sleep = sleep
        self.data_version = data_version

    async def version(self) -> Version:
        """``GET /version``."""
        return _decoded(await self._request("GET", "/version"), Version, "/version")

    async def meta_bytes(self) -> bytes:
        """The body of ``GET /meta``."""
        return await self._request("GET", "/meta")

    async def questions_bytes(self) -> bytes:
        """The body of ``GET /questions``."""
        return await self._request("GET", "/questions")

    async def ledger(self) -> Ledger:
        """Meta and questions, decoded and checked."""
        return decode_ledger(await self.meta_bytes(), await self.questions_bytes())

    async def evaluate(self, request: EvaluateRequest) -> Reply:
        """``POST /evaluate``. Raises EngineRefused, naming the item, for a request that the engine won't take."""
        raw = await self._request("POST", "/evaluate", msgspec.json.encode(request))
        return Reply(raw, _decoded(raw, Evaluation, "/evaluate"))

    async def _request(self, method: str, path: str, body: bytes | None = None) -> bytes:
        response = await self._send(method, path, body)
        if response.is_success:
            self._pin(_decoded(response.content, _Versioned, path).data_version)
            return response.content
        refusal = _refusal(response.content)
        if 400 <= response.status_code < 500 and path == "/evaluate":
            said = response.text[:500] if refusal is None else refusal.message
            raise EngineRefused(f"the engine refused the answers ({response.status_code}): {said}", refusal)
        raise ServiceError(
            f"{method} {response.request.url} gave {response.status_code}: {response.text[:200]!r}; "
            "is this the address of a rule engine?"
        )

    async def _send(self, method: str, path: str, body: bytes | None) -> httpx.Response:
        headers = {} if body is None else {"content-type": "application/json"}
        for pause_s in (*self._pauses_s, None):
            try:
                response = await self._http.request(
                    method, path, content=body, headers=headers, timeout=self._timeout_s
                )
            except httpx.TransportError as error:
                if pause_s is None:
                    tried = len(self._pauses_s) + 1
                    raise ServiceError(
                        f"the engine at {self._http.base_url} did not answer {method} {path} "
                        f"in {tried} attempts: {type(error).__name__} {error}".rstrip()
                    ) from error
            else:
                if pause_s is None or (response.status_code < 500 and response.status_code != 429):
                    return response
            await self._sleep(pause_s)
        raise AssertionError("the last attempt returns or raises")

    def _pin(self, data_version: str) -> None:
        if self.data_version is None:
            self.data_version = data_version
        elif data_version != self.data_version:
            raise DataVersionChanged(
                f"the engine at {self._http.base_url} now has the data {data_version}, and not {self.data_version}: "
                "stored answers belong to the old one; start a new run, or rescore this one"
            )


def in_process_client(version: str, *, data_version: str | None = None) -> EngineClient:
    """A client of the embedded engine of that version, with no socket between."""
    from vlmrec.engine.server import create_app

    transport = httpx.ASGITransport(app=create_app(version))
    return EngineClient(httpx.AsyncClient(transport=transport, base_url="http://engine"), data_version=data_version)


def _decoded(raw: bytes, kind: type[T], path: str) -> T:
    try:
        return msgspec.json.decode(raw, type=kind)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise ServiceError(f"the engine's reply to {path} is not as the protocol says: {error}") from error


def _refusal(body: bytes) -> Refusal | None:
    try:
        return msgspec.json.decode(body, type=Refused).error
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return None
