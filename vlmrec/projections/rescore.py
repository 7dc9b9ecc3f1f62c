"""A run beside its re-scoring on another engine: outcomes, what changed, and through which answer.

Takes two logs: the run, and the derived log that holds its answers as given and the other engine's
replies. A clip that the run never opened has no answers to score again and keeps no outcome.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import ClassVar, NamedTuple

from msgspec import Struct

from vlmrec.events import (
    AnswerGiven,
    CandidateBrief,
    ClipFailed,
    ClipFinished,
    EngineSubmitted,
    Event,
    Payload,
    Stage,
    TurnOpened,
)
from vlmrec.projections.core import Combined, RunResults
from vlmrec.projections.ends import ENDS, ClipEnd
from vlmrec.projections.registry import Inputs, register
from vlmrec.protocol import Eliminated
from vlmrec.terms import ClipId, QuestionRef

NO_OUTCOME = "no_outcome"


class End(Struct, frozen=True, kw_only=True):
    """How a clip ended under one engine."""

    outcome: str
    incomplete: bool = False
    charts: tuple[str, ...] = ()
    fault_self: int | None = None
    event: str | None = None


class ChartChange(Struct, frozen=True, kw_only=True):
    """A chart that is a candidate under one engine only, and the answer that rules it out under the other."""

    chart: str
    question_id: str | None
    party: str | None
    value: str | None


class ClipChange(Struct, frozen=True, kw_only=True):
    """One clip under both engines."""

    clip: str
    before: End
    after: End
    changed: bool
    lost: tuple[ChartChange, ...]
    """Candidates before and not after, with the answer that rules each out now."""
    gained: tuple[ChartChange, ...]
    """Candidates after and not before, with the answer that had ruled each out."""
    kept: int
    approximate: dict[str, int]
    """Answers taken over by a named rule, by rule."""
    missing: tuple[QuestionRef, ...]
    """Turns that the path met and no stored answer fits."""


class Rescored(Struct, frozen=True, kw_only=True):
    """All clips, and the sums."""

    data_version_before: str | None
    data_version_after: str | None
    migration: str | None
    mode: str | None
    clips: tuple[ClipChange, ...]
    changed: int
    incomplete: int
    kept: int
    approximate: dict[str, int]
    needs_new_answer: dict[str, int]
    """How many clips' paths met a missing answer, by question."""
    outcomes: dict[str, int]
    """Clips by ``before -> after``."""


class _State(Struct):
    """A clip under way in one of the two logs."""

    end: ClipEnd | None = None
    eliminated: tuple[Eliminated, ...] = ()
    kept: int = 0
    approximate: dict[str, int] = {}
    given: set[tuple[str, str]] = set()
    opened: list[QuestionRef] = []


class _Clip(NamedTuple):
    """A clip of one log, folded. ``missing`` are the turns that nothing was given for."""

    end: End | None = None
    eliminated: tuple[Eliminated, ...] = ()
    kept: int = 0
    approximate: Mapping[str, int] = MappingProxyType({})
    missing: tuple[QuestionRef, ...] = ()


class RescoreBeside:
    """The projection behind ``vlmrec rescore``."""

    name: ClassVar[str] = "rescore"
    version: ClassVar[int] = 1
    several: ClassVar[bool] = True
    handles: ClassVar[tuple[type[Payload], ...]] = (
        AnswerGiven,
        TurnOpened,
        EngineSubmitted,
        *ENDS,
    )

    def inputs(self) -> dict[str, str]:
        return {}

    def initial(self) -> _State:
        return _State()

    def apply(self, state: _State, event: Event) -> None:
        data = event.data
        if isinstance(data, AnswerGiven):
            state.given.add((data.question_id, data.party))
            if data.mapping == "kept":
                state.kept += 1
            else:
                rule = data.rule or "unnamed"
                state.approximate[rule] = state.approximate.get(rule, 0) + 1
        elif isinstance(data, TurnOpened):
            if data.put and data.stage is Stage.PREDICATE:
                state.opened.append(data.ref)
        elif isinstance(data, EngineSubmitted):
            state.eliminated = data.eliminated
        elif isinstance(data, (ClipFinished, ClipFailed)):
            state.end = ClipEnd(event.id, data)

    def result(self, state: _State) -> _Clip:
        return _Clip(
            _end(state.end) if state.end is not None else None,
            state.eliminated,
            state.kept,
            dict(sorted(state.approximate.items())),
            tuple(ref for ref in state.opened if (ref.question_id, ref.party) not in state.given),
        )

    def combine(self, runs: Sequence[RunResults[_Clip]]) -> Combined[Rescored, None]:
        before, after = runs[0], runs[-1]
        old, new = dict(before.clips), dict(after.clips)
        clips = tuple(_change(clip, old.get(clip), new.get(clip)) for clip in sorted(old.keys() | new.keys()))
        manifest = after.facts.manifest
        extra = manifest.extra if manifest is not None else {}
        approximate: Counter[str] = Counter()
        for change in clips:
            approximate.update(change.approximate)
        missing = Counter(f"{ref.question_id}/{ref.party}" for change in clips for ref in change.missing)
        outcomes = Counter(f"{change.before.outcome} -> {change.after.outcome}" for change in clips)
        return Combined(
            Rescored(
                data_version_before=before.facts.data_version,
                data_version_after=after.facts.data_version,
                migration=extra.get("migration"),
                mode=extra.get("mode"),
                clips=clips,
                changed=sum(change.changed for change in clips),
                incomplete=sum(change.after.incomplete for change in clips),
                kept=sum(change.kept for change in clips),
                approximate=dict(sorted(approximate.items())),
                needs_new_answer=dict(sorted(missing.items())),
                outcomes=dict(sorted(outcomes.items())),
            ),
            None,
        )


@register("rescore")
def _make(inputs: Inputs) -> RescoreBeside:
    return RescoreBeside()


def _end(end: ClipEnd) -> End:
    finished = end.finished
    return End(
        outcome=finished.outcome.value if finished is not None else NO_OUTCOME,
        incomplete=finished is not None and finished.incomplete,
        charts=_charts(end.candidates),
        fault_self=_fault(end.candidates),
        event=end.event,
    )


def _change(clip: ClipId, old: _Clip | None, new: _Clip | None) -> ClipChange:
    old, new = old or _Clip(), new or _Clip()
    before = old.end or End(outcome=NO_OUTCOME)
    after = new.end or End(outcome=NO_OUTCOME)
    lost = [chart for chart in before.charts if chart not in after.charts]
    gained = [chart for chart in after.charts if chart not in before.charts]
    return ClipChange(
        clip=clip,
        before=before,
        after=after,
        changed=(before.outcome, before.charts, before.fault_self) != (after.outcome, after.charts, after.fault_self),
        lost=tuple(_blamed(chart, new.eliminated) for chart in lost),
        gained=tuple(_blamed(chart, old.eliminated) for chart in gained),
        kept=new.kept,
        approximate=dict(new.approximate),
        missing=new.missing,
    )


def _blamed(chart: str, eliminated: tuple[Eliminated, ...]) -> ChartChange:
    found = next((each.by for each in eliminated if each.chart == chart), None)
    if found is None:
        return ChartChange(chart=chart, question_id=None, party=None, value=None)
    return ChartChange(chart=chart, question_id=found.question_id, party=found.party, value=found.value)


def _charts(candidates: tuple[CandidateBrief, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(candidate.chart for candidate in candidates))


def _fault(candidates: tuple[CandidateBrief, ...]) -> int | None:
    faults = {candidate.fault_self for candidate in candidates}
    return faults.pop() if len(faults) == 1 else None
