"""What differs between families of models beyond the wire: how they are asked to think, boxes, and times. Pure.

``plain`` models are asked for JSON and nothing else. ``think_answer`` models (Cosmos-Reason1) take
their format from the system text. ``cosmos`` models (Reason2, Cosmos3) think only when the user's
text ends in a block that asks for it, want media before text, and give boxes in thousandths of each
axis.
"""

import re
from typing import Literal, NamedTuple

from vlmrec.models.presets import Family
from vlmrec.terms import JsonValue

THINK_ANSWER = "Answer the question in the following format: <think>\nyour reasoning\n</think>\n\n<answer>\nyour answer\n</answer>."
THINK_BLOCK = (
    "Answer the question using the following format:\n\n<think>\nYour reasoning.\n</think>\n\n"
    "Write your final answer immediately after the </think> tag."
)
BOX_NAMES = ("box", "bbox_2d", "box_2d", "bbox")
Space = Literal["thousandths", "unit", "pixels"]


class Sampling(NamedTuple):
    """Sampling that a family's makers recommend; what is sent is the operator's choice."""

    temperature: float
    top_p: float
    top_k: int


def adapt_system(system: str, *, family: Family, thinking: bool) -> str:
    """The system text as the family wants it."""
    if family == "think_answer" and thinking:
        return f"{system}\n{THINK_ANSWER}" if system else THINK_ANSWER
    return system


def adapt_tail(tail: str, *, family: Family, thinking: bool) -> str:
    """The end of the user's text as the family wants it."""
    return f"{tail}\n\n{THINK_BLOCK}" if family == "cosmos" and thinking else tail


def recommended(*, family: Family, thinking: bool) -> Sampling | None:
    """The makers' sampling, where they name one."""
    if family == "cosmos":
        return Sampling(0.6, 0.95, 20) if thinking else Sampling(0.7, 0.8, 20)
    return Sampling(0.6, 0.95, 20) if family == "think_answer" else None


def box_of(value: JsonValue) -> tuple[float, float, float, float] | None:
    """The box in an object that names it in any of the usual ways, or in a list of four numbers."""
    if isinstance(value, dict):
        value = next((value[name] for name in BOX_NAMES if name in value), None)
    if not isinstance(value, list) or len(value) != 4:
        return None
    if not all(isinstance(edge, (int, float)) and not isinstance(edge, bool) for edge in value):
        return None
    left, top, right, bottom = map(float, value)
    return left, top, right, bottom


def to_thousandths(
    box: tuple[float, float, float, float], *, space: Space, width: int, height: int
) -> tuple[float, float, float, float]:
    """``box`` in thousandths of each axis, from the space a family answers in."""
    if space == "thousandths":
        return box
    across, down = (1000 / width, 1000 / height) if space == "pixels" else (1000.0, 1000.0)
    left, top, right, bottom = box
    return left * across, top * down, right * across, bottom * down


def seconds_of(value: JsonValue) -> float | None:
    """Seconds from a number, or from ``mm:ss.ff`` as these models write times; None for anything else."""
    if isinstance(value, bool):
        return None
    if isinstance(value, (int, float)):
        return float(value)
    found = (
        re.fullmatch(r"\s*(?:(\d{1,2}):)?(\d{1,3}):(\d{1,2}(?:\.\d{1,6})?)\s*", value, re.ASCII)
        if isinstance(value, str)
        else None
    )
    if found is None:
        return None
    hours, minutes, seconds = found.groups()
    return int(hours or 0) * 3600 + int(minutes) * 60 + float(seconds)
