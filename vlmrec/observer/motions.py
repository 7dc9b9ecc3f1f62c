"""Answers about one of the two vehicles: how it moved, stopped and crossed the paint on the road."""

from vlmrec.observer.finding import NEXT_LANE, SAME_LANE, Finding, both_moved, first_move, keeping_of, observed, unknown
from vlmrec.observer.overtaken import out_and_back
from vlmrec.observer.scene import Scene
from vlmrec.terms import Party

STILL_TURNED = 0.3  # s before the contact: one that moved over up to then points aside
HARDLY_MOVING = 0.1  # of the ego's pace over the last moments: one that still moves is measured to go quicker


def ego_motion(scene: Scene) -> Finding:
    """Moving or stopped over the whole clip, for any question with those two options about the ego."""
    if len({span.state for span in scene.ego}) != 1:
        return unknown("the recording vehicle's motion changes, or could not be measured")
    span = scene.ego[0]
    return observed(span.state, "flow of the ground", span.start, scene.ego[-1].end, span.confidence)


def maneuver(scene: Scene, party: Party) -> Finding:
    """Lane kept or left, by the place between the lines over time."""
    keeping, contact, rival = keeping_of(scene, party), scene.contact, scene.rival
    if keeping is None or (party is Party.OTHER and (rival is None or rival.heading != "same")):
        return unknown("its way could not be followed")
    until = contact.time if contact is not None else scene.end
    move = keeping.last
    if party is Party.OTHER and rival is not None and rival.stood > 0 and move is None:
        if rival.place == "edge" and scene.ego_keeping is not None and scene.ego_keeping.kept > 0:
            return unknown("it stood out of the ego's way, and the ego kept its lane: one of the two moved over unseen")
        settled = rival.place == "edge" or (rival.how == "ahead" and abs(rival.at_contact) <= 0.35)
        if settled and (rival.stayed or (rival.late_pace is not None and rival.late_pace < 0.25)):
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
    if party is Party.SELF and keeping.kept <= 0 and 0.2 < abs(keeping.drift) < 0.55:
        reason = f"it drifted {keeping.drift:+.2f} lanes, to the edge of its lane, and went on along it"
        return observed("straight", reason, keeping.start, keeping.end, 0.7)
    if keeping.kept > 0:
        return observed("straight", "it kept its place between the lines", keeping.start, keeping.end, keeping.kept)
    return unknown("it neither clearly kept its lane nor clearly left it")


def lane_change_direction(scene: Scene, party: Party) -> Finding:
    """The side of the last move; of an overtaking manoeuvre, the side it moved out to."""
    keeping = keeping_of(scene, party)
    move = keeping.last if keeping is not None else None
    if keeping is None or move is None or maneuver(scene, party).value != "lane_change":
        return unknown("no lane change was measured")
    if (moves := out_and_back(keeping)) is not None:
        if party is not Party.SELF or scene.rival is None or scene.rival.how != "passed":
            return unknown("it moved out and back, past nothing that was seen")
        move = moves[0]  # an overtaking manoeuvre begins with moving out
    return observed(move.side, f"{move.shift:+.2f} lanes", move.start, move.end, move.confidence)


def target_lane_relation(scene: Scene, party: Party) -> Finding:
    """Into the other one's lane, or into one that both were moving into."""
    rival, own = scene.rival, scene.ego_keeping
    keeping = keeping_of(scene, party)
    move = keeping.last if keeping is not None else None
    if rival is None or own is None or move is None or maneuver(scene, party).value != "lane_change":
        return unknown("no lane change of two known vehicles")
    other = own if party is Party.OTHER else rival.keeping
    right = rival.beside < 0 if party is Party.OTHER else rival.beside > 0
    if rival.how == "passed":
        right = rival.inner > 0
    if (move.shift > 0) != right:
        return unknown("it did not move towards the other one")
    if both_moved(scene):
        return observed("common_lane", "both moved into the lane between", move.start, move.end, move.confidence)
    if other.kept > 0 and abs(rival.beside) <= NEXT_LANE[1]:
        return observed("rivals_lane", "it moved into the other one's lane", move.start, move.end, move.confidence)
    return unknown("where it went as seen from the other one is not clear")


