"""What stands beside the road: trees, lamp posts, buildings, signs. Their passing is what optical flow lives on."""

from typing import NamedTuple

import numpy as np
from panda3d.core import NodePath, Texture, TransparencyAttrib

from vlmrec.synth import textures
from vlmrec.synth.look import Look
from vlmrec.synth.mesh import Mesh, rgba
from vlmrec.synth.world import Road


class _Kinds(NamedTuple):
    tree: float
    house: float
    sign: float


_SHARE = {
    "trees": _Kinds(0.75, 0.06, 0.15),
    "city": _Kinds(0.3, 0.85, 0.3),
    "mixed": _Kinds(0.5, 0.4, 0.25),
    "open": _Kinds(0.16, 0.05, 0.1),
}


def build_roadside(root: NodePath, road: Road, look: Look, rng: np.random.Generator, reach: float) -> None:
    """Attaches both roadsides from a little behind the start to ``reach`` metres ahead."""
    share = _SHARE[look.roadside]
    trees = [textures.texture(textures.tree(rng), repeat=False) for _ in range(4)]
    walls = [textures.texture(textures.facade(rng)) for _ in range(5)]
    poles = Mesh()
    for side in (-1.0, 1.0):
        edge = road.right_edge + road.shoulder if side > 0 else road.left_edge - 0.5
        for s in np.arange(-30 + rng.uniform(0, 9), reach, 9.0):
            if _in_the_way(road, float(s)):
                rng.uniform(size=6)
                continue
            dice = rng.uniform(size=6)
            if dice[0] < share.tree:
                _tree(
                    root,
                    road,
                    trees[int(dice[1] * 4)],
                    float(s),
                    edge + side * (1.2 + dice[2] * 1.2),
                    4.5 + dice[3] * 4,
                )
            if dice[0] > 1 - share.tree * 0.5:
                _tree(root, road, trees[int(dice[1] * 4)], float(s), edge + side * (7 + dice[2] * 16), 5 + dice[3] * 6)
            if dice[4] < share.sign * 0.4:
                _sign(poles, road, float(s), edge + side * 1.0, float(dice[5]))
        for s in np.arange(-20 + rng.uniform(0, 30), reach, 36.0):
            if not _in_the_way(road, float(s)):
                _lamp_post(poles, road, float(s), edge + side * 0.6, -side)
        s = -40.0
        while s < reach:
            size = rng.uniform(9, 26)
            gap, depth, tall, pick, wanted, back = rng.uniform(size=6)
            if wanted < share.house and not _in_the_way(road, s + size / 2, margin=size / 2 + 9):
                _house(
                    root,
                    road,
                    walls[int(pick * 5)],
                    s,
                    size,
                    edge + side * (5 + back * 9),
                    side * (9 + depth * 9),
                    int(2 + tall * 7),
                )
            s += size + 1 + gap * 9
    if road.lane_end is not None:
        for back in (25.0, 60.0):
            _warning(poles, road, road.lane_end.start - back, road.right_edge + road.shoulder + 0.8)
    node = poles.node("poles")
    node.reparentTo(root)
    node.setTwoSided(True)


def _in_the_way(road: Road, s: float, margin: float = 11.0) -> bool:
    return any(place is not None and abs(s - place) < margin for place in (road.crossing, road.access))


def _tree(root: NodePath, road: Road, picture: Texture, s: float, d: float, height: float) -> None:
    mesh, (x, y) = Mesh(), road.place(s, d)
    half = height * 0.3
    for ux, uy in ((1.0, 0.0), (0.0, 1.0)):
        quad = [(x - ux * half, y - uy * half, 0.0), (x + ux * half, y + uy * half, 0.0)]
        mesh.shaded(
            [*quad, (x + ux * half, y + uy * half, height), (x - ux * half, y - uy * half, height)],
            [(0.0, -0.4, 0.9)] * 4,
            [(1.0, 1.0, 1.0, 1.0)] * 4,
            [(0, 0), (1, 0), (1, 1), (0, 1)],
        )
    node = mesh.node("tree")
    node.setTexture(picture)
    node.setTransparency(TransparencyAttrib.MBinary)
    node.setTwoSided(True)
    node.reparentTo(root)


def _lamp_post(mesh: Mesh, road: Road, s: float, d: float, inward: float) -> None:
    x, y = road.place(s, d)
    grey = rgba((0.5, 0.52, 0.53))
    mesh.box((x - 0.09, y - 0.09, 0), (x + 0.09, y + 0.09, 8.0), grey)
    low, high = sorted((x, x + inward * 2.2))
    mesh.box((low, y - 0.06, 7.9), (high, y + 0.06, 8.05), grey)


def _sign(mesh: Mesh, road: Road, s: float, d: float, dice: float) -> None:
    x, y = road.place(s, d)
    mesh.box((x - 0.04, y - 0.04, 0), (x + 0.04, y + 0.04, 2.9), rgba((0.55, 0.56, 0.57)))
    colour = ((0.1, 0.25, 0.6), (0.06, 0.38, 0.24), (0.85, 0.85, 0.85), (0.8, 0.6, 0.1))[int(dice * 4)]
    wide, tall = 0.45 + dice * 0.7, 0.5 + (dice * 7 % 1) * 0.5
    mesh.polygon(
        [
            (x - wide, y - 0.06, 2.3),
            (x + wide, y - 0.06, 2.3),
            (x + wide, y - 0.06, 2.3 + tall),
            (x - wide, y - 0.06, 2.3 + tall),
        ],
        rgba(colour),
    )


def _warning(mesh: Mesh, road: Road, s: float, d: float) -> None:
    """A yellow diamond with a lane that narrows."""
    x, y = road.place(s, d)
    mesh.box((x - 0.04, y - 0.04, 0), (x + 0.04, y + 0.04, 2.0), rgba((0.55, 0.56, 0.57)))
    for half, colour, lift in ((0.62, (0.1, 0.1, 0.1), 0.06), (0.55, (0.95, 0.74, 0.1), 0.08)):
        mesh.polygon(
            [
                (x, y - lift, 2.5 - half),
                (x + half, y - lift, 2.5),
                (x, y - lift, 2.5 + half),
                (x - half, y - lift, 2.5),
            ],
            rgba(colour),
        )
    for x0, x1 in ((-0.2, -0.2), (0.22, 0.02)):
        mesh.polygon(
            [
                (x + x0, y - 0.1, 2.25),
                (x + x0 + 0.08, y - 0.1, 2.25),
                (x + x1 + 0.08, y - 0.1, 2.75),
                (x + x1, y - 0.1, 2.75),
            ],
            rgba((0.1, 0.1, 0.1)),
        )


def _house(
    root: NodePath, road: Road, wall: Texture, s: float, size: float, d: float, depth: float, storeys: int
) -> None:
    mesh, (x, y) = Mesh(), road.place(s, d)
    low, high = sorted((x, x + depth))
    mesh.box((low, y, 0), (high, y + size, storeys * 3.2), (1, 1, 1, 1), tile=(6.0, 3.2))
    node = mesh.node("house")
    node.setTexture(wall)
    node.reparentTo(root)
