"""From frames to a ``Scene``: measure, then judge."""

from collections.abc import Iterator

from vlmrec.observer.footage import Frame
from vlmrec.observer.judge import judge
from vlmrec.observer.measure import Unusable, measure
from vlmrec.observer.scene import Scene


def analyse(frames: Iterator[Frame]) -> Scene:
    """The scene in ``frames``. Deterministic: one thread, no randomness."""
    measures = measure(frames)
    if isinstance(measures, Unusable):
        return Scene(measures.frames, measures.start, measures.end, False, measures.reason)
    return judge(measures)
