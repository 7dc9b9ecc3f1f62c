"""What a scene is made of: a road, vehicles with their motion, and how it all looks.

Metres, seconds and radians. A place is ``(s, d)``: ``s`` along the road in the ego's direction,
``d`` across it, growing to the right, 0 on the line that separates the two directions. Lanes of the
ego's direction are counted from its left, starting at 1; lane 0 and below run the other way.
"""

import math
from enum import StrEnum
from typing import Literal, NamedTuple

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

Floats = NDArray[np.float64]
BodyKind = Literal["sedan", "hatch", "suv", "van", "pickup", "box_truck", "bus", "motorcycle"]


class Line(StrEnum):
    """A line painted on the road."""

    DASHED_WHITE = "dashed_white"
    SOLID_WHITE = "solid_white"
    DASHED_YELLOW = "dashed_yellow"
    SOLID_YELLOW = "solid_yellow"
    DOUBLE_YELLOW = "double_yellow"


class Span(Struct, frozen=True, kw_only=True):
    """A stretch of one lane, from ``start`` to ``end`` along the road."""

    lane: int
    start: float
    end: float


class Road(Struct, frozen=True, kw_only=True):
    """The road, straight or gently bent. ``dividers`` are the lines right of lane 1, 2, …"""

    lanes: int
    dividers: tuple[Line, ...]
    centre: Line = Line.DOUBLE_YELLOW
    oncoming_lanes: int = 2
    lane_width: float = 3.4
    shoulder: float = 0.6
    median: bool = False
    bend: float = 0.0
    bend_length: float = 600.0
    bend_phase: float = 0.0
    lane_end: Span | None = None
    safety_zone: Span | None = None
    crossing: float | None = None
    access: float | None = None

    def lane_centre(self, lane: float) -> float:
        """``d`` of a lane's middle. A fraction lies between two lanes."""
        return (lane - 0.5) * self.lane_width

    def lane_of(self, d: float) -> int:
        """The lane that ``d`` lies in; may be beyond the road's last."""
        return math.floor(d / self.lane_width) + 1

    @property
    def right_edge(self) -> float:
        return self.lanes * self.lane_width

    @property
    def left_edge(self) -> float:
        return -self.oncoming_lanes * self.lane_width

    def offset(self, s: float) -> float:
        """How far the road has moved to the right at ``s``."""
        return self.bend * math.sin(2 * math.pi * s / self.bend_length + self.bend_phase)

    def slope(self, s: float) -> float:
        """The tangent of the road's direction at ``s``, positive to the right."""
        return (
            self.bend * 2 * math.pi / self.bend_length * math.cos(2 * math.pi * s / self.bend_length + self.bend_phase)
        )

    def place(self, s: float, d: float) -> tuple[float, float]:
        """World coordinates (right, forward) of a place on the road."""
        return d + self.offset(s), s


class Body(Struct, frozen=True, kw_only=True):
    """A vehicle's shape. Its place is its middle."""

    kind: BodyKind
    length: float
    width: float
    height: float


BODIES: dict[BodyKind, Body] = {
    "sedan": Body(kind="sedan", length=4.65, width=1.82, height=1.45),
    "hatch": Body(kind="hatch", length=4.05, width=1.74, height=1.52),
    "suv": Body(kind="suv", length=4.65, width=1.88, height=1.70),
    "van": Body(kind="van", length=5.10, width=1.95, height=1.98),
    "pickup": Body(kind="pickup", length=5.15, width=1.78, height=2.00),
    "box_truck": Body(kind="box_truck", length=7.20, width=2.25, height=3.10),
    "bus": Body(kind="bus", length=10.90, width=2.48, height=3.20),
    "motorcycle": Body(kind="motorcycle", length=2.10, width=0.75, height=1.70),
}


class Pose(NamedTuple):
    """Where something is at one moment. ``yaw`` is against the road, positive to the right."""

    s: float
    d: float
    yaw: float
    speed: float
    accel: float


class Track(Struct, frozen=True, kw_only=True):
    """Motion as samples at the even times ``t``. ``speed`` is along the vehicle's own heading, never negative."""

    t: Floats
    s: Floats
    d: Floats
    yaw: Floats
    speed: Floats
    accel: Floats

    def at(self, time: float) -> Pose:
        return Pose(
            *(float(np.interp(time, self.t, column)) for column in (self.s, self.d, self.yaw, self.speed, self.accel))
        )


class Lamps(Struct, frozen=True, kw_only=True):
    """When lamps are lit, as (from, to). Brake lamps follow deceleration; ``brake`` is for a foot kept on the pedal."""

    left: tuple[tuple[float, float], ...] = ()
    right: tuple[tuple[float, float], ...] = ()
    hazard: tuple[tuple[float, float], ...] = ()
    brake: tuple[tuple[float, float], ...] = ()


class Vehicle(Struct, frozen=True, kw_only=True):
    """A vehicle and its motion. ``id`` is fit for an entity table."""

    id: str
    body: Body
    track: Track
    lamps: Lamps = Lamps()


class Item(Struct, frozen=True, kw_only=True):
    """A thing that is not a vehicle: a lost load. ``z`` is the height of its lower side."""

    id: str
    size: tuple[float, float, float]
    t: Floats
    s: Floats
    d: Floats
    z: Floats
    tumble: Floats


class Scene(Struct, frozen=True, kw_only=True):
    """Everything that happens in a clip, and nothing about how it looks."""

    road: Road
    duration: float
    ego: Vehicle
    counterpart: Vehicle | None
    traffic: tuple[Vehicle, ...] = ()
    items: tuple[Item, ...] = ()
    contact: float | None = None

    @property
    def vehicles(self) -> tuple[Vehicle, ...]:
        """All that can be seen: the counterpart, if any, then the traffic."""
        return ((self.counterpart,) if self.counterpart else ()) + self.traffic
