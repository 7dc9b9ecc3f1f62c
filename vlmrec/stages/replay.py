"""Replay: the core over a log's inputs alone must reproduce every decision. Pure, given events and blobs.

Inputs are observations, records and the blobs they name. Decisions are compared in the same order
within their clip, byte for byte in all but ``seq``, ``time`` and ``hash``. Decisions that a crash
left unwritten after a clip's last input are no difference.
"""

from collections.abc import Generator, Iterable, Iterator
from typing import NamedTuple

from vlmrec.canonical import canonical_json
from vlmrec.errors import InputError
from vlmrec.events import EngineDescribed, Event, Family, RunStarted, make_event
from vlmrec.ledger import Ledger, decode_ledger
from vlmrec.stages.context import CORE_VERSION, RunContext
from vlmrec.stages.decide import decide
from vlmrec.stages.effects import Blobs, Effect, Record
from vlmrec.stages.state import ClipState, apply
from vlmrec.terms import Blob


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
    """The context of a log from its run-level events. Raises InputError when the log holds no run."""
    started: RunStarted | None = None
    ledger: Ledger | None = None
    for event in events:
        if isinstance(event.data, RunStarted):
            started = event.data
        elif isinstance(event.data, EngineDescribed) and ledger is None:
            ledger = decode_ledger(blobs(event.data.meta.sha256), blobs(event.data.questions.sha256))
    if started is None or ledger is None:
        raise InputError("the log holds no run.started or no engine.described: it is not the log of a run")
    return RunContext(started.manifest, ledger, blobs(started.rules.sha256) if started.rules is not None else None)


class Bodies:
    """Stored bodies by hash, and those made on the way. Callable, as the core asks for them."""

    def __init__(self, stored: Blobs) -> None:
        self._stored = stored
        self._made: dict[str, bytes] = {}

    def __call__(self, sha256: str) -> bytes:
        body = self._made.get(sha256)
        return self._stored(sha256) if body is None else body

    def keep(self, blobs: Iterable[Blob]) -> None:
        self._made.update((blob.ref.sha256, blob.body) for blob in blobs)


def replay_decisions(context: RunContext, clip: str, inputs: Iterable[Event], blobs: Blobs) -> Iterator[Event]:
    """The decisions that the core makes over a clip's inputs, in order. Their time is empty."""
    state = ClipState(clip)
    bodies = Bodies(blobs)
    for batch, _ in settle_decisions(context, state, bodies):
        yield from batch
    for each in inputs:
        apply(state, each)
        for batch, _ in settle_decisions(context, state, bodies):
            yield from batch


def settle_decisions(
    context: RunContext, state: ClipState, bodies: Bodies, time: str = ""
) -> Generator[tuple[list[Event], list[Blob]], None, tuple[Effect, ...]]:
    """Every decision that is due, applied to ``state`` as it is made, with the bodies it brings.

    A batch is what the core decides at once; it must be appended whole, or not at all. Returns the
    effects that are wanted then.
    """
    while True:
        records: list[Record] = []
        effects: list[Effect] = []
        for command in decide(context, state, bodies):
            if isinstance(command, Record):
                records.append(command)
            else:
                effects.append(command)
        if not records:
            return tuple(effects)
        made = [blob for record in records for blob in record.blobs]
        bodies.keep(made)
        batch = [make_event(record.data, clip=state.clip, time=time, causation=record.causation) for record in records]
        for event in batch:
            apply(state, event)
        yield batch, made


def replay_clip(context: RunContext, clip: str, events: Iterable[Event], blobs: Blobs) -> ClipReplay:
    """Compare a clip's stored decisions with those that its inputs give."""
    inputs: list[Event] = []
    stored: list[Event] = []
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
