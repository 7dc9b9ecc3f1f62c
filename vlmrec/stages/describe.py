"""Q=describe-map in extraction: a free description, mapped to a code by declared rules. Pure; Korean and English.

What is asserted counts; what is denied, supposed or only asked does not (``vlmrec.projections.reading``), unless
the denial is itself the answer. Of a question about one vehicle only what is said of that vehicle counts: the
first one named in the clause, else the one spoken of before, and "it" is the vehicle spoken of, or asked about.
Motion has rules of its own (``describe_rules``), which also know earlier motion from that asked about. One code
is an answer; several are ``unknown``; a description that says that nothing can be seen is the abstention it
says; a description that no rule reads is no answer. Nothing is ever guessed.
"""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from vlmrec.projections.describe_rules import RULES as MOTIONS
from vlmrec.projections.describe_rules import SUBJECT, describe_map
from vlmrec.projections.reading import Stance, clauses, stance
from vlmrec.stages.describe_scene import OTHER_EN, OTHER_KO, SCENE, SELF_EN, SELF_KO, Rule
from vlmrec.stages.describe_vehicle import VEHICLES, YES_NO
from vlmrec.terms import Party, Status

_UNSEEN: tuple[tuple[Status, str], ...] = (
    (Status.OFF_SCREEN, r"\b(?:off|out of|outside)(?: of)?(?: the)? (?:screen|frame|picture|view)\b|화면 밖|시야 밖|화면에 (?:나오|잡히|보이)지 않"),
    (Status.OCCLUDED, r"\b(?:hidden|occluded|blocked|obscured)\b|가려|가리어"),
    (Status.UNKNOWN, (r"\b(?:cannot|can't|can not|could not|couldn't) be (?:seen|determined|decided|confirmed|told|made out)\b|\bnot visible\b"
                      r"|\bunclear\b|보이지 않|알 수 없|확인할 수 없|확인되지 않|판단할 수 없|판단하기 어렵|불분명")),
)  # fmt: skip

_YES = re.compile(r"\s*(?:(?:yes|yep)\b|(?:예|네)(?=[\s,.!]|$))", re.IGNORECASE)
_NO = re.compile(r"\s*(?:no(?=[\s]*[,.;:!—–-]|\s*$)|아니[요오](?=[\s,.!]|$))", re.IGNORECASE)
_OF = re.compile(r"\s+of (?:the )?", re.IGNORECASE)
_DENIED_WITHIN = re.compile(r"\b(?:not|never|no|cannot)\b|n't\b|(?:^|\s)(?:안|못)\s", re.IGNORECASE)
_BARE = re.compile(
    r"\s*(?:from [\d.]+ s to [\d.]+ s:\s*)?(?:(?:it|they|this) (?:is|was|are|were) )?(?P<words>[a-z0-9 ]+?)\s*(?:[.,;:!(]|$)",
    re.IGNORECASE,
)
_WORDS = {Party.SELF: f"(?:{SELF_EN}|{SELF_KO})", Party.OTHER: f"(?:{OTHER_EN}|{OTHER_KO})"}


class Description(NamedTuple):
    """What a description comes to. ``status`` is None where no rule reads it."""

    status: Status | None
    value: str | None
    told: tuple[str, ...]


class _Spoken(NamedTuple):
    """A clause, the vehicles named in it by place, and the one spoken of before it."""

    text: str
    named: tuple[tuple[int, str], ...]
    before: str | None

    def who(self, start: int, end: int) -> str | None:
        """Of which vehicle the words between two places speak; None where none is named.

        The first one named before them; one named within them, or behind them as their owner; the one spoken of
        before the clause; and where there is none, the first one that the clause names later.
        """
        before = [who for place, who in self.named if place < start]
        owner = [who for place, who in self.named if start <= place <= _owner_until(self.text, end)]
        later = [who for _, who in self.named]
        return next(iter([*before, *owner, *([self.before] if self.before else []), *later]), None)


def is_mapped(question_id: str) -> bool:
    """Whether there are rules for a question at all."""
    return question_id in MOTIONS or question_id in SCENE or question_id in VEHICLES


