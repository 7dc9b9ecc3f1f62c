"""Resuming a run: what must still be the same, and how the log is brought up to date before anything is sent.

In this order, per clip: the state is folded from the log; decisions that a crash left unwritten are
appended; calls that it left open are closed as in doubt; completed calls of unfinished clips are
held against the requests that would be sent now; failed clips are reopened where that is asked for.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from hashlib import file_digest
from pathlib import Path
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from vlmrec import __version__
from vlmrec.errors import LogError, ResumeRefused, VlmrecError
from vlmrec.events import (
    CallRequested,
    ClipReopened,
    ClipSource,
    Event,
    Manifest,
    RateChanged,
    RunResumed,
    RunStopped,
    Stage,
    make_event,
)
from vlmrec.ledger import Ledger
from vlmrec.log.reader import LogReader, open_log
from vlmrec.log.verify import verify_log
from vlmrec.log.writer import LogWriter
from vlmrec.models.difference import first_difference
from vlmrec.stages.calls import crashed_payload, failures_by_key
from vlmrec.stages.compose import call_prompt, wire_fields
from vlmrec.stages.context import CORE_VERSION, RunContext
from vlmrec.stages.effects import Blobs, SendCall
from vlmrec.stages.extract import Parts, Progress, RunResult, drive
from vlmrec.stages.orchestrator import ClipTask
from vlmrec.stages.prompts import Templates
from vlmrec.stages.replay import Bodies, run_context, settle_decisions
from vlmrec.stages.request import Parameters, build_call
from vlmrec.stages.state import ClipState, apply, fold
from vlmrec.stages.stop import Stop


class Stored(NamedTuple):
    """A run as its log has it."""

    context: RunContext
    parameters: Parameters
    by_clip: dict[str, list[Event]]
    resumes: int
    stops: int
    rate_changes: int

    @property
    def manifest(self) -> Manifest:
        return self.context.manifest


def read_stored(reader: LogReader) -> Stored:
    """Everything that a resume needs of a run's log. Raises InputError when it is not the log of a run."""
    events = list(reader.events())
    run_level = [event for event in events if event.clip is None]
    context = run_context(run_level, reader.blob)
    by_clip: dict[str, list[Event]] = {clip.clip_id: [] for clip in context.manifest.clips}
    for event in events:
        if event.clip is not None:
            by_clip.setdefault(event.clip, []).append(event)
    return Stored(
        context,
        msgspec.convert(context.manifest.parameters, Parameters),
        by_clip,
        sum(isinstance(event.data, RunResumed) for event in run_level),
        sum(isinstance(event.data, RunStopped) for event in run_level),
        sum(isinstance(event.data, RateChanged) for event in run_level),
    )


def check_unchanged(stored: Stored, *, ledger: Ledger, templates: Templates) -> None:
    """Raises ResumeRefused unless engine data, prompts and core are the run's own, naming what differs."""
    manifest = stored.manifest
    if ledger.data_version != manifest.data_version:
        raise ResumeRefused(
            f"run {manifest.run_id}: the engine's data_version is {ledger.data_version}, but the run was made with "
            f"{manifest.data_version}; name the engine it was made with, or re-score the run with `vlmrec rescore`"
        )
    if manifest.core_version != CORE_VERSION:
        raise ResumeRefused(
            f"run {manifest.run_id}: this vlmrec decides by core {CORE_VERSION}, the run by core "
            f"{manifest.core_version}; resume it with vlmrec {manifest.vlmrec_version}"
        )
    for name, was in sorted(manifest.prompts.items()):
        if templates.hashes.get(name) != was:
            raise ResumeRefused(
                f"run {manifest.run_id}: the prompt template {name} is not the one that the run was made with; "
                f"resume it with vlmrec {manifest.vlmrec_version}, or start another run"
            )


def relocated(stored: Stored, clips: Sequence[ClipSource]) -> Mapping[str, Path]:
    """Where each clip is now: where ``clips`` say, else where the run found it.

    Raises ResumeRefused for a clip that the run does not have; its bytes are compared when it is opened.
    """
    places = {clip.clip_id: Path(clip.path) for clip in stored.manifest.clips}
    for clip in clips:
        if clip.clip_id not in places:
            raise ResumeRefused(
                f"run {stored.manifest.run_id} has no clip {clip.clip_id!r} ({clip.path}): a run's clips are fixed "
                "when it starts; start another run for further ones"
            )
        places[clip.clip_id] = Path(clip.path)
    return places


async def resume_run(
    path: Path,
    parts: Parts,
    *,
    ledger: Ledger,
    templates: Callable[[str], Templates],
    clips: Sequence[ClipSource],
    workers: int,
    stop: Stop,
    retry_failed: bool = False,
    progress: Progress = lambda clip, state: None,
) -> RunResult:
    """Go on with the run at ``path``. Raises ResumeRefused where that can't be done, and LogError for a damaged log.

    The log is this process's alone before it is read, so that nothing is added between reading and going on.
    """
    with LogWriter.open(path) as writer:
        try:
            stored, texts, tasks = _taken_up(path, ledger, templates, clips)
        except VlmrecError:
            writer.seal()
            raise
        with open_log(path, live=True) as reader:
            await _bring_up_to_date(writer, stored, tasks, parts, reader.blob, retry_failed=retry_failed)
        return await drive(
            writer,
            stored.context,
            tasks,
            stored.parameters,
            texts,
            parts,
            workers=workers,
            stop=stop,
            progress=progress,
            stops=stored.stops,
            rate_changes=stored.rate_changes,
        )


