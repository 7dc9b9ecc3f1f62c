"""A model's card: what its server really does, from the log of a probe.

Each check cites the events it rests on. *Ignored* means that the server took a field with 200 and
did nothing with it; *no* that it refused, or said so; *unknown* that its replies don't tell (no usage,
for instance); *not_tried* that the probe didn't ask.
"""

from collections.abc import Sequence
from statistics import median
from typing import ClassVar

from msgspec import Struct

from vlmrec.events import CallCompleted, CallFailed, CallRequested, Event, Payload, Stage
from vlmrec.projections.core import Combined, RunResults
from vlmrec.projections.probe_checks import CHECKS, Check, ProbeReading, Steps, Taken
from vlmrec.projections.registry import Inputs, register


class Card(Struct, frozen=True, kw_only=True):
    """What is known of a model's server."""

    model: str | None
    endpoint: str | None
    served_model: str | None
    checks: tuple[Check, ...]

    def verdict(self, name: str) -> str | None:
        """The verdict of a check by its name."""
        return next((check.verdict for check in self.checks if check.name == name), None)


class Latency(Struct, frozen=True, kw_only=True):
    """Seconds; null where no call of the kind came back."""

    text_s: float | None
    video_s: float | None
    slowest_s: float | None
    calls: int


class ProbeCard:
    """The projection behind ``vlmrec probe``."""

    name: ClassVar[str] = "probe"
    version: ClassVar[int] = 2
    several: ClassVar[bool] = False
    handles: ClassVar[tuple[type[Payload], ...]] = (CallRequested, CallCompleted, CallFailed)

    def inputs(self) -> dict[str, str]:
        return {}

    def initial(self) -> dict[tuple[str, int], Taken]:
        return {}

    def apply(self, state: dict[tuple[str, int], Taken], event: Event) -> None:
        data = event.data
        if not isinstance(data, (CallCompleted, CallFailed)) or data.stage is not Stage.PROBE:
            return
        key = (data.question_id, data.sample if isinstance(data.sample, int) else 0)
        held = state.get(key)
        if held is None or not isinstance(held.data, CallCompleted):
            state[key] = Taken(event.id, data)

    def result(self, state: dict[tuple[str, int], Taken]) -> dict[tuple[str, int], Taken]:
        return dict(state)

    def combine(self, runs: Sequence[RunResults[dict[tuple[str, int], Taken]]]) -> Combined[Card, Latency]:
        run = runs[0]
        steps = {key: taken for _, found in run.clips for key, taken in found.items()}
        manifest = run.facts.manifest
        extra = manifest.extra.get("probe", {}) if manifest is not None else {}
        reading = ProbeReading(steps, extra if isinstance(extra, dict) else {}, run.blob)
        served = [data.served_model for _, data in steps.values() if isinstance(data, CallCompleted)]
        card = Card(
            model=manifest.model if manifest is not None else None,
            endpoint=manifest.endpoint if manifest is not None else None,
            served_model=next((name for name in served if name is not None), None),
            checks=tuple(check(reading) for check in CHECKS),
        )
        return Combined(card, _latency(steps))


def _latency(steps: Steps) -> Latency:
    done = {key: taken.data.latency_s for key, taken in steps.items() if isinstance(taken.data, CallCompleted)}
    text = [seconds for (name, _), seconds in done.items() if name == "text"]
    video = [seconds for (name, _), seconds in done.items() if name in ("video", "fps_1", "fps_4", "prefix")]
    return Latency(
        text_s=median(text) if text else None,
        video_s=median(video) if video else None,
        slowest_s=max(done.values()) if done else None,
        calls=len(steps),
    )


@register("probe")
def _make(_: Inputs) -> ProbeCard:
    return ProbeCard()
