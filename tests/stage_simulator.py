"""Drives the decision core in memory: a scripted model, the embedded engine, and arrival orders drawn by a test.

The same loop as the orchestrator without its effects: observations are applied one by one in an
order that ``chance`` picks among those under way, and every decision that is due follows at once.
"""

import json
from collections.abc import Callable
from random import Random

from vlmrec.canonical import json_blob, make_blob
from vlmrec.engine.core import evaluate
from vlmrec.engine.reference import load_reference
from vlmrec.events import (
    CallCompleted,
    CallFailed,
    CallRequested,
    ClipOpened,
    Event,
    Manifest,
    MediaFailed,
    MediaPrepared,
    Payload,
    make_event,
)
from vlmrec.schemas import load as load_schema
from vlmrec.stages.condition import Condition, axis_values, canonical_id
from vlmrec.stages.context import CORE_VERSION, RunContext
from vlmrec.stages.effects import Effect, OpenClip, PrepareMedia, SendCall, Submit
from vlmrec.stages.replay import Bodies, settle_decisions
from vlmrec.stages.state import ClipState, apply, fold
from vlmrec.stages.submission import EngineReply, submitted_payload
from vlmrec.terms import Blob

Script = Callable[[SendCall], "str | CallFailed"]
TIME = "2026-01-01T00:00:00Z"


def opened(**changes: object) -> ClipOpened:
    facts: dict[str, object] = {
        "path": "c.mp4",
        "sha256": "0" * 64,
        "bytes": 1,
        "duration_s": 10.0,
        "frames": 150,
        "first_s": 0.0,
        "last_s": 9.9,
        "average_rate": 15.0,
        "variable_rate": False,
        "width": 320,
        "height": 180,
        "rotation": 0,
        "codec": "h264",
    }
    return ClipOpened(**{**facts, **changes})  # type: ignore[arg-type]


def failed_call(call: SendCall, *, final: bool, transient: bool = True) -> CallFailed:
    """An attempt that the provider answered with 500."""
    return CallFailed(
        stage=call.turn.stage,
        question_id=call.turn.question_id,
        party=call.turn.party,
        sample=call.sample,
        attempt=call.attempt,
        kind="status",
        reason="provider_error",
        message="500",
        final=final,
        transient=transient,
    )


def make_context(condition: Condition | None = None, *, version: str = "0.1.3", **extra: object) -> RunContext:
    condition = condition or Condition()
    ledger = load_reference(version).ledger
    manifest = Manifest(
        run_id="simulated",
        vlmrec_version="0",
        core_version=CORE_VERSION,
        condition=canonical_id(condition),
        axes=axis_values(condition),
        model=condition.model,
        endpoint="in-process",
        parameters={},
        prompts={},
        engine=f"embedded:{version}",
        engine_version=version,
        data_version=ledger.data_version,
        samples=condition.samples,
        vote_threshold="1/2",
        clips=(),
        extra=dict(extra),
    )
    rules = load_schema("validation_rules.yaml") if condition.stages == "2" else None
    return RunContext(manifest, ledger, rules)


def answer(status: str, value: str | None = None, **more: object) -> str:
    return json.dumps({"reason": "seen", "status": status, "value": value, **more})


def reply_body(text: str, *, finish_reason: str = "stop", texts: list[str] | None = None) -> bytes:
    choices = [
        {"index": index, "message": {"role": "assistant", "content": each}, "finish_reason": finish_reason}
        for index, each in enumerate(texts or [text])
    ]
    usage = {"prompt_tokens": 1, "completion_tokens": 1}
    return json.dumps({"choices": choices, "usage": usage}).encode()


