"""What constrained decoding is asked to enforce of an answer."""

import json
from typing import Any

import jsonschema
import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vlmrec.events import Option, Stage, TurnOpened
from vlmrec.models.presets import PRESETS, Provider
from vlmrec.models.structured import grammar_schema, schema_fields, strict_schema
from vlmrec.stages.contract import answer_schema, coupled_answer_schema
from vlmrec.stages.request import Parameters, Wire, call_fields
from vlmrec.table import Entity, EntityTable, TimedBox, decode_table, table_schema
from vlmrec.terms import Party, Status

OPTIONS = (Option(code="yes", label="예"), Option(code="no", label="아니요"))
TURN = TurnOpened(
    stage=Stage.PREDICATE,
    question_id="q_overtaking",
    party=Party.OTHER,
    core=1,
    round=1,
    text="?",
    options=OPTIONS,
    identity_hash="0",
    shown_hash="0",
    window="whole",
    samples=1,
)
BOX = TimedBox(t=1.0, box=(1, 2, 3, 4))
WHOLE = {
    "reason": "a car turns in at 3.2 s",
    "status": "observed",
    "value": "yes",
    "evidence_start": 3.2,
    "evidence_end": None,
    "confidence": None,
}


def test_a_constrained_answer_can_leave_nothing_out() -> None:
    fields = schema_fields(answer_schema(OPTIONS), name="answer", provider=Provider(base_urls=()))
    schema = json.loads(json.dumps(fields))["response_format"]["json_schema"]["schema"]
    jsonschema.validate(WHOLE, schema)
    for key in WHOLE:
        shorter = {name: value for name, value in WHOLE.items() if name != key}
        with pytest.raises(jsonschema.ValidationError, match=key):
            jsonschema.validate(shorter, schema)


@pytest.mark.parametrize("schema", [answer_schema(OPTIONS), *coupled_answer_schema(OPTIONS)["anyOf"]])
def test_the_reason_is_written_before_the_choice(schema: dict[str, Any]) -> None:
    assert list(schema["properties"]) == list(WHOLE)


@pytest.mark.parametrize(
    ("status", "value", "agree"),
    [
        ("observed", "yes", True),
        ("observed", "no", True),
        ("observed", None, False),
        ("observed", "maybe", False),
        *((status.value, None, True) for status in Status if status is not Status.OBSERVED),
        *((status.value, "yes", False) for status in Status if status is not Status.OBSERVED),
    ],
)
def test_a_coupled_schema_lets_status_and_value_say_one_thing(status: str, value: str | None, agree: bool) -> None:
    said = {**WHOLE, "status": status, "value": value}
    validator = jsonschema.Draft202012Validator(grammar_schema(coupled_answer_schema(OPTIONS)))
    assert validator.is_valid(said) is agree
    if agree:  # the flat form allows whatever the coupled one does
        jsonschema.validate(said, grammar_schema(answer_schema(OPTIONS)))


@pytest.mark.parametrize("name", sorted(PRESETS))
def test_each_provider_is_sent_a_schema_that_its_server_takes(name: str) -> None:
    provider = PRESETS[name]
    wire = Wire(model="m", structured=provider.structured, root_any_of=provider.root_any_of)
    sent = call_fields(Parameters(wire=wire), TURN, 0, constrained=True)["response_format"]["json_schema"]["schema"]
    assert ("anyOf" in sent) is (name in ("nim", "observer", "vllm"))
    for shape in sent.get("anyOf", [sent]):
        assert faults_in_strict_mode(shape) == []


def test_the_table_is_asked_for_in_what_strict_mode_takes() -> None:
    schema = grammar_schema(strict_schema(table_schema()))
    assert schema["type"] == "object"
    assert faults_in_strict_mode(schema) == []
    whole = json.loads(msgspec.json.encode(EntityTable(entities=(Entity(id="e1", kind="car", boxes=(BOX,)),))))
    jsonschema.validate(whole, schema)
    for key in whole:
        assert not jsonschema.Draft202012Validator(schema).is_valid({k: v for k, v in whole.items() if k != key})
    whole["entities"][0]["boxes"][0]["box"] = [1, 2, 3]
    assert not jsonschema.Draft202012Validator(schema).is_valid(whole)


@given(st.data())
def test_what_the_strict_table_schema_allows_is_a_table(data: st.DataObject) -> None:
    strict = strict_schema(table_schema())
    entity = Entity(id="e1", kind="truck", lane=data.draw(st.none() | st.integers(1, 12)), boxes=(BOX,))
    table = EntityTable(
        entities=(entity,) * data.draw(st.integers(0, 2)), contact_time=data.draw(st.none() | st.just(1.5))
    )
    built = json.loads(msgspec.json.encode(table))
    jsonschema.validate(built, strict)
    assert decode_table(json.dumps(built).encode()) == table


def faults_in_strict_mode(schema: Any, path: str = "$") -> list[str]:
    """What OpenAI's strict mode would refuse, by its documentation and by errors that others met."""
    if isinstance(schema, list):
        return [fault for each in schema for fault in faults_in_strict_mode(each, path)]
    if not isinstance(schema, dict):
        return []
    found = [f"{path}: {key}" for key in ("default", "oneOf", "allOf", "prefixItems", "uniqueItems") if key in schema]
    if not {"type", "anyOf", "$ref"} & schema.keys():
        found.append(f"{path}: no type")
    exact = schema.get("required") == list(schema.get("properties", ())) and schema.get("additionalProperties") is False
    if "properties" in schema and not exact:
        found.append(f"{path}: not every key, or more than them")
    for name, inner in {**schema.get("properties", {}), **schema.get("$defs", {})}.items():
        found += faults_in_strict_mode(inner, f"{path}.{name}")
    for key in ("items", "anyOf"):
        found += faults_in_strict_mode(schema.get(key), f"{path}[{key}]")
    return found
