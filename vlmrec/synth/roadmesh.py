"""The road as meshes: carriageway, painted lines, kerbs, pavements, median, hatching, crossings."""

import itertools
import math
from typing import NamedTuple

import numpy as np
from panda3d.core import NodePath, Texture, TransparencyAttrib

from vlmrec.synth import textures
from vlmrec.synth.look import Look
from vlmrec.synth.mesh import Colour, Mesh, Point, rgba
from vlmrec.synth.world import Line, Road

STEP = 4.0
BEHIND = -40.0
WHITE = (0.9, 0.9, 0.88)
YELLOW = (0.86, 0.66, 0.16)
LINE_WIDTH = 0.15
DASH, GAP = 5.0, 8.0
KERB = 0.15


def build_road(root: NodePath, road: Road, look: Look, rng: np.random.Generator, reach: float) -> None:
    """Attaches the road from a little behind the start to ``reach`` metres ahead.

    All that lies flat is drawn in a fixed order without depth, so nothing flickers.
    """
    wide = road.right_edge + road.shoulder
    left = road.left_edge - 0.5
    green = {"city": 0.25, "mixed": 0.6, "trees": 0.9, "open": 0.8}[look.roadside]
    light = EXPOSURE[look.light]
    ground = _Layer(root, Mesh(), 1, textures.texture(textures.ground(rng, green)), light)
    _strip(ground, road, -120, 120, BEHIND, reach, tile=9, rows=8)
    tar = _Layer(root, Mesh(), 2, textures.texture(textures.asphalt(rng, look.asphalt, look.wear)), light)
    _strip(tar, road, left, wide, BEHIND, reach, tile=7.5)
    if road.crossing is not None:
        _cross_street(tar, road)
    _finish(ground, tar)
    paint = Mesh()
    _markings(paint, road, look, reach)
    _finish(_Layer(root, paint, 3, None, light))
    _edges(root, road, rng, wide, left, reach)


class _Layer(NamedTuple):
    """A flat mesh, when it is drawn, and how bright: a camera exposes for the road, whatever the sun does."""

    root: NodePath
    mesh: Mesh
    order: int
    texture: Texture | None
    exposure: float


EXPOSURE = {"day": 1.0, "overcast": 0.95, "low_sun": 0.94, "dusk": 0.76, "night": 0.6}


def _finish(*layers: _Layer) -> None:
    for layer in layers:
        node = layer.mesh.node("flat")
        node.reparentTo(layer.root)
        if layer.texture is not None:
            node.setTexture(layer.texture)
        node.setBin("background", layer.order)
        node.setDepthTest(False)
        node.setDepthWrite(False)
        node.setLightOff()
        node.setColorScale(layer.exposure, layer.exposure, layer.exposure, 1)


def _strip(
    layer: _Layer, road: Road, d0: float, d1: float, s0: float, s1: float, tile: float, z: float = 0.0, rows: int = 1
) -> None:
    """A band along the road, cut so finely that its texture keeps its perspective."""
    cuts = np.linspace(d0, d1, max(rows, math.ceil((d1 - d0) / 8)) + 1)
    count = math.ceil((s1 - s0) / STEP)
    for i in range(count):
        a, b = s0 + i * STEP, s0 + (i + 1) * STEP
        for low, high in itertools.pairwise(cuts):
            quad = _quad(road, float(low), float(high), a, b, z)
            uv = [(low / tile, a / tile), (high / tile, a / tile), (high / tile, b / tile), (low / tile, b / tile)]
            layer.mesh.polygon(quad, (1, 1, 1, 1), uv)


def _quad(road: Road, d0: float, d1: float, s0: float, s1: float, z: float = 0.0) -> list[Point]:
    corners = ((s0, d0), (s0, d1), (s1, d1), (s1, d0))
    return [(*road.place(s, d), z) for s, d in corners]


def _cross_street(tar: _Layer, road: Road) -> None:
    assert road.crossing is not None
    for d in np.arange(-120, 120, 8.0):
        s0, s1 = road.crossing - 7, road.crossing + 7
        uv = [(d / 7.5, s0 / 7.5), ((d + 8) / 7.5, s0 / 7.5), ((d + 8) / 7.5, s1 / 7.5), (d / 7.5, s1 / 7.5)]
        tar.mesh.polygon(_quad(road, float(d), float(d) + 8, s0, s1), (1, 1, 1, 1), uv)


