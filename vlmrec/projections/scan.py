"""Looks for what is wrong with answers and their texts, and with what a provider did. Flags, never corrects.

contradictions: a collision asserted and denied, a counterpart absent yet acting, answers against each other and
against the entity table. repetition: degenerate loops. drift: "left lane" turning into "from the left" into
"crossing". order: answers that follow an option's place. propagation: later answers after a wrong earlier one.
provider: prompt tokens that don't fit what was asked. format: what replies look like without a forced format.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar, NamedTuple

import msgspec
from msgspec import Struct

from vlmrec.events import (
    AnswerAccepted,
    AnswerGiven,
    CallCompleted,
    CallRequested,
    ClipOpened,
    Event,
    Payload,
    ReplyParsed,
    Stage,
    TableChecked,
    TurnOpened,
)
from vlmrec.gold import GoldSet
from vlmrec.ledger import Ledger, decode_ledger
from vlmrec.projections.claims import collision_claims, counterpart_absent, counterpart_acts, drift
from vlmrec.projections.core import Combined, RunResults
from vlmrec.projections.findings import Answered, ClipTexts, Finding, Text, clip_findings
from vlmrec.projections.forced import (
    FormatFigures,
    Free,
    Monitored,
    format_figures,
    format_findings,
    free_replies,
)
from vlmrec.projections.labels import UNMAPPED, GoldMapping
from vlmrec.projections.order import OfClip, OrderEffect, Shown, order_effects, order_findings
from vlmrec.projections.propagation import Propagation, propagation
from vlmrec.projections.provider import ProviderFigures, Sent, provider_figures, provider_findings
from vlmrec.projections.registry import Inputs, register
from vlmrec.projections.unsought import NotLooked, not_looked
from vlmrec.stages.rules import RuleSet
from vlmrec.stages.text import repetition
from vlmrec.table import EntityTable, decode_table
from vlmrec.terms import Answer, BlobRef, Sha256, Status, TurnKey


class Scan(Struct, frozen=True, kw_only=True):
    """Everything found, and the figures behind the kinds that are no single turn's fault."""

    findings: tuple[Finding, ...]
    counts: dict[str, tuple[int, ...]]
    """Findings of each kind, run by run."""
    turns: tuple[int, ...]
    """Turns with an answer that were looked at, run by run."""
    order: tuple[OrderEffect, ...]
    propagation: tuple[Propagation, ...]
    provider: tuple[ProviderFigures, ...]
    format: tuple[FormatFigures, ...]
    """Of the monitored replies, run by run."""
    not_looked: tuple[NotLooked, ...]
    """The kinds that could not be looked for, and why: that nothing of theirs was found says nothing."""
    excluded: tuple[str | None, ...]
    """Why a run is not to be counted, run by run; it is scanned like the others."""


class Reply(Struct, frozen=True, gc=False):
    """A reply's own text, and the claims in it; reasoning kept apart is read from its blob."""

    event: str
    key: TurnKey
    text: Text
    reasoning: BlobRef | None


class ScannedClip(NamedTuple):
    """A clip, folded for scanning."""

    answers: dict[TurnKey, Answered]
    shown: dict[TurnKey, Shown]
    replies: tuple[Reply, ...]
    sent: tuple[Sent, ...]
    table: str | None
    duration_s: float | None
    monitored: tuple[Monitored, ...]
    turns: dict[TurnKey, TurnOpened]
    """Of a clip with monitored calls; of others none are kept."""
    parsed: dict[tuple[TurnKey, int], ReplyParsed]


class _State:
    __slots__ = (
        "answers",
        "duration_s",
        "given",
        "monitored",
        "parsed",
        "replies",
        "requested",
        "sent",
        "shown",
        "table",
        "turns",
    )

    def __init__(self) -> None:
        self.answers: dict[TurnKey, Answered] = {}
        self.shown: dict[TurnKey, Shown] = {}
        self.replies: dict[tuple[TurnKey, int], Reply] = {}
        self.requested: dict[tuple[object, ...], tuple[int | None, bool]] = {}
        self.sent: list[Sent] = []
        self.given: dict[TurnKey, str] = {}
        self.table: str | None = None
        self.duration_s: float | None = None
        self.monitored: list[Monitored] = []
        self.turns: dict[TurnKey, TurnOpened] = {}
        self.parsed: dict[tuple[TurnKey, int], ReplyParsed] = {}


