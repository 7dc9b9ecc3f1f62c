"""Measures of text that can't be trusted. Pure; work on Korean and English alike."""

import re

RUN = 5
"""Words in a run. Shorter runs recur in ordinary sentences."""

_WORD = re.compile(r"\w+", re.UNICODE)


def repetition(text: str) -> float | None:
    """The share of word runs in ``text`` that occurred before, 0 to 1; None for texts too short to tell."""
    words = _WORD.findall(text.casefold())
    runs = [tuple(words[start : start + RUN]) for start in range(len(words) - RUN + 1)]
    if len(runs) < 2 * RUN:
        return None
    return round(1 - len(set(runs)) / len(runs), 4)
