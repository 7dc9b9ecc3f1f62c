"""Makes a report over stored runs and writes it, as Markdown with plots beside it or as one HTML page."""

from collections.abc import Sequence
from pathlib import Path

from vlmrec.errors import InputError
from vlmrec.gold import GoldSet, gold_set
from vlmrec.projections.compare import CompareRuns
from vlmrec.projections.confusion import ConfusionOfQuestion
from vlmrec.projections.labels import GoldMapping
from vlmrec.projections.scan import ScanRuns
from vlmrec.projections.score import ScoreRun
from vlmrec.report.build import CONFUSED, Makers, build_report, report_parts
from vlmrec.report.document import Report, all_plots, html, markdown
from vlmrec.report.goldmap import load_labels
from vlmrec.report.logs import open_sources, read_clip_set
from vlmrec.report.scoring import labels_for, shipped_rules

SUFFIXES = (".md", ".html")


def make_report(runs: Sequence[Path], gold: Path | None, *, clips: Path | None, seed: int, resamples: int) -> Report:
    """The report on these runs; without labels, what can be said without them."""
    with open_sources(runs) as logs:
        stored = load_labels(gold) if gold is not None else None
        only = read_clip_set(clips, runs, stored.clip_ids if stored is not None else ())
        rules, rules_hash = shipped_rules()
        if stored is None:
            return build_report(
                report_parts(logs, Makers(ScanRuns(rules, rules_hash, gold_set({})), None, None, None), only)
            )
        labels, mapping = labels_for(logs, stored, only)
        return build_report(report_parts(logs, _makers(labels, mapping, seed, resamples), only))


def write_report(report: Report, out: Path) -> list[Path]:
    """Write to ``out``, a .md or .html file; plots of a Markdown report go to files beside it, which are returned."""
    if out.suffix not in SUFFIXES:
        raise InputError(f"{out}: a report is written as {' or '.join(SUFFIXES)}; give the file one of these endings")
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        if out.suffix == ".html":
            out.write_text(html(report), encoding="utf-8", newline="\n")
            return []
        folder = out.with_name(f"{out.stem}.plots")
        out.write_text(markdown(report, plots=folder.name), encoding="utf-8", newline="\n")
        plots = {folder / f"{plot.name}.svg": plot.svg for plot in all_plots(report)}
        for path, svg in plots.items():
            folder.mkdir(exist_ok=True)
            path.write_text(svg + "\n", encoding="utf-8", newline="\n")
        return list(plots)
    except OSError as error:
        raise InputError(f"{out}: the report can't be written there ({error})") from error


def _makers(labels: GoldSet, mapping: GoldMapping, seed: int, resamples: int) -> Makers:
    rules, rules_hash = shipped_rules()
    return Makers(
        scan=ScanRuns(rules, rules_hash, labels, mapping=mapping),
        compare=CompareRuns(labels, mapping=mapping, seed=seed, resamples=resamples),
        score=lambda: ScoreRun(labels, mapping=mapping),
        confusion=ConfusionOfQuestion(labels, CONFUSED, mapping=mapping),
    )
