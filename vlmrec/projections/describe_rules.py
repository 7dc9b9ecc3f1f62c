"""The declared rules that map a described motion to a code: verbs in Korean and English, who did it, and when. Pure.

Declared and hashed: another rule set is another mapping. Only what is asserted of the right vehicle, in the time
asked about, counts. Denied, supposed, intended and earlier motion does not; where two motions are told, the
manoeuvre beats going straight, and of two manoeuvres neither is taken.
"""

import re
from collections.abc import Sequence
from typing import Literal, NamedTuple

from vlmrec.canonical import canonical_json, sha256_hex
from vlmrec.projections.reading import clauses, stance
from vlmrec.terms import Party

Who = Literal["self", "other"]


class MotionRule(NamedTuple):
    """Words that describe one motion. ``weak``: gives way to any manoeuvre told beside it."""

    code: str
    pattern: str
    weak: bool = False


RULES: dict[str, tuple[MotionRule, ...]] = {
    "q_maneuver": (
        MotionRule("u_turn", r"\bu-?turn(?:s|ed|ing)?\b|\bturn(?:s|ed|ing)? around\b|유턴|되돌아 (?:가|나오)"),
        MotionRule("reversing", r"\b(?:revers(?:es|ed|ing)|back(?:s|ed|ing)? (?:up|out))\b|후진"),
        MotionRule("turn_left", r"\bturn(?:s|ed|ing)? (?:to the )?left\b|\bleft turn\b|좌회전"),
        MotionRule("turn_right", r"\bturn(?:s|ed|ing)? (?:to the )?right\b|\bright turn\b|우회전"),
        MotionRule(
            "lane_change",
            r"\bchang(?:es?|ed|ing) (?:into |to )?(?:the |its |my |our )?(?:\w+ )?lanes?\b|\blane changes?\b|\bmerg(?:es?|ed|ing)\b"
            r"|\bcut(?:s|ting)? (?:in|into|across)\b|\bmov(?:es?|ed|ing) (?:over )?(?:from \S+ \S+ )?(?:in)?to (?:the |my |our |its |an? )?(?:\w+ )?lane\b"
            r"|\b(?:shift|drift|swerv|veer)(?:s|ed|ing)? (?:over )?(?:in)?to (?:the |my |our |its )?(?:\w+ )?lane\b"
            r"|\bcross(?:es|ed|ing)? (?:over )?the (?:\w+ )?(?:lane )?(?:line|marking)\b"
            r"|\blane \d+ (?:in)?to lane \d+|\d\s?차로에서 \d\s?차로로"
            r"|(?:차선|차로|진로)\S{0,2}\s?(?:\S+\s)?(?:변경|바꾸|바꿨|바꿔|옮기|옮겼|옮겨)|끼어들|차로로 (?:들어|진입|이동|넘어)"
            r"|차선을 (?:넘|침범)",
        ),
        MotionRule(
            "stopped",
            r"\b(?:stopped|stationary|standing still|at a standstill|parked|halted|waiting)\b|\b(?:stops|halts)\b"
            r"|정지|정차|멈춰|멈추어|멈췄|서 있|주차",
        ),
        MotionRule(
            "straight",
            r"\b(?:(?:goes|going|went|go|drives?|driving|drove|proceed(?:s|ed|ing)?|travel(?:s|led|ing)?|continu(?:es|ed|ing)|moves?|moving|moved)"
            r" straight|straight (?:ahead|on)|keep(?:s|ing)? (?:to )?(?:its|the|my|our) lane|kept (?:to )?(?:its|the|my|our) lane"
            r"|stay(?:s|ed|ing)? in (?:its|the|my|our) lane|maintain(?:s|ed|ing)? (?:its|the|my|our) lane)\b"
            r"|직진|차로를 유지|차선을 유지|그대로 (?:진행|주행)|곧장",
            weak=True,
        ),
    )
}

VERSION = sha256_hex(canonical_json({question: [tuple(rule) for rule in rules] for question, rules in RULES.items()}))


class Mapped(NamedTuple):
    """What a description says: a code, or why there is none."""

    code: str | None
    reason: Literal["one", "nothing_told", "several"]
    told: tuple[str, ...]


