"""Painted stretches along a lane: bars across it, a line that slants over it, short marks. Pure.

The ego's way and the distance of each row make one ruler along the road. On it every piece of the lane's middle is
looked at from nearby, as the ego comes to it. Metres here are rough, to a quarter: a lane is taken to be 3.25 m wide and
the picture to span a right angle across, as with most dashboard cameras.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from vlmrec.observer.lanes import Lanes
from vlmrec.observer.measure import Measures
from vlmrec.observer.surface import BESIDE, surface_rows

Floats = NDArray[np.float64]

LANE = 3.25  # m
BIN = 0.6  # m: about the width of a bar
NEAREST = 4  # sightings, those from nearest by, that tell of a piece of road
BAR = 0.25  # share of a piece that a bar paints
TRACE = 0.1  # share of a piece that a line slanting over it paints
PAUSE = 5.0  # m between two bars of one hatched stretch, at most


class Ruler(NamedTuple):
    """A lane's middle along the road: painted share of pieces of ``BIN`` from ``start`` on; NaN where never seen."""

    start: float
    shares: Floats

    def piece_at(self, place: float) -> int:
        """The piece that lies at ``place``; it may be outside."""
        return int(np.floor((place - self.start) / BIN))

    def between(self, first: float, last: float) -> Floats:
        """The pieces from one place to another, as far as the ruler goes."""
        size = len(self.shares)
        return self.shares[min(max(self.piece_at(first), 0), size) : min(max(self.piece_at(last), 0), size)]

    def until(self, place: float) -> "Ruler":
        """The ruler cut off at ``place``."""
        return self._replace(shares=self.shares[: max(self.piece_at(place), 0)])


class Stretch(NamedTuple):
    """Paint from ``start`` to ``end`` with pauses, in ``runs`` pieces of its own."""

    start: float
    end: float
    runs: int

    @property
    def length(self) -> float:
        return self.end - self.start


def metre(measures: Measures, lanes: Lanes) -> float:
    """Metres in one unit of way."""
    return 0.5 * measures.size[0] * LANE / lanes.spacing


def ruler(measures: Measures, lanes: Lanes, way: Floats, lane: int | None, until: float) -> Ruler | None:
    """What was seen of lane ``lane`` before ``until``; without a lane, of the one the camera was in the middle of."""
    if measures.surface is None:
        return None
    rows = surface_rows(measures.model, measures.points_x, measures.points_y, measures.size[1])
    here = np.floor(lanes.offset).astype(int)
    beside = np.zeros(len(here), int) if lane is None else lane - here
    use = (measures.times < until) & (np.abs(beside) <= BESIDE[-1])
    if lane is None:
        use &= np.abs(lanes.offset - here - 0.5) < 0.3
    frames = np.flatnonzero(use)
    if not len(frames) or not len(rows):
        return None
    shares = np.asarray(measures.surface[frames, beside[frames] - BESIDE[0]], np.float64)
    places = (way[frames, None] + 1 / rows[None, :]) * metre(measures, lanes)
    seen = np.isfinite(shares)
    if not seen.any():
        return None
    start = float(places[seen].min())
    pieces = ((places[seen] - start) / BIN).astype(int)
    near = np.broadcast_to(rows, shares.shape)[seen]
    return Ruler(start, _nearest(pieces, near, shares[seen]))


def _nearest(pieces: NDArray[np.int64], near: Floats, shares: Floats) -> Floats:
    """Per piece the median of its nearest sightings."""
    out = np.full(int(pieces.max()) + 1, np.nan)
    order = np.lexsort((-near, pieces))
    first = np.searchsorted(pieces[order], np.arange(len(out) + 1))
    for piece in range(len(out)):
        mine = order[first[piece] : min(first[piece] + NEAREST, first[piece + 1])]
        if len(mine):
            out[piece] = float(np.median(shares[mine]))
    return out


def stretches(line: Ruler, least: float = BAR, pause: float = PAUSE) -> list[Stretch]:
    """Paint of at least ``least`` a piece, with pauses of less than ``pause``, in order along the road."""
    found: list[Stretch] = []
    for piece in np.flatnonzero(line.shares >= least).tolist():
        start, end = line.start + piece * BIN, line.start + (piece + 1) * BIN
        if found and start - found[-1].end < pause:
            last = found[-1]
            found[-1] = Stretch(last.start, end, last.runs + int(start - last.end > 0.5 * BIN))
        else:
            found.append(Stretch(start, end, 1))
    return found


def littered(line: Ruler, apart_from: list[Stretch]) -> float:
    """Share of the pieces with paint beyond the stretches given: a rough road's glitter, or a line where the lane's middle should be."""
    beyond = np.isfinite(line.shares)
    for one in apart_from:
        beyond[max(line.piece_at(one.start + 0.5 * BIN), 0) : max(line.piece_at(one.end + 0.5 * BIN), 0)] = False
    return float(np.mean(line.shares[beyond] >= TRACE)) if beyond.any() else 0.0
