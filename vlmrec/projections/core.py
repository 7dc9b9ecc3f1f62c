"""What a projection is, and the driver that runs one over the events of one or more logs.

A projection is a fold per clip (``initial``, ``apply``, ``result``) and a ``combine`` over the clips'
results in order of clip id, together with the run's facts. Clips never see each other's events, so
neither their interleaving nor the size of the batches they arrive in can change a result; memory
follows the states of the clips, not the events.

A result has three parts. ``result`` depends on nothing but the events and the inputs named in
``inputs``; ``measured`` holds what was measured (cost, latency, time); ``provenance`` says which logs
were read. Runs are known by their place in the order named, because the same events under another
run id must give the same bytes.
"""

import gc
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, ClassVar, Generic, NamedTuple, Protocol, TypeAlias, TypeVar

import msgspec
from msgspec import Struct

from vlmrec.canonical import canonical_json, sha256_hex
from vlmrec.events import Event, Payload
from vlmrec.projections.facts import RUN_HANDLES, RunFacts, RunFold
from vlmrec.terms import ClipId

S = TypeVar("S")
C = TypeVar("C")
R = TypeVar("R")
M = TypeVar("M")

BlobOf: TypeAlias = Callable[[str], bytes]
"""The stored body of a SHA-256. Content-addressed, so reading it is as good as being given it."""


class LogProvenance(Struct, frozen=True, kw_only=True):
    """Which log was read, and how far."""

    run_id: str
    uuid: str
    kind: str
    head: str
    events: int


class LogSource(Protocol):
    """What the driver needs of a log: a log reader behind an adapter, or events in memory."""

    def provenance(self) -> LogProvenance:
        """Which log this is, and its head."""
        ...

    def events(self, types: Collection[str]) -> Iterator[Event]:
        """The events of these types, in log order."""
        ...

    def blob(self, sha256: str) -> bytes:
        """A stored body. Raises LogError when the log has none of that hash."""
        ...


class RunResults(NamedTuple, Generic[C]):
    """One run, folded: its facts, its clips in order of clip id, and its stored bodies."""

    facts: RunFacts
    clips: tuple[tuple[ClipId, C], ...]
    blob: BlobOf


class Combined(NamedTuple, Generic[R, M]):
    """A result, and what was measured, apart."""

    result: R
    measured: M


class Projection(Protocol[S, C, R, M]):
    """A fold per clip and a way to combine the clips. The fold owns its state and may mutate it."""

    name: ClassVar[str]
    version: ClassVar[int]
    several: ClassVar[bool]
    """Whether ``combine`` takes several runs; otherwise exactly one."""
    handles: ClassVar[tuple[type[Payload], ...]]
    """The event types that ``apply`` is given. Types that belong to no clip go to the run's facts instead."""

    def inputs(self) -> dict[str, str]:
        """What came from outside the logs, each by its content hash."""
        ...

    def initial(self) -> S:
        """The state of a clip of which nothing is known."""
        ...

    def apply(self, state: S, event: Event) -> None:
        """Take in one event of the clip."""
        ...

    def result(self, state: S) -> C:
        """What is known of the clip. Leaves the state as it is."""
        ...

    def combine(self, runs: Sequence[RunResults[C]]) -> Combined[R, M]:
        """The whole, from the results of every clip of every run."""
        ...


class Projected(Struct, Generic[R, M], frozen=True, kw_only=True):
    """A projection's result, its measurements and where both came from."""

    projection: str
    version: int
    inputs: dict[str, str]
    result: R
    measured: M
    provenance: tuple[LogProvenance, ...]


class Folding(Generic[S, C]):
    """A projection under way over one run: feed it events in log order, in as many pieces as you like."""

    def __init__(
        self, projection: Projection[S, C, Any, Any], *, blob: BlobOf, clips: frozenset[str] | None = None
    ) -> None:
        self._projection = projection
        self._handled = frozenset(projection.handles)
        self._blob = blob
        self._only = clips
        self._states: dict[ClipId, S] = {}
        self._run = RunFold()

    def feed(self, events: Iterable[Event]) -> None:
        """Take in further events."""
        handled, states, only = self._handled, self._states, self._only
        initial, apply, run = self._projection.initial, self._projection.apply, self._run
        for event in events:
            clip = event.clip
            if clip is None:
                run.apply(event)
            elif type(event.data) in handled:
                state = states.get(clip)
                if state is None:
                    if only is not None and clip not in only:
                        continue
                    state = states[clip] = initial()
                apply(state, event)

    def results(self) -> RunResults[C]:
        """Everything fed so far, folded; feeding may go on afterwards."""
        result = self._projection.result
        clips = tuple((clip, result(self._states[clip])) for clip in sorted(self._states))
        return RunResults(self._run.facts(), clips, self._blob)


def project(
    projection: Projection[S, C, R, M], logs: Sequence[LogSource], *, clips: frozenset[str] | None = None
) -> Projected[R, M]:
    """The projection of these logs, in the order named, over all clips or only those named in ``clips``."""
    types = event_types(projection)
    runs: list[RunResults[C]] = []
    provenance: list[LogProvenance] = []
    with _collector_at_rest():
        for log in logs:
            provenance.append(log.provenance())
            folding = Folding(projection, blob=log.blob, clips=clips)
            folding.feed(log.events(types))
            runs.append(folding.results())
        return finish(projection, runs, provenance, clips=clips)


@contextmanager
def _collector_at_rest() -> Iterator[None]:
    """States and results are trees of values that only grow; walking them for cycles cost up to a third of the time."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def finish(
    projection: Projection[S, C, R, M],
    runs: Sequence[RunResults[C]],
    provenance: Sequence[LogProvenance],
    *,
    clips: frozenset[str] | None = None,
) -> Projected[R, M]:
    """Combine runs that have been folded, here or elsewhere."""
    if not runs or (len(runs) > 1 and not projection.several):
        raise ValueError(f"{projection.name} takes {'at least' if projection.several else 'exactly'} one run")
    combined = projection.combine(runs)
    inputs = dict(sorted(projection.inputs().items()))
    if clips is not None:
        inputs["clips"] = sha256_hex("\n".join(sorted(clips)).encode())
    return Projected(
        projection=projection.name,
        version=projection.version,
        inputs=inputs,
        result=combined.result,
        measured=combined.measured,
        provenance=tuple(provenance),
    )


def run_facts(log: LogSource) -> RunFacts:
    """What a log's own events say of its run, without reading any clip."""
    fold = RunFold()
    for event in log.events([cls.type for cls in RUN_HANDLES]):
        fold.apply(event)
    return fold.facts()


def event_types(projection: Projection[Any, Any, Any, Any]) -> tuple[str, ...]:
    """The types to read from a log for this projection, sorted."""
    return tuple(sorted({cls.type for cls in (*projection.handles, *RUN_HANDLES)}))


def document(projected: Projected[Any, Any]) -> dict[str, Any]:
    """The JSON document of a result: its fields at the top, with ``measured`` and ``provenance`` apart."""
    plain: dict[str, Any] = msgspec.to_builtins(projected, str_keys=True)
    result = plain.pop("result")
    return {**result, **plain}


def stable_bytes(projected: Projected[Any, Any]) -> bytes:
    """The canonical bytes of all that must not change from one reading to the next."""
    plain = document(projected)
    del plain["measured"], plain["provenance"]
    return canonical_json(plain)
