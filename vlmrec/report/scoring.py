"""Brings stored runs and a folder of labels together: the labels are carried to the runs' ledger, then projected."""

from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path

from vlmrec.errors import InputError
from vlmrec.gold import GoldSet, gold_set, load_gold
from vlmrec.ledger import Ledger, decode_ledger
from vlmrec.log.reader import open_log
from vlmrec.projections.compare import CompareRuns, Comparison
from vlmrec.projections.confusion import Confusion, ConfusionOfQuestion
from vlmrec.projections.core import LogSource, Projected, project, run_facts
from vlmrec.projections.labels import GoldMapping, only_clips
from vlmrec.projections.meter import CallFigures
from vlmrec.projections.scan import Scan, ScanRuns
from vlmrec.projections.score import Score, ScoreRun
from vlmrec.report.fewer import with_fewer_samples
from vlmrec.report.goldmap import gold_for_ledger, load_labels, unknown_ledgers
from vlmrec.report.logs import StoredLog, open_sources, read_clip_set
from vlmrec.stages.rules import RuleSet, parse_rules, rules_hash


def score_run(
    run: Path, gold: Path, *, clips: Path | None = None, samples: int | None = None
) -> Projected[Score, CallFigures]:
    """The score of the run at ``run`` against the labels in ``gold``, over all clips or those named in ``clips``.

    With ``samples``, as it would have been with the first so many samples of each turn alone.
    """
    with open_sources([run]) as logs:
        stored = load_labels(gold)
        only = read_clip_set(clips, [run], stored.clip_ids)
        if samples is not None:
            logs = [with_fewer_samples(run, samples)]
        labels, mapping = labels_for(logs, stored, only)
        return project(ScoreRun(labels, mapping=mapping), logs, clips=only)


def compare_runs(
    runs: Sequence[Path], gold: Path, *, clips: Path | None = None, seed: int = 0, resamples: int = 10_000
) -> Projected[Comparison, tuple[CallFigures, ...]]:
    """The comparison of two or more runs. Raises InputError for one alone, or for runs of several ledgers."""
    if len(runs) < 2:
        raise InputError("compare needs two or more runs; name another one")
    with open_sources(runs) as logs:
        stored = load_labels(gold)
        only = read_clip_set(clips, runs, stored.clip_ids)
        labels, mapping = labels_for(logs, stored, only)
        return project(CompareRuns(labels, mapping=mapping, seed=seed, resamples=resamples), logs, clips=only)


def confusion_of(
    runs: Sequence[Path], gold: Path, question_id: str, *, clips: Path | None = None
) -> Projected[Confusion, None]:
    """The confusion matrices of one question. Raises InputError for one that the runs' ledger doesn't have."""
    with open_sources(runs) as logs:
        stored = load_labels(gold)
        only = read_clip_set(clips, runs, stored.clip_ids)
        ledger = log_ledger(logs[0])
        if ledger is not None and question_id not in ledger:
            known = ", ".join(sorted(question.id for question in ledger.questions))
            raise InputError(f"the ledger {ledger.data_version} has no question {question_id!r}; it has: {known}")
        labels, mapping = labels_for(logs, stored, only)
        return project(ConfusionOfQuestion(labels, question_id, mapping=mapping), logs, clips=only)


def scan_runs(runs: Sequence[Path], gold: Path | None, *, clips: Path | None = None) -> Projected[Scan, None]:
    """Everything a scan finds in these runs, by the shipped validation rules; labels serve propagation alone."""
    with open_sources(runs) as logs:
        stored = load_labels(gold) if gold is not None else gold_set({})
        only = read_clip_set(clips, runs, stored.clip_ids)
        labels, mapping = stored, GoldMapping()
        if gold is not None:
            labels, mapping = labels_for(logs, stored, only)
        return project(ScanRuns(*shipped_rules(), labels, mapping=mapping), logs, clips=only)


def label_warning(gold: Path, runs: Sequence[Path]) -> str | None:
    """What is to be said of labels whose ledger neither these runs nor vlmrec has; None where there are none."""
    asked = set()
    for run in runs:
        with open_log(run) as reader:
            asked.add(run_facts(StoredLog(reader)).data_version)
    return unknown_ledgers(load_gold(gold), asked)


def shipped_rules() -> tuple[RuleSet, str]:
    """The validation rules that ship with vlmrec, and their hash."""
    document = files("vlmrec.schemas").joinpath("validation_rules.yaml").read_bytes()
    return parse_rules(document), rules_hash(document)


def labels_for(logs: Sequence[LogSource], gold: GoldSet, clips: frozenset[str] | None) -> tuple[GoldSet, GoldMapping]:
    """The labels of these clips (all, for None) in the words of the ledger that the runs asked from.

    Raises InputError for runs of several ledgers.
    """
    versions = {run_facts(log).data_version for log in logs}
    if len(versions) > 1:
        raise InputError(
            f"these runs asked from different ledgers ({', '.join(sorted(map(str, versions)))}), so their answers "
            "are answers to different questions; bring them to one with `vlmrec rescore RUN --engine VERSION --save`"
        )
    chosen = gold if clips is None else only_clips(gold, clips)
    ledger = log_ledger(logs[0])
    return (chosen, GoldMapping()) if ledger is None else gold_for_ledger(chosen, ledger)


def log_ledger(log: LogSource) -> Ledger | None:
    """The ledger that a run asked from, out of its own log; None where the log describes no engine."""
    facts = run_facts(log)
    if facts.meta is None or facts.questions is None:
        return None
    return decode_ledger(log.blob(facts.meta.sha256), log.blob(facts.questions.sha256))
