"""Engine matters as rows and lines for people: the ledger, a difference between versions, a check's report."""

from collections.abc import Iterator

import msgspec

from vlmrec.engine.check import CheckReport
from vlmrec.engine.difference import EngineDifference
from vlmrec.ledger import Ledger
from vlmrec.protocol import EvaluateRequest
from vlmrec.terms import Party

QUESTION_COLUMNS = ("question", "section", "put for", "observable", "text", "values")
DIFFERENCE_COLUMNS = ("what", "which", "how")


def question_rows(ledger: Ledger, language: str) -> Iterator[tuple[str, str, str, str, str, str]]:
    """One row a question, in ledger order; the text in the form for the other vehicle where there is one."""
    for question in ledger.questions:
        shown = Party.OTHER if Party.OTHER in question.parties else question.parties[0]
        yield (
            question.id,
            question.section,
            ", ".join(question.parties),
            "yes" if question.observable else "no",
            question.text(shown, "ko" if language == "ko" else "en"),
            ", ".join(question.codes),
        )


def difference_rows(found: EngineDifference) -> Iterator[tuple[str, str, str]]:
    """One row for each thing that differs."""
    for question_id in found.questions_added:
        yield "question", question_id, "new"
    for question_id in found.questions_removed:
        yield "question", question_id, "gone"
    for change in found.questions_changed:
        how = [f"+{value}" for value in change.values_added] + [f"-{value}" for value in change.values_removed]
        how += ["precondition"] if change.precondition_changed else []
        how += ["wording, notes or rules"] if change.shown_changed else []
        yield "question", change.question_id, ", ".join(how)
    yield "question", f"{found.questions_same} others", "the same"
    for rule in found.rules_added:
        yield "rule", rule, "new"
    for rule in found.rules_removed:
        yield "rule", rule, "gone"
    for chart in found.charts_added:
        yield "chart", chart, "new"
    for chart in found.charts_removed:
        yield "chart", chart, "gone"
    for each in found.charts_changed:
        how = [f"+{name}" for name in each.conditions_added] + [f"-{name}" for name in each.conditions_removed]
        how += [f"{name} other values" for name in each.conditions_changed]
        how += [f"row {name}" for name in each.rows_changed] + (["base ratio"] if each.base_changed else [])
        yield "chart", each.chart, ", ".join(how)
    yield "migration", found.migration or "none declared", ""


def check_lines(report: CheckReport) -> Iterator[str]:
    """The report of a check: each law that holds in a line, each broken one with the request that shows it."""
    yield f"engine {report.engine_version or '?'}, data {report.data_version or '?'}, {report.cases} cases"
    broken = {each.law: each for each in report.broken}
    tried = report.cases > 0
    for law in report.laws:
        found = broken.get(law)
        if found is None:
            yield f"  {'holds ' if tried else 'not tried'} {law}"
            continue
        yield f"  BROKEN {law}: {found.sentence}"
        yield f"         {found.found}"
        shown = found.request
        if shown is None and tried:
            shown = msgspec.json.encode(EvaluateRequest(answers=found.answers, skip=found.skip)).decode()
        if shown is not None:
            yield f"         shown by {shown}"
