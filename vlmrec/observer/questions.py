"""What a scene says to each question it can answer, in the ledger's words.

A finding is a value with its evidence, or an abstention with its reason. The caller sees to it that a value is
among the options shown.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import NamedTuple

from vlmrec.observer.scene import Keeping, Scene
from vlmrec.terms import Party, Status

SAME_LANE = 0.35  # lanes between two vehicles in one lane, at most
NEXT_LANE = (0.62, 1.4)
TWO_APART = (1.6, 2.5)


class Finding(NamedTuple):
    """An answer in the making. ``value`` is a domain code, None in an abstention."""

    status: Status
    value: str | None
    reason: str
    start: float | None = None
    end: float | None = None
    confidence: float | None = None


def unknown(reason: str) -> Finding:
    """The abstention that says: not measured."""
    return Finding(Status.UNKNOWN, None, reason)


def observed(value: str, reason: str, start: float, end: float, confidence: float) -> Finding:
    """A value with the seconds that show it."""
    return Finding(Status.OBSERVED, value, reason, start, end, confidence)


def ego_motion(scene: Scene) -> Finding:
    """Moving or stopped over the whole clip, for any question with those two options about the ego."""
    if len({span.state for span in scene.ego}) != 1:
        return unknown("the recording vehicle's motion changes, or could not be measured")
    span = scene.ego[0]
    return observed(span.state, "flow of the ground", span.start, scene.ego[-1].end, span.confidence)


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
    if rival.how == "passed" and not _towards(scene):
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
    if rival is None:
        return unknown("no counterpart")
    apart, until = abs(rival.beside), _first_move(scene)
    if rival.place == "edge" and rival.stood > 0:
        start = min(rival.start, until)
        return observed("lane_vs_roadside", "it stood beyond the edge line", start, until, rival.confidence)
    if rival.start > until - 0.3:
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
    if rival is None or rival.came_past:
        return unknown("no counterpart seen ahead before the first manoeuvre")
    if rival.alongside is None:
        return unknown("between ahead and beside")
    if rival.alongside:
        return observed("side_by_side", "its rear was out of the picture", rival.start, _first_move(scene), 0.7)
    return observed("other_ahead", "it was seen ahead", rival.start, _first_move(scene), rival.confidence)


def maneuver(scene: Scene, party: Party) -> Finding:
    """Lane kept or left, by the place between the lines over time."""
    keeping, contact, rival = _keeping(scene, party), scene.contact, scene.rival
    if keeping is None or (party is Party.OTHER and (rival is None or rival.heading == "crossing")):
        return unknown("its way could not be followed")
    until = contact.time if contact is not None else scene.end
    move = keeping.last
    if party is Party.OTHER and rival is not None and rival.stood > 0 and move is None:
        settled = rival.place == "edge" or (rival.how == "ahead" and abs(rival.at_contact) <= 0.35)
        if settled and rival.late_pace is not None and rival.late_pace < 0.25:
            return observed("stopped", "it stood on the road", rival.start, min(until, rival.end), rival.stood)
        return unknown("it stood, and what it did then was not seen")
    if move is not None:
        if move.end < until - 2.5:
            return unknown("it changed lane, and drove on for a while")
        at_edge = rival is not None and rival.place == "edge" and rival.stood > 0
        if party is Party.SELF and at_edge and abs(keeping.moves[0].shift) < 0.8 and len(keeping.moves) == 1:
            return observed(
                "straight", "it drifted to the edge without leaving its lane for another", move.start, until, 0.7
            )
        reason = f"{move.shift:+.2f} lanes across the road"
        return observed("lane_change", reason, move.start, move.end, move.confidence)
    if party is Party.SELF and scene.ego_stopped > 0:
        return observed("stopped", "the ground stood still", until - 0.6, until, scene.ego_stopped)
    if keeping.kept > 0:
        return observed("straight", "it kept its place between the lines", keeping.start, keeping.end, keeping.kept)
    return unknown("it neither clearly kept its lane nor clearly left it")


def lane_change_direction(scene: Scene, party: Party) -> Finding:
    """The side of the last move."""
    keeping = _keeping(scene, party)
    move = keeping.last if keeping is not None else None
    if move is None or maneuver(scene, party).value != "lane_change":
        return unknown("no lane change was measured")
    return observed(move.side, f"{move.shift:+.2f} lanes", move.start, move.end, move.confidence)


def target_lane_relation(scene: Scene, party: Party) -> Finding:
    """Into the other one's lane, or into one that both were moving into."""
    rival, own = scene.rival, scene.ego_keeping
    keeping = _keeping(scene, party)
    move = keeping.last if keeping is not None else None
    if rival is None or own is None or move is None or maneuver(scene, party).value != "lane_change":
        return unknown("no lane change of two known vehicles")
    other = own if party is Party.OTHER else rival.keeping
    right = rival.beside < 0 if party is Party.OTHER else rival.beside > 0
    if rival.how == "passed":
        right = rival.inner > 0
    if (move.shift > 0) != right:
        return unknown("it did not move towards the other one")
    if other.moves and TWO_APART[0] <= abs(rival.beside):
        return observed("common_lane", "both moved into the lane between", move.start, move.end, move.confidence)
    if not other.moves and (abs(rival.beside) <= NEXT_LANE[1]):
        return observed("rivals_lane", "it moved into the other one's lane", move.start, move.end, move.confidence)
    return unknown("where it went as seen from the other one is not clear")


