"""What of a picture may lie flat on the road, shade or paint: no foot of a vehicle begins there.

Vehicles of such shades look so too, but not where they touch the road: tyres and the gap beneath are darker. Where bars
are painted across the road, what lies flat is told more closely: from bar to bar, and up to a vehicle behind them, the
rims of paint and what of it lies in the shade would fill up to something that stands.
"""

from collections.abc import Sequence
from typing import NamedTuple

import cv2
import numpy as np
from numpy.typing import NDArray

from vlmrec.observer.footage import Picture
from vlmrec.observer.road import DARK, TOP, Mask, RoadModel, lab

Reals = NDArray[np.float32]

# Of the road's lightness: what lies in the shade has that much, tyres and gaps under a vehicle less.
SHADE = (0.33, 0.88)
LIGHTER, TINTED = 11.0, 6.0  # of white paint: lighter than the road by that much, and of its tint
# of yellow paint: yellower than the road, and lighter by that share of the road's lightness
YELLOWER, GLEAM = 9.0, 0.25
LOW, LEAST_LOW = 0.3, 4.0  # of the distance row, and px: bars and lines on the road are seen no higher
BAR = 0.4  # of the distance row: a bar across the road is as wide, a line along it is not
APART, ROOM = 0.35, 0.15  # of the distance row, above and below a bar; of that, what is bare road
HATCHED = 0.0015  # of the picture, in bars
EVERY, OFTEN = 3, 3  # pictures looked at for bars; of these, those that show them
RIMS = 5  # px across: where paint blends with the road around it, by the lens and by the codec
AS_YELLOW, REDDER = 0.8, 0.6  # of the usual yellow for its lightness, what paint in the shade has; more red is no paint


class _Look(NamedTuple):
    """A picture's rows from the road's top on, beside the road's usual look in each row."""

    light: Reals
    usual: Reals  # lightness of the road
    red: Reals  # tints above the road's
    yellow: Reals
    below: Reals  # distance rows

    @property
    def white(self) -> Mask:
        """What may be white paint."""
        result: Mask = (
            (self.light - self.usual > LIGHTER) & (np.abs(self.red) <= TINTED) & (np.abs(self.yellow) <= TINTED)
        )
        return result

    @property
    def golden(self) -> Mask:
        """What may be yellow paint."""
        result: Mask = (self.yellow > YELLOWER) & (self.light - self.usual > GLEAM * self.usual)
        return result


def flat_masks(pictures: Sequence[Picture], model: RoadModel) -> list[Mask]:
    """What may lie flat, picture by picture, in rows from ``model.top`` on."""
    hatched = sum(shows_bars(picture, model) for picture in pictures[::EVERY]) >= OFTEN
    return [flat_pixels(picture, model, hatched=hatched) for picture in pictures]


def flat_pixels(picture: Picture, model: RoadModel, *, hatched: bool = False) -> Mask:
    """Shade (the road's tint, but darker) and paint (whiter or yellower); on ``hatched`` roads, its rims, and paint in the shade."""
    look = _look(picture, model)
    lit = look.light > SHADE[0] * look.usual
    shade = lit & (look.light < SHADE[1] * look.usual) & (look.usual >= DARK)
    shade &= (np.abs(look.red) <= 5.0) & (np.abs(look.yellow) <= 6.0)
    paint = look.white | look.golden
    flat: Mask = shade | paint
    if not hatched:
        return flat
    dim = lit & (look.yellow > YELLOWER) & _as_yellow(picture, model, look)
    lines = (paint | dim) & (_length(paint | dim) < np.maximum(LOW * look.below, LEAST_LOW))
    rims = cv2.dilate(lines.astype(np.uint8), np.ones((RIMS, RIMS), np.uint8)) > 0
    rims &= lit & (np.abs(look.red) <= TINTED) & (look.yellow > -TINTED)
    flat |= lines | rims
    return flat


def dark_pixels(picture: Picture, model: RoadModel) -> Mask:
    """Pixels of the same rows that are darker than anything that lies in the shade: tyres, or the gap under a vehicle.

    None at night, when all that the headlights miss is dark.
    """
    look = _look(picture, model)
    result: Mask = (look.light <= SHADE[0] * look.usual) & (look.usual >= DARK)
    return result


def shows_bars(picture: Picture, model: RoadModel) -> bool:
    """Whether yellow bars are painted across the road: low and wide, with road above and below each.

    A number plate or a boot's lid is low and wide, too, but on a vehicle's body.
    """
    look = _look(picture, model)
    low = _low(look.golden, look, model)
    bars = low & (BAR * look.below <= _length(low.T).T)
    road = (np.abs(look.light - look.usual) <= LIGHTER) & (np.abs(look.red) <= TINTED) & (np.abs(look.yellow) <= TINTED)
    return bool((bars & _amid(road, look.below)).sum() >= HATCHED * picture.shape[0] * picture.shape[1])


def _look(picture: Picture, model: RoadModel) -> _Look:
    light, red, yellow = (np.asarray(channel, np.float32) for channel in cv2.split(lab(picture)[model.top :]))
    usual = [np.asarray(model.middle[:, [channel]], np.float32) for channel in range(3)]
    below = np.arange(len(light), dtype=np.float32)[:, None] + TOP * len(picture)
    return _Look(light, usual[0], red - usual[1], yellow - usual[2], below)


def _low(golden: Mask, look: _Look, model: RoadModel) -> Mask:
    """What of yellow paint is seen no higher than what lies on the road, and is not the bonnet."""
    rows = np.arange(len(golden))[:, None] + model.top
    result: Mask = golden & (_length(golden) < LOW * look.below) & (rows <= model.floor[None, :])
    return result


def _as_yellow(picture: Picture, model: RoadModel, look: _Look) -> Mask:
    """Pixels nearly as yellow, for their lightness, as yellow paint is in the same picture: so is paint in the shade."""
    paint = _low(look.golden, look, model)
    red, yellow = (np.asarray(channel, np.float32) - 128.0 for channel in cv2.split(lab(picture)[model.top :])[1:])
    if not paint.any():
        return paint
    usual = float(np.median(yellow[paint] / look.light[paint]))
    result: Mask = (yellow > AS_YELLOW * usual * look.light) & (red < REDDER * yellow)
    return result


def _amid(road: Mask, below: Reals) -> Mask:
    """Pixels with ``road`` a little above them as well as a little below; ``below`` are the distance rows."""
    total = np.zeros((len(road) + 1, road.shape[1]), np.int32)
    np.cumsum(road, axis=0, out=total[1:])
    rows = np.arange(len(road))
    reach = np.ceil(APART * below[:, 0]).astype(int) + RIMS
    above, under = np.maximum(rows - reach, 0), np.minimum(rows + reach, len(road))
    least = ROOM * reach[:, None]
    result: Mask = (total[rows] - total[above] >= least) & (total[under] - total[rows] >= least)
    return result


def _length(mask: Mask) -> NDArray[np.int16]:
    """How many pixels of ``mask`` there are without a gap, up and down, at each pixel of it."""
    result: NDArray[np.int16] = _run(mask) + _run(mask[::-1])[::-1] - np.int16(1)
    return result


def _run(mask: Mask) -> NDArray[np.int16]:
    """How many pixels of ``mask`` follow one another above each pixel, with itself."""
    rows = np.arange(1, len(mask) + 1, dtype=np.int16)[:, None]
    gaps = np.maximum.accumulate(np.where(mask, np.int16(0), rows), axis=0)
    result: NDArray[np.int16] = rows - gaps
    return result
