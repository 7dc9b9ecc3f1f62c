"""Whatever a model or server writes, reading it never raises, and never accepts a value outside the domain."""

import json
from typing import Any

import jsonschema
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from vlmrec.canonical import canonical_json
from vlmrec.models.failures import classify
from vlmrec.models.replies.case import read_case
from vlmrec.models.replies.read import WARNINGS, ReplyReading, read_reply, read_text
from vlmrec.models.replies.schema import JsonSchema, compile_schema
from vlmrec.models.replies.unicode import repair_text, restore_text

CODES = ["lane_change", "straight", "Lane Change", "none", "정지", "rear-end", "null", "true"]
LABELS = ["차로변경", "직진", "straight", "없음", "정지", "후미 추돌", "예"]

anything = st.text(st.characters(codec=None), max_size=60)
scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**20), 10**20),
    st.floats(),
    st.sampled_from([*CODES, *LABELS, "LANE-CHANGE", "4.35", "None", "True", "x"]),
    anything,
)
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(anything, inner, max_size=3), max_leaves=8
)

enums = st.lists(
    st.sampled_from([*CODES, None, 3, True]), min_size=1, max_size=4, unique_by=lambda code: (type(code), code)
).flatmap(
    lambda codes: st.fixed_dictionaries(
        {"enum": st.just(codes)},
        optional={
            "x-labels": st.fixed_dictionaries(
                {
                    code: st.sampled_from(LABELS) | st.lists(st.sampled_from(LABELS), max_size=2)
                    for code in codes
                    if isinstance(code, str)
                }
            )
        },
    )
)
numbers = st.fixed_dictionaries(
    {"type": st.sampled_from(["number", "integer", ["number", "null"], ["integer", "null"], ["boolean", "integer"]])},
    optional={"minimum": st.integers(-5, 0), "maximum": st.integers(0, 100), "exclusiveMinimum": st.integers(-9, 0)},
)
texts = st.fixed_dictionaries(
    {"type": st.sampled_from(["string", ["string", "null"]])},
    optional={
        "minLength": st.integers(0, 2),
        "maxLength": st.integers(2, 30),
        "pattern": st.sampled_from(["^[a-z]", "[0-9]"]),
    },
)
leaves = st.one_of(
    enums, numbers, texts, st.just({"type": "boolean"}), st.just({}), st.just({"const": "straight"}), st.just(True)
)
nodes = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.fixed_dictionaries(
            {"type": st.just("array"), "items": inner},
            optional={"maxItems": st.integers(0, 3), "uniqueItems": st.just(True)},
        ),
        st.builds(
            lambda branches, kind: {kind: branches},
            st.lists(inner, min_size=1, max_size=3),
            st.sampled_from(["anyOf", "oneOf", "allOf"]),
        ),
        st.builds(
            lambda properties, closed: {"type": "object", "properties": properties, "additionalProperties": closed},
            st.dictionaries(st.sampled_from(["a", "kind", "at"]), inner, max_size=2),
            st.booleans(),
        ),
    ),
    max_leaves=6,
)
schemas = st.builds(
    lambda properties, required, closed: {
        "type": "object",
        "properties": properties,
        "required": [name for name in required if name in properties],
        "additionalProperties": not closed,
    },
    st.dictionaries(st.sampled_from(["status", "value", "kind", "at", "note"]), nodes, min_size=1, max_size=4),
    st.lists(st.sampled_from(["status", "value", "kind"]), unique=True),
    st.booleans(),
)

FIXED: dict[str, Any] = {
    "type": "object",
    "properties": {
        "status": {"enum": ["observed", "unknown"], "x-labels": {"observed": "관찰됨", "unknown": "모름"}},
        "value": {
            "enum": ["lane_change", "straight", None],
            "x-labels": {"lane_change": "차로변경", "straight": "직진"},
        },
        "at": {"type": ["number", "null"], "minimum": 0},
        "note": {"type": "string"},
    },
    "required": ["status", "value"],
    "additionalProperties": False,
}
SCHEMA = compile_schema(FIXED)

PIECES = [
    '{"status": "observed", "value": "lane_change", "at": 1.5, "note": "n"}',
    '{"status": "unknown", "value": null}',
    "{'status': 'observed', 'value': '직진', 'at': None}",
    '{"status": "observed", "value": "straight", "value": "lane_change"}',
    '{"status": "observed", "value": "str',
    "```json\n",
    "\n```",
    "<think>",
    "</think>",
    "<answer>",
    "</answer>",
    "[",
    "]",
    "{",
    "}",
    '"',
    "'",
    "\\",
    ",",
    ":",
    "NaN",
    "-Infinity",
    "1e999",
    "9" * 400,
    "null",
    "True",
    "//",
    "/*",
    " \n" * 40,
    "\ud83d",
    "\udc80",
    "\u0000",
    "차로변경",
    "status",
]
pieces = st.lists(st.sampled_from(PIECES) | anything, max_size=8).map("".join)
finishes = st.sampled_from([None, "stop", "length", "content_filter", "tool_calls", "x"])


def check(reading: ReplyReading, schema: dict[str, Any]) -> None:
    """What holds of every reading."""
    canonical_json(reading)
    assert set(reading.warnings) <= set(WARNINGS)
    if reading.outcome != "answer":
        assert reading.answer is None
        assert reading.reason
        assert reading.strictness == "none"
        return
    jsonschema.Draft202012Validator(schema).validate(reading.answer)
    assert reading.reason is None
    assert (reading.strictness == "loose") == bool(reading.recovered)


