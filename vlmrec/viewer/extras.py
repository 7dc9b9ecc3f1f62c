"""What the viewer shows beside the story of a clip: which call brought a reply, and which bytes the clip is.

A projection as any other, kept apart from ``show`` because its results are only references: the bodies
(whole requests and replies) are read when somebody opens them.
"""

from collections.abc import Sequence
from typing import ClassVar, NamedTuple

from msgspec import Struct

from vlmrec.events import CallCompleted, CallRequested, ClipOpened, Event, Payload
from vlmrec.projections.core import Combined, RunResults


class CallBodies(NamedTuple):
    """SHA-256 of a call's request and reply. The request is that of the attempt which was answered."""

    request: str | None
    reply: str


class ClipExtras(NamedTuple):
    """References of one clip; ``calls`` by the id of the call.completed event."""

    sha256: str | None
    codec: str | None
    bytes: int | None
    calls: dict[str, CallBodies]


class Nothing(Struct, frozen=True, kw_only=True):
    """There is no figure here."""


class _State:
    __slots__ = ("calls", "opened", "requests")

    def __init__(self) -> None:
        self.opened: ClipOpened | None = None
        self.requests: dict[tuple[object, ...], str] = {}
        self.calls: dict[str, CallBodies] = {}


class Extras:
    """The projection."""

    name: ClassVar[str] = "viewer-extras"
    version: ClassVar[int] = 1
    several: ClassVar[bool] = False
    handles: ClassVar[tuple[type[Payload], ...]] = (ClipOpened, CallRequested, CallCompleted)

    def inputs(self) -> dict[str, str]:
        return {}

    def initial(self) -> _State:
        return _State()

    def apply(self, state: _State, event: Event) -> None:
        data = event.data
        if isinstance(data, CallRequested):
            state.requests[(*data.call_key(), data.attempt)] = data.request.sha256
        elif isinstance(data, CallCompleted):
            request = state.requests.get((*data.call_key(), data.attempt))
            state.calls[event.id] = CallBodies(request, data.body.sha256)
        elif isinstance(data, ClipOpened):
            state.opened = data

    def result(self, state: _State) -> ClipExtras:
        opened = state.opened
        return ClipExtras(
            sha256=opened.sha256 if opened else None,
            codec=opened.codec if opened else None,
            bytes=opened.bytes if opened else None,
            calls=dict(state.calls),
        )

    def combine(self, runs: Sequence[RunResults[ClipExtras]]) -> Combined[dict[str, ClipExtras], Nothing]:
        (run,) = runs
        return Combined(dict(run.clips), Nothing())
