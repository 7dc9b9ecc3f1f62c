"""Draws a scene with Panda3D's software renderer: no display, no graphics card, one thread.

Panda3D keeps its engine in process-wide state, so ``make`` runs this in a process of its own.
"""

import math
from collections.abc import Iterator
from typing import NamedTuple

import cv2
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

from vlmrec.synth import bodies, textures
from vlmrec.synth.camera import CameraPath, vertical_fov
from vlmrec.synth.draw import generator
from vlmrec.synth.look import Look, Rgb
from vlmrec.synth.mesh import UNIT, Mesh, rgba
from vlmrec.synth.picture import Finish
from vlmrec.synth.roadmesh import build_road
from vlmrec.synth.roadside import build_roadside
from vlmrec.synth.world import Item, Road, Scene, Vehicle

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
    "day": (0.58, 0.62),
    "overcast": (0.82, 0.22),
    "low_sun": (0.52, 0.66),
    "dusk": (0.62, 0.14),
    "night": (0.42, 0.06),
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
            _Actor(self._root, scene.road, vehicle, look.paints[index], look, self._shadow, self._glow)
            for index, vehicle in enumerate(scene.vehicles)
        ]
        self._items = [(item, _item_node(self._root, item)) for item in scene.items]
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
            _place_item(node, item, self._scene.road, time)
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
    mesh, drop = Mesh(), -0.46 - (look.mount.height - 1.15) * 0.35
    paint = rgba(look.ego_paint, 0.75 if look.light != "night" else 0.4)
    ridge = [
        (x, 1.55 - 0.28 * abs(x) ** 2, drop - 0.1 * abs(x) ** 3) for x in (-0.8, -0.55, -0.25, 0.0, 0.25, 0.55, 0.8)
    ]
    for (x0, y0, z0), (x1, y1, z1) in zip(ridge, ridge[1:], strict=False):
        near = [(x0 * 1.05, 0.5, z0 + 0.02), (x1 * 1.05, 0.5, z1 + 0.02)]
        mesh.polygon([near[0], near[1], (x1, y1, z1), (x0, y0, z0)], paint)
    node = mesh.node("hood")
    node.setP(-look.mount.pitch)
    node.setTwoSided(True)
    node.setDepthTest(False)
    node.setDepthWrite(False)
    node.setBin("fixed", 2000)
    node.reparentTo(camera)


class _Actor:
    """A vehicle in the scene graph, with its shadow and lamps."""

    def __init__(
        self, root: NodePath, road: Road, vehicle: Vehicle, paint: Rgb, look: Look, shadow: Texture, glow: Texture
    ) -> None:
        self._road, self._vehicle, self._dark = road, vehicle, look.light in ("dusk", "night")
        self._built = bodies.build(vehicle.body, paint)
        self._built.node.reparentTo(root)
        self._shadow = root.attachNewNode("shadow")
        _ground_shadow(self._shadow, vehicle, look, shadow)
        if self._dark:
            self._built.night.show()
        if look.light == "night":
            _halo(self._built.node, vehicle, glow)

    def place(self, time: float) -> None:
        pose = self._vehicle.track.at(time)
        heading = math.atan(self._road.slope(pose.s)) + pose.yaw
        x, y = self._road.place(pose.s, pose.d)
        self._built.node.setPosHpr(x, y, 0, -math.degrees(heading), 0.35 * max(-6.0, min(4.0, pose.accel)), 0)
        self._shadow.setPosHpr(x, y, 0, -math.degrees(heading), 0, 0)
        rolled = math.degrees((pose.s - self._vehicle.track.s[0]) / self._built.wheel_radius)
        for wheel in self._built.wheels:
            wheel.setP(-rolled % 360)
        _show(self._built.brake, pose.accel < -1.0 or (pose.speed < 0.3 and _was_braking(self._vehicle, time)))
        blink = int(time * 3) % 2 == 0
        lamps = self._vehicle.lamps
        _show(self._built.left, blink and _lit((*lamps.left, *lamps.hazard), time))
        _show(self._built.right, blink and _lit((*lamps.right, *lamps.hazard), time))


def _show(node: NodePath, wanted: bool) -> None:
    node.show() if wanted else node.hide()