@given(
    schemas,
    values | st.dictionaries(st.sampled_from(["status", "value", "kind", "at", "note", "Kind"]), values),
    finishes,
)
def test_an_accepted_value_is_valid_under_any_schema(schema: dict[str, Any], value: Any, finish: str | None) -> None:
    text = json.dumps(value)
    check(read_text(text, None, compile_schema(schema), finish_reason=finish), schema)


@given(pieces, st.none() | pieces, finishes, st.none() | anything)
@example("[" * 3000, None, "stop", None)
@example('{"status":' * 3000, None, "stop", None)
@example('{"status": "observed", "value": ' + "[" * 500, None, "stop", None)
@example('{"status": ' + "9" * 5000 + "}", None, "stop", None)
@example("{" * 20000, None, "stop", None)
@example('{"status": "' + "\\" * 9999, None, "stop", None)
def test_no_text_makes_reading_raise_or_accept_what_the_schema_refuses(
    content: str, reasoning: str | None, finish: str | None, refusal: str | None
) -> None:
    check(read_text(content, reasoning, SCHEMA, finish_reason=finish, refusal=refusal), FIXED)


@given(st.binary(max_size=300) | pieces.map(lambda text: text.encode("utf-8", "surrogatepass")), st.integers(0, 3))
def test_no_bytes_make_reading_raise(body: bytes, choice: int) -> None:
    check(read_reply(body, SCHEMA, choice=choice), FIXED)


@given(
    st.integers(100, 700),
    st.dictionaries(
        st.sampled_from(["Content-Type", "Retry-After", "Date", "retry-after-ms", "X"]), anything, max_size=4
    ),
    st.binary(max_size=200)
    | values.map(lambda value: json.dumps(value).encode())
    | pieces.map(lambda text: text.encode("utf-8", "surrogatepass")),
    st.booleans(),
    st.floats(0, 4e9),
)
def test_no_reply_makes_classification_raise(
    status: int, headers: dict[str, str], body: bytes, cut: bool, now: float
) -> None:
    verdict = classify(status, headers, body, now, cut=cut)
    verdict.message.encode("utf-8")
    if verdict.completed:
        assert 200 <= status < 300
        assert not cut
    else:
        assert verdict.reason
        assert verdict.retry_after_s is None or verdict.retry_after_s >= 0


_NAMES = (
    "choices message content finish_reason error code metadata usage delta index model prompt_tokens cost "
    "prompt_tokens_details multimodal_tokens reasoning_details detail type"
)
NAMES = _NAMES.split()
envelopes = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(
            st.sampled_from(NAMES),
            inner,
            max_size=4,
        )
    ),
    max_leaves=20,
)


@given(envelopes, envelopes, st.booleans())
def test_no_shape_of_envelope_makes_reading_raise(one: Any, other: Any, streamed: bool) -> None:
    if streamed:
        body = f"data: {json.dumps(one)}\n\ndata: {json.dumps(other)}\n\ndata: [DONE]\n\n".encode()
    else:
        body = json.dumps({"choices": [one, other], "usage": one}).encode()
    check(read_reply(body, SCHEMA), FIXED)
    case = {"reply": {"status": 200, "json": one, "headers": {"content-type": "application/json"}}}
    canonical_json(read_case(case, SCHEMA, now=0.0))


ANSWERS = [
    {"status": "observed", "value": "lane_change", "at": 2.5, "note": 'a "quoted" } brace \\ and \n break'},
    {"status": "unknown", "value": None, "at": None, "note": "{'x': 1} ```json {}``` <b>"},
    {"status": "observed", "value": "straight"},
]


@given(
    st.sampled_from(ANSWERS),
    st.sampled_from(["", "Here it is: ", "```json\n", "<think>{'status': 1}</think>\n", "[note] {x} "]),
    st.booleans(),
)
def test_a_whole_answer_is_found_whatever_stands_before_it(answer: dict[str, Any], before: str, escaped: bool) -> None:
    reading = read_text(before + json.dumps(answer, ensure_ascii=escaped), None, SCHEMA, finish_reason="stop")
    assert reading.answer == answer


@given(st.sampled_from(ANSWERS), st.data())
def test_a_cut_answer_is_never_taken(answer: dict[str, Any], data: st.DataObject) -> None:
    whole = json.dumps(answer)
    cut = whole[: data.draw(st.integers(0, len(whole) - 1))]
    for text in (cut, cut.replace('"', "'"), f"Answer: {cut}", f"[{cut}"):
        assert read_text(text, None, SCHEMA, finish_reason="stop").answer is None


@given(anything)
def test_repair_of_a_text_can_be_undone(text: str) -> None:
    repaired, repairs = repair_text(text)
    repaired.encode("utf-8")
    assert restore_text(repaired, repairs) == text
    assert bool(repairs) == (repaired != text)


@pytest.mark.deep
@settings(max_examples=20000, suppress_health_check=list(HealthCheck))
@given(pieces, st.none() | pieces, finishes)
def test_long_fuzzing_of_texts(content: str, reasoning: str | None, finish: str | None) -> None:
    check(read_text(content, reasoning, SCHEMA, finish_reason=finish), FIXED)


@pytest.mark.deep
@settings(max_examples=10000, suppress_health_check=list(HealthCheck))
@given(schemas, values | st.dictionaries(st.sampled_from(["status", "value", "kind", "at", "note", "Kind"]), values))
def test_long_fuzzing_of_schemas(schema: dict[str, Any], value: Any) -> None:
    compiled: JsonSchema = compile_schema(schema)
    check(read_text(json.dumps(value), None, compiled, finish_reason="stop"), schema)
