"""A table before it is drawn: the same rows go to a terminal, to Markdown and to HTML."""

from collections.abc import Sequence
from decimal import Decimal
from typing import Any, NamedTuple


class Table(NamedTuple):
    """Columns and rows of plain values; ``notes`` are lines to be read with it."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Any]]
    notes: Sequence[str] = ()


def percent(share: float | None) -> str:
    """A share as percent, to one place."""
    return "-" if share is None else f"{100 * share:.1f}%"


def points(difference: float | None) -> str:
    """A difference of shares in percentage points, signed."""
    return "-" if difference is None else f"{100 * difference:+.1f}"


def seconds(value: float | None) -> str:
    """A duration that a person can take in."""
    if value is None:
        return "-"
    if value < 120:
        return f"{value:.1f} s"
    minutes, rest = divmod(round(value), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02} min" if hours else f"{minutes} min {rest:02} s"


def money(cost: Decimal | None, unknown: int = 0) -> str:
    """A cost in USD, saying when it leaves calls out; a dash where nothing is known."""
    if cost is None:
        return "-"
    return f"{cost.normalize():f} USD" + (f" and {unknown} calls of unknown cost" if unknown else "")


def count_of(part: int, whole: int) -> str:
    """``17/37``, or a dash of nothing."""
    return f"{part}/{whole}" if whole else "-"


def probability(p: float | None) -> str:
    """A p value, never printed as 0."""
    if p is None:
        return "-"
    return f"{p:.3f}" if p >= 0.001 else "<0.001"


def answer(status: str | None, value: str | None) -> str:
    """An answer in a cell: its value, or its abstention in brackets."""
    if status is None:
        return "-"
    return value if value is not None else f"({status})"
