"""Draws a scene with Panda3D's software renderer: no display, no graphics card, one thread.

Panda3D keeps its engine in process-wide state, so ``make`` runs this in a process of its own.
"""

import itertools
import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from panda3d.core import (
    AmbientLight,
    Camera,
    DirectionalLight,
    FrameBufferProperties,
    GraphicsEngine,
    GraphicsOutput,
    GraphicsPipe,
    GraphicsPipeSelection,
    NodePath,
    PerspectiveLens,
    Texture,
    TransparencyAttrib,
    WindowProperties,
    loadPrcFileData,
)

from vlmrec.synth import textures
from vlmrec.synth.actors import Actor, item_node, place_item
from vlmrec.synth.camera import CameraPath, vertical_fov
from vlmrec.synth.draw import generator
from vlmrec.synth.look import Look, Rgb
from vlmrec.synth.mesh import UNIT, Mesh, rgba
from vlmrec.synth.picture import Finish
from vlmrec.synth.roadmesh import build_road
from vlmrec.synth.roadside import build_roadside
from vlmrec.synth.world import Scene

Image = NDArray[np.uint8]
CONFIG = """
load-display p3tinydisplay
window-type offscreen
audio-library-name null
notify-level error
notify-level-display fatal
notify-level-x11display fatal
notify-level-tinydisplay fatal
td-perspective-textures 1
"""
VIEW = 420.0
OVERSAMPLE = 1.5
LEVELS: dict[str, tuple[float, float]] = {  # ambient, sun
    "day": (0.72, 0.46),
    "overcast": (0.88, 0.2),
    "low_sun": (0.72, 0.44),
    "dusk": (0.8, 0.16),
    "night": (0.6, 0.08),
}
HAZE = {"dry": 0.035, "rain": 0.1, "haze": 0.15}
HAZE_AT = (50.0, 80.0, 120.0, 180.0, 270.0)
_configured = False


class Picture(NamedTuple):
    """Size and rate of the clip."""

    width: int
    height: int
    fps: int


def draw_frames(scene: Scene, look: Look, picture: Picture, seed: str) -> Iterator[Image]:
    """The clip's frames as BGR images. ``seed`` names the stream of everything random that only shows in pixels."""
    _configure()
    stage = _Stage(scene, look, picture, seed)
    finish = Finish(look, picture.width, picture.height, generator(seed, "grain"))
    try:
        for index in range(round(scene.duration * picture.fps)):
            yield finish(stage.draw(index / picture.fps))
    finally:
        stage.close()


def _configure() -> None:
    global _configured
    if not _configured:
        loadPrcFileData("vlmrec", CONFIG)
        _configured = True