class Simulation:
    """One clip under way. ``events`` is its log so far; ``bodies`` holds every blob."""

    def __init__(
        self,
        context: RunContext,
        script: Script,
        chance: Random,
        *,
        clip: str = "clip",
        events: list[Event] | None = None,
    ) -> None:
        self.context = context
        self.script = script
        self.chance = chance
        self.clip = clip
        self.events: list[Event] = list(events or [])
        self.stored: dict[str, bytes] = {}
        self.bodies = Bodies(self.stored.__getitem__)
        self.state: ClipState = fold(clip, self.events)
        self.version = context.manifest.engine_version
        self.under_way: list[tuple[Effect, Event | None]] = []

    def run(self, *, stop_after: int | None = None) -> "Simulation":
        """Go on to the end, or until the log has ``stop_after`` events (a crash: whatever is under way is lost)."""
        self._settle()
        while self.under_way and (stop_after is None or len(self.events) < stop_after):
            self.under_way.sort(key=lambda each: repr(each[0]))
            effect, requested = self.under_way.pop(self.chance.randrange(len(self.under_way)))
            if isinstance(effect, SendCall) and requested is None:
                if self.state.failure is None:
                    self._request(effect)
            else:
                self._observe(*self._result(effect, requested))
        return self

    def _request(self, effect: SendCall) -> None:
        request = self._keep(json_blob({"question": effect.turn.question_id, "sample": effect.sample}))
        data = CallRequested(
            stage=effect.turn.stage,
            question_id=effect.turn.question_id,
            party=effect.turn.party,
            sample=effect.sample,
            attempt=effect.attempt,
            fingerprint="v1:simulated",
            request=request.ref,
            model="m",
            endpoint="in-process",
        )
        event = make_event(data, clip=self.clip, time=TIME)
        self._apply(event)
        self.under_way.append((effect, event))
        self._settle()

    def _result(self, effect: Effect, requested: Event | None) -> tuple[Payload, list[Blob]]:
        if isinstance(effect, OpenClip):
            return opened(), []
        if isinstance(effect, PrepareMedia):
            parts = json_blob([])
            return MediaPrepared(window=effect.window, delivery="data_url", items=(), plan={}, parts=parts.ref), [parts]
        if isinstance(effect, Submit):
            reply = evaluate(load_reference(self.version), effect.request)
            data, blobs = submitted_payload(
                effect.round, effect.attempt, effect.request, EngineReply(None, reply, None)
            )
            return data, list(blobs)
        said = self.script(effect)
        if isinstance(said, CallFailed):
            return said, []
        body = make_blob(said.encode() if said.startswith('{"choices"') else reply_body(said), "application/json")
        completed = CallCompleted(
            stage=effect.turn.stage,
            question_id=effect.turn.question_id,
            party=effect.turn.party,
            sample=effect.sample,
            attempt=effect.attempt,
            status=200,
            body=body.ref,
            latency_s=0.1,
        )
        return completed, [body]

    def _observe(self, data: Payload, blobs: list[Blob]) -> None:
        for blob in blobs:
            self._keep(blob)
        self._apply(make_event(data, clip=self.clip, time=TIME))
        self._settle()

    def _settle(self) -> None:
        settling = settle_decisions(self.context, self.state, self.bodies, TIME)
        while True:
            try:
                batch, blobs = next(settling)
            except StopIteration as settled:
                effects = settled.value
                break
            for blob in blobs:
                self._keep(blob)
            self.events.extend(batch)
        known = [effect for effect, _ in self.under_way]
        self.under_way.extend((effect, None) for effect in effects if effect not in known)

    def _apply(self, event: Event) -> None:
        apply(self.state, event)
        self.events.append(event)

    def _keep(self, blob: Blob) -> Blob:
        self.stored[blob.ref.sha256] = blob.body
        return blob

    # ---- what tests look at -----------------------------------------------------------------

    def of(self, kind: type[Payload]) -> list[Payload]:
        return [event.data for event in self.events if isinstance(event.data, kind)]

    def decisions(self) -> dict[str, Payload]:
        return {event.id: event.data for event in self.events if event.data.family == "decision"}


def media_failure(reason: str = "no frames", *, transient: bool = False) -> MediaFailed:
    return MediaFailed(ordinal=1, path="c.mp4", reason=reason, transient=transient)
