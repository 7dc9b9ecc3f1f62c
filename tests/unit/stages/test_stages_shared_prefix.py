"""What a server's prefix cache needs: before a turn's own text, the calls of a clip are the same byte for byte."""

import json
from typing import Any

import pytest
from axis_requests import requests_of

from vlmrec.stages.condition import parse_condition
from vlmrec.stages.request import Parameters, Wire

CONDITIONS = (
    "S0,F=schema",
    "S0,F=prompt,A2,C1,G3,R3",
    "S0,F=schema,R3,A1,O=shuffle-5",
    "S1,F=schema,A2,L=en",
    "S2,F=prompt,A1,C1,G2",
    "S2,F=schema,A2,C1,G3,L=en",
    "S2,F=prompt,Q=describe-map",
)
MEDIA_ARGUMENTS = ("media_io_kwargs", "mm_processor_kwargs")
"""With other media arguments a server takes the same video for another one."""


@pytest.mark.parametrize("text", CONDITIONS)
def test_all_but_the_turn_s_own_text_is_the_same_for_every_call_of_a_stage(text: str) -> None:
    starts: dict[str, set[str]] = {}
    for (stage, *_), request in _requests(text).items():
        starts.setdefault(stage, set()).add(_start(request, shared=True))
    assert starts
    assert all(len(found) == 1 for found in starts.values()), {stage: len(found) for stage, found in starts.items()}


@pytest.mark.parametrize("text", CONDITIONS)
def test_system_text_and_media_are_the_same_for_every_call_of_a_clip(text: str) -> None:
    assert len({_start(request, shared=False) for request in _requests(text).values()}) == 1


def test_media_come_before_any_text_of_the_user() -> None:
    for request in _requests("S2,F=schema,A1").values():
        kinds = [part["type"] for part in request["messages"][1]["content"]]
        assert kinds == sorted(kinds, key=lambda kind: kind == "text")


def _requests(text: str) -> dict[tuple[str, ...], dict[str, Any]]:
    return requests_of(parse_condition(f"V=full,{text}"), Parameters(wire=Wire(model="m"), temperature=0.7, fps=6))


def _start(request: dict[str, Any], *, shared: bool) -> str:
    """All before the last text, or (``shared`` false) only what calls of different stages have in common."""
    system, user = request["messages"]
    content = user["content"][:-1] if shared else [part for part in user["content"] if part["type"] != "text"]
    return json.dumps([system, content, [request.get(name) for name in MEDIA_ARGUMENTS]])
