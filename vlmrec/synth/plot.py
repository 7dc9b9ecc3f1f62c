"""What a scenario hands over: the scene, and what a person who saw everything would say about it."""

from collections.abc import Callable
from typing import NamedTuple

from msgspec import Struct

from vlmrec.synth.draw import Draw
from vlmrec.synth.world import Line, Road, Scene
from vlmrec.terms import Party, Status

SELF, OTHER, NONE = Party.SELF, Party.OTHER, Party.NONE
CAMERA_REACH = 1.6


class Fact(Struct, frozen=True, kw_only=True):
    """Something the scenario decides: a value with the seconds that show it, or why it can't be seen."""

    value: str | None = None
    start: float | None = None
    end: float | None = None
    status: Status = Status.OBSERVED


class FactKey(NamedTuple):
    """What a fact is about, in this package's own words (``answers`` maps them to a ledger's questions)."""

    name: str
    party: Party


Facts = dict[FactKey, Fact]


class Plot(Struct, frozen=True, kw_only=True):
    """A scene with its facts. ``case`` is a key of ``charts.LEAVES``."""

    case: str
    scene: Scene
    facts: Facts


Scenario = Callable[[Draw, float], Plot]


def seen(name: str, party: Party, value: str, start: float, end: float) -> Facts:
    """An observed fact, as an entry to merge into others."""
    return {FactKey(name, party): Fact(value=value, start=round(max(0.0, start), 2), end=round(end, 2))}


def unseen(name: str, party: Party, status: Status) -> Facts:
    """A fact that the picture doesn't show, and how it doesn't."""
    return {FactKey(name, party): Fact(status=status)}


def draw_road(
    draw: Draw, *, lanes: tuple[int, ...] = (2, 3, 4), divider: Line | None = None, centre: Line | None = None
) -> Road:
    """A road with what the scenario needs, and the rest drawn."""
    count = draw.pick("lanes", lanes)
    line = divider or Line.DASHED_WHITE
    return Road(
        lanes=count,
        dividers=(line,) * (count - 1),
        centre=centre or draw.pick("centre", (Line.DOUBLE_YELLOW, Line.SOLID_YELLOW)),
        oncoming_lanes=draw.pick("oncoming_lanes", (1, 2, 3)) if count > 1 else 1,
        lane_width=draw.real("lane_width", 3.2, 3.6),
        shoulder=draw.real("shoulder", 0.4, 1.6),
        bend=draw.real("bend", -5.0, 5.0) * (1 if draw.chance("bent", 0.6) else 0),
        bend_length=draw.noise(500, 800),
        bend_phase=draw.noise(0, 6.28),
    )
