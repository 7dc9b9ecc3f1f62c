"""Forced choice beside described-then-mapped, as tables."""

from vlmrec.projections.core import Projected
from vlmrec.projections.retrofit import CHANGES, Retrofitted
from vlmrec.report.table import Table, percent


def retrofit_tables(projected: Projected[Retrofitted, None]) -> list[Table]:
    """The sums, then every turn that the mapping changed."""
    one = projected.result
    sums = Table(
        "Forced choice, and description mapped to a code",
        ("turns", "choice right", "mapping right", *CHANGES),
        [(len(one.turns), percent(one.chosen_right), percent(one.mapped_right), *(one.counts[c] for c in CHANGES))],
        [
            f"{one.without_text} labelled turns have no text to map, or an abstention for label",
            f"mapped by {one.mapper}",
        ],
    )
    rows = [
        (t.clip, f"{t.question_id}/{t.party}", t.chosen, t.mapped, t.label, t.change, t.words)
        for t in one.turns
        if t.change in ("recovered", "broken", "unmapped")
    ]
    turns = Table("Turns that mapping changes", ("clip", "turn", "chosen", "mapped", "label", "change", "words"), rows)
    return [sums, turns] if rows else [sums]
