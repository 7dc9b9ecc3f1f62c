"""Every projection by name. The law suite runs over all of them, so being listed here is being held to the laws.

A module of a projection registers a factory, ``register(name)(make)``: from the inputs that a log
does not hold to the projection, other settings at their defaults.
"""

from collections.abc import Callable
from importlib import import_module
from typing import Any, NamedTuple, TypeAlias

from vlmrec.gold import GoldSet
from vlmrec.projections.core import Projection
from vlmrec.stages.rules import RuleSet

AnyProjection: TypeAlias = Projection[Any, Any, Any, Any]


class Inputs(NamedTuple):
    """What a projection may be given from outside the log."""

    gold: GoldSet
    rules: RuleSet
    rules_hash: str


Make: TypeAlias = Callable[[Inputs], AnyProjection]

MODULES: tuple[str, ...] = (
    "compare",
    "confusion",
    "narrowing",
    "probe",
    "rescore",
    "retrofit",
    "scan",
    "score",
    "show",
    "status",
)
_registered: dict[str, Make] = {}


def register(name: str) -> Callable[[Make], Make]:
    """Make a projection known under ``name``."""

    def keep(make: Make) -> Make:
        if name in _registered:
            raise ValueError(f"two projections are called {name}")
        _registered[name] = make
        return make

    return keep


def projections() -> dict[str, Make]:
    """Every registered projection, in order of name."""
    for module in MODULES:
        import_module(f"vlmrec.projections.{module}")
    return dict(sorted(_registered.items()))
