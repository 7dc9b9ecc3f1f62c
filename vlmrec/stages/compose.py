"""A turn's call, composed from what its clip's state knows: texts, fields and limits, ready to be sent.

What the calls of a clip, stage and window start with is encoded once.
"""

from collections.abc import Callable

import msgspec

from vlmrec.canonical import make_blob
from vlmrec.events import Stage, TurnOpened
from vlmrec.media.prepare import PreparedMedia
from vlmrec.models.adapters import adapt_system, adapt_tail
from vlmrec.models.request import Prefix
from vlmrec.stages.attempt import Call
from vlmrec.stages.context import RunContext
from vlmrec.stages.effects import Blobs, SendCall
from vlmrec.stages.prediction import bound_after, predicted_tokens
from vlmrec.stages.prompts import Prompt, Templates, build_prompt
from vlmrec.stages.request import CallSpec, Parameters, build_call, call_fields, encode_start, max_tokens
from vlmrec.stages.settle import accepted_scene, accepted_table
from vlmrec.stages.state import TASK_STAGES, ClipState


class Composer:
    """Makes the calls of one clip, whose ``state`` others fold on."""

    def __init__(
        self,
        context: RunContext,
        templates: Templates,
        parameters: Parameters,
        scrub: Callable[[bytes], tuple[bytes, int]],
        state: ClipState,
        blobs: Blobs,
    ) -> None:
        self._context = context
        self._templates = templates
        self._parameters = parameters
        self._scrub = scrub
        self._state = state
        self._blobs = blobs
        self._prefixes: dict[tuple[Stage, str], Prefix] = {}

    def spec(self, effect: SendCall, made: PreparedMedia) -> CallSpec:
        """The call's bytes, and what a log may hold of them."""
        prompt = call_prompt(self._context, self._templates, self._parameters, self._state, effect, self._blobs)
        start = (effect.turn.stage, effect.turn.window)
        prefix = self._prefixes.get(start)
        if prefix is None:
            prefix = self._prefixes[start] = encode_start(prompt, made.parts)
        fields = wire_fields(self._context, self._parameters, effect)
        spec = build_call(prompt, made.loggable, fields, prefix)._replace(predicted=self._predicted(made, prompt))
        body, found = self._scrub(spec.request.body)
        return spec._replace(request=make_blob(body, spec.request.ref.media_type)) if found else spec

    def _predicted(self, made: PreparedMedia, prompt: Prompt) -> int | None:
        opened, parameters = self._state.opened, self._parameters
        if opened is None:
            return None
        return predicted_tokens(parameters.wire.model, opened, made.plan, prompt, fps=parameters.fps)

    def call(self, effect: SendCall, spec: CallSpec) -> Call:
        """The call itself; its bound rests on what a server has counted by now."""
        turn = effect.turn
        counted = prompt_tokens_of(self._state, turn)
        return Call(
            clip=self._state.clip,
            stage=turn.stage,
            question_id=turn.question_id,
            party=turn.party,
            sample=effect.sample,
            attempt=effect.attempt,
            spec=spec,
            max_tokens=max_tokens(self._parameters, turn),
            media=tuple(item.sha256 for item in self._state.media[turn.window].items),
            prompt_tokens=bound_after(counted, spec.tail) if counted is not None else None,
        )


def call_prompt(
    context: RunContext,
    templates: Templates,
    parameters: Parameters,
    state: ClipState,
    effect: SendCall,
    blobs: Blobs,
) -> Prompt:
    """The texts of a call, from the state alone."""
    table = scene = None
    if effect.turn.stage not in TASK_STAGES:
        accepted = accepted_table(state, blobs)
        table = msgspec.json.encode(accepted).decode() if accepted is not None else None
        scene = accepted_scene(state, blobs)
    prompt = build_prompt(templates, context, state, effect.turn, table=table, scene=scene)
    family, thinking = parameters.wire.family, parameters.wire.thinking
    return Prompt(
        adapt_system(prompt.system, family=family, thinking=thinking),
        prompt.lead,
        adapt_tail(prompt.tail, family=family, thinking=thinking),
    )


def wire_fields(context: RunContext, parameters: Parameters, effect: SendCall) -> dict[str, object]:
    """The top-level fields of a call. A monitoring call is the same call without constrained decoding."""
    constrained = context.condition.format == "schema" and effect.turn.stage is not Stage.MONITOR
    return call_fields(parameters, effect.turn, effect.sample, constrained=constrained)


def prompt_tokens_of(state: ClipState, turn: TurnOpened) -> int | None:
    """The most prompt tokens that a server has counted for a call with the same start; None before the first."""
    counts = [
        call.completed.usage.prompt_tokens
        for other in state.turns.values()
        if (other.opened.stage, other.opened.window) == (turn.stage, turn.window)
        for call in other.calls.values()
        if call.completed is not None and call.completed.usage.prompt_tokens is not None
    ]
    return max(counts, default=None)