def describe_map(question_id: str, text: str, party: Party, codes: Sequence[str]) -> Mapped:
    """The code that a description of ``party``'s motion stands for, among ``codes``."""
    told: dict[str, bool] = {}
    subject: Who | None = None
    for clause in clauses(text):
        named = _subjects(clause.text)
        for rule in RULES[question_id]:
            if rule.code not in codes:
                continue
            for found in re.finditer(rule.pattern, clause.text, re.IGNORECASE):
                who = _who(named, found.start(), subject)
                if who not in (None, str(party)) or _EARLIER.search(clause.text) or _INTENDED.search(clause.text):
                    continue
                if stance(clause.text, *found.span()) == "asserted":
                    told.setdefault(rule.code, rule.weak)
        if named:
            subject = named[-1][1]
    strong = sorted(code for code, weak in told.items() if not weak)
    every = tuple(sorted(told))
    if len(strong) == 1 or (not strong and len(every) == 1):
        return Mapped((strong or list(every))[0], "one", every)
    return Mapped(None, "several" if every else "nothing_told", every)


def without_code(text: str, codes: Sequence[str]) -> str:
    """The text with the chosen code taken out wherever it is cited as one, so that a mapper sees only the description.

    Cited: quoted, behind "the answer is" and its like, at the head of the text, or a code that is no plain word.
    """
    if not codes:
        return text
    longest_first = sorted(codes, key=lambda code: (-len(code), code))
    code = "|".join(rf"(?<![A-Za-z0-9_]){re.escape(one)}(?![A-Za-z0-9_])" for one in longest_first)
    no_words = [one for one in longest_first if "_" in one]
    patterns = [
        rf"[\"'`“‘](?:{code})[\"'`”’]",
        rf"(?i)\b(?:answer|value|code|option|choice|정답|답|선택)\s*(?:is|:|=|은|는)?\s*(?:{code})",
        rf"(?i)^\s*(?:{code})\s*[:.,–—-]",
        *(rf"(?<![A-Za-z0-9_]){re.escape(one)}(?![A-Za-z0-9_])" for one in no_words),
    ]
    for pattern in patterns:
        text = re.sub(pattern, " ", text)
    return text


def _subjects(clause: str) -> list[tuple[int, Who]]:
    """Vehicles named in a clause, in order."""
    return [(found.start(), "self" if found.group("self") else "other") for found in SUBJECT.finditer(clause)]


def _who(named: Sequence[tuple[int, Who]], place: int, before: Who | None) -> str | None:
    """Who did what stands at ``place``: the first vehicle named in the clause before it, else the one spoken of before."""
    ahead = [who for start, who in named if start < place]
    return ahead[0] if ahead else before


SUBJECT = re.compile(
    r"(?P<self>\b(?:ego|(?:the )?recording (?:vehicle|car)|(?:my|our|own) (?:vehicle|car)|camera (?:vehicle|car)|dashcam (?:vehicle|car)|self)\b"
    r"|블랙박스\s?차|자차|자기\s?차|본인\s?차|내\s?차(?!선|로)|우리\s?차(?!선|로)|촬영\s?차)"
    r"|(?P<other>\b(?:(?:other|counterpart|opposing|white|black|silver|gr[ae]y|red|blue|yellow|green|oncoming|leading|preceding)"
    r"(?: \w+)? (?:vehicle|car|truck|bus|van|suv|sedan|taxi|motorcycle)|counterpart|it|the (?:truck|bus|van|suv|sedan|taxi|motorcycle))\b"
    r"|상대\s?(?:차|방)|(?:흰|검은|은|회|빨간|파란|노란)색?\s?\S{0,4}\s?(?:차|승용차|트럭|택시|버스)|앞\s?차(?!선|로)|옆\s?차(?!선|로))",
    re.IGNORECASE,
)
"""The vehicles that a clause names."""
_EARLIER = re.compile(
    r"\b(?:earlier|previously|before that|at first|initially|at the (?:start|beginning)|had been|used to)\b"
    r"|이전에|그 전에|처음에|앞서|초반",
    re.IGNORECASE,
)
_INTENDED = re.compile(
    r"\b(?:intend\w*|want\w* to|plan\w* to|about to|going to|will|would|wish\w*|signal(?:s|led|ing)? to|prepar\w* to)\b"
    r"|하려|려고|려는|예정|준비|의도",
    re.IGNORECASE,
)
