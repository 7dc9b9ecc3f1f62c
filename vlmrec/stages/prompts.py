"""Prompts: readable template files, filled from the ledger at run time. Pure but for ``load_templates``.

Law: a prompt never contains a chart's name, condition or candidate list. What a template is given is
the question as shown, its definitions, the claims made so far, and the table or scene of Stage 0.
"""

from collections.abc import Sequence
from functools import lru_cache
from importlib.resources import files
from typing import NamedTuple

import jinja2

from vlmrec.canonical import sha256_hex
from vlmrec.events import Stage, TurnOpened
from vlmrec.stages.context import RunContext
from vlmrec.stages.state import TASK_STAGES, ClipState
from vlmrec.terms import Status, TurnKey

NAMES = ("system", "question", "table", "scene", "entity_table", "scene_text")


class Templates(NamedTuple):
    """The texts of one language's templates, by name."""

    language: str
    texts: tuple[tuple[str, str], ...]

    @property
    def hashes(self) -> dict[str, str]:
        """What a manifest pins: SHA-256 by ``language/name``."""
        return {f"{self.language}/{name}": sha256_hex(text.encode()) for name, text in self.texts}


class Prompt(NamedTuple):
    """The texts around a request's media. ``system`` and ``lead`` are alike for every turn of a clip and window."""

    system: str
    lead: tuple[str, ...]
    tail: str


class Claim(NamedTuple):
    """An earlier answer, as axis A shows it."""

    question_id: str
    party: str
    said: str
    reason: str | None


def load_templates(language: str) -> Templates:
    """The shipped templates of a language, ``ko`` or ``en``."""
    folder = files("vlmrec.stages").joinpath("templates", language)
    return Templates(language, tuple((name, folder.joinpath(f"{name}.txt").read_text("utf-8")) for name in NAMES))


def build_prompt(
    templates: Templates,
    context: RunContext,
    state: ClipState,
    turn: TurnOpened,
    *,
    table: str | None,
    scene: str | None,
) -> Prompt:
    """The texts of one call. ``table`` is the accepted entity table's JSON, ``scene`` S1's prose."""
    condition = context.condition
    system = _render(templates, "system", grounding=int(condition.grounding), mode=condition.mode).strip()
    if turn.stage in TASK_STAGES:
        return Prompt(system, (), _render(templates, turn.stage.value).strip())
    lead = []
    if table is not None:
        lead.append(_render(templates, "entity_table", table=table).strip())
    if scene is not None:
        lead.append(_render(templates, "scene_text", scene=scene).strip())
    tail = _render(
        templates,
        "question",
        question_id=turn.question_id,
        party=turn.party.value,
        text=turn.text,
        options=turn.options,
        mode=condition.mode,
        definitions=_definitions(context, turn),
        earlier=_claims(context, state, turn),
    )
    return Prompt(system, tuple(lead), tail.strip())


def _definitions(context: RunContext, turn: TurnOpened) -> Sequence[str]:
    if context.condition.definitions == "0":
        return ()
    question = context.ledger.question(turn.question_id)
    rules = context.ledger.rules_for(turn.question_id)
    return (*question.notes(context.language), *(rule.text(context.language) for rule in rules))


def _claims(context: RunContext, state: ClipState, turn: TurnOpened) -> list[Claim]:
    """Answers of finished rounds only, in ledger order, so that arrival order can't change a request."""
    if context.condition.context == "0":
        return []
    with_reasons = context.condition.context == "2"
    earlier = [
        each.accepted
        for each in state.turns.values()
        if each.opened.stage is Stage.PREDICATE and each.opened.round < turn.round and each.accepted is not None
    ]
    earlier.sort(key=lambda accepted: context.ledger.order(TurnKey(accepted.question_id, accepted.party)))
    return [
        Claim(
            accepted.question_id,
            accepted.party.value,
            accepted.value or accepted.status.value,
            accepted.explanation if with_reasons else None,
        )
        for accepted in earlier
        if accepted.source != "not_observable" and (accepted.status is Status.OBSERVED or accepted.value is None)
    ]


def _render(templates: Templates, name: str, **values: object) -> str:
    return _compiled(dict(templates.texts)[name]).render(**values)


@lru_cache(maxsize=64)
def _compiled(text: str) -> jinja2.Template:
    environment = jinja2.Environment(
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
        autoescape=False,
        keep_trailing_newline=True,
    )
    return environment.from_string(text)
