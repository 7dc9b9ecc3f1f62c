"""The condition: the fixed setting of every axis, its canonical id, and the difference between two.

The canonical id prints every axis in the table's order, none left out; an axis added later is left
out at its default, so that old ids stay. Combinations that make no sense are refused with the reason.
Pure.
"""

import re
from collections.abc import Callable
from typing import Annotated, NamedTuple

from msgspec import Meta, Struct

from vlmrec.canonical import sha256_hex
from vlmrec.errors import InputError


class Condition(Struct, frozen=True, kw_only=True):
    """One value for each axis, as printed after ``=`` (or after the letter, where an axis is a level)."""

    model: Annotated[str, Meta(description="M: `provider/model`.")] = "observer/classical"
    video: Annotated[str, Meta(description="V: `full`, `frames-N`, `frames-Xfps` or `window`.")] = "full"
    pixels: Annotated[str, Meta(description="P: `native`, or the largest number of pixels in a frame.")] = "native"
    context: Annotated[str, Meta(description="A: 0 none, 1 earlier answers as claims, 2 with their reasons.")] = "0"
    definitions: Annotated[str, Meta(description="C: 0 none, 1 the ledger's notes and observation rules.")] = "0"
    repetition: Annotated[str, Meta(description="R: samples per turn.")] = "1"
    grounding: Annotated[str, Meta(description="G: 0 none, 1 scene first, 2 lane topology, 3 sampling instant.")] = "0"
    mode: Annotated[str, Meta(description="Q: `choice` or `describe-map`.")] = "choice"
    stages: Annotated[str, Meta(description="S: 0 one call per turn, 1 prose scene, 2 entity table and rules.")] = "0"
    format: Annotated[str, Meta(description="F: `prompt`, or `schema` for constrained decoding.")] = "prompt"
    language: Annotated[str, Meta(description="L: `ko` or `en`.")] = "ko"
    order: Annotated[str, Meta(description="O: `ledger`, or `shuffle-SEED`.")] = "ledger"

    @property
    def samples(self) -> int:
        return int(self.repetition)

    @property
    def short_hash(self) -> str:
        """Eight hexadecimal digits of the canonical id's SHA-256."""
        return sha256_hex(canonical_id(self).encode())[:8]


class _Axis(NamedTuple):
    letter: str
    field: str
    level: bool  # printed as `A0` and not as `A=0`
    accepts: Callable[[str], bool]
    expected: str


def _one_of(*values: str) -> Callable[[str], bool]:
    return lambda text: text in values


def _matches(pattern: str) -> Callable[[str], bool]:
    compiled = re.compile(pattern)
    return lambda text: compiled.fullmatch(text) is not None


_NUMBER = r"[1-9][0-9]*(\.[0-9]*[1-9])?|0\.[0-9]*[1-9]"

AXES: tuple[_Axis, ...] = (
    _Axis("M", "model", False, _matches(r"[^\s,=/]+(/[^\s,=]+|:[^\s,=]+)"), "provider/model, such as openrouter/qwen3.5-plus"),
    _Axis("V", "video", False, _matches(rf"full|window|frames-[1-9][0-9]*|frames-({_NUMBER})fps"), "full, window, frames-N or frames-Xfps"),
    _Axis("P", "pixels", False, _matches(r"native|[1-9][0-9]*"), "native, or a number of pixels per frame"),
    _Axis("A", "context", True, _one_of("0", "1", "2"), "A0, A1 or A2"),
    _Axis("C", "definitions", True, _one_of("0", "1"), "C0 or C1"),
    _Axis("R", "repetition", True, _matches(r"[1-9][0-9]{0,2}"), "R1, R5 and the like"),
    _Axis("G", "grounding", True, _one_of("0", "1", "2", "3"), "G0, G1, G2 or G3"),
    _Axis("Q", "mode", False, _one_of("choice", "describe-map"), "choice or describe-map"),
    _Axis("S", "stages", True, _one_of("0", "1", "2"), "S0, S1 or S2"),
    _Axis("F", "format", False, _one_of("prompt", "schema"), "prompt or schema"),
    _Axis("L", "language", False, _one_of("ko", "en"), "ko or en"),
    _Axis("O", "order", False, _matches(r"ledger|shuffle-[0-9]+"), "ledger, or shuffle-SEED"),
)  # fmt: skip
_BY_LETTER = {axis.letter: axis for axis in AXES}


