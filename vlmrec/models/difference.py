"""Where two JSON values first differ, said so that a person sees it. Pure."""

import json

from vlmrec.terms import JsonValue

SHOWN = 120


def first_difference(stored: JsonValue, now: JsonValue, path: str = "$") -> str | None:
    """The first difference in the order of sorted keys, and how the two differ there; None where they don't."""
    if isinstance(stored, dict) and isinstance(now, dict):
        for key in sorted(stored.keys() | now.keys()):
            if key not in stored or key not in now:
                where, value = ("in the stored request", stored[key]) if key in stored else ("now", now[key])
                return f"{path}.{key}: only {where}: {_shown(value)}"
            if (found := first_difference(stored[key], now[key], f"{path}.{key}")) is not None:
                return found
        return None
    if isinstance(stored, list) and isinstance(now, list):
        for index, (one, other) in enumerate(zip(stored, now, strict=False)):
            if (found := first_difference(one, other, f"{path}[{index}]")) is not None:
                return found
        return None if len(stored) == len(now) else f"{path}: {len(stored)} items stored, {len(now)} now"
    if isinstance(stored, str) and isinstance(now, str) and stored != now and max(len(stored), len(now)) > SHOWN:
        return f"{path}: {_texts(stored, now)}"
    return (
        None if stored == now and type(stored) is type(now) else f"{path}: stored {_shown(stored)}, now {_shown(now)}"
    )


def likeness(stored: JsonValue, now: JsonValue) -> float:
    """How much of two requests is alike, from 0 to 1: the share of their leaves, by path, that are equal."""
    one, other = dict(_leaves(stored, "$")), dict(_leaves(now, "$"))
    every = one.keys() | other.keys()
    return sum(one.get(path, one) == other.get(path, other) for path in every) / len(every) if every else 1.0


def _leaves(value: JsonValue, path: str) -> list[tuple[str, str]]:
    if isinstance(value, dict):
        return [leaf for key, item in value.items() for leaf in _leaves(item, f"{path}.{key}")]
    if isinstance(value, list):
        return [leaf for index, item in enumerate(value) for leaf in _leaves(item, f"{path}[{index}]")]
    return [(path, json.dumps(value, ensure_ascii=True, default=repr))]


def _texts(stored: str, now: str) -> str:
    """Two long texts from a little before the place where they part."""
    at = next(
        (i for i, (one, other) in enumerate(zip(stored, now, strict=False)) if one != other), min(len(stored), len(now))
    )
    start = max(0, at - 20)
    return f"from character {at}: stored {_shown(stored[start:])}, now {_shown(now[start:])}"


def _shown(value: JsonValue) -> str:
    text = json.dumps(value, ensure_ascii=False, default=repr)
    return text if len(text) <= SHOWN else f"{text[: SHOWN - 1]}…"
