"""Reading replies: every kind of reply seen in the wild, in cases of our own, and the shared ones where they are."""

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from vlmrec.errors import InputError
from vlmrec.models.replies.case import CaseReading, read_case
from vlmrec.models.replies.read import WARNINGS, ReplyReading, is_substitute, read_reply, read_text
from vlmrec.models.replies.schema import JsonSchema, compile_schema
from vlmrec.models.replies.unicode import repair_text, restore_text

BARN: dict[str, Any] = {
    "type": "object",
    "properties": {
        "animal": {
            "enum": ["cow", "barn_owl", "water-buffalo", "none"],
            "x-labels": {"cow": "소", "barn_owl": "가면올빼미", "water-buffalo": ["물소", "버팔로"], "none": "없음"},
        },
        "seen": {"type": "boolean", "x-labels": {"true": "예", "false": "아니오"}},
        "legs": {"type": ["integer", "null"], "minimum": 0, "maximum": 8},
        "at": {"type": ["number", "null"]},
        "says": {"type": "string"},
    },
    "required": ["animal", "at"],
}
SCHEMA = compile_schema(BARN)
GOOD = '{"animal": "cow", "seen": true, "legs": 4, "at": 2.5, "says": "moo"}'
VALUE = {"animal": "cow", "seen": True, "legs": 4, "at": 2.5, "says": "moo"}
OTHER = '{"animal": "none", "at": null}'


def read(content: str | None, reasoning: str | None = None, **fields: Any) -> ReplyReading:
    reading = read_text(content, reasoning, SCHEMA, **{"finish_reason": "stop", **fields})
    if reading.outcome == "answer":
        jsonschema.validate(reading.answer, BARN)
    return reading


def read_any(schema: dict[str, Any], content: str) -> ReplyReading:
    return read_text(content, None, compile_schema(schema), finish_reason="stop")


# ---- the shared cases ------------------------------------------------------------------------


def _problems(reading: CaseReading, expected: dict[str, Any]) -> list[str]:
    found = [
        f"{name}: {getattr(reading, name)!r}, expected {expected[name]!r}"
        for name in ("outcome", "answer", "reason", "score_as", "retry", "retry_after_s", "stop_run", "partial")
        if name in expected and getattr(reading, name) != expected[name]
    ]
    if "warnings" in expected and list(reading.warnings) != expected["warnings"]:
        found.append(f"warnings: {reading.warnings}, expected {expected['warnings']}")
    if expected.get("usage") is not None and reading.usage != expected["usage"]:
        found.append(f"usage: {reading.usage}")
    return found


def test_every_shared_case_gives_its_expected_result(shared_data: Path) -> None:
    folder = shared_data / "replies"
    cases = sorted(folder.glob("r*.json"))
    schema = compile_schema(json.loads((folder / "schema_crash_v1.json").read_text("utf-8")))
    problems = {}
    for path in cases:
        case = json.loads(path.read_text("utf-8"))
        reading = read_case(case, schema, now=1_800_000_000.0)
        alternatives = case["expect"].get("any_of", [case["expect"]])
        found = [_problems(reading, expected) for expected in alternatives]
        if all(found):
            problems[path.name] = found
    assert len(cases) >= 28
    assert not problems


# ---- strict ----------------------------------------------------------------------------------


def test_plain_json_is_strict() -> None:
    reading = read(f"  {GOOD}\n")
    assert (reading.outcome, reading.strictness, reading.warnings) == ("answer", "strict", ())
    assert reading.answer == VALUE
    assert reading.score_as == "answer"


@pytest.mark.parametrize("tag", ["think", "thinking", "THINK", "thought", "reasoning"])
def test_thoughts_in_tags_are_kept_apart_and_leave_the_answer_strict(tag: str) -> None:
    reading = read(f"<{tag}>maybe {OTHER}, no</{tag}>\n\n{GOOD}")
    assert (reading.strictness, reading.answer) == ("strict", VALUE)
    assert reading.reasoning == f"maybe {OTHER}, no"


def test_an_answer_tag_is_no_text_around() -> None:
    assert read(f"<think>a</think> <answer>\n{GOOD}\n</answer>").strictness == "strict"
    assert read(f"<think>a</think><answer>{GOOD}").strictness == "strict"


