"""Small textures made from seeded noise: asphalt, paving, grass, walls, foliage, clouds."""

import cv2
import numpy as np
from numpy.typing import NDArray
from panda3d.core import SamplerState, Texture

from vlmrec.synth.look import Look

Image = NDArray[np.uint8]


def asphalt(rng: np.random.Generator, brightness: float, wear: float) -> Image:
    """Fine grain, patches and a few cracks; repeats in both directions."""
    size = 512
    base = np.full((size, size), brightness * 255)
    base += _tiled_noise(rng, size, 1) * 9 + _tiled_noise(rng, size, 24) * 7 + _tiled_noise(rng, size, 90) * 9
    cracks = np.zeros((size, size), np.uint8)
    for _ in range(int(3 + wear * 14)):
        x, y = rng.uniform(60, size - 60, 2)
        points = np.cumsum(rng.normal(0, 9, (12, 2)), axis=0) + np.array([x, y])
        cv2.polylines(cracks, [np.clip(points, 2, size - 3).astype(np.int32)], False, 255, 1, cv2.LINE_AA)
    base -= cracks / 255 * 28
    return _grey(base, tint=(1.0, 1.0, 1.02))


def paving(rng: np.random.Generator) -> Image:
    """Concrete slabs."""
    base = 150 + _tiled_noise(rng, 256, 1) * 8 + _tiled_noise(rng, 256, 40) * 10
    base[::64, :] -= 45
    base[:, ::64] -= 45
    return _grey(base, tint=(1.0, 0.98, 0.94))


def ground(rng: np.random.Generator, green: float) -> Image:
    """Grass that turns to bare earth as ``green`` falls from 1 to 0."""
    noise = _tiled_noise(rng, 256, 2) * 14 + _tiled_noise(rng, 256, 20) * 16 + _tiled_noise(rng, 256, 70) * 14
    grass, earth = np.array([78, 104, 52.0]), np.array([126, 112, 88.0])
    colour = grass * green + earth * (1 - green)
    return np.clip(colour + noise[..., None], 0, 255).astype(np.uint8)


def facade(rng: np.random.Generator) -> Image:
    """A wall with rows of windows, to be repeated every storey."""
    wall = rng.uniform(95, 205) * np.array([1.0, rng.uniform(0.9, 1.0), rng.uniform(0.8, 1.0)])
    image = np.clip(wall + (_tiled_noise(rng, 128, 3) * 5)[..., None], 0, 255).astype(np.uint8)
    for left in (12, 76):
        glass = rng.uniform(40, 110) * np.array([0.85, 0.95, 1.1])
        cv2.rectangle(image, (left - 3, 30), (left + 43, 98), (wall * 0.75).tolist(), -1)
        cv2.rectangle(image, (left, 33), (left + 40, 95), glass.tolist(), -1)
        cv2.line(image, (left + 20, 33), (left + 20, 95), (wall * 0.85).tolist(), 2)
    return image


def tree(rng: np.random.Generator) -> Image:
    """A trunk and a crown of blobs, with alpha."""
    image = np.zeros((256, 128, 4), np.uint8)
    cv2.rectangle(image, (59, 150), (68, 255), (70, 55, 42, 255), -1)
    hue = rng.uniform(0.75, 1.2)
    for _ in range(150):
        angle, spread = rng.uniform(0, 2 * np.pi), np.sqrt(rng.uniform(0, 1))
        x, y = 64 + 46 * spread * np.cos(angle), 88 + 70 * spread * np.sin(angle)
        shade = (0.55 + 0.5 * (1 - (y - 10) / 160)) * rng.uniform(0.75, 1.1)
        colour = tuple(int(min(255, part * shade * hue)) for part in (72, 104, 48))
        cv2.circle(image, (int(x), int(y)), int(rng.uniform(6, 14)), (*colour, 255), -1)
    return image


