"""Who may ask the viewer's server: only the page that it gave out itself.

Every request needs the token of this start (in the URL of the page and of videos, in a
header elsewhere); Host must be ours, and a request that names another Origin is refused, so that no page of
another site can read or write anything, whatever it knows of the port.
"""

import secrets
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from vlmrec.viewer.page import policy


class Guard:
    """Refuses whatever doesn't come from the page that this server gave out."""

    def __init__(self, app: ASGIApp, *, token: str, port: int) -> None:
        self._app = app
        self._token = token
        self._hosts = {f"127.0.0.1:{port}", f"localhost:{port}"}
        self._headers = [
            (b"content-security-policy", policy(served=True).encode()),
            (b"x-content-type-options", b"nosniff"),
            (b"x-frame-options", b"DENY"),
            (b"referrer-policy", b"no-referrer"),
            (b"cross-origin-resource-policy", b"same-origin"),
            (b"cross-origin-opener-policy", b"same-origin"),
            (b"cache-control", b"no-store"),
        ]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def with_headers(message: Any) -> None:
            if message["type"] == "http.response.start":
                message = {**message, "headers": [*message["headers"], *self._headers]}
            await send(message)

        refusal = self._refusal(Request(scope))
        if refusal is not None:
            await JSONResponse({"error": refusal}, status_code=403)(scope, receive, with_headers)
            return
        await self._app(scope, receive, with_headers)

    def _refusal(self, request: Request) -> str | None:
        host = request.headers.get("host", "")
        if host not in self._hosts:
            return "this server answers only to its own address"
        origin = request.headers.get("origin")
        if origin is not None and origin not in {f"http://{known}" for known in self._hosts}:
            return "a page of another origin can't use this server"
        if request.headers.get("sec-fetch-site") in ("cross-site", "same-site"):
            return "a page of another site can't use this server"
        given = request.headers.get("x-vlmrec-token")
        if given is None and request.method in ("GET", "HEAD"):
            given = request.query_params.get("token")
        if given is None or not secrets.compare_digest(given.encode(), self._token.encode()):
            return "the token is missing or of another start; open the address that `vlmrec view --serve` printed"
        if request.method == "POST" and request.headers.get("content-type", "").split(";")[0] != "application/json":
            return "labels are sent as JSON"
        return None