def prior_stop_kind(scene: Scene, party: Party) -> Finding:
    """Whether it had been standing, and among others or alone."""
    rival, contact = scene.rival, scene.contact
    if contact is None:
        return unknown("no contact")
    if party is Party.SELF:
        if scene.ego_never_stood > 0:
            return observed("none", "the ground never stood still", scene.start, contact.time, scene.ego_never_stood)
        return unknown("the ego's pace could not be followed")
    if rival is None or rival.heading != "same":
        return unknown("no counterpart known to go the same way")
    if rival.stood > 0:
        if rival.place == "edge":
            return observed("standing", "it stood beyond the edge line", rival.start, first_move(scene), rival.stood)
        if rival.place == "lane" and rival.queued:
            return observed(
                "queue", "it stood in a row of standing vehicles", rival.start, first_move(scene), rival.stood
            )
        return unknown("it stood, and why is not clear")
    if rival.never_stood > 0 and rival.place == "lane":
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
    if rival.heading != "same":
        return unknown("which way it went is not known")
    if rival.how == "passed" or _gone_past(scene):
        return unknown("it was out of sight by then")
    if rival.stood > 0:
        if rival.place == "edge" and rival.keeping.moves:
            return observed("moving_off", "it had stood at the edge and set off", *span, rival.stood)
        kept = scene.ego_keeping is not None and scene.ego_keeping.kept > 0
        if rival.place == "edge" and not kept and rival.stayed:
            return observed("standing", "it stood at the edge all the time", *span, rival.stood)
        return unknown("it had stood, and how it moved then is not clear")
    if rival.place == "edge" and rival.never_stood <= 0:
        return unknown("it came from beyond the edge line, and whether it had stood there was not seen")
    quick = rival.late_pace is not None and rival.late_pace > 0.22 and rival.never_stood + rival.late_pace > 0.3
    if quick and not rival.halted:
        return observed("moving", "its own pace along the road", *span, 0.75)
    had_moved = rival.came_to_a_stand or (rival.pace is not None and rival.pace > 0.45)
    if had_moved and rival.halted is not None:
        if rival.halted:
            return observed("just_stopped", "it had been moving and then stood", *span, 0.65)
        if rival.late_pace is None or rival.late_pace > HARDLY_MOVING:
            return observed("moving", "it slowed down, and was moving still", *span, 0.65)
    return unknown("too slow to tell moving from standing")


def _gone_past(scene: Scene) -> bool:
    """Whether the ego had moved out, past it, and was moving back in front of it: its front end is behind the camera then."""
    rival, own = scene.rival, scene.ego_keeping
    return bool(rival and own and out_and_back(own) and abs(rival.beside) <= SAME_LANE and rival.how == "beside")


def stop_place(scene: Scene, party: Party) -> Finding:
    """Where the counterpart stood."""
    rival = scene.rival
    if party is not Party.OTHER or rival is None or rival.stood <= 0 or rival.place is None or rival.heading != "same":
        return unknown("not measured")
    value = "road_edge" if rival.place == "edge" else "in_lane"
    return observed(value, "paint on both sides of it, or not", rival.start, first_move(scene), rival.stood)


def stop_reason(scene: Scene, party: Party) -> Finding:
    """Standing beyond the edge line all the time it was seen is parking or waiting; of the rest nothing is said."""
    rival, contact = scene.rival, scene.contact
    if party is not Party.OTHER or rival is None or contact is None or rival.stood <= 0 or rival.place != "edge":
        return unknown("not measured")
    if rival.heading != "same":
        return unknown("which way it faced is not known")
    return observed("parked_or_waiting", "it stood beyond the edge line", rival.start, first_move(scene), 0.7)


