"""Describe-then-map, from stored texts: what would the answer have been, had the description been mapped to a code?

A model that describes a lane change and then ticks "straight" lost the answer in the choice, not in the seeing.
The chosen code is taken out of the stored reason or reasoning, the rest is mapped by declared rules, and both are
held against the label. No model is asked anything; where a text-only model has mapped the descriptions before, its
recorded calls (a derived log, named second) are replayed instead of the rules.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import ClassVar, Literal, NamedTuple, TypeAlias

from msgspec import Struct

from vlmrec.events import AnswerAccepted, AnswerGiven, CallCompleted, Event, Payload, ReplyParsed, Stage, TurnOpened
from vlmrec.gold import GoldSet
from vlmrec.projections.core import BlobOf, Combined, RunResults
from vlmrec.projections.describe_rules import RULES, VERSION, Mapped, describe_map, without_code
from vlmrec.projections.labels import UNMAPPED, ClipGold, GoldMapping, clip_gold
from vlmrec.projections.layer1 import share
from vlmrec.projections.reading import excerpt
from vlmrec.projections.registry import Inputs, register
from vlmrec.stages.reading import read_answer
from vlmrec.terms import BlobRef, ClipId, Status, TurnKey

Change = Literal["recovered", "kept_right", "kept_wrong", "broken", "unmapped"]
CHANGES: tuple[Change, ...] = ("recovered", "kept_right", "kept_wrong", "broken", "unmapped")


class RetrofittedTurn(Struct, frozen=True, kw_only=True):
    """One labelled turn: what was chosen, what the description maps to, and what people saw."""

    clip: str
    question_id: str
    party: str
    event: str
    chosen: str | None
    mapped: str | None
    told: tuple[str, ...]
    label: str
    change: Change
    words: str


class Retrofitted(Struct, frozen=True, kw_only=True):
    """Forced choice beside described-then-mapped, over labelled turns that have a text."""

    mapper: str
    """``rules:`` and the hash of the declared rules, or the model that mapped."""
    turns: tuple[RetrofittedTurn, ...]
    counts: dict[str, int]
    chosen_right: float | None
    mapped_right: float | None
    """Unmapped descriptions count as abstentions, so as not right."""
    without_text: int
    """Labelled turns whose reply gave no reason and no reasoning."""


class _Told(NamedTuple):
    event: str
    explanation: str
    reasoning: BlobRef | None
    status: Status | None
    value: str | None


class Described(NamedTuple):
    """A clip's described turns, and in a mapper's log the replies to each."""

    told: dict[TurnKey, _Told]
    opened: dict[TurnKey, TurnOpened]
    replies: dict[TurnKey, BlobRef]


class RetrofitDescribeMap:
    """The projection behind ``vlmrec retrofit describe-map``."""

    name: ClassVar[str] = "retrofit"
    version: ClassVar[int] = 1
    several: ClassVar[bool] = True
    handles: ClassVar[tuple[type[Payload], ...]] = (
        TurnOpened,
        CallCompleted,
        ReplyParsed,
        AnswerGiven,
        AnswerAccepted,
    )

    def __init__(self, gold: GoldSet, *, mapping: GoldMapping = UNMAPPED) -> None:
        self._gold = gold
        self._mapping = mapping

    def inputs(self) -> dict[str, str]:
        used = self._mapping.migrations
        return {"gold": self._gold.content, **({"migration": ", ".join(used)} if used else {})}

    def initial(self) -> Described:
        return Described({}, {}, {})

    def apply(self, state: Described, event: Event) -> None:
        data = event.data
        if isinstance(data, AnswerAccepted):
            key = TurnKey(data.question_id, data.party)
            if data.stage is Stage.PREDICATE and key in state.told:
                state.told[key] = state.told[key]._replace(status=data.status, value=data.value)
        elif isinstance(data, ReplyParsed):
            key = TurnKey(data.question_id, data.party)
            if data.stage is Stage.PREDICATE and data.question_id in RULES and key not in state.told:
                state.told[key] = _Told(event.id, data.explanation or "", data.reasoning, data.status, data.value)
        elif isinstance(data, AnswerGiven):  # taken over with its text; whether it was used, its acceptance says
            if data.stage is Stage.PREDICATE and data.question_id in RULES and data.explanation:
                key = TurnKey(data.question_id, data.party)
                state.told[key] = _Told(event.id, data.explanation, None, data.status, data.value)
        elif isinstance(data, TurnOpened) and data.stage is Stage.PREDICATE and data.question_id in RULES:
            state.opened[TurnKey(data.question_id, data.party)] = data
        elif isinstance(data, CallCompleted) and data.stage is Stage.MAP:
            state.replies[TurnKey(data.question_id, data.party)] = data.body

    def result(self, state: Described) -> Described:
        return Described(dict(state.told), dict(state.opened), dict(state.replies))

    def combine(self, runs: Sequence[RunResults[Described]]) -> Combined[Retrofitted, None]:
        run, mapped = runs[0], runs[1] if len(runs) > 1 else None
        mapper = _by_rules if mapped is None else _by_model(mapped)
        labels = clip_gold(self._gold, data_version=run.facts.data_version)
        noted = run.facts.excluded_clips()
        turns: list[RetrofittedTurn] = []
        silent = 0
        for clip, described in run.clips:
            if clip not in labels or clip in noted:
                continue
            for key in sorted(set(described.told) & set(described.opened) & set(labels[clip].answers)):
                turn = _turn(clip, key, described, labels[clip], run.blob, mapper)
                silent += turn is None
                turns += [turn] if turn is not None else []
        counts = Counter(turn.change for turn in turns)
        return Combined(
            Retrofitted(
                mapper=_mapper_name(mapped),
                turns=tuple(turns),
                counts={change: counts[change] for change in CHANGES},
                chosen_right=share(sum(turn.chosen == turn.label for turn in turns), len(turns)),
                mapped_right=share(sum(turn.mapped == turn.label for turn in turns), len(turns)),
                without_text=silent,
            ),
            None,
        )


@register("retrofit")
def _make(inputs: Inputs) -> RetrofitDescribeMap:
    return RetrofitDescribeMap(inputs.gold)


def descriptions(run: RunResults[Described]) -> Iterator[tuple[ClipId, TurnOpened, str]]:
    """Every described turn of a run with its text, code removed: what a mapper is given."""
    for clip, described in run.clips:
        for key in sorted(set(described.told) & set(described.opened)):
            opened = described.opened[key]
            told = described.told[key]
            text = told.explanation
            if told.reasoning is not None and not text.strip():
                text = _reasoning(told.reasoning, run.blob)
            if text.strip():
                yield clip, opened, without_code(text, _codes(opened))


Mapper: TypeAlias = Callable[[ClipId, TurnOpened, str], Mapped]


def _by_rules(clip: ClipId, opened: TurnOpened, text: str) -> Mapped:
    codes = _codes(opened)
    return describe_map(opened.question_id, without_code(text, codes), opened.party, codes)


def _by_model(mapped: RunResults[Described]) -> Mapper:
    """What a mapper replied, read by the code that runs read replies with."""
    replies = {(clip, key): ref for clip, described in mapped.clips for key, ref in described.replies.items()}

    def from_log(clip: ClipId, opened: TurnOpened, text: str) -> Mapped:
        ref = replies.get((clip, TurnKey(opened.question_id, opened.party)))
        value = read_answer(mapped.blob(ref.sha256), 0, opened).value if ref is not None else None
        return Mapped(value, "one" if value is not None else "nothing_told", (value,) if value is not None else ())

    return from_log


def _mapper_name(mapped: RunResults[Described] | None) -> str:
    if mapped is None:
        return f"rules:{VERSION}"
    return mapped.facts.manifest.model if mapped.facts.manifest is not None else "unknown"


def _turn(
    clip: ClipId, key: TurnKey, described: Described, label: ClipGold, blob: BlobOf, mapper: Mapper
) -> RetrofittedTurn | None:
    """One turn, mapped; None where the label has no value to compare with, or the reply has no text."""
    told, gold, opened = described.told[key], label.answers[key], described.opened[key]
    text = told.explanation
    mapped = mapper(clip, opened, text)
    if mapped.code is None and told.reasoning is not None:
        text = _reasoning(told.reasoning, blob)
        mapped = mapper(clip, opened, text)
    if not text.strip() or gold.value is None:
        return None
    return RetrofittedTurn(
        clip=clip,
        question_id=key.question_id,
        party=key.party,
        event=told.event,
        chosen=told.value,
        mapped=mapped.code,
        told=mapped.told,
        label=gold.value,
        change=_change(told.value == gold.value, mapped.code, gold.value),
        words=excerpt(text, 0, min(len(text), 1)),
    )


def _reasoning(ref: BlobRef, blob: BlobOf) -> str:
    return blob(ref.sha256).decode("utf-8", errors="replace")


def _codes(opened: TurnOpened) -> tuple[str, ...]:
    return tuple(option.code for option in opened.options)


def _change(chosen_right: bool, mapped: str | None, label: str) -> Change:
    if mapped is None:
        return "unmapped"
    if mapped == label:
        return "kept_right" if chosen_right else "recovered"
    return "broken" if chosen_right else "kept_wrong"
