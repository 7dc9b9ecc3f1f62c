"""The camera's path and projection, in plain numbers: the renderer and the boxes of Stage 0 share it."""

import math
from typing import NamedTuple

import numpy as np

from vlmrec.synth.look import Look
from vlmrec.synth.world import Body, Floats, Pose, Road, Scene

DIVE = 0.16
"""Degrees of pitch for each m/s² of acceleration: the nose dips when braking."""
NEAR = 0.35


class View(NamedTuple):
    """A camera at one moment: metres, and degrees in Panda3D's sense (heading to the left, pitch up, roll clockwise)."""

    x: float
    y: float
    z: float
    heading: float
    pitch: float
    roll: float


class Box(NamedTuple):
    """A rectangle in shares of the picture, y down, cut to the picture."""

    x0: float
    y0: float
    x1: float
    y1: float

    @property
    def area(self) -> float:
        return max(0.0, self.x1 - self.x0) * max(0.0, self.y1 - self.y0)


class CameraPath:
    """Where the camera is at any time: the ego's motion, its pitching, the road's vibration, the jolt of the contact."""

    def __init__(self, scene: Scene, look: Look, rng: np.random.Generator) -> None:
        self._scene, self._look = scene, look
        self._dive = _settle(scene.ego.track.accel, scene.ego.track.t)
        self._hum = [(rng.uniform(1.2, 9.0), rng.uniform(0, 6.3), rng.normal(0, 1)) for _ in range(6)]
        self._bob = [(rng.uniform(0.6, 4.0), rng.uniform(0, 6.3), rng.normal(0, 1)) for _ in range(4)]
        self._jolt = [(rng.uniform(6, 11), rng.uniform(0.9, 2.0) * rng.choice((-1, 1))) for _ in range(4)]

    def at(self, time: float) -> View:
        scene, mount = self._scene, self._look.mount
        pose = scene.ego.track.at(time)
        heading = math.atan(scene.road.slope(pose.s)) + pose.yaw
        x, y = scene.road.place(pose.s, pose.d)
        x += mount.ahead * math.sin(heading) + mount.right * math.cos(heading)
        y += mount.ahead * math.cos(heading) - mount.right * math.sin(heading)
        shake = self._look.vibration * min(1.5, pose.speed / 14)
        hum = shake * sum(w * math.sin(math.tau * f * time + p) for f, p, w in self._hum) / 2
        bob = shake * sum(w * math.sin(math.tau * f * time + p) for f, p, w in self._bob) / 2
        jolt = self._jolts(time)
        dive = DIVE * float(np.interp(time, scene.ego.track.t, self._dive))
        return View(
            x,
            y,
            mount.height + bob * 0.03 + jolt[3] * 0.02,
            -math.degrees(heading) - mount.yaw + jolt[1],
            mount.pitch + dive + hum + jolt[0],
            mount.roll + bob * 0.7 + jolt[2],
        )

    def _jolts(self, time: float) -> tuple[float, float, float, float]:
        contact = self._scene.contact
        if contact is None or time < contact:
            return (0.0, 0.0, 0.0, 0.0)
        tau = time - contact
        fade = math.exp(-tau / 0.28)
        a, b, c, d = (size * fade * math.sin(math.tau * f * tau) for f, size in self._jolt)
        return (a, b * 0.6, c * 0.8, d)


def vertical_fov(hfov: float, width: int, height: int) -> float:
    """Degrees."""
    return math.degrees(2 * math.atan(math.tan(math.radians(hfov) / 2) * height / width))


def project(points: Floats, view: View, hfov: float, aspect: float) -> Floats:
    """World points (n, 3) as (n, 3): x and y in shares of the picture, and the depth along the axis."""
    return _to_picture(_from_camera(points, view), hfov, aspect)


def outline(road: Road, body: Body, pose: Pose) -> Floats:
    """The eight corners of a vehicle's box, in the world; corner 4a + 2b + c has side a, end b, height c."""
    heading = math.atan(road.slope(pose.s)) + pose.yaw
    x, y = road.place(pose.s, pose.d)
    right, ahead = _CORNERS[:, 0] * body.width / 2, _CORNERS[:, 1] * body.length / 2
    up = SILL + _CORNERS[:, 2] * (body.height - SILL)
    sin, cos = math.sin(heading), math.cos(heading)
    return np.stack([x + right * cos + ahead * sin, y + ahead * cos - right * sin, up], axis=1)


