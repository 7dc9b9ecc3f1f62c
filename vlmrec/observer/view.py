"""What judgements are made from: measures, and what follows from them at once. Pure."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from vlmrec.observer.lanes import Lanes
from vlmrec.observer.measure import Measures
from vlmrec.observer.paths import Path
from vlmrec.observer.rows import Row

Floats = NDArray[np.float64]


class View(NamedTuple):
    """``lanes`` and ``comb`` differ as in ``steering.py``; ``usual`` is the pace of the clip's quicker part."""

    measures: Measures
    lanes: Lanes  # the ego's place over time
    comb: Lanes  # the lines as seen, for what is read off the paint
    steered: Floats  # lanes the ego went aside by its heading alone
    pace: Floats  # the ego's, per frame
    way: Floats  # the ego's, per frame
    usual: float
    paths: tuple[Path, ...]
    rows: tuple[Row, ...]

    def pace_in(self, first: float, last: float) -> float | None:
        """Median of the ego's pace between two times; None where hardly any is known."""
        inside = self.pace[(self.measures.times > first) & (self.measures.times < last)]
        known = inside[np.isfinite(inside)]
        return float(np.median(known)) if len(known) >= 5 else None
