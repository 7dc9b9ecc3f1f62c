"""Voting over the samples of a turn. Pure.

A value wins when more than half of all n samples back it, and at least the threshold's share does.
Unusable samples count in n and back no value; disagreement becomes ``unknown``; a turn of which
every sample is unusable has no answer at all. Abstentions are votes like any other.
"""

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from typing import Literal, NamedTuple

from vlmrec.terms import Status


class Ballot(NamedTuple):
    """A usable sample's answer."""

    sample: int
    status: Status
    value: str | None

    @property
    def choice(self) -> str:
        return f"observed:{self.value}" if self.status is Status.OBSERVED else self.status.value


class Vote(NamedTuple):
    """The result. ``backing`` are the samples that back the winner, in order."""

    outcome: Literal["answer", "disagreement", "unusable"]
    status: Status | None
    value: str | None
    tally: dict[str, int]
    backing: tuple[int, ...]


def vote(ballots: Sequence[Ballot], *, n: int, threshold: Fraction) -> Vote:
    """The vote over ``n`` samples of which ``ballots`` were usable. Raises ValueError for more ballots than samples."""
    if len(ballots) > n:
        raise ValueError(f"{len(ballots)} ballots for {n} samples")
    if not ballots:
        return Vote("unusable", None, None, {}, ())
    counts = Counter(ballot.choice for ballot in ballots)
    tally = dict(sorted(counts.items()))
    choice, votes = max(tally.items(), key=lambda item: item[1])
    if votes * 2 <= n or votes < threshold * n:
        return Vote("disagreement", Status.UNKNOWN, None, tally, ())
    backing = tuple(sorted(ballot.sample for ballot in ballots if ballot.choice == choice))
    winner = next(ballot for ballot in ballots if ballot.choice == choice)
    return Vote("answer", winner.status, winner.value, tally, backing)
