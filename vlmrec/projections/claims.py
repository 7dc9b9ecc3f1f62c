"""What a model's reason says of the scene, where two texts could contradict each other or one text wander. Pure.

Collision: asserted or denied. Counterpart: absent, or doing something. Drift: a vehicle placed in a lane to the
left or right, later said to come "from the left", and at last to cross: one place, told in ever looser words.
"""

import re
from functools import lru_cache
from typing import NamedTuple

from vlmrec.projections.reading import Match, Stance, excerpt, find, starting

CACHED = 256
"""Texts whose claims are remembered: those of a clip or two, which are held against each other pair by pair."""


class Said(NamedTuple):
    """A claim, and the words it was made in."""

    stance: Stance
    words: str


class Drift(NamedTuple):
    """The steps of a drift in order, each in its own words."""

    side: str
    steps: tuple[str, ...]


@lru_cache(maxsize=CACHED)
def collision_claims(text: str) -> tuple[Said, ...]:
    """Where the text asserts or denies that the vehicles touched; what it leaves open is not listed."""
    found = [match for match in find(_COLLISION, text) if match.stance != "open"]
    return tuple(Said(match.stance, excerpt(text, match.start, match.end)) for match in found)


@lru_cache(maxsize=CACHED)
def counterpart_absent(text: str) -> tuple[str, ...]:
    """Where the text says that there is no other vehicle at all."""
    return tuple(
        excerpt(text, match.start, match.end)
        for match in find(_ABSENT, text)
        if not _ELSEWHERE.search(match.clause.text) and not _SUPPOSED.search(match.clause.text)
    )


def counterpart_acts(text: str) -> list[str]:
    """Where the text has the counterpart do something."""
    return [excerpt(text, match.start, match.end) for match in find(_ACTS, text) if match.stance == "asserted"]


def drift(text: str) -> Drift | None:
    """A place in a lane that became a crossing course, step by step along the text; None where it did not.

    All three steps in their order: a lane on one side, "from" that side without a lane, and crossing.
    """
    lanes = [match for match in find(_SIDE_LANE, text) if match.stance == "asserted"]
    for lane in lanes:
        side = _side(text[lane.start : lane.end])
        loose = _next(_FROM_SIDE, text, lane, side)
        crossing = _next(_CROSSING, text, loose, None) if loose is not None else None
        if loose is not None and crossing is not None:
            return Drift(side, tuple(excerpt(text, m.start, m.end) for m in (lane, loose, crossing)))
    return None


def _next(pattern: re.Pattern[str], text: str, after: Match, side: str | None) -> Match | None:
    for match in find(pattern, text):
        if match.start > after.start and match.stance == "asserted":
            words = text[match.start : match.end]
            if side is None or _side(words) == side:
                return match
    return None


def _side(words: str) -> str:
    return "left" if re.search(r"left|왼|좌", words, re.IGNORECASE) else "right"


