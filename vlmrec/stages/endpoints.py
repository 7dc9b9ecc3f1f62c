"""Which model a run talks to: the embedded observer in process, or an OpenAI-compatible server."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import NamedTuple

from vlmrec.errors import InputError
from vlmrec.models.client import ChatClient, in_process
from vlmrec.models.wire import Attempt, PreparedRequest
from vlmrec.observer.app import create_app

OBSERVER = "observer"
IN_PROCESS = "in-process"


class OpenModel(NamedTuple):
    """A connected model: the port, and the name that it is asked by."""

    port: "ModelPort"
    wire_name: str


class ModelPort:
    """The orchestrator's model over one client."""

    def __init__(self, client: ChatClient, endpoint: str) -> None:
        self._client = client
        self._endpoint = endpoint

    @property
    def endpoint(self) -> str:
        return self._endpoint

    async def send(self, request: PreparedRequest, *, clip: str) -> Attempt:
        return await self._client.send(request)


@asynccontextmanager
async def open_model(model: str, *, base_url: str | None, key: str | None = None) -> AsyncIterator[OpenModel]:
    """Connect to ``model`` (``provider/name``). Raises InputError where no address is known."""
    provider, _, name = model.partition("/")
    if base_url is None and provider != OBSERVER:
        raise InputError(f"no address is known for {model}: name one with --base-url")
    transport = in_process(create_app()) if base_url is None else None
    async with ChatClient(base_url or "http://observer/v1", key=key, transport=transport) as client:
        yield OpenModel(ModelPort(client, base_url or IN_PROCESS), model if provider == OBSERVER else name)