def box_of(corners: Floats, view: View, hfov: float, aspect: float) -> Box | None:
    """The rectangle around the visible part of a solid with these eight corners; None if nothing of it is in the picture."""
    seen = _from_camera(corners, view)
    reach = math.tan(math.radians(hfov) / 2)
    inside = (seen[:, 1] > NEAR) & (np.abs(seen[:, 0]) <= reach * seen[:, 1])
    if not (inside & (np.abs(seen[:, 2]) <= reach / aspect * seen[:, 1])).all():
        seen = _cut(seen, reach, reach / aspect)
        if not len(seen):
            return None
    flat = np.clip(_to_picture(seen, hfov, aspect)[:, :2], 0.0, 1.0)
    (x0, y0), (x1, y1) = flat.min(axis=0).tolist(), flat.max(axis=0).tolist()
    return Box(x0, y0, x1, y1) if x1 > x0 and y1 > y0 else None


def _from_camera(points: Floats, view: View) -> Floats:
    """World points as the camera has them: right, depth, up."""
    h, p, r = (math.radians(angle) for angle in (view.heading, view.pitch, view.roll))
    turn_z = np.array([[math.cos(h), -math.sin(h), 0], [math.sin(h), math.cos(h), 0], [0, 0, 1]])
    turn_x = np.array([[1, 0, 0], [0, math.cos(p), -math.sin(p)], [0, math.sin(p), math.cos(p)]])
    turn_y = np.array([[math.cos(r), 0, math.sin(r)], [0, 1, 0], [-math.sin(r), 0, math.cos(r)]])
    seen: Floats = (points - np.array([view.x, view.y, view.z])) @ (turn_z @ turn_x @ turn_y)
    return seen


def _to_picture(seen: Floats, hfov: float, aspect: float) -> Floats:
    depth = np.maximum(seen[:, 1], 1e-6)
    reach = math.tan(math.radians(hfov) / 2)
    x, y = 0.5 + seen[:, 0] / (2 * reach * depth), 0.5 - seen[:, 2] * aspect / (2 * reach * depth)
    return np.stack([x, y, seen[:, 1]], axis=1)


def _cut(seen: Floats, wide: float, tall: float) -> Floats:
    """The corners of what is left of a box after cutting its faces to the camera's view."""
    planes = np.array([[0, 1, 0], [-1, wide, 0], [1, wide, 0], [0, tall, -1], [0, tall, 1]])
    limits = np.array([NEAR, 0, 0, 0, 0])
    left = []
    for face in _FACES:
        polygon = [seen[index] for index in face]
        for plane, limit in zip(planes, limits, strict=True):
            polygon = _cut_by(polygon, plane, float(limit))
        left += polygon
    return np.array(left, dtype=np.float64).reshape(-1, 3)


def _cut_by(polygon: list[Floats], plane: Floats, limit: float) -> list[Floats]:
    kept = []
    for a, b in zip(polygon, polygon[1:] + polygon[:1], strict=True):
        here, there = float(a @ plane) - limit, float(b @ plane) - limit
        if here >= 0:
            kept.append(a)
        if (here >= 0) != (there >= 0):
            kept.append(a + (b - a) * (here / (here - there)))
    return kept


SILL = 0.15
_CORNERS = np.array([(u, v, z) for u in (-1, 1) for v in (-1, 1) for z in (0, 1)], dtype=np.float64)
_FACES = ((0, 1, 3, 2), (4, 5, 7, 6), (0, 1, 5, 4), (2, 3, 7, 6), (0, 2, 6, 4), (1, 3, 7, 5))


def _settle(accel: Floats, t: Floats) -> Floats:
    """Acceleration as the springs pass it on: a damped second-order lag."""
    step, stiff, damp = float(t[1] - t[0]), 60.0, 9.0
    place = rate = 0.0
    out = np.empty_like(accel)
    for i, wanted in enumerate(np.clip(accel, -9, 5)):
        rate += (stiff * (wanted - place) - damp * rate) * step
        place += rate * step
        out[i] = place
    return out
