"""Knocks of the camera: short bursts in which the picture jumps up and down or from side to side."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from vlmrec.observer.camera import CameraStep

Floats = NDArray[np.float64]

BURST = 0.6  # s over which a knock rings
LOUD = 2.5  # times the clip's usual restlessness: quieter bursts are not listed
LEAST = 3.0  # px per step that count as a jump at all
MOST = 15.0  # px: a larger jump counts as this much, so that one wild measurement makes no knock
RATE = 15.0  # steps per second that thresholds are written for
BRIDGED = 0.35  # s without a measurement that a jump is still told across: a blow blurs a picture or two


class Jolt(NamedTuple):
    """A knock: when it set in, how strong it was against the clip's usual restlessness, and its largest jump in px."""

    time: float
    ratio: float
    jump: float


def find_jolts(steps: Sequence[CameraStep]) -> tuple[Jolt, ...]:
    """Knocks in order of strength. Those within a second of a stronger one belong to it."""
    if len(steps) < 8:
        return ()
    times = np.array([step.time for step in steps])
    jumps = _jumps(steps)
    usual = max(float(np.median(jumps)), 0.25)
    step = float(np.median(np.diff(times))) if len(times) > 1 else 1 / RATE
    expected = max(1.0, 0.7 * BURST / step)
    blurred = np.array([step.dip is None and step.turn is None for step in steps])
    loudness = np.zeros(len(times))
    for index, time in enumerate(times):
        window = (times >= time) & (times < time + BURST)
        # What the film's end cuts off counts as quiet, what is too blurred to measure doesn't.
        count = max(int(window.sum()), expected) - int(blurred[window].sum())
        loudness[index] = np.minimum(jumps[window], MOST).sum() / max(count, 0.6 * expected)
    found: list[Jolt] = []
    free = np.ones(len(times), bool)
    while free.any():
        best = int(np.argmax(np.where(free, loudness, -1)))
        inside = (times >= times[best] - 0.1) & (times < times[best] + BURST)
        jump = float(jumps[inside].max())
        ratio = float(loudness[best] / usual)
        if ratio < LOUD or len(found) >= 4:
            break
        if jump < LEAST:
            free &= np.abs(times - times[best]) > 1.0
            continue
        # In a quiet burst a third of its largest jump is no more than the road's own restlessness.
        least = max(0.3 * jump, min(LOUD * usual, 0.8 * jump))
        first = _onset(steps, jumps, int(np.flatnonzero(inside & (jumps >= least))[0]))
        found.append(Jolt(float(times[first]), ratio, jump))
        free &= np.abs(times - times[best]) > 1.0
    return tuple(found)


def _onset(steps: Sequence[CameraStep], jumps: Floats, first: int) -> int:
    """The step a burst set in with: pictures too blurred to measure, right before its first jump, belong to it."""
    blurred = first
    while blurred > 0 and steps[blurred - 1].dip is None and steps[first].time - steps[blurred - 1].time <= BRIDGED:
        blurred -= 1
    return blurred


def _jumps(steps: Sequence[CameraStep]) -> Floats:
    """How far each step's nod and turn differ from the last known, in px at ``RATE`` steps a second; 0 where unknown."""
    nods = _changes(steps, [step.dip for step in steps])
    return np.hypot(nods, _changes(steps, [step.turn for step in steps]))


def _changes(steps: Sequence[CameraStep], shifts: Sequence[float | None]) -> Floats:
    changes = np.zeros(len(steps))
    last: tuple[float, float] | None = None
    for i, shift in enumerate(shifts):
        if shift is None:
            continue
        speed = shift / steps[i].gap
        if last is not None and steps[i].time - last[0] <= BRIDGED:
            changes[i] = abs(speed - last[1]) / RATE
        last = (steps[i].time, speed)
    return changes
