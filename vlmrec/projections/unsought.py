"""Which kinds of finding a scan could not look for, and why. Pure.

Nothing found is a result only where something was looked at: without labels, without a second order of options or
without a monitored call there is no such result, and a scan says so.
"""

from collections.abc import Iterator, Sequence
from typing import Literal

from msgspec import Struct

from vlmrec.projections.forced import FormatFigures
from vlmrec.projections.order import OrderEffect
from vlmrec.projections.propagation import Propagation
from vlmrec.projections.provider import ProviderFigures


class NotLooked(Struct, frozen=True, kw_only=True):
    """A kind that was not looked for. ``wants``: what the caller could add; None where the runs have nothing to look at."""

    kind: str
    why: str
    wants: Literal["labels", "run"] | None


def not_looked(
    *,
    read: int,
    orders: Sequence[str | None],
    order: Sequence[OrderEffect],
    labelled: bool,
    propagation: Sequence[Propagation],
    provider: Sequence[ProviderFigures],
    format: Sequence[FormatFigures],
) -> tuple[NotLooked, ...]:
    """In order of kind. ``read``: answers and texts of all runs; ``labelled``: whether any labels were given."""
    return (
        *_texts(read),
        *_order(orders, order),
        *_propagation(propagation, labelled=labelled),
        *_calls(provider, format),
    )


def _texts(read: int) -> Iterator[NotLooked]:
    if read == 0:
        for kind in ("contradictions", "repetition", "drift"):
            yield NotLooked(kind=kind, why="there are no answers and no texts to read", wants=None)


def _order(orders: Sequence[str | None], effects: Sequence[OrderEffect]) -> Iterator[NotLooked]:
    if not effects:
        there = ", ".join(dict.fromkeys(f"O={order}" if order is not None else "no O" for order in orders))
        here = f"there is one, with {there}" if len(orders) == 1 else f"all have {there}"
        if len(orders) > 1 and len(set(orders)) > 1:
            here = f"there are {there}"
        yield NotLooked(
            kind="order",
            why=f"it takes two runs that differ in axis O, and {here}; name another run beside",
            wants="run",
        )
    elif not any(effect.turns for effect in effects):
        why = "the runs that differ in axis O share no turn that both observed, with its options in another order"
        yield NotLooked(kind="order", why=why, wants=None)


def _propagation(found: Sequence[Propagation], *, labelled: bool) -> Iterator[NotLooked]:
    if not labelled:
        yield NotLooked(kind="propagation", why="it takes labels; name their folder with --gold DIR", wants="labels")
    elif not any(
        after.items for one in found for after in (one.after_right, one.after_wrong, one.table_right, one.table_wrong)
    ):
        why = "no labelled answer of these runs' ledgers comes after another, or beside a labelled entity table"
        yield NotLooked(kind="propagation", why=why, wants=None)


def _calls(provider: Sequence[ProviderFigures], format: Sequence[FormatFigures]) -> Iterator[NotLooked]:
    if not any(one.calls for one in provider):
        yield NotLooked(kind="provider", why="there are no completed calls", wants=None)
    elif not any(one.compared or one.media_unseen for one in provider):
        why = "no call has its prompt tokens both predicted and counted"
        yield NotLooked(kind="provider", why=why, wants=None)
    if not any(one.monitored for one in format):
        why = "no call was monitored; a run has such calls under F=schema with `vlmrec extract --monitor-rate SHARE`"
        yield NotLooked(kind="format", why=why, wants=None)
