"""Which knock of the camera was the collision, and which vehicle was there; or that there was none. Pure."""

from collections.abc import Sequence

import numpy as np

from vlmrec.observer.candidates import Candidate, candidates, closing
from vlmrec.observer.ego import ego_keeping, place_before
from vlmrec.observer.jolts import Jolt
from vlmrec.observer.overtaken import overtaken
from vlmrec.observer.scene import Contact
from vlmrec.observer.swings import level_beside, swinger, swung_out_first
from vlmrec.observer.view import View

SURE_JOLT, LIKELY_JOLT, QUIET_JOLT = 7.0, 3.9, 3.1  # times the clip's usual restlessness
SLOWED = 0.6  # of a pace: below it, the ego has slowed down as after a collision
BRAKED = 0.65  # of the pace right before: below it, no more than three seconds later, the ego has braked hard
FULL, HALTED = 0.85, 0.15  # of the usual pace: the ego drove on as ever; it hardly moves
UNSLOWED, NO_QUIETER = 0.95, 0.9  # of the pace before: the ego drove on; of a knock's strength
RINGING = 0.8  # s from one knock to the next, at least
SOON, AS_EVER = (0.8, 1.4), 0.97  # s after a knock by which the ego has begun to slow down; of its pace before
AROUND = 0.4  # s to either side of a knock
OWN_HALF = 0.33  # lanes: half the ego's width, on a narrow lane
LEAST_CALM = 6.0  # s of film that a finding of no collision needs


def find_contact(view: View, jolts: Sequence[Jolt]) -> tuple[Contact | None, Candidate | None]:
    """The knock that stands out among those that the ego slowed down after, and the vehicle that was there.

    A rough road knocks too, and more than once; but whoever collides doesn't drive on as before.
    """
    start, until = float(view.measures.times[0]), float(view.measures.times[-1])
    fit: list[tuple[Jolt, bool]] = []
    for jolt in jolts:
        if _driven_on(view, jolt, jolts):
            continue
        slowed = _slowed(view, jolt.time) and not _as_ever(view, jolt.time)
        cut_off = start + 2.0 < jolt.time and until < jolt.time + 2.0 and jolt.ratio >= SURE_JOLT
        if (slowed and (jolt.ratio >= LIKELY_JOLT or _stopped_dead(view, jolt.time))) or cut_off:
            fit.append((jolt, slowed))
    if not fit:
        return _quiet_contact(view, jolts)
    at_once = [one for one, _ in fit if _stopped_dead(view, one.time)]
    alone = len(at_once) == 1 and at_once[0] is fit[0][0]  # nothing but a collision takes most of the pace at once
    if len(fit) > 1 and fit[1][0].ratio > 0.7 * fit[0][0].ratio and not alone:
        return None, None
    jolt, slowed = fit[0]
    contact = Contact(jolt.time, 0.5 + 0.2 * (jolt.ratio >= SURE_JOLT) + 0.2 * slowed)
    found = suspects(view, jolt.time)
    return contact, found[0] if found else None


def _quiet_contact(view: View, jolts: Sequence[Jolt]) -> tuple[Contact | None, Candidate | None]:
    """The film's loudest knock, quiet as it is, that the ego drove into at full pace and came to a stand after.

    A vehicle was within a bonnet's length, coming nearer, and in the way of the ego's own width: at that pace there was no
    way round it. Or the ego was moving back in front of one that it had just gone past, and had to slow down.
    """
    jolt = max((one for one in jolts if not _driven_on(view, one, jolts)), key=lambda jolt: jolt.ratio, default=None)
    if jolt is None or jolt.ratio < QUIET_JOLT:
        return None, None
    if _slowed(view, jolt.time) and (passed := _passed_at(view, jolt.time)) is not None:
        return Contact(jolt.time, 0.7), passed
    if not _driven_into(view, jolt.time):
        return None, None
    found = suspects(view, jolt.time)
    if not found or found[0].how == "passed" or not closing(found[0].path, jolt.time):
        return None, None
    path = found[0].path
    there = np.abs(path.times - jolt.time) <= AROUND
    if not there.any() or float(np.abs(path.inner[there]).min()) > OWN_HALF:
        return None, None
    return Contact(jolt.time, 0.7), found[0]


def _passed_at(view: View, time: float) -> Candidate | None:
    """The vehicle that the ego had overtaken when it was moving back at ``time``."""
    own = ego_keeping(view.lanes, view.measures, time, view.steered)
    return overtaken(view.paths, own, place_before(own, view.lanes, view.measures), time, view.measures.size[1])


