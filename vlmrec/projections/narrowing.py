"""How many charts are left after each round, over the clips of a run. A clip that has ended stays where it ended."""

from collections.abc import Sequence
from typing import ClassVar

from msgspec import Struct

from vlmrec.events import EngineSubmitted, Event, Payload
from vlmrec.projections.core import Combined, RunResults
from vlmrec.projections.meter import quantile
from vlmrec.projections.registry import Inputs, register


class Round(Struct, frozen=True, kw_only=True):
    """Charts left after a round: quartiles over clips."""

    round: int
    median: float
    low: float
    high: float
    clips_going_on: int
    """Clips that had a submission in this round."""


class Narrowing(Struct, frozen=True, kw_only=True):
    """The rounds of each run, in the order named."""

    runs: tuple[tuple[Round, ...], ...]


Left = dict[int, int]


class NarrowingOfRuns:
    """The projection behind the plot of narrowing candidates."""

    name: ClassVar[str] = "narrowing"
    version: ClassVar[int] = 1
    several: ClassVar[bool] = True
    handles: ClassVar[tuple[type[Payload], ...]] = (EngineSubmitted,)

    def inputs(self) -> dict[str, str]:
        return {}

    def initial(self) -> Left:
        return {}

    def apply(self, state: Left, event: Event) -> None:
        data = event.data
        if isinstance(data, EngineSubmitted) and data.status is not None:
            state[data.round] = len({candidate.chart for candidate in data.candidates})

    def result(self, state: Left) -> Left:
        return dict(state)

    def combine(self, runs: Sequence[RunResults[Left]]) -> Combined[Narrowing, None]:
        return Combined(Narrowing(runs=tuple(_rounds([left for _, left in run.clips if left]) for run in runs)), None)


@register("narrowing")
def _make(inputs: Inputs) -> NarrowingOfRuns:
    return NarrowingOfRuns()


def _rounds(clips: Sequence[Left]) -> tuple[Round, ...]:
    last = max((max(left) for left in clips), default=0)
    found = []
    standing: list[int | None] = [None] * len(clips)
    for number in range(1, last + 1):
        standing = [left.get(number, before) for left, before in zip(clips, standing, strict=True)]
        counts = sorted(float(count) for count in standing if count is not None)
        if counts:
            found.append(
                Round(
                    round=number,
                    median=quantile(counts, 0.5) or 0.0,
                    low=quantile(counts, 0.25) or 0.0,
                    high=quantile(counts, 0.75) or 0.0,
                    clips_going_on=sum(number in left for left in clips),
                )
            )
    return tuple(found)
