"""Which tracked vehicles could have been hit: near, in the way, and coming nearer. Pure."""

from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from vlmrec.observer.conduct import paces
from vlmrec.observer.history import with_history
from vlmrec.observer.measure import Measures
from vlmrec.observer.passing import gone_by
from vlmrec.observer.paths import Path, since_leap, untorn
from vlmrec.observer.pieces import coincide
from vlmrec.observer.road import DARK

Floats = NDArray[np.float64]

CLOSE = 0.26  # of the picture's height below the vanishing point: a foot this low is within a bonnet's length or so
CLOSE_HIDDEN = 0.17  # the same where the bonnet hides the foot
ALOOF = 0.25  # taken off the score of what comes no nearer
NEARER, COME_OVER = 1.15, 0.12  # growth of its distance row, and lanes across: more is coming nearer
SWUNG_OUT = 0.1  # lanes across just before the contact, of a vehicle that begins to swing out
STILL = 0.07  # lanes, the same where there is no more than measuring errors
SETTLED = 0.03  # lanes that a standing vehicle's place spreads, at most, where it is near
GAP = 0.25  # s without a sighting: what is followed may then be the next vehicle
LATELY, ASIDE = 0.8, 0.33  # s before the contact, and lanes from the camera to its side: nearer may be in the way
OFF = 0.25  # lanes from the camera to the side of what doesn't touch the ego
SEEN = 3  # sightings in that time: one seen less often is as good as out of sight
IN_FRONT = 0.4  # lanes from the camera to its middle
ONCOMING = -0.5  # of the ego's pace
SPRUNG_UP = 0.5  # of its score, what another must have that came nearer all the while
IN_THE_WAY = 0.8  # lanes to the side of the camera
FOLLOWED = 6  # sightings up to the contact: in fewer, nothing was followed


class Candidate(NamedTuple):
    """A vehicle that may be the one in contact. ``score`` is larger for nearer and more in the way."""

    path: Path
    how: Literal["ahead", "beside", "passed"]
    score: float
    lonely: bool  # no other vehicle comes close to its score
    over: float | None = None  # lanes that it alone of a standing row came over just before


def candidates(paths: Sequence[Path], time: float, measures: Measures, way: Floats | None = None) -> list[Candidate]:
    """Vehicles that could have been hit at ``time``, the likeliest first. ``way`` is the ego's per frame, if known."""
    height = measures.size[1]
    # By night the edge of the headlights' pool passes for a vehicle beside the camera.
    dark = is_dark(measures)
    found: list[Candidate] = []
    for whole in paths:
        path = since_leap(untorn(whole, time), time)
        if len(path.times) < 7 or path.times[0] > time - 0.25:
            continue
        if _fixture(path, time, height, dark) or gone_by(path, time, height):
            continue
        ahead = _ahead(path, time, height)
        beside = None if dark else _beside(path, time, height)
        aloof = 0.0 if closing(path, time) and not _keeps_off(path, time) else ALOOF
        if ahead is not None and (beside is None or ahead >= beside):
            found.append(Candidate(path, "ahead", ahead - aloof, True))
        elif beside is not None:
            found.append(Candidate(path, "beside", beside - aloof, True))
    found.sort(key=lambda c: (-c.score, c.path.number))
    if not found:
        return _passed(paths, time, height)
    # A rear breaks into pieces when it fills the picture: what has just appeared is no second vehicle.
    found = _swung_out_first(_longest_first(found, paths, time), time)
    rest = [
        c
        for c in found[1:]
        if c.path.times[0] < time - 1.0
        and (c.path.times <= time + 0.05).sum() >= FOLLOWED
        and not coincide(c.path, found[0].path)
        and not _swings_out_alone(found, time)
        and not _goes_by(c.path, time, measures, way)
        and not _left_behind(c, found[0], time)
    ]
    lonely = not rest or rest[0].score < 0.8 * found[0].score
    return [candidate._replace(lonely=lonely) for candidate in found]


