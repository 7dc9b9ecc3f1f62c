"""How a clip ended, as the events that end it say it. Of several, the last stands."""

from typing import Final, NamedTuple

from vlmrec.events import CandidateBrief, ClipFailed, ClipFinished, Payload

ENDS: Final[tuple[type[Payload], ...]] = (ClipFinished, ClipFailed)
"""The types that end a clip."""


class ClipEnd(NamedTuple):
    """The event that ended a clip."""

    event: str
    data: ClipFinished | ClipFailed

    @property
    def finished(self) -> ClipFinished | None:
        """The outcome under the engine; None for a clip that failed."""
        return self.data if isinstance(self.data, ClipFinished) else None

    @property
    def candidates(self) -> tuple[CandidateBrief, ...]:
        """What the engine left standing."""
        return self.data.candidates if isinstance(self.data, ClipFinished) else ()
