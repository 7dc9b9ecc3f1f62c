"""What changed between two versions of the engine: questions, rules of observation, charts."""

from collections.abc import Iterable
from typing import Any

import msgspec
from msgspec import Struct

from vlmrec.engine.charts import Chart
from vlmrec.engine.migration import load_migration
from vlmrec.engine.reference import Reference
from vlmrec.ledger import Ledger, shown_hash
from vlmrec.question import Question, identity_hash


class QuestionChange(Struct, frozen=True, kw_only=True):
    """A question that both ledgers have and that is not the same in both."""

    question_id: str
    identity_changed: bool
    values_added: tuple[str, ...]
    values_removed: tuple[str, ...]
    precondition_changed: bool
    shown_changed: bool


class ChartChange(Struct, frozen=True, kw_only=True):
    """A chart that both versions have: which parts of it differ, conditions as ``question/role``."""

    chart: str
    conditions_added: tuple[str, ...]
    conditions_removed: tuple[str, ...]
    conditions_changed: tuple[str, ...]
    rows_changed: tuple[str, ...]
    base_changed: bool


class EngineDifference(Struct, frozen=True, kw_only=True):
    """Everything that differs, each list in the order of the newer side."""

    before: str
    after: str
    questions_added: tuple[str, ...]
    questions_removed: tuple[str, ...]
    questions_changed: tuple[QuestionChange, ...]
    questions_same: int
    rules_added: tuple[str, ...]
    rules_removed: tuple[str, ...]
    charts_added: tuple[str, ...]
    charts_removed: tuple[str, ...]
    charts_changed: tuple[ChartChange, ...]
    migration: str | None


def difference(before: Reference, after: Reference) -> EngineDifference:
    """What one has to know before stored answers of ``before`` are scored with ``after``."""
    old, new = before.ledger, after.ledger
    shared = [question for question in new.questions if question.id in old]
    changes = [_question_change(old, new, question) for question in shared]
    changed = [change for change in changes if change.identity_changed or change.shown_changed]
    old_charts = {chart.id: chart for chart in before.charts}
    charts = [_chart_change(old_charts[chart.id], chart) for chart in after.charts if chart.id in old_charts]
    migration = load_migration(before.data_version, after.data_version)
    return EngineDifference(
        before=before.data_version,
        after=after.data_version,
        questions_added=tuple(question.id for question in new.questions if question.id not in old),
        questions_removed=tuple(question.id for question in old.questions if question.id not in new),
        questions_changed=tuple(changed),
        questions_same=len(shared) - len(changed),
        rules_added=_missing(_rules(new), _rules(old)),
        rules_removed=_missing(_rules(old), _rules(new)),
        charts_added=_missing((chart.id for chart in after.charts), old_charts),
        charts_removed=_missing(old_charts, {chart.id for chart in after.charts}),
        charts_changed=tuple(change for change in charts if change is not None),
        migration=None if migration is None else migration.version,
    )


def _rules(ledger: Ledger) -> list[str]:
    return [rule.id for rule in ledger.meta.observation_rules]


def _missing(names: Iterable[str], elsewhere: Iterable[str]) -> tuple[str, ...]:
    known = set(elsewhere)
    return tuple(name for name in names if name not in known)


def _question_change(old: Ledger, new: Ledger, question: Question) -> QuestionChange:
    was = old.question(question.id)
    parties = [party for party in question.parties if party in was.parties]
    return QuestionChange(
        question_id=question.id,
        identity_changed=identity_hash(was) != identity_hash(question),
        values_added=_missing(question.codes, was.codes),
        values_removed=_missing(was.codes, question.codes),
        precondition_changed=was.any_of != question.any_of,
        shown_changed=any(shown_hash(old, was, party) != shown_hash(new, question, party) for party in parties),
    )


def _chart_change(was: Chart, now: Chart) -> ChartChange | None:
    old, new = _conditions(was), _conditions(now)
    old_rows = {row.name: msgspec.to_builtins(row) for row in was.rows}
    new_rows = {row.name: msgspec.to_builtins(row) for row in now.rows}
    change = ChartChange(
        chart=now.id,
        conditions_added=_missing(new, old),
        conditions_removed=_missing(old, new),
        conditions_changed=tuple(name for name in new if name in old and new[name] != old[name]),
        rows_changed=tuple(
            sorted(name for name in old_rows.keys() | new_rows.keys() if old_rows.get(name) != new_rows.get(name))
        ),
        base_changed=(was.base_a, [each.base_a for each in was.variants])
        != (now.base_a, [each.base_a for each in now.variants]),
    )
    same = ChartChange(
        chart=now.id,
        conditions_added=(),
        conditions_removed=(),
        conditions_changed=(),
        rows_changed=(),
        base_changed=False,
    )
    return None if change == same else change


def _conditions(chart: Chart) -> dict[str, Any]:
    return {f"{each.question}/{each.role}": each.values for each in chart.where}
