"""All scenarios by name. A scenario is a pure function of named draws and a duration."""

from vlmrec.errors import InputError
from vlmrec.synth import gates, lane_changes, overtakes, rear_ends, starts
from vlmrec.synth.plot import Scenario

SCENARIOS: dict[str, Scenario] = {
    scenario.__name__: scenario
    for scenario in (
        lane_changes.lane_change_from_left,
        lane_changes.lane_change_from_right,
        lane_changes.busy_lane_change,
        lane_changes.ego_lane_change,
        lane_changes.both_change,
        lane_changes.lane_ends,
        lane_changes.safety_zone,
        rear_ends.rear_end,
        rear_ends.rear_end_struck,
        rear_ends.parked,
        rear_ends.falling_load,
        starts.start_roadside,
        starts.queue_pull_out,
        overtakes.overtake_centre_line,
        overtakes.overtake_solid_line,
        gates.oncoming,
        gates.crossing,
        gates.no_collision,
    )
}


def scenario(name: str) -> Scenario:
    """The scenario called ``name``. Raises InputError listing the names there are."""
    if name not in SCENARIOS:
        raise InputError(f"--scenario {name}: expected one of {', '.join(SCENARIOS)}")
    return SCENARIOS[name]


def summary(name: str) -> str:
    """One line about a scenario: the first of its docstring."""
    return (scenario(name).__doc__ or "").strip().splitlines()[0]