def test_a_tag_within_a_value_is_text_of_that_value() -> None:
    text = GOOD.replace("moo", "</think> moo <think>")
    assert read(text).answer == {**VALUE, "says": "</think> moo <think>"}
    assert read(f"Here: {text}").answer == {**VALUE, "says": "</think> moo <think>"}


def test_reasoning_the_server_set_apart_is_passed_on() -> None:
    reading = read(GOOD, "I saw a cow")
    assert (reading.reasoning, reading.strictness) == ("I saw a cow", "strict")


def test_a_whole_number_written_with_a_fraction_is_an_integer() -> None:
    reading = read('{"animal": "cow", "at": 1, "legs": 4.0}')
    assert reading.strictness == "strict"
    assert reading.answer["legs"] == 4
    assert isinstance(reading.answer["legs"], int)


# ---- loose -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "warning"),
    [
        (f"Sure!\n```json\n{GOOD}\n```\nAnything else?", "text_around_json"),
        (f"```\n{GOOD}\n```", "text_around_json"),
        (f"In the set {{a, b}} of [frames 1] I see: {GOOD}", "text_around_json"),
        ("{'animal': 'cow', 'seen': True, 'legs': 4, 'at': 2.5, 'says': 'moo'}", "not_strict_json"),
        ('{animal: "cow", seen: true, legs: 4, at: 2.5, says: "moo"}', "not_strict_json"),
        (GOOD.replace("}", ",}"), "not_strict_json"),
        (GOOD.replace('"seen"', '// it stood still\n"seen"'), "not_strict_json"),
        (GOOD.replace('"', "“", 1).replace('"', "”", 1), "not_strict_json"),
        (json.dumps(GOOD), "not_strict_json"),
        (f"[{GOOD}]", "list_unwrapped"),
        (f"[{GOOD}, {GOOD}]", "list_unwrapped"),
        (f'{{"answer": {GOOD}}}', "object_unwrapped"),
        (GOOD.replace('"cow"', '"Cow"'), "enum_normalised"),
        (GOOD.replace('"cow"', '" COW. "'), "enum_normalised"),
        (GOOD.replace('"cow"', '["cow"]'), "list_unwrapped"),
        (GOOD.replace('"cow"', '"소"'), "label_mapped"),
        (GOOD.replace('"cow"', '"cow: 소"'), "label_mapped"),
        (GOOD.replace('"cow"', '"소 (cow)"'), "label_mapped"),
        (GOOD.replace("true", '"예"'), "label_mapped"),
        (GOOD.replace("true", '"True"'), "enum_normalised"),
        (GOOD.replace("2.5", '"2.5"'), "number_from_text"),
        (GOOD.replace('"animal"', '"Animal"'), "key_normalised"),
        (f"{GOOD}\n\nOnce more: {GOOD}", "several_objects"),
        (f"maybe {OTHER}?</think>{GOOD}", "orphan_think_tag"),
    ],
)
def test_what_stands_for_exactly_one_value_is_recovered_and_told(text: str, warning: str) -> None:
    reading = read(text)
    assert (reading.outcome, reading.strictness) == ("answer", "loose"), reading.detail
    assert reading.answer == VALUE
    assert warning in reading.warnings
    assert reading.score_as == "answer"


@pytest.mark.parametrize(
    ("written", "code"),
    [
        ("Barn Owl", "barn_owl"),
        ("barn-owl", "barn_owl"),
        ("ＢＡＲＮ＿ＯＷＬ", "barn_owl"),
        ("water_buffalo", "water-buffalo"),
        ("가면 올빼미", "barn_owl"),
        ("가면올빼미", "barn_owl"),
        ("버팔로", "water-buffalo"),
        ("없음", "none"),
    ],
)
def test_spellings_and_labels_lead_to_their_code(written: str, code: str) -> None:
    reading = read(json.dumps({"animal": written, "at": None}))
    assert reading.answer == {"animal": code, "at": None}
    assert reading.strictness == "loose"


def test_escapes_of_python_strings_are_understood() -> None:
    assert read(r"{'animal': 'none', 'at': None, 'says': 'it\'s \"far\"\n'}").answer["says"] == 'it\'s "far"\n'


def test_null_in_an_optional_place_is_left_out_and_told() -> None:
    reading = read('{"animal": "cow", "at": null, "says": null}')
    assert reading.answer == {"animal": "cow", "at": None}
    assert reading.warnings == ("null_left_out",)


