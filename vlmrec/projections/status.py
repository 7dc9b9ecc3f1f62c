"""How far a run has come: clips and turns done, rate, time left, cost, whether it has stalled.

Result: what is done, by the log alone. Measured: everything that has to do with time or money; the
present moment is an input, so that the same moment gives the same answer.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import ClassVar, NamedTuple

from msgspec import Struct

from vlmrec.events import (
    AnswerAccepted,
    CallCompleted,
    CallFailed,
    CallRequested,
    ClipFailed,
    ClipFinished,
    ClipOpened,
    ClipReopened,
    Event,
    MediaFailed,
    Payload,
    TurnOpened,
)
from vlmrec.projections.core import Combined, RunResults
from vlmrec.projections.ends import ENDS, ClipEnd
from vlmrec.projections.meter import CallFigures, Meter, merged
from vlmrec.projections.registry import Inputs, register

QUIET_AT_LEAST_S = 120.0
QUIET_TIMES_SLOWEST = 3.0
"""A run that is being written counts as stalled when nothing was written for two minutes and for three times
its slowest call; a call that takes long is no stall."""


class FailedClip(Struct, frozen=True, kw_only=True):
    """A clip that ended without an outcome."""

    clip: str
    cause: str
    reason: str
    retryable: bool
    event: str


class RunStatus(Struct, frozen=True, kw_only=True):
    """What is done. ``clips`` is the number in the manifest; null where a log has none."""

    condition: str | None
    clips: int | None
    finished: int
    failed: int
    begun: int
    """Opened, and not ended."""
    outcomes: dict[str, int]
    incomplete: int
    truncated: int
    several_streams: int
    """Clips whose file holds more than one video stream: one of them was shown."""
    turns_opened: int
    turns_answered: int
    excluded: str | None
    failures: tuple[FailedClip, ...]


class RunTimes(Struct, frozen=True, kw_only=True):
    """Time and money. Seconds; a rate and a time left only once clips have ended."""

    state: str | None
    """``running``, ``stalled``, ``stopped`` or ``interrupted`` (no writer, and no word of stopping); null if not known."""
    first_event: str | None
    last_event: str | None
    quiet_s: float | None
    clips_per_hour: float | None
    left_s: float | None
    calls_in_flight: int
    slowest_call_s: float | None
    calls: CallFigures


class _State:
    __slots__ = (
        "answered",
        "end",
        "ended",
        "first",
        "last",
        "meter",
        "opened",
        "requested",
        "several",
        "slowest",
        "truncated",
    )

    def __init__(self) -> None:
        self.opened = 0
        self.answered = 0
        self.truncated = False
        self.several = False
        self.end: ClipEnd | None = None
        self.ended: str | None = None
        self.first: str | None = None
        self.last: str | None = None
        self.requested = 0
        self.slowest: float | None = None
        self.meter = Meter()


class ClipProgress(NamedTuple):
    """How far one clip has come."""

    turns_opened: int
    turns_answered: int
    truncated: bool
    several_streams: bool
    end: ClipEnd | None
    ended: str | None
    first: str | None
    last: str | None
    requested: int
    slowest: float | None
    meter: Meter


class RunProgress:
    """The projection behind ``vlmrec status``. ``now`` is RFC 3339; without it, and without knowing whether
    the log is being written and has been stopped, nothing is said of the run's state."""

    name: ClassVar[str] = "status"
    version: ClassVar[int] = 2
    several: ClassVar[bool] = False
    handles: ClassVar[tuple[type[Payload], ...]] = (
        ClipOpened,
        ClipReopened,
        MediaFailed,
        TurnOpened,
        AnswerAccepted,
        CallRequested,
        CallCompleted,
        CallFailed,
        *ENDS,
    )

    def __init__(self, *, now: str | None = None, writing: bool = False, stopped: bool = False) -> None:
        self._now = now
        self._writing = writing
        self._stopped = stopped

    def inputs(self) -> dict[str, str]:
        return {}

    def initial(self) -> _State:
        return _State()

    def apply(self, state: _State, event: Event) -> None:
        data = event.data
        state.last = event.time
        if state.first is None:
            state.first = event.time
        if isinstance(data, CallRequested):
            state.requested += 1
        elif isinstance(data, CallCompleted):
            state.meter.completed(data)
            state.slowest = max(state.slowest or 0.0, data.latency_s)
        elif isinstance(data, CallFailed):
            state.meter.failed(data)
        elif isinstance(data, TurnOpened):
            state.opened += 1
        elif isinstance(data, AnswerAccepted):
            state.answered += 1
        elif isinstance(data, ClipOpened):
            state.truncated, state.several = data.truncated, data.video_streams > 1
        elif isinstance(data, ClipReopened):
            state.end, state.ended = None, None
        elif isinstance(data, (ClipFinished, ClipFailed)):
            state.end, state.ended = ClipEnd(event.id, data), event.time

    def result(self, state: _State) -> ClipProgress:
        return ClipProgress(
            turns_opened=state.opened,
            turns_answered=state.answered,
            truncated=state.truncated,
            several_streams=state.several,
            end=state.end,
            ended=state.ended,
            first=state.first,
            last=state.last,
            requested=state.requested,
            slowest=state.slowest,
            meter=state.meter.copy(),
        )

    def combine(self, runs: Sequence[RunResults[ClipProgress]]) -> Combined[RunStatus, RunTimes]:
        (run,) = runs
        manifest = run.facts.manifest
        total = len(manifest.clips) if manifest else None
        ends = [clip.end for _, clip in run.clips if clip.end is not None]
        finished = [end.finished for end in ends if end.finished is not None]
        outcomes = [str(data.outcome) for data in finished]
        status = RunStatus(
            condition=manifest.condition if manifest else None,
            clips=total,
            finished=len(finished),
            failed=len(ends) - len(finished),
            begun=len(run.clips) - len(ends),
            outcomes={outcome: outcomes.count(outcome) for outcome in sorted(set(outcomes))},
            incomplete=sum(data.incomplete for data in finished),
            truncated=sum(clip.truncated for _, clip in run.clips),
            several_streams=sum(clip.several_streams for _, clip in run.clips),
            turns_opened=sum(clip.turns_opened for _, clip in run.clips),
            turns_answered=sum(clip.turns_answered for _, clip in run.clips),
            excluded=run.facts.excluded_run(),
            failures=_failures(run),
        )
        return Combined(status, self._times([clip for _, clip in run.clips], total))

    def _times(self, clips: Sequence[ClipProgress], total: int | None) -> RunTimes:
        first = min((clip.first for clip in clips if clip.first is not None), default=None)
        last = max((clip.last for clip in clips if clip.last is not None), default=None)
        ended = [clip.ended for clip in clips if clip.ended is not None]
        rate = _rate(first, last, len(ended))
        calls = merged(clip.meter for clip in clips).figures()
        slowest = max((clip.slowest for clip in clips if clip.slowest is not None), default=None)
        quiet = _seconds(last, self._now) if last is not None and self._now is not None else None
        left = None if total is None or rate is None or not self._writing else (total - len(ended)) / rate
        open_calls = max(0, sum(clip.requested for clip in clips) - calls.completed - calls.failed)
        return RunTimes(
            state=self._state(quiet, slowest) if self._now is not None else None,
            first_event=first,
            last_event=last,
            quiet_s=quiet,
            clips_per_hour=rate * 3600 if rate is not None else None,
            left_s=left,
            calls_in_flight=open_calls if self._writing else 0,
            slowest_call_s=slowest,
            calls=calls,
        )

    def _state(self, quiet: float | None, slowest: float | None) -> str:
        if not self._writing:
            return "stopped" if self._stopped else "interrupted"
        long = max(QUIET_AT_LEAST_S, QUIET_TIMES_SLOWEST * (slowest or 0.0))
        return "stalled" if quiet is not None and quiet > long else "running"


@register("status")
def _make(inputs: Inputs) -> RunProgress:
    return RunProgress()


def _failures(run: RunResults[ClipProgress]) -> tuple[FailedClip, ...]:
    found = []
    for clip, progress in run.clips:
        if progress.end is None:
            continue
        event, data = progress.end
        if isinstance(data, ClipFailed):
            found.append(
                FailedClip(clip=clip, cause=data.cause, reason=data.reason, retryable=data.retryable, event=event)
            )
    return tuple(found)


def _rate(first: str | None, last: str | None, ended: int) -> float | None:
    """Clips that ended per second, over the time from the first event to the last."""
    if first is None or last is None or not ended:
        return None
    seconds = _seconds(first, last)
    return ended / seconds if seconds > 0 else None


def _seconds(start: str, end: str) -> float:
    return (datetime.fromisoformat(end) - datetime.fromisoformat(start)).total_seconds()