class _Stage:
    """The scene graph of one clip and the buffer it is drawn into."""

    def __init__(self, scene: Scene, look: Look, picture: Picture, seed: str) -> None:
        self._scene, self._look = scene, look
        self._width, self._height = (int(side * OVERSAMPLE) // 2 * 2 for side in (picture.width, picture.height))
        self._engine = GraphicsEngine.getGlobalPtr()
        self._buffer, self._target = _buffer(self._engine, self._width, self._height)
        self._root = NodePath("root")
        self._path = CameraPath(scene, look, generator(seed, "camera"))
        self._camera = _camera(self._root, look, picture)
        self._buffer.makeDisplayRegion().setCamera(self._camera)
        horizon = textures.SKIES[look.light][1]
        self._buffer.setClearColor((*(part / 255 for part in horizon), 1))
        reach = float(scene.ego.track.s[-1]) + VIEW
        build_road(self._root, scene.road, look, generator(seed, "road"), reach)
        build_roadside(self._root, scene.road, look, generator(look.roadside_seed, "roadside"), reach)
        _lights(self._root, look)
        self._sky = _sky(self._root, look, seed)
        self._glow = textures.texture(textures.glow(), repeat=False)
        self._shadow = textures.texture(textures.soft_shadow(), repeat=False)
        self._actors = [
            Actor(self._root, scene.road, vehicle, look.paints[index], look, self._shadow, self._glow)
            for index, vehicle in enumerate(scene.vehicles)
        ]
        self._items = [(item, item_node(self._root, item)) for item in scene.items]
        self._haze = _haze(self._root, look, horizon)
        if look.hood:
            _hood(self._camera, look)

    def draw(self, time: float) -> Image:
        view = self._path.at(time)
        self._camera.setPosHpr(view.x, view.y, view.z, view.heading, view.pitch, view.roll)
        self._sky.setPos(view.x, view.y, 0)
        self._haze.setPosHpr(view.x, view.y, 0, view.heading, 0, 0)
        for actor in self._actors:
            actor.place(time)
        for item, node in self._items:
            place_item(node, item, self._scene.road, time)
        self._engine.renderFrame()
        raw = np.frombuffer(self._target.getRamImage(), np.uint8).reshape(self._height, self._width, -1)
        return np.ascontiguousarray(raw[::-1, :, :3])

    def close(self) -> None:
        self._engine.removeWindow(self._buffer)
        self._root.removeNode()


def _buffer(engine: GraphicsEngine, width: int, height: int) -> tuple[GraphicsOutput, Texture]:
    pipe = GraphicsPipeSelection.getGlobalPtr().makeModulePipe("p3tinydisplay")
    properties = FrameBufferProperties()
    properties.setRgbColor(True)
    properties.setRgbaBits(8, 8, 8, 0)
    properties.setDepthBits(24)
    size = WindowProperties.size(width, height)
    buffer = engine.makeOutput(pipe, "clip", 0, properties, size, GraphicsPipe.BFRefuseWindow)
    if buffer is None:
        raise RuntimeError("Panda3D's software renderer gave no off-screen buffer")
    target = Texture()
    buffer.addRenderTexture(target, GraphicsOutput.RTMCopyRam)
    return buffer, target


def _camera(root: NodePath, look: Look, picture: Picture) -> NodePath:
    lens = PerspectiveLens()
    lens.setFov(look.mount.hfov, vertical_fov(look.mount.hfov, picture.width, picture.height))
    lens.setNearFar(0.3, VIEW * 1.6)
    camera = Camera("camera")
    camera.setLens(lens)
    return root.attachNewNode(camera)


def _lights(root: NodePath, look: Look) -> None:
    ambient, sun = LEVELS[look.light]
    low = AmbientLight("ambient")
    low.setColor((ambient, ambient, ambient, 1))
    root.setLight(root.attachNewNode(low))
    high = DirectionalLight("sun")
    high.setColor((sun, sun * 0.98, sun * 0.94, 1))
    node = root.attachNewNode(high)
    node.setHpr(look.sun[0], -look.sun[1], 0)
    root.setLight(node)


def _sky(root: NodePath, look: Look, seed: str) -> NodePath:
    mesh, radius, top = Mesh(), VIEW * 1.3, 620.0
    for k in range(24):
        a, b = (math.radians(-180 + 15 * (k + j)) for j in (0, 1))
        quad = [(radius * math.sin(a), radius * math.cos(a)), (radius * math.sin(b), radius * math.cos(b))]
        points = [(*quad[0], -1.0), (*quad[1], -1.0), (*quad[1], top), (*quad[0], top)]
        u0, u1 = k / 8, (k + 1) / 8
        mesh.polygon(points, (1, 1, 1, 1), [(u0, 0), (u1, 0), (u1, 1), (u0, 1)])
    node = mesh.node("sky")
    node.setTexture(textures.texture(textures.sky(generator(seed, "sky"), look)))
    node.setLightOff()
    node.setTwoSided(True)
    node.setBin("background", 0)
    node.setDepthWrite(False)
    node.setDepthTest(False)
    node.reparentTo(root)
    return node


def _haze(root: NodePath, look: Look, horizon: Rgb) -> NodePath:
    """Thin veils that stand on the ground at several distances: the software renderer has no fog."""
    veils = root.attachNewNode("haze")
    colour = tuple(part / 255 for part in horizon)
    full, none = rgba(colour, 1, HAZE[look.weather]), rgba(colour, 1, 0.0)
    for distance in HAZE_AT:
        mesh, wide = Mesh(), distance * 2.2
        mid, top = 7.0 + distance * 0.02, 20.0 + distance * 0.12
        for z0, z1, c0, c1 in ((0.0, mid, full, full), (mid, top, full, none)):
            points = [(-wide, distance, z0), (wide, distance, z0), (wide, distance, z1), (-wide, distance, z1)]
            mesh.shaded(points, [(0, -1, 0)] * 4, [c0, c0, c1, c1], UNIT)
        node = mesh.node("veil")
        node.setTransparency(TransparencyAttrib.MAlpha)
        node.setLightOff()
        node.setDepthWrite(False)
        node.setBin("fixed", int(1000 - distance))
        node.reparentTo(veils)
    return veils


def _hood(camera: NodePath, look: Look) -> None:
    """The ego's bonnet at the lower edge of the picture: fixed to the camera, as both are to the car."""
    mesh, drop = Mesh(), -0.7 - (look.mount.height - 1.15) * 0.5
    paint = tuple(0.07 + 0.9 * part for part in look.ego_paint)
    level = 0.9 if look.light not in ("dusk", "night") else 0.5
    ridge = [
        (x, 1.6 - 0.28 * abs(x) ** 2, drop - 0.1 * abs(x) ** 3) for x in (-0.8, -0.55, -0.25, 0.0, 0.25, 0.55, 0.8)
    ]
    for (x0, y0, z0), (x1, y1, z1) in itertools.pairwise(ridge):
        far, near = rgba(paint, level * (1.15 - 0.5 * abs(x0 + x1) / 2)), rgba(paint, level * 0.6)
        points = [(x0 * 1.05, 0.5, z0 + 0.02), (x1 * 1.05, 0.5, z1 + 0.02), (x1, y1, z1), (x0, y0, z0)]
        mesh.shaded(points, [(0, 0, 1)] * 4, [near, near, far, far], UNIT)
    node = mesh.node("hood")
    node.setP(-look.mount.pitch)
    node.setLightOff()
    node.setTwoSided(True)
    node.setDepthTest(False)
    node.setDepthWrite(False)
    node.setBin("fixed", 2000)
    node.reparentTo(camera)
