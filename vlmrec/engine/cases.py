"""Published decided cases as test vectors: does the right chart come out, and does the decision lie in its range?

A case's answers are the conditions of its own chart plus the facts told of it where the ledger has a question
for them, each marked which. Nothing is bent to fit: where the decided ratio lies outside ``fault_range`` the
case names the printed row that would have had to count.
"""

from importlib.resources import files
from typing import Literal

from msgspec import Struct, field

from vlmrec.engine.core import evaluate
from vlmrec.engine.datafile import read_data
from vlmrec.engine.reference import Reference
from vlmrec.protocol import EngineStatus, EvaluateRequest
from vlmrec.terms import Answer, Party, Status

OUTSIDE = "outside"
WITHIN = "within"


class CaseAnswer(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One observed answer, and whether the chart asks for it or the case tells it."""

    question_id: str
    party: Party
    value: str
    source: Literal["selector", "fact"] = field(name="from")


class MissingRow(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The printed row that would explain a decision outside the range, and why it does not count."""

    row: str
    why: str


class DecidedCase(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A decided case. Ratios are A : B; ``answers`` by engine version."""

    case: str
    chart: str
    legacy_number: str
    told: str
    base: tuple[int, int]
    decided: tuple[int, int]
    self_is: Literal["A", "B"]
    answers: dict[str, tuple[CaseAnswer, ...]]
    missing_row: MissingRow | None = None
    without_a_question: tuple[str, ...] = ()


class CaseResult(Struct, frozen=True, kw_only=True):
    """What the engine makes of a case; shares and range are A's."""

    case: DecidedCase
    confirmed: str | None
    share_a: int | None
    range_a: tuple[int, int] | None
    rows: tuple[str, ...]

    @property
    def within(self) -> bool:
        return self.range_a is not None and self.range_a[0] <= self.case.decided[0] <= self.range_a[1]


def decided_cases() -> tuple[DecidedCase, ...]:
    """All cases, by chart and number. Raises InputError for a file that can't be read as one."""
    folder = files("vlmrec.engine").joinpath("data", "cases")
    found = [read_data(entry.read_bytes(), DecidedCase, f"the case {entry.name}") for entry in folder.iterdir()]
    return tuple(sorted(found, key=lambda case: (case.chart, case.case)))


def judge(reference: Reference, case: DecidedCase) -> CaseResult:
    """The engine's evaluation of a case's answers."""
    answers = tuple(
        Answer(question_id=each.question_id, party=each.party, status=Status.OBSERVED, value=each.value)
        for each in case.answers[reference.ledger.engine_version]
    )
    evaluation = evaluate(reference, EvaluateRequest(answers=answers))
    if evaluation.status is not EngineStatus.CONFIRMED:
        return CaseResult(case=case, confirmed=None, share_a=None, range_a=None, rows=())
    candidate = evaluation.candidates[0]
    low, high = candidate.fault_range.self_
    mirrored = candidate.self_is == "B"
    return CaseResult(
        case=case,
        confirmed=candidate.chart,
        share_a=candidate.fault.other if mirrored else candidate.fault.self_,
        range_a=(100 - high, 100 - low) if mirrored else (low, high),
        rows=tuple(f"{modifier.party}.{modifier.code} {modifier.delta:+d}" for modifier in candidate.modifiers),
    )


def cases_table(reference: Reference) -> str:
    """The cases as a Markdown table."""
    lines = [
        "| case | chart | told | base | result | range of A | decided | decided ratio lies |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for result in (judge(reference, case) for case in decided_cases()):
        case = result.case
        place = WITHIN
        if not result.within:
            place = (
                OUTSIDE if case.missing_row is None else f"{OUTSIDE}: {case.missing_row.row}. {case.missing_row.why}"
            )
        share = "-" if result.share_a is None else f"{result.share_a}:{100 - result.share_a}"
        span = "-" if result.range_a is None else f"{result.range_a[0]} to {result.range_a[1]}"
        cells = [
            case.case,
            result.confirmed or "not confirmed",
            " ".join((case.told, *case.without_a_question)),
            f"{case.base[0]}:{case.base[1]}",
            share,
            span,
            f"{case.decided[0]}:{case.decided[1]}",
            place,
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"