def test_keys_beyond_a_closed_schema_are_left_out_and_told() -> None:
    closed = {**BARN, "additionalProperties": False}
    reading = read_any(closed, '{"animal": "cow", "at": 1, "mood": "calm"}')
    assert (reading.answer, reading.warnings) == ({"animal": "cow", "at": 1}, ("extra_left_out",))


def test_an_answer_in_the_reasoning_is_taken_only_whole_and_marked() -> None:
    taken = read(None, GOOD)
    assert (taken.answer, taken.warnings) == (VALUE, ("answer_taken_from_reasoning",))
    assert read("", f"First {OTHER}, no: {GOOD}").reason == "empty_content"
    assert read(None, f"I think so</think>{GOOD}").answer == VALUE


def test_nan_becomes_null_where_null_is_allowed_and_no_answer_elsewhere() -> None:
    reading = read('{"animal": "cow", "at": NaN, "legs": -Infinity}')
    assert (reading.answer, reading.warnings) == ({"animal": "cow", "at": None, "legs": None}, ("not_finite",))
    assert read('{"animal": "cow", "at": 1e999}').answer == {"animal": "cow", "at": None}
    unread = read('{"animal": NaN, "at": 1}')
    assert (unread.reason, unread.warnings) == ("bad_value", ("not_finite",))


# ---- no answer -------------------------------------------------------------------------------


@pytest.mark.parametrize("finish", ["length", "LENGTH", "max_tokens"])
@pytest.mark.parametrize("text", [GOOD, GOOD[:-1], "<think>" + GOOD, None, "", GOOD + " \n" * 900])
def test_a_reply_cut_by_the_token_limit_is_truncated_whatever_it_holds(finish: str, text: str | None) -> None:
    reading = read(text, "thinking …", finish_reason=finish)
    assert (reading.outcome, reading.reason, reading.answer) == ("no_answer", "truncated", None)
    assert (reading.score_as, reading.retry.value) == ("parse_failure", "changed_request")


def test_what_a_cut_reply_had_begun_with_is_shown_and_never_taken() -> None:
    reading = read('{"animal": "cow", "legs": 4, "at": 1', finish_reason="length")
    assert (reading.answer, reading.partial) == (None, {"animal": "cow", "legs": 4})


@pytest.mark.parametrize("end", range(2, len(GOOD)))
def test_no_prefix_of_an_answer_is_an_answer(end: int) -> None:
    for text in (GOOD[:end], f"Here: {GOOD[:end]}", f"[{GOOD[:end]}", f"```json\n{GOOD[:end]}\n```"):
        reading = read(text)
        assert reading.outcome == "no_answer"
        assert reading.answer is None


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("A cow, at 2.5 s, no doubt.", "unreadable"),
        ("", "empty_content"),
        (None, "empty_content"),
        ("<think>hm</think>", "empty_content"),
        ("<think>it must be " + GOOD, "truncated"),
        (f"{GOOD}<think>wait", "truncated"),
        (f"{OTHER} but then {GOOD[:-1]}", "truncated"),
        (f"{OTHER}\n{GOOD}", "ambiguous"),
        (f"[{OTHER}, {GOOD}]", "ambiguous"),
        ("[]", "unreadable"),
        ('{"animal": "cow", "at": 1, "animal": "none"}', "duplicate_key"),
        ('{"animal": "cow", "at": 1, "Animal": "none"}', "duplicate_key"),
        ('{"animal": "cow", "at": 1, "x": {"y": 1, "y": 2}}', "duplicate_key"),
        ('{"animal": "horse", "at": 1}', "bad_value"),
        ('{"animal": "cow or owl", "at": 1}', "bad_value"),
        ('{"animal": ["cow", "none"], "at": 1}', "bad_value"),
        ('{"animal": null, "at": 1}', "bad_value"),
        ('{"animal": "", "at": 1}', "bad_value"),
        ('{"animal": "cow"}', "bad_value"),
        ('{"animal": "cow", "at": "about 4"}', "bad_value"),
        ('{"animal": "cow", "at": true}', "bad_value"),
        ('{"animal": "cow", "at": 1, "seen": 1}', "bad_value"),
        ('{"animal": "cow", "at": 1, "seen": "yes"}', "bad_value"),
        ('{"animal": "cow", "at": 1, "legs": 4.5}', "bad_value"),
        ('{"animal": "cow", "at": 1, "legs": 9}', "bad_value"),
        ('{"animal": "cow", "at": 99999999999999999999}', "bad_value"),
        ('{"animal": "cow", "at": 4.35s}', "unreadable"),
        ('{"animal": "cow" "at": 1}', "unreadable"),
        (f'{{"broken": 4s, "inner": {GOOD}}}', "unreadable"),
        (f'{{"first": {GOOD}, "second": {OTHER}}}', "unreadable"),
    ],
)
def test_what_cannot_be_read_without_a_guess_is_no_answer(text: str | None, reason: str) -> None:
    reading = read(text)
    assert (reading.outcome, reading.reason, reading.answer, reading.strictness) == ("no_answer", reason, None, "none")
    assert reading.score_as == "parse_failure"


