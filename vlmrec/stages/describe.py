"""Q=describe-map in extraction: a free description, mapped to a code by declared rules. Pure; Korean and English.

What is asserted counts; what is denied, supposed or only asked does not (``vlmrec.projections.reading``), and
motion counts only for the vehicle asked about, in the time asked about (``describe_rules``). One code is an
answer; several are ``unknown``; a description that says that nothing can be seen is the abstention it says;
a description that no rule reads is no answer. Nothing is ever guessed.
"""

import re
from collections.abc import Sequence
from typing import Literal, NamedTuple

from vlmrec.projections.describe_rules import RULES as MOTIONS
from vlmrec.projections.describe_rules import describe_map
from vlmrec.projections.reading import find
from vlmrec.terms import Party, Status

_VEHICLE = r"(?:vehicle|car|truck|bus|van|suv|sedan|taxi|motorcycle|scooter|lorry)"
_OTHER_EN = r"\b(?:other|counterpart|opposing)(?: party)?(?: vehicle| car)? (?:is|was|appears as|looks like) (?:an? |the )?(?:\w+ ){0,3}?"
_OTHER_KO = r"상대\s?(?:차량?|방)(?:은|는|이|가)?\s?(?:[가-힣]+색\s?)?(?:\S+\s){0,2}?"


class Rule(NamedTuple):
    """Words that stand for one code; with ``said`` denied, it is their denial that does."""

    code: str
    pattern: str
    said: Literal["asserted", "denied"] = "asserted"


_TOUCH = (
    r"\b(?:collisions?|collid(?:e|es|ed|ing)|crash(?:es|ed)?|rear-end(?:s|ed)?|struck|strikes?|impact|contact(?:s|ed)?|hits?)\b"
    r"|충돌|추돌|접촉|부딪|들이받"
)

SCENE: dict[str, tuple[Rule, ...]] = {
    "q_collision": (
        Rule("object_contact", r"\b(?:fallen|falling|dropped|lost) (?:object|load|cargo)\b|낙하물|떨어진 (?:물체|짐|화물)"),
        Rule("vehicle_contact", _TOUCH),
        Rule("no_contact", _TOUCH, "denied"),
    ),
    "q_vehicle_kind": (
        Rule("truck", rf"{_OTHER_EN}(?:truck|lorry|pickup)\b|{_OTHER_KO}(?:트럭|화물차|덤프)"),
        Rule("bus", rf"{_OTHER_EN}bus\b|{_OTHER_KO}버스"),
        Rule("motorcycle", rf"{_OTHER_EN}(?:motorcycle|motorbike|scooter)\b|{_OTHER_KO}(?:오토바이|이륜차|스쿠터)"),
        Rule("bicycle", rf"{_OTHER_EN}(?:bicycle|bike|cyclist)\b|{_OTHER_KO}자전거"),
        Rule("pedestrian", rf"{_OTHER_EN}(?:pedestrian|person)\b|{_OTHER_KO}(?:보행자|사람)"),
        Rule("car", rf"{_OTHER_EN}(?:car|sedan|suv|van|taxi|hatchback|minivan)\b|{_OTHER_KO}(?:승용차|승합차|택시|세단|SUV)"),
    ),
    "q_direction_relation": (
        Rule("same_direction", r"\bsame[- ](?:direction|way)\b|\bparallel same-direction\b|같은 방향|동일\s?방향"),
        Rule("oncoming", r"\boncoming\b|\bopposite direction\b|\bhead-on\b|마주|반대\s?방향|맞은편"),
        Rule("crossing", r"\bperpendicular(?:ly)?\b|\bcrossing (?:road|course|path)\b|\bfrom (?:a|the) (?:cross|crossing|side) (?:road|street)\b"
                         r"|교차(?:하는)? 도로|직각|다른 도로에서"),
    ),
    "q_lane_relation": (
        Rule("same_lane", r"\b(?:in|within) the same lane\b|같은 차로|동일\s?차로"),
        Rule("adjacent_lane", r"\b(?:adjacent|neighbou?ring|next) lanes?\b|바로 옆 차로|옆 차로|인접\s?차로"),
        Rule("two_lanes_apart", r"\btwo lanes apart\b|\bone lane between\b|한 차로를 사이에"),
        Rule("lane_vs_shoulder", r"\bon the shoulder\b|갓길"),
    ),
    "q_order": (
        Rule("other_ahead", rf"\b(?:other|counterpart) (?:{_VEHICLE} )?(?:is|was|drives|travels|runs) (?:\w+ )?(?:ahead|in front)\b"
                            r"|상대\s?(?:차량?|방)(?:이|가|은|는) (?:\S+ )?앞(?:에|서)"),
        Rule("self_ahead", rf"\b(?:self|ego|recording {_VEHICLE}|ego {_VEHICLE}) (?:is|was|drives|travels) (?:\w+ )?(?:ahead|in front)\b"
                           r"|(?:자차|블랙박스\s?차량?)(?:이|가|은|는) (?:\S+ )?앞(?:에|서)"),
        Rule("side_by_side", r"\bside by side\b|\babreast\b|나란히"),
    ),
    "q_place": (
        Rule("signalised_intersection", r"\bsignali[sz]ed (?:intersection|junction)\b|\b(?:intersection|junction) with (?:traffic )?(?:signals|lights)\b"
                                        r"|신호기?(?:가)? 있는 교차로"),
        Rule("other_intersection", r"\bunsignali[sz]ed (?:intersection|junction)\b|\b(?:intersection|junction) without (?:traffic )?(?:signals|lights)\b"
                                   r"|신호기?(?:가)? 없는 교차로"),
        Rule("road_section", r"\bstretch of road\b|\bnot (?:at )?an intersection\b|교차로가 아닌"),
    ),
    "q_road_class": (
        Rule("expressway", r"\b(?:expressway|motorway|freeway|highway)\b|고속도로|자동차\s?전용\s?도로"),
        Rule("ordinary", r"\bordinary road\b|\b(?:city|urban|local) (?:road|street)\b|일반\s?도로|시내\s?도로"),
    ),
}  # fmt: skip