class ScanRuns:
    """The projection behind ``vlmrec scan``."""

    name: ClassVar[str] = "scan"
    version: ClassVar[int] = 1
    several: ClassVar[bool] = True
    handles: ClassVar[tuple[type[Payload], ...]] = (
        ClipOpened,
        TableChecked,
        TurnOpened,
        CallRequested,
        CallCompleted,
        ReplyParsed,
        AnswerGiven,
        AnswerAccepted,
    )

    def __init__(self, rules: RuleSet, rules_hash: str, gold: GoldSet, *, mapping: GoldMapping = UNMAPPED) -> None:
        self._rules = rules
        self._rules_hash = rules_hash
        self._gold = gold
        self._mapping = mapping

    def inputs(self) -> dict[str, str]:
        used = self._mapping.migrations
        mapped = {"migration": ", ".join(used)} if used else {}
        return {"gold": self._gold.content, "rules": self._rules_hash, **mapped}

    def initial(self) -> _State:
        return _State()

    def apply(self, state: _State, event: Event) -> None:
        data = event.data
        if isinstance(data, CallRequested):
            state.requested[data.call_key()] = (data.predicted_prompt_tokens, bool(data.media))
        elif isinstance(data, CallCompleted):
            predicted, media = state.requested.pop(data.call_key(), (None, False))
            key = TurnKey(data.question_id, data.party)
            state.sent.append(
                Sent(event.id, data.stage, key, predicted, data.usage.prompt_tokens, media, data.usage.media_tokens)
            )
            if data.stage is Stage.MONITOR:
                sample = None if data.sample == "all" else data.sample
                state.monitored.append(Monitored(event.id, key, sample, Sha256(data.body.sha256)))
        elif isinstance(data, ReplyParsed):
            if data.stage is Stage.PREDICATE:
                key = TurnKey(data.question_id, data.party)
                text = _read(event.id, key, data.explanation or "", data.repetition)
                state.replies[key, data.sample] = Reply(event.id, key, text, data.reasoning)
                state.parsed[key, data.sample] = data
        elif isinstance(data, AnswerAccepted):
            if data.stage is Stage.PREDICATE and data.source != "not_observable":
                _accept(state, event.id, data)
        elif isinstance(data, AnswerGiven):
            state.given[TurnKey(data.question_id, data.party)] = data.explanation or ""
        elif isinstance(data, TurnOpened):
            if data.stage is Stage.PREDICATE:
                key = TurnKey(data.question_id, data.party)
                state.shown[key] = Shown(tuple(option.code for option in data.options), data.round)
                state.turns[key] = data
        elif isinstance(data, TableChecked):
            state.table = data.table.sha256 if data.table is not None else None
        elif isinstance(data, ClipOpened):
            state.duration_s = data.duration_s

    def result(self, state: _State) -> ScannedClip:
        replies = tuple(state.replies[place] for place in sorted(state.replies))
        return ScannedClip(
            answers=dict(state.answers),
            shown=dict(state.shown),
            replies=replies,
            sent=tuple(state.sent),
            table=state.table,
            duration_s=state.duration_s,
            monitored=tuple(state.monitored),
            turns=dict(state.turns) if state.monitored else {},
            parsed=dict(state.parsed) if state.monitored else {},
        )

    def combine(self, runs: Sequence[RunResults[ScannedClip]]) -> Combined[Scan, None]:
        findings: list[Finding] = []
        formats = []
        for i, run in enumerate(runs):
            ledger = _ledger(run)
            monitored: list[Free] = []
            for clip, scanned in run.clips:
                texts = ClipTexts(
                    run=i,
                    clip=clip,
                    answers=scanned.answers,
                    texts=[_with_reasoning(reply, run.blob) for reply in scanned.replies],
                    table=_table(scanned.table, run.blob),
                    duration_s=scanned.duration_s,
                )
                findings += clip_findings(texts, self._rules, ledger)
                findings += provider_findings(i, clip, scanned.sent)
                free = free_replies(scanned.monitored, scanned.turns, scanned.parsed, run.blob)
                findings += format_findings(i, clip, free)
                monitored += free
            formats.append(format_figures(monitored))
        answers: list[Mapping[str, OfClip]] = [
            {str(clip): (s.answers, s.shown) for clip, s in run.clips} for run in runs
        ]
        orders = [run.facts.manifest.axes.get("O") if run.facts.manifest else None for run in runs]
        findings += order_findings(answers, orders)
        kinds = sorted({finding.kind for finding in findings})
        effects = order_effects(answers, orders)
        propagated = tuple(self._propagation(i, run) for i, run in enumerate(runs))
        provider = tuple(provider_figures([sent for _, scanned in run.clips for sent in scanned.sent]) for run in runs)
        turns = tuple(sum(len(scanned.answers) for _, scanned in run.clips) for run in runs)
        texts_read = sum(len(scanned.replies) for run in runs for _, scanned in run.clips)
        scan = Scan(
            findings=tuple(findings),
            counts={kind: tuple(_count(findings, kind, i) for i in range(len(runs))) for kind in kinds},
            turns=turns,
            order=effects,
            propagation=propagated,
            provider=provider,
            format=tuple(formats),
            not_looked=not_looked(
                read=sum(turns) + texts_read,
                orders=orders,
                order=effects,
                labelled=bool(self._gold.clip_ids),
                propagation=propagated,
                provider=provider,
                format=formats,
            ),
            excluded=tuple(run.facts.excluded_run() for run in runs),
        )
        return Combined(scan, None)

    def _propagation(self, i: int, run: RunResults[ScannedClip]) -> Propagation:
        clips = [(clip, scanned.answers, scanned.shown, _table(scanned.table, run.blob)) for clip, scanned in run.clips]
        return propagation(i, clips, self._gold, run.facts)