def contact_area(scene: Scene, party: Party) -> Finding:
    """Straight ahead means its rear and the ego's front; at the picture's edge, sides."""
    rival, contact, own = scene.rival, scene.contact, scene.ego_keeping
    if rival is None or contact is None or own is None or rival.heading != "same":
        return unknown("no contact with a tracked vehicle")
    span = (contact.time - 0.3, contact.time + 0.3)
    if rival.small > 0:
        return unknown("what was hit is narrower than a car")
    if rival.place == "edge" and rival.stood > 0 and rival.keeping.moves:
        return unknown("it turned out of the roadside into the ego's way")
    if rival.how == "ahead" and abs(rival.at_contact) <= 0.35 and not rival.alongside:
        if rival.keeping.last is not None and rival.keeping.last.end > contact.time - STILL_TURNED:
            return unknown("it was coming over: turned aside like that, it may have been met by a corner")
        value = "front" if party is Party.SELF else "rear"
        return observed(value, "it was straight ahead", *span, rival.confidence)
    if rival.how == "beside" and rival.stood > 0 and rival.queued and rival.keeping.moves and not own.moves:
        value = "side" if party is Party.SELF else "front_corner"
        return observed(value, "it turned out beside the camera and left the picture", *span, 0.65)
    return unknown("the contact was off the middle")


def lane_ends(scene: Scene, party: Party) -> Finding:
    """Whether the far line of the lane that was left runs on behind the contact."""
    found = scene.roadway.lane_ends
    if found and party is Party.SELF:
        return unknown("the end of the ego's own lane would have to be seen ahead")
    if found and scene.ego_keeping is not None and scene.ego_keeping.moves:
        return unknown("the ego moved over itself, and may have lost that line from sight")
    move = maneuver(scene, party)
    if move.value != "lane_change" or move.confidence is None:
        return unknown("no lane change was measured")
    rival = scene.rival
    if found is None and party is Party.OTHER and rival is not None and rival.queued and rival.place == "lane":
        return observed("no", "others stood ahead of it in that lane", rival.start, rival.end, 0.7)
    if found is None:
        return unknown("not measured")
    keeping = keeping_of(scene, party)
    start = keeping.start if keeping is not None else scene.start
    reason = "the far line of the lane it left is gone" if found else "the far line of the lane it left runs on"
    return observed("yes" if found else "no", reason, start, scene.end, min(0.75, move.confidence))


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


def lane_line(scene: Scene, party: Party) -> Finding:
    """The line that was crossed."""
    move, roadway = maneuver(scene, party), scene.roadway
    if _from_behind(scene, party):
        return unknown("it came from behind, and where it crossed over was not seen")
    if move.value != "lane_change" or roadway.divider is None or roadway.divider_tint != "white" or move.start is None:
        return unknown("not measured")
    if party is Party.OTHER and scene.rival is not None and scene.rival.place == "edge":
        return unknown("it crossed the road's edge line, and whether another is not seen")
    return observed(f"{roadway.divider}_white", "how much of it is painted", scene.start, move.start + 0.5, 0.75)


def centre_line_crossed(scene: Scene, party: Party) -> Finding:
    """No, where the crossed line is white; a yellow one that the ego crossed says yes."""
    move, tint = maneuver(scene, party), scene.roadway.divider_tint
    if _from_behind(scene, party):
        return unknown("it came from behind, and where it crossed over was not seen")
    if move.value != "lane_change" or tint is None or move.start is None or move.end is None:
        return unknown("not measured")
    if tint == "yellow" and party is Party.OTHER:
        return unknown("it drove the ego's way beyond a yellow line: that may bound an area, not the oncoming traffic")
    return observed("yes" if tint == "yellow" else "no", f"the crossed line is {tint}", move.start, move.end, 0.75)


def centre_line(scene: Scene, _: Party) -> Finding:
    """The kind of a yellow line that the ego crossed; of lines that nobody crossed nothing is said."""
    crossed, roadway = centre_line_crossed(scene, Party.SELF), scene.roadway
    if crossed.value != "yes" or roadway.divider is None or crossed.start is None or crossed.end is None:
        return unknown("no yellow line was crossed in sight")
    return observed(f"{roadway.divider}_yellow", "how much of it is painted", crossed.start, crossed.end, 0.75)


def _from_behind(scene: Scene, party: Party) -> bool:
    return party is Party.OTHER and scene.rival is not None and scene.rival.overtakes