def overtaking(scene: Scene, party: Party) -> Finding:
    """Past the other one or not; what comes from behind the camera is out of sight."""
    rival, contact, own = scene.rival, scene.contact, scene.ego_keeping
    if rival is None or contact is None or own is None:
        return unknown("no counterpart")
    seen = (rival.start, min(contact.time, rival.end))
    if party is Party.OTHER:
        if rival.came_past:
            return unknown("it came from behind the camera")
        if rival.start < contact.time - 1.2:
            return observed("none", "it was ahead or beside until the contact", *seen, rival.confidence)
        return unknown("seen too briefly")
    if len(own.moves) >= 2 and own.moves[-1].shift * own.moves[0].shift < 0 and abs(rival.beside) <= SAME_LANE:
        if rival.how != "ahead" and abs(rival.at_contact) >= NEXT_LANE[0] and _towards(scene):
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
    return observed(
        "left" if rival.inner > 0 else "right", "the passed one was on that side", rival.start, rival.end, 0.75
    )


def prior_stop_kind(scene: Scene, party: Party) -> Finding:
    """Whether it had been standing, and among others or alone."""
    rival, contact = scene.rival, scene.contact
    if contact is None:
        return unknown("no contact")
    if party is Party.SELF:
        if scene.ego_never_stood > 0:
            return observed("none", "the ground never stood still", scene.start, contact.time, scene.ego_never_stood)
        return unknown("the ego's pace could not be followed")
    if rival is None:
        return unknown("no counterpart")
    if rival.stood > 0:
        if rival.place == "edge":
            return observed("standing", "it stood beyond the edge line", rival.start, _first_move(scene), rival.stood)
        if rival.place == "lane" and rival.queued:
            return observed(
                "queue", "it stood in a row of standing vehicles", rival.start, _first_move(scene), rival.stood
            )
        return unknown("it stood, and why is not clear")
    if rival.never_stood > 0:
        return observed("none", "it was moving whenever seen", rival.start, rival.end, rival.never_stood)
    return unknown("its pace could not be followed")


def motion_at_contact(scene: Scene, party: Party) -> Finding:
    """Moving or not just before the contact."""
    rival, contact = scene.rival, scene.contact
    if rival is None or contact is None:
        return unknown("no contact with a tracked vehicle")
    span = (contact.time - 0.6, contact.time)
    if party is Party.SELF:
        if scene.ego_never_stood > 0:
            return observed("moving", "the ground ran", *span, scene.ego_never_stood)
        return unknown("not measured")
    if rival.stood > 0:
        if rival.place == "edge" and rival.keeping.moves:
            return observed("moving_off", "it had stood at the edge and set off", *span, rival.stood)
        if rival.place == "edge" and rival.late_pace is not None and rival.late_pace < 0.25:
            return observed("standing", "it stood at the edge all the time", *span, rival.stood)
        return unknown("it had stood, and how it moved then is not clear")
    if rival.late_pace is not None and rival.late_pace > 0.22 and rival.never_stood + rival.late_pace > 0.3:
        return observed("moving", "its own pace along the road", *span, 0.75)
    if rival.late_pace is not None and rival.pace is not None and rival.late_pace < 0.22 and rival.pace > 0.45:
        return observed("just_stopped", "it had been moving and was all but standing", *span, 0.65)
    return unknown("too slow to tell moving from standing")


