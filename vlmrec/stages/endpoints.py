"""Which model a run talks to, and how: from a resolved model to the orchestrator's port and the wire's settings."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import NamedTuple

import httpx
import msgspec
from msgspec.structs import replace

from vlmrec.config import Config, ModelSettings, ResolvedModel
from vlmrec.errors import InputError
from vlmrec.log.store import resolve_run
from vlmrec.models.client import in_process
from vlmrec.models.endpoint import Endpoint
from vlmrec.models.presets import FREE, Provider
from vlmrec.models.replay import open_replay
from vlmrec.stages.ports import Model
from vlmrec.stages.request import Wire

REPLAY = "replay:"


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
        root_any_of=provider.root_any_of,
        accepts=provider.accepts,
        max_tokens_field=provider.max_tokens_field,
        top_k_off=provider.top_k_off,
        stream=provider.stream,
        extra={**provider.extra, **settings.extra},
    )


@asynccontextmanager
async def open_model(
    model: str, config: Config, *, store: Path, base_urls: tuple[str, ...] = ()
) -> AsyncIterator[OpenModel]:
    """Connect to ``model``: ``provider/name``, or ``replay:RUN`` for the replies of a run in ``store``.

    Raises InputError naming what is missing to call it.
    """
    if model.startswith(REPLAY):
        with open_replay(resolve_run(model.removeprefix(REPLAY), store)) as port:
            yield OpenModel(port, _replayed(model), msgspec.convert(port.manifest.parameters["wire"], Wire))
        return
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


def _replayed(model: str) -> ResolvedModel:
    provider = Provider(base_urls=(), key_required=False, in_flight=64)
    return ResolvedModel(model, "replay", provider, model, ModelSettings(), FREE, None, ())


def observer_transport() -> httpx.AsyncBaseTransport:
    """The embedded observer in this process: the same app as over HTTP."""
    from vlmrec.observer.app import create_app  # brings OpenCV, which no other model needs

    return in_process(create_app())
