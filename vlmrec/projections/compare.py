"""Runs compared over the clips they share: whether they may be, how they differ, and whether the difference is real.

Only clips that every run was given, that are labelled and that no label or note excludes; only items that both
runs of a pair answered. Runs that a note says are not to be counted are left out, and named.
"""

from collections.abc import Callable, Sequence
from itertools import combinations
from typing import ClassVar

from msgspec import Struct

from vlmrec.gold import GoldSet
from vlmrec.projections.clipscore import ClipFold, ClipScore, Scored, score_clips
from vlmrec.projections.comparable import Comparable, comparable
from vlmrec.projections.contrasts import FEW_DISCORDANT, Contrast, clip_contrast, corrected, item_contrast
from vlmrec.projections.core import Combined, RunResults
from vlmrec.projections.facts import Note, RunFacts
from vlmrec.projections.labels import UNMAPPED, GoldCounts, GoldMapping, gold_counts
from vlmrec.projections.layer1 import Item, Tally, Verdict, tally
from vlmrec.projections.layer2 import ClipRow, Ending, Layer2, layer2
from vlmrec.projections.meter import CallFigures, merged
from vlmrec.projections.registry import Inputs, register
from vlmrec.stats.intervals import RESAMPLES, Interval, interval
from vlmrec.stats.shares import share_interval
from vlmrec.terms import ClipId, TurnKey

CLIP_METRICS: dict[str, Callable[[ClipRow], bool]] = {
    "match": lambda row: row.verdict == Ending.MATCH,
    "misjudged": lambda row: row.verdict == Ending.MISJUDGED,
    "reserved": lambda row: row.verdict == Ending.RESERVED,
    "none": lambda row: row.verdict == Ending.NONE,
    "scope_error": lambda row: row.verdict == Ending.SCOPE_ERROR,
    "label_kept": lambda row: row.verdict == Ending.MATCH or bool(row.gold_survives),
}
"""Facts of clips that are contrasted. ``label_kept``: the label's chart was confirmed or is still a candidate."""

ITEM_METRICS = (Verdict.CORRECT, Verdict.WRONG, Verdict.MISSED, Verdict.INVENTED)
ENOUGH_CLIPS = 50
COVERED = {12: 0.900, 20: 0.947, 30: 0.941}
"""How often 95 % intervals held the truth with so few clips, in the hardest of three simulations (docs/statistics.md)."""


class RunCompared(Struct, frozen=True, kw_only=True):
    """One run over the shared clips."""

    condition: str | None
    data_version: str | None
    engine_version: str | None
    excluded: str | None
    """Why the run is not to be counted; it is then in no contrast."""
    clips_in_run: int
    layer2: Layer2
    shares: dict[str, Interval]
    """Wilson's intervals of the facts of clips."""
    layer1: Tally
    accuracy: Interval
    notes: tuple[Note, ...]


class Comparison(Struct, frozen=True, kw_only=True):
    """Everything that can be said of the runs side by side. Runs are known by their place in the order named."""

    gold: GoldCounts
    clips: tuple[str, ...]
    """The clips that are compared."""
    left_out: dict[str, tuple[str, ...]]
    """Labelled clips that are not, by reason."""
    runs: tuple[RunCompared, ...]
    pairs: tuple[Comparable, ...]
    contrasts: tuple[Contrast, ...]
    caveats: tuple[str, ...]
    seed: int
    resamples: int


class CompareRuns(ClipFold):
    """The projection behind ``vlmrec compare``."""

    name: ClassVar[str] = "compare"
    version: ClassVar[int] = 1
    several: ClassVar[bool] = True

    def __init__(
        self, gold: GoldSet, *, mapping: GoldMapping = UNMAPPED, seed: int = 0, resamples: int = RESAMPLES
    ) -> None:
        super().__init__(gold, mapping=mapping)
        self._seed = seed
        self._resamples = resamples

    def combine(self, runs: Sequence[RunResults[ClipScore]]) -> Combined[Comparison, tuple[CallFigures, ...]]:
        scored = [score_clips(run, self._gold) for run in runs]
        counted = [i for i, run in enumerate(runs) if run.facts.excluded_run() is None]
        clips, left_out = _shared(runs, scored)
        pairs = tuple(comparable(a, runs[a].facts, b, runs[b].facts) for a, b in combinations(counted, 2))
        contrasts = self._contrasts(scored, counted, clips)
        comparison = Comparison(
            gold=gold_counts(self._gold, scored[0].labels, self._mapping),
            clips=clips,
            left_out=left_out,
            runs=tuple(self._run(run.facts, score, clips) for run, score in zip(runs, scored, strict=True)),
            pairs=pairs,
            contrasts=contrasts,
            caveats=tuple(_caveats(runs, clips, contrasts)),
            seed=self._seed,
            resamples=self._resamples,
        )
        return Combined(comparison, tuple(_measured(score, clips) for score in scored))

    def _contrasts(
        self, scored: Sequence[Scored], counted: Sequence[int], clips: Sequence[str]
    ) -> tuple[Contrast, ...]:
        rows = [_rows(score, clips) for score in scored]
        of_clips = [
            clip_contrast(a, b, metric, [fact(row) for row in rows[a]], [fact(row) for row in rows[b]])
            for a, b in combinations(counted, 2)
            for metric, fact in CLIP_METRICS.items()
            if clips
        ]
        of_items = [contrast for a, b in combinations(counted, 2) for contrast in self._of_items(scored, a, b, clips)]
        return corrected(of_clips) + corrected(of_items)

    def _of_items(self, scored: Sequence[Scored], a: int, b: int, clips: Sequence[str]) -> list[Contrast]:
        both = [_both(scored[a].items.get(ClipId(clip), ()), scored[b].items.get(ClipId(clip), ())) for clip in clips]
        sizes = [len(pairs) for pairs in both]
        if not any(sizes):
            return []  # nothing that both answered
        return [
            item_contrast(
                a,
                b,
                verdict,
                [sum(one is verdict for one, _ in pairs) for pairs in both],
                [sum(two is verdict for _, two in pairs) for pairs in both],
                sizes,
                seed=self._seed,
                resamples=self._resamples,
            )
            for verdict in ITEM_METRICS
        ]

    def _run(self, facts: RunFacts, scored: Scored, clips: Sequence[str]) -> RunCompared:
        rows = _rows(scored, clips)
        items = [scored.items.get(ClipId(clip), ()) for clip in clips]
        right = [sum(item.verdict is Verdict.CORRECT for item in found) for found in items]
        return RunCompared(
            condition=facts.manifest.condition if facts.manifest else None,
            data_version=facts.data_version,
            engine_version=facts.manifest.engine_version if facts.manifest else None,
            excluded=facts.excluded_run(),
            clips_in_run=len(_given(facts, scored)),
            layer2=layer2(rows, ()),
            shares={name: share_interval(sum(map(fact, rows)), len(rows)) for name, fact in CLIP_METRICS.items()},
            layer1=tally(item.verdict for found in items for item in found),
            accuracy=interval(
                right, [len(found) for found in items], of="share", seed=self._seed, resamples=self._resamples
            ),
            notes=facts.notes,
        )


