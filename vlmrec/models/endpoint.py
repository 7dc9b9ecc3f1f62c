"""A model at one or more base URLs, as a run talks to it. A clip stays with one server.

A server keeps the video tokens of a clip in its prefix cache, so all calls of a clip go to the base
URL that the clip's id picks (by rendezvous hashing: taking a server away moves only its own clips).
"""

import hashlib
import urllib.request
from collections.abc import Sequence
from typing import Self
from urllib.parse import urlsplit

import httpx

from vlmrec.models.client import ChatClient
from vlmrec.models.presets import Provider
from vlmrec.models.secrets import Secrets
from vlmrec.models.urls import public_url
from vlmrec.models.wire import Attempt, PreparedRequest


class Endpoint:
    """Clients of all base URLs of a provider. ``transport`` (an app in process) serves in place of all of them."""

    def __init__(
        self,
        provider: Provider,
        *,
        key: str | None,
        secrets: Secrets,
        transport: httpx.AsyncBaseTransport | None = None,
        timeout_s: float | None = None,
    ) -> None:
        self._urls = tuple(dict.fromkeys(url.rstrip("/") for url in provider.base_urls))
        self._clients = [
            ChatClient(
                url,
                key=key,
                transport=transport,
                timeout_s=timeout_s or provider.timeout_s,
                connections=max(128, provider.in_flight),
                headers=provider.headers,
                scrub=secrets.scrub,
                proxy=None if transport is not None else proxy_for(url),
            )
            for url in self._urls
        ]
        self._in_process = transport is not None

    @property
    def endpoint(self) -> str:
        """What a manifest names: the base URLs without anything secret."""
        return "in-process" if self._in_process else " ".join(map(public_url, self._urls))

    async def send(self, request: PreparedRequest, *, clip: str) -> Attempt:
        """One attempt, at the clip's own server."""
        return await self.client_of(clip).send(request)

    def client_of(self, clip: str) -> ChatClient:
        """The client that all calls of ``clip`` go through."""
        return self._clients[pick_server(clip, self._urls)]

    async def aclose(self) -> None:
        for client in self._clients:
            await client.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()


def pick_server(clip: str, urls: Sequence[str]) -> int:
    """Which of ``urls`` serves ``clip``: the one whose hash together with the clip's id is largest."""
    return max(range(len(urls)), key=lambda index: hashlib.sha256(f"{urls[index]}\0{clip}".encode()).digest())


def proxy_for(url: str) -> str | None:
    """The proxy that the environment names for ``url``; None for this machine and for exempted hosts."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    if host in ("localhost", "127.0.0.1", "::1") or urllib.request.proxy_bypass(host):
        return None
    proxies = urllib.request.getproxies()
    return proxies.get(parts.scheme) or proxies.get("all")
