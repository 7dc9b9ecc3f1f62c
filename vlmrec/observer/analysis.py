"""From frames to a ``Scene``: measure once, judge as often as there are different hints."""

from collections.abc import Iterator

import numpy as np

from vlmrec.observer.ego import ego_spans
from vlmrec.observer.footage import Frame
from vlmrec.observer.judge import judge
from vlmrec.observer.measure import Glimpse, Measures, measure
from vlmrec.observer.scene import Scene
from vlmrec.observer.table import Hint


def analyse(frames: Iterator[Frame]) -> Measures | Glimpse:
    """Everything measured in ``frames``. Deterministic: one thread, no randomness."""
    return measure(frames)


def scene_of(measured: Measures | Glimpse, hint: Hint | None = None) -> Scene:
    """The scene in what was measured, given what a table in the request says. Pure."""
    if isinstance(measured, Measures):
        return judge(measured, hint)
    scene = Scene(measured.frames, measured.start, measured.end, measured.usable, measured.reason)
    if not measured.usable:
        return scene
    return scene._replace(ego=ego_spans(np.array(measured.times), measured.stirs))
