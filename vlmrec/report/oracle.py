"""Oracle substitution: entity tables and answers taken from labels or another run, to see where the loss is.

Model or gold table, model or gold answers: four cells, of which a run is one. What is taken over stands
before a clip's first decision as ``table.given`` and ``answer.given``, with where it came from.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from vlmrec.canonical import json_blob
from vlmrec.errors import InputError
from vlmrec.events import AnswerGiven, Payload, Provenance, Stage, TableChecked, TableGiven
from vlmrec.gold import GoldAnswer
from vlmrec.ledger import Ledger
from vlmrec.log.reader import open_checked
from vlmrec.log.store import resolve_run
from vlmrec.projections.labels import ClipGold, clip_gold
from vlmrec.report.goldmap import gold_for_ledger, load_labels
from vlmrec.stages.derive import Taken
from vlmrec.stages.options import Oracle
from vlmrec.stages.topup import TakenOver
from vlmrec.terms import Blob, ClipId

GOLD = "gold"


class _Tables(NamedTuple):
    """Tables by clip, and what the manifest says of where they came from."""

    given: Mapping[str, tuple[TableGiven, Blob]]
    source: dict[str, Any]


def make_oracle(stage0: str | None, answers: str | None, *, store: Path, beside: Sequence[Path] = ()) -> Oracle | None:
    """What is taken over, by ``gold:DIR`` (``gold``: the folder beside the clips) or, for tables, the id of a run.

    None where nothing is. Raises InputError for a source that is not there.
    """
    if stage0 is None and answers is None:
        return None
    tables_gold = _gold_folder(stage0, beside) if stage0 is not None else None
    answers_gold = _gold_folder(answers, beside) if answers is not None else None
    if answers is not None and answers_gold is None:
        raise InputError(f"--answers-from {answers!r}: expected gold:DIR; a run's answers are taken over by --top-up")
    run = resolve_run(stage0, store) if stage0 is not None and tables_gold is None else None

    def take(ledger: Ledger, clips: Sequence[str]) -> TakenOver:
        extra: dict[str, object] = {}
        tables: Mapping[str, tuple[TableGiven, Blob]] = {}
        if stage0 is not None:
            found = _of_run(run, clips) if run is not None else _of_gold(tables_gold, ledger, clips)
            tables = found.given
            extra |= {"tables_given": sorted(tables), "stage0_from": found.source}
        labelled: Mapping[str, tuple[AnswerGiven, ...]] = {}
        if answers_gold is not None:
            labelled, source = _answers(answers_gold, ledger, clips)
            extra |= {"given": {clip: len(labelled[clip]) for clip in sorted(labelled)}, "answers_from": source}
        return TakenOver(tuple(_taken(clip, tables.get(clip), labelled.get(clip, ())) for clip in clips), extra)

    return take


def _taken(clip: str, table: tuple[TableGiven, Blob] | None, answers: Sequence[AnswerGiven]) -> Taken:
    given: tuple[Payload, ...] = (*((table[0],) if table is not None else ()), *answers)
    return Taken(clip, None, given, (table[1],) if table is not None else ())


def _gold_folder(text: str, beside: Sequence[Path]) -> Path | None:
    """The folder that ``gold`` or ``gold:DIR`` names; None where ``text`` names a run."""
    kind, colon, folder = text.partition(":")
    if kind != GOLD:
        return None
    if colon:
        return Path(folder)
    found = [path / GOLD for path in beside if (path / GOLD).is_dir()]
    if not found:
        raise InputError("there is no folder `gold` beside the clips; name the labels with gold:DIR")
    return found[0]


def _labels(folder: Path, ledger: Ledger) -> tuple[dict[ClipId, ClipGold], dict[str, Any]]:
    gold, mapping = gold_for_ledger(load_labels(folder), ledger)
    source: dict[str, Any] = {"kind": GOLD, "content": gold.content}
    if mapping.mapped or mapping.unmapped:
        source |= {
            "migrations": list(mapping.migrations),
            "approximate": mapping.approximate,
            "left_out": mapping.unmapped,
        }
    return clip_gold(gold, data_version=ledger.data_version), source


def _of_gold(folder: Path | None, ledger: Ledger, clips: Sequence[str]) -> _Tables:
    assert folder is not None
    labels, source = _labels(folder, ledger)
    found = {clip: label.table for clip in clips if (label := labels.get(ClipId(clip))) is not None and label.table}
    _all_there(clips, found, f"the labels in {folder}")
    given = {}
    for clip, table in found.items():
        body = json_blob(table)
        given[clip] = (TableGiven(table=body.ref, source=Provenance(kind=GOLD, content=source["content"])), body)
    return _Tables(given, source)


def _of_run(run: Path, clips: Sequence[str]) -> _Tables:
    with open_checked(run) as reader:
        head, log = reader.head() or "", reader.info.uuid
        given = {}
        for event in reader.events([TableChecked.type]):
            if isinstance(event.data, TableChecked) and event.data.table is not None and event.clip in clips:
                ref = event.data.table
                source = Provenance(kind="log", log=log, head=head, event=event.id)
                given[str(event.clip)] = (TableGiven(table=ref, source=source), Blob(ref, reader.blob(ref.sha256)))
    _all_there(clips, given, f"run {run.stem}")
    return _Tables(given, {"kind": "log", "run_id": run.stem, "uuid": log, "head": head})


def _all_there(clips: Sequence[str], found: Mapping[str, object], where: str) -> None:
    """A run with the model's own tables among the given ones would be no cell of the four."""
    missing = [clip for clip in clips if clip not in found]
    if missing:
        more = f" and {len(missing) - 1} more" if missing[1:] else ""
        raise InputError(
            f"no usable entity table of clip {missing[0]!r}{more} in {where}; name the clips that have one with --clips"
        )


def _answers(
    folder: Path, ledger: Ledger, clips: Sequence[str]
) -> tuple[dict[str, tuple[AnswerGiven, ...]], dict[str, Any]]:
    """Every label that is a question of the ledger. What is not labelled is asked of the model as ever."""
    labels, source = _labels(folder, ledger)
    given: dict[str, tuple[AnswerGiven, ...]] = {}
    for clip in clips:
        label = labels.get(ClipId(clip))
        if label is None or not label.answers:
            raise InputError(f"the labels in {folder} have no answers for clip {clip!r}; name the clips with --clips")
        known = [answer for key, answer in label.answers.items() if key in ledger.turns]
        ordered = sorted(known, key=lambda answer: ledger.order(answer.key))
        given[clip] = tuple(_given(answer, source["content"]) for answer in ordered)
    return given, source


def _given(answer: GoldAnswer, content: str) -> AnswerGiven:
    return AnswerGiven(
        stage=Stage.PREDICATE,
        question_id=answer.question_id,
        party=answer.party,
        status=answer.status,
        value=answer.value,
        source=Provenance(kind=GOLD, content=content),
        evidence_start=answer.evidence_start,
        evidence_end=answer.evidence_end,
    )
