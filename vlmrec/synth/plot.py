"""What a scenario hands over: the scene, and what a person who saw everything would say about it."""

from collections.abc import Callable
from typing import NamedTuple

from msgspec import Struct

from vlmrec.synth.draw import Draw
from vlmrec.synth.world import Line, Road, Scene
from vlmrec.terms import Party

SELF, OTHER, NONE = Party.SELF, Party.OTHER, Party.NONE


class Fact(Struct, frozen=True, kw_only=True):
    """Something the scenario decides, with the seconds that show it.

    ``inferred`` facts follow from what is seen of the ego (a jolt from behind) although the counterpart is
    out of the picture; all other facts about the counterpart need it in the picture.
    """

    value: str
    start: float
    end: float
    inferred: bool = False


class FactKey(NamedTuple):
    """What a fact is about, in this package's own words (``answers`` maps them to a ledger's questions)."""

    name: str
    party: Party


Facts = dict[FactKey, Fact]


class Plot(Struct, frozen=True, kw_only=True):
    """A scene with its facts. ``case`` is a key of ``charts.LEAVES``; ``modifiers`` are codes of rows on the changer."""

    case: str
    scene: Scene
    facts: Facts


Scenario = Callable[[Draw, float], Plot]


def seen(name: str, party: Party, value: str, start: float, end: float, *, inferred: bool = False) -> Facts:
    """A fact, as an entry to merge into others."""
    start, end = round(max(0.0, start), 2), round(max(0.0, end), 2)
    return {FactKey(name, party): Fact(value=value, start=start, end=max(start, end), inferred=inferred)}


def draw_road(
    draw: Draw,
    *,
    lanes: tuple[int, ...] = (2, 3, 4),
    divider: Line | None = None,
    centre: Line | None = None,
    parking: bool = False,
    median: bool | None = None,
) -> Road:
    """A road with what the scenario needs, and the rest drawn. ``parking`` asks for room to stand at the edge."""
    count = draw.pick("lanes", lanes)
    solid = draw.chance("solid_line", 0.2)
    line = divider or (Line.SOLID_WHITE if solid else Line.DASHED_WHITE)
    drawn = draw.pick("centre", (Line.DOUBLE_YELLOW, Line.SOLID_YELLOW))
    oncoming = draw.pick("oncoming_lanes", (1, 2, 3))
    split = draw.chance("median", 0.3) and count > 1
    wide, narrow = draw.noise(2.2, 2.7), draw.noise(0.4, 2.2)
    return Road(
        lanes=count,
        dividers=(line,) * (count - 1),
        centre=centre or drawn,
        oncoming_lanes=oncoming if count > 1 else 1,
        median=split if median is None else median,
        lane_width=draw.real("lane_width", 3.2, 3.6),
        shoulder=wide if parking else narrow,
        bend=draw.real("bend", -5.0, 5.0) * (1 if draw.chance("bent", 0.6) else 0),
        bend_length=draw.noise(500, 800),
        bend_phase=draw.noise(0, 6.28),
    )
