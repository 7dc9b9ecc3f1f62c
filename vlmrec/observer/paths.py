"""Where a tracked vehicle was, in lanes across the road and in distance rows along it, over time.

Lanes count from the line left of the camera at the clip's start: a vehicle at 0.5 then drives in the lane the camera started in.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from vlmrec.observer.lanes import Lanes
from vlmrec.observer.measure import Measures
from vlmrec.observer.tracks import Sighting, Track

Floats = NDArray[np.float64]

HALF_CAR = 0.67  # camera heights: half a usual car's width, for one never seen whole
LEAP, LEAP_SPEED = 0.25, 2.5  # lanes, and lanes per second, from one sighting to the next: no vehicle moves like that
STEADY = 1.0  # s at one place
TORN = 0.6  # s before the contact within which a vehicle may break into pieces, or a piece join another thing
HALF_WIDTHS = (0.5, 1.3)  # camera heights: half of any vehicle's width, whatever piece of it was seen whole
NEARER_AT_ONCE = 2.0  # times its distance row, from one sighting to the next
FAR_OFF, AT_ONCE = 72.0, 0.2  # px above which it still was, and s between the two
MOSTLY, SELDOM = 0.5, 0.1  # share of sightings that are cut off, at least, and that show it whole, at most
BORDER = 4.0  # px: an edge this near to the picture's edge is cut off


class Path(NamedTuple):
    """One vehicle's way. ``near`` is its distance row in px (larger is nearer), also where its foot is hidden."""

    number: int
    times: Floats
    across: Floats  # lanes, of the middle of its near end
    ego: Floats  # lanes, of the camera at the same times
    near: Floats
    inner: Floats  # lanes right of the camera, of the side that faces the camera's way
    front: Floats  # row of its far end's foot
    span: Floats  # width of the facing part as seen, camera heights
    whole: NDArray[np.bool_]  # it is about as wide as ever: not a fragment, not merged with something else
    width: float  # the same where it was seen whole
    cut: NDArray[np.bool_]  # one side or both lie outside the picture
    blind: NDArray[np.bool_]  # both do: its place across is not known
    hidden: NDArray[np.bool_]  # its foot lies behind the bonnet

    @property
    def beside(self) -> Floats:
        """Lanes to the right of the camera."""
        return self.across - self.ego

    def first(self, count: int) -> "Path":
        """The same way, its first ``count`` sightings only."""
        return self.part(slice(count))

    def part(self, which: slice | NDArray[np.bool_]) -> "Path":
        """The same way, some of its sightings only."""
        return self._replace(
            times=self.times[which],
            across=self.across[which],
            ego=self.ego[which],
            near=self.near[which],
            inner=self.inner[which],
            front=self.front[which],
            span=self.span[which],
            whole=self.whole[which],
            cut=self.cut[which],
            blind=self.blind[which],
            hidden=self.hidden[which],
        )


def path_of(track: Track, measures: Measures, lanes: Lanes, column: Floats | None = None) -> Path:
    """The way of ``track``, smoothed over a few frames.

    ``column`` is the vanishing point's column per frame where it is known better than when obstacles were measured.
    """
    picture_width = measures.size[0]
    width = _true_width(track, picture_width)
    middles, inners, nears, cuts, blind = [], [], [], [], []
    for sighting in track.sightings:
        obstacle = sighting.obstacle
        left_cut, right_cut = obstacle.left <= BORDER, obstacle.right >= picture_width - BORDER
        near = obstacle.base
        if obstacle.hidden and not (left_cut and right_cut):
            near = max(near, (obstacle.right - obstacle.left) / width)
        middles.append(_middle(sighting, near, width, left_cut, right_cut))
        nears.append(near)
        cuts.append(left_cut or right_cut)
        blind.append(left_cut and right_cut)
        inners.append((obstacle.foot_left, obstacle.foot_right))
    front = _smooth(np.array([sighting.obstacle.front for sighting in track.sightings]))
    span = np.array([sighting.obstacle.width for sighting in track.sightings])
    hidden = np.array([sighting.obstacle.hidden for sighting in track.sightings])
    times = np.array([sighting.time for sighting in track.sightings])
    ego = np.interp(times, measures.times, lanes.offset)
    cut = np.array(cuts)
    middle, inner = _joined(np.array(middles), np.array(inners), cut, hidden)
    if column is not None:
        amiss = np.interp(times, measures.times, measures.points_x - column) / np.maximum(np.array(nears), 1.0)
        middle, inner = middle + amiss, inner + amiss
    across = _smooth(middle) / lanes.spacing + ego
    return Path(
        track.number,
        times,
        across,
        ego,
        _smooth(np.array(nears)),
        _smooth(inner) / lanes.spacing,
        front,
        span,
        (span > 0.65 * width) & (span < 1.5 * width) | hidden,
        width,
        cut,
        np.array(blind),
        hidden,
    )


