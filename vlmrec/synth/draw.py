"""Seeded draws with names, so that one of them can be fixed while all others stay as they were.

Each draw consumes its random numbers whether or not it is overridden: ``--vary lane_change_s=4,1``
changes the lane change and nothing else of the clip.
"""

import hashlib
from collections.abc import Mapping, Sequence
from typing import TypeVar

import numpy as np

from vlmrec.errors import InputError

T = TypeVar("T")
ALLOWED: dict[str, tuple[float, float]] = {
    "bend": (-15, 15),
    "camera_pitch": (-12, 4),
    "closing_ms": (1.5, 10),
    "contact_share": (0.35, 0.85),
    "crf": (0, 45),
    "grain": (0, 20),
    "hfov": (45, 125),
    "lane_width": (2.8, 4.2),
    "speed_kmh": (20, 110),
    "traffic": (0, 2),
    "vibration": (0, 1),
}
"""What may be asked for where twice the drawn range is no good guide."""


def generator(*key: int | str) -> np.random.Generator:
    """A generator of its own for each key: streams drawn for different purposes never touch."""
    digest = hashlib.sha256("\x1f".join(str(part) for part in key).encode()).digest()
    return np.random.default_rng(int.from_bytes(digest[:16], "big"))


class Draw:
    """Named draws from one generator. ``used`` tells afterwards what was drawn."""

    def __init__(self, rng: np.random.Generator, fixed: Mapping[str, str] | None = None) -> None:
        self._rng = rng
        self._fixed = dict(fixed or {})
        self.used: dict[str, float | str] = {}

    def real(self, name: str, low: float, high: float) -> float:
        """A number between ``low`` and ``high``, or the one fixed under ``name``, which may lie somewhat outside."""
        drawn = float(self._rng.uniform(low, high))
        if name in self._fixed:
            least, most = ALLOWED.get(name, (low / 2 if low > 0 else 2 * low - high, high + 1.5 * (high - low)))
            drawn = self._number(name)
            if not least - 1e-6 <= drawn <= most + 1e-6:
                raise InputError(f"--vary {name}={self._fixed[name]}: expected {least:g} to {most:g}")
        self.used[name] = round(drawn, 4)
        return drawn

    def pick(self, name: str, options: Sequence[T], weights: Sequence[float] | None = None) -> T:
        """One of ``options``, or the one whose text is fixed under ``name``."""
        share = None if weights is None else np.asarray(weights, dtype=float) / float(sum(weights))
        drawn = options[int(self._rng.choice(len(options), p=share))]
        if name in self._fixed:
            named = {str(option): option for option in options}
            if self._fixed[name] not in named:
                raise InputError(f"--vary {name}={self._fixed[name]}: expected one of {', '.join(named)}")
            drawn = named[self._fixed[name]]
        self.used[name] = str(drawn)
        return drawn

    def chance(self, name: str, probability: float) -> bool:
        """True with ``probability``, or as fixed (``yes`` or ``no``)."""
        drawn = bool(self._rng.uniform() < probability)
        if name in self._fixed:
            drawn = {"yes": True, "no": False}.get(self._fixed[name], drawn)
            if self._fixed[name] not in ("yes", "no"):
                raise InputError(f"--vary {name}={self._fixed[name]}: expected yes or no")
        self.used[name] = "yes" if drawn else "no"
        return drawn

    def noise(self, low: float, high: float) -> float:
        """An unnamed number, for what nobody would want to vary."""
        return float(self._rng.uniform(low, high))

    def _number(self, name: str) -> float:
        try:
            return float(self._fixed[name])
        except ValueError:
            raise InputError(f"--vary {name}={self._fixed[name]}: expected a number") from None