def stop_place(scene: Scene, party: Party) -> Finding:
    """Where the counterpart stood."""
    rival = scene.rival
    if party is not Party.OTHER or rival is None or rival.stood <= 0 or rival.place is None:
        return unknown("not measured")
    value = "road_edge" if rival.place == "edge" else "in_lane"
    return observed(value, "paint on both sides of it, or not", rival.start, _first_move(scene), rival.stood)


def stop_reason(scene: Scene, party: Party) -> Finding:
    """Standing beyond the edge line all the time it was seen is parking or waiting; of the rest nothing is said."""
    rival, contact = scene.rival, scene.contact
    if party is not Party.OTHER or rival is None or contact is None or rival.stood <= 0 or rival.place != "edge":
        return unknown("not measured")
    return observed("parked_or_waiting", "it stood beyond the edge line", rival.start, _first_move(scene), 0.7)


def contact_area(scene: Scene, party: Party) -> Finding:
    """Straight ahead means its rear and the ego's front; at the picture's edge, sides."""
    rival, contact, own = scene.rival, scene.contact, scene.ego_keeping
    if rival is None or contact is None or own is None or rival.heading not in ("same", None):
        return unknown("no contact with a tracked vehicle")
    span = (contact.time - 0.3, contact.time + 0.3)
    if rival.small > 0:
        return unknown("what was hit is narrower than a car")
    if rival.how == "ahead" and abs(rival.at_contact) <= 0.35 and not rival.alongside:
        value = "front" if party is Party.SELF else "rear"
        return observed(value, "it was straight ahead", *span, rival.confidence)
    if rival.how == "beside" and rival.stood > 0 and rival.keeping.moves and not own.moves:
        value = "side" if party is Party.SELF else "front_corner"
        return observed(value, "it turned out beside the camera and left the picture", *span, 0.65)
    return unknown("the contact was off the middle")


def lane_ends(scene: Scene, party: Party) -> Finding:
    """Whether the far line of the lane that was left runs on behind the contact."""
    found = scene.roadway.lane_ends
    if found and party is Party.SELF:
        return unknown("the end of the ego's own lane would have to be seen ahead")
    if maneuver(scene, party).value != "lane_change":
        return unknown("no lane change was measured")
    rival = scene.rival
    if found is None and party is Party.OTHER and rival is not None and rival.queued and rival.place == "lane":
        return observed("no", "others stood ahead of it in that lane", rival.start, rival.end, 0.7)
    if found is None:
        return unknown("not measured")
    keeping = _keeping(scene, party)
    start = keeping.start if keeping is not None else scene.start
    reason = "the far line of the lane it left is gone" if found else "the far line of the lane it left runs on"
    return observed("yes" if found else "no", reason, start, scene.end, 0.75)


def safety_zone(scene: Scene, party: Party) -> Finding:
    """Hatching on the ego's own lane."""
    hatched, contact = scene.roadway.hatched, scene.contact
    if contact is None:
        return unknown("not measured")
    if party is Party.OTHER:
        rival = scene.rival
        same = rival is not None and rival.place == "lane" and abs(rival.beside) <= SAME_LANE
        if rival is not None and ((same and hatched == "no") or scene.roadway.clean_side):
            return observed("not_crossed", "no hatching on the lane it was in", rival.start, contact.time, 0.7)
        return unknown("the road under it is not seen")
    if hatched is None:
        return unknown("not measured")
    value = {"no": "not_crossed", "at_edge": "inside_or_at_edge", "cleared": "fully_left"}[hatched]
    reason = "no paint inside the lane" if hatched == "no" else "hatching inside the lane, and the way since"
    return observed(value, reason, scene.start, contact.time, 0.75)