def untorn(path: Path, until: float) -> Path:
    """The same way, without what it leaps to shortly before ``until`` after a second at one place: that is another thing.

    One that was moving across before goes on; it may cross. And of one beside the ego's way the side that faces it must leap,
    too: else the picture only shows more of it, or less.
    """
    count = whole_until(path.times, path.across, until)
    if count == len(path.times):
        return path
    last = slice(int(np.searchsorted(path.times, path.times[count - 1] - STEADY, side="right")), count)
    if float(np.median(path.inner[last])) * float(np.median(path.beside[last])) > 0:
        count = max(count, whole_until(path.times, path.inner + path.ego, until))
        if count == len(path.times):
            return path
    before = path.across[last]
    settled = len(before) >= 8 and float(np.ptp(before)) < LEAP
    return path.first(count) if settled else path


def since_leap(path: Path, until: float) -> Path:
    """The same way from where it was last twice as near, all at once, before ``until``: nothing drives so, it is another thing.

    Far off only: close by, a foot that comes out of the shade or from behind the bonnet may be much nearer than it seemed.
    """
    before, times = path.near[path.times <= until], path.times[path.times <= until]
    leaps = (before[1:] > NEARER_AT_ONCE * before[:-1]) & (before[:-1] < FAR_OFF) & (np.diff(times) < AT_ONCE)
    return path.part(slice(int(np.flatnonzero(leaps)[-1]) + 1, None)) if leaps.any() else path


def whole_until(times: Floats, places: Floats, until: float) -> int:
    """How many places there are before one leaps aside shortly before ``until``."""
    leaps = np.abs(np.diff(places))
    late = times[1:] > until - 2 * TORN
    usual = float(np.median(leaps[late])) if late.any() else 0.0
    torn = (leaps > max(LEAP, 4 * usual)) & (leaps > LEAP_SPEED * np.diff(times))
    torn &= (times[1:] > until - TORN) & (times[1:] <= until + 0.05)
    return int(np.flatnonzero(torn)[0]) + 1 if torn.any() else len(times)


def _joined(middle: Floats, feet: Floats, cut: NDArray[np.bool_], hidden: NDArray[np.bool_]) -> tuple[Floats, Floats]:
    """Middles with those of cut sightings carried on by the side that faces the camera's way; and that side's place.

    Of one that was cut off and hardly ever seen whole only that side is known.
    """
    quarter = max(3, len(middle) // 4)
    first, last = float(np.median(middle[:quarter])), float(np.median(middle[-quarter:]))
    right = max(first, last, key=abs) > 0  # of one that comes over, where it came from
    outwards = 1.0 if right else -1.0
    inner = feet[:, 0] if right else feet[:, 1]
    if not cut.any():
        return middle, inner
    if cut.mean() >= MOSTLY and (~cut & ~hidden).mean() < SELDOM:
        return inner + HALF_CAR * outwards, inner
    whole = np.flatnonzero(~cut)
    if not len(whole):
        return inner + HALF_CAR * outwards, inner
    out = middle.copy()
    for index in np.flatnonzero(cut):
        nearest = whole[np.argsort(np.abs(whole - index), kind="stable")[:7]]
        half = float(np.median(middle[nearest] - inner[nearest])) * outwards
        out[index] = inner[index] + float(np.clip(half, *HALF_WIDTHS)) * outwards
    return out, inner


def _true_width(track: Track, picture_width: int) -> float:
    """Width in camera heights where both sides and the foot were seen; the usual car's where they never were."""
    widths = whole_widths(track, picture_width)
    return float(np.clip(np.median(widths), 0.9, 2.4)) if len(widths) >= 3 else 1.4


def whole_widths(track: Track, picture_width: int) -> list[float]:
    """Widths in camera heights, near enough to tell, of the sightings that show both sides and the foot."""
    return [
        sighting.obstacle.width
        for sighting in track.sightings
        if not sighting.obstacle.hidden
        and sighting.obstacle.left > BORDER
        and sighting.obstacle.right < picture_width - BORDER
        and sighting.obstacle.base > 22
    ]


def _middle(sighting: Sighting, near: float, width: float, left_cut: bool, right_cut: bool) -> float:
    obstacle = sighting.obstacle
    left, right = (obstacle.left - sighting.x) / near, (obstacle.right - sighting.x) / near
    if left_cut and not right_cut:
        return right - width / 2
    if right_cut and not left_cut:
        return left + width / 2
    return (left + right) / 2


def _smooth(values: Floats) -> Floats:
    if len(values) < 5:
        return values
    padded = np.pad(values, 2, mode="edge")
    return np.median(np.lib.stride_tricks.sliding_window_view(padded, 5), axis=1)
