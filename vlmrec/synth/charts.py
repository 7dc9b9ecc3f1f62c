"""Which chart of the published standard a case is, and what it says about fault.

Written down from the standard by hand, case by case; the engine has no part in it. ``ego`` is the
letter that the recording vehicle has in the chart. Only rows that these scenarios can show are here.
"""

from collections.abc import Mapping
from typing import Literal, NamedTuple

from vlmrec.gold import OUT_OF_SCOPE
from vlmrec.terms import Party

Letter = Literal["A", "B"]
Values = Mapping[tuple[str, Party], str]
"""Observed answers of a clip: (question without its prefix, party) to value."""


class Row(NamedTuple):
    """A printed modifier: ``delta`` points on ``letter`` where that vehicle's ``fact`` (or the scene's) is one of ``values``."""

    letter: Letter
    delta: int
    fact: str
    values: tuple[str, ...]
    of_scene: bool = False


class Leaf(NamedTuple):
    """A chart, the ego's letter in it, the base share of A in percent, its rows. No letter where a gate ends the clip."""

    chart: str
    ego: Letter | None = None
    share_a: int | None = None
    rows: tuple[Row, ...] = ()


def _unsignalled(letter: Letter) -> Row:
    return Row(letter, 10, "turn_signal", ("late", "none"))


def _over_solid_line(letter: Letter) -> Row:
    return Row(letter, 20, "lane_line", ("solid_white",))


GATED = Leaf(OUT_OF_SCOPE)
_CHANGE = (_unsignalled("B"), _over_solid_line("B"))
_BOTH = (_unsignalled("A"), _over_solid_line("A"), *_CHANGE)
LEAVES: dict[str, Leaf] = {
    "cut_in": Leaf("차43-2", "A", 30, _CHANGE),
    "ego_change": Leaf("차43-2", "B", 30, _CHANGE),
    "both_ego_right": Leaf("차43-3", "A", 50, _BOTH),
    "both_ego_left": Leaf("차43-3", "B", 50, _BOTH),
    "lane_ends": Leaf("차43-1", "A", 40),
    "zone_edge": Leaf("차43-7", "A", 100, (_unsignalled("B"),)),
    "zone_clear": Leaf("차43-7", "A", 70, (_unsignalled("B"),)),
    "rear_end_lead": Leaf("차41-1", "A", 100),
    "rear_end_struck": Leaf("차41-1", "B", 100),
    "parked": Leaf("차42-2", "B", 0, (Row("A", 10, "visibility", ("poor",), of_scene=True),)),
    "falling_load": Leaf("차48-1", "A", 0, (Row("B", 10, "visibility", ("poor",), of_scene=True),)),
    "start_roadside": Leaf("차47-1", "B", 80),
    "queue_pull_out": Leaf("차43-4", "B", 100),
    "overtake_centre": Leaf("차45-5", "A", 0),
    "overtake_centre_ego": Leaf("차45-5", "B", 0),
    "overtake_solid": Leaf("차45-6", "A", 100),
    "oncoming": GATED,
    "crossing": GATED,
    "no_collision": GATED,
}


def leaf_of(case: str) -> Leaf:
    """The leaf of a case."""
    return LEAVES[case]


def ego_share(leaf: Leaf, values: Values) -> int | None:
    """The ego's final share in percent: base and rows that ``values`` show, clamped to 0 to 100."""
    if leaf.share_a is None or leaf.ego is None:
        return None
    share = leaf.share_a
    for row in leaf.rows:
        party = Party.NONE if row.of_scene else Party.SELF if row.letter == leaf.ego else Party.OTHER
        if values.get((row.fact, party)) in row.values:
            share += row.delta if row.letter == "A" else -row.delta
    share = min(100, max(0, share))
    return share if leaf.ego == "A" else 100 - share
