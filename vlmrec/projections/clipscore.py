"""A clip, folded for scoring, and a run's clips beside their labels: the ground of score, confusion and compare.

The fold keeps answers, ends, readings and calls, and of all that the engine ruled out only when and by what
the labelled chart went. Memory is a clip's answers, however many submissions there were.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import ClassVar, NamedTuple

from msgspec.structs import replace

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
from vlmrec.projections.core import RunResults
from vlmrec.projections.ends import ENDS, ClipEnd
from vlmrec.projections.labels import UNMAPPED, ClipGold, GoldMapping, clip_gold
from vlmrec.projections.layer1 import Given, Item, Verdict, items
from vlmrec.projections.layer2 import UNDECIDED, Blame, Cause, ClipRow, Ending, ending
from vlmrec.projections.meter import Meter
from vlmrec.protocol import EngineStatus
from vlmrec.terms import ClipId, Party, TurnKey


class Ruled(NamedTuple):
    """An answer that ruled out one or more of a chart's assignments and variants, and when."""

    round: int
    question_id: str
    party: Party
    value: str | None


class Tracked(NamedTuple):
    """When the last of a chart's assignments was ruled out, and what ruled out each of them, in order."""

    round: int
    by: tuple[Ruled, ...]


class ClipScore(NamedTuple):
    """A clip, folded: what every scoring projection needs of it."""

    answers: dict[tuple[str, Party], Given]
    put: dict[tuple[str, Party], bool]
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
        "end",
        "gone",
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
        self.answers: dict[tuple[str, Party], Given] = {}
        self.put: dict[tuple[str, Party], bool] = {}
        self.lost: dict[str, Tracked] = {}
        self.gone: dict[str, dict[tuple[str, str | None], Ruled]] = {}
        self.end: ClipEnd | None = None
        self.truncated = False
        self.table: str | None = None
        self.has_table = False
        self.strictness: Counter[str] = Counter()
        self.reasons: Counter[str] = Counter()
        self.recovered: Counter[str] = Counter()
        self.meter = Meter()


class ClipFold:
    """The fold that scoring projections share. Needs the labels only to know which charts to follow."""

    handles: ClassVar[tuple[type[Payload], ...]] = (
        ClipOpened,
        TableChecked,
        TurnOpened,
        ReplyParsed,
        AnswerAccepted,
        CallCompleted,
        CallFailed,
        EngineSubmitted,
        *ENDS,
    )

    def __init__(self, gold: GoldSet, *, mapping: GoldMapping = UNMAPPED) -> None:
        """``mapping``: how the labels came to the run's ledger, for the record."""
        self._gold = gold
        self._mapping = mapping
        self._wanted = {clip: _leaves(label) for clip, label in clip_gold(gold, data_version=None).items()}

    def inputs(self) -> dict[str, str]:
        used = self._mapping.migrations
        return {"gold": self._gold.content, **({"migration": ", ".join(used)} if used else {})}

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
                state.put[data.question_id, data.party] = data.put
        elif isinstance(data, EngineSubmitted):
            if data.status is not None and event.clip is not None:
                _submission(state, data, self._wanted.get(event.clip, ()))
        elif isinstance(data, CallFailed):
            state.meter.failed(data)
        elif isinstance(data, (ClipFinished, ClipFailed)):
            state.end = ClipEnd(event.id, data)
        elif isinstance(data, ClipOpened):
            state.truncated = data.truncated
        elif isinstance(data, TableChecked):
            state.has_table = True
            state.table = data.table.sha256 if data.table is not None else None

    def result(self, state: _State) -> ClipScore:
        end = state.end
        finished = end.finished if end is not None else None
        candidates = end.candidates if end is not None else ()
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


class Scored(NamedTuple):
    """A run's clips beside their labels: the ground that scores and comparisons stand on."""

    clips: dict[ClipId, ClipScore]
    labels: dict[ClipId, ClipGold]
    items: dict[ClipId, tuple[Item, ...]]
    rows: tuple[ClipRow, ...]
    unlabelled: tuple[str, ...]


def score_clips(run: RunResults[ClipScore], gold: GoldSet) -> Scored:
    """Every clip of the run or the labels, judged. What is noted as not to be counted is left out: turns, clips, the run."""
    clips = dict(run.clips)
    labels = clip_gold(gold, data_version=run.facts.data_version)
    noted = run.facts.excluded_clips()
    if (reason := run.facts.excluded_run()) is not None:
        noted = dict.fromkeys((*clips, *labels), f"the run: {reason}") | noted
    turns = run.facts.excluded_turns()
    found = {
        clip: tuple(item for item in items(clips[clip].answers, label.answers) if not _noted(turns, clip, item.key))
        for clip, label in sorted(labels.items())
        if clip in clips and clip not in noted
    }
    rows = tuple(_row(clip, labels[clip], clips.get(clip), noted.get(clip)) for clip in sorted(labels))
    settled = {row.clip for row in rows if row.gold is not None}
    return Scored(clips, labels, found, rows, tuple(clip for clip in clips if clip not in settled))


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
    state.answers[data.question_id, data.party] = Given(
        event, data.status, data.value, data.source, data.evidence_start, data.evidence_end, data.demoted_from
    )


def _submission(state: _State, data: EngineSubmitted, wanted: Sequence[str]) -> None:
    for chart in wanted:
        if chart in state.lost:
            continue
        gone = state.gone.setdefault(chart, {})
        for each in data.eliminated:
            if each.chart == chart and (each.self_is, each.variant) not in gone:
                by = each.by
                gone[each.self_is, each.variant] = Ruled(data.round, by.question_id, by.party, by.value)
        if not any(candidate.chart == chart for candidate in data.candidates):
            state.lost[chart] = Tracked(data.round, tuple(dict.fromkeys(gone.values())))


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
    blames = [_blame(ruled, label, score) for ruled in sorted(lost.by, key=_in_order)]
    bad = any(blame.verdict in (Verdict.WRONG, Verdict.INVENTED) for blame in blames)
    decisive = [
        blame.verdict in (Verdict.WRONG, Verdict.INVENTED) if bad else blame.round == lost.round for blame in blames
    ]
    by = tuple(replace(blame, decisive=at_fault) for blame, at_fault in zip(blames, decisive, strict=True))
    return Cause(round=lost.round, chart=leaf, by=by)


def _in_order(ruled: Ruled) -> tuple[int, str, str, str]:
    return ruled.round, ruled.question_id, ruled.party, ruled.value or ""


def _blame(ruled: Ruled, label: ClipGold, score: ClipScore) -> Blame:
    key = TurnKey(ruled.question_id, ruled.party)
    given = score.answers.get(key)
    found = items({key: given}, label.answers) if given is not None else ()
    return Blame(
        round=ruled.round,
        question_id=ruled.question_id,
        party=ruled.party,
        value=ruled.value,
        event=given.event if given is not None else None,
        verdict=found[0].verdict if found else "unlabelled",
        decisive=False,
    )


def _noted(turns: Mapping[tuple[str, str, str | None], str], clip: str, key: TurnKey) -> bool:
    return (clip, key.question_id, key.party) in turns or (clip, key.question_id, None) in turns