_UNSEEN: tuple[tuple[Status, str], ...] = (
    (Status.OFF_SCREEN, r"\b(?:off|out of|outside)(?: of)?(?: the)? (?:screen|frame|picture|view)\b|화면 밖|시야 밖|화면에 (?:나오|잡히|보이)지 않"),
    (Status.OCCLUDED, r"\b(?:hidden|occluded|blocked|obscured)\b|가려|가리어"),
    (Status.UNKNOWN, (r"\b(?:cannot|can't|can not|could not|couldn't) be (?:seen|determined|decided|confirmed|told|made out)\b|\bnot visible\b"
                      r"|\bunclear\b|보이지 않|알 수 없|확인할 수 없|확인되지 않|판단할 수 없|판단하기 어렵|불분명")),
)  # fmt: skip


class Description(NamedTuple):
    """What a description comes to. ``status`` is None where no rule reads it."""

    status: Status | None
    value: str | None
    told: tuple[str, ...]


def is_mapped(question_id: str) -> bool:
    """Whether there are rules for a question at all."""
    return question_id in MOTIONS or question_id in SCENE


def map_description(question_id: str, text: str, party: Party, codes: Sequence[str]) -> Description:
    """The answer that a description stands for, among ``codes``."""
    told = _told(question_id, text, party, codes)
    if len(told) == 1:
        return Description(Status.OBSERVED, told[0], told)
    if told:
        return Description(Status.UNKNOWN, None, told)
    unseen = next((status for status, pattern in _UNSEEN if re.search(pattern, text, re.IGNORECASE)), None)
    return Description(unseen, None, ())


def _told(question_id: str, text: str, party: Party, codes: Sequence[str]) -> tuple[str, ...]:
    if question_id in MOTIONS:
        mapped = describe_map(question_id, text, party, codes)
        return (mapped.code,) if mapped.code is not None else mapped.told
    if question_id == "q_vehicle_kind" and party is not Party.OTHER:
        return ()
    found = {
        rule.code
        for rule in SCENE.get(question_id, ())
        if rule.code in codes
        for match in find(re.compile(rule.pattern, re.IGNORECASE), text)
        if match.stance == rule.said
    }
    if question_id == "q_collision" and "object_contact" in found:
        found.discard("vehicle_contact")  # what was hit is the object
    return tuple(sorted(found))
