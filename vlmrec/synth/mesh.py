"""Triangles for Panda3D, gathered in plain lists: quads, boxes, discs, extruded outlines."""

import math
from collections.abc import Sequence

from panda3d.core import (
    Geom,
    GeomNode,
    GeomTriangles,
    GeomVertexData,
    GeomVertexFormat,
    GeomVertexWriter,
    NodePath,
)

Point = tuple[float, float, float]
Colour = tuple[float, float, float, float]
Uv = tuple[float, float]
UNIT: tuple[Uv, ...] = ((0, 0), (1, 0), (1, 1), (0, 1))
WHITE: Colour = (1, 1, 1, 1)


def rgba(colour: Sequence[float], scale: float = 1.0, alpha: float = 1.0) -> Colour:
    """A colour of three parts, scaled and clipped, with an alpha."""
    r, g, b = (min(1.0, max(0.0, part * scale)) for part in colour)
    return (r, g, b, alpha)


class Mesh:
    """A growing list of flat-shaded triangles; ``node`` turns it into something to draw."""

    def __init__(self) -> None:
        self._data = GeomVertexData("mesh", GeomVertexFormat.getV3n3c4t2(), Geom.UHStatic)
        self._vertex = GeomVertexWriter(self._data, "vertex")
        self._normal = GeomVertexWriter(self._data, "normal")
        self._colour = GeomVertexWriter(self._data, "color")
        self._uv = GeomVertexWriter(self._data, "texcoord")
        self._triangles = GeomTriangles(Geom.UHStatic)
        self._count = 0

    def polygon(self, points: Sequence[Point], colour: Colour = WHITE, uv: Sequence[Uv] | None = None) -> None:
        """A convex polygon, corners counter-clockwise as seen from its front."""
        normal = _normal(points)
        self.shaded(points, [normal] * len(points), [colour] * len(points), uv)

    def shaded(
        self,
        points: Sequence[Point],
        normals: Sequence[Point],
        colours: Sequence[Colour],
        uv: Sequence[Uv] | None = None,
    ) -> None:
        """A convex polygon with a normal and a colour at each corner."""
        for index, point in enumerate(points):
            self._vertex.addData3(*point)
            self._normal.addData3(*normals[index])
            self._colour.addData4(*colours[index])
            self._uv.addData2(*(uv[index] if uv else UNIT[index % 4]))
        for index in range(1, len(points) - 1):
            self._triangles.addVertices(self._count, self._count + index, self._count + index + 1)
        self._count += len(points)

    def box(self, low: Point, high: Point, colour: Colour = WHITE, tile: tuple[float, float] | None = None) -> None:
        """An axis-aligned box without a bottom. ``tile`` gives metres per texture repeat on the upright faces."""
        (x0, y0, z0), (x1, y1, z1) = low, high
        for a, b, run in (
            ((x0, y0), (x1, y0), x1 - x0),
            ((x1, y0), (x1, y1), y1 - y0),
            ((x1, y1), (x0, y1), x1 - x0),
            ((x0, y1), (x0, y0), y1 - y0),
        ):
            u, v = (run / tile[0], (z1 - z0) / tile[1]) if tile else (1, 1)
            corners = [(*a, z0), (*b, z0), (*b, z1), (*a, z1)]
            self.polygon(corners, colour, [(0, 0), (u, 0), (u, v), (0, v)])
        self.polygon([(x0, y0, z1), (x1, y0, z1), (x1, y1, z1), (x0, y1, z1)], colour, [(0, 0)] * 4)

    def disc(self, centre: Point, radius: float, side: int, colour: Colour, corners: int = 14) -> None:
        """A disc across the vehicle's axis, facing right (``side`` 1) or left (-1)."""
        x, y, z = centre
        ring = [
            (x, y + radius * math.cos(k * math.tau / corners) * side, z + radius * math.sin(k * math.tau / corners))
            for k in range(corners)
        ]
        self.polygon(ring, colour)

    def extrude(self, outline: Sequence[tuple[float, float]], half: Sequence[float], colour: Colour) -> None:
        """A side outline of (y, z), clockwise seen from the right, given a half width at each corner."""
        right = [(half[i], y, z) for i, (y, z) in enumerate(outline)]
        left = [(-half[i], y, z) for i, (y, z) in enumerate(outline)]
        self.polygon(right[::-1] if _clockwise(outline) else right, colour)
        self.polygon(left if _clockwise(outline) else left[::-1], colour)
        count = len(outline)
        for i in range(count):
            j = (i + 1) % count
            quad = [left[i], right[i], right[j], left[j]]
            self.polygon(quad if _clockwise(outline) else quad[::-1], colour)

    def node(self, name: str) -> NodePath:
        """What was gathered so far, as a node outside any scene."""
        geom = Geom(self._data)
        geom.addPrimitive(self._triangles)
        node = GeomNode(name)
        node.addGeom(geom)
        return NodePath(node)


def _clockwise(outline: Sequence[tuple[float, float]]) -> bool:
    pairs = zip(outline, [*outline[1:], outline[0]], strict=True)
    return sum(y0 * z1 - y1 * z0 for (y0, z0), (y1, z1) in pairs) < 0


def _normal(points: Sequence[Point]) -> Point:
    (ax, ay, az), (bx, by, bz), (cx, cy, cz) = points[0], points[1], points[2]
    ux, uy, uz, vx, vy, vz = bx - ax, by - ay, bz - az, cx - ax, cy - ay, cz - az
    nx, ny, nz = uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx
    size = math.sqrt(nx * nx + ny * ny + nz * nz) or 1.0
    return (nx / size, ny / size, nz / size)
