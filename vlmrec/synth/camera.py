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
    h, p, r = (math.radians(angle) for angle in (view.heading, view.pitch, view.roll))
    turn_z = np.array([[math.cos(h), -math.sin(h), 0], [math.sin(h), math.cos(h), 0], [0, 0, 1]])
    turn_x = np.array([[1, 0, 0], [0, math.cos(p), -math.sin(p)], [0, math.sin(p), math.cos(p)]])
    turn_y = np.array([[math.cos(r), 0, math.sin(r)], [0, 1, 0], [-math.sin(r), 0, math.cos(r)]])
    seen = (points - np.array([view.x, view.y, view.z])) @ (turn_z @ turn_x @ turn_y)
    depth = np.maximum(seen[:, 1], 1e-6)
    reach = math.tan(math.radians(hfov) / 2)
    result: Floats = np.stack(
        [0.5 + seen[:, 0] / (2 * reach * depth), 0.5 - seen[:, 2] * aspect / (2 * reach * depth), seen[:, 1]], axis=1
    )
    return result


def outline(road: Road, body: Body, pose: Pose) -> Floats:
    """Points along the edges of a vehicle's box, in the world."""
    heading = math.atan(road.slope(pose.s)) + pose.yaw
    x, y = road.place(pose.s, pose.d)
    right, ahead = _EDGES[:, 0] * body.width / 2, _EDGES[:, 1] * body.length / 2
    up = SILL + _EDGES[:, 2] * (body.height - SILL)
    sin, cos = math.sin(heading), math.cos(heading)
    return np.stack([x + right * cos + ahead * sin, y + ahead * cos - right * sin, up], axis=1)


def _edges(samples: int) -> Floats:
    """Points along the twelve edges of a box: x and y from -1 to 1, z from 0 to 1."""
    run, ends, rise = np.linspace(-1, 1, samples), (-1.0, 1.0), np.linspace(0, 1, samples)
    along = [(u, v, z) for u in ends for v in run for z in (0.0, 1.0)]
    across = [(u, v, z) for u in run for v in ends for z in (0.0, 1.0)]
    upright = [(u, v, z) for u in ends for v in ends for z in rise]
    return np.array([*along, *across, *upright], dtype=np.float64)


SILL = 0.15
_EDGES = _edges(7)


def box_of(points: Floats, view: View, hfov: float, aspect: float) -> Box | None:
    """The rectangle that holds the projected points, cut to the picture; None if nothing is in it."""
    seen = project(points, view, hfov, aspect)
    seen = seen[seen[:, 2] > NEAR]
    if not len(seen):
        return None
    x0, y0 = seen[:, :2].min(axis=0)
    x1, y1 = seen[:, :2].max(axis=0)
    box = Box(max(0.0, float(x0)), max(0.0, float(y0)), min(1.0, float(x1)), min(1.0, float(y1)))
    return box if box.x1 > box.x0 and box.y1 > box.y0 else None


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
