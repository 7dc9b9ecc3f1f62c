"""People and older records as runs: their answers, put to the engine by the very core that runs use.

Whatever empties the candidates for a person is the engine's fault and not a model's. The log holds the answers
as given, naming where each came from; no call is copied, so it costs nothing and can be replayed alone.
"""

import uuid
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from vlmrec import __version__
from vlmrec.canonical import sha256_hex
from vlmrec.engine.migration import load_migration, map_answers
from vlmrec.engine.reference import load_reference, versions
from vlmrec.errors import InputError
from vlmrec.events import (
    AnswerGiven,
    ClipSource,
    Manifest,
    Provenance,
    RunStopped,
    Stage,
    make_event,
)
from vlmrec.gold import REVIEWED, GoldLabel, encode_label
from vlmrec.ledger import Ledger
from vlmrec.log import LogKind, LogWriter
from vlmrec.log.store import run_path
from vlmrec.projections.core import project
from vlmrec.projections.meter import median
from vlmrec.projections.show import Show
from vlmrec.projections.shown import Shown
from vlmrec.report.goldmap import load_labels
from vlmrec.report.logs import open_sources, read_clip_set
from vlmrec.report.records import LeftOut, OldTurn, Records, field_map, read_records
from vlmrec.stages.condition import axis_values, canonical_id, parse_condition
from vlmrec.stages.context import CORE_VERSION, RunContext
from vlmrec.stages.derive import Batch, Taken, derive_clip
from vlmrec.stages.parents import embedded_target
from vlmrec.stages.rescore import Target, opening
from vlmrec.terms import QuestionRef


class Imported(NamedTuple):
    """What became of an import."""

    path: Path
    clips: int
    answers: int
    left_out: tuple[LeftOut, ...]
    """Records that could not be used; for labels, answers that say nothing in the engine's ledger."""
    agreeing: int
    comparable: int
    """Turns whose recorded candidates the engine's reply can be held against, and those that agree."""


def import_gold(
    directory: Path, store: Path, run_id: str, *, labeler: str | None, engine: str | None, clips: Path | None, now: str
) -> Imported:
    """A labeller's answers as a run. The labeller: as named, else the one whose name ends the run id, else the reviewer."""
    gold = load_labels(directory)
    only = read_clip_set(clips, (), gold.clip_ids)
    name = labeler or next((one for one in gold.labellers if run_id.endswith(f"-{one}")), REVIEWED)
    labels = gold.reviewed if name == REVIEWED else gold.labellers.get(name, {})
    chosen = [labels[clip] for clip in sorted(labels) if only is None or clip in only]
    if not chosen:
        known = ", ".join([REVIEWED, *gold.labellers])
        raise InputError(f"{directory}: no labels by {name!r} to import; there are: {known}")
    target = embedded_target(engine or _engine_of(chosen[0], directory))
    taken, left_out = [], []
    for label in chosen:
        one, unused = _taken_label(label, target.ledger, name, directory)
        taken.append(one)
        left_out += [LeftOut(0, f"{label.clip_id}: {ref.question_id}/{ref.party} has no counterpart") for ref in unused]
    source = {"kind": "gold", "content": gold.content, "labeler": name}
    path = _write(store, run_id, f"human/{name}", target, taken, source, now=now)
    return Imported(path, len(taken), sum(len(one.given) for one in taken), tuple(left_out), 0, 0)


def import_turns(
    file: Path, store: Path, run_id: str, *, model: str, engine: str | None, fields: Sequence[str], now: str
) -> Imported:
    """Older records as a run, marked as imported."""
    try:
        body = file.read_bytes()
        text = body.decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{file}: can't be read as JSON lines ({error})") from error
    target = embedded_target(engine or versions()[-1])
    records = read_records(text, target.ledger, field_map(fields))
    if not records.turns:
        why = f"; line {records.left_out[0].line}: {records.left_out[0].reason}" if records.left_out else ""
        raise InputError(f"{file}: no record could be used{why}")
    content = sha256_hex(body)
    latencies = [turn.latency_s for turn in records.turns if turn.latency_s is not None]
    source = {
        "kind": "import",
        "content": content,
        "records": len(records.turns),
        "latency_s_median": median(latencies),
        "fields": list(fields),
    }
    path = _write(store, run_id, model, target, _taken_turns(records.turns, content), source, now=now)
    agreeing, comparable = _agreement(path, records)
    return Imported(
        path, len({t.clip for t in records.turns}), len(records.turns), records.left_out, agreeing, comparable
    )


