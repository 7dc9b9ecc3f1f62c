"""Which model a run talks to, and how: from a resolved model to the orchestrator's port and the wire's settings."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import NamedTuple

import httpx
from msgspec.structs import replace

from vlmrec.config import Config, ResolvedModel
from vlmrec.errors import InputError
from vlmrec.models.client import in_process
from vlmrec.models.endpoint import Endpoint
from vlmrec.stages.ports import Model
from vlmrec.stages.request import Wire


class OpenModel(NamedTuple):
    """A connected model, and what is known of it."""

    port: Model
    resolved: ResolvedModel
    wire: Wire


def wire_settings(resolved: ResolvedModel) -> Wire:
    """What of a model's and provider's settings can change a request."""
    provider, settings = resolved.provider, resolved.settings
    return Wire(
        model=resolved.wire_name,
        family=settings.family,
        thinking=settings.thinking,
        structured=provider.structured,
        accepts=provider.accepts,
        max_tokens_field=provider.max_tokens_field,
        top_k_off=provider.top_k_off,
        stream=provider.stream,
        extra={**provider.extra, **settings.extra},
    )


@asynccontextmanager
async def open_model(model: str, config: Config, *, base_urls: tuple[str, ...] = ()) -> AsyncIterator[OpenModel]:
    """Connect to ``model`` (``provider/name``). Raises InputError naming what is missing to call it."""
    resolved = config.resolve(model, base_urls=base_urls)
    if resolved.missing:
        raise InputError(f"{model} can't be called yet: {'; '.join(resolved.missing)} (see `vlmrec models`)")
    transport = observer_transport() if resolved.provider.in_process else None
    endpoint = Endpoint(resolved.provider, key=resolved.key, secrets=config.secrets, transport=transport)
    async with endpoint:
        wire = wire_settings(resolved)
        if resolved.provider_name == "observer":
            wire = replace(wire, model=model)  # the observer is asked by its whole name, wherever it is served
        yield OpenModel(endpoint, resolved, wire)


def observer_transport() -> httpx.AsyncBaseTransport:
    """The embedded observer in this process: the same app as over HTTP."""
    from vlmrec.observer.app import create_app  # brings OpenCV, which no other model needs

    return in_process(create_app())