@pytest.mark.parametrize(
    "fields", [{"refusal": "I can't help"}, {"finish_reason": "content_filter"}, {"finish_reason": "SAFETY"}]
)
def test_a_refusal_is_not_scored(fields: dict[str, str]) -> None:
    reading = read(None if "refusal" in fields else GOOD, **fields)
    assert (reading.reason, reading.score_as, reading.retry.value) == ("refused", "not_scored", "no")


def test_a_label_of_two_codes_stands_for_neither() -> None:
    schema = {"properties": {"v": {"enum": ["a", "b"], "x-labels": {"a": "같음", "b": "같음"}}}, "required": ["v"]}
    assert read_any(schema, '{"v": "같음"}').reason == "bad_value"
    assert read_any(schema, '{"v": "a"}').answer == {"v": "a"}


def test_codes_that_differ_only_in_spelling_are_told_apart_exactly_or_not_at_all() -> None:
    schema = {"properties": {"v": {"enum": ["left_turn", "Left Turn"]}}, "required": ["v"]}
    assert read_any(schema, '{"v": "Left Turn"}').answer == {"v": "Left Turn"}
    assert read_any(schema, '{"v": "LEFT TURN"}').reason == "bad_value"


def test_a_label_that_is_another_codes_name_is_that_code() -> None:
    schema = {"properties": {"v": {"enum": ["a", "b"], "x-labels": {"a": "b", "b": "c"}}}, "required": ["v"]}
    assert read_any(schema, '{"v": "b"}').answer == {"v": "b"}
    assert read_any(schema, '{"v": "B"}').reason == "bad_value"


# ---- unicode ---------------------------------------------------------------------------------


def test_half_a_surrogate_pair_is_replaced_flagged_and_can_be_restored() -> None:
    content = '{"animal": "cow", "at": 1, "says": "ok \ud83d end"}'
    reading = read(content)
    assert reading.answer["says"] == "ok \ufffd end"
    assert (reading.warnings, reading.strictness) == (("bad_unicode",), "strict")
    assert reading.text is not None
    assert restore_text(reading.text, reading.repairs) == content


def test_two_halves_make_one_character() -> None:
    assert read('{"animal": "cow", "at": 1, "says": "\\ud83d\\ude00"}').answer["says"] == "😀"


def test_bytes_that_are_no_utf8_are_flagged_and_kept() -> None:
    body = json.dumps({"choices": [{"message": {"content": "X"}, "finish_reason": "stop"}]}).encode()
    body = body.replace(b"X", GOOD.replace('"', '\\"').replace("moo", "m\u00f6").encode("latin-1"))
    reading = read_reply(body, SCHEMA)
    assert reading.answer["says"] == "m\ufffd"
    assert "bad_unicode" in reading.warnings
    assert restore_text(reading.text or "", reading.repairs).encode("utf-8", "surrogateescape") in body.replace(
        b"\\", b""
    )


def test_text_without_a_flaw_is_left_alone() -> None:
    assert repair_text("가 😀 \ufffd") == ("가 😀 \ufffd", ())


# ---- whole replies ---------------------------------------------------------------------------


def body(*contents: str | None, **fields: Any) -> bytes:
    choices = [
        {"index": index, "message": {"content": content}, "finish_reason": "stop"}
        for index, content in enumerate(contents)
    ]
    return json.dumps({"choices": choices, "usage": {"prompt_tokens": 3}, **fields}).encode()


