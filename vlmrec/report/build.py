"""Puts a report together: what ran, how it ended, what differs, what it cost, and what to bear in mind. Pure over projections."""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from vlmrec.projections.compare import CompareRuns, Comparison
from vlmrec.projections.confusion import Confusion, ConfusionOfQuestion
from vlmrec.projections.core import LogSource, Projected, project
from vlmrec.projections.meter import CallFigures
from vlmrec.projections.narrowing import Narrowing, NarrowingOfRuns
from vlmrec.projections.scan import Scan, ScanRuns
from vlmrec.projections.score import Score, ScoreRun
from vlmrec.projections.status import RunProgress, RunStatus, RunTimes
from vlmrec.report.compare_tables import compare_tables, warnings
from vlmrec.report.document import Plot, Report, Section
from vlmrec.report.figures import (
    confusion_map,
    cost_and_accuracy,
    difference_rows,
    interval_rows,
    narrowing_lines,
    outcome_bars,
)
from vlmrec.report.names import run_names
from vlmrec.report.scan_tables import scan_tables
from vlmrec.report.score_tables import score_tables
from vlmrec.report.table import Table, money, percent, seconds

CONFUSED = "q_maneuver"
"""The question whose confusions a report shows: what the vehicles did decides most charts."""
SHOWN_FINDINGS = 40


class Makers(NamedTuple):
    """The projections of a report, ready to be run; those that need labels are None without them."""

    scan: ScanRuns
    compare: CompareRuns | None
    score: Callable[[], ScoreRun] | None
    confusion: ConfusionOfQuestion | None


class Parts(NamedTuple):
    """Everything that a report draws on."""

    status: tuple[Projected[RunStatus, RunTimes], ...]
    scan: Projected[Scan, None]
    narrowing: Projected[Narrowing, None]
    compare: Projected[Comparison, tuple[CallFigures, ...]] | None
    scores: tuple[Projected[Score, CallFigures], ...]
    confusion: Projected[Confusion, None] | None


def report_parts(logs: Sequence[LogSource], makers: Makers, clips: frozenset[str] | None) -> Parts:
    """Run every projection that a report needs."""
    return Parts(
        status=tuple(project(RunProgress(), [log], clips=clips) for log in logs),
        scan=project(makers.scan, logs, clips=clips),
        narrowing=project(NarrowingOfRuns(), logs, clips=clips),
        compare=project(makers.compare, logs, clips=clips) if makers.compare is not None else None,
        scores=tuple(project(makers.score(), [log], clips=clips) for log in logs) if makers.score is not None else (),
        confusion=project(makers.confusion, logs, clips=clips) if makers.confusion is not None else None,
    )


def build_report(parts: Parts) -> Report:
    """The report, section by section; the last says which logs it was made from."""
    names = run_names(parts.scan.provenance)
    sections = [
        Section("Runs", tables=[_conditions(parts, names)]),
        Section("To bear in mind", lines=list(caveats(parts, names)) or ["nothing of note"]),
        *_compared(parts, names),
        *(
            Section(f"Score of {name}", tables=score_tables(score))
            for name, score in zip(names, parts.scores, strict=False)
        ),
        *_confusions(parts, names),
        Section("Charts left", plots=[plot for plot in [narrowing_lines(names, parts.narrowing.result)] if plot]),
        Section("What a scan found", tables=_findings(parts)),
        Section("Measured", tables=[_measured(parts, names)]),
        Section("Provenance", tables=[_provenance(parts, names)], lines=_inputs(parts)),
    ]
    title = f"Report on {', '.join(names)}" if len(names) < 5 else f"Report on {len(names)} runs"
    return Report(title, [section for section in sections if section.lines or section.tables or section.plots])


def caveats(parts: Parts, names: Sequence[str]) -> Iterator[str]:
    """What the data itself says should be borne in mind."""
    for i, name in enumerate(names):
        done, figures = parts.status[i].result, parts.scan.result.provider[i]
        if done.excluded is not None:
            yield f"{name} is noted as not to be counted: {done.excluded}"
        if done.clips is not None and done.finished + done.failed < done.clips:
            yield f"{name} is not finished: {done.finished + done.failed} of {done.clips} clips have ended"
        if done.failed:
            yield f"{name}: {done.failed} clips failed and count as no_outcome"
        if done.incomplete:
            yield f"{name}: {done.incomplete} clips are incomplete, their path met an answer that could not be had"
        if done.truncated:
            yield f"{name}: {done.truncated} clips decoded only in part"
        if done.several_streams:
            yield f"{name}: {done.several_streams} clips hold several video streams, of which one was shown"
        if figures.calls and not figures.compared:
            yield f"{name}: the frame rate and pixels that the model really saw are unknown, for want of token counts to compare"
        elif figures.too_few or figures.too_many:
            yield (
                f"{name}: {figures.too_few + figures.too_many} of {figures.compared} calls were counted as other than "
                f"{percent(0.8)} to {percent(1.2)} of the prompt tokens expected; the provider may ignore frame rate or pixels"
            )
        forced = parts.scan.result.format[i]
        if forced.loose or forced.unreadable:
            yield (
                f"{name}: of {forced.monitored} replies without the forced format {forced.loose} are read only by repair and "
                f"{forced.unreadable} not at all; the others were held to it"
            )
        if figures.media_unseen:
            yield f"{name}: {figures.media_unseen} calls were answered without any media token counted"
    if parts.compare is not None:
        yield from _of_comparison(parts.compare, names)


