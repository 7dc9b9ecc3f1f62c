"""The score of a run against labels: single answers (layer 1), clips (layer 2), and why charts were lost.

Result: layer 1 by question, party and time scope, abstention discipline, evidence, format strictness;
layer 2 with survival and, clip by clip, the turn and answer that ruled the label's chart out; Stage 0;
agreement between labellers. Measured: cost, latency, tokens.
"""

from collections.abc import Iterable, Sequence
from typing import ClassVar

import msgspec
from msgspec import Struct

from vlmrec.ledger import Ledger, decode_ledger
from vlmrec.projections.clipscore import ClipFold, ClipScore, Scored, score_clips
from vlmrec.projections.core import Combined, RunResults
from vlmrec.projections.facts import Note, RunFacts
from vlmrec.projections.labels import (
    GoldCounts,
    LabellersCompared,
    gold_counts,
    labellers_compared,
)
from vlmrec.projections.layer1 import (
    Discipline,
    Evidence,
    Item,
    Tally,
    TurnTally,
    by_turn,
    discipline,
    evidence,
    share,
    tally,
)
from vlmrec.projections.layer2 import (
    ClipRow,
    Ending,
    Fault,
    Layer2,
    Lost,
    layer2,
    lost_charts,
)
from vlmrec.projections.meter import CallFigures, median, merged
from vlmrec.projections.registry import Inputs, register
from vlmrec.projections.tables import Compared, Stage0, compared, stage0
from vlmrec.table import decode_table
from vlmrec.terms import ClipId, Party


class Layer1(Struct, frozen=True, kw_only=True):
    """Items by verdict, in sum and by what was asked."""

    total: Tally
    by_question: tuple[TurnTally, ...]
    by_party: dict[str, Tally]
    by_time_scope: dict[str, Tally]
    not_asked: int
    """Labelled items that the run never put, its path having gone another way."""
    not_put: int
    """Questions that nothing on screen can answer: recorded as unknown, no item."""
    unusable: int
    """Labelled items whose every reply could not be read: no answer, so no item."""
    unlabelled: int
    """Answers that have no label."""
    demoted: int
    """Answers that validation turned into an abstention."""
    demoted_right: int
    """Of those, the ones whose value the label agrees with."""


class Format(Struct, frozen=True, kw_only=True):
    """How replies were read. Failures to answer are outcomes of their own, never wrong answers."""

    replies: int
    strict: int
    loose: int
    none: int
    strict_share: float | None
    reasons: dict[str, int]
    recovered: dict[str, int]


class Score(Struct, frozen=True, kw_only=True):
    """Everything a run's answers and ends come to, beside the labels."""

    condition: str | None
    data_version: str | None
    gold: GoldCounts
    layer1: Layer1
    discipline: Discipline
    evidence: Evidence
    layer2: Layer2
    lost: tuple[Lost, ...]
    scope_losses: tuple[Lost, ...]
    """Of the lost, those of clips that left by a gate though their label did not."""
    fault: Fault
    clips: tuple[ClipRow, ...]
    stage0: Stage0 | None
    format: Format
    labellers: tuple[LabellersCompared, ...]
    notes: tuple[Note, ...]


class ScoreRun(ClipFold):
    """The projection behind ``vlmrec score``."""

    name: ClassVar[str] = "score"
    version: ClassVar[int] = 1
    several: ClassVar[bool] = False

    def combine(self, runs: Sequence[RunResults[ClipScore]]) -> Combined[Score, CallFigures]:
        (run,) = runs
        scored = score_clips(run, self._gold)
        clips, found = scored.clips, [item for clip in scored.items.values() for item in clip]
        measured = merged(clip.meter for clip in clips.values()).figures()
        losses = [row for row in scored.rows if row.verdict == Ending.SCOPE_ERROR]
        score = Score(
            condition=run.facts.manifest.condition if run.facts.manifest else None,
            data_version=run.facts.data_version,
            gold=gold_counts(self._gold, scored.labels, self._mapping),
            layer1=_layer1(scored, ledger_of(run)),
            discipline=discipline(found),
            evidence=evidence((given for clip in clips.values() for given in clip.answers.values()), found),
            layer2=layer2(scored.rows, scored.unlabelled),
            lost=lost_charts(scored.rows),
            scope_losses=lost_charts(losses),
            fault=_fault(scored),
            clips=scored.rows,
            stage0=_stage0(run, scored),
            format=_format(clips.values()),
            labellers=labellers_compared(self._gold),
            notes=run.facts.notes,
        )
        return Combined(score, measured)