def _markings(mesh: Mesh, road: Road, look: Look, reach: float) -> None:
    fade = 1 - 0.3 * look.wear
    white, yellow = rgba(WHITE, fade), rgba(YELLOW, fade)
    for lane, line in enumerate(road.dividers, start=1):
        cut = road.lane_end.end if road.lane_end and road.lane_end.lane in (lane, lane + 1) else reach
        _line(mesh, road, lane * road.lane_width, line, white, BEHIND, min(cut, reach))
    for lane in range(1, road.oncoming_lanes):
        _line(mesh, road, -lane * road.lane_width, Line.DASHED_WHITE, white, BEHIND, reach)
    if not road.median:
        _line(mesh, road, 0.0, road.centre, yellow, BEHIND, reach)
    _right_edge(mesh, road, white, reach)
    _line(mesh, road, road.left_edge, Line.SOLID_WHITE, white, BEHIND, reach)
    if road.safety_zone:
        _hatching(mesh, road, yellow)
    if road.crossing is not None:
        _crossing_marks(mesh, road, white)


def _right_edge(mesh: Mesh, road: Road, white: Colour, reach: float) -> None:
    end = road.lane_end
    if end is None or end.lane != road.lanes:
        _line(mesh, road, road.right_edge, Line.SOLID_WHITE, white, BEHIND, reach)
        return
    _line(mesh, road, road.right_edge, Line.SOLID_WHITE, white, BEHIND, end.start)
    inner = road.right_edge - road.lane_width
    _slanted(mesh, road, road.right_edge, inner, end.start, end.end, white)
    _line(mesh, road, inner, Line.SOLID_WHITE, white, end.end, reach)
    stripes = int((end.end - end.start) / 4) + 8
    for k in range(stripes):
        s = end.start + 6 + k * 4
        d = inner + max(0.0, (end.end - s) / (end.end - end.start)) * road.lane_width
        if road.right_edge - d > 0.4:
            mesh.polygon(_bar(road, d + 0.2, road.right_edge, s, s + 2.0, 0.6), white)
    for back in (14.0, 32.0, 50.0):
        _merge_arrow(mesh, road, road.right_edge - road.lane_width / 2, end.start - back, white)


def _merge_arrow(mesh: Mesh, road: Road, d: float, s: float, colour: Colour) -> None:
    """An arrow that bends to the left: this lane ends."""
    shaft = [(s, d + 0.3), (s, d + 0.5), (s + 3.0, d + 0.2), (s + 3.0, d)]
    head = [(s + 2.4, d - 0.25), (s + 3.1, d + 0.5), (s + 4.6, d - 0.75)]
    for shape in (shaft, head):
        mesh.polygon([(*road.place(along, across), 0.0) for along, across in shape], colour)


def _line(mesh: Mesh, road: Road, d: float, line: Line, colour: Colour, s0: float, s1: float) -> None:
    half = LINE_WIDTH / 2
    if line is Line.DOUBLE_YELLOW:
        _line(mesh, road, d - 0.15, Line.SOLID_YELLOW, colour, s0, s1)
        _line(mesh, road, d + 0.15, Line.SOLID_YELLOW, colour, s0, s1)
        return
    dashed = line in (Line.DASHED_WHITE, Line.DASHED_YELLOW)
    run, period = (DASH, DASH + GAP) if dashed else (STEP, STEP)
    s = math.floor(s0 / period) * period if dashed else s0
    while s < s1:
        a, b = max(s, s0), min(s + run, s1)
        if b > a and not _in_crossing(road, a, b):
            mesh.polygon(_quad(road, d - half, d + half, a, b), colour)
        s += period


def _in_crossing(road: Road, a: float, b: float) -> bool:
    return road.crossing is not None and b > road.crossing - 13 and a < road.crossing + 13


