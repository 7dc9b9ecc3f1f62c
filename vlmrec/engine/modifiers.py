"""From base ratio to result: which observed rows count, and the shares that follow.

Printed figures are upper limits, so besides the full result there is a range: what the shares could
be if each counted row moved them by anything from nothing to its figure. Rows that were not observed
never widen it.
"""

from collections.abc import Sequence
from typing import NamedTuple

from vlmrec.engine.charts import Row, RowRules

WORSE_ONLY_ONCE = ("marked", "gross")


class Result(NamedTuple):
    """Counted rows, and A's share in percent: at the full figures, lowest, highest."""

    counted: tuple[Row, ...]
    share_a: int
    lowest_a: int
    highest_a: int


def apply_rows(base_a: int, observed: Sequence[Row], rules: RowRules) -> Result:
    """The result for A of the observed rows, given in printed order."""
    if not observed:
        return Result((), base_a, base_a, base_a)
    counted = _gated(base_a, _exclusive(observed, rules), rules)
    pulls = [_pull_a(row) for row in counted]
    return Result(
        counted=tuple(counted),
        share_a=_clamped(base_a + sum(pulls)),
        lowest_a=_clamped(base_a + sum(pull for pull in pulls if pull < 0)),
        highest_a=_clamped(base_a + sum(pull for pull in pulls if pull > 0)),
    )


def is_gated(base_a: int, observed: Sequence[Row], rules: RowRules, row: Row) -> bool:
    """Whether ``row`` adds to a party that the observed rows have not yet brought below 100."""
    if rules.gate is None or row.role != rules.gate or row.delta < 0:
        return False
    base = base_a if rules.gate == "A" else 100 - base_a
    return base - sum(other.delta for other in observed if other.role != rules.gate) >= 100


def _exclusive(observed: Sequence[Row], rules: RowRules) -> list[Row]:
    rows = list(observed)
    for sets in rules.exclusive_sets:
        present = {row.name for row in rows}
        standing = next((names for names in sets if present & set(names)), ())
        barred = {name for names in sets if names != standing for name in names}
        rows = [row for row in rows if row.name not in barred]
    groups = [tuple(f"{role}.{code}" for code in WORSE_ONLY_ONCE) for role in ("A", "B")]
    for names in (*groups, *rules.exclusive):
        rivals = [row for row in rows if row.name in names]
        largest = max(rivals, key=lambda row: abs(row.delta), default=None)
        rows = [row for row in rows if row is largest or row.name not in names]
    return rows


def _gated(base_a: int, rows: list[Row], rules: RowRules) -> list[Row]:
    return [row for row in rows if not is_gated(base_a, rows, rules, row)]


def _pull_a(row: Row) -> int:
    return row.delta if row.role == "A" else -row.delta


def _clamped(share: int) -> int:
    return min(100, max(0, share))