def map_description(question_id: str, text: str, party: Party, codes: Sequence[str]) -> Description:
    """The answer that a description stands for, among ``codes``."""
    told = _told(question_id, text, party, codes)
    if len(told) == 1:
        return Description(Status.OBSERVED, told[0], told)
    if told:
        return Description(Status.UNKNOWN, None, told)
    return Description(_unseen(text), None, ())


def _unseen(text: str) -> Status | None:
    return next((status for status, pattern in _UNSEEN if re.search(pattern, text, re.IGNORECASE)), None)


def _told(question_id: str, text: str, party: Party, codes: Sequence[str]) -> tuple[str, ...]:
    head = set(_at_the_head(question_id, text, codes))
    if question_id in MOTIONS:
        mapped = describe_map(question_id, text, party, codes)
        return (mapped.code,) if mapped.code is not None else mapped.told or tuple(sorted(head))
    rules = (*SCENE.get(question_id, ()), *VEHICLES.get(question_id, ()))
    spoken = tuple(_spoken(text, party))
    met = [rule for rule in rules if _is_met(rule, spoken, party, of_a_vehicle=question_id in VEHICLES)]
    if _unseen(text) is not None:  # what nobody could see is not denied by not being there
        met = [rule for rule in met if rule.said == "asserted"]
    beaten = {code for rule in met if rule.code in codes for code in rule.beats}
    found = {rule.code for rule in met} | head
    found = _together(question_id, (found - beaten) & set(codes))
    return tuple(sorted(found))


def _is_met(rule: Rule, spoken: Sequence[_Spoken], party: Party, *, of_a_vehicle: bool) -> bool:
    pattern = _compiled(rule.pattern, party)
    owned = not of_a_vehicle or "@V" in rule.pattern
    for clause in spoken:
        if rule.alone and (clause.named or clause.before not in (None, str(party))):
            continue
        for match in pattern.finditer(clause.text):
            if not owned and clause.who(*match.span()) not in (None, str(party)):
                continue
            if _stance(clause.text, match, inner=rule.inner) == rule.said:
                return True
    return False


def _stance(clause: str, match: re.Match[str], *, inner: bool) -> Stance:
    found = stance(clause, *match.span())
    if found == "open" or not inner or _DENIED_WITHIN.search(match.group()) is None:
        return found
    return "asserted" if found == "denied" else "denied"


def _owner_until(clause: str, end: int) -> int:
    """How far an owner may be named behind words that end at ``end``: "the lamps of the other vehicle"."""
    owned = _OF.match(clause, end)
    return owned.end() if owned else end


def _spoken(text: str, party: Party) -> Iterator[_Spoken]:
    before: str | None = None
    for clause in clauses(text):
        named: list[tuple[int, str]] = []
        for found in SUBJECT.finditer(clause.text):
            who = "self" if found.group("self") else "other"
            if found.group().casefold() == "it":
                who = (named[0][1] if named else before) or str(party)
            named.append((found.start(), who))
        yield _Spoken(clause.text, tuple(named), before)
        before = named[0][1] if named else before


def _at_the_head(question_id: str, text: str, codes: Sequence[str]) -> Iterator[str]:
    """The code that "yes" or "no" means where the reply begins with it, or whose own words are all that it says first."""
    words = _BARE.match(text)
    own = [code for code in codes if words and code.replace("_", " ") == words.group("words").casefold()]
    yes, no = YES_NO.get(question_id, ("yes", "no"))
    yield from own
    if own:
        return
    if yes in codes and no in codes:
        if _YES.match(text):
            yield yes
        elif _NO.match(text):
            yield no


def _together(question_id: str, found: set[str]) -> set[str]:
    """Codes that stand for two told in separate clauses."""
    if question_id == "q_right_turn_manner" and {"wide", "sudden"} <= found:
        return {"wide_and_sudden"}
    return found


@lru_cache(maxsize=1024)
def _compiled(pattern: str, party: Party) -> re.Pattern[str]:
    """The pattern with the words for the vehicle asked about, and for the other one."""
    other = Party.SELF if party is Party.OTHER else Party.OTHER
    words = pattern.replace("@V", _WORDS.get(party, r"(?!)")).replace("@O", _WORDS[other])
    return re.compile(words, re.IGNORECASE)
