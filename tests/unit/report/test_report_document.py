"""Reports: what they hold, how they are written, and that nothing but their provenance depends on the log's order."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from random import Random

import pytest
from click.testing import CliRunner
from runbuilder import RunBuilder, axes
from samples import sample_gold, sample_runs

from vlmrec.commands.report import command
from vlmrec.events import Event
from vlmrec.gold import GoldAnswer, GoldLabel, write_gold
from vlmrec.projections.compare import CompareRuns
from vlmrec.projections.confusion import ConfusionOfQuestion
from vlmrec.projections.memory import MemoryLog
from vlmrec.projections.scan import ScanRuns
from vlmrec.projections.score import ScoreRun
from vlmrec.report.build import Makers, build_report, report_parts
from vlmrec.report.document import Report, Section, html, markdown
from vlmrec.report.scoring import shipped_rules
from vlmrec.report.table import Table
from vlmrec.terms import Party, Status

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def stored(tmp_path: Path) -> tuple[list[str], str]:
    """Two runs and their labels on disk."""
    gold = sample_gold()
    for label in (*gold.reviewed.values(), *(one for by in gold.labellers.values() for one in by.values())):
        write_gold(tmp_path / "gold", label)
    return [str(run.write(tmp_path)) for run in sample_runs()], str(tmp_path / "gold")


def test_a_markdown_report_has_every_section_and_its_plots_beside_it(
    stored: tuple[list[str], str], tmp_path: Path
) -> None:
    runs, gold = stored
    out = tmp_path / "out" / "report.md"
    result = CliRunner().invoke(command, [*runs, "--gold", gold, "-o", str(out), "--resamples", "200"])
    assert result.exit_code == 0, result.output
    text = out.read_text()
    for title in ("Runs", "To bear in mind", "The runs side by side", "Score of first", "Charts left", "Provenance"):
        assert f"\n## {title}" in text
    linked = re.findall(r"\]\((report\.plots/[^)]+)\)", text)
    assert len(linked) >= 4
    assert all((out.parent / link).read_text().startswith("<svg") for link in linked)
    told = CliRunner().invoke(command, [*runs, "--gold", gold, "-o", str(out), "--resamples", "200", "--json"])
    printed = json.loads(told.stdout)
    assert (printed["report"], printed["runs"]) == (str(out), [Path(run).stem for run in runs])
    assert {str(out.parent / link) for link in linked} == set(printed["plots"])


def test_an_html_report_is_one_page_without_scripts_or_links_outside(
    stored: tuple[list[str], str], tmp_path: Path
) -> None:
    runs, gold = stored
    out = tmp_path / "report.html"
    assert CliRunner().invoke(command, [*runs, "--gold", gold, "-o", str(out), "--resamples", "200"]).exit_code == 0
    page = out.read_text()
    assert "<script" not in page
    assert not re.findall(r"(?:src|href)=\"(?!data:)", page)
    assert page.count("data:image/svg+xml;base64,") >= 4


def test_without_labels_a_report_says_what_can_be_said(stored: tuple[list[str], str], tmp_path: Path) -> None:
    out = tmp_path / "report.md"
    assert CliRunner().invoke(command, [stored[0][0], "-o", str(out)]).exit_code == 0
    text = out.read_text()
    assert "What a scan found" in text
    assert "side by side" not in text


def test_a_file_of_another_kind_is_refused(stored: tuple[list[str], str], tmp_path: Path) -> None:
    result = CliRunner().invoke(command, [stored[0][0], "-o", str(tmp_path / "report.pdf")])
    assert ".md or .html" in str(result.exception)


def made(runs: tuple[RunBuilder, ...], events: list[list[Event]]) -> Report:
    rules, rules_hash = shipped_rules()
    gold = sample_gold()
    logs = [MemoryLog(each, run_id=run.run_id, blobs=run.blobs) for run, each in zip(runs, events, strict=True)]
    makers = Makers(
        ScanRuns(rules, rules_hash, gold), CompareRuns(gold, resamples=200), lambda: ScoreRun(gold), ConfusionOfQuestion(gold, "q_maneuver")
    )  # fmt: skip
    return build_report(report_parts(logs, makers, None))


def both_forms(seed: int) -> str:
    """The sample report with clips interleaved by chance."""
    runs = sample_runs()
    random, shuffled = Random(seed), []
    for run in runs:
        lanes: dict[str | None, list[Event]] = {}
        for event in run.events:
            lanes.setdefault(event.clip, []).append(event)
        mixed: list[Event] = []
        while lanes:
            name = random.choice(list(lanes))
            mixed.append(lanes[name].pop(0))
            lanes = {key: lane for key, lane in lanes.items() if lane}
        shuffled.append(mixed)
    report = made(runs, shuffled)
    return markdown(report, plots="plots") + html(report)


def test_the_order_in_which_clips_were_written_changes_no_byte() -> None:
    assert len({both_forms(seed) for seed in range(4)}) == 1


def test_other_hash_seeds_time_zones_and_locales_change_no_byte() -> None:
    code = (
        f"import sys; sys.path[:0] = [{str(ROOT)!r}, {str(ROOT / 'tests')!r}, {str(Path(__file__).parent)!r}]; "
        "import hashlib, test_report_document as t; print(hashlib.sha256(t.both_forms(int(sys.argv[1])).encode()).hexdigest())"
    )
    digests = set()
    for seed, zone, locale in (("0", "UTC", "C.UTF-8"), ("77", "Asia/Seoul", "ko_KR.UTF-8")):
        environment = {**os.environ, "PYTHONHASHSEED": seed, "TZ": zone, "LANG": locale}
        done = subprocess.run([sys.executable, "-c", code, seed], env=environment, capture_output=True, check=True)
        digests.add(done.stdout)
    assert len(digests) == 1


def test_caveats_come_from_the_data(tmp_path: Path) -> None:
    run = RunBuilder(clips=["a", "b", "c", "d"], axes=axes(L="en"))
    run.clip("a", truncated=True).turn(
        "q_maneuver", "self", value="straight", predicted=1000, prompt_tokens=200
    ).submit("open", ["x", "y"]).finish(incomplete=True)
    run.clip("b").fail("no frame")
    other = RunBuilder(run_id="other", clips=["a", "b"])
    other.clip("a").turn("q_maneuver", "self", value="straight")
    report = made((run, other), [run.events, other.events])
    said = "\n".join(next(section.lines for section in report.sections if section.title == "To bear in mind"))
    for part in (
        "run is not finished: 2 of 4",
        "1 clips failed",
        "1 clips are incomplete",
        "decoded only in part",
        "1 of 1 calls were counted",
        "other: the frame rate and pixels that the model really saw are unknown",
        "too few for intervals",
        "engine version test",
    ):
        assert part in said, part


def test_text_from_outside_is_shown_as_text_in_both_forms() -> None:
    hostile = "<script>alert(1)</script> | [x](javascript:1) `\u202e \x00"
    report = Report(hostile, [Section(hostile, [hostile], [Table(hostile, [hostile], [[hostile]], [hostile])])])
    assert "<script>" not in html(report)
    assert "\u202e" not in html(report) + markdown(report, plots="p")
    assert "<script>" not in markdown(report, plots="p")
    assert not re.search(r"(?<!\\)\]\(javascript", markdown(report, plots="p"))


def test_a_label_file_is_named_in_an_error_of_its(tmp_path: Path, stored: tuple[list[str], str]) -> None:
    broken = Path(stored[1]) / "c9.json"
    label = GoldLabel(
        clip_id="c9", answers=(GoldAnswer(question_id="q", party=Party.SELF, status=Status.OBSERVED),), data_version="v"
    )
    write_gold(Path(stored[1]), label)
    result = CliRunner().invoke(command, [stored[0][0], "--gold", stored[1], "-o", str(tmp_path / "r.md")])
    assert str(broken.name) in str(result.exception)
    assert "answers[0]" in str(result.exception)
