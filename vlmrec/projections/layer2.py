"""Layer 2: how clips ended against the final chart that people settled on. Pure counting.

The verdicts sum to the clips that are labelled and not excluded. A reserved clip is harmless, a wrong
confirmation or an emptied list of candidates is not: they are never added together.
"""

from collections.abc import Iterable, Sequence
from enum import StrEnum

from msgspec import Struct

from vlmrec.gold import OUT_OF_SCOPE
from vlmrec.projections.layer1 import share
from vlmrec.projections.meter import median
from vlmrec.protocol import EngineStatus


class Ending(StrEnum):
    """How a clip's end stands to its label."""

    MATCH = "match"
    MISJUDGED = "misjudged"
    RESERVED = "reserved"
    NONE = "none"
    SCOPE_ERROR = "scope_error"
    CORRECT_OUT_OF_SCOPE = "correct_out_of_scope"
    NO_OUTCOME = "no_outcome"


UNDECIDED = (Ending.RESERVED, Ending.NONE)


class Blame(Struct, frozen=True, kw_only=True):
    """An answer that ruled out one or more assignments of the label's chart, and what layer 1 says of it."""

    round: int
    question_id: str
    party: str
    value: str | None
    event: str | None
    """Id of the accepted answer."""
    verdict: str
    """``wrong``, ``invented``; ``correct``: the label agrees with the answer; ``unlabelled``: nobody labelled this
    question."""
    decisive: bool
    """A chart lives while one of its assignments does, and right answers rule out the wrong assignment. So what
    cost the chart is the wrong answers among these; where there are none, those of the round in which it went (then
    engine and labels don't agree with each other)."""


class Cause(Struct, frozen=True, kw_only=True):
    """When the last assignment of the label's chart was ruled out, and by which answers, in order of rounds."""

    round: int
    chart: str
    by: tuple[Blame, ...]


class ClipRow(Struct, frozen=True, kw_only=True):
    """One labelled clip: outcome, label, verdict, cause."""

    clip: str
    verdict: str | None
    """Null where the clip is excluded or has no settled chart."""
    excluded: str | None
    outcome: str | None
    incomplete: bool
    truncated: bool
    gold: str | None
    charts: tuple[str, ...]
    gold_survives: bool | None
    equivalent: bool
    """A misjudged clip whose chart the label names as equivalent; still misjudged."""
    cause: Cause | None


class Survival(Struct, frozen=True, kw_only=True):
    """Of the undecided clips, those whose label's chart is still a candidate."""

    survived: int
    undecided: int
    share: float | None


class Layer2(Struct, frozen=True, kw_only=True):
    """Clips by verdict; the seven sum to ``clips``."""

    clips: int
    match: int
    misjudged: int
    reserved: int
    none: int
    scope_error: int
    correct_out_of_scope: int
    no_outcome: int
    incomplete: int
    """Among them, clips whose path met an answer that could not be had."""
    truncated: int
    """Among them, clips that decoded only in part."""
    excluded: dict[str, int]
    unlabelled: tuple[str, ...]
    """Clips of the run that have no settled chart, or no label at all."""
    survival: Survival
    candidates_left: float | None
    """Median number of charts left over reserved clips."""
    equivalent: tuple[str, ...]
    """Misjudged clips whose chart the label calls equivalent. A footnote: no figure counts them as right."""


class Fault(Struct, frozen=True, kw_only=True):
    """Over matching clips with a labelled share of fault: how often it lies within the range."""

    clips: int
    exact: int
    within_range: int
    difference_median: float | None


class Lost(Struct, frozen=True, kw_only=True):
    """How often answers to one question ruled the label's chart out, by what they were."""

    question_id: str
    party: str
    value: str | None
    clips: int
    verdicts: dict[str, int]
    names: tuple[str, ...]


def ending(outcome: EngineStatus | None, charts: Sequence[str], leaf: str) -> Ending:
    """The verdict on a clip that ended with ``outcome`` (None: it did not end, or failed)."""
    if outcome is None or outcome is EngineStatus.ASKING:
        return Ending.NO_OUTCOME
    if outcome is EngineStatus.OUT_OF_SCOPE:
        return Ending.CORRECT_OUT_OF_SCOPE if leaf == OUT_OF_SCOPE else Ending.SCOPE_ERROR
    if outcome is EngineStatus.CONFIRMED:
        return Ending.MATCH if tuple(charts) == (leaf,) else Ending.MISJUDGED
    return Ending.NONE if outcome is EngineStatus.NONE else Ending.RESERVED


def layer2(rows: Iterable[ClipRow], unlabelled: Sequence[str]) -> Layer2:
    """The counts over every labelled clip."""
    every = list(rows)
    counted = [row for row in every if row.verdict is not None]
    excluded = [row.excluded for row in every if row.excluded is not None]
    count = {kind: sum(row.verdict == kind for row in counted) for kind in Ending}
    undecided = [row for row in counted if row.verdict in UNDECIDED]
    survived = sum(bool(row.gold_survives) for row in undecided)
    return Layer2(
        clips=len(counted),
        match=count[Ending.MATCH],
        misjudged=count[Ending.MISJUDGED],
        reserved=count[Ending.RESERVED],
        none=count[Ending.NONE],
        scope_error=count[Ending.SCOPE_ERROR],
        correct_out_of_scope=count[Ending.CORRECT_OUT_OF_SCOPE],
        no_outcome=count[Ending.NO_OUTCOME],
        incomplete=sum(row.incomplete for row in counted),
        truncated=sum(row.truncated for row in counted),
        excluded={reason: excluded.count(reason) for reason in sorted(set(excluded))},
        unlabelled=tuple(sorted(unlabelled)),
        survival=Survival(survived=survived, undecided=len(undecided), share=share(survived, len(undecided))),
        candidates_left=median(len(row.charts) for row in counted if row.verdict == Ending.RESERVED),
        equivalent=tuple(row.clip for row in counted if row.equivalent),
    )


def lost_charts(rows: Iterable[ClipRow]) -> tuple[Lost, ...]:
    """Which answers ruled labels' charts out, the most frequent first."""
    found: dict[tuple[str, str, str | None], list[tuple[str, str]]] = {}
    for row in rows:
        for blame in row.cause.by if row.cause is not None and row.verdict is not None else ():
            if not blame.decisive:
                continue
            found.setdefault((blame.question_id, blame.party, blame.value), []).append((row.clip, blame.verdict))
    ordered = sorted(found.items(), key=lambda pair: (-len(pair[1]), pair[0][0], pair[0][1], pair[0][2] or ""))
    return tuple(
        Lost(
            question_id=question_id,
            party=party,
            value=value,
            clips=len(clips),
            verdicts={verdict: sum(v == verdict for _, v in clips) for verdict in sorted({v for _, v in clips})},
            names=tuple(clip for clip, _ in clips),
        )
        for (question_id, party, value), clips in ordered
    )
