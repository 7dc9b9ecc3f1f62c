"""All scenarios by name. A scenario is a pure function of named draws and a duration."""

from vlmrec.errors import InputError
from vlmrec.synth import lane_changes, rear_ends
from vlmrec.synth.plot import Scenario

SCENARIOS: dict[str, Scenario] = {
    "lane_change_from_left": lane_changes.lane_change_from_left,
    "lane_change_from_right": lane_changes.lane_change_from_right,
    "rear_end": rear_ends.rear_end,
}


def scenario(name: str) -> Scenario:
    """The scenario called ``name``. Raises InputError listing the names there are."""
    if name not in SCENARIOS:
        raise InputError(f"--scenario {name}: expected one of {', '.join(SCENARIOS)}")
    return SCENARIOS[name]


def summary(name: str) -> str:
    """One line about a scenario: the first of its docstring."""
    return (scenario(name).__doc__ or "").strip().splitlines()[0]