def test_each_choice_of_a_reply_is_read_by_its_index() -> None:
    several = body(GOOD, OTHER, "prose")
    assert read_reply(several, SCHEMA).answer == VALUE
    assert read_reply(several, SCHEMA, choice=1).answer == {"animal": "none", "at": None}
    assert read_reply(several, SCHEMA, choice=2).reason == "unreadable"
    assert read_reply(several, SCHEMA, choice=3).reason == "empty_content"


def test_choices_out_of_order_are_still_read_by_index() -> None:
    reply = json.loads(body(GOOD, OTHER))
    reply["choices"].reverse()
    assert read_reply(json.dumps(reply).encode(), SCHEMA, choice=0).answer == VALUE


def test_missing_usage_and_another_model_are_told_beside_a_strict_answer() -> None:
    reading = read_reply(body(GOOD, usage=None, model="small/other"), SCHEMA, asked_model="big/one")
    assert reading.warnings == ("usage_missing", "model_substituted")
    assert reading.strictness == "strict"


@pytest.mark.parametrize(
    ("asked", "served", "expected"),
    [
        ("a/b", "a/b", False),
        ("a/B", "A/b", False),
        ("a/b", "a/b-2026-01-31", False),
        ("a/b", "a/b-20260131", False),
        ("a/b", "a/b-mini", True),
        ("a/b", "c/d", True),
        ("a/b", None, False),
        (None, "c/d", False),
    ],
)
def test_a_dated_release_is_the_model_asked_for(asked: str | None, served: str | None, expected: bool) -> None:
    assert is_substitute(asked, served) is expected


def test_content_in_parts_is_joined_and_thinking_parts_kept_apart() -> None:
    parts = [
        {"type": "thinking", "thinking": "hm"},
        {"type": "text", "text": GOOD[:20]},
        {"type": "text", "text": GOOD[20:]},
    ]
    reply = json.dumps({"choices": [{"message": {"content": parts}, "finish_reason": "stop"}]}).encode()
    reading = read_reply(reply, SCHEMA)
    assert (reading.answer, reading.reasoning) == (VALUE, "hm")


@pytest.mark.parametrize("field", ["reasoning", "reasoning_content"])
def test_reasoning_is_found_under_either_name(field: str) -> None:
    reply = json.dumps({"choices": [{"message": {"content": GOOD, field: "hm"}, "finish_reason": "stop"}]}).encode()
    assert read_reply(reply, SCHEMA).reasoning == "hm"


def test_a_failed_call_is_an_error_and_not_scored() -> None:
    reading = read_reply(b'{"error": {"code": 429, "message": "slow"}}', SCHEMA)
    assert (reading.outcome, reading.reason, reading.score_as) == ("error", "rate_limited", "not_scored")


# ---- other schemas ---------------------------------------------------------------------------


def test_lists_references_and_branches_are_read() -> None:
    schema = {
        "$defs": {"box": {"type": "array", "items": {"type": "number"}, "minItems": 4, "maxItems": 4}},
        "type": "object",
        "properties": {
            "items": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {"id": {"type": "string", "pattern": "^e[0-9]+$"}, "box": {"$ref": "#/$defs/box"}},
                    "required": ["id"],
                    "additionalProperties": False,
                },
            },
            "lane": {"anyOf": [{"type": "integer", "minimum": 1}, {"type": "null"}]},
        },
        "required": ["items"],
    }
    read_well = read_any(schema, '{"items": [{"id": "e1", "box": [0, 1, 2.5, 3], "x": 1}], "lane": "2"}')
    assert read_well.answer == {"items": [{"id": "e1", "box": [0, 1, 2.5, 3]}], "lane": 2}
    assert read_well.warnings == ("number_from_text", "extra_left_out")
    assert read_any(schema, '{"items": [{"id": "x"}]}').reason == "bad_value"
    assert read_any(schema, '{"items": [{"id": "e1", "box": [1]}]}').reason == "bad_value"
    assert read_any(schema, '{"items": [], "lane": 0}').reason == "bad_value"


