"""Upcasters: pure steps that lead a stored payload from one schema version to the next, at read time.

What is on disk is never touched. An upcaster takes and returns the payload as a JSON object; it is
registered under the version it starts from, and a golden log of that version joins the tests.
"""

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from vlmrec.canonical import canonical_json

Upcaster = Callable[[dict[str, Any]], dict[str, Any]]

UPCASTERS: dict[tuple[str, int], Upcaster] = {}
"""From ``(type, version)`` to the step that leads to ``version + 1``. Nothing has been released before version 1."""


def upcast(
    event_type: str,
    version: int,
    data: bytes,
    *,
    current: int,
    upcasters: Mapping[tuple[str, int], Upcaster] = UPCASTERS,
) -> bytes:
    """The payload at version ``current``. Raises KeyError when a step is missing."""
    if version == current:
        return data
    value = msgspec.json.decode(data, type=dict[str, Any])
    for step in range(version, current):
        value = upcasters[(event_type, step)](value)
    return canonical_json(value)
