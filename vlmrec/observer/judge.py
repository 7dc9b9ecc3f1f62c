"""From measures to a scene: what happened, and how sure that is. Pure.

The order of thought: is the footage coherent; was the camera knocked as by a collision; which tracked vehicle was
there at that moment; how did it and the ego get there; what do the markings say.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from vlmrec.observer.candidates import Candidate, candidates, closing
from vlmrec.observer.conduct import STANDS
from vlmrec.observer.ego import ego_keeping, ego_spans, smooth_pace, travelled, usual_pace
from vlmrec.observer.jolts import Jolt, driven_on, find_jolts
from vlmrec.observer.lanes import Lanes
from vlmrec.observer.markings import read_markings
from vlmrec.observer.measure import Measures
from vlmrec.observer.overtaken import overtaken
from vlmrec.observer.paths import Path, path_of
from vlmrec.observer.pieces import joined
from vlmrec.observer.rivals import rival_from
from vlmrec.observer.rows import Row, in_rows
from vlmrec.observer.scene import Contact, Keeping, Rival, Roadway, Scene
from vlmrec.observer.sights import ego_place, list_sights
from vlmrec.observer.steering import course
from vlmrec.observer.swings import swinger, swung_out_first
from vlmrec.observer.table import Hint

Floats = NDArray[np.float64]

SURE_JOLT, LIKELY_JOLT, QUIET_JOLT = 7.0, 3.9, 3.1  # times the clip's usual restlessness
SLOWED = 0.6  # of a pace: below it, the ego has slowed down as after a collision
BRAKED = 0.65  # of the pace right before: below it, no more than three seconds later, the ego has braked hard
FULL, HALTED = 0.85, 0.15  # of the usual pace: the ego drove on as ever; it hardly moves
AROUND = 0.4  # s to either side of a knock
OWN_HALF = 0.33  # lanes: half the ego's width, on a narrow lane
LEAST_CALM = 6.0  # s of film that a finding of no collision needs


class View(NamedTuple):
    """What judgements are made from: measures, and what follows from them at once."""

    measures: Measures
    lanes: Lanes  # the ego's place over time
    comb: Lanes  # the lines as seen, for what is read off the paint
    steered: Floats  # lanes the ego went aside by its heading alone
    pace: Floats  # the ego's, per frame
    way: Floats  # the ego's, per frame
    usual: float
    paths: tuple[Path, ...]
    rows: tuple[Row, ...]


def judge(measures: Measures, hint: Hint | None = None) -> Scene:
    """The scene in ``measures``. ``hint`` comes from an entity table in the request: where contact was, and with whom."""
    times = measures.times
    stirs = [float("nan")] + [float("nan") if s.stir is None else s.stir / s.gap for s in measures.steps]
    scene = Scene(len(times), float(times[0]), float(times[-1]), True, "", ego=ego_spans(times, stirs))
    if float(np.median([step.matched for step in measures.steps])) < 0.2:
        return scene._replace(usable=False, reason="the frames don't follow from one another", ego=())
    lanes = measures.lanes
    pace = smooth_pace(measures)
    usual = usual_pace(pace)
    if lanes is None or lanes.confidence < 0.5 or usual <= 0:
        return scene
    jolts = find_jolts(measures.steps)
    knocks = [jolt.time for jolt in jolts if jolt.ratio >= LIKELY_JOLT]
    lanes, comb, column, steered = course(lanes, measures, pace, knocks)
    way = travelled(measures, pace)
    measures, rows = in_rows(measures, lanes, way)
    paths = tuple(path_of(track, measures, lanes, column) for track in measures.tracks)
    paths = joined(paths, times, way)
    view = View(measures, lanes, comb, steered, pace, way, usual, paths, rows)
    ego_lane, lane_count = ego_place(measures, comb)
    scene = scene._replace(ego_lane=ego_lane, lane_count=lane_count)
    contact, candidate = _contact(view, jolts) if hint is None else _told(view, jolts, hint)
    if contact is None:
        own = ego_keeping(lanes, measures, float(times[-1]), steered)
        scene = scene._replace(calm=_calm(view, jolts) if hint is None else 0.0, ego_keeping=own)
    else:
        scene = _with_contact(scene, view, contact, candidate)
    return scene._replace(sights=list_sights(paths, measures, view.way, scene.rival, ego_lane))


def _told(view: View, jolts: Sequence[Jolt], hint: Hint) -> tuple[Contact | None, Candidate | None]:
    """Contact and counterpart as a table in the request has them, as far as the film bears them out."""
    contact, _ = _contact(view, jolts)
    if hint.contact is not None and (contact is None or abs(contact.time - hint.contact) > 0.5):
        near = [jolt for jolt in jolts if abs(jolt.time - hint.contact) <= 0.5]
        contact = Contact(near[0].time if near else hint.contact, 0.7 if near else 0.5)
    if contact is None:
        return None, None
    found = _candidates(view, contact.time)
    if hint.boxes and found:
        likeness = [(_likeness(view.measures, c.path.number, hint.boxes), -place) for place, c in enumerate(found)]
        best = max(range(len(found)), key=lambda index: likeness[index])
        if likeness[best][0] > 0.25:
            return contact, found[best]._replace(lonely=True)
    return contact, found[0] if found else None


def _likeness(
    measures: Measures, track: int, boxes: Sequence[tuple[float, tuple[float, float, float, float]]]
) -> float:
    """Mean overlap across the picture of a track's sightings with boxes given for the same times."""
    width = measures.size[0]
    shares = []
    for time, box in boxes:
        sightings = [s for s in measures.tracks[track].sightings if abs(s.time - time) <= 0.12]
        if not sightings:
            continue
        obstacle = min(sightings, key=lambda s: abs(s.time - time)).obstacle
        left, right = obstacle.outer_left * 1000 / width, obstacle.outer_right * 1000 / width
        shared = min(right, box[2]) - max(left, box[0])
        shares.append(max(0.0, shared) / max(right - left, box[2] - box[0], 1.0))
    return float(np.mean(shares)) if len(shares) >= 2 else 0.0


