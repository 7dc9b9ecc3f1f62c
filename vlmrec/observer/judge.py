"""From measures to a scene: what happened, and how sure that is. Pure.

The order of thought: is the footage coherent; was the camera knocked as by a collision; which tracked vehicle was
there at that moment; how did it and the ego get there; what do the markings say.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from vlmrec.observer.candidates import Candidate
from vlmrec.observer.conduct import STANDS
from vlmrec.observer.contact import LIKELY_JOLT, calm, find_contact, suspects
from vlmrec.observer.ego import ego_keeping, ego_spans, place_before, smooth_pace, travelled, usual_pace
from vlmrec.observer.gauge import too_wide
from vlmrec.observer.jolts import Jolt, find_jolts
from vlmrec.observer.markings import read_markings
from vlmrec.observer.measure import Measures
from vlmrec.observer.merging import parted
from vlmrec.observer.overtaken import overtaken
from vlmrec.observer.paths import path_of
from vlmrec.observer.pieces import joined
from vlmrec.observer.rivals import rival_from
from vlmrec.observer.rows import in_rows
from vlmrec.observer.scene import Contact, Keeping, Rival, Roadway, Scene
from vlmrec.observer.sights import ego_place, list_sights
from vlmrec.observer.steering import course
from vlmrec.observer.table import Hint
from vlmrec.observer.view import View

Floats = NDArray[np.float64]


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
    if (
        lanes is None
        or lanes.confidence < 0.5
        or usual <= 0
        or too_wide(measures.tracks, lanes.spacing, measures.size[0])
    ):
        return scene
    jolts = find_jolts(measures.steps)
    knocks = [jolt.time for jolt in jolts if jolt.ratio >= LIKELY_JOLT]
    lanes, comb, column, steered = course(lanes, measures, pace, knocks)
    way = travelled(measures, pace)
    measures, rows = in_rows(measures, lanes, way)
    paths = tuple(path_of(track, measures, lanes, column) for track in measures.tracks)
    paths = joined(parted(paths), times, way)
    view = View(measures, lanes, comb, steered, pace, way, usual, paths, rows)
    ego_lane, lane_count = ego_place(measures, comb)
    scene = scene._replace(ego_lane=ego_lane, lane_count=lane_count)
    contact, candidate = find_contact(view, jolts) if hint is None else _told(view, jolts, hint)
    if contact is None:
        own = ego_keeping(lanes, measures, float(times[-1]), steered)
        scene = scene._replace(calm=calm(view, jolts) if hint is None else 0.0, ego_keeping=own)
    else:
        scene = _with_contact(scene, view, contact, candidate)
    return scene._replace(sights=list_sights(paths, measures, view.way, scene.rival, ego_lane))


def _told(view: View, jolts: Sequence[Jolt], hint: Hint) -> tuple[Contact | None, Candidate | None]:
    """Contact and counterpart as a table in the request has them, as far as the film bears them out."""
    contact, _ = find_contact(view, jolts)
    if hint.contact is not None and (contact is None or abs(contact.time - hint.contact) > 0.5):
        near = [jolt for jolt in jolts if abs(jolt.time - hint.contact) <= 0.5]
        contact = Contact(near[0].time if near else hint.contact, 0.7 if near else 0.5)
    if contact is None:
        return None, None
    found = suspects(view, contact.time)
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
    place = place_before(own, lanes, measures)
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


def _leader(view: View, time: float, rival: int) -> bool:
    """Whether a vehicle was ahead in the ego's lane about the contact, beyond what was hit."""
    for path in view.paths:
        around = (path.times >= time - 0.8) & (path.times <= time + 1.2)
        if path.number == rival or around.sum() < 4 or float(np.abs(np.median(path.beside[around]))) > 0.45:
            continue
        if float(path.near[around].max()) < 0.2 * view.measures.size[1] and path.width > 1.0:
            return True
    return False