def _goes_by(path: Path, time: float, measures: Measures, way: Floats | None) -> bool:
    """Whether it was only beside the ego's way: it came along the road on its own side, or it is a barrier, always as near."""
    before = path.times <= time + 0.05
    end = min(time, float(path.times[before][-1]))
    if _keeps_off(path, end):
        return True
    last = before & (path.times > end - LATELY)
    if last.sum() < 5 or float(np.abs(path.inner[last]).min()) < ASIDE:
        return False
    if way is None:
        return False
    windows = paces(path, np.interp(path.times, measures.times, way), time)
    return any(pace.share + pace.error < ONCOMING for pace in windows)


def _left_behind(one: Candidate, first: Candidate, time: float) -> bool:
    """Whether it had been out of sight for a while, or nearly so, when another was right in the ego's way, and coming nearer."""
    lately = (one.path.times > time - LATELY) & (one.path.times <= time + 0.05)
    if first.how != "ahead" or lately.sum() >= SEEN:
        return False
    at_last = (first.path.times > time - 0.3) & (first.path.times <= time + 0.1)
    if not at_last.any() or not closing(first.path, time):
        return False
    in_front = float(np.abs(np.median(first.path.beside[at_last]))) < IN_FRONT
    return in_front or float(np.abs(first.path.inner[at_last]).min()) < ASIDE


def _longest_first(found: Sequence[Candidate], paths: Sequence[Path], time: float) -> list[Candidate]:
    """The same, but first the one followed for longest of those that are about as likely as the likeliest, or a part of it.

    What has just appeared in mid-road is a piece of something, of a barrier or of paint; where another was coming
    nearer all the while, that one need not be as near.
    """
    first = found[0]
    if with_history(first.path, paths, time).times[0] < time - 1.0:
        return list(found)
    alike = [c for c in found[1:] if c.path.times[0] < time - 1.0 and c.score > _enough(c, first, time) * first.score]
    if not alike:
        return list(found)
    longest = min(alike, key=lambda c: (c.path.times[0], c.path.number))
    return [longest, *(c for c in found if c is not longest)]


def _enough(one: Candidate, first: Candidate, time: float) -> float:
    """The share of the likeliest one's score that is enough for another that was followed for longer."""
    if coincide(one.path, first.path):
        return 0.6
    return SPRUNG_UP if _stays_aside(first.path, time) and closing(one.path, time) else 0.85


def _stays_aside(path: Path, time: float) -> bool:
    """Whether it sprang up in mid-road and kept its place beside the ego's way, as a piece of a barrier does."""
    inner = path.inner[path.times <= time + 0.05]
    return bool(not path.cut[0] and np.abs(inner).min() >= ASIDE and np.ptp(inner) < 2 * STILL)


def come_over(path: Path, time: float) -> float | None:
    """Lanes that a vehicle near the camera's side came over just before ``time``, from a place that it kept till then.

    None where it was not followed without a gap, or had no such place.
    """
    near = (path.times > time - 2.0) & (path.times <= time + 0.02) & (path.near >= 40)
    times, side = path.times[near], float(np.sign(np.median(path.inner)))
    if len(times) < 8 or times[-1] < time - 0.4 or float(np.diff(times).max()) > GAP:
        return None
    places = side * (path.inner + path.ego)[near]
    before = places[times < times[-1] - 0.3]
    if len(before) < 5:
        return None
    place = float(np.median(before))
    return None if float(np.median(np.abs(before - place))) > SETTLED else place - float(np.median(places[-3:]))


def _swung_out_first(found: Sequence[Candidate], time: float) -> list[Candidate]:
    """The same, but first the one beside the camera that alone came over, if there is one."""
    alone = [c for c in found if c.how == "beside" and (come_over(c.path, time) or 0.0) >= SWUNG_OUT]
    if len(alone) != 1 or alone[0].score < 0.6 * found[0].score:
        return list(found)
    return [alone[0], *(c for c in found if c is not alone[0])]


def _swings_out_alone(found: Sequence[Candidate], time: float) -> bool:
    """Whether the first came over from a row in which all others kept their places."""
    shifts = [come_over(c.path, time) for c in found]
    if found[0].how != "beside" or shifts[0] is None or shifts[0] < SWUNG_OUT:
        return False
    return all(shift is None or shift < STILL for shift in shifts[1:])


