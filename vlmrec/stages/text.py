"""Measures of text that can't be trusted: repetition, contradictions, broken discipline. Pure; Korean and English alike."""

import math
import re

from vlmrec.projections.claims import collision_claims, counterpart_absent, counterpart_acts, drift

RUN = 5
"""Words in a run. Shorter runs recur in ordinary sentences."""
REPETITIVE = 0.3
"""From this share of repeated runs on, a text is flagged."""
EVIDENCE_SLACK_S = 0.5
"""How far behind the clip's end a cited time may lie: models round."""

_WORD = re.compile(r"\w+", re.UNICODE)
_FROM_A_SIDE = re.compile(
    r"\bfrom (?:the |its |my |our )?(?:left|right)\b|(?:왼쪽|오른쪽|좌측|우측|왼편|오른편)(?:에서|으로부터)",
    re.IGNORECASE,
)
_TIME = re.compile(r"\d+(?:\.\d+)?\s*(?:s\b|sec|초)|\b\d+:\d\d\b|\b\d+\.\d+\b", re.IGNORECASE)


def repetition(text: str) -> float | None:
    """The share of word runs in ``text`` that occurred before, 0 to 1; None for texts too short to tell."""
    words = _WORD.findall(text.casefold())
    runs = [tuple(words[start : start + RUN]) for start in range(len(words) - RUN + 1)]
    if len(runs) < 2 * RUN:
        return None
    return round(1 - len(set(runs)) / len(runs), 4)


def text_flags(text: str) -> tuple[str, ...]:
    """What makes a text suspicious by itself, each as a stable word.

    ``repetitive``; ``contradicts_collision`` and ``contradicts_counterpart`` where it both says and denies
    them; ``drifts`` where one place is told in ever looser words until it has become another.
    """
    share = repetition(text)
    found = []
    if share is not None and share > REPETITIVE:
        found.append("repetitive")
    if {claim.stance for claim in collision_claims(text)} >= {"asserted", "denied"}:
        found.append("contradicts_collision")
    if counterpart_absent(text) and counterpart_acts(text):
        found.append("contradicts_counterpart")
    if drift(text) is not None:
        found.append("drifts")
    return tuple(found)


def evidence_flags(start: float | None, end: float | None, *, duration_s: float | None) -> tuple[str, ...]:
    """What can't be so of cited times: ``evidence_backwards``, ``evidence_outside_clip``. The times stay as cited."""
    found = []
    if start is not None and end is not None and start > end:
        found.append("evidence_backwards")
    last = math.inf if duration_s is None else duration_s + EVIDENCE_SLACK_S
    if any(time is not None and not 0 <= time <= last for time in (start, end)):
        found.append("evidence_outside_clip")
    return tuple(found)


def discipline_flags(text: str, value: str | None, *, grounding: int) -> tuple[str, ...]:
    """Where a reason breaks what grounding asked of it: forbidden words (G2), no code or no time cited (G3)."""
    found = []
    if grounding >= 2 and _FROM_A_SIDE.search(text):
        found.append("forbidden_words")
    if grounding >= 3 and value is not None:
        if value not in text:
            found.append("code_not_cited")
        if not _TIME.search(text):
            found.append("time_not_cited")
    return tuple(found)


def says_of_collision(text: str) -> str | None:
    """``asserted`` or ``denied``, where the text says one of them and never the other."""
    stances = {claim.stance for claim in collision_claims(text)}
    return stances.pop() if len(stances) == 1 else None