def _slanted(mesh: Mesh, road: Road, d0: float, d1: float, s0: float, s1: float, colour: Colour) -> None:
    count = math.ceil((s1 - s0) / STEP)
    for i in range(count):
        a, b = s0 + (s1 - s0) * i / count, s0 + (s1 - s0) * (i + 1) / count
        da, db = d0 + (d1 - d0) * i / count, d0 + (d1 - d0) * (i + 1) / count
        corners = ((a, da - 0.08), (a, da + 0.08), (b, db + 0.08), (b, db - 0.08))
        mesh.polygon([(*road.place(s, d), 0.0) for s, d in corners], colour)


def _bar(road: Road, d0: float, d1: float, s0: float, s1: float, width: float) -> list[Point]:
    corners = ((s0, d0), (s1, d1), (s1 + width, d1), (s0 + width, d0))
    return [(*road.place(s, d), 0.0) for s, d in corners][::1]


def _hatching(mesh: Mesh, road: Road, yellow: Colour) -> None:
    zone = road.safety_zone
    assert zone is not None
    d0, d1 = (zone.lane - 1) * road.lane_width + 0.15, zone.lane * road.lane_width - 0.15
    for d in (d0, d1):
        _line(mesh, road, d, Line.SOLID_YELLOW, yellow, zone.start, zone.end)
    for s in np.arange(zone.start, zone.end - 3.0, 3.0):
        mesh.polygon(_bar(road, d0, d1, float(s), float(s) + 2.6, 0.55), yellow)


def _crossing_marks(mesh: Mesh, road: Road, white: Colour) -> None:
    assert road.crossing is not None
    s = road.crossing - 12
    mesh.polygon(_quad(road, 0.2, road.right_edge - 0.1, s - 2.2, s - 1.7), white)
    for d in np.arange(road.left_edge + 0.3, road.right_edge - 0.3, 0.9):
        mesh.polygon(_quad(road, float(d), float(d) + 0.45, s, s + 3.5), white)


def _edges(root: NodePath, road: Road, rng: np.random.Generator, wide: float, left: float, reach: float) -> None:
    """Kerbs and pavements on both sides, and the median's rail; these stand up and so use depth."""
    walk = _Layer(root, Mesh(), 0, textures.texture(textures.paving(rng)), 1.0)
    stone = Mesh()
    openings = [(road.crossing - 7, road.crossing + 7)] if road.crossing is not None else []
    if road.access is not None:
        openings.append((road.access - 4, road.access + 4))
    for s in np.arange(BEHIND, reach, STEP):
        a, b = float(s), float(s) + STEP
        if any(b > low and a < high for low, high in openings):
            continue
        shade = rgba((0.66, 0.66, 0.64), 1.0 if int(s / STEP) % 2 else 0.93)
        for d, out in ((wide, 1.0), (left, -1.0)):
            face = [
                (*road.place(a, d), 0.0),
                (*road.place(b, d), 0.0),
                (*road.place(b, d), KERB),
                (*road.place(a, d), KERB),
            ]
            stone.polygon(face[::-1] if out > 0 else face, shade)
            top = _quad(road, min(d, d + out * 0.2), max(d, d + out * 0.2), a, b, KERB)
            stone.polygon(top, rgba((0.72, 0.72, 0.7)))
            low, high = sorted((d + out * 0.2, d + out * 3.0))
            walk.mesh.polygon(
                _quad(road, low, high, a, b, KERB),
                (1, 1, 1, 1),
                [(low / 1.6, a / 1.6), (high / 1.6, a / 1.6), (high / 1.6, b / 1.6), (low / 1.6, b / 1.6)],
            )
        if road.median:
            for out in (-1.0, 1.0):
                d = 0.12 * out
                wall = [
                    (*road.place(a, d), 0.0),
                    (*road.place(b, d), 0.0),
                    (*road.place(b, d), 0.8),
                    (*road.place(a, d), 0.8),
                ]
                stone.polygon(wall if out > 0 else wall[::-1], shade)
            stone.polygon(_quad(road, -0.12, 0.12, a, b, 0.8), rgba((0.74, 0.74, 0.72)))
    pavement = walk.mesh.node("pavement")
    pavement.setTexture(walk.texture)
    for node in (pavement, stone.node("kerb")):
        node.reparentTo(root)
        node.setTransparency(TransparencyAttrib.MNone)
        node.setTwoSided(True)