def _fixture(path: Path, time: float, height: int, dark: bool) -> bool:
    """A barrier: for seconds it comes neither nearer nor gets away, and it reaches from beside the camera far ahead."""
    before = path.times <= time
    before = before if before.sum() >= 40 else path.times <= time + 3.0
    near = path.near[before]
    if before.sum() < 40 or float(np.median(near)) < 0.4 * height:
        return False
    steady = float(np.percentile(near, 95) - np.percentile(near, 5)) < 0.08 * float(np.median(near))
    front = path.front[before]
    far = float(np.median(front))
    still = float(np.percentile(front, 95) - np.percentile(front, 5)) < 0.12 * far
    return steady and (far < 0.25 * height or still or dark)


def closing(path: Path, time: float) -> bool:
    """Whether it came nearer, along the road or across it, in the last two seconds: what doesn't is not run into.

    One in sight for less is given the benefit of the doubt.
    """
    last = np.flatnonzero((path.times > time - 2.0) & (path.times <= time + 0.05))
    if len(last) < 8 or path.times[last[-1]] - path.times[last[0]] < 1.2:
        return True
    first, end = last[:4], last[-4:]
    grown = float(np.median(path.near[end]) / np.median(path.near[first]))
    sides = (np.abs(path.beside), np.abs(path.inner))
    come_over = max(float(np.median(side[first]) - np.median(side[end])) for side in sides)
    return grown > NEARER or come_over > COME_OVER


def _keeps_off(path: Path, time: float) -> bool:
    """Whether it stayed beside the ego's way lately, no nearer along the road or across it than before: a barrier, say."""
    last = (path.times > time - LATELY) & (path.times <= time + 0.05)
    near, inner = path.near[last], path.inner[last]
    if len(near) < 8 or float(np.abs(inner).min()) < OFF or float(np.ptp(inner)) >= STILL:
        return False
    steady = np.abs(near - np.median(near)) < 0.02 * np.median(near)
    return float(steady.mean()) > 0.85


def _ahead(path: Path, time: float, height: int) -> float | None:
    there = (path.times >= time - 0.4) & (path.times <= time + 0.25)
    if not there.any():
        return None
    near = float(path.near[there].max()) / height
    hidden = bool(path.hidden[there].any())
    off = float(np.abs(path.beside[there]).min())
    reach = float(np.abs(path.inner[there]).min())
    if near < (CLOSE_HIDDEN if hidden else CLOSE) or (off > IN_THE_WAY and reach > 0.5):
        return None
    return min(near, 0.6) - 0.6 * max(0.0, min(off, reach + 0.3) - 0.45)


def _beside(path: Path, time: float, height: int) -> float | None:
    """Last seen cut off by the picture's edge, close and near the ego's lane, shortly before."""
    last = (path.times >= time - 1.3) & (path.times <= time + 0.25)
    if not last.any():
        return None
    end = np.flatnonzero(last)[-3:]
    if not path.cut[end].any() or float(path.near[end].max()) < 0.2 * height:
        return None
    reach = float(np.abs(path.inner[end]).min())
    age = max(0.0, time - float(path.times[end[-1]]))
    if reach > 0.78:
        return None
    return min(float(path.near[end].max()) / height, 0.6) - 0.4 * max(0.0, reach - 0.3) - 0.12 * age


def _passed(paths: Sequence[Path], time: float, height: int) -> list[Candidate]:
    """The vehicle the ego drove past last, within three seconds."""
    found = []
    for path in paths:
        end = path.times[-1]
        if not time - 3.2 <= end <= time - 0.2 or not path.cut[-3:].any() or len(path.times) < 12:
            continue
        if float(path.near[-3:].max()) < 0.2 * height or not 0.5 <= float(np.abs(path.beside[-3:]).mean()) <= 1.3:
            continue
        found.append(Candidate(path, "passed", float(end), True))
    found.sort(key=lambda c: (-c.score, c.path.number))
    return found


def is_dark(measures: Measures) -> bool:
    """Whether the road is lit by headlights only."""
    return float(np.median(measures.model.middle[-max(5, measures.size[1] // 12) :, 0])) < DARK
