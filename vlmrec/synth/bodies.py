"""Vehicles as meshes: an outline with a cabin, glass, wheels, lamps. Built around (0, 0, 0), nose towards +y."""

from typing import NamedTuple

from panda3d.core import NodePath, TransparencyAttrib

from vlmrec.synth.look import Rgb
from vlmrec.synth.mesh import Colour, Mesh, Point, rgba
from vlmrec.synth.world import Body

GLASS = (0.09, 0.11, 0.14)
TRIM = (0.07, 0.07, 0.08)
TYRE = (0.05, 0.05, 0.055)
RIM = (0.62, 0.63, 0.66)
LIFT = 0.012


class Built(NamedTuple):
    """A vehicle's node, with the nodes to show while a lamp is lit and the wheels to turn."""

    node: NodePath
    brake: NodePath
    left: NodePath
    right: NodePath
    night: NodePath
    wheels: tuple[NodePath, ...]
    wheel_radius: float


class _Shape(NamedTuple):
    """Side outline and cabin as shares of length (from the middle, nose positive) and height."""

    outline: tuple[tuple[float, float], ...]
    cabin: tuple[float, float, float, float, float]
    wheels: tuple[float, float]
    wheel: float


_CARS: dict[str, _Shape] = {
    "sedan": _Shape(
        (
            (-0.5, 0.2),
            (-0.497, 0.52),
            (-0.475, 0.66),
            (-0.36, 0.68),
            (0.2, 0.65),
            (0.43, 0.57),
            (0.49, 0.48),
            (0.5, 0.2),
        ),
        (-0.41, -0.22, 0.03, 0.23, 0.66),
        (-0.3, 0.31),
        0.325,
    ),
    "hatch": _Shape(
        ((-0.5, 0.2), (-0.5, 0.5), (-0.485, 0.62), (-0.3, 0.63), (0.24, 0.62), (0.44, 0.55), (0.49, 0.46), (0.5, 0.2)),
        (-0.485, -0.4, 0.03, 0.27, 0.62),
        (-0.31, 0.31),
        0.31,
    ),
    "suv": _Shape(
        ((-0.5, 0.2), (-0.5, 0.5), (-0.49, 0.6), (-0.3, 0.62), (0.21, 0.62), (0.44, 0.58), (0.49, 0.5), (0.5, 0.2)),
        (-0.49, -0.43, 0.02, 0.23, 0.61),
        (-0.29, 0.31),
        0.36,
    ),
    "van": _Shape(
        (
            (-0.5, 0.17),
            (-0.5, 0.45),
            (-0.495, 0.52),
            (-0.3, 0.53),
            (0.33, 0.53),
            (0.46, 0.47),
            (0.495, 0.38),
            (0.5, 0.17),
        ),
        (-0.495, -0.47, 0.2, 0.36, 0.52),
        (-0.31, 0.33),
        0.33,
    ),
}


def build(body: Body, paint: Rgb) -> Built:
    """A vehicle of this shape in this colour, all lamps dark."""
    root = NodePath(body.kind)
    mesh = Mesh()
    if body.kind in _CARS:
        radius = _car(root, mesh, body, paint, _CARS[body.kind])
        wheel_places = _CARS[body.kind].wheels
    elif body.kind == "motorcycle":
        radius = _motorcycle(mesh, body, paint)
        wheel_places = (-0.34, 0.34)
    else:
        radius = {"pickup": _pickup, "box_truck": _box_truck, "bus": _bus}[body.kind](mesh, body, paint)
        wheel_places = {"pickup": (-0.3, 0.33), "box_truck": (-0.28, 0.34), "bus": (-0.27, 0.3)}[body.kind]
    mesh.node("body").reparentTo(root)
    wheels = tuple(
        _wheel(root, x, share * body.length, radius, side)
        for share in wheel_places
        for side, x in (
            ((1, body.width / 2), (-1, -body.width / 2)) if body.kind != "motorcycle" else ((1, 0.06), (-1, -0.06))
        )
    )
    return Built(root, *(_lamps(root, body, kind) for kind in ("brake", "left", "right", "night")), wheels, radius)


def _car(root: NodePath, mesh: Mesh, body: Body, paint: Rgb, shape: _Shape) -> float:
    length, half, height = body.length, body.width / 2, body.height
    outline = [(y * length, z * height) for y, z in shape.outline]
    waist = [half * (0.93 if z < 0.3 else 0.95 if z > 0.6 or abs(y) > 0.47 else 1.0) for y, z in shape.outline]
    mesh.extrude(outline, waist, rgba(paint))
    rear, roof_rear, roof_front, front, belt = shape.cabin
    _cabin(mesh, paint, half, length, height, rear, roof_rear, roof_front, front, belt)
    _car_trim(mesh, body, shape)
    return shape.wheel