_VEHICLE = r"(?:vehicle|car|truck|bus|van|suv|sedan|taxi|motorcycle|lorry)"
_COLLISION = starting(
    "crsbih충추접부들사",
    r"\b(?:collisions?|collid(?:e|es|ed|ing)|crash(?:es|ed)?(?! barrier)|rear-end(?:s|ed)?|struck|strikes?|bump(?:s|ed)(?: into)?"
    r"|impacts?(?! on)|contact(?:s|ed)?|hits?(?! the (?:brakes?|gas|horn|accelerator)))\b(?! (?:lens|person|information))"
    r"|충돌|추돌|접촉|부딪|들이받|사고가 (?:났|발생)",
)
_ABSENT = starting(
    "ntoc상다",
    rf"\bno (?:other |counterpart |opposing |second )(?:{_VEHICLE})s?\b|\bno counterpart\b|\bno other road users?\b"
    rf"|\bthere (?:is|was|are|were) no (?:{_VEHICLE})s?\b"
    rf"|\b(?:other {_VEHICLE}|counterpart)(?: {_VEHICLE})? (?:is|was) (?:absent|(?:not|never) (?:visible|seen|present|in (?:the )?(?:frame|view|video)))"
    rf"|\b(?:other {_VEHICLE}|counterpart)(?: {_VEHICLE})? (?:does not|doesn't|did not|never) appears?\b"
    r"|(?:상대|다른)\s?(?:차량|차)(?:이|가|은|는|도)?\s?(?:(?:화면|영상|시야|장면)(?:에서?|에는)?\s?)?(?:전혀\s?|아예\s?)?"
    r"(?:없(?!이)|보이지\s?않|나타나지\s?않|등장하지\s?않|존재하지\s?않|나오지\s?않)",
)
_ELSEWHERE = re.compile(
    r"\b(?:ahead|behind|beside|between|lane|shoulder|oncoming|parked|blind spot|left|right|nearby|closer|faster)\b"
    r"|차로|차선|앞에|앞쪽|뒤에|뒤쪽|옆에|왼쪽|오른쪽|좌측|우측|사이|갓길|맞은편|주변",
    re.IGNORECASE,
)
_SUPPOSED = re.compile(
    r"\b(?:if|whether|would|might|may|until|unless|before)\b|는지|인지|다면|라면|때까지|여부", re.IGNORECASE
)
_ACTS = starting(
    "ocwbsgry상",
    rf"\b(?:other|counterpart|opposing|white|black|silver|grey|gray|red|blue|yellow|green) (?:{_VEHICLE})?\s?(?:\w+ ){{0,2}}?"
    r"(?:chang(?:es|ed|ing) lanes?|turn(?:s|ed|ing)|merg(?:es|ed|ing)|cut(?:s|ting)? in|mov(?:es|ed|ing)|enter(?:s|ed|ing)|cross(?:es|ed|ing)"
    r"|stop(?:s|ped|ping)|brak(?:es|ed|ing)|overtak(?:es|ing)|overtook|swerv(?:es|ed|ing)|approach(?:es|ed|ing)|drives?|drove|driving"
    r"|travel(?:s|led|ed|ling|ing)|hits?|collid(?:es|ed))\b"
    r"|상대\s?(?:차량|차)(?:이|가|은|는)\s[^,.]{0,40}?(?:변경|회전|이동|진입|끼어|정지|정차|주행|직진|추월|앞지르|들어|다가|멈추|멈췄|달리|달렸|가로질러|충돌)",
)
_SIDE_LANE = starting(
    "lr왼오좌우",
    r"\b(?:left|right)(?:-hand|most)? lane\b|\blane (?:to|on) (?:the|its|my|our) (?:left|right)\b"
    r"|(?:왼쪽|오른쪽|좌측|우측|왼편|오른편)의?\s?(?:옆\s?)?(?:차로|차선)",
)
_FROM_SIDE = re.compile(
    r"\bfrom (?:the|its|my|our) (?:left|right)\b(?!(?:-hand|most)? lane)(?! side lane)"
    r"|(?:왼쪽|오른쪽|좌측|우측|왼편|오른편)(?:에서|으로부터)",
    re.IGNORECASE,
)
_CROSSING = re.compile(
    r"\bperpendicular(?:ly)?\b|\bat (?:a )?right angles?\b|\bcross(?:es|ed|ing)? (?:(?:my|our|its|the (?:ego|recording) vehicle's|the ego's)"
    r" (?:path|way|course)|in front of|the (?:road|street|intersection|junction))|\bcross(?:ing)? traffic\b|\bcrossing (?:course|path|vehicle)\b"
    r"|\bfrom (?:a|the) (?:side|cross|crossing|intersecting) (?:road|street)\b"
    r"|(?<!차선을 )(?<!차로를 )(?<!실선을 )(?<!점선을 )(?<!중앙선을 )(?:가로질러|가로지르|가로질렀)|횡단(?!보도)|교차(?:하|해|했|된|되|방향)|직각|수직(?:으로|방향)",
    re.IGNORECASE,
)
