"""Points tracked from one picture to the next, there and back, so that only what is found again counts."""

from typing import NamedTuple

import cv2
import numpy as np
from numpy.typing import NDArray

Gray = NDArray[np.uint8]
Points = NDArray[np.float32]

BACK_ERROR = 0.7  # px by which a point tracked there and back may miss its start


class Flow(NamedTuple):
    """Where points were and where they went, n×2 each, in px."""

    before: Points
    after: Points

    @property
    def moved(self) -> Points:
        return self.after - self.before


def track_points(before: Gray, after: Gray, points: Points) -> Flow:
    """The flow at ``points``; those not found again are left out."""
    if not len(points):
        return Flow(np.zeros((0, 2), np.float32), np.zeros((0, 2), np.float32))
    start = np.ascontiguousarray(points.reshape(-1, 1, 2), np.float32)
    there, found, _ = cv2.calcOpticalFlowPyrLK(before, after, start, start.copy(), winSize=(15, 15), maxLevel=3)
    back, found_back, _ = cv2.calcOpticalFlowPyrLK(after, before, there, there.copy(), winSize=(15, 15), maxLevel=3)
    error = np.linalg.norm((back - start).reshape(-1, 2), axis=1)
    good = (found.ravel() == 1) & (found_back.ravel() == 1) & (error < BACK_ERROR)
    return Flow(points.reshape(-1, 2)[good], np.asarray(there, np.float32).reshape(-1, 2)[good])
