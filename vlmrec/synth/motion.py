"""Simple vehicle motion: speed phases along the road, smooth moves across it, contact and what follows.

Pure. Times are sampled every ``STEP`` seconds; contact is the first sample at which the outlines of
two vehicles overlap.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import msgspec
import numpy as np

from vlmrec.errors import InputError
from vlmrec.synth.world import Body, Floats, Track

STEP = 1 / 60


class Phase(NamedTuple):
    """A constant acceleration (m/s²) from ``start`` to ``end``. Speed never falls below 0."""

    start: float
    end: float
    accel: float


class Move(NamedTuple):
    """A smooth move across the road by ``shift`` metres, to the right when positive."""

    start: float
    duration: float
    shift: float


def drive(
    duration: float, *, s: float, d: float, speed: float, phases: Sequence[Phase] = (), moves: Sequence[Move] = ()
) -> Track:
    """The track of a vehicle that starts at ``(s, d)``."""
    t = np.arange(0, duration + STEP * 1.5, STEP)
    wanted = np.zeros_like(t)
    for phase in phases:
        wanted[(t >= phase.start) & (t < phase.end)] += phase.accel
    v = np.empty_like(t)
    v[0] = speed
    for i in range(1, len(t)):
        v[i] = max(0.0, v[i - 1] + wanted[i - 1] * STEP)
    across = np.full_like(t, d)
    for move in moves:
        across += move.shift * _ease((t - move.start) / move.duration)
    return _track(t, s + _integral(v), across, v)


def shifted(track: Track, *, s: float = 0.0, d: float = 0.0) -> Track:
    """The same motion begun elsewhere."""
    return msgspec.structs.replace(track, s=track.s + s, d=track.d + d)


def reversed_way(track: Track) -> Track:
    """The same motion run in the other direction: a vehicle that comes towards the ego."""
    return msgspec.structs.replace(track, s=2 * track.s[0] - track.s, yaw=np.pi - track.yaw)


def after_impact(
    track: Track,
    contact: float,
    *,
    kick: float = 0.0,
    decel: float = 5.0,
    push: float = 0.0,
    turn: float = 0.0,
    settle: float = 0.45,
) -> Track:
    """``track`` with its part after ``contact`` replaced.

    The speed jumps by ``kick`` and then falls by ``decel``; the vehicle is pushed ``push`` metres to the
    right and turned by ``turn`` radians, both with the time constant ``settle``, while the cross speed it had dies out.
    """
    i = int(np.searchsorted(track.t, contact))
    tau = track.t[i:] - track.t[i]
    v = np.concatenate([track.speed[:i], np.maximum(0.0, track.speed[i] + kick - decel * tau)])
    drift = float(np.gradient(track.d, STEP)[max(i - 1, 0)])
    rolling = np.clip(v[i:] / max(v[i], 1.0), 0, 1) if v[i] > 0.5 else np.zeros_like(tau)
    settled = 1 - np.exp(-tau / settle)
    across = track.d[i] + (push * settled) + _integral(drift * np.exp(-tau / 0.25) * rolling)
    s = np.concatenate([track.s[:i], track.s[i] + _integral(v[i:])])
    yaw = np.concatenate([track.yaw[:i], track.yaw[i] * np.exp(-tau / 0.8) + turn * settled])
    return Track(t=track.t, s=s, d=np.concatenate([track.d[:i], across]), yaw=yaw, speed=v, accel=np.gradient(v, STEP))


def first_contact(a: Track, a_body: Body, b: Track, b_body: Body) -> float | None:
    """When the outlines of two vehicles first overlap, or None."""
    return _first(separation(a, a_body, b, b_body) < 0, a.t)


def separation(a: Track, a_body: Body, b: Track, b_body: Body) -> Floats:
    """The gap between two outlines at each sample along the best separating axis; negative is overlap depth."""
    gaps = [_gap_on_axis(axis, a, a_body, b, b_body) for axis in (a.yaw, a.yaw + np.pi / 2, b.yaw, b.yaw + np.pi / 2)]
    result: Floats = np.max(np.stack(gaps), axis=0)
    return result


class Timed(NamedTuple):
    """Two tracks that touch when they should, and the shift that brought it about."""

    tracks: tuple[Track, Track]
    shift: float


def timed(make: Callable[[float], tuple[Track, Track]], bodies: tuple[Body, Body], wanted: float) -> Timed:
    """Two tracks whose first contact is at ``wanted``, found by shifting ``make``'s argument in time.

    ``make(x)`` must move the contact by about as much as ``x`` changes. Raises InputError where it can't be done,
    which only values given by hand bring about.
    """
    x, found = 0.0, None
    for _ in range(60):
        a, b = make(x)
        found = first_contact(a, bodies[0], b, bodies[1])
        if found is not None and abs(found - wanted) <= STEP:
            return Timed((a, b), x)
        x += 0.6 * (wanted - found) if found is not None else -0.25
    raise InputError(f"with these values no contact at {wanted:.2f} s can be arranged; stay nearer to what is drawn")


def _track(t: Floats, s: Floats, d: Floats, v: Floats) -> Track:
    yaw = np.arctan2(np.gradient(d, STEP), np.maximum(v, 3.0))
    return Track(t=t, s=s, d=d, yaw=yaw, speed=v, accel=np.gradient(v, STEP))


def _integral(v: Floats) -> Floats:
    return np.concatenate([[0.0], np.cumsum((v[1:] + v[:-1]) / 2) * STEP])


def _ease(x: Floats) -> Floats:
    x = np.clip(x, 0.0, 1.0)
    result: Floats = x * x * x * (x * (x * 6 - 15) + 10)
    return result


def _gap_on_axis(axis: Floats, a: Track, a_body: Body, b: Track, b_body: Body) -> Floats:
    along, across = np.cos(axis), np.sin(axis)
    between = np.abs((b.s - a.s) * along + (b.d - a.d) * across)
    result: Floats = between - _reach(axis - a.yaw, a_body) - _reach(axis - b.yaw, b_body)
    return result


def _reach(angle: Floats, body: Body) -> Floats:
    result: Floats = np.abs(np.cos(angle)) * body.length / 2 + np.abs(np.sin(angle)) * body.width / 2
    return result


def _first(mask: np.ndarray, t: Floats) -> float | None:
    hits = np.flatnonzero(mask)
    return float(t[hits[0]]) if len(hits) else None
