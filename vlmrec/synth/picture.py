"""What lies between the rendered frame and the file: light level, headlamps, rain, lens, sensor grain. Pure."""

import cv2
import numpy as np
from numpy.typing import NDArray

from vlmrec.synth.look import Look

Image = NDArray[np.uint8]
TINTS = {  # blue, green, red
    "day": (1.0, 1.0, 1.0),
    "overcast": (0.97, 0.95, 0.93),
    "low_sun": (0.86, 0.97, 1.08),
    "dusk": (0.84, 0.72, 0.70),
    "night": (0.66, 0.66, 0.70),
}


class Finish:
    """Turns a rendered frame into what the camera would have stored. Keeps its noise for speed."""

    def __init__(self, look: Look, width: int, height: int, rng: np.random.Generator) -> None:
        self._look, self._size = look, (width, height)
        self._gain = _gain_map(look, width, height)
        grain = look.grain * (1.8 if look.light in ("dusk", "night") else 1.0) * width / 1280
        self._grain = [rng.normal(0, max(grain, 0.3), (height + 16, width + 16, 1)).astype(np.int16) for _ in range(3)]
        self._rng = rng

    def __call__(self, frame: Image) -> Image:
        """``frame`` is BGR at any size; the result has the clip's size."""
        image = frame
        if (frame.shape[1], frame.shape[0]) != self._size:
            image = np.asarray(cv2.resize(frame, self._size, interpolation=cv2.INTER_AREA), np.uint8)
        image = np.asarray(cv2.multiply(image, self._gain, scale=1 / 128), np.uint8)
        if self._look.weather == "rain":
            image = self._rain(image)
        which, dx, dy = int(self._rng.integers(3)), int(self._rng.integers(16)), int(self._rng.integers(16))
        width, height = self._size
        noise = self._grain[which][dy : dy + height, dx : dx + width]
        result: Image = np.clip(image.astype(np.int16) + noise, 0, 255).astype(np.uint8)
        return result

    def _rain(self, image: Image) -> Image:
        width, height = self._size
        layer = np.zeros((height, width), np.uint8)
        for _ in range(90):
            x, y = int(self._rng.integers(width)), int(self._rng.integers(height))
            reach = int(self._rng.integers(8, 30) * height / 720)
            lean = int((x - width / 2) / width * reach)
            cv2.line(layer, (x, y), (x + lean, y + reach), int(self._rng.integers(30, 80)), 1, cv2.LINE_AA)
        return np.asarray(cv2.add(image, cv2.merge([layer, layer, layer])), np.uint8)


def _gain_map(look: Look, width: int, height: int) -> Image:
    """Light level, tint, vignette and, at night, the beam; 128 is neutral."""
    y, x = np.mgrid[0:height, 0:width].astype(np.float32)
    u, v = (x / width - 0.5) * 2, (y / height - 0.5) * 2
    level = 1.0 - 0.16 * (u * u + v * v) / 2
    if look.light in ("dusk", "night"):
        beam = np.exp(-((u / 0.85) ** 2) - ((v - 0.42) / 0.42) ** 2)
        level = level * (0.8 + 0.45 * beam) if look.light == "dusk" else level * (0.8 + 1.3 * beam)
    if look.weather == "rain":
        level = level * 0.9
    tint = np.array(TINTS[look.light], np.float32) * look.gain
    return np.asarray(np.clip(level[..., None] * tint * 128, 0, 255), np.uint8)
