"""Flat pieces of a vehicle's skin: rear, front and flank quads, panes laid on a face."""

from vlmrec.synth.mesh import Colour, Mesh, Point

GLASS = (0.10, 0.12, 0.15)
TRIM = (0.07, 0.07, 0.08)
LIFT = 0.012
"""How far trim lies above the skin, so that it wins the depth test."""


def pair(side: int, inner: float, outer: float) -> tuple[float, float]:
    """The stretch from ``inner`` to ``outer`` on the right (``side`` 1) or the left (-1), smaller first."""
    return (inner, outer) if side > 0 else (-outer, -inner)


def pane(mesh: Mesh, face: tuple[Point, ...], u0: float, u1: float, v0: float, v1: float, colour: Colour) -> None:
    """A smaller quad on a face, lifted off it so that it wins the depth test."""
    spot = [_on(face, u, v) for u, v in ((u0, v0), (u1, v0), (u1, v1), (u0, v1))]
    normal = _unit_normal(face)
    lifted = [(x + normal[0] * LIFT, y + normal[1] * LIFT, z + normal[2] * LIFT) for x, y, z in spot]
    dark, light = colour, (colour[0] * 1.7 + 0.05, colour[1] * 1.7 + 0.06, colour[2] * 1.7 + 0.07, 1.0)
    mesh.shaded(lifted, [normal] * 4, [dark, dark, light, light])


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


def rear(x0: float, x1: float, z0: float, z1: float, y: float) -> list[Point]:
    """A quad that faces backwards."""
    return [(x0, y, z0), (x1, y, z0), (x1, y, z1), (x0, y, z1)]


def front(x0: float, x1: float, z0: float, z1: float, y: float) -> list[Point]:
    """A quad that faces forwards."""
    return [(x1, y, z0), (x0, y, z0), (x0, y, z1), (x1, y, z1)]


def flank(x: float, y0: float, y1: float, z0: float, z1: float, side: int) -> list[Point]:
    """A quad that faces right (``side`` 1) or left (-1)."""
    quad = [(x, y0, z0), (x, y1, z0), (x, y1, z1), (x, y0, z1)]
    return quad if side > 0 else quad[::-1]