def _cabin(
    mesh: Mesh, paint: Rgb, half: float, length: float, height: float,
    rear: float, roof_rear: float, roof_front: float, front: float, belt: float,
) -> None:  # fmt: skip
    low, top = half * 0.93, half * 0.76
    z0, z1 = belt * height, height
    y = [share * length for share in (rear, roof_rear, roof_front, front)]
    solid, glass = rgba(paint), rgba(GLASS)
    base = [(-low, y[0], z0), (low, y[0], z0), (low, y[3], z0), (-low, y[3], z0)]
    roof = [(-top, y[1], z1), (top, y[1], z1), (top, y[2], z1), (-top, y[2], z1)]
    mesh.polygon(roof, solid)
    faces = [(base[0], base[1], roof[1], roof[0]), (base[1], base[2], roof[2], roof[1])]
    faces += [(base[2], base[3], roof[3], roof[2]), (base[3], base[0], roof[0], roof[3])]
    for index, face in enumerate(faces):
        mesh.polygon(face, solid)
        if index in (0, 2):
            _pane(mesh, face, 0.07, 0.93, 0.1, 0.92, glass)
        else:
            _pane(mesh, face, 0.1, 0.47, 0.1, 0.9, glass)
            _pane(mesh, face, 0.51, 0.92, 0.1, 0.9, glass)


def _pane(mesh: Mesh, face: tuple[Point, ...], u0: float, u1: float, v0: float, v1: float, colour: Colour) -> None:
    """A smaller quad on a face, lifted off it so that it wins the depth test."""
    spot = [_on(face, u, v) for u, v in ((u0, v0), (u1, v0), (u1, v1), (u0, v1))]
    normal = _unit_normal(face)
    lifted = [(x + normal[0] * LIFT, y + normal[1] * LIFT, z + normal[2] * LIFT) for x, y, z in spot]
    mesh.polygon(lifted, colour)


def _on(face: tuple[Point, ...], u: float, v: float) -> Point:
    a, b, c, d = face
    low = [a[i] + (b[i] - a[i]) * u for i in range(3)]
    high = [d[i] + (c[i] - d[i]) * u for i in range(3)]
    x, y, z = (low[i] + (high[i] - low[i]) * v for i in range(3))
    return (x, y, z)


def _unit_normal(face: tuple[Point, ...]) -> Point:
    ax, ay, az = (face[1][i] - face[0][i] for i in range(3))
    bx, by, bz = (face[3][i] - face[0][i] for i in range(3))
    nx, ny, nz = ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx
    size = (nx * nx + ny * ny + nz * nz) ** 0.5 or 1.0
    return (nx / size, ny / size, nz / size)


def _car_trim(mesh: Mesh, body: Body, shape: _Shape) -> None:
    length, half, height = body.length, body.width / 2, body.height
    trim = rgba(TRIM)
    back, nose = -length / 2 - LIFT, length / 2 + LIFT
    mesh.polygon(_rear(-0.9 * half, 0.9 * half, 0.2 * height, 0.29 * height, back), trim)
    mesh.polygon(_rear(-0.26, 0.26, 0.4 * height, 0.4 * height + 0.12, back), rgba((0.9, 0.9, 0.86)))
    mesh.polygon(_front(-0.55 * half, 0.55 * half, 0.24 * height, 0.42 * height, nose), trim)
    mesh.polygon(_front(-0.26, 0.26, 0.3 * height, 0.3 * height + 0.11, nose + LIFT), rgba((0.9, 0.9, 0.86)))
    for side in (-1, 1):
        mesh.polygon(
            _rear(*sorted((side * 0.62 * half, side * 0.94 * half)), 0.5 * height, 0.6 * height, back),
            rgba((0.33, 0.03, 0.03)),
        )
        mesh.polygon(
            _front(*sorted((side * 0.6 * half, side * 0.93 * half)), 0.4 * height, 0.47 * height, nose),
            rgba((0.85, 0.87, 0.9)),
        )
        x = side * (half + LIFT)
        for share in shape.wheels:
            mesh.disc((x, share * length, shape.wheel), shape.wheel * 1.22, side, trim)
        for y in (-0.13, 0.05, 0.21):
            mesh.polygon(_flank(x, y * length, y * length + 0.02, 0.24 * height, 0.62 * height, side), trim)
        mesh.polygon(_flank(x, -0.22 * length, 0.23 * length, 0.2 * height, 0.25 * height, side), trim)
        mesh.box(
            (x - 0.02 if side > 0 else x - 0.2, 0.17 * length, 0.62 * height),
            (x + 0.2 if side > 0 else x + 0.02, 0.2 * length, 0.72 * height),
            trim,
        )


