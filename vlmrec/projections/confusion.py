"""Confusion matrices of one question, run by run, with the clips behind each cell.

Rows are what people saw, columns what the run answered, abstentions among both. With several parties a
question has a matrix for each.
"""

from collections.abc import Sequence
from typing import ClassVar

from msgspec import Struct

from vlmrec.events import AnswerAccepted, Event, Payload, Stage
from vlmrec.gold import GoldAnswer, GoldSet
from vlmrec.projections.core import Combined, RunResults
from vlmrec.projections.labels import UNMAPPED, GoldMapping, clip_gold
from vlmrec.projections.layer1 import share
from vlmrec.projections.registry import Inputs, register
from vlmrec.terms import ClipId, Party, Status, TurnKey


class Cell(Struct, frozen=True, kw_only=True):
    """Clips that people saw as ``seen`` and the run answered as ``answered``."""

    seen: str
    answered: str
    count: int
    clips: tuple[str, ...]


class Matrix(Struct, frozen=True, kw_only=True):
    """One run's answers to one question for one party. Abstentions stand in brackets."""

    run: int
    question_id: str
    party: str
    items: int
    right: int
    accuracy: float | None
    seen: tuple[str, ...]
    answered: tuple[str, ...]
    cells: tuple[Cell, ...]
    """Only those that hold a clip, in order of row and column."""


class Confusion(Struct, frozen=True, kw_only=True):
    """The matrices, by party and then by run, all over the same rows and columns."""

    question_id: str
    matrices: tuple[Matrix, ...]
    excluded: tuple[str, ...]
    """Clips that a note of one of the runs says are not to be counted, or all of a run that a note leaves out as a whole."""


Answers = dict[TurnKey, str]


class ConfusionOfQuestion:
    """The projection behind ``vlmrec confusion``."""

    name: ClassVar[str] = "confusion"
    version: ClassVar[int] = 1
    several: ClassVar[bool] = True
    handles: ClassVar[tuple[type[Payload], ...]] = (AnswerAccepted,)

    def __init__(self, gold: GoldSet, question_id: str, *, mapping: GoldMapping = UNMAPPED) -> None:
        self._gold = gold
        self._question = question_id
        self._mapping = mapping

    def inputs(self) -> dict[str, str]:
        used = self._mapping.migrations
        return {"gold": self._gold.content, **({"migration": ", ".join(used)} if used else {})}

    def initial(self) -> Answers:
        return {}

    def apply(self, state: Answers, event: Event) -> None:
        data = event.data
        if (
            isinstance(data, AnswerAccepted)
            and data.question_id == self._question
            and data.stage is Stage.PREDICATE
            and data.source != "not_observable"
        ):
            state[TurnKey(data.question_id, data.party)] = said(data.status, data.value)

    def result(self, state: Answers) -> Answers:
        return dict(state)

    def combine(self, runs: Sequence[RunResults[Answers]]) -> Combined[Confusion, None]:
        excluded = sorted({clip for run in runs for clip in run.facts.excluded_clips()})
        whole = {clip for run in runs if run.facts.excluded_run() is not None for clip, _ in run.clips}
        pairs = {(party, i): self._pairs(run, party, excluded) for party in Party for i, run in enumerate(runs)}
        matrices = []
        for party in Party:
            of_party = [pair for i in range(len(runs)) for pair in pairs[party, i]]
            seen = sorted({gold for _, gold, _ in of_party}, key=_order)
            answered = sorted({given for _, _, given in of_party}, key=_order)
            if of_party:
                every = sorted({*seen, *answered}, key=_order)
                matrices += [_matrix(i, self._question, party, pairs[party, i], every) for i in range(len(runs))]
        return Combined(
            Confusion(
                question_id=self._question, matrices=tuple(matrices), excluded=tuple(sorted({*excluded, *whole}))
            ),
            None,
        )

    def _pairs(self, run: RunResults[Answers], party: Party, excluded: Sequence[str]) -> list[tuple[ClipId, str, str]]:
        key = TurnKey(self._question, party)
        turns = run.facts.excluded_turns()
        labels = clip_gold(self._gold, data_version=run.facts.data_version)
        found: list[tuple[ClipId, str, str]] = []
        if run.facts.excluded_run() is not None:
            return found
        for clip, answers in run.clips:
            gold: GoldAnswer | None = labels[clip].answers.get(key) if clip in labels else None
            noted = (
                clip in excluded or (clip, key.question_id, party) in turns or (clip, key.question_id, None) in turns
            )
            if gold is not None and key in answers and not noted:
                found.append((clip, said(gold.status, gold.value), answers[key]))
        return found


@register("confusion")
def _make(inputs: Inputs) -> ConfusionOfQuestion:
    return ConfusionOfQuestion(inputs.gold, "q_maneuver")


def said(status: Status, value: str | None) -> str:
    """An answer as a row or column: its value, or its abstention in brackets."""
    return value if value is not None else f"({status})"


def _order(name: str) -> tuple[bool, str]:
    """Values first, abstentions last."""
    return name.startswith("("), name


def _matrix(
    run: int, question_id: str, party: Party, pairs: Sequence[tuple[ClipId, str, str]], every: Sequence[str]
) -> Matrix:
    cells: dict[tuple[str, str], list[str]] = {}
    for clip, gold, given in pairs:
        cells.setdefault((gold, given), []).append(clip)
    right = sum(gold == given or (gold.startswith("(") and given.startswith("(")) for _, gold, given in pairs)
    return Matrix(
        run=run,
        question_id=question_id,
        party=party,
        items=len(pairs),
        right=right,
        accuracy=share(right, len(pairs)),
        seen=tuple(name for name in every if any(gold == name for _, gold, _ in pairs)),
        answered=tuple(every),
        cells=tuple(
            Cell(seen=gold, answered=given, count=len(clips), clips=tuple(clips))
            for (gold, given), clips in sorted(cells.items(), key=lambda pair: (_order(pair[0][0]), _order(pair[0][1])))
        ),
    )
