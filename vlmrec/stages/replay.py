"""Replay: the core over a log's inputs alone must reproduce every decision. Pure, given events and blobs.

Inputs are observations, records and the blobs they name. Decisions are compared in the same order
within their clip, byte for byte in all but ``seq``, ``time`` and ``hash``. Decisions that a crash
left unwritten after a clip's last input are no difference.
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from vlmrec.canonical import canonical_json
from vlmrec.events import EngineDescribed, Event, Family, RunStarted, make_event
from vlmrec.ledger import Ledger, decode_ledger
from vlmrec.stages.context import CORE_VERSION, RunContext
from vlmrec.stages.decide import Blobs, Record, decide
from vlmrec.stages.state import ClipState, apply


class Difference(NamedTuple):
    """The first decision of a clip that replay does not reproduce. Ids are None where there is no such decision."""

    clip: str
    place: int
    stored: str | None
    replayed: str | None
    detail: str


class ClipReplay(NamedTuple):
    """What replay found of one clip."""

    clip: str
    decisions: int
    unwritten: int
    difference: Difference | None


class ReplayReport(NamedTuple):
    """What replay found of a whole log."""

    core_of_log: int
    core: int
    clips: tuple[ClipReplay, ...]

    @property
    def decisions(self) -> int:
        return sum(clip.decisions for clip in self.clips)

    @property
    def unwritten(self) -> int:
        return sum(clip.unwritten for clip in self.clips)

    @property
    def differences(self) -> tuple[Difference, ...]:
        return tuple(clip.difference for clip in self.clips if clip.difference is not None)


def run_context(events: Iterable[Event], blobs: Blobs) -> RunContext:
    """The context of a log from its run-level events. Raises KeyError when the log holds no run."""
    manifest = None
    ledger: Ledger | None = None
    for event in events:
        if isinstance(event.data, RunStarted):
            manifest = event.data.manifest
        elif isinstance(event.data, EngineDescribed) and ledger is None:
            ledger = decode_ledger(blobs(event.data.meta.sha256), blobs(event.data.questions.sha256))
    if manifest is None or ledger is None:
        raise KeyError("the log holds no run.started or no engine.described")
    return RunContext(manifest, ledger, blobs(manifest.rules) if manifest.rules is not None else None)


def replay_decisions(context: RunContext, clip: str, inputs: Iterable[Event], blobs: Blobs) -> Iterator[Event]:
    """The decisions that the core makes over a clip's inputs, in order. Their time is empty."""
    state = ClipState(clip)
    own: dict[str, bytes] = {}

    def find(sha256: str) -> bytes:
        return own[sha256] if sha256 in own else blobs(sha256)

    if context.source == "stored" and not context.given.get(clip) and clip not in context.tables_given:
        yield from settle_decisions(context, state, find, own)
    for event in inputs:
        apply(state, event)
        yield from settle_decisions(context, state, find, own)


def settle_decisions(
    context: RunContext, state: ClipState, blobs: Blobs, keep: dict[str, bytes], time: str = ""
) -> Iterator[Event]:
    """Every decision that is due, applied to ``state`` as it is made; bodies made on the way go into ``keep``."""
    while True:
        records = [command for command in decide(context, state, blobs) if isinstance(command, Record)]
        if not records:
            return
        for record in records:
            keep.update((blob.ref.sha256, blob.body) for blob in record.blobs)
            event = make_event(record.data, clip=state.clip, time=time, causation=record.causation)
            apply(state, event)
            yield event


def replay_clip(context: RunContext, clip: str, events: Iterable[Event], blobs: Blobs) -> ClipReplay:
    """Compare a clip's stored decisions with those that its inputs give."""
    inputs, stored = [], []
    for event in events:
        (stored if event.data.family is Family.DECISION else inputs).append(event)
    replayed = list(replay_decisions(context, clip, inputs, blobs))
    for place, (was, now) in enumerate(zip(stored, replayed, strict=False)):
        if (detail := _differs(was, now)) is not None:
            return ClipReplay(clip, len(stored), 0, Difference(clip, place, was.id, now.id, detail))
    if len(stored) > len(replayed):
        extra = stored[len(replayed)]
        detail = "the log holds a decision that its inputs do not give"
        return ClipReplay(clip, len(stored), 0, Difference(clip, len(replayed), extra.id, None, detail))
    return ClipReplay(clip, len(stored), len(replayed) - len(stored), None)


def _differs(was: Event, now: Event) -> str | None:
    if was.id != now.id:
        return f"stored {was.id}, replayed {now.id}"
    if was.causation != now.causation:
        return f"{was.id}: causation stored {was.causation}, replayed {now.causation}"
    if was.data != now.data or canonical_json(was.data) != canonical_json(now.data):
        for name in was.data.__struct_fields__:
            one, other = getattr(was.data, name), getattr(now.data, name)
            if one != other:
                return f"{was.id}: {name} stored {one!r}, replayed {other!r}"
        return f"{was.id}: the stored bytes differ"
    return None


def replay_log(run_events: Iterable[Event], clips: Iterable[tuple[str, Iterable[Event]]], blobs: Blobs) -> ReplayReport:
    """Replay a whole log: ``run_events`` are those without a clip, ``clips`` each clip's own in log order."""
    context = run_context(run_events, blobs)
    found = tuple(replay_clip(context, clip, events, blobs) for clip, events in clips)
    return ReplayReport(context.manifest.core_version, CORE_VERSION, found)