@register("scan")
def _make(inputs: Inputs) -> ScanRuns:
    return ScanRuns(inputs.rules, inputs.rules_hash, inputs.gold)


def _accept(state: _State, event: str, data: AnswerAccepted) -> None:
    key = TurnKey(data.question_id, data.party)
    value = data.value if data.demoted_from is None else data.demoted_from
    status = data.status if data.demoted_from is None else Status.OBSERVED
    answer = Answer(question_id=data.question_id, party=data.party, status=status, value=value)
    if data.source == "given":  # taken over: its text came with it, and no reply is in this log
        state.replies[key, 0] = Reply(event, key, _read(event, key, state.given.get(key, ""), None), None)
    state.answers[key] = Answered(event, answer, data.explanation, data.evidence_start, data.evidence_end, None)


def _read(event: str, key: TurnKey, text: str, measured: float | None) -> Text:
    """The claims of one text; only they are kept."""
    own = repetition(text)
    return Text(
        event=event,
        key=key,
        collision=collision_claims(text),
        absent=counterpart_absent(text),
        acts=tuple(counterpart_acts(text)),
        drift=drift(text),
        repetition=max((share for share in (own, measured) if share is not None), default=None),
    )


def _with_reasoning(reply: Reply, blob: Callable[[str], bytes]) -> Text:
    """The claims of a reply with those of its reasoning, which come first: it was written before the answer."""
    if reply.reasoning is None:
        return reply.text
    body = blob(reply.reasoning.sha256).decode("utf-8", errors="replace")
    thought, said = _read(reply.event, reply.key, body, None), reply.text
    return Text(
        event=reply.event,
        key=reply.key,
        collision=thought.collision[-1:] + said.collision,  # what it thinks on the way is no claim; where it ends is
        absent=thought.absent + said.absent,
        acts=thought.acts + said.acts,
        drift=thought.drift or said.drift,
        repetition=max((s for s in (thought.repetition, said.repetition) if s is not None), default=None),
    )


def _table(sha256: str | None, blob: Callable[[str], bytes]) -> EntityTable | None:
    """The entity table; None too for one that can't be read, which is Stage 0's affair and not a contradiction."""
    if sha256 is None:
        return None
    try:
        return decode_table(blob(sha256))
    except msgspec.MsgspecError:
        return None


def _ledger(run: RunResults[ScannedClip]) -> Ledger | None:
    facts = run.facts
    if facts.meta is None or facts.questions is None:
        return None
    return decode_ledger(run.blob(facts.meta.sha256), run.blob(facts.questions.sha256))


def _count(findings: Sequence[Finding], kind: str, run: int) -> int:
    return sum(finding.kind == kind and finding.run == run for finding in findings)
