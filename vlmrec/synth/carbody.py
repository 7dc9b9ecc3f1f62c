"""Passenger cars and vans: a side outline for each kind, a cabin on it, and the trim that makes it a car."""

from typing import NamedTuple

from vlmrec.synth.look import Rgb
from vlmrec.synth.mesh import Mesh, rgba
from vlmrec.synth.panels import GLASS, LIFT, TRIM, flank, front, pair, pane, rear
from vlmrec.synth.world import Body


class Shape(NamedTuple):
    """Side outline and cabin as shares of length (from the middle, nose positive) and height."""

    outline: tuple[tuple[float, float], ...]
    cabin: tuple[float, float, float, float, float]
    wheels: tuple[float, float]
    wheel: float


CARS: dict[str, Shape] = {
    "sedan": Shape(
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
    "hatch": Shape(
        ((-0.5, 0.2), (-0.5, 0.5), (-0.485, 0.62), (-0.3, 0.63), (0.24, 0.62), (0.44, 0.55), (0.49, 0.46), (0.5, 0.2)),
        (-0.485, -0.4, 0.03, 0.27, 0.62),
        (-0.31, 0.31),
        0.31,
    ),
    "suv": Shape(
        ((-0.5, 0.2), (-0.5, 0.5), (-0.49, 0.6), (-0.3, 0.62), (0.21, 0.62), (0.44, 0.58), (0.49, 0.5), (0.5, 0.2)),
        (-0.49, -0.43, 0.02, 0.23, 0.61),
        (-0.29, 0.31),
        0.36,
    ),
    "van": Shape(
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


def car(mesh: Mesh, body: Body, paint: Rgb) -> None:
    """A car's skin: body, cabin, glass, trim."""
    shape = CARS[body.kind]
    length, half, height = body.length, body.width / 2, body.height
    outline = [(y * length, z * height) for y, z in shape.outline]
    waist = [half * (0.93 if z < 0.3 else 0.95 if z > 0.6 or abs(y) > 0.47 else 1.0) for y, z in shape.outline]
    mesh.extrude(outline, waist, rgba(paint))
    _cabin(mesh, body, paint, shape.cabin)
    _car_trim(mesh, body, shape)


def _cabin(mesh: Mesh, body: Body, paint: Rgb, cabin: tuple[float, float, float, float, float]) -> None:
    half = body.width / 2
    low, top = half * 0.93, half * 0.76
    z0, z1 = cabin[4] * body.height, body.height
    y = [share * body.length for share in cabin[:4]]
    solid, glass = rgba(paint), rgba(GLASS)
    base = [(-low, y[0], z0), (low, y[0], z0), (low, y[3], z0), (-low, y[3], z0)]
    roof = [(-top, y[1], z1), (top, y[1], z1), (top, y[2], z1), (-top, y[2], z1)]
    mesh.polygon(roof, solid)
    faces = [(base[0], base[1], roof[1], roof[0]), (base[1], base[2], roof[2], roof[1])]
    faces += [(base[2], base[3], roof[3], roof[2]), (base[3], base[0], roof[0], roof[3])]
    for index, face in enumerate(faces):
        mesh.polygon(face, solid)
        if index in (0, 2):
            pane(mesh, face, 0.07, 0.93, 0.1, 0.92, glass)
        else:
            pane(mesh, face, 0.1, 0.47, 0.1, 0.9, glass)
            pane(mesh, face, 0.51, 0.92, 0.1, 0.9, glass)


def _car_trim(mesh: Mesh, body: Body, shape: Shape) -> None:
    length, half, height = body.length, body.width / 2, body.height
    trim = rgba(TRIM)
    back, nose = -length / 2 - LIFT, length / 2 + LIFT
    mesh.polygon(rear(-0.9 * half, 0.9 * half, 0.2 * height, 0.29 * height, back), trim)
    mesh.polygon(rear(-0.26, 0.26, 0.4 * height, 0.4 * height + 0.12, back), rgba((0.9, 0.9, 0.86)))
    mesh.polygon(front(-0.55 * half, 0.55 * half, 0.24 * height, 0.42 * height, nose), trim)
    mesh.polygon(front(-0.26, 0.26, 0.3 * height, 0.3 * height + 0.11, nose + LIFT), rgba((0.9, 0.9, 0.86)))
    for side in (-1, 1):
        mesh.polygon(
            rear(*pair(side, 0.62 * half, 0.94 * half), 0.5 * height, 0.6 * height, back),
            rgba((0.33, 0.03, 0.03)),
        )
        mesh.polygon(
            front(*pair(side, 0.6 * half, 0.93 * half), 0.4 * height, 0.47 * height, nose),
            rgba((0.85, 0.87, 0.9)),
        )
        x = side * (half + LIFT)
        for share in shape.wheels:
            mesh.disc((x, share * length, shape.wheel), shape.wheel * 1.22, side, trim)
        for y in (-0.13, 0.05, 0.21):
            mesh.polygon(flank(x, y * length, y * length + 0.02, 0.24 * height, 0.62 * height, side), trim)
        mesh.polygon(flank(x, -0.22 * length, 0.23 * length, 0.2 * height, 0.25 * height, side), trim)
        mesh.box(
            (x - 0.02 if side > 0 else x - 0.2, 0.17 * length, 0.62 * height),
            (x + 0.2 if side > 0 else x + 0.02, 0.2 * length, 0.72 * height),
            trim,
        )