def _taken_up(
    path: Path, ledger: Ledger, templates: Callable[[str], Templates], clips: Sequence[ClipSource]
) -> tuple[Stored, Templates, list[ClipTask]]:
    """The run as its log has it, once all that a resume rests on has been found in order."""
    report = verify_log(path)
    if not report.holds:
        raise LogError(
            f"{path}: the log is damaged ({report.faults[0]}), so the run can't be gone on with; "
            f"`vlmrec verify {path}` says more"
        )
    with open_log(path) as reader:
        stored = read_stored(reader)
        texts = templates(stored.context.language)
        check_unchanged(stored, ledger=ledger, templates=texts)
        places = relocated(stored, clips)
        check_fingerprints(stored, texts, reader.blob)
        tasks = [
            ClipTask(places[clip], fold(clip, events), failures_by_key(events))
            for clip, events in stored.by_clip.items()
        ]
    check_same_bytes(tasks)
    return stored, texts, tasks


async def _bring_up_to_date(
    writer: LogWriter, stored: Stored, tasks: Sequence[ClipTask], parts: Parts, blobs: Blobs, *, retry_failed: bool
) -> None:
    now = parts.clock.now()
    for task in tasks:
        await _write_unwritten(writer, stored.context, task.state, blobs, now)
    open_calls = [(task, requested) for task in tasks for requested in open_requests(stored.by_clip[task.state.clip])]
    resumed = RunResumed(
        ordinal=stored.resumes + 1,
        vlmrec_version=__version__,
        closed_in_doubt=len(open_calls),
        retry_failed=retry_failed,
    )
    await writer.append_async([make_event(resumed, clip=None, time=now)])
    for task, (requested_id, requested) in open_calls:
        closed = make_event(crashed_payload(requested), clip=task.state.clip, time=now, causation=requested_id)
        await writer.append_async([closed])
        apply(task.state, closed)
        await _write_unwritten(writer, stored.context, task.state, blobs, now)
    if retry_failed:
        for task in tasks:
            await _reopen(writer, task, now)


async def _write_unwritten(writer: LogWriter, context: RunContext, state: ClipState, blobs: Blobs, now: str) -> None:
    for batch, bodies in settle_decisions(context, state, Bodies(blobs), time=now):
        await writer.append_async(batch, bodies)


async def _reopen(writer: LogWriter, task: ClipTask, now: str) -> None:
    state = task.state
    if not state.ended or state.failure is None or not state.failure.retryable:
        return
    reopened = ClipReopened(ordinal=state.reopened + 1, reason=f"retry after {state.failure.cause} failure")
    event = make_event(reopened, clip=state.clip, time=now, causation=state.failure.event)
    await writer.append_async([event])
    apply(state, event)
    task.failures.clear()


def open_requests(events: Iterable[Event]) -> list[tuple[str, CallRequested]]:
    """The calls that were sent and never answered, with the ids of their requests, in log order."""
    found: dict[tuple[object, ...], tuple[str, CallRequested]] = {}
    for event in events:
        data = event.data
        if isinstance(data, CallRequested):
            found[data.call_key()] = (event.id, data)
        elif data.type in ("call.completed", "call.failed"):
            found.pop(data.call_key(), None)  # type: ignore[attr-defined]  # both are calls
    return list(found.values())


def check_fingerprints(stored: Stored, templates: Templates, blobs: Blobs) -> None:
    """Raises ResumeRefused when a completed call of an unfinished clip would be sent otherwise today."""
    for clip, events in stored.by_clip.items():
        state = fold(clip, events)
        if state.ended:
            continue
        requests = {
            (*event.data.call_key(), event.data.attempt): event.data
            for event in events
            if isinstance(event.data, CallRequested)
        }
        for turn in state.turns.values():
            watched = replace(turn.opened, stage=Stage.MONITOR)
            calls = [
                *((turn.opened, each) for each in turn.calls.items()),
                *((watched, each) for each in turn.monitors.items()),
            ]
            for opened, (sample, call) in calls:
                if call.completed is None:
                    continue
                key = (*call.completed.call_key(), call.completed.attempt)
                effect = SendCall(opened, sample, call.completed.attempt)
                _compare(stored, templates, state, effect, requests[key], blobs)


def _compare(
    stored: Stored,
    templates: Templates,
    state: ClipState,
    effect: SendCall,
    requested: CallRequested,
    blobs: Blobs,
) -> None:
    context = stored.context
    prompt = call_prompt(context, templates, stored.parameters, state, effect, blobs)
    parts = msgspec.json.decode(blobs(state.media[effect.turn.window].parts.sha256))
    fields = wire_fields(context, stored.parameters, effect)
    spec = build_call(prompt, parts, fields, None)
    if spec.fingerprint == requested.fingerprint:
        return
    was = msgspec.json.decode(blobs(requested.request.sha256))
    difference = first_difference(was, msgspec.json.decode(spec.request.body))
    raise ResumeRefused(
        f"run {stored.manifest.run_id}, clip {state.clip}: the stored reply to {effect.turn.question_id} "
        f"({effect.turn.party}) answers another request than would be sent now; first difference at {difference}"
    )


def check_same_bytes(tasks: Sequence[ClipTask]) -> None:
    """Raises ResumeRefused when the file of an unfinished clip holds other bytes than the run opened."""
    for task in tasks:
        opened = task.state.opened
        if opened is None or task.state.ended or not task.path.is_file():
            continue
        with task.path.open("rb") as file:
            found = file_digest(file, "sha256").hexdigest()
        if found != opened.sha256:
            raise ResumeRefused(
                f"clip {task.state.clip}: {task.path} holds other bytes (sha256 {found[:12]}…) than {opened.path} did "
                f"when the run opened it ({opened.sha256[:12]}…); put the file back, or start another run"
            )
