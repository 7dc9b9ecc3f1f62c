"""What fewer samples would have given: the decision core over a run's own observations, the first N samples alone.

Nothing is asked again and nothing is saved: the events are those of a run that had asked for N. Where its
path needs a turn that the larger run never put, the turn is skipped and the clip is incomplete. Pure, given
events, blobs and the engine.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from msgspec.structs import replace

from vlmrec.errors import InputError
from vlmrec.events import (
    AnswerGiven,
    CallCompleted,
    CallFailed,
    CallRequested,
    ClipOpened,
    Event,
    Key,
    Manifest,
    MediaFailed,
    MediaPrepared,
    Sample,
    Stage,
    TableGiven,
    make_event,
)
from vlmrec.stages.condition import axis_values, canonical_id, condition_from_axes
from vlmrec.stages.context import RunContext
from vlmrec.stages.derive import Evaluate, submit
from vlmrec.stages.effects import Blobs, Effect, OpenClip, PrepareMedia, SendCall
from vlmrec.stages.replay import Bodies, settle_decisions
from vlmrec.stages.state import ClipState, apply
from vlmrec.terms import Blob


class StoredInputs(NamedTuple):
    """A clip's observations by what they answer."""

    given: tuple[Event, ...]
    opened: Event | None
    media: dict[str, Event]
    calls: dict[Key, tuple[Event, ...]]


def stored_inputs(events: Iterable[Event]) -> StoredInputs:
    """What a clip's log has to answer the core with. Of a call that was completed, its last attempt alone."""
    given: list[Event] = []
    opened: Event | None = None
    media: dict[str, Event] = {}
    calls: dict[Key, list[Event]] = {}
    for event in events:
        data = event.data
        if isinstance(data, (AnswerGiven, TableGiven)):
            given.append(event)
        elif isinstance(data, ClipOpened):
            opened = event
        elif isinstance(data, MediaPrepared):
            media[data.window] = event
        elif isinstance(data, MediaFailed):
            if data.window is not None:
                media.setdefault(data.window, event)
            elif opened is None:
                opened = event
        elif isinstance(data, (CallRequested, CallCompleted, CallFailed)) and data.stage is not Stage.MONITOR:
            calls.setdefault(data.call_key(), []).append(event)
    return StoredInputs(tuple(given), opened, media, {key: _decisive(found) for key, found in calls.items()})


def fewer_manifest(manifest: Manifest, samples: int, clips: Mapping[str, StoredInputs]) -> Manifest:
    """The manifest of a run with ``samples``. Raises InputError where the stored replies can't stand for it."""
    if not 1 <= samples <= manifest.samples:
        raise InputError(f"the run has {manifest.samples} samples a turn, so 1 to {manifest.samples}, not {samples}")
    condition = condition_from_axes(manifest.axes)
    if condition.context != "0" and samples != manifest.samples:
        raise InputError(
            f"under A{condition.context} a prompt tells earlier answers, which fewer samples could change: the stored "
            "replies would answer other requests than those that would have been sent"
        )
    fewer = replace(condition, repetition=str(samples))
    available = {clip: sorted(_available(inputs, samples)) for clip, inputs in sorted(clips.items())}
    extra = {name: value for name, value in manifest.extra.items() if name != "monitor_rate"}
    return replace(
        manifest,
        condition=canonical_id(fewer),
        axes=axis_values(fewer),
        samples=samples,
        extra={**extra, "available": available},
    )


def fewer_events(
    context: RunContext, clip: str, inputs: StoredInputs, evaluate: Evaluate, blobs: Blobs
) -> tuple[list[Event], list[Blob]]:
    """The clip's whole history with fewer samples, and the bodies that it adds. Times are empty."""
    state, bodies = ClipState(clip), Bodies(blobs)
    events: list[Event] = []
    made: list[Blob] = []
    told: set[Key] = set()

    def observe(found: Sequence[Event]) -> None:
        for event in found:
            apply(state, event)
            events.append(event)

    observe(inputs.given)
    while True:
        settling = settle_decisions(context, state, bodies)
        while True:
            try:
                batch, added = next(settling)
            except StopIteration as settled:
                effects: tuple[Effect, ...] = settled.value
                break
            events.extend(batch)
            made.extend(added)
        new = [effect for effect in effects if _name(effect) not in told]  # the log has one answer to each
        told.update(map(_name, new))
        answered = [answer for effect in new if (answer := _answer(effect, inputs, evaluate, clip)) is not None]
        if not answered:
            return events, made
        for found, added_blobs in answered:
            if state.failure is None:
                observe(found)
                bodies.keep(added_blobs)
                made.extend(added_blobs)


def _answer(
    effect: Effect, inputs: StoredInputs, evaluate: Evaluate, clip: str
) -> tuple[Sequence[Event], Sequence[Blob]] | None:
    """What the log says to an effect; None where it never came to that."""
    if isinstance(effect, OpenClip):
        return ((inputs.opened,), ()) if inputs.opened is not None else None
    if isinstance(effect, PrepareMedia):
        found = inputs.media.get(effect.window)
        return ((found,), ()) if found is not None else None
    if isinstance(effect, SendCall):
        calls = _stored_call(inputs, (effect.turn.stage, effect.turn.question_id, effect.turn.party), effect.sample)
        return (calls, ()) if calls else None
    data, blobs = submit(effect, evaluate)
    return (make_event(data, clip=clip, time=""),), blobs


def _name(effect: Effect) -> Key:
    if isinstance(effect, SendCall):
        return (effect.turn.stage, effect.turn.question_id, effect.turn.party, effect.sample)
    if isinstance(effect, PrepareMedia):
        return ("media", effect.window)
    return ("open",) if isinstance(effect, OpenClip) else ("submit", effect.round, effect.attempt)


def _stored_call(inputs: StoredInputs, turn: Key, sample: Sample) -> tuple[Event, ...]:
    return inputs.calls.get((*turn, sample)) or inputs.calls.get((*turn, "all"), ())


def _available(inputs: StoredInputs, samples: int) -> Iterable[str]:
    """The turns of which all of the first samples were had, or one finally failed, which fails the clip."""
    for turn in {key[:-1] for key in inputs.calls}:
        last = [events[-1].data for sample in range(samples) if (events := _stored_call(inputs, turn, sample))]
        failed = any(isinstance(data, CallFailed) and data.final for data in last)
        if failed or sum(isinstance(data, CallCompleted) for data in last) == samples:
            yield f"{turn[1]}/{turn[2]}"


def _decisive(events: Sequence[Event]) -> tuple[Event, ...]:
    done = next((place for place, event in enumerate(events) if isinstance(event.data, CallCompleted)), None)
    if done is None:
        return tuple(events)
    asked = next(event for event in reversed(events[:done]) if isinstance(event.data, CallRequested))
    return (asked, events[done])
