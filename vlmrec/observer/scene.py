"""What the observer measured in one clip: plain values, nothing about questions.

Times are seconds of clip time. Every finding carries a confidence from 0 to 1; what was not measured is None.
"""

from typing import Literal, NamedTuple

EgoState = Literal["moving", "stopped"]


class Span(NamedTuple):
    """A stretch of time in which one state of the ego vehicle held."""

    start: float
    end: float
    state: EgoState
    confidence: float


class Scene(NamedTuple):
    """One clip as measured. ``usable`` is False, with the reason, where the footage can't carry any finding."""

    frames: int
    start: float
    end: float
    usable: bool
    reason: str
    ego: tuple[Span, ...] = ()