def falling_object(scene: Scene, party: Party) -> Finding:
    """A thing that appeared where a vehicle ahead was, and stayed behind it."""
    if collision(scene, party).value == "object_contact" and scene.rival is not None:
        return observed("other_lost", "it came from the vehicle ahead", scene.rival.start, scene.rival.end, 0.75)
    return unknown("not measured")


def lane_line(scene: Scene, party: Party) -> Finding:
    """The line that was crossed."""
    move, roadway = maneuver(scene, party), scene.roadway
    if move.value != "lane_change" or roadway.divider is None or roadway.divider_tint != "white" or move.start is None:
        return unknown("not measured")
    return observed(f"{roadway.divider}_white", "how much of it is painted", scene.start, move.start + 0.5, 0.75)


def centre_line_crossed(scene: Scene, party: Party) -> Finding:
    """No, where the crossed line is white; a yellow one says yes."""
    move, tint = maneuver(scene, party), scene.roadway.divider_tint
    if move.value != "lane_change" or tint is None or move.start is None or move.end is None:
        return unknown("not measured")
    return observed("yes" if tint == "yellow" else "no", f"the crossed line is {tint}", move.start, move.end, 0.75)


def road_class(scene: Scene, _: Party) -> Finding:
    """A yellow line between the directions and no barrier: an ordinary road. Of other roads nothing is said."""
    rival = scene.rival
    if scene.contact is not None:
        if scene.roadway.undivided:
            return observed("ordinary", "only a yellow line parts the directions", scene.start, scene.contact.time, 0.7)
        if rival is not None and rival.place == "edge" and rival.stood > 0 and rival.queued:
            return observed("ordinary", "a row of vehicles is parked along it", rival.start, rival.end, 0.7)
    return unknown("not measured")


def no_overtaking_place(scene: Scene, _: Party) -> Finding:
    """No, where the lines run on without a pause under an open sky."""
    if scene.roadway.unbroken and scene.contact is not None:
        return observed("no", "the lines run on: no junction", scene.start, scene.contact.time, 0.62)
    return unknown("not measured")


def _first_move(scene: Scene) -> float:
    """When the first of the two moved over, else the contact."""
    starts = [k.moves[0].start for k in (scene.ego_keeping, scene.rival and scene.rival.keeping) if k and k.moves]
    return min(starts, default=scene.contact.time if scene.contact is not None else scene.end)


def _towards(scene: Scene) -> bool:
    """Whether the ego's last move led towards the side the counterpart was on, and reached the contact."""
    rival, own, contact = scene.rival, scene.ego_keeping, scene.contact
    if rival is None or own is None or contact is None or own.last is None:
        return False
    return (own.last.shift > 0) == (rival.inner > 0) and own.last.end > contact.time - 0.8


def _keeping(scene: Scene, party: Party) -> Keeping | None:
    if party is Party.SELF:
        return scene.ego_keeping
    return scene.rival.keeping if scene.rival is not None else None


Answerer = Callable[[Scene, Party], Finding]

QUESTIONS: Mapping[str, Answerer] = MappingProxyType(
    {
        "q_collision": collision,
        "q_direction_relation": direction_relation,
        "q_lane_relation": lane_relation,
        "q_order": order,
        "q_maneuver": maneuver,
        "q_lane_change_direction": lane_change_direction,
        "q_target_lane_relation": target_lane_relation,
        "q_overtaking": overtaking,
        "q_prior_stop_kind": prior_stop_kind,
        "q_motion_at_contact": motion_at_contact,
        "q_contact_area": contact_area,
        "q_lane_ends": lane_ends,
        "q_overtaking_side": overtaking_side,
        "q_stop_place": stop_place,
        "q_stop_reason": stop_reason,
        "q_falling_object": falling_object,
        "q_lane_line": lane_line,
        "q_centre_line_crossed": centre_line_crossed,
        "q_road_class": road_class,
        "q_no_overtaking_place": no_overtaking_place,
        "q_safety_zone": safety_zone,
    }
)