def _contact(view: View, jolts: Sequence[Jolt]) -> tuple[Contact | None, Candidate | None]:
    """The knock that stands out among those that the ego slowed down after, and the vehicle that was there.

    A rough road knocks too, and more than once; but whoever collides doesn't drive on as before.
    """
    start, until = float(view.measures.times[0]), float(view.measures.times[-1])
    fit: list[tuple[Jolt, bool]] = []
    for jolt in jolts:
        slowed = _slowed(view, jolt.time)
        cut_off = start + 2.0 < jolt.time and until < jolt.time + 2.0 and jolt.ratio >= SURE_JOLT
        if (slowed and (jolt.ratio >= LIKELY_JOLT or _stopped_dead(view, jolt.time))) or cut_off:
            fit.append((jolt, slowed))
    if not fit:
        return _quiet_contact(view, jolts)
    times, pace = view.measures.times, view.pace
    fit = [one for one in fit if not any(driven_on(one[0], other, times, pace) for other, slowed in fit if slowed)]
    if len(fit) > 1 and fit[1][0].ratio > 0.7 * fit[0][0].ratio:
        return None, None
    jolt, slowed = fit[0]
    contact = Contact(jolt.time, 0.5 + 0.2 * (jolt.ratio >= SURE_JOLT) + 0.2 * slowed)
    found = _candidates(view, jolt.time)
    return contact, found[0] if found else None


def _quiet_contact(view: View, jolts: Sequence[Jolt]) -> tuple[Contact | None, Candidate | None]:
    """The film's loudest knock, quiet as it is, that the ego drove into at full pace and came to a stand after.

    A vehicle was within a bonnet's length, coming nearer, and in the way of the ego's own width: at that pace there was no
    way round it.
    """
    jolt = max(jolts, key=lambda jolt: jolt.ratio, default=None)
    if jolt is None or jolt.ratio < QUIET_JOLT or not _driven_into(view, jolt.time):
        return None, None
    found = _candidates(view, jolt.time)
    if not found or found[0].how == "passed" or not closing(found[0].path, jolt.time):
        return None, None
    path = found[0].path
    there = np.abs(path.times - jolt.time) <= AROUND
    if not there.any() or float(np.abs(path.inner[there]).min()) > OWN_HALF:
        return None, None
    return Contact(jolt.time, 0.7), found[0]


def _driven_into(view: View, time: float) -> bool:
    """Whether the ego kept its usual pace up to ``time``, and stood, or nearly so, within three seconds of it."""
    before, after = _pace_in(view, time - 1.0, time - 0.1), _pace_in(view, time + 2.0, time + 3.0)
    if before is None or after is None:
        return False
    return before > FULL * view.usual and after < HALTED * view.usual


def _candidates(view: View, time: float) -> list[Candidate]:
    """Who may have been hit at ``time``, the likeliest first."""
    swing = swinger(view.rows, view.measures.tracks, view.measures, view.lanes, view.way, time)
    return swung_out_first(candidates(view.paths, time, view.measures, view.way), swing, view.paths, time)


