"""What a run is to be, and how it is to be carried out: all that an operator can set."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeAlias

from msgspec import Struct

from vlmrec.ledger import Ledger
from vlmrec.models.budget import Limits, Price
from vlmrec.models.retry import RetryPolicy
from vlmrec.stages.condition import Condition
from vlmrec.stages.deliveries import DATA_URL
from vlmrec.stages.request import Parameters
from vlmrec.stages.topup import TakenOver

Oracle: TypeAlias = Callable[[Ledger, Sequence[str]], TakenOver]
"""What is taken over from labels or another run, for these clips, in the words of this ledger."""


class Options(Struct, frozen=True, kw_only=True):
    """What the operator decides about how a run is carried out; none of it changes a reply."""

    store: Path
    run_id: str
    workers: int = 2
    in_flight: int | None = None
    base_urls: tuple[str, ...] = ()
    limits: Limits = Limits()
    price: Price | None = None
    policy: RetryPolicy = RetryPolicy()
    store_environ: dict[str, str] = {}


class NewRun(Struct, frozen=True, kw_only=True):
    """What a new run is to be."""

    clips: tuple[Path, ...]
    clip_set: Path | None
    condition: Condition
    parameters: Parameters
    engine: str
    vote_threshold: str = "1/2"
    delivery: str = DATA_URL
    monitor_rate: str | None = None
    n_in_one_call: bool = False
    oracle: Oracle | None = None

    @property
    def extra(self) -> dict[str, object]:
        """The settings that stand in the manifest beside condition and parameters, where they were set."""
        delivery = None if self.delivery == DATA_URL else self.delivery
        found = {"delivery": delivery, "monitor_rate": self.monitor_rate, "n_in_one_call": self.n_in_one_call or None}
        return {name: value for name, value in found.items() if value is not None}
