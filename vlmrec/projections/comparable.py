"""Whether two runs may be compared: one axis differs, and nothing else that can change a reply or an outcome. Pure.

What follows from the axis itself is no second difference: other templates for another language, another
model in the parameters when M differs, the number of samples when R does.
"""

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from vlmrec.canonical import canonical_json
from vlmrec.events import Manifest
from vlmrec.projections.facts import RunFacts
from vlmrec.stages.condition import AXES

LEVELS = frozenset(axis.letter for axis in AXES if axis.level)
FOLLOWS = {"model": "M", "wire": "M", "samples": "R", "fps": "V"}
"""Settings that an axis decides, with that axis."""
HARMLESS = frozenset({"delivery", "monitor_rate", "given", "parent", "imported", "available"})
"""Settings that change neither a reply nor an outcome: how bytes travel, calls that are never used, and where
answers that were taken over came from."""


class Differs(Struct, frozen=True, kw_only=True):
    """A setting that two runs don't share."""

    what: str
    a: str
    b: str


class Comparable(Struct, frozen=True, kw_only=True):
    """Two runs' settings side by side, by their places in the order named."""

    a: int
    b: int
    axes: tuple[Differs, ...]
    others: tuple[Differs, ...]
    comparable: bool
    warning: str | None


def comparable(a: int, facts_a: RunFacts, b: int, facts_b: RunFacts) -> Comparable:
    """Whether runs ``a`` and ``b`` differ in one axis and nothing else."""
    one, two = facts_a.manifest, facts_b.manifest
    if one is None or two is None:
        return Comparable(
            a=a, b=b, axes=(), others=(), comparable=False, warning="a log without a manifest can't be compared"
        )
    axes = tuple(
        Differs(what=axis, a=axis_setting(axis, one.axes.get(axis)), b=axis_setting(axis, two.axes.get(axis)))
        for axis in sorted(set(one.axes) | set(two.axes))
        if one.axes.get(axis) != two.axes.get(axis)
    )
    changed = frozenset(axis.what for axis in axes)
    others = tuple(_others(one, facts_a.rules, two, facts_b.rules, changed))
    return Comparable(
        a=a,
        b=b,
        axes=axes,
        others=others,
        comparable=len(axes) == 1 and not others,
        warning=_warning(axes, others),
    )


def axis_setting(axis: str, value: str | None) -> str:
    """An axis as the condition id prints it."""
    if value is None:
        return f"{axis} not set"
    return f"{axis}{value}" if axis in LEVELS else f"{axis}={value}"


def _others(
    one: Manifest, rules_a: str | None, two: Manifest, rules_b: str | None, changed: frozenset[str]
) -> list[Differs]:
    found = []
    for what in ("model", "engine", "engine_version", "data_version", "core_version", "samples", "vote_threshold"):
        if FOLLOWS.get(what) not in changed:
            found.append((what, getattr(one, what), getattr(two, what)))
    if "M" not in changed or not ("imported" in one.extra or "imported" in two.extra):  # people have no temperature
        found += _of_maps("parameters", one.parameters, two.parameters, changed)
        found += _of_maps("extra", one.extra, two.extra, changed)
    common = sorted(set(one.prompts) & set(two.prompts))
    found += [(f"prompt {name}", one.prompts[name], two.prompts[name]) for name in common]
    if not changed and set(one.prompts) != set(two.prompts):
        found.append(("prompts", ", ".join(sorted(one.prompts)), ", ".join(sorted(two.prompts))))
    if "S" not in changed or (rules_a is not None and rules_b is not None):
        found.append(("rules", rules_a, rules_b))
    return [Differs(what=what, a=_text(a), b=_text(b)) for what, a, b in found if a != b]


def _of_maps(
    name: str, one: Mapping[str, Any], two: Mapping[str, Any], changed: frozenset[str]
) -> list[tuple[str, object, object]]:
    keys = sorted(key for key in (set(one) | set(two)) - HARMLESS if FOLLOWS.get(key) not in changed)
    return [(f"{name}.{key}", one.get(key), two.get(key)) for key in keys]


def _warning(axes: tuple[Differs, ...], others: tuple[Differs, ...]) -> str | None:
    said = []
    if not axes:
        said.append("no axis differs: this compares repeats of one condition")
    elif len(axes) > 1:
        said.append(
            f"{len(axes)} axes differ ({', '.join(f'{d.a} / {d.b}' for d in axes)}): no difference can be laid to one of them"
        )
    if others:
        said.append("also different: " + "; ".join(f"{d.what} ({d.a} / {d.b})" for d in others))
    return ". ".join(said) if said else None


def _text(value: object) -> str:
    text = value if isinstance(value, str) else canonical_json(value).decode()
    return text if len(text) <= 80 else f"{text[:77]}…"