def _lit(spans: tuple[tuple[float, float], ...], time: float) -> bool:
    return any(start <= time < end for start, end in spans)


def _was_braking(vehicle: Vehicle, time: float) -> bool:
    """A car that braked to a halt keeps its foot on the pedal; one that was parked all along does not."""
    return bool(np.any(vehicle.track.speed[vehicle.track.t <= time] > 0.5))


def _ground_shadow(node: NodePath, vehicle: Vehicle, look: Look, soft: Texture) -> None:
    half_w, half_l = vehicle.body.width / 2 * 1.35, vehicle.body.length / 2 * 1.22
    mesh = Mesh()
    mesh.polygon(
        [(-half_w, -half_l, 0.0), (half_w, -half_l, 0.0), (half_w, half_l, 0.0), (-half_w, half_l, 0.0)],
        (1, 1, 1, 1),
        UNIT,
    )
    under = mesh.node("under")
    under.setTexture(soft)
    parts = [under]
    if look.light in ("day", "low_sun") and look.weather == "dry":
        parts.append(_cast_shadow(vehicle, look))
    for part in parts:
        part.setTransparency(TransparencyAttrib.MAlpha)
        part.setLightOff()
        part.setDepthTest(False)
        part.setDepthWrite(False)
        part.setBin("background", 5)
        part.reparentTo(node)


def _cast_shadow(vehicle: Vehicle, look: Look) -> NodePath:
    """The outline that the sun throws on the road."""
    away = math.radians(-look.sun[0])
    reach = min(3.2, 0.82 * vehicle.body.height / math.tan(math.radians(look.sun[1])))
    dx, dy = math.sin(away) * reach, math.cos(away) * reach
    half_w, half_l = vehicle.body.width / 2 * 0.97, vehicle.body.length / 2 * 0.97
    base = [(u * half_w, v * half_l) for u in (-1, 1) for v in (-1, 1)]
    roof = [(x * 0.85 + dx, y * 0.7 + dy) for x, y in base]
    hull = cv2.convexHull(np.array(base + roof, np.float32))[:, 0, :]
    mesh = Mesh()
    mesh.polygon([(float(x), float(y), 0.0) for x, y in hull], (0, 0, 0, 0.42))
    node = mesh.node("cast")
    node.setTwoSided(True)
    return node


def _halo(root: NodePath, vehicle: Vehicle, glow: Texture) -> None:
    half, back = vehicle.body.width / 2, vehicle.body.length / 2
    for y, colour, size in ((-back - 0.1, (1, 0.15, 0.1, 0.7), 0.35), (back + 0.1, (1, 0.98, 0.9, 0.9), 0.7)):
        for x in (-half * 0.78, half * 0.78):
            mesh = Mesh()
            mesh.polygon([(-size, 0, -size), (size, 0, -size), (size, 0, size), (-size, 0, size)], colour, UNIT)
            node = mesh.node("halo")
            node.setTexture(glow)
            node.setTransparency(TransparencyAttrib.MAlpha)
            node.setLightOff()
            node.setDepthWrite(False)
            node.setTwoSided(True)
            node.setPos(x, y, 0.78)
            node.reparentTo(root)


def _item_node(root: NodePath, item: Item) -> NodePath:
    width, length, height = item.size
    mesh = Mesh()
    mesh.box((-width / 2, -length / 2, 0), (width / 2, length / 2, height), rgba((0.62, 0.47, 0.3)))
    mesh.polygon(
        [
            (-width / 2, -length / 2 - 0.01, height * 0.42),
            (width / 2, -length / 2 - 0.01, height * 0.42),
            (width / 2, -length / 2 - 0.01, height * 0.58),
            (-width / 2, -length / 2 - 0.01, height * 0.58),
        ],
        rgba((0.8, 0.72, 0.55)),
    )
    node = mesh.node("item")
    node.setTwoSided(True)
    node.reparentTo(root)
    return node


def _place_item(node: NodePath, item: Item, road: Road, time: float) -> None:
    s, d, z, tumble = (float(np.interp(time, item.t, column)) for column in (item.s, item.d, item.z, item.tumble))
    x, y = road.place(s, d)
    node.setPosHpr(x, y, z, -math.degrees(math.atan(road.slope(s))), math.degrees(tumble), 0)
