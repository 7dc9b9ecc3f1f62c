"""Vehicles as nodes: a skin, wheels that turn, lamps that can be lit. Built around (0, 0, 0), nose towards +y."""

import itertools
import math
from collections.abc import Callable
from typing import NamedTuple

from panda3d.core import NodePath, TransparencyAttrib

from vlmrec.synth.carbody import CARS, car
from vlmrec.synth.heavybody import box_truck, bus, motorcycle, pickup
from vlmrec.synth.look import Rgb
from vlmrec.synth.mesh import Mesh, rgba
from vlmrec.synth.panels import LIFT, flank, front, pair, rear
from vlmrec.synth.world import Body, BodyKind

TYRE = (0.05, 0.05, 0.055)
RIM = (0.62, 0.63, 0.66)


class Built(NamedTuple):
    """A vehicle's node, with the nodes to show while a lamp is lit and the wheels to turn."""

    node: NodePath
    brake: NodePath
    left: NodePath
    right: NodePath
    night: NodePath
    wheels: tuple[NodePath, ...]
    wheel_radius: float


def build(body: Body, paint: Rgb) -> Built:
    """A vehicle of this shape in this colour, all lamps dark."""
    gloss = (0.1 + 0.88 * paint[0], 0.1 + 0.88 * paint[1], 0.105 + 0.88 * paint[2])  # even black mirrors some sky
    root, mesh = NodePath(body.kind), Mesh()
    _SKINS[body.kind](mesh, body, gloss)
    mesh.node("body").reparentTo(root)
    gear = _WHEELS[body.kind]
    track = body.width / 2 if body.kind != "motorcycle" else 0.06
    wheels = tuple(
        _wheel(root, side * track, share * body.length, gear.radius, side) for share in gear.places for side in (1, -1)
    )
    brake, left, right, night = (_lamps(root, body, kind) for kind in ("brake", "left", "right", "night"))
    return Built(root, brake, left, right, night, wheels, gear.radius)


class _Gear(NamedTuple):
    """Where the axles are, as shares of the length from the middle, and the wheels' radius in metres."""

    places: tuple[float, float]
    radius: float


_SKINS: dict[BodyKind, Callable[[Mesh, Body, Rgb], None]] = {
    "sedan": car,
    "hatch": car,
    "suv": car,
    "van": car,
    "pickup": pickup,
    "box_truck": box_truck,
    "bus": bus,
    "motorcycle": motorcycle,
}
_WHEELS: dict[str, _Gear] = {
    **{kind: _Gear(shape.wheels, shape.wheel) for kind, shape in CARS.items()},
    "pickup": _Gear((-0.3, 0.33), 0.33),
    "box_truck": _Gear((-0.28, 0.34), 0.45),
    "bus": _Gear((-0.27, 0.3), 0.48),
    "motorcycle": _Gear((-0.34, 0.34), 0.3),
}


def _lamps(root: NodePath, body: Body, kind: str) -> NodePath:
    """The lit faces of one kind of lamp, hidden until lit."""
    mesh, half, height = Mesh(), body.width / 2, body.height
    back, nose = -body.length / 2 - 2.4 * LIFT, body.length / 2 + 2.4 * LIFT
    low, high = (0.5 * height, 0.6 * height) if body.kind in CARS else (0.5, 0.64)
    if kind in ("brake", "night"):
        red = (1.0, 0.12, 0.08, 1.0) if kind == "brake" else (0.78, 0.06, 0.05, 1.0)
        grow = 0.02 if kind == "brake" else 0.0
        for side in (-1, 1):
            mesh.polygon(rear(*pair(side, 0.6 * half, 0.95 * half), low - grow, high + grow, back), red)
        if kind == "brake" and body.kind in CARS:
            mesh.polygon(rear(-0.16, 0.16, 0.69 * height, 0.72 * height, back + 0.1), red)
        if kind == "night":
            for side in (-1, 1):
                mesh.polygon(
                    front(*pair(side, 0.58 * half, 0.94 * half), 0.38 * height, 0.47 * height, nose),
                    (1, 0.98, 0.9, 1),
                )
    else:
        side = -1 if kind == "left" else 1
        amber = (1.0, 0.62, 0.05, 1.0)
        x = pair(side, 0.72 * half, 0.97 * half)
        mesh.polygon(rear(*x, high + 0.005, high + 0.1, back - LIFT), amber)
        mesh.polygon(front(*x, low - 0.06, low + 0.04, nose + LIFT), amber)
        mesh.polygon(
            flank(side * (half + 2 * LIFT), 0.36 * body.length, 0.41 * body.length, 0.5 * height, 0.56 * height, side),
            amber,
        )
        mesh.polygon(
            rear(*pair(side, half + 0.05, half + 0.21), 0.64 * height, 0.69 * height, 0.165 * body.length), amber
        )
    node = mesh.node(kind)
    node.reparentTo(root)
    node.setLightOff()
    node.setTransparency(TransparencyAttrib.MNone)
    node.hide()
    return node


def _wheel(root: NodePath, x: float, y: float, radius: float, side: int) -> NodePath:
    pivot = root.attachNewNode("wheel")
    pivot.setPos(x - side * 0.1, y, radius)
    mesh = Mesh()
    mesh.disc((side * 0.125, 0, 0), radius, side, rgba(TYRE), corners=18)
    mesh.disc((side * (0.125 + LIFT), 0, 0), radius * 0.66, side, rgba(RIM))
    for k in range(5):
        mesh.disc(
            (side * (0.125 + 2 * LIFT), *_spoke(k, radius)), radius * 0.15, side, rgba((0.12, 0.12, 0.13)), corners=6
        )
    outer = [_ring(k, radius) for k in range(13)]
    for (y0, z0), (y1, z1) in itertools.pairwise(outer):
        quad = [(-0.1, y0, z0), (0.12, y0, z0), (0.12, y1, z1), (-0.1, y1, z1)]
        mesh.polygon(quad[::-1], rgba(TYRE))
    mesh.node("tyre").reparentTo(pivot)
    return pivot


def _spoke(k: int, radius: float) -> tuple[float, float]:
    y, z = _ring(k * 12 / 5, radius * 0.42)
    return y, z


def _ring(k: float, radius: float) -> tuple[float, float]:
    return radius * math.cos(k * math.tau / 12), radius * math.sin(k * math.tau / 12)
