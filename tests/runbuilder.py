"""Builds the events of a run by hand, in the order a real one writes them, for tests of what reads them.

run = RunBuilder(clips=["c1"])
clip = run.clip("c1")
clip.turn("q_maneuver", "other", value="lane_change")
clip.submit("confirmed", ["차43-2"])
clip.finish()
log = run.log()
"""

import uuid
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

from vlmrec.canonical import make_blob
from vlmrec.events import (
    AnswerAccepted,
    AnswerGiven,
    AnswerValidated,
    CallCompleted,
    CallFailed,
    CallRequested,
    CandidateBrief,
    ClipFailed,
    ClipFinished,
    ClipOpened,
    ClipSource,
    EngineDescribed,
    EngineSubmitted,
    Event,
    Manifest,
    MediaItem,
    MediaPrepared,
    NoteAdded,
    Option,
    Payload,
    Provenance,
    ReplyParsed,
    RunStarted,
    SamplesVoted,
    Stage,
    TableChecked,
    TurnOpened,
    Usage,
    Violation,
    blob_refs,
    make_event,
)
from vlmrec.ledger import Ledger, Meta, Section, checked_ledger, meta_bytes, questions_bytes
from vlmrec.log import LogKind, LogWriter
from vlmrec.projections.memory import MemoryLog
from vlmrec.protocol import Eliminated, EliminatedBy, EngineStatus
from vlmrec.question import Modality, Question, Subject, TimeScope, Viewpoint, Wording
from vlmrec.question import Option as LedgerOption
from vlmrec.stages.condition import axis_values, canonical_id, condition_from_axes, parse_condition
from vlmrec.terms import BlobRef, Party, QuestionRef, Status

START = datetime(2026, 1, 5, 9, 0, 0, tzinfo=UTC)
AXES = axis_values(parse_condition("M=test/model"))


def question(id: str, parties: str, codes: str, *, scope: str = "span", observable: bool = True) -> Question:
    """A question of a small ledger; parties and codes are words."""
    put = tuple(Party(party) for party in parties.split())
    wording = Wording(self_=f"{id} 자차?", other=f"{id} 상대?", none=f"{id}?")
    return Question(
        id=id,
        section="scene",
        subject=Subject.SCENE if put == (Party.NONE,) else Subject.PARTY,
        parties=put,
        time_scope=TimeScope(scope),
        viewpoint=Viewpoint.VEHICLE,
        modality=Modality.MOTION,
        observable=observable,
        text_ko=wording,
        text_en=wording,
        domain=tuple(LedgerOption(code=code, label_ko=code, label_en=code) for code in codes.split()),
    )


def ledger_of(*questions: Question, data_version: str = "test-ledger") -> Ledger:
    meta = Meta(
        engine_version="test",
        data_version=data_version,
        chapter="same_direction",
        sections=(Section(id="scene", title_ko="장면", title_en="Scene"),),
        gates=(),
    )
    return checked_ledger(Ledger(engine_version="test", data_version=data_version, meta=meta, questions=questions))


LEDGER = ledger_of(
    question("q_collision", "none", "yes no", scope="instant"),
    question("q_maneuver", "self other", "straight lane_change stopped"),
    question("q_signal", "other", "on off"),
)


def axes(**changed: str) -> dict[str, str]:
    return {**AXES, **changed}


def condition(of: dict[str, str]) -> str:
    return canonical_id(condition_from_axes(of))