def _of_comparison(projected: Projected[Comparison, tuple[CallFigures, ...]], names: Sequence[str]) -> Iterator[str]:
    one = projected.result
    yield from warnings(projected)
    yield from one.caveats
    engines = sorted({run.engine_version or "unknown" for run in one.runs})
    ledgers = sorted({run.data_version or "unknown" for run in one.runs})
    yield f"engine version {', '.join(engines)}, ledger {', '.join(ledgers)}"
    for reason, clips in one.left_out.items():
        yield f"{len(clips)} labelled clips are left out of the comparison: {reason}"
    if one.gold.disputed:
        yield f"{one.gold.disputed} labelled answers are in dispute between labellers and left out"
    if one.gold.other_ledger:
        yield f"{one.gold.other_ledger} labelled answers are of another ledger and left out"
    mapping = one.gold.mapping
    if mapping.migrations:
        yield f"{mapping.mapped} labelled answers came from another ledger by {', '.join(mapping.migrations)}; {mapping.unmapped} could not be carried over"


def _compared(parts: Parts, names: Sequence[str]) -> Iterator[Section]:
    if parts.compare is None:
        return
    one, measured = parts.compare.result, parts.compare.measured
    plots: list[Plot] = []
    if one.clips:
        plots.append(outcome_bars(names, [run.layer2 for run in one.runs]))
        plots.append(interval_rows(names, one))
    if one.contrasts:
        plots.append(difference_rows(names, one.contrasts))
    cost = cost_and_accuracy(names, one, measured)
    tables = compare_tables(parts.compare)
    yield Section("The runs side by side", tables=tables, plots=[*plots, *([cost] if cost is not None else [])])


def _conditions(parts: Parts, names: Sequence[str]) -> Table:
    rows = []
    for name, status in zip(names, parts.status, strict=True):
        done = status.result
        ended = f"{done.finished} finished, {done.failed} failed" + (
            f" of {done.clips}" if done.clips is not None else ""
        )
        rows.append((name, done.condition, ended, f"{done.turns_answered} of {done.turns_opened}"))
    return Table("Conditions", ("run", "condition", "clips", "turns answered"), rows)


def _confusions(parts: Parts, names: Sequence[str]) -> Iterator[Section]:
    if parts.confusion is None or not parts.confusion.result.matrices:
        return
    matrices = parts.confusion.result.matrices
    plots = [confusion_map(names[matrix.run], matrix) for matrix in matrices if matrix.items]
    yield Section(f"What is taken for what: {CONFUSED}", plots=plots)


def _findings(parts: Parts) -> list[Table]:
    tables = []
    for table in scan_tables(parts.scan):
        more = len(table.rows) - SHOWN_FINDINGS
        if more > 0:
            notes = [*table.notes, f"and {more} more; `vlmrec scan` lists them all"]
            table = Table(table.title, table.columns, table.rows[:SHOWN_FINDINGS], notes)
        tables.append(table)
    return tables


def _measured(parts: Parts, names: Sequence[str]) -> Table:
    rows = []
    for name, status in zip(names, parts.status, strict=True):
        calls = status.measured.calls
        rows.append(
            (
                name,
                calls.completed,
                calls.failed,
                money(calls.cost_usd, calls.cost_unknown),
                calls.prompt_tokens,
                calls.completion_tokens,
                percent(calls.cached_share),
                seconds(calls.latency_median_s),
                seconds(calls.latency_p90_s),
            )
        )
    columns = (
        "run",
        "calls",
        "failed",
        "cost",
        "prompt tokens",
        "completion tokens",
        "cached",
        "latency, median",
        "90 %",
    )
    return Table("What the calls took", columns, rows)


def _provenance(parts: Parts, names: Sequence[str]) -> Table:
    rows = [
        (name, log.uuid, log.kind, log.head, log.events) for name, log in zip(names, parts.scan.provenance, strict=True)
    ]
    return Table("Logs", ("run", "uuid", "kind", "head", "events"), rows)


def _inputs(parts: Parts) -> list[str]:
    projected = [parts.scan, parts.narrowing, *(one for one in (parts.compare, parts.confusion) if one is not None)]
    versions = ", ".join(f"{one.projection} {one.version}" for one in projected)
    inputs = {name: content for one in projected for name, content in one.inputs.items()}
    return [f"projections: {versions}", *(f"{name}: {content}" for name, content in sorted(inputs.items()))]
