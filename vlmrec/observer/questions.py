"""Which question of the ledger is answered by which function."""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from vlmrec.observer import motions, relations
from vlmrec.observer.finding import Finding
from vlmrec.observer.scene import Scene
from vlmrec.terms import Party

Answerer = Callable[[Scene, Party], Finding]

QUESTIONS: Mapping[str, Answerer] = MappingProxyType(
    {
        "q_collision": relations.collision,
        "q_direction_relation": relations.direction_relation,
        "q_lane_relation": relations.lane_relation,
        "q_order": relations.order,
        "q_maneuver": motions.maneuver,
        "q_lane_change_direction": motions.lane_change_direction,
        "q_target_lane_relation": motions.target_lane_relation,
        "q_overtaking": relations.overtaking,
        "q_prior_stop_kind": motions.prior_stop_kind,
        "q_motion_at_contact": motions.motion_at_contact,
        "q_contact_area": motions.contact_area,
        "q_lane_ends": motions.lane_ends,
        "q_overtaking_side": relations.overtaking_side,
        "q_stop_place": motions.stop_place,
        "q_stop_reason": motions.stop_reason,
        "q_falling_object": relations.falling_object,
        "q_lane_line": motions.lane_line,
        "q_centre_line": motions.centre_line,
        "q_overtaking_gap": relations.overtaking_gap,
        "q_centre_line_crossed": motions.centre_line_crossed,
        "q_road_class": relations.road_class,
        "q_no_overtaking_place": relations.no_overtaking_place,
        "q_safety_zone": motions.safety_zone,
    }
)
