"""Reads Korean and English prose well enough to tell what it asserts, denies, supposes or only quotes. Pure.

Not a parser: clauses, and words of negation and doubt near what is looked for. Quoted text is never the
writer's own claim. A doubled negation is an assertion ("could not avoid the collision"). What is supposed,
asked, expected or only named in passing ("just before the collision") is no claim at all: the aim is never to
charge a text with a contradiction that it does not hold; some claims are missed for it (docs/statistics.md).
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Literal, NamedTuple

Stance = Literal["asserted", "denied", "open"]

EXCERPT = 90
BEFORE, AFTER = 60, 40
"""How far from a match negation and doubt are looked for, within its clause."""


class Clause(NamedTuple):
    """A stretch of text with one predicate or so, and where it begins."""

    start: int
    text: str


class Match(NamedTuple):
    """Where something was said, in which clause, and how it is meant."""

    start: int
    end: int
    stance: Stance
    clause: Clause
    """With quotations blanked out."""


@lru_cache(maxsize=4)  # one text is read with several patterns in a row
def clauses(text: str) -> tuple[Clause, ...]:
    """The clauses of a text in order, quotations blanked out."""
    own = unquoted(text)
    found: list[Clause] = []
    start = 0
    for end in _SENTENCE_END.finditer(own):
        _cut(start, own[start : end.start()], found)
        start = end.end()
    _cut(start, own[start:], found)
    return tuple(found)


def unquoted(text: str) -> str:
    """The text with everything in quotation marks replaced by blanks, so that places stay the same."""
    return _QUOTED.sub(lambda found: " " * len(found.group()), text)


def find(pattern: re.Pattern[str], text: str) -> Iterator[Match]:
    """Every occurrence of a pattern, with its stance."""
    if pattern.search(text) is None:
        return  # most texts say nothing of most things, and a text is cut into clauses at some cost
    for clause in clauses(text):
        for found in pattern.finditer(clause.text):
            yield Match(
                clause.start + found.start(), clause.start + found.end(), stance(clause.text, *found.span()), clause
            )


def stance(clause: str, start: int, end: int) -> Stance:
    """Whether a clause asserts, denies or leaves open what stands between two places in it."""
    before, after = clause[max(0, start - BEFORE) : start], clause[end : end + AFTER]
    if _DOUBT_BEFORE.search(before) or _DOUBT_AFTER.search(after):
        return "open"
    negations = len(_NEGATION_BEFORE.findall(_NOT_NEGATION.sub(" ", before))) + len(_NEGATION_AFTER.findall(after))
    return "denied" if negations % 2 else "asserted"


def excerpt(text: str, start: int, end: int) -> str:
    """The words around a place, on one line."""
    room = max(0, EXCERPT - (end - start)) // 2
    low, high = max(0, start - room), min(len(text), end + room)
    words = " ".join(text[low:high].split())
    return f"{'…' if low else ''}{words}{'…' if high < len(text) else ''}"


def starting(first: str, alternatives: str) -> re.Pattern[str]:
    """A pattern in any case, of ``alternatives`` that each begin with a letter of ``first``; both go together.

    It is tried only where such a letter stands: several times as quick as trying each alternative at each place.
    """
    return re.compile(f"(?=[{first}])(?:{alternatives})", re.IGNORECASE)


def _cut(start: int, sentence: str, found: list[Clause]) -> None:
    place = 0
    for end in _CLAUSE_END.finditer(sentence):
        found.append(Clause(start + place, sentence[place : end.end()]))
        place = end.end()
    found.append(Clause(start + place, sentence[place:]))


_QUOTED = re.compile(
    r"\"[^\"\n]{1,300}\"|“[^”\n]{1,300}”|‘[^’\n]{1,300}’|「[^」\n]{1,300}」|『[^』\n]{1,300}』|«[^»\n]{1,300}»"
    r"|(?<!\w)'[^'\n]{2,200}'(?![a-zA-Z])"
)
_SENTENCE_END = re.compile(r"[.!?。](?=\s|$)|\n+")
_CLAUSE_END = starting(
    ";:,bhatws지으었는은더면다므때하않없있았였했됐되가오치추르이",
    r"[;:]|,(?!\d)|\b(?:but|however|although|though|while|whereas|then|because|so)\b"
    r"|\band\b(?!\s+(?:collision|contact|impact|crash)\b)"
    r"|지만|(?:으나|었으나|는데|은데|더니|면서|다가|므로|때문에)(?=[\s,])"
    r"|(?:하고|않고|없고|있고|었고|았고|였고|했고|됐고|되고|가고|오고|치고|추고|르고|이고|하며|으며|이며|않으며)(?=[\s,])",
)
_NOT_NEGATION = re.compile(r"\bnot only\b|\bno doubt\b|\bno question\b|\bno longer than\b|\bnot until\b", re.IGNORECASE)
_NEGATION_BEFORE = re.compile(
    r"\b(?:no|not|never|without|neither|nor|cannot|none|nobody|nothing)\b|n't\b|\b(?:absence|lack|free) of\b"
    r"|\brather than\b|\binstead of\b|\brul(?:es?|ed|ing) out\b|\bfail(?:s|ed|ing)? to\b|\b(?:un)?avoid\w*|\bden(?:y|ies|ied)\b"
    r"|\bprevent\w*|(?:^|\s)(?:안|못)\s?$|없이\s?$|아닌\s?$",
    re.IGNORECASE,
)
_NEGATION_AFTER = re.compile(
    r"\b(?:not|never)\b|n't\b|\babsent\b|\bavoided\b|\bprevented\b|\bruled out\b"
    r"|없|않|아니(?!라면)|아닌|아닙|못\s?(?:하|했|한)|피할 수\s?(?=없)|피하|피했|피해\s|면했|미발생",
    re.IGNORECASE,
)
_DOUBT_BEFORE = re.compile(
    r"\b(?:if|whether|would|might|may|possibl[ey]|potential(?:ly)?|risk of|danger of|about to|almost|nearly|likely|probabl[ey]"
    r"|unclear|uncertain|cannot (?:tell|determine|confirm)|can't (?:tell|determine|confirm)|question|asks?|asked|asking"
    r"|suppose|assuming|unless|until|expect\w*|imminent|going to|will|intend\w*|try(?:ing)? to|tries to|appears? to|seems? to"
    r"|should|could(?! not|n't))\b|\bnear[- ]$|\b(?:before|prior to|up to|leading up to|moment of|point of|time of|instant of)\s+(?:the |any |a |first )?$"
    r"|만약|만일|혹시|질문|아마",
    re.IGNORECASE,
)
_DOUBT_AFTER = re.compile(
    r"^\S*\s*(?:여부|직전|이전|전까지|순간|시점|시각|지점|부위|위험|가능성|우려|방지|회피|경고|까지|전에)"
    r"|^\s*(?:point|area|time|location|zone|angle|risk|warning|avoidance|course|barrier)\b"
    r"|여부|(?:는|인|한|된|을|할|ㄹ)지(?:는|도|를|에|가)?(?=[\s,?]|$)|수도\s?있|수 있|뻔|했을 것|을 것이|것 같|것으로 (?:보|추정|예상)|듯|려고|려 |려는|려다|예정|할 것|다면|라면|하면(?=[\s,]|$)"
    r"|알 수 없|확인할 수 없|확인되지 않|확인이 어렵|판단할 수 없|판단하기 어렵|불분명|불확실|확실하지 않|모르겠|단정"
    r"|\b(?:is|was|seems?|remains?) (?:likely|possible|unclear|uncertain|imminent|expected)\b|\bcan(?:not|'t) be (?:confirmed|determined|ruled out)\b"
    r"|\bmay\b|\bmight\b|\bwould\b|\?\s*$",
    re.IGNORECASE,
)
