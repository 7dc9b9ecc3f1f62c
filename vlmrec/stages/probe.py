"""``vlmrec probe``: a run of kind ``probe`` that finds out what a model's server really does.

Calls go one after the other, each recorded before it leaves and after it came back, like those of any
run. The card is a projection of the log (``vlmrec.projections.probe``). A failure that concerns every
call ends the probe; what was not tried is then said to be so.
"""

import json
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import httpx
import msgspec

from vlmrec import __version__
from vlmrec.canonical import json_blob
from vlmrec.errors import InputError
from vlmrec.events import Manifest, MediaItem, MediaPrepared, RunStarted, RunStopped, Stage
from vlmrec.log.format import LogKind
from vlmrec.log.writer import LogWriter
from vlmrec.models.budget import BudgetMeter, Ledger, Limits
from vlmrec.models.endpoint import Endpoint
from vlmrec.models.retry import RetryPolicy
from vlmrec.models.structured import accepted_fields
from vlmrec.models.wire import Completed, Failed
from vlmrec.stages.attempt import Call
from vlmrec.stages.condition import Condition, axis_values, canonical_id
from vlmrec.stages.context import CORE_VERSION
from vlmrec.stages.endpoints import OpenModel
from vlmrec.stages.ports import Clock, Meter
from vlmrec.stages.probe_media import ProbeMedia, make_clip, make_still, padded
from vlmrec.stages.probe_plan import Step, plan_steps
from vlmrec.stages.serial import PATIENT, SerialCalls, Taken, call_spec
from vlmrec.terms import Party

CLIP = "probe"
SYSTEM = "You are a helpful assistant."
MAX_TOKENS = 64


async def run_probe(
    path: Path,
    model: OpenModel,
    *,
    meter: Meter,
    clock: Clock,
    log_uuid: str,
    scrub: Callable[[bytes], tuple[bytes, int]],
    video_url: str | None = None,
    largest_mb: int = 20,
    policy: RetryPolicy = PATIENT,
    progress: Callable[[str], None] = lambda step: None,
) -> None:
    """Probe ``model`` into a new log at ``path``. Raises InputError when there is one already."""
    if path.exists():
        raise InputError(f"{path} is there already: choose another --run-id for this probe")
    steps = plan_steps(model.resolved.provider, video_url=video_url, largest_mb=largest_mb)
    listing = await _listing(model)
    with LogWriter.create(path, kind=LogKind.PROBE, log_uuid=log_uuid, created=clock.now()) as writer:
        probe = _Probe(SerialCalls(writer, model, meter=meter, clock=clock, policy=policy), model, scrub)
        await probe.begin(path.stem, steps, listing)
        given_up: set[str] = set()
        stopped: str | None = None
        for step in steps:
            if step.group in given_up:
                continue
            progress(step.name)
            attempt, stopped = await probe.take(step)
            if stopped is not None:
                break
            if not isinstance(attempt, Completed) and step.group is not None:
                given_up.add(step.group)
        await probe.end(stopped)
        writer.seal()


def probe_meter(model: OpenModel) -> BudgetMeter:
    """Prices the calls of a probe; there is no limit, as there are few of them."""
    return BudgetMeter(
        Ledger(Limits()), clock=time.monotonic, price=model.resolved.price, context=model.resolved.settings.context
    )