class RunBuilder:
    """A run under way. Each event is one second after the one before."""

    def __init__(
        self,
        *,
        run_id: str = "run",
        clips: Iterable[str] = (),
        axes: dict[str, str] = AXES,
        data_version: str = "test-ledger",
        ledger: Ledger | None = None,
        **manifest: Any,
    ) -> None:
        self.run_id = run_id
        self.events: list[Event] = []
        self.blobs: dict[str, bytes] = {}
        self.notes = 0
        settings: dict[str, Any] = {
            "run_id": run_id,
            "vlmrec_version": "0.1.0",
            "core_version": 1,
            "condition": condition(axes),
            "axes": axes,
            "model": axes["M"],
            "endpoint": "in-process",
            "parameters": {},
            "prompts": {},
            "engine": "embedded:test",
            "engine_version": "test",
            "data_version": data_version,
            "samples": 1,
            "vote_threshold": "1/2",
            "clips": tuple(ClipSource(clip_id=clip, path=f"{clip}.mp4") for clip in clips),
        }
        self.add(RunStarted(manifest=Manifest(**{**settings, **manifest})))
        self.add(
            EngineDescribed(
                ordinal=1,
                source="embedded:test",
                engine_version="test",
                data_version=data_version,
                meta=self.blob(meta_bytes(ledger or LEDGER)),
                questions=self.blob(questions_bytes(ledger or LEDGER)),
            )
        )

    def add(self, payload: Payload, clip: str | None = None) -> Event:
        time = (START + timedelta(seconds=len(self.events))).isoformat().replace("+00:00", "Z")
        event = make_event(payload, clip=clip, time=time)
        self.events.append(event)
        return event

    def blob(self, body: bytes, media_type: str = "application/json") -> BlobRef:
        blob = make_blob(body, media_type)
        self.blobs[blob.ref.sha256] = blob.body
        return blob.ref

    def clip(self, clip_id: str, *, opened: bool = True, truncated: bool = False) -> "ClipBuilder":
        return ClipBuilder(self, clip_id, opened=opened, truncated=truncated)

    def note(
        self, text: str, *, exclude: bool = True, clip: str | None = None, turn: tuple[str, str] | None = None
    ) -> None:
        self.notes += 1
        question_id, party = turn or (None, None)
        note = NoteAdded(ordinal=self.notes, text=text, exclude=exclude, clip=clip, question_id=question_id,
                         party=Party(party) if party else None)  # fmt: skip
        self.add(note)

    def write(self, folder: Path) -> Path:
        """The same run as a stored and sealed log."""
        path = folder / f"{self.run_id}.db"
        made = str(uuid.uuid5(uuid.NAMESPACE_URL, self.run_id))
        with LogWriter.create(path, kind=LogKind.RUN, log_uuid=made, created="2026-01-05T09:00:00Z") as writer:
            blobs = [make_blob(self.blobs[ref.sha256], ref.media_type) for ref in self._refs()]
            writer.append(self.events, blobs).result()
            writer.seal()
        return path

    def _refs(self) -> list[BlobRef]:
        found = (ref for event in self.events for ref in blob_refs(event.data))
        return list({ref.sha256: ref for ref in found}.values())

    def log(self) -> MemoryLog:
        return MemoryLog(self.events, run_id=self.run_id, blobs=self.blobs)


