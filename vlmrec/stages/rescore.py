"""Re-scoring: stored answers put to another engine, through the decision core, without a model in reach.

What is read of the run are its clips as opened and its answers as accepted; they are said in the
words of the target's ledger where a declared migration says how, and never guessed. What comes out
is a derived log, in memory or saved, that names its parent, the parent's head, the engine's data
and the migration.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Literal, NamedTuple

from msgspec.structs import replace

from vlmrec import __version__
from vlmrec.engine.migration import Mapper, Migration, load_migration
from vlmrec.events import (
    AnswerAccepted,
    AnswerGiven,
    ClipFailed,
    ClipFinished,
    ClipOpened,
    ClipSource,
    Event,
    Manifest,
    Payload,
    Provenance,
    RunStarted,
    RunStopped,
    Stage,
    make_event,
)
from vlmrec.ledger import Ledger
from vlmrec.stages.context import CORE_VERSION, RunContext
from vlmrec.stages.derive import Batch, Evaluate, Taken, derive_clip
from vlmrec.stages.submission import described_payload
from vlmrec.terms import Answer, TurnKey

Mode = Literal["planned", "all"]

READ_TYPES = (ClipOpened.type, AnswerAccepted.type, ClipFinished.type, ClipFailed.type)
"""The events of a clip that re-scoring reads."""


class Parent(NamedTuple):
    """The run whose answers are taken over."""

    uuid: str
    head: str
    manifest: Manifest
    ledger: Ledger


class Target(NamedTuple):
    """The engine that they are put to. ``meta`` and ``questions`` are its bodies, as a log keeps them."""

    source: str
    ledger: Ledger
    meta: bytes
    questions: bytes
    evaluate: Evaluate


class StoredClip(NamedTuple):
    """What a run has of one clip."""

    clip: str
    opened: ClipOpened | None
    answers: tuple[Event, ...]


def stored_clips(events: Iterable[Event]) -> tuple[StoredClip, ...]:
    """The clips of a run that reached an outcome, from its ``READ_TYPES`` events, in order of clip id.

    Of two answers to a turn the last stands, and so does the last ending of a clip.
    """
    opened: dict[str, ClipOpened] = {}
    answers: dict[str, dict[TurnKey, Event]] = {}
    finished: dict[str, bool] = {}
    for event in events:
        if event.clip is None:
            continue
        if isinstance(event.data, ClipOpened):
            opened[event.clip] = event.data
        elif isinstance(event.data, AnswerAccepted) and event.data.source != "not_observable":
            answers.setdefault(event.clip, {})[event.data.ref.key] = event
        elif isinstance(event.data, (ClipFinished, ClipFailed)):
            finished[event.clip] = isinstance(event.data, ClipFinished)
    names = sorted(name for name, ended_well in finished.items() if ended_well)
    return tuple(StoredClip(name, opened.get(name), tuple(answers.get(name, {}).values())) for name in names)


def rescore_events(
    parent: Parent, clips: Sequence[StoredClip], target: Target, *, run_id: str, mode: Mode, time: str
) -> Iterator[Batch]:
    """The whole derived log, batch by batch. ``time`` stands in every event (empty in memory)."""
    taken, migration = take_over(parent, target, clips)
    manifest = derived_manifest(parent, target, taken, migration, run_id=run_id, mode=mode)
    yield opening(target, manifest, time)
    context = RunContext(manifest, target.ledger, None)
    for each in taken:
        yield from derive_clip(context, each, target.evaluate, time=time)
    stopped = RunStopped(ordinal=1, reason="done", clips_finished=len(taken))
    yield Batch([make_event(stopped, clip=None, time=time)], [])


def opening(target: Target, manifest: Manifest, time: str) -> Batch:
    """What the log of a run without a model begins with: its manifest, and the engine it was put to."""
    described, bodies = described_payload(target.source, target.ledger, target.meta, target.questions)
    events = [make_event(data, clip=None, time=time) for data in (RunStarted(manifest=manifest), described)]
    return Batch(events, list(bodies))


def take_over(parent: Parent, target: Target, clips: Sequence[StoredClip]) -> tuple[list[Taken], Migration | None]:
    """The stored answers in the words of the target's ledger, and the declared migration behind them, if any."""
    migration = None
    if parent.ledger.data_version != target.ledger.data_version:
        migration = load_migration(parent.ledger.data_version, target.ledger.data_version)
    mapper = Mapper(parent.ledger, target.ledger, migration)
    return [_take(parent, mapper, clip) for clip in clips], migration


def derived_manifest(
    parent: Parent, target: Target, taken: Sequence[Taken], migration: Migration | None, *, run_id: str, mode: Mode
) -> Manifest:
    """The parent's manifest under the target engine, with what was taken over and how."""
    extra = {
        "source": "stored",
        "mode": mode,
        "given": {each.clip: len(each.given) for each in taken},
        "migration": migration.version if migration is not None else None,
        "parent": {"run_id": parent.manifest.run_id, "uuid": parent.uuid, "head": parent.head},
    }
    return replace(
        parent.manifest,
        run_id=run_id,
        vlmrec_version=__version__,
        core_version=CORE_VERSION,
        engine=target.source,
        engine_version=target.ledger.engine_version,
        data_version=target.ledger.data_version,
        clips=tuple(ClipSource(clip_id=each.clip, path=each.opened.path if each.opened else "") for each in taken),
        extra=extra,
    )


def _take(parent: Parent, mapper: Mapper, clip: StoredClip) -> Taken:
    by_key = {event.data.ref.key: event for event in clip.answers if isinstance(event.data, AnswerAccepted)}
    mapped = mapper.map(_answer(event.data) for event in clip.answers)
    given = tuple(
        _given(parent, by_key, each.answer, each.kind, each.rule, [ref.key for ref in each.sources])
        for each in mapped.answers
    )
    return Taken(clip.clip, clip.opened, given)


def _answer(data: Payload) -> Answer:
    assert isinstance(data, AnswerAccepted)
    return Answer(question_id=data.question_id, party=data.party, status=data.status, value=data.value)


def _given(
    parent: Parent,
    by_key: dict[TurnKey, Event],
    answer: Answer,
    kind: Literal["kept", "approximate"],
    rule: str | None,
    sources: list[TurnKey],
) -> AnswerGiven:
    event = by_key[sources[0]]
    accepted = event.data
    assert isinstance(accepted, AnswerAccepted)
    return AnswerGiven(
        stage=Stage.PREDICATE,
        question_id=answer.question_id,
        party=answer.party,
        status=answer.status,
        value=answer.value,
        source=Provenance(kind="log", log=parent.uuid, head=parent.head, event=event.id),
        mapping=kind,
        rule=rule,
        source_question_id=accepted.question_id,
        source_value=accepted.value,
        explanation=accepted.explanation,
        evidence_start=accepted.evidence_start,
        evidence_end=accepted.evidence_end,
    )