class _Probe:
    def __init__(self, calls: SerialCalls, model: OpenModel, scrub: Callable[[bytes], tuple[bytes, int]]) -> None:
        self._calls = calls
        self._model = model
        self._scrub = scrub
        self._clip: ProbeMedia | None = None
        self._recorded: set[str] = set()

    async def begin(self, run_id: str, steps: tuple[Step, ...], listing: Mapping[str, Any]) -> None:
        condition = Condition(model=self._model.resolved.id)
        manifest = Manifest(
            run_id=run_id,
            vlmrec_version=__version__,
            core_version=CORE_VERSION,
            condition=canonical_id(condition),
            axes=axis_values(condition),
            model=self._model.resolved.id,
            endpoint=self._model.port.endpoint,
            parameters={"wire": msgspec.to_builtins(self._model.wire)},
            prompts={},
            engine="none",
            engine_version="",
            data_version="",
            samples=1,
            vote_threshold="1/2",
            clips=(),
            extra={"probe": {"steps": _by_name(steps), "listing": dict(listing)}},
        )
        templates = json_blob({f"probe/{step.name}": step.text for step in steps})
        started = RunStarted(manifest=manifest, rules=None, templates=templates.ref)
        await self._calls.append(started, None, (templates,))

    async def end(self, stopped: str | None) -> None:
        data = RunStopped(ordinal=1, reason="done" if stopped is None else "error", detail=stopped)
        await self._calls.append(data, None)

    async def take(self, step: Step) -> Taken:
        """Take one step, with retries."""
        media = [self._media(name) for name in step.media]
        for body in media:
            await self._record_media(body)
        taken = await self._calls.take(self._call(step, media))
        # A field that this step asks for may be refused without concerning the others.
        refused = bool(step.asks) and isinstance(taken.attempt, Failed) and taken.attempt.reason == "bad_request"
        return taken._replace(stop=None) if refused else taken

    def _call(self, step: Step, media: list[ProbeMedia]) -> Call:
        fields = {"model": self._model.wire.model, "max_tokens": MAX_TOKENS, "temperature": 0, "seed": 7, **step.fields}
        fields, _ = accepted_fields(fields, self._model.wire.provider)
        fields |= step.fields
        parts = [body.part() for body in media] if step.url is None else [_link(step.url)]
        shown = [body.loggable() for body in media] if step.url is None else [_link(step.url)]
        return Call(
            clip=CLIP,
            stage=Stage.PROBE,
            question_id=step.name,
            party=Party.NONE,
            sample=step.sample,
            attempt=1,
            spec=call_spec(SYSTEM, step.text, fields, scrub=self._scrub, parts=parts, loggable=shown),
            max_tokens=MAX_TOKENS,
            media=tuple(body.sha256 for body in media),
        )

    def _media(self, name: str) -> ProbeMedia:
        kind, _, number = name.partition("-")
        if kind == "still":
            return make_still(int(number))
        if self._clip is None:
            self._clip = make_clip()
        return padded(self._clip, int(number)) if number else self._clip

    async def _record_media(self, body: ProbeMedia) -> None:
        if body.name in self._recorded:
            return
        self._recorded.add(body.name)
        item = MediaItem(sha256=body.sha256, media_type=body.media_type, bytes=len(body.body))
        parts = json_blob([body.loggable()])
        prepared = MediaPrepared(window=body.name, delivery="data_url", items=(item,), plan=body.plan, parts=parts.ref)
        await self._calls.append(prepared, CLIP, (parts,))


def _by_name(steps: tuple[Step, ...]) -> dict[str, Any]:
    """What the card must know of each step."""
    kept = ("asks", "group", "predicted_media_tokens", "size", "media")
    return {
        step.name: {name: getattr(step, name) if name != "media" else len(step.media) for name in kept}
        for step in steps
    }


def _link(url: str) -> dict[str, Any]:
    return {"type": "video_url", "video_url": {"url": url}}


async def _listing(model: OpenModel) -> dict[str, Any]:
    """What ``GET /models`` says of the model: listed or not, and its context length."""
    if not isinstance(model.port, Endpoint):
        return {}
    try:
        status, body = await model.port.client_of(CLIP).get_json("/models")
        listed = json.loads(body).get("data", [])
        mine = next((item for item in listed if item.get("id") == model.wire.model), None)
    except (httpx.HTTPError, ValueError, AttributeError):
        return {}
    context = (mine or {}).get("max_model_len") or (mine or {}).get("context_length")
    return {
        "status": status,
        "listed": mine is not None,
        "context": context if isinstance(context, int) else None,
    }
