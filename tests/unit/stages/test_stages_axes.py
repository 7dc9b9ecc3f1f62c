"""Each axis changes exactly its part of the id and of the stored requests, and docs/conditions.md says which."""

from pathlib import Path

import pytest
from axis_requests import Requests, places_that_differ, requests_of

from vlmrec.stages.condition import AXES, Condition, canonical_id, difference, parse_condition
from vlmrec.stages.request import Parameters, Wire

BASE = parse_condition("V=frames-8,L=en")
EVERYWHERE = {"system text", "[text]", "[options]", "[answer]"}

CHANGES: list[tuple[str, str, set[str], set[str]]] = [
    # axis, setting, what may change, what changes in every common request
    ("M", "M=vllm/qwen", {"model"}, {"model"}),
    ("V", "V=frames-4fps", {"media"}, {"media"}),
    ("V", "V=full", {"media"}, {"media"}),
    ("V", "V=window", {"media"}, {"media"}),
    ("P", "P=200704", {"media"}, {"media"}),
    ("A", "A1", {"[earlier answers]"}, set()),
    ("A", "A2", {"[earlier answers]"}, set()),
    ("C", "C1", {"[definitions]"}, set()),
    ("R", "R3", set(), set()),
    ("G", "G1", {"system text"}, {"system text"}),
    ("G", "G2", {"system text"}, {"system text"}),
    ("G", "G3", {"system text"}, {"system text"}),
    ("Q", "Q=describe-map", {"system text", "[options]", "[answer]"}, {"system text", "[options]", "[answer]"}),
    ("S", "S1", {"[scene]"}, {"[scene]"}),
    ("S", "S2", {"[entity table]"}, {"[entity table]"}),
    ("F", "F=schema", {"response_format"}, {"response_format"}),
    ("L", "L=ko", EVERYWHERE | {"[definitions]"}, {"system text", "[text]", "[answer]"}),
    ("O", "O=shuffle-7", {"[options]"}, set()),
]


@pytest.fixture(scope="module")
def base() -> Requests:
    return requests_of(BASE)


@pytest.mark.parametrize(("axis", "setting", "allowed", "always"), CHANGES, ids=[row[1] for row in CHANGES])
def test_an_axis_changes_its_part_of_the_id_and_of_the_requests_and_nothing_else(
    axis: str, setting: str, allowed: set[str], always: set[str], base: Requests
) -> None:
    condition = parse_condition(setting, BASE)
    assert list(difference(BASE, condition)) == [axis]
    ids = zip(canonical_id(BASE).split(","), canonical_id(condition).split(","), strict=True)
    assert [one[0] for one, other in ids if one != other] == [axis]
    # what is sent under M is the model's name, and nothing else may follow from it
    requests = requests_of(condition, Parameters(wire=Wire(model=condition.model)))
    common = sorted(set(base) & set(requests))
    assert len(common) >= 3
    differing = [places_that_differ(base[key], requests[key]) for key in common]
    assert set().union(*differing) <= allowed
    assert all(places >= always for places in differing)
    if allowed:
        assert any(differing)


def test_every_axis_has_a_row_here() -> None:
    assert {row[0] for row in CHANGES} == {axis.letter for axis in AXES}


def test_further_samples_are_the_same_request_with_another_seed(base: Requests) -> None:
    requests = requests_of(parse_condition("R3", BASE))
    for key, request in base.items():
        assert requests[key] == request
        others = [requests[*key[:3], str(sample)] for sample in (1, 2)]
        assert [places_that_differ(request, other) for other in others] == [{"seed"}, {"seed"}]


@pytest.mark.parametrize("setting", ["S0", "S1", "S2", "S2,V=window", "S2,A1,G3,C1"])
def test_the_start_of_every_call_of_a_window_is_the_same_bytes(setting: str) -> None:
    starts: dict[str, set[str]] = {}
    for (stage, *_), request in requests_of(parse_condition(setting, BASE)).items():
        system, user = request["messages"]
        start = repr(
            (system, user["content"][:-1], {k: v for k, v in request.items() if k not in ("messages", "seed")})
        )
        media = repr(user["content"][0])
        starts.setdefault(f"{stage}/{media}", set()).add(start)
    assert all(len(each) == 1 for each in starts.values())


def test_the_table_in_the_docs_says_the_same() -> None:
    page = (Path(__file__).parents[3] / "docs" / "conditions.md").read_text("utf-8")
    for axis, setting, allowed, _ in CHANGES:
        row = next(line for line in page.splitlines() if line.startswith(f"| `{setting}` |"))
        shown = {place.strip(" `") for place in row.split("|")[2].split(",")} - {"nothing"}
        assert shown == allowed, f"docs/conditions.md, {axis}"


def test_defaults_are_the_plainest_condition() -> None:
    assert canonical_id(Condition()) == (
        "M=observer/classical,V=full,P=native,A0,C0,R1,G0,Q=choice,S0,F=prompt,L=ko,O=ledger"
    )