def _slowed(view: View, time: float) -> bool:
    """Whether the ego's pace, a while after ``time``, is far below its usual one, or far below what it was right before or after."""
    before, end = _pace_in(view, time - 1.0, time - 0.1), min(time + 3.0, float(view.measures.times[-1]))
    at_last = _pace_in(view, end - 0.7, end + 0.01) if end > time + 1.2 else None
    if before is not None and at_last is not None and at_last < BRAKED * before:
        return True
    later, soon = _pace_in(view, time + 1.0, time + 3.0), _pace_in(view, time + 0.3, time + 1.0)
    if later is None:
        return False
    last = _pace_in(view, time + 2.0, time + 3.0)
    return later < SLOWED * view.usual or (soon is not None and last is not None and last < SLOWED * min(soon, later))


def _stopped_dead(view: View, time: float) -> bool:
    """Whether most of the pace went within a third of a second: no brakes do that."""
    before, after = _pace_in(view, time - 0.7, time - 0.1), _pace_in(view, time + 0.3, time + 0.8)
    return before is not None and after is not None and after < 0.3 * before and before > SLOWED * view.usual


def _pace_in(view: View, first: float, last: float) -> float | None:
    """Median of the ego's pace between two times; None where hardly any is known."""
    inside = view.pace[(view.measures.times > first) & (view.measures.times < last)]
    known = inside[np.isfinite(inside)]
    return float(np.median(known)) if len(known) >= 5 else None


def _calm(view: View, jolts: Sequence[Jolt]) -> float:
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
    before, after = _pace_in(view, jolt.time - 1.0, jolt.time), _pace_in(view, jolt.time + 0.3, jolt.time + 2.0)
    drove_on = before is not None and after is not None and after > 0.9 * before
    if jolt.ratio < SURE_JOLT:
        return jolt.ratio >= LIKELY_JOLT and not drove_on
    return jolt.ratio > 2 * SURE_JOLT or not drove_on or bool(candidates(view.paths, jolt.time, view.measures))


def _with_contact(scene: Scene, view: View, contact: Contact, candidate: Candidate | None) -> Scene:
    measures, lanes = view.measures, view.lanes
    own = ego_keeping(lanes, measures, contact.time, view.steered)
    before = measures.times < contact.time - 0.1
    known = view.pace[before & np.isfinite(view.pace)]
    never = 0.9 if len(known) > 0.6 * before.sum() and float(known.min()) > STANDS * view.usual else 0.0
    last = view.pace[(measures.times >= contact.time - 0.6) & before]
    stands = len(last) >= 4 and bool(np.isfinite(last).all()) and float(np.abs(last).max()) < STANDS * view.usual
    stands = stands and not any(
        s.state == "moving" and s.start < contact.time - 0.1 and s.end > contact.time - 0.6 for s in scene.ego
    )
    scene = scene._replace(contact=contact, ego_keeping=own, ego_never_stood=never, ego_stopped=0.85 if stands else 0.0)
    place = _place(own, lanes, measures)
    candidate = overtaken(view.paths, own, place, contact.time, measures.size[1]) or candidate
    if candidate is None:
        return scene._replace(roadway=Roadway(hatched=None))
    rival = rival_from(candidate, view.paths, measures, view.comb, view.way, contact.time, own, place)
    if rival is None or _unlikely(rival, scene.ego_stopped):
        return scene
    mover = _mover(rival.keeping, own)
    start = rival.beside + place if mover is rival.keeping else place
    roadway = read_markings(measures, view.comb, view.way, contact.time, mover, start, rival.beside + place)
    return scene._replace(rival=rival, roadway=roadway, leader=_leader(view, contact.time, rival.track))


def _unlikely(rival: Rival, ego_stopped: float) -> bool:
    """Whoever the ego can't have hit: it stands, and the other does not come; or the other came by on its own side."""
    if ego_stopped > 0 and rival.heading != "crossing":
        return True
    return rival.heading == "oncoming" and abs(rival.inner) > 0.4 and not rival.keeping.moves


def _mover(rival: Keeping, own: Keeping) -> Keeping | None:
    if rival.moves:
        return rival
    return own if own.moves else None


def _place(own: Keeping, lanes: Lanes, measures: Measures) -> float:
    """The ego's place in lanes before it moved."""
    first = own.moves[0].start if own.moves else own.end
    early = measures.times <= max(first, measures.times[0] + 0.5)
    return float(np.median(lanes.offset[early]))


def _leader(view: View, time: float, rival: int) -> bool:
    """Whether a vehicle was ahead in the ego's lane about the contact, beyond what was hit."""
    for path in view.paths:
        around = (path.times >= time - 0.8) & (path.times <= time + 1.2)
        if path.number == rival or around.sum() < 4 or float(np.abs(np.median(path.beside[around]))) > 0.45:
            continue
        if float(path.near[around].max()) < 0.2 * view.measures.size[1] and path.width > 1.0:
            return True
    return False
