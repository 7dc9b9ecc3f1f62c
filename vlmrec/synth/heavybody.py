"""Trucks, buses and motorcycles."""

from vlmrec.synth.look import Rgb
from vlmrec.synth.mesh import Mesh, rgba
from vlmrec.synth.panels import GLASS, LIFT, TRIM, flank, front, pair, pane, rear
from vlmrec.synth.world import Body


def pickup(mesh: Mesh, body: Body, paint: Rgb) -> None:
    """The skin of a pickup."""
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
    pane(
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
    pane(
        mesh,
        ((-half, cab, 1.2), (half, cab, 1.2), (half, cab, height), (-half, cab, height)),
        0.15,
        0.85,
        0.1,
        0.75,
        glass,
    )
    for side in (-1, 1):
        mesh.polygon(flank(side * (half * 0.96 + LIFT), 0.19 * length, 0.37 * length, 1.15, height - 0.15, side), glass)
        mesh.box((side * half - 0.03, -0.5 * length, 0.75), (side * half + 0.03, cab - 0.05, 1.12), rgba(paint))
    mesh.box((-half, -0.5 * length, 0.6), (half, cab - 0.05, 0.78), rgba((0.25, 0.25, 0.26)))
    mesh.box((-half, -0.5 * length, 0.75), (half, -0.5 * length + 0.05, 1.12), rgba(paint))
    _back_plate(mesh, body, 0.5, 0.62)


def box_truck(mesh: Mesh, body: Body, paint: Rgb) -> None:
    """The skin of a box truck."""
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
    pane(
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
            flank(side * (half * 0.95 + LIFT), 0.31 * length, 0.44 * length, 0.5 * height, 0.73 * height, side), glass
        )
    mesh.box((-half, -0.5 * length, 0.85), (half, cab - 0.12, height), rgba((0.86, 0.87, 0.87)))
    mesh.polygon(rear(-0.02, 0.02, 0.9, height - 0.08, -0.5 * length - LIFT), rgba((0.3, 0.3, 0.3)))
    mesh.box((-half * 0.9, -0.49 * length, 0.5), (half * 0.9, cab, 0.84), rgba(TRIM))
    _back_plate(mesh, body, 0.52, 0.66)


def bus(mesh: Mesh, body: Body, paint: Rgb) -> None:
    """The skin of a bus."""
    length, half, height = body.length, body.width / 2, body.height
    mesh.box((-half, -0.5 * length, 0.32), (half, 0.5 * length, height), rgba(paint))
    glass = rgba(GLASS)
    for side in (-1, 1):
        for k in range(7):
            y = (-0.46 + k * 0.135) * length
            mesh.polygon(flank(side * (half + LIFT), y, y + 0.12 * length, 0.46 * height, 0.84 * height, side), glass)
    mesh.polygon(rear(-0.8 * half, 0.8 * half, 0.55 * height, 0.86 * height, -0.5 * length - LIFT), glass)
    mesh.polygon(front(-0.9 * half, 0.9 * half, 0.42 * height, 0.88 * height, 0.5 * length + LIFT), glass)
    _back_plate(mesh, body, 0.5, 0.64)


def motorcycle(mesh: Mesh, body: Body, paint: Rgb) -> None:
    """The skin of a motorcycle."""
    length = body.length
    mesh.box((-0.14, -0.3 * length, 0.45), (0.14, 0.2 * length, 0.85), rgba(paint))
    mesh.box((-0.36, 0.2 * length, 0.95), (0.36, 0.24 * length, 1.02), rgba(TRIM))
    mesh.box((-0.22, -0.14 * length, 0.85), (0.22, 0.04 * length, 1.42), rgba((0.22, 0.24, 0.3)))
    mesh.box((-0.13, -0.1 * length, 1.43), (0.13, 0.03 * length, 1.7), rgba((0.8, 0.8, 0.82)))
    mesh.polygon(rear(-0.09, 0.09, 0.62, 0.74, -0.3 * length - LIFT), rgba((0.5, 0.04, 0.04)))


def _back_plate(mesh: Mesh, body: Body, low: float, high: float) -> None:
    half, back = body.width / 2, -body.length / 2 - LIFT
    mesh.polygon(rear(-half, half, low - 0.1, high + 0.06, back + LIFT / 2), rgba(TRIM))
    mesh.polygon(rear(-0.24, 0.24, low, high, back), rgba((0.9, 0.9, 0.86)))
    for side in (-1, 1):
        mesh.polygon(rear(*pair(side, 0.7 * half, 0.96 * half), low, high, back), rgba((0.33, 0.03, 0.03)))