def _pickup(mesh: Mesh, body: Body, paint: Rgb) -> float:
    length, half, height = body.length, body.width / 2, body.height
    cab = 0.14 * length
    mesh.extrude(
        [
            (cab, 0.3),
            (cab, height),
            (0.36 * length, height),
            (0.48 * length, 0.55 * height),
            (0.5 * length, 0.35),
            (0.5 * length, 0.3),
        ],
        [half * 0.96] * 6,
        rgba(paint),
    )
    glass = rgba(GLASS)
    _pane(
        mesh,
        (
            (half, 0.485 * length, 1.08),
            (-half, 0.485 * length, 1.08),
            (-half, 0.365 * length, height),
            (half, 0.365 * length, height),
        ),
        0.08,
        0.92,
        0.1,
        0.88,
        glass,
    )
    _pane(
        mesh,
        ((-half, cab, 1.2), (half, cab, 1.2), (half, cab, height), (-half, cab, height)),
        0.15,
        0.85,
        0.1,
        0.75,
        glass,
    )
    for side in (-1, 1):
        mesh.polygon(
            _flank(side * (half * 0.96 + LIFT), 0.19 * length, 0.37 * length, 1.15, height - 0.15, side), glass
        )
        mesh.box((side * half - 0.03, -0.5 * length, 0.75), (side * half + 0.03, cab - 0.05, 1.12), rgba(paint))
    mesh.box((-half, -0.5 * length, 0.6), (half, cab - 0.05, 0.78), rgba((0.25, 0.25, 0.26)))
    mesh.box((-half, -0.5 * length, 0.75), (half, -0.5 * length + 0.05, 1.12), rgba(paint))
    _back_plate(mesh, body, 0.5, 0.62)
    return 0.33


def _box_truck(mesh: Mesh, body: Body, paint: Rgb) -> float:
    length, half, height = body.length, body.width / 2, body.height
    cab = 0.27 * length
    mesh.extrude(
        [
            (cab, 0.4),
            (cab, 0.78 * height),
            (0.44 * length, 0.78 * height),
            (0.49 * length, 0.45 * height),
            (0.5 * length, 0.4),
        ],
        [half * 0.95] * 5,
        rgba(paint),
    )
    glass = rgba(GLASS)
    _pane(
        mesh,
        (
            (half, 0.487 * length, 0.46 * height),
            (-half, 0.487 * length, 0.46 * height),
            (-half, 0.441 * length, 0.77 * height),
            (half, 0.441 * length, 0.77 * height),
        ),
        0.08,
        0.92,
        0.08,
        0.9,
        glass,
    )
    for side in (-1, 1):
        mesh.polygon(
            _flank(side * (half * 0.95 + LIFT), 0.31 * length, 0.44 * length, 0.5 * height, 0.73 * height, side), glass
        )
    mesh.box((-half, -0.5 * length, 0.85), (half, cab - 0.12, height), rgba((0.86, 0.87, 0.87)))
    mesh.polygon(_rear(-0.02, 0.02, 0.9, height - 0.08, -0.5 * length - LIFT), rgba((0.3, 0.3, 0.3)))
    mesh.box((-half * 0.9, -0.49 * length, 0.5), (half * 0.9, cab, 0.84), rgba(TRIM))
    _back_plate(mesh, body, 0.52, 0.66)
    return 0.45


def _bus(mesh: Mesh, body: Body, paint: Rgb) -> float:
    length, half, height = body.length, body.width / 2, body.height
    mesh.box((-half, -0.5 * length, 0.32), (half, 0.5 * length, height), rgba(paint))
    glass = rgba(GLASS)
    for side in (-1, 1):
        for k in range(7):
            y = (-0.46 + k * 0.135) * length
            mesh.polygon(_flank(side * (half + LIFT), y, y + 0.12 * length, 0.46 * height, 0.84 * height, side), glass)
    mesh.polygon(_rear(-0.8 * half, 0.8 * half, 0.55 * height, 0.86 * height, -0.5 * length - LIFT), glass)
    mesh.polygon(_front(-0.9 * half, 0.9 * half, 0.42 * height, 0.88 * height, 0.5 * length + LIFT), glass)
    _back_plate(mesh, body, 0.5, 0.64)
    return 0.48


