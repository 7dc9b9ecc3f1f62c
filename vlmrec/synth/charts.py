"""Which chart of the published standard a case is, and what it says about fault.

Written down from the standard by hand, case by case; the engine has no part in it. ``ego`` is the
letter that the recording vehicle has in the chart.
"""

from typing import Literal, NamedTuple

from vlmrec.gold import OUT_OF_SCOPE

Letter = Literal["A", "B"]


class Leaf(NamedTuple):
    """A chart, the ego's letter in it, and the base share of A in percent. No letter where a gate ends the clip."""

    chart: str
    ego: Letter | None = None
    share_a: int | None = None

    @property
    def ego_share(self) -> int | None:
        """The ego's base share in percent."""
        if self.share_a is None:
            return None
        return self.share_a if self.ego == "A" else 100 - self.share_a


GATED = Leaf(OUT_OF_SCOPE)
LEAVES: dict[str, Leaf] = {
    "cut_in": Leaf("차43-2", "A", 30),
    "ego_change": Leaf("차43-2", "B", 30),
    "both_ego_right": Leaf("차43-3", "A", 50),
    "both_ego_left": Leaf("차43-3", "B", 50),
    "lane_ends": Leaf("차43-1", "A", 40),
    "zone_edge": Leaf("차43-7", "A", 100),
    "zone_clear": Leaf("차43-7", "A", 70),
    "rear_end_lead": Leaf("차41-1", "A", 100),
    "rear_end_struck": Leaf("차41-1", "B", 100),
    "parked": Leaf("차42-2", "B", 0),
    "falling_load": Leaf("차48-1", "A", 0),
    "start_roadside": Leaf("차47-1", "B", 80),
    "queue_pull_out": Leaf("차43-4", "B", 100),
    "overtake_centre": Leaf("차45-5", "A", 0),
    "overtake_solid": Leaf("차45-6", "A", 100),
    "oncoming": GATED,
    "crossing": GATED,
    "no_collision": GATED,
}


def leaf_of(case: str) -> Leaf:
    """The leaf of a case."""
    return LEAVES[case]