def sky(rng: np.random.Generator, look: Look) -> Image:
    """The view from the zenith (top row) to the horizon (bottom row), with far hills or a skyline."""
    width, height = 1024, 512
    zenith, horizon = SKIES[look.light]
    mix = (np.linspace(0, 1, height) ** 1.6)[:, None, None]
    image = np.array(zenith) * (1 - mix) + np.array(horizon) * mix
    image = np.repeat(image, width, axis=1)
    clouds = sum(
        _tiled_noise(rng, width, scale)[:height] * weight for scale, weight in ((30, 0.5), (80, 0.8), (200, 1.0))
    )
    cover = np.clip((clouds - (0.1 if look.light == "overcast" else 0.9)) * 0.6, 0, 0.8)[..., None] * (1 - mix * 0.7)
    image = image * (1 - cover) + np.array(horizon) * 1.06 * cover
    far = np.clip(np.array(horizon) * 0.72, 0, 255)
    ridge = (
        26
        + 15 * np.sin(np.arange(width) / width * 2 * np.pi * 3 + rng.uniform(0, 6))
        + _tiled_noise(rng, width, 60)[0] * 6
    )
    if look.roadside == "city":
        steps = np.repeat(rng.uniform(8, 52, width // 16), 16)
        ridge = np.maximum(ridge * 0.5, steps)
    rows = np.arange(height)[:, None]
    image = np.where((rows > height - ridge[None, :])[..., None], far, image)
    return np.clip(image, 0, 255).astype(np.uint8)


SKIES: dict[str, tuple[tuple[float, float, float], tuple[float, float, float]]] = {
    "day": ((96, 146, 214), (206, 220, 234)),
    "overcast": ((164, 170, 178), (206, 209, 212)),
    "low_sun": ((112, 140, 190), (244, 214, 170)),
    "dusk": ((58, 66, 104), (176, 132, 118)),
    "night": ((10, 12, 22), (44, 44, 54)),
}


def glow() -> Image:
    """A soft white disc with alpha."""
    y, x = np.mgrid[-1:1:64j, -1:1:64j]
    alpha = np.clip(1 - np.hypot(x, y), 0, 1) ** 2 * 255
    image = np.full((64, 64, 4), 255, np.uint8)
    image[..., 3] = alpha
    return image


def soft_shadow() -> Image:
    """A dark rectangle with soft edges, as alpha."""
    mask = np.zeros((128, 128), np.float32)
    mask[20:108, 20:108] = 190
    image = np.zeros((128, 128, 4), np.uint8)
    image[..., 3] = cv2.GaussianBlur(mask, (0, 0), 9)
    return image


def texture(image: Image, *, repeat: bool = True) -> Texture:
    """A Panda3D texture of an RGB or RGBA image whose first row is the top."""
    height, width, parts = image.shape
    made = Texture()
    made.setup2dTexture(width, height, Texture.TUnsignedByte, Texture.FRgb if parts == 3 else Texture.FRgba)
    swapped = image[::-1, :, ::-1] if parts == 3 else image[::-1][:, :, [2, 1, 0, 3]]
    made.setRamImage(np.ascontiguousarray(swapped).tobytes())
    made.setMinfilter(SamplerState.FT_linear_mipmap_linear)
    made.setMagfilter(SamplerState.FT_linear)
    wrap = SamplerState.WM_repeat if repeat else SamplerState.WM_clamp
    made.setWrapU(wrap)
    made.setWrapV(wrap)
    return made


def _tiled_noise(rng: np.random.Generator, size: int, scale: int) -> NDArray[np.float64]:
    """Noise of unit deviation with blobs of about ``scale`` pixels, repeating in both directions."""
    if scale <= 1:
        return rng.normal(0, 1, (size, size))
    cells = max(3, round(2 * size / scale))
    coarse = np.pad(rng.normal(0, 1, (cells, cells)), 2, mode="wrap")
    step = size / cells
    fine = cv2.resize(coarse, None, fx=step, fy=step, interpolation=cv2.INTER_CUBIC)
    edge = round(2 * step)
    cut = fine[edge : edge + size, edge : edge + size]
    return np.asarray(cut / (cut.std() or 1.0), np.float64)


def _grey(values: NDArray[np.float64], tint: tuple[float, float, float]) -> Image:
    return np.asarray(np.clip(values[..., None] * np.array(tint), 0, 255), np.uint8)