@register("score")
def _make(inputs: Inputs) -> ScoreRun:
    return ScoreRun(inputs.gold)


def ledger_of(run: RunResults[ClipScore]) -> Ledger | None:
    """The ledger that the run asked from, out of its own log; None where the log describes no engine."""
    facts: RunFacts = run.facts
    if facts.meta is None or facts.questions is None:
        return None
    return decode_ledger(run.blob(facts.meta.sha256), run.blob(facts.questions.sha256))


def _layer1(scored: Scored, ledger: Ledger | None) -> Layer1:
    found = [item for clip in scored.items.values() for item in clip]
    scopes: dict[str, list[Item]] = {}
    for item in found:
        known = ledger is not None and item.key.question_id in ledger
        scope = ledger.question(item.key.question_id).time_scope if ledger is not None and known else "unknown"
        scopes.setdefault(scope, []).append(item)
    demoted = [item for item in found if item.given.demoted_from is not None]
    counted = [(clip, scored.clips[clip], scored.labels[clip]) for clip in scored.items]
    return Layer1(
        total=tally(item.verdict for item in found),
        by_question=by_turn(found),
        by_party={
            party: tally(item.verdict for item in found if item.key.party == party)
            for party in sorted({item.key.party for item in found})
        },
        by_time_scope={scope: tally(item.verdict for item in group) for scope, group in sorted(scopes.items())},
        not_asked=sum(len(set(label.answers) - set(score.put) - set(score.answers)) for _, score, label in counted),
        not_put=sum(given.source == "not_observable" for _, score, _ in counted for given in score.answers.values()),
        unusable=sum(key in label.answers for _, score, label in counted for key in _unusable(score)),
        unlabelled=sum(
            key not in label.answers and given.source != "not_observable"
            for _, score, label in counted
            for key, given in score.answers.items()
        ),
        demoted=len(demoted),
        demoted_right=sum(item.given.demoted_from == item.gold.value for item in demoted),
    )


def _unusable(score: ClipScore) -> list[tuple[str, Party]]:
    """Turns that were put and brought no answer, in a clip that has ended."""
    return [key for key, put in score.put.items() if put and key not in score.answers] if score.ended else []


def _fault(scored: Scored) -> Fault:
    pairs = []
    for row in scored.rows:
        score, label = scored.clips.get(ClipId(row.clip)), scored.labels[ClipId(row.clip)]
        if row.verdict == Ending.MATCH and score is not None and score.fault and label.self_fault is not None:
            pairs.append((label.self_fault, *score.fault))
    return Fault(
        clips=len(pairs),
        exact=sum(gold == fault for gold, fault, _ in pairs),
        within_range=sum(low <= gold <= high for gold, _, (low, high) in pairs),
        difference_median=median(abs(gold - fault) for gold, fault, _ in pairs),
    )


def _stage0(run: RunResults[ClipScore], scored: Scored) -> Stage0 | None:
    """None where the run made no table, or nobody labelled one."""
    labelled = [clip for clip in scored.items if scored.labels[clip].table is not None]
    if not labelled or not any(score.has_table for score in scored.clips.values()):
        return None
    pairs: list[Compared] = []
    for clip in labelled:
        gold, sha256 = scored.labels[clip].table, scored.clips[clip].table
        if gold is None or sha256 is None:
            continue
        try:
            pairs.append(compared(decode_table(run.blob(sha256)), gold))
        except msgspec.MsgspecError:
            continue  # counted as unusable: labelled less compared
    return stage0(pairs, labelled=len(labelled))


def _format(clips: Iterable[ClipScore]) -> Format:
    strictness: dict[str, int] = {"strict": 0, "loose": 0, "none": 0}
    reasons: dict[str, int] = {}
    recovered: dict[str, int] = {}
    for clip in clips:
        for total, counts in ((strictness, clip.strictness), (reasons, clip.reasons), (recovered, clip.recovered)):
            for name, count in counts.items():
                total[name] = total.get(name, 0) + count
    replies = sum(strictness.values())
    return Format(
        replies=replies,
        strict=strictness["strict"],
        loose=strictness["loose"],
        none=strictness["none"],
        strict_share=share(strictness["strict"], replies),
        reasons=dict(sorted(reasons.items())),
        recovered=dict(sorted(recovered.items())),
    )
