"""From base ratio to result: addition, clamping, exclusive rows, gates, range."""

from typing import Literal

import pytest

from vlmrec.engine.charts import Row, RowRules
from vlmrec.engine.modifiers import apply_rows


def row(name: str, delta: int) -> Row:
    role: Literal["A", "B"] = "A" if name.startswith("A") else "B"
    return Row(code=name[2:], label_ko="", label_en="", role=role, delta=delta, when=())


def test_without_rows_the_base_stands_and_the_range_is_a_point() -> None:
    result = apply_rows(30, [], RowRules())
    assert (result.share_a, result.lowest_a, result.highest_a) == (30, 30, 30)


def test_a_row_adds_to_its_party_and_takes_from_the_other() -> None:
    assert apply_rows(30, [row("A.x", 10)], RowRules()).share_a == 40
    assert apply_rows(30, [row("B.x", 10)], RowRules()).share_a == 20
    assert apply_rows(30, [row("B.x", -10)], RowRules()).share_a == 40


def test_the_range_goes_from_nothing_to_the_printed_figure_of_each_row() -> None:
    result = apply_rows(30, [row("A.x", 10), row("B.y", 20)], RowRules())
    assert (result.share_a, result.lowest_a, result.highest_a) == (20, 10, 40)


@pytest.mark.parametrize(("base", "name", "delta", "share"), [(90, "A.x", 20, 100), (10, "B.x", 20, 0)])
def test_shares_are_clamped(base: int, name: str, delta: int, share: int) -> None:
    assert apply_rows(base, [row(name, delta)], RowRules()).share_a == share


def test_of_exclusive_rows_only_the_largest_counts_whatever_its_place() -> None:
    rules = RowRules(exclusive=(("B.slow", "B.sudden"),))
    result = apply_rows(100, [row("B.slow", 10), row("B.sudden", 30)], rules)
    assert [each.code for each in result.counted] == ["sudden"]
    assert result.share_a == 70


def test_of_equal_exclusive_rows_the_first_printed_counts() -> None:
    rules = RowRules(exclusive=(("B.late", "B.none"),))
    assert [each.code for each in apply_rows(100, [row("B.late", 10), row("B.none", 10)], rules).counted] == ["late"]


def test_marked_and_gross_never_both_count_on_one_party_but_may_on_two() -> None:
    rows = [row("A.marked", 10), row("A.gross", 20), row("B.marked", 10)]
    assert [each.name for each in apply_rows(50, rows, RowRules()).counted] == ["A.gross", "B.marked"]


def test_one_set_bars_the_other_and_leaves_rows_outside_both() -> None:
    rules = RowRules(exclusive_sets=((("B.no_fault",), ("B.poor_vis", "B.marked")),))
    rows = [row("B.no_fault", -20), row("B.poor_vis", 10), row("B.hazard_on", -10)]
    assert [each.code for each in apply_rows(80, rows, rules).counted] == ["no_fault", "hazard_on"]
    assert apply_rows(80, rows[1:], rules).share_a == 80


def test_additions_on_a_gated_party_count_only_once_it_is_below_100() -> None:
    rules = RowRules(gate="A")
    held = apply_rows(100, [row("A.marked", 10)], rules)
    assert (held.counted, held.share_a) == ((), 100)
    freed = apply_rows(100, [row("A.marked", 10), row("B.lamp", 20)], rules)
    assert (freed.share_a, freed.lowest_a, freed.highest_a) == (90, 80, 100)


def test_a_gate_does_not_hold_reductions_back() -> None:
    result = apply_rows(80, [row("A.marked", 10), row("A.no_escape", -10), row("B.no_fault", -20)], RowRules(gate="A"))
    assert [each.name for each in result.counted] == ["A.no_escape", "B.no_fault"]
    assert result.share_a == 90


def test_a_gate_on_b_reads_the_share_of_b() -> None:
    rules = RowRules(gate="B")
    assert apply_rows(0, [row("B.gross", 20)], rules).counted == ()
    assert apply_rows(0, [row("A.view", 10), row("B.gross", 20)], rules).share_a == 0