def parse_condition(text: str, base: Condition | None = None) -> Condition:
    """The condition that ``text`` describes: comma-separated settings in any order, over ``base`` (the defaults).

    ``S2``, ``S=2`` and ``V=frames-4fps`` are settings. Raises InputError naming the setting that is wrong.
    """
    chosen: dict[str, str] = {}
    for setting in filter(None, (part.strip() for part in text.split(","))):
        axis, value = _read_setting(setting)
        if chosen.setdefault(axis.field, value) != value:
            raise InputError(f"condition: axis {axis.letter} is set twice, to {chosen[axis.field]} and to {value}")
    base = base or Condition()
    return check_condition(
        Condition(**{axis.field: chosen.get(axis.field, getattr(base, axis.field)) for axis in AXES})
    )


def check_condition(condition: Condition) -> Condition:
    """``condition`` itself. Raises InputError where a value is unknown or two axes make no sense together."""
    for axis in AXES:
        value = getattr(condition, axis.field)
        if not axis.accepts(value):
            raise InputError(f"condition: {axis.letter}={value} is not known; expected {axis.expected}")
    if condition.mode == "describe-map" and condition.format == "schema":
        raise InputError(
            "condition: Q=describe-map asks for free text that is mapped to codes afterwards, "
            "so F=schema has nothing to constrain; use F=prompt"
        )
    if condition.video == "window" and condition.stages == "1":
        raise InputError(
            "condition: S1 fixes one prose scene for the whole clip, but V=window shows each question another part "
            "of it; use S0 or S2 with V=window"
        )
    if condition.pixels != "native" and condition.video == "full":
        raise InputError(
            "condition: P sets a limit per frame, but V=full sends the file as it is and leaves scaling to the server; "
            "use V=frames-… or V=window, or P=native"
        )
    return condition


def canonical_id(condition: Condition) -> str:
    """Every axis in the table's order, such as ``M=…,V=full,P=native,A0,C0,R1,G0,Q=choice,S0,F=prompt,L=ko,O=ledger``."""
    return ",".join(f"{axis.letter}{'' if axis.level else '='}{getattr(condition, axis.field)}" for axis in AXES)


def axis_values(condition: Condition) -> dict[str, str]:
    """The condition as ``{letter: value}``."""
    return {axis.letter: getattr(condition, axis.field) for axis in AXES}


def condition_from_axes(axes: dict[str, str]) -> Condition:
    """The inverse of :func:`axis_values`; unknown letters raise InputError (a newer vlmrec wrote them)."""
    unknown = sorted(set(axes) - set(_BY_LETTER))
    if unknown:
        raise InputError(f"condition: this vlmrec does not know the axes {', '.join(unknown)}")
    return check_condition(Condition(**{_BY_LETTER[letter].field: value for letter, value in axes.items()}))


def difference(one: Condition, other: Condition) -> dict[str, tuple[str, str]]:
    """The axes in which two conditions differ, in the table's order, as ``{letter: (one's value, other's value)}``."""
    pairs = {axis.letter: (getattr(one, axis.field), getattr(other, axis.field)) for axis in AXES}
    return {letter: pair for letter, pair in pairs.items() if pair[0] != pair[1]}


def _read_setting(setting: str) -> tuple[_Axis, str]:
    axis = _BY_LETTER.get(setting[0].upper())
    rest = setting[1:]
    if axis is None or not (rest.startswith("=") or (axis.level and rest[:1].isdigit())):
        known = ", ".join(axis.expected if axis.level else f"{axis.letter}=…" for axis in AXES)
        raise InputError(f"condition: {setting!r} is not a setting; known are {known}")
    return axis, rest.removeprefix("=")