class ClipBuilder:
    """A clip under way. ``turn`` belongs to the round that the next ``submit`` ends."""

    def __init__(self, run: RunBuilder, clip_id: str, *, opened: bool, truncated: bool) -> None:
        self.run = run
        self.clip_id = clip_id
        self.round = 1
        self.endings = 0
        self.last_submission = ""
        self.candidates: tuple[CandidateBrief, ...] = ()
        self.status = EngineStatus.OPEN
        if opened:
            self.add(
                ClipOpened(
                    path=f"{clip_id}.mp4",
                    sha256="0" * 64,
                    bytes=1000,
                    duration_s=10.0,
                    frames=150,
                    first_s=0.0,
                    last_s=9.9,
                    average_rate=15.0,
                    variable_rate=False,
                    width=640,
                    height=360,
                    rotation=0,
                    codec="h264",
                    truncated=truncated,
                )
            )

    def add(self, payload: Payload) -> Event:
        return self.run.add(payload, self.clip_id)

    def media(self, *, frames: int, window: str = "whole", plan: dict[str, Any] | None = None) -> "ClipBuilder":
        items = tuple(
            MediaItem(sha256=f"{i:064x}", media_type="image/jpeg", bytes=100, time_s=i / 4) for i in range(frames)
        )
        self.add(
            MediaPrepared(window=window, delivery="frames", items=items, plan=plan or {}, parts=self.run.blob(b"[]"))
        )
        return self

    def turn(
        self,
        question_id: str,
        party: str,
        *,
        value: str | None = None,
        status: str | None = None,
        explanation: str | None = None,
        reasoning: str | None = None,
        evidence: tuple[float, float] | None = None,
        options: Sequence[str] = (),
        labels: Sequence[str] = (),
        strictness: str = "strict",
        put: bool = True,
        unusable: str | None = None,
        repetition: float | None = None,
        flags: tuple[str, ...] = (),
        demoted_from: str | None = None,
        violations: tuple[Violation, ...] = (),
        prompt_tokens: int | None = 100,
        cached_tokens: int | None = None,
        predicted: int | None = None,
        latency: float = 1.0,
        cost: str | None = None,
        failures: int = 0,
    ) -> "ClipBuilder":
        """One question put once and answered; ``unusable`` says why the reply gave no answer."""
        stage, whom = Stage.PREDICATE, Party(party)
        told = Status(status) if status is not None else Status.OBSERVED if value is not None else Status.UNKNOWN
        start, end = evidence or (None, None)
        shown = [Option(code=code, label=label) for code, label in zip(options, labels or options, strict=True)]
        of: dict[str, Any] = {"stage": stage, "question_id": question_id, "party": whom}
        self.add(
            TurnOpened(
                **of,
                core=1,
                round=self.round,
                text=f"{question_id}?",
                options=tuple(shown),
                identity_hash="i",
                shown_hash="s",
                window="whole",
                samples=1 if put else 0,
                put=put,
            )
        )
        if put:
            for attempt in range(1, failures + 1):
                self.request(of, attempt, predicted)
                self.add(
                    CallFailed(
                        **of,
                        sample=0,
                        attempt=attempt,
                        kind="status",
                        reason="server_error",
                        message="500",
                        final=False,
                    )
                )
            self.request(of, failures + 1, predicted)
            call = self.add(
                CallCompleted(
                    **of,
                    sample=0,
                    attempt=failures + 1,
                    status=200,
                    body=self.run.blob(b"{}"),
                    latency_s=latency,
                    usage=Usage(prompt_tokens=prompt_tokens, completion_tokens=20, cached_tokens=cached_tokens),
                    cost=Decimal(cost) if cost is not None else None,
                )
            )
            self.add(
                ReplyParsed(
                    **of,
                    core=1,
                    sample=0,
                    call=call.id,
                    outcome="answer" if unusable is None else "no_answer",
                    strictness=strictness if unusable is None else "none",  # type: ignore[arg-type]
                    reason=unusable,
                    status=told if unusable is None else None,
                    value=(demoted_from or value) if unusable is None else None,
                    explanation=explanation,
                    reasoning=self.run.blob(reasoning.encode(), "text/plain; charset=utf-8") if reasoning else None,
                    evidence_start=start,
                    evidence_end=end,
                    flags=flags,
                    repetition=repetition,
                )
            )
            self.add(
                SamplesVoted(
                    **of,
                    core=1,
                    n=1,
                    usable=int(unusable is None),
                    tally={} if unusable is not None else {f"{told}:{value}" if value else str(told): 1},
                    outcome="answer" if unusable is None else "unusable",
                    status=told if unusable is None else None,
                    value=value,
                )
            )
        if unusable is not None:
            return self
        if put:
            self.add(AnswerValidated(**of, core=1, checked=("domain",), violations=violations))
        self.add(
            AnswerAccepted(
                **of,
                core=1,
                status=told,
                value=value,
                source="model" if put else "not_observable",
                explanation=explanation if put else "not_observable",
                evidence_start=start,
                evidence_end=end,
                demoted_from=demoted_from,
                demoted_by="contradiction" if demoted_from else None,
            )
        )
        return self

    def given(self, question_id: str, party: str, value: str, explanation: str | None = None) -> "ClipBuilder":
        """An answer taken over from another log, and accepted."""
        of: dict[str, Any] = {"stage": Stage.PREDICATE, "question_id": question_id, "party": Party(party)}
        said: dict[str, Any] = {"status": Status.OBSERVED, "value": value}
        self.add(AnswerGiven(**of, **said, source=Provenance(kind="log", log="parent"), explanation=explanation))
        self.add(
            TurnOpened(
                **of, core=1, round=self.round, text=f"{question_id}?", options=(Option(code=value, label=value),),
                identity_hash="i", shown_hash="s", window="whole", samples=0,
            )
        )  # fmt: skip
        self.add(AnswerAccepted(**of, **said, core=1, source="given"))
        return self

    def request(self, of: dict[str, Any], attempt: int, predicted: int | None = None) -> None:
        self.add(
            CallRequested(
                **of,
                sample=0,
                attempt=attempt,
                fingerprint="v1:0",
                request=self.run.blob(b"{}"),
                model="test/model",
                endpoint="in-process",
                predicted_prompt_tokens=predicted,
            )
        )

    def table(self, table: bytes | None, violations: tuple[Violation, ...] = ()) -> "ClipBuilder":
        ref = self.run.blob(table) if table is not None else None
        self.add(TableChecked(core=1, table=ref, checked=("shape",), violations=violations))
        return self

    def submit(
        self,
        status: str,
        charts: Sequence[str] = (),
        *,
        eliminated: Sequence[tuple[str, str, str, str]] = (),
        next_question: tuple[str, str] | None = None,
        self_is: str = "A",
        fault: int = 30,
    ) -> "ClipBuilder":
        """The round's answers go to the engine. ``eliminated`` are (chart, question, party, value), for both assignments."""
        gone = [
            Eliminated(
                chart=chart, self_is=side, by=EliminatedBy(question_id=question, party=Party(party), value=value)
            )
            for chart, question, party, value in eliminated
            for side in ("A", "B")
        ]
        following = QuestionRef(question_id=next_question[0], party=Party(next_question[1])) if next_question else None
        return self.submit_eliminated(status, charts, gone, next_question=following, self_is=self_is, fault=fault)

    def submit_eliminated(
        self,
        status: str,
        charts: Sequence[str],
        eliminated: Sequence[Eliminated],
        *,
        next_question: QuestionRef | None = None,
        self_is: str = "A",
        fault: int = 30,
    ) -> "ClipBuilder":
        """``submit``, assignment by assignment."""
        self.status = EngineStatus(status)
        self.candidates = tuple(
            CandidateBrief(chart=c, variant=None, self_is=self_is, fault_self=fault, fault_self_range=(fault, fault))
            for c in charts
        )
        event = self.add(
            EngineSubmitted(
                round=self.round,
                attempt=1,
                request=self.run.blob(b"{}"),
                reply=self.run.blob(b"{}"),
                http_status=200,
                engine_version="test",
                data_version="test-ledger",
                status=self.status,
                candidates=self.candidates,
                eliminated=tuple(eliminated),
                next_question=next_question,
            )
        )
        self.last_submission = event.id
        self.round += 1
        return self

    def finish(self, *, incomplete: bool = False) -> "ClipBuilder":
        """The clip ends as the last submission left it."""
        self.endings += 1
        self.add(
            ClipFinished(
                core=1,
                ordinal=self.endings,
                outcome=self.status,
                incomplete=incomplete,
                candidates=self.candidates,
                rounds=self.round - 1,
                submission=self.last_submission,
            )
        )
        return self

    def fail(self, reason: str = "no frame", *, cause: str = "media", retryable: bool = False) -> "ClipBuilder":
        self.endings += 1
        self.add(
            ClipFailed(core=1, ordinal=self.endings, cause=cause, retryable=retryable, reason=reason, event="x")  # type: ignore[arg-type]
        )
        return self