def test_a_bare_value_can_be_asked_for() -> None:
    schema = {"enum": ["cow", "owl"], "x-labels": {"owl": "올빼미"}}
    assert read_any(schema, '"cow"').answer == "cow"
    assert read_any(schema, " Cow\n").answer == "cow"
    assert read_any(schema, "올빼미").answer == "owl"
    assert read_any(schema, "a cow, I think").reason == "bad_value"


def test_prose_can_be_asked_for_and_comes_without_the_thoughts() -> None:
    schema = {"type": "string"}
    assert read_any(schema, "<think>hm {x}</think>\nA cow stands <there>. ").answer == "A cow stands <there>."
    assert read_any(schema, '{"a": 1}').answer == '{"a": 1}'
    assert read_any(schema, "42").answer == "42"
    assert read_any(schema, "<think>hm").reason == "truncated"
    assert read_any(schema, "<think>hm</think>").reason == "empty_content"


def test_a_list_can_be_asked_for() -> None:
    schema = {"type": "array", "items": {"type": "integer"}}
    assert read_any(schema, "[1, 2, 3]").answer == [1, 2, 3]
    assert read_any(schema, "[1, 2").outcome == "no_answer"


@pytest.mark.parametrize(
    ("schema", "named"),
    [
        ({"properties": {"a": {"not": {}}}}, "not"),
        ({"if": {}, "then": {}}, "if"),
        ({"properties": {"a": {"$ref": "other.json"}}}, "other.json"),
        ({"$ref": "#/$defs/none"}, "#/[$]defs/none"),
        ({"properties": {"a": {"pattern": "("}}}, "pattern"),
        ({"properties": {"a": 3}}, "properties|a"),
        ({"required": "a"}, "required"),
    ],
)
def test_a_schema_that_cannot_be_held_to_is_refused_by_name(schema: dict[str, Any], named: str) -> None:
    with pytest.raises(InputError, match=named):
        compile_schema(schema)


def test_a_schema_may_refer_to_itself() -> None:
    schema = {"properties": {"next": {"$ref": "#"}, "v": {"type": "integer"}}, "required": ["v"]}
    assert read_any(schema, '{"v": 1, "next": {"v": 2}}').answer == {"v": 1, "next": {"v": 2}}
    assert read_any(schema, '{"v": 1, "next": {"v": "x"}}').reason == "bad_value"


# ---- cases -----------------------------------------------------------------------------------


def case(reply: Any, **request: Any) -> CaseReading:
    return read_case({"id": "own", "reply": reply, "request": request}, SCHEMA, now=1_800_000_000.0)


def test_a_case_cut_short_is_a_lost_connection_unless_the_cut_is_beyond_its_end() -> None:
    text = body(GOOD).decode()
    assert case({"status": 200, "body": text, "close_after_bytes": 50}).reason == "connection_lost"
    assert case({"status": 200, "body": text, "close_after_bytes": 0}).reason == "connection_lost"
    assert case({"status": 200, "body": text, "close_after_bytes": 9999}).outcome == "answer"
    promised = {"content-length": "99999"}
    assert case({"status": 200, "headers": promised, "body": text, "close_after_bytes": 9999}).outcome == "error"


def test_a_case_of_a_failure_speaks_of_retry_and_stop() -> None:
    reading = case({"status": 429, "headers": {"Retry-After": "12"}, "body": ""})
    assert (reading.outcome, reading.reason, reading.score_as) == ("error", "rate_limited", "not_scored")
    assert (reading.retry, reading.retry_after_s, reading.stop_run) == ("after_seconds", 12, False)


@pytest.mark.parametrize("broken", [None, [], {}, {"reply": 1}, {"reply": {"status": "x"}}, {"reply": {"body": 1}}])
def test_what_is_no_case_is_refused(broken: Any) -> None:
    with pytest.raises(InputError):
        read_case(broken, SCHEMA, now=0.0)


def test_warnings_come_in_one_order() -> None:
    reading = case(
        {"status": 200, "json": json.loads(body("```\n[" + OTHER.replace("none", "None") + "]```", usage=None))}
    )
    assert list(reading.warnings) == [w for w in WARNINGS if w in reading.warnings]
    assert set(reading.warnings) == {"text_around_json", "list_unwrapped", "enum_normalised", "usage_missing"}


def test_reading_is_the_same_twice() -> None:
    assert isinstance(SCHEMA, JsonSchema)
    assert read(f"x {GOOD}") == read(f"x {GOOD}")
