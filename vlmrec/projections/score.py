"""The score of a run against labels: single answers (layer 1), clips (layer 2), and why charts were lost.

Result: layer 1 by question, party and time scope, abstention discipline, evidence, format strictness;
layer 2 with survival and, clip by clip, the turn and answer that ruled the label's chart out; Stage 0;
agreement between labellers. Measured: cost, latency, tokens.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import ClassVar, NamedTuple

import msgspec
from msgspec import Struct

from vlmrec.events import (
    AnswerAccepted,
    CallCompleted,
    CallFailed,
    ClipFailed,
    ClipFinished,
    ClipOpened,
    EngineSubmitted,
    Event,
    Payload,
    ReplyParsed,
    Stage,
    TableChecked,
    TurnOpened,
)
from vlmrec.gold import OUT_OF_SCOPE, GoldSet
from vlmrec.ledger import Ledger, decode_ledger
from vlmrec.projections.core import Combined, Note, RunFacts, RunResults
from vlmrec.projections.labels import (
    ClipGold,
    GoldCounts,
    LabellersCompared,
    clip_gold,
    gold_counts,
    labellers_compared,
)
from vlmrec.projections.layer1 import (
    Discipline,
    Evidence,
    Given,
    Item,
    Tally,
    TurnTally,
    by_turn,
    discipline,
    evidence,
    items,
    share,
    tally,
)
from vlmrec.projections.layer2 import (
    UNDECIDED,
    Blame,
    Cause,
    ClipRow,
    Ending,
    Fault,
    Layer2,
    Lost,
    ending,
    layer2,
    lost_charts,
)
from vlmrec.projections.meter import CallFigures, Meter, median, merged
from vlmrec.projections.registry import Inputs, register
from vlmrec.projections.tables import Compared, Stage0, compared, stage0
from vlmrec.protocol import EliminatedBy, EngineStatus
from vlmrec.stages.table import decode_table
from vlmrec.terms import ClipId, TurnKey


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


class Tracked(NamedTuple):
    """When a chart was ruled out, and by which answers."""

    round: int
    by: tuple[EliminatedBy, ...]


class ClipScore(NamedTuple):
    """A clip, folded: what every scoring projection needs of it."""

    answers: dict[TurnKey, Given]
    put: dict[TurnKey, bool]
    lost: dict[str, Tracked]
    """Labelled charts that were ruled out."""
    outcome: EngineStatus | None
    ended: bool
    incomplete: bool
    truncated: bool
    charts: tuple[str, ...]
    fault: tuple[int, tuple[int, int]] | None
    table: str | None
    has_table: bool
    strictness: dict[str, int]
    reasons: dict[str, int]
    recovered: dict[str, int]
    meter: Meter


class _State:
    __slots__ = (
        "answers",
        "ending",
        "has_table",
        "lost",
        "meter",
        "put",
        "reasons",
        "recovered",
        "strictness",
        "table",
        "truncated",
    )

    def __init__(self) -> None:
        self.answers: dict[TurnKey, Given] = {}
        self.put: dict[TurnKey, bool] = {}
        self.lost: dict[str, Tracked] = {}
        self.ending: ClipFinished | ClipFailed | None = None
        self.truncated = False
        self.table: str | None = None
        self.has_table = False
        self.strictness: Counter[str] = Counter()
        self.reasons: Counter[str] = Counter()
        self.recovered: Counter[str] = Counter()
        self.meter = Meter()


class ScoreRun:
    """The projection behind ``vlmrec score``."""

    name: ClassVar[str] = "score"
    version: ClassVar[int] = 1
    several: ClassVar[bool] = False
    handles: ClassVar[tuple[type[Payload], ...]] = (
        ClipOpened,
        TableChecked,
        TurnOpened,
        ReplyParsed,
        AnswerAccepted,
        CallCompleted,
        CallFailed,
        EngineSubmitted,
        ClipFinished,
        ClipFailed,
    )

    def __init__(self, gold: GoldSet, *, mapped_by: str | None = None) -> None:
        """``mapped_by``: the migration that carried the labels to the run's ledger, for the record."""
        self._gold = gold
        self._mapped_by = mapped_by
        self._wanted = {clip: _leaves(label) for clip, label in clip_gold(gold, data_version=None).items()}

    def inputs(self) -> dict[str, str]:
        mapped = {"migration": self._mapped_by} if self._mapped_by is not None else {}
        return {"gold": self._gold.content, **mapped}

    def initial(self) -> _State:
        return _State()

    def apply(self, state: _State, event: Event) -> None:
        data = event.data
        if isinstance(data, CallCompleted):
            state.meter.completed(data)
        elif isinstance(data, ReplyParsed):
            if data.stage is Stage.PREDICATE:
                _reply(state, data)
        elif isinstance(data, AnswerAccepted):
            _answer(state, event.id, data)
        elif isinstance(data, TurnOpened):
            if data.stage is Stage.PREDICATE:
                state.put[TurnKey(data.question_id, data.party)] = data.put
        elif isinstance(data, EngineSubmitted):
            if data.status is not None and event.clip is not None:
                _submission(state, data, self._wanted.get(event.clip, ()))
        elif isinstance(data, CallFailed):
            state.meter.failed(data)
        elif isinstance(data, (ClipFinished, ClipFailed)):
            state.ending = data
        elif isinstance(data, ClipOpened):
            state.truncated = data.truncated
        elif isinstance(data, TableChecked):
            state.has_table = True
            state.table = data.table.sha256 if data.table is not None else None

    def result(self, state: _State) -> ClipScore:
        end = state.ending
        finished = end if isinstance(end, ClipFinished) else None
        candidates = finished.candidates if finished is not None else ()
        one = candidates[0] if len(candidates) == 1 else None
        return ClipScore(
            answers=dict(state.answers),
            put=dict(state.put),
            lost=dict(state.lost),
            outcome=finished.outcome if finished is not None else None,
            ended=end is not None,
            incomplete=finished.incomplete if finished is not None else False,
            truncated=state.truncated,
            charts=tuple(sorted({candidate.chart for candidate in candidates})),
            fault=(one.fault_self, one.fault_self_range) if one is not None else None,
            table=state.table,
            has_table=state.has_table,
            strictness=dict(state.strictness),
            reasons=dict(state.reasons),
            recovered=dict(state.recovered),
            meter=state.meter.copy(),
        )

    def combine(self, runs: Sequence[RunResults[ClipScore]]) -> Combined[Score, CallFigures]:
        (run,) = runs
        scored = score_clips(run, self._gold)
        clips, found = scored.clips, [item for clip in scored.items.values() for item in clip]
        measured = merged(clip.meter for clip in clips.values()).figures()
        losses = [row for row in scored.rows if row.verdict == Ending.SCOPE_ERROR]
        score = Score(
            condition=run.facts.manifest.condition if run.facts.manifest else None,
            data_version=run.facts.data_version,
            gold=gold_counts(self._gold, scored.labels),
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


class Scored(NamedTuple):
    """A run's clips beside their labels: the ground that scores and comparisons stand on."""

    clips: dict[ClipId, ClipScore]
    labels: dict[ClipId, ClipGold]
    items: dict[ClipId, tuple[Item, ...]]
    rows: tuple[ClipRow, ...]
    unlabelled: tuple[str, ...]


def score_clips(run: RunResults[ClipScore], gold: GoldSet) -> Scored:
    """Every clip of the run or the labels, judged. Clips and turns noted as not to be counted are left out."""
    clips = dict(run.clips)
    labels = clip_gold(gold, data_version=run.facts.data_version)
    noted = run.facts.excluded_clips()
    turns = run.facts.excluded_turns()
    found = {
        clip: tuple(item for item in items(clips[clip].answers, label.answers) if not _noted(turns, clip, item.key))
        for clip, label in sorted(labels.items())
        if clip in clips and clip not in noted
    }
    rows = tuple(_row(clip, labels[clip], clips.get(clip), noted.get(clip)) for clip in sorted(labels))
    settled = {row.clip for row in rows if row.gold is not None}
    return Scored(clips, labels, found, rows, tuple(clip for clip in clips if clip not in settled))


def ledger_of(run: RunResults[ClipScore]) -> Ledger | None:
    """The ledger that the run asked from, out of its own log; None where the log describes no engine."""
    facts: RunFacts = run.facts
    if facts.meta is None or facts.questions is None:
        return None
    return decode_ledger(run.blob(facts.meta.sha256), run.blob(facts.questions.sha256))


def _leaves(label: ClipGold) -> tuple[str, ...]:
    leaf = label.leaf
    return () if leaf is None or leaf == OUT_OF_SCOPE else (leaf,)


def _reply(state: _State, data: ReplyParsed) -> None:
    state.strictness[data.strictness] += 1
    if data.reason is not None:
        state.reasons[data.reason] += 1
    for how in data.recovered:
        state.recovered[how] += 1


def _answer(state: _State, event: str, data: AnswerAccepted) -> None:
    state.answers[TurnKey(data.question_id, data.party)] = Given(
        event, data.status, data.value, data.source, data.evidence_start, data.evidence_end, data.demoted_from
    )


def _submission(state: _State, data: EngineSubmitted, wanted: Sequence[str]) -> None:
    for chart in wanted:
        if chart in state.lost or any(candidate.chart == chart for candidate in data.candidates):
            continue
        by = tuple(gone.by for gone in data.eliminated if gone.chart == chart)
        state.lost[chart] = Tracked(data.round, tuple(dict.fromkeys(by)))


def _row(clip: ClipId, label: ClipGold, score: ClipScore | None, noted: str | None) -> ClipRow:
    excluded = label.exclude if label.exclude is not None else f"note: {noted}" if noted is not None else None
    outcome = score.outcome if score is not None else None
    charts = score.charts if score is not None else ()
    leaf = label.leaf
    verdict = ending(outcome, charts, leaf) if leaf is not None and excluded is None else None
    lost = score.lost.get(leaf) if score is not None and leaf is not None else None
    return ClipRow(
        clip=clip,
        verdict=verdict,
        excluded=excluded,
        outcome=outcome if outcome is not None else "failed" if score is not None and score.ended else None,
        incomplete=score.incomplete if score is not None else False,
        truncated=score.truncated if score is not None else False,
        gold=leaf,
        charts=charts,
        gold_survives=leaf in charts if verdict in UNDECIDED else None,
        equivalent=verdict is Ending.MISJUDGED and bool(label.equivalent & set(charts)),
        cause=_cause(leaf, lost, label, score) if lost is not None and score is not None and leaf is not None else None,
    )


def _cause(leaf: str, lost: Tracked, label: ClipGold, score: ClipScore) -> Cause:
    by = sorted(lost.by, key=lambda one: (one.question_id, one.party, one.value or ""))
    return Cause(round=lost.round, chart=leaf, by=tuple(_blame(one, label, score) for one in by))


def _blame(by: EliminatedBy, label: ClipGold, score: ClipScore) -> Blame:
    key = TurnKey(by.question_id, by.party)
    given = score.answers.get(key)
    found = items({key: given}, label.answers) if given is not None else ()
    return Blame(
        question_id=by.question_id,
        party=by.party,
        value=by.value,
        event=given.event if given is not None else None,
        verdict=found[0].verdict if found else "unlabelled",
    )


def _noted(turns: Mapping[tuple[str, str, str | None], str], clip: str, key: TurnKey) -> bool:
    return (clip, key.question_id, key.party) in turns or (clip, key.question_id, None) in turns


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


def _unusable(score: ClipScore) -> list[TurnKey]:
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
    strictness: Counter[str] = Counter()
    reasons: Counter[str] = Counter()
    recovered: Counter[str] = Counter()
    for clip in clips:
        strictness.update(clip.strictness)
        reasons.update(clip.reasons)
        recovered.update(clip.recovered)
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
