"""Derived runs: the decision core over stored answers, against any engine, without a model in reach. Pure but for ``evaluate``.

The same core as in extraction; answers come from ``answer.given`` events that stand before a clip's
first decision. What comes out are the events of a derived log, whether or not it is saved.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple, TypeAlias

from vlmrec.errors import InputError
from vlmrec.events import ClipOpened, EngineSubmitted, Event, Payload, make_event
from vlmrec.protocol import EvaluateRequest
from vlmrec.stages.context import RunContext
from vlmrec.stages.effects import Effect, Submit
from vlmrec.stages.replay import Bodies, settle_decisions
from vlmrec.stages.state import ClipState, apply
from vlmrec.stages.submission import EngineReply, refused_payload, submitted_payload
from vlmrec.terms import Blob

Evaluate: TypeAlias = Callable[[EvaluateRequest], EngineReply]


class Batch(NamedTuple):
    """Events that are appended together, with the bodies they bring."""

    events: list[Event]
    blobs: list[Blob]


class Taken(NamedTuple):
    """What a derived run takes over of one clip: the clip as opened, and answers (and a table) as given."""

    clip: str
    opened: ClipOpened | None
    given: tuple[Payload, ...]
    blobs: tuple[Blob, ...] = ()


def derive_clip(context: RunContext, taken: Taken, evaluate: Evaluate, *, time: str) -> Iterator[Batch]:
    """The clip's whole history under ``context``, in the order in which a log holds it."""
    state = ClipState(taken.clip)
    bodies = Bodies(_no_stored_body)
    bodies.keep(taken.blobs)
    inputs = [*((taken.opened,) if taken.opened is not None else ()), *taken.given]
    if inputs:
        yield _observe(state, inputs, list(taken.blobs), time)
    while True:
        settling = settle_decisions(context, state, bodies, time)
        effects: tuple[Effect, ...] = ()
        while True:
            try:
                yield Batch(*next(settling))
            except StopIteration as settled:
                effects = settled.value
                break
        if not effects:
            return
        (effect,) = effects
        if not isinstance(effect, Submit):
            raise TypeError(f"a derived run asked for {type(effect).__name__}, which needs a model or a video")
        data, made = submit(effect, evaluate)
        yield _observe(state, [data], list(made), time)


def submit(effect: Submit, evaluate: Evaluate) -> tuple[EngineSubmitted, tuple[Blob, ...]]:
    """An engine's reply to a submission, or its refusal, as the event that records it."""
    place = (effect.round, effect.attempt, effect.request)
    try:
        return submitted_payload(*place, evaluate(effect.request))
    except InputError as refused:
        return refused_payload(*place, str(refused))


def _observe(state: ClipState, observations: Sequence[Payload], blobs: list[Blob], time: str) -> Batch:
    events = [make_event(data, clip=state.clip, time=time) for data in observations]
    for event in events:
        apply(state, event)
    return Batch(events, blobs)


def _no_stored_body(sha256: str) -> bytes:
    raise KeyError(sha256)