def _driven_on(view: View, jolt: Jolt, jolts: Sequence[Jolt]) -> bool:
    """Whether the ego drove on from a knock at its pace up to a later one, no quieter, that it slowed down after at once.

    That one it was that slowed it down; the one before was a bump in the road.
    """
    before = view.pace_in(jolt.time - 1.0, jolt.time - 0.1)
    for later in jolts:
        if before is None or not RINGING < later.time - jolt.time < 3.0 or later.ratio < NO_QUIETER * jolt.ratio:
            continue
        between, soon = (
            view.pace_in(jolt.time + 0.3, later.time - 0.1),
            view.pace_in(later.time + 0.3, later.time + 1.0),
        )
        if between is not None and soon is not None and between > UNSLOWED * before and soon < FULL * between:
            return True
    return False


def _driven_into(view: View, time: float) -> bool:
    """Whether the ego kept its usual pace up to ``time``, and stood, or nearly so, within three seconds of it."""
    before, after = view.pace_in(time - 1.0, time - 0.1), view.pace_in(time + 2.0, time + 3.0)
    if before is None or after is None:
        return False
    return before > FULL * view.usual and after < HALTED * view.usual


def suspects(view: View, time: float) -> list[Candidate]:
    """Who may have been hit at ``time``, the likeliest first."""
    swing = swinger(view.rows, view.measures.tracks, view.measures, view.lanes, view.way, time)
    found = swung_out_first(candidates(view.paths, time, view.measures, view.way), swing, view.paths, time)
    return level_beside(found, view.rows, view.measures, view.way, time)


def _slowed(view: View, time: float) -> bool:
    """Whether the ego's pace, a while after ``time``, is far below its usual one, or far below what it was right before or after."""
    before, end = view.pace_in(time - 1.0, time - 0.1), min(time + 3.0, float(view.measures.times[-1]))
    at_last = view.pace_in(end - 0.7, end + 0.01) if end > time + 1.2 else None
    if before is not None and at_last is not None and at_last < BRAKED * before:
        return True
    later, soon = view.pace_in(time + 1.0, time + 3.0), view.pace_in(time + 0.3, time + 1.0)
    if later is None:
        return False
    last = view.pace_in(time + 2.0, time + 3.0)
    return later < SLOWED * view.usual or (soon is not None and last is not None and last < SLOWED * min(soon, later))


def _stopped_dead(view: View, time: float) -> bool:
    """Whether most of the pace went within a third of a second: no brakes do that."""
    before, after = view.pace_in(time - 0.7, time - 0.1), view.pace_in(time + 0.3, time + 0.8)
    return before is not None and after is not None and after < 0.3 * before and before > SLOWED * view.usual


def _as_ever(view: View, time: float) -> bool:
    """Whether the ego hadn't begun to slow down a second after ``time``: what made it brake later was something else."""
    before, soon = view.pace_in(time - 1.0, time - 0.1), view.pace_in(time + SOON[0], time + SOON[1])
    return before is not None and soon is not None and soon > AS_EVER * before


def calm(view: View, jolts: Sequence[Jolt]) -> float:
    """Confidence that nothing was hit: a whole film without a loud knock, driven through without much slowing."""
    known = float(np.mean([step.dip is not None for step in view.measures.steps]))
    length = float(view.measures.times[-1] - view.measures.times[0])
    if length < LEAST_CALM or known < 0.8 or any(_alarming(view, jolt) for jolt in jolts):
        return 0.0
    pace = view.pace[np.isfinite(view.pace)]
    if len(pace) < 0.7 * len(view.pace) or float(np.percentile(pace, 3)) < 0.4 * view.usual:
        return 0.0
    return 0.75


def _alarming(view: View, jolt: Jolt) -> bool:
    """A loud knock; but for one that is no louder than a bump in the road, with nothing near, and driven on from.

    A quieter one alarms where the ego slows down right after it.
    """
    before, after = view.pace_in(jolt.time - 1.0, jolt.time), view.pace_in(jolt.time + 0.3, jolt.time + 2.0)
    drove_on = before is not None and after is not None and after > 0.9 * before
    if jolt.ratio < SURE_JOLT:
        return jolt.ratio >= LIKELY_JOLT and not drove_on
    return jolt.ratio > 2 * SURE_JOLT or not drove_on or bool(candidates(view.paths, jolt.time, view.measures))
