"""How a scene looks: light, weather, colours, camera. Drawn from its own stream, blind to the scene's roles."""

from typing import Literal, get_args

from msgspec import Struct

from vlmrec.synth.draw import Draw

Light = Literal["day", "overcast", "low_sun", "dusk", "night"]
Weather = Literal["dry", "rain", "haze"]
Rgb = tuple[float, float, float]

PAINTS: tuple[Rgb, ...] = (
    (0.92, 0.92, 0.93),
    (0.78, 0.79, 0.81),
    (0.55, 0.57, 0.60),
    (0.30, 0.31, 0.33),
    (0.10, 0.10, 0.11),
    (0.13, 0.20, 0.42),
    (0.20, 0.38, 0.62),
    (0.55, 0.09, 0.10),
    (0.72, 0.16, 0.12),
    (0.16, 0.32, 0.22),
    (0.62, 0.52, 0.36),
    (0.86, 0.70, 0.20),
    (0.80, 0.42, 0.14),
    (0.42, 0.30, 0.24),
)


class Mount(Struct, frozen=True, kw_only=True):
    """The camera: metres above the road, ahead of and right of the vehicle's middle, angles in degrees."""

    height: float
    ahead: float
    right: float
    pitch: float
    yaw: float
    roll: float
    hfov: float


class Look(Struct, frozen=True, kw_only=True):
    """Everything that may change a picture without changing what happens in it."""

    light: Light
    weather: Weather
    sun: tuple[float, float]
    paints: tuple[Rgb, ...]
    ego_paint: Rgb
    hood: bool
    mount: Mount
    asphalt: float
    wear: float
    roadside: Literal["trees", "city", "mixed", "open"]
    roadside_seed: int
    grain: float
    gain: float
    vibration: float
    crf: int


def draw_look(draw: Draw, vehicles: int) -> Look:
    """A look for a scene with ``vehicles`` vehicles besides the ego."""
    light: Light = draw.pick("light", get_args(Light), (4, 3, 2, 1, 1))
    weather: Weather = draw.pick("weather", get_args(Weather), (6, 1, 1))
    mount = Mount(
        height=draw.real("camera_height", 1.15, 1.6),
        ahead=draw.noise(0.25, 0.6),
        right=draw.noise(-0.25, 0.1),
        pitch=draw.real("camera_pitch", -5.0, -1.0),
        yaw=draw.noise(-1.5, 1.5),
        roll=draw.noise(-0.6, 0.6),
        hfov=draw.real("hfov", 82.0, 108.0),
    )
    return Look(
        light=light,
        weather=weather,
        sun=(draw.noise(-170, 170), draw.noise(28, 65) if light != "low_sun" else draw.noise(12, 22)),
        ego_paint=_paint(draw),
        hood=draw.chance("hood", 0.6),
        mount=mount,
        asphalt=draw.noise(0.3, 0.46),
        wear=draw.noise(0.0, 0.5),
        roadside=draw.pick("roadside", ("trees", "city", "mixed", "open"), (2, 2, 3, 1)),
        roadside_seed=int(draw.noise(0, 2**31)),
        grain=draw.real("grain", 0.4, 1.6),
        gain=draw.noise(0.92, 1.08),
        vibration=draw.real("vibration", 0.02, 0.12),
        crf=int(draw.real("crf", 23, 28)),
        paints=tuple(_paint(draw) for _ in range(vehicles)),  # last: their number must not shift the other draws
    )


def _paint(draw: Draw) -> Rgb:
    base = PAINTS[int(draw.noise(0, len(PAINTS)))]
    tint = draw.noise(0.9, 1.08)
    return (min(1.0, base[0] * tint), min(1.0, base[1] * tint), min(1.0, base[2] * tint))