def _motorcycle(mesh: Mesh, body: Body, paint: Rgb) -> float:
    length = body.length
    mesh.box((-0.14, -0.3 * length, 0.45), (0.14, 0.2 * length, 0.85), rgba(paint))
    mesh.box((-0.36, 0.2 * length, 0.95), (0.36, 0.24 * length, 1.02), rgba(TRIM))
    mesh.box((-0.22, -0.14 * length, 0.85), (0.22, 0.04 * length, 1.42), rgba((0.22, 0.24, 0.3)))
    mesh.box((-0.13, -0.1 * length, 1.43), (0.13, 0.03 * length, 1.7), rgba((0.8, 0.8, 0.82)))
    mesh.polygon(_rear(-0.09, 0.09, 0.62, 0.74, -0.3 * length - LIFT), rgba((0.5, 0.04, 0.04)))
    return 0.3


def _back_plate(mesh: Mesh, body: Body, low: float, high: float) -> None:
    half, back = body.width / 2, -body.length / 2 - LIFT
    mesh.polygon(_rear(-half, half, low - 0.1, high + 0.06, back + LIFT / 2), rgba(TRIM))
    mesh.polygon(_rear(-0.24, 0.24, low, high, back), rgba((0.9, 0.9, 0.86)))
    for side in (-1, 1):
        mesh.polygon(_rear(*sorted((side * 0.7 * half, side * 0.96 * half)), low, high, back), rgba((0.33, 0.03, 0.03)))


def _lamps(root: NodePath, body: Body, kind: str) -> NodePath:
    """The lit faces of one kind of lamp, hidden until lit."""
    mesh, half, height = Mesh(), body.width / 2, body.height
    back, nose = -body.length / 2 - 2.4 * LIFT, body.length / 2 + 2.4 * LIFT
    low, high = (0.5 * height, 0.6 * height) if body.kind in _CARS else (0.5, 0.64)
    if kind in ("brake", "night"):
        red = (1.0, 0.12, 0.08, 1.0) if kind == "brake" else (0.78, 0.06, 0.05, 1.0)
        grow = 0.02 if kind == "brake" else 0.0
        for side in (-1, 1):
            mesh.polygon(_rear(*sorted((side * 0.6 * half, side * 0.95 * half)), low - grow, high + grow, back), red)
        if kind == "brake" and body.kind in _CARS:
            mesh.polygon(_rear(-0.16, 0.16, 0.69 * height, 0.72 * height, back + 0.1), red)
        if kind == "night":
            for side in (-1, 1):
                mesh.polygon(
                    _front(*sorted((side * 0.58 * half, side * 0.94 * half)), 0.38 * height, 0.47 * height, nose),
                    (1, 0.98, 0.9, 1),
                )
    else:
        side = -1 if kind == "left" else 1
        amber = (1.0, 0.62, 0.05, 1.0)
        x = sorted((side * 0.72 * half, side * 0.97 * half))
        mesh.polygon(_rear(*x, high + 0.005, high + 0.1, back - LIFT), amber)
        mesh.polygon(_front(*x, low - 0.06, low + 0.04, nose + LIFT), amber)
        mesh.polygon(
            _flank(side * (half + 2 * LIFT), 0.36 * body.length, 0.41 * body.length, 0.5 * height, 0.56 * height, side),
            amber,
        )
        edge = side * (half + 0.21)
        mesh.polygon(
            _rear(*sorted((edge - side * 0.16, edge)), 0.64 * height, 0.69 * height, 0.165 * body.length), amber
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
    for (y0, z0), (y1, z1) in zip(outer, outer[1:], strict=False):
        quad = [(-0.1, y0, z0), (0.12, y0, z0), (0.12, y1, z1), (-0.1, y1, z1)]
        mesh.polygon(quad[::-1], rgba(TYRE))
    mesh.node("tyre").reparentTo(pivot)
    return pivot


def _spoke(k: int, radius: float) -> tuple[float, float]:
    y, z = _ring(k * 12 / 5, radius * 0.42)
    return y, z


def _ring(k: float, radius: float) -> tuple[float, float]:
    import math

    return radius * math.cos(k * math.tau / 12), radius * math.sin(k * math.tau / 12)


def _rear(x0: float, x1: float, z0: float, z1: float, y: float) -> list[Point]:
    return [(x0, y, z0), (x1, y, z0), (x1, y, z1), (x0, y, z1)]


def _front(x0: float, x1: float, z0: float, z1: float, y: float) -> list[Point]:
    return [(x1, y, z0), (x0, y, z0), (x0, y, z1), (x1, y, z1)]


def _flank(x: float, y0: float, y1: float, z0: float, z1: float, side: int) -> list[Point]:
    quad = [(x, y0, z0), (x, y1, z0), (x, y1, z1), (x, y0, z1)]
    return quad if side > 0 else quad[::-1]
