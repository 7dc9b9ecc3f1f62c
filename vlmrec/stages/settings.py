"""Settings of a run beside its condition: what goes together, what doesn't, and what follows from what. Pure."""

from fractions import Fraction

from vlmrec.errors import InputError
from vlmrec.stages.condition import Condition
from vlmrec.stages.request import Parameters

SAMPLING_TEMPERATURE = 0.7
"""Several samples at temperature 0 would be one sample, paid several times."""


def run_parameters(
    condition: Condition,
    *,
    temperature: float | None = None,
    top_p: float | None = None,
    top_k: int | None = None,
    max_tokens: int = 1024,
    seed: int | None = 0,
    fps: float | None = None,
) -> Parameters:
    """The sampling parameters of a run. Raises InputError where they contradict the condition."""
    if temperature is None:
        temperature = SAMPLING_TEMPERATURE if condition.samples > 1 else 0.0
    if condition.samples > 1 and temperature == 0:
        raise InputError(
            f"R{condition.samples} at temperature 0 would pay for the same sample {condition.samples} times"
        )
    if fps is not None and condition.video != "full":
        raise InputError("a frame rate asked of the server samples a whole video; it goes with V=full")
    return Parameters(temperature=temperature, top_p=top_p, top_k=top_k, max_tokens=max_tokens, seed=seed, fps=fps)


def vote_share(text: str) -> str:
    """The share of samples that a value needs, as a fraction. Raises InputError."""
    share = _share(text, "the vote threshold")
    if not 0 < share <= 1:
        raise InputError(f"the vote threshold {text} is not between 0 and 1")
    return str(share)


def monitor_share(text: str | None, condition: Condition) -> str | None:
    """The share of calls that are also sent without constraints, as a fraction; None for none. Raises InputError."""
    if text is None:
        return None
    share = _share(text, "the monitor rate")
    if not 0 <= share <= 1:
        raise InputError(f"the monitor rate {text} is not between 0 and 1")
    if share and condition.format != "schema":
        raise InputError("a monitor rate goes with F=schema: without constraints there is nothing to monitor")
    return str(share) if share else None


def check_table_source(stage0_from: str | None, condition: Condition) -> None:
    """Raises InputError for a given entity table that no call would be shown."""
    if stage0_from is not None and condition.stages != "2":
        raise InputError(f"an entity table can be given only under S2; under S{condition.stages} no call is shown one")


def one_call(wanted: bool, condition: Condition) -> bool:
    """Whether a turn's samples are asked for in one call. Raises InputError where there is only one."""
    if wanted and condition.samples == 1:
        raise InputError("n samples in one call go with R2 or more")
    return wanted


def _share(text: str, what: str) -> Fraction:
    try:
        return Fraction(text)
    except (ValueError, ZeroDivisionError):
        raise InputError(f"{what} {text!r} is not a share; write it as 2/3 or 0.6") from None
