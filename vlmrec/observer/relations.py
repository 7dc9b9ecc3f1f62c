"""Answers about the case as a whole: what was hit, how the two stood to each other, who went past whom, what road it was."""

from vlmrec.observer.finding import (
    NEXT_LANE,
    SAME_LANE,
    TWO_APART,
    Finding,
    both_moved,
    first_move,
    moved_towards,
    observed,
    own_kept,
    unknown,
)
from vlmrec.observer.scene import Scene
from vlmrec.observer.sideways import caught_moving
from vlmrec.terms import Party

DRAWN_UP = 1.0  # s that one which came into the picture beside the camera must be seen before anybody moves over
IN_SIGHT, SLOWER = 0.5, 0.9  # s from the film's start; of the ego's pace: what is slower was ahead before it was seen
TIGHT, AMPLE = 1.1, 2.2  # s from the camera to the rear ahead


def collision(scene: Scene, _: Party) -> Finding:
    """A knock together with a vehicle that was there; or a whole film without a knock."""
    contact, rival = scene.contact, scene.rival
    if contact is None:
        if scene.calm > 0:
            return observed("no_contact", "the camera was never knocked", scene.start, scene.end, scene.calm)
        return unknown("no knock of the camera stands out")
    if rival is None:
        return unknown("a knock, and no vehicle in contact range")
    sure = min(contact.confidence, rival.confidence)
    span = (contact.time - 0.3, contact.time + 0.7)
    if rival.small > 0:
        if scene.leader or rival.shed:
            return observed("object_contact", "a thing narrower than a car, from the vehicle ahead", *span, sure)
        return unknown("what was hit is narrower than a car")
    if rival.how == "passed" and not moved_towards(scene):
        return unknown("a knock, and the vehicle just passed was not approached")
    return observed("vehicle_contact", "the camera was knocked with a vehicle in contact range", *span, sure)


def direction_relation(scene: Scene, _: Party) -> Finding:
    """The counterpart's own pace along the road: with the ego, against it, or across."""
    rival = scene.rival
    if rival is None or rival.heading is None or scene.contact is None:
        return unknown("no counterpart whose heading could be measured")
    value = {"same": "same_direction", "oncoming": "oncoming", "crossing": "crossing"}[rival.heading]
    reason = "its own pace along the road" if rival.heading != "crossing" else "it swept across the road"
    start = max(rival.start, min(scene.contact.time, rival.end) - 3.0)
    return observed(value, reason, start, min(scene.contact.time, rival.end), rival.confidence)


def lane_relation(scene: Scene, _: Party) -> Finding:
    """Lanes between the two before the first of them moved."""
    rival = scene.rival
    if rival is None or rival.heading != "same":
        return unknown("no counterpart known to go the same way")
    if rival.overtakes:
        return unknown("it came from behind the camera")
    apart, until = abs(rival.beside), first_move(scene)
    if rival.place == "edge" and rival.stood > 0:
        start = min(rival.start, until)
        return observed("lane_vs_roadside", "it stood beyond the edge line", start, until, rival.confidence)
    if both_moved(scene):
        reason = f"{apart:.2f} lanes apart and both on their way into the lane between"
        return observed("two_lanes_apart", reason, rival.start, max(until, rival.start), rival.confidence)
    if rival.drew_up and rival.start > until - DRAWN_UP:
        return unknown("it came from beside or behind the camera")
    if rival.drew_up and not rival.keeping.moves and rival.keeping.kept <= 0:
        return unknown("it came from beside the camera, and neither clearly kept its lane nor clearly left it")
    if own_kept(scene) and caught_moving(rival.keeping, rival.beside, rival.start) and rival.place == "lane":
        reason = f"{apart:.2f} lanes apart and on its way over the line"
        return observed("adjacent_lane", reason, rival.start, max(until, rival.start), rival.confidence)
    if rival.start > until - 0.2 and rival.keeping.kept <= 0:
        return unknown("it came into sight when the first of the two had begun to move")
    if rival.place != "lane":
        return unknown("whether it was in a lane could not be read")
    if apart <= SAME_LANE:
        value = "same_lane"
    elif NEXT_LANE[0] <= apart <= NEXT_LANE[1]:
        value = "adjacent_lane"
    elif TWO_APART[0] <= apart <= TWO_APART[1]:
        value = "two_lanes_apart"
    else:
        return unknown(f"{apart:.2f} lanes apart fits no relation")
    return observed(value, f"{apart:.2f} lanes apart", rival.start, until, rival.confidence)


def order(scene: Scene, _: Party) -> Finding:
    """Who was ahead before the first move; only what is ahead of the camera can be seen."""
    rival = scene.rival
    if rival is None or rival.overtakes or rival.heading != "same":
        return unknown("no counterpart seen ahead before the first manoeuvre")
    if rival.drew_up and rival.start > first_move(scene) - DRAWN_UP:
        return unknown("it came from beside or behind the camera")
    falls_back = rival.keeping.kept > 0 and rival.pace is not None and rival.pace < 0.9  # was further ahead before
    if rival.start > first_move(scene) - 0.2 and not falls_back:
        return unknown("it came into sight when the first of the two had begun to move")
    if rival.alongside is None:
        return unknown("between ahead and beside")
    until = max(first_move(scene), rival.start + 0.2)
    if rival.alongside:
        return observed("side_by_side", "its rear was out of the picture", rival.start, until, 0.7)
    return observed("other_ahead", "it was seen ahead", rival.start, until, rival.confidence)


