"""What moves in the scene graph: vehicles with shadows, lamps and wheels, and lost loads."""

import math

import cv2
import numpy as np
from panda3d.core import NodePath, Texture, TransparencyAttrib

from vlmrec.synth import bodies
from vlmrec.synth.look import Look, Rgb
from vlmrec.synth.mesh import UNIT, Mesh, rgba
from vlmrec.synth.world import Item, Road, Vehicle


class Actor:
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
        lamps = self._vehicle.lamps
        _show(self._built.brake, _brakes(self._vehicle, time))
        blink = int(time * 3) % 2 == 0
        _show(self._built.left, blink and _lit((*lamps.left, *lamps.hazard), time))
        _show(self._built.right, blink and _lit((*lamps.right, *lamps.hazard), time))


def _show(node: NodePath, wanted: bool) -> None:
    node.show() if wanted else node.hide()


def _lit(spans: tuple[tuple[float, float], ...], time: float) -> bool:
    return any(start <= time < end for start, end in spans)


def _brakes(vehicle: Vehicle, time: float) -> bool:
    """Whether the brake lamps are lit: while it slows down, and while it stands after having driven."""
    track = vehicle.track
    if _lit(vehicle.lamps.brake, time):
        return True
    lately = (track.t > time - 0.4) & (track.t <= time + 0.02)
    halted = track.at(time).speed < 0.3 and bool(np.any(track.speed[track.t <= time] > 0.5))
    return halted or bool(np.any(track.accel[lately] < -1.0))


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


def item_node(root: NodePath, item: Item) -> NodePath:
    """A crate with a strap around it."""
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


def place_item(node: NodePath, item: Item, road: Road, time: float) -> None:
    """Moves a crate to where it is at ``time``."""
    s, d, z, tumble = (float(np.interp(time, item.t, column)) for column in (item.s, item.d, item.z, item.tumble))
    x, y = road.place(s, d)
    node.setPosHpr(x, y, z, -math.degrees(math.atan(road.slope(s))), math.degrees(tumble), 0)