def _engine_of(label: GoldLabel, directory: Path) -> str:
    for version in versions():
        if load_reference(version).data_version == label.data_version:
            return version
    raise InputError(
        f"{directory}: the labels are of the ledger {label.data_version}, which no embedded engine has; "
        f"name one with --engine ({', '.join(versions())})"
    )


def _taken_label(label: GoldLabel, ledger: Ledger, name: str, directory: Path) -> tuple[Taken, tuple[QuestionRef, ...]]:
    """A label's answers in the words of the engine's ledger."""
    source = load_reference(_engine_of(label, directory)).ledger
    stored = {answer.key: answer for answer in label.answers}
    migration = load_migration(source.data_version, ledger.data_version)
    mapped = map_answers(source, ledger, migration, (answer.answer for answer in label.answers))
    origin = Provenance(kind="gold", content=sha256_hex(encode_label(label)), labeler=name)
    given = []
    for each in mapped.answers:
        said, first = each.answer, stored[each.sources[0].key]
        given.append(
            AnswerGiven(
                stage=Stage.PREDICATE,
                question_id=said.question_id,
                party=said.party,
                status=said.status,
                value=said.value,
                source=origin,
                mapping=each.kind,
                rule=each.rule,
                source_question_id=first.question_id,
                source_value=first.value,
                evidence_start=first.evidence_start,
                evidence_end=first.evidence_end,
            )
        )
    return Taken(label.clip_id, None, tuple(given)), mapped.unused


def _taken_turns(turns: Sequence[OldTurn], content: str) -> list[Taken]:
    by_clip: dict[str, list[AnswerGiven]] = {}
    for turn in turns:
        given = AnswerGiven(
            stage=Stage.PREDICATE,
            question_id=turn.key.question_id,
            party=turn.key.party,
            status=turn.status,
            value=turn.value,
            source=Provenance(kind="import", content=content, event=f"line {turn.line}"),
            explanation=turn.text,
            evidence_start=turn.evidence_start,
            evidence_end=turn.evidence_end,
        )
        by_clip.setdefault(turn.clip, []).append(given)
    return [Taken(clip, None, tuple(given)) for clip, given in sorted(by_clip.items())]


def _write(
    store: Path, run_id: str, model: str, target: Target, taken: Sequence[Taken], source: dict[str, Any], *, now: str
) -> Path:
    path = run_path(store, run_id)
    condition = parse_condition(f"M={model}")
    manifest = Manifest(
        run_id=run_id,
        vlmrec_version=__version__,
        core_version=CORE_VERSION,
        condition=canonical_id(condition),
        axes=axis_values(condition),
        model=model,
        endpoint="none",
        parameters={},
        prompts={},
        engine=target.source,
        engine_version=target.ledger.engine_version,
        data_version=target.ledger.data_version,
        samples=1,
        vote_threshold="1/2",
        clips=tuple(ClipSource(clip_id=one.clip, path="") for one in taken),
        extra={
            "source": "stored",
            "mode": "planned",
            "given": {one.clip: len(one.given) for one in taken},
            "imported": source,
        },
    )
    context = RunContext(manifest, target.ledger, None)
    with LogWriter.create(path, kind=LogKind.RUN, log_uuid=str(uuid.uuid4()), created=now) as writer:
        batches = [opening(target, manifest, now)]
        for one in taken:
            batches += derive_clip(context, one, target.evaluate, time=now)
        stopped = RunStopped(ordinal=1, reason="done", clips_finished=len(taken))
        batches.append(Batch([make_event(stopped, clip=None, time=now)], []))
        for pending in [writer.append(batch.events, batch.blobs) for batch in batches]:
            pending.result()
        writer.seal()
    return path


def _agreement(path: Path, records: Records) -> tuple[int, int]:
    """How often the engine leaves the charts that the older record has after the same turn."""
    recorded = {(turn.clip, *turn.key): turn.after for turn in records.turns if turn.after is not None}
    if not recorded:
        return 0, 0
    with open_sources([path]) as logs:
        shown: Shown = project(Show(), logs).result
    pairs = [
        (turn.after, recorded[place])
        for clip in shown.clips
        for turn in clip.turns
        if (place := (clip.clip, turn.question_id, turn.party)) in recorded and turn.after is not None
    ]
    return sum(ours == theirs for ours, theirs in pairs), len(pairs)