@register("compare")
def _make(inputs: Inputs) -> CompareRuns:
    return CompareRuns(inputs.gold, resamples=200)


def _shared(
    runs: Sequence[RunResults[ClipScore]], scored: Sequence[Scored]
) -> tuple[tuple[str, ...], dict[str, tuple[str, ...]]]:
    """The clips that can be compared, and the labelled ones that can't, by reason."""
    given = [_given(run.facts, score) for run, score in zip(runs, scored, strict=True)]
    clips: list[str] = []
    left_out: dict[str, list[str]] = {}
    for rows in zip(*(score.rows for score in scored), strict=True):
        clip = rows[0].clip
        reason = next((row.excluded for row in rows if row.excluded is not None), None)
        missing = [str(i + 1) for i, known in enumerate(given) if clip not in known]
        if reason is not None:
            left_out.setdefault(f"excluded ({reason})", []).append(clip)
        elif rows[0].gold is None:
            left_out.setdefault("no settled chart", []).append(clip)
        elif missing:
            left_out.setdefault(f"not in run {', '.join(missing)}", []).append(clip)
        else:
            clips.append(clip)
    return tuple(clips), {reason: tuple(names) for reason, names in sorted(left_out.items())}


def _given(facts: RunFacts, scored: Scored) -> set[str]:
    """The clips that a run was given: those of its manifest, and those it has events of."""
    named = {source.clip_id for source in facts.manifest.clips} if facts.manifest else set()
    return named | set(scored.clips)


def _rows(scored: Scored, clips: Sequence[str]) -> list[ClipRow]:
    by_clip = {row.clip: row for row in scored.rows}
    return [by_clip[clip] for clip in clips]


def _both(of_a: Sequence[Item], of_b: Sequence[Item]) -> list[tuple[Verdict, Verdict]]:
    theirs: dict[TurnKey, Verdict] = {item.key: item.verdict for item in of_b}
    return [(item.verdict, theirs[item.key]) for item in of_a if item.key in theirs]


def _measured(scored: Scored, clips: Sequence[str]) -> CallFigures:
    return merged(scored.clips[ClipId(clip)].meter for clip in clips if clip in scored.clips).figures()


def _caveats(runs: Sequence[RunResults[ClipScore]], clips: Sequence[str], contrasts: Sequence[Contrast]) -> list[str]:
    found = [
        f"run {i + 1} is noted as not to be counted ({reason}) and is in no contrast"
        for i, run in enumerate(runs)
        if (reason := run.facts.excluded_run()) is not None
    ]
    few = few_clips(len(clips))
    if few is not None:
        found.append(few)
    thin = [c for c in contrasts if c.unit == "clip" and 0 < c.differing < FEW_DISCORDANT]
    if thin:
        found.append(f"{len(thin)} contrasts of clips rest on fewer than {FEW_DISCORDANT} clips that differ")
    if len(contrasts) > 1:
        found.append(
            f"{sum(c.unit == 'clip' for c in contrasts)} contrasts of clips and "
            f"{sum(c.unit == 'item' for c in contrasts)} of items are each corrected by Holm's method; "
            "intervals are of 95 % one by one"
        )
    return found


def few_clips(clips: int) -> str | None:
    """What to bear in mind of intervals from so few clips; None where there are enough."""
    if clips >= ENOUGH_CLIPS:
        return None
    if clips < min(COVERED):
        return f"{clips} clips are too few for intervals to be relied on; below 12 their coverage was not examined"
    at = max(size for size in COVERED if size <= clips)
    return (
        f"only {clips} clips: where mistakes are few, 95 % intervals from {at} clips held the truth in "
        f"{100 * COVERED[at]:.1f} % of simulated experiments, and only large differences can be seen"
    )