def overtaking(scene: Scene, party: Party) -> Finding:
    """Past the other one or not; what comes from behind the camera is out of sight."""
    rival, contact, own = scene.rival, scene.contact, scene.ego_keeping
    if rival is None or contact is None or own is None or rival.heading != "same":
        return unknown("no counterpart known to go the same way")
    seen = (rival.start, min(contact.time, rival.end))
    if party is Party.OTHER:
        if rival.overtakes:
            return unknown("it came from behind the camera")
        if rival.stood > 0 and not rival.drew_up:
            return observed("none", "it stood ahead, and the ego came up to it", *seen, rival.stood)
        if rival.start > scene.start + IN_SIGHT and (rival.pace is None or rival.pace > SLOWER):
            return unknown("it came into sight at about the ego's pace, and may have come from behind")
        if rival.start < contact.time - (DRAWN_UP + 1.0 if rival.drew_up else 1.2):
            return observed("none", "it was ahead or beside until the contact", *seen, rival.confidence)
        return unknown("seen too briefly")
    if len(own.moves) >= 2 and own.moves[-1].shift * own.moves[0].shift < 0 and abs(rival.beside) <= SAME_LANE:
        if rival.how != "ahead" and abs(rival.at_contact) >= NEXT_LANE[0] and moved_towards(scene):
            return observed("cut_in", "it moved out, past it and back", own.moves[0].start, contact.time, 0.75)
        return unknown("not clear whether it came back in front")
    if rival.stood > 0 and rival.place == "edge" and rival.keeping.moves:
        return observed("passing", "it was passing the standing one", *seen, 0.75)
    if rival.how == "ahead" and abs(rival.at_contact) <= 0.35 and rival.never_stood > 0:
        return observed("none", "the other was ahead until the contact", *seen, rival.confidence)
    return unknown("not measured")


def overtaking_side(scene: Scene, party: Party) -> Finding:
    """The side on which the ego passed."""
    rival = scene.rival
    if party is not Party.SELF or rival is None or overtaking(scene, party).value not in ("cut_in", "passing"):
        return unknown("not measured")
    on_right = (rival.beside if rival.stood > 0 else rival.inner) > 0  # who sets off may be in the ego's way by then
    return observed("left" if on_right else "right", "the passed one was on that side", rival.start, rival.end, 0.75)


def overtaking_gap(scene: Scene, party: Party) -> Finding:
    """How far behind the other one the ego was when it pulled out, in seconds at its own pace."""
    rival, own = scene.rival, scene.ego_keeping
    if party is not Party.SELF or overtaking(scene, party).value not in ("cut_in", "passing"):
        return unknown("not measured")
    if rival is None or own is None or rival.headway is None or not own.moves:
        return unknown("the distance at which the overtaking began was not measured")
    start = own.moves[0].start
    if TIGHT < rival.headway < AMPLE:
        return unknown(f"{rival.headway:.1f} s behind is neither close nor ample")
    value = "close" if rival.headway <= TIGHT else "ample"
    return observed(value, f"{rival.headway:.1f} s behind it", max(scene.start, start - 0.5), start + 0.5, 0.75)


def falling_object(scene: Scene, party: Party) -> Finding:
    """A thing that appeared where a vehicle ahead was, and stayed behind it."""
    if collision(scene, party).value == "object_contact" and scene.rival is not None:
        return observed("other_lost", "it came from the vehicle ahead", scene.rival.start, scene.rival.end, 0.75)
    return unknown("not measured")


def road_class(scene: Scene, _: Party) -> Finding:
    """A footway, a yellow line between the directions, or vehicles parked in a row: an ordinary road. Of other roads
    nothing is said.
    """
    rival = scene.rival
    if scene.contact is not None:
        if scene.roadway.undivided:
            return observed("ordinary", "only a yellow line parts the directions", scene.start, scene.contact.time, 0.7)
        if scene.roadway.footway:
            return observed("ordinary", "a footway runs along it", scene.start, scene.contact.time, 0.8)
        if rival is not None and rival.place == "edge" and rival.stood > 0 and rival.queued:
            return observed("ordinary", "a row of vehicles is parked along it", rival.start, rival.end, 0.7)
    return unknown("not measured")


def no_overtaking_place(scene: Scene, _: Party) -> Finding:
    """No, where the lines run on without a pause under an open sky."""
    if overtaking(scene, Party.SELF).value != "cut_in":
        return unknown("no overtaking was measured")
    if scene.roadway.unbroken and scene.contact is not None:
        return observed("no", "the lines run on: no junction", scene.start, scene.contact.time, 0.62)
    return unknown("not measured")
