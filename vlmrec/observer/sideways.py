"""How another vehicle moved across the road: a smooth ease from one place to another against staying put. Pure.

A lane change begins slowly, is quickest in its middle and ends slowly; a collision cuts it off anywhere. So a smooth
step of unknown beginning, length and height is fitted to a vehicle's place over time, robustly, and holds where it
explains the places far better than one place does and the step is still going on at the end, or is a whole lane.

Two places are measured: the middle of the vehicle, good where both its sides are seen, and the side that faces the
ego's way, good where it is near. Each may be spoilt by what stands behind the vehicle, so one that shows a move
suffices, unless the other shows one the other way.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from vlmrec.observer.ego import BEGUN, CHANGED, UNDER_WAY
from vlmrec.observer.paths import Path, whole_until
from vlmrec.observer.scene import Keeping, Move

Floats = NDArray[np.float64]

LENGTHS = (1.5, 2.2, 3.2, 4.5)  # s that a whole lane change may take
NOISE = 0.04  # lanes: places are measured no better
LIMIT = 3.0  # times the noise; what misses by more is an outlier and counts no more than that
LEAST = 8  # sightings that a fit needs
BORNE_OUT = 5  # sightings after a step has begun
TELLING = 0.5  # of the misfit of one place; a step that leaves more explains little
SHOWN = 0.06  # lanes from which on a vehicle has visibly begun to move
MOST = 1.6  # lanes: what moves further at once is first one thing and then another
SETTLED = 0.18  # lanes towards the ego's way that are no more than measuring errors
WATCHED = 1.2  # s that a vehicle must be in sight for a finding that it kept its lane
WATCHED_MOVING = 2.0  # s, the same where the ego moved over itself
ASTRIDE = (0.38, 0.62)  # lanes between the middles of a lane and of a vehicle on its line
LEAD, WATCHED_BESIDE = 1.0, 1.5  # s before the ego's move from which one beside it counts; that it must be in sight
# s before the contact in which it seems to grow, and before that in which it must be seen
CLOSE_BY, WATCHED_AHEAD = 1.3, 2.5
OVER = 0.05  # lanes over the line that a side may seem to be
SWEEPING, SWEPT = 1.0, 0.85  # lanes per second and lanes
BRIEFLY = 0.5  # s before the contact
AT_LAST, NEARER = 0.35, 0.4  # s before the contact, and lanes that it is nearer to the ego's way then
LATELY = 1.6  # s before the contact, the time that a move cut off by it takes at most
FAR = 30.0  # px: a distance row beyond which a row more or less is half a lane


class Ease(NamedTuple):
    """A fitted step: when it shows, its height up to the last place in lanes, and its speed there in lanes a second."""

    begins: float
    shift: float
    rate: float
    misfit: float  # mean square of what is left, in units of the noise, outliers bounded
    still_misfit: float  # the same for the best single place
    inliers: float  # share of places that it explains
    noise: float  # lanes, of the places

    @property
    def holds(self) -> bool:
        """Whether there was a move that led, or was leading, into another lane."""
        under_way = abs(self.shift) >= 1.25 * BEGUN and self.rate * np.sign(self.shift) > UNDER_WAY
        return bool(self.explains and (under_way or abs(self.shift) >= CHANGED))

    @property
    def explains(self) -> bool:
        """Whether the step accounts for most of what one place leaves open."""
        fits = self.misfit < TELLING * self.still_misfit and self.still_misfit - self.misfit > 0.4
        return bool(fits and self.inliers >= 0.8)

    @property
    def sweeps(self) -> bool:
        """Whether it went across faster than any lane change does."""
        clear = self.inliers >= 0.8 and self.noise < 0.3
        return clear and abs(self.rate) >= SWEEPING and self.rate * self.shift > 0 and abs(self.shift) >= SWEPT


def eases(path: Path, until: float) -> tuple[Ease, ...]:
    """The steps fitted to the two places of ``path`` up to ``until``, those with enough sightings."""
    fits = [_fit_of(path, until, series) for series in ("middle", "inner")]
    return tuple(ease for ease in fits if ease is not None)


def held(path: Path, piece: Path, until: float, own: Keeping) -> tuple[Keeping, tuple[Ease, ...]]:
    """How the vehicle of ``path`` held its lane up to ``until``, and the steps that tell; ``piece`` is what was in contact.

    Where all of its way leaves that open, what was followed at the end may tell alone: a vehicle moves as a whole, and
    what spoilt its places before, a far row or something else beside it, doesn't count then.
    """
    keeping, fits = _held(path, until, own)
    if keeping.kept > 0 and _ends_nearer(path, until, own):
        keeping = keeping._replace(kept=0.0)
    if keeping.moves or keeping.kept > 0:
        return keeping, fits
    for part in (piece, path.part(path.times > until - LATELY)):
        late, steps = _held(part, until, own) if len(part.times) >= LEAST else (keeping, fits)
        if late.moves:
            return late._replace(start=keeping.start), steps
    return keeping, fits


def _ends_nearer(path: Path, until: float, own: Keeping) -> bool:
    """Whether it is last seen far nearer to the way of an ego that kept its lane: few as these places are, it left its own."""
    # One that has come into sight since then is where it was up to half a second before the contact.
    early = path.times <= (until - LATELY if path.times[0] <= until - LATELY else until - BRIEFLY)
    late = (path.times > until - AT_LAST) & (path.times <= until + 0.05)
    if own.kept <= 0 or not early.any() or late.sum() < 3:
        return False
    return abs(float(np.median(path.beside[early]))) - abs(float(np.median(path.beside[late]))) > NEARER


def _held(path: Path, until: float, own: Keeping) -> tuple[Keeping, tuple[Ease, ...]]:
    fits = eases(path, until)
    return sideways(path, until, own, fits), fits


def sideways(path: Path, until: float, own: Keeping, fits: Sequence[Ease]) -> Keeping:
    """How the vehicle of ``path`` held its lane up to ``until``, beside an ego that moved as ``own`` says."""
    start = float(path.times[0])
    if not fits:
        return Keeping(start, until, (), 0.0)
    quarter = max(3, len(path.beside) // 4)
    beside = max(float(np.median(path.beside[:quarter])), float(np.median(path.beside[-quarter:])), key=abs)
    towards = 0.0 if abs(beside) <= 0.35 else -float(np.sign(beside))
    holding = [ease for ease in fits if ease.holds and ease.shift * towards >= 0]
    opposed = any(one.holds and other.holds and one.shift * other.shift < 0 for one in fits for other in fits)
    end = float(path.times[path.times <= until + 0.05][-1])
    if any(abs(ease.shift) > MOST for ease in fits):
        return Keeping(start, end, (), 0.0)
    if holding and not opposed:
        ease = max(holding, key=lambda ease: (ease.inliers - ease.misfit / max(ease.still_misfit, 1e-6), ease.shift))
        sure = min(0.95, 0.66 + 0.5 * (abs(ease.shift) - BEGUN))
        return Keeping(start, end, (Move(ease.begins, end, ease.shift, sure),), 0.0)
    if _kept(path, until, own, fits, towards) or (not towards and _kept_ahead(path, until, own, fits)):
        return Keeping(start, end, (), 0.9)
    return Keeping(start, end, (), 0.75 if _kept_beside(path, until, own, towards) else 0.0)


def caught_moving(keeping: Keeping, beside: float, start: float) -> bool:
    """Whether it was first seen astride a line, ``beside`` lanes off the ego, and already coming over."""
    move = keeping.moves[0] if keeping.moves else None
    if move is None or not ASTRIDE[0] < abs(beside) < ASTRIDE[1]:
        return False
    return move.shift * beside < 0 and start > move.start - 0.5


def _kept(path: Path, until: float, own: Keeping, fits: Sequence[Ease], towards: float) -> bool:
    """Seen for long enough, with no more than measuring errors towards the ego's way: whoever goes away isn't hit."""
    seen = path.times[(path.times <= until + 0.05) & ~path.blind]
    if len(seen) < 12 or seen[-1] - seen[0] < (WATCHED_MOVING if own.moves else WATCHED):
        return False
    most = 1.5 * SETTLED if len(own.moves) > 1 else SETTLED  # an ego that swings out and back spoils places
    moved = [ease.shift * towards if towards else abs(ease.shift) for ease in fits]
    return max(moved) <= most and min(ease.misfit for ease in fits) < 2.0


def _kept_ahead(path: Path, until: float, own: Keeping, fits: Sequence[Ease]) -> bool:
    """Whether one that had long been straight ahead stayed there, whatever its sides seem to do in the last second.

    Its wheels, by which its distance is told, stand farther away than its rear: close by it seems to grow to both sides.
    """
    if own.moves or len(fits) < 2 or abs(fits[0].shift) > SETTLED:
        return False
    before = eases(path, until - CLOSE_BY)
    seen = path.times[path.times <= until - CLOSE_BY]
    if len(before) < 2 or seen[-1] - seen[0] < WATCHED_AHEAD:
        return False
    return all(abs(ease.shift) <= SETTLED and ease.misfit < 2.0 for ease in before)


def _kept_beside(path: Path, until: float, own: Keeping, towards: float) -> bool:
    """Whether one that the picture cuts off stayed behind the line while the ego came over to it.

    Its side counts from shortly before the ego's move on. Before that a bumper or a sill, which don't reach down to the
    road and so seem farther away, may be all that is seen; the wheel that shows later is no move.
    """
    if len(own.moves) != 1 or not towards:
        return False
    use = (path.times > own.moves[0].start - LEAD) & (path.times <= until + 0.05) & ~path.blind
    times, places = path.times[use], (path.inner + path.ego)[use]
    if len(times) < 12 or times[-1] - times[0] < WATCHED_BESIDE or path.cut[use].mean() < 0.5:
        return False
    home = float(np.floor(np.median(path.ego[use][:3])))
    line = home if towards > 0 else home + 1
    ease = fit_ease(times, places)
    over = (float(np.median(places[-5:])) - line) * towards
    return ease.shift * towards <= SETTLED and ease.misfit < 2.0 and over <= OVER


def _fit_of(path: Path, until: float, series: str) -> Ease | None:
    """The step in one of the two places of ``path``; None with too few sightings."""
    use = (path.times <= until + 0.05) & ~path.blind
    if series == "middle":
        use &= path.whole | (path.cut & ~path.hidden)
    close = use & (path.near >= FAR)
    use = close if close.sum() >= 12 else use
    if use.sum() < LEAST or float(np.ptp(path.times[use])) < 0.6:
        return None
    places = (path.across if series == "middle" else path.inner + path.ego)[use]
    count = whole_until(path.times[use], places, until)
    return fit_ease(path.times[use][:count], places[:count]) if count >= LEAST else None


def fit_ease(times: Floats, places: Floats) -> Ease:
    """The smooth step that explains ``places`` best, each miss bounded."""
    rest = places - np.convolve(np.pad(places, 3, mode="edge"), np.ones(7) / 7, "valid")
    noise = max(NOISE, float(1.48 * np.median(np.abs(rest))))
    flat = np.ones_like(times)
    still = _misfit(_residual(flat, places, noise)[0], noise)[0]
    end = float(times[-1])
    best = Ease(end, 0.0, 0.0, still, still, 1.0, noise)
    for length in LENGTHS:
        for begin in np.arange(times[0], end - 0.3, 0.15):
            step = _step((times - begin) / length)
            if step[-BORNE_OUT] < 0.03:
                continue  # a step that the last few places alone would bear out
            residual, height = _residual(step, places, noise)
            misfit, inliers = _misfit(residual, noise)
            if misfit < best.misfit:
                final = height * float(step[-1])
                before = height * float(_step(np.array([(end - 0.3 - begin) / length]))[0])
                shows = times[np.abs(height * step) >= SHOWN]
                begins = float(shows[0]) if len(shows) else end
                best = Ease(begins, final, (final - before) / 0.3, misfit, still, inliers, noise)
    return best


def _step(parts: Floats) -> Floats:
    """From 0 to 1, smooth at both ends."""
    parts = np.clip(parts, 0.0, 1.0)
    result: Floats = parts * parts * (3 - 2 * parts)
    return result


def _residual(step: Floats, places: Floats, noise: float) -> tuple[Floats, float]:
    """What a multiple of ``step`` above one place leaves, and the multiple; outliers count for little."""
    weight = np.ones_like(places)
    height, residual = 0.0, places - float(np.median(places))
    for _ in range(6):
        weight = 1 / (1 + (residual / (2 * noise)) ** 2)
        total = float(weight.sum())
        middle, mean = float((weight * step).sum()) / total, float((weight * places).sum()) / total
        variance = float((weight * (step - middle) ** 2).sum())
        height = float((weight * (step - middle) * (places - mean)).sum()) / variance if variance > 1e-6 else 0.0
        residual = places - mean - height * (step - middle)
    return residual, height


def _misfit(residual: Floats, noise: float) -> tuple[float, float]:
    missed = np.abs(residual) / noise
    return float((np.minimum(missed, LIMIT) ** 2).mean()), float((missed < LIMIT).mean())
