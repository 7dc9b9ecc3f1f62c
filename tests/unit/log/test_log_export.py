"""Exports come from the stored bytes; CloudEvents are valid by the published JSON Schema's rules."""

import json
import re
from pathlib import Path

import pytest
from jsonschema import Draft7Validator, FormatChecker
from logs import PARENT, UUID, create, filled, requested, stopped

from vlmrec.errors import InputError
from vlmrec.log.export import checked_types, cloudevents_line, jsonl_line
from vlmrec.log.reader import open_log

CLOUDEVENT = {  # the rules of the CloudEvents 1.0 JSON event format, and of attribute names in its specification
    "type": "object",
    "required": ["id", "source", "specversion", "type"],
    "properties": {
        "id": {"type": "string", "minLength": 1},
        "source": {"type": "string", "minLength": 1, "format": "uri-reference"},
        "specversion": {"const": "1.0"},
        "type": {"type": "string", "minLength": 1},
        "datacontenttype": {"type": "string", "minLength": 1},
        "dataschema": {"type": "string", "minLength": 1, "format": "uri"},
        "subject": {"type": "string", "minLength": 1},
        "time": {"type": "string", "pattern": r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$"},
        "data": True,
        "data_base64": {"type": "string", "contentEncoding": "base64"},
    },
    "patternProperties": {"^[a-z0-9]{1,20}$": {"type": ["boolean", "integer", "string", "object"]}},
    "additionalProperties": False,
}


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return filled(tmp_path_factory.mktemp("export") / "run.db")


def test_every_line_is_a_valid_cloudevent(log: Path) -> None:
    validator = Draft7Validator(CLOUDEVENT, format_checker=FormatChecker())
    with open_log(log) as reader:
        lines = [cloudevents_line(reader.info, row) for row in reader.rows()]
    for line in lines:
        assert line.endswith(b"\n")
        assert line.count(b"\n") == 1
        validator.validate(json.loads(line))
    first, last = json.loads(lines[0]), json.loads(lines[-1])
    assert first["source"] == f"urn:uuid:{UUID}"
    assert first["subject"] == "클립-1"
    assert first["correlationid"] == "q_maneuver/other"
    assert "subject" not in last
    assert [json.loads(line)["sequence"] for line in lines] == sorted(json.loads(line)["sequence"] for line in lines)
    assert all(-(2**31) <= json.loads(line)["version"] < 2**31 for line in lines)


def test_data_is_copied_as_it_lies_in_the_file(log: Path) -> None:
    with open_log(log) as reader:
        for row in reader.rows():
            for line in (jsonl_line(reader.info, row), cloudevents_line(reader.info, row)):
                assert re.search(rb'"data":(\{.*\})', line) is not None
                assert row.data.encode() in line


def test_a_line_holds_every_column_of_its_row(log: Path) -> None:
    with open_log(log) as reader:
        for row in reader.rows():
            decoded = json.loads(jsonl_line(reader.info, row))
            assert decoded == {**row._asdict(), "data": json.loads(row.data)}


def test_text_that_could_break_a_line_is_escaped(tmp_path: Path) -> None:
    path = tmp_path / "run.db"
    event, blob = requested(1, clip="두 줄\n\x1b[31m\u2028")
    with create(path, parent=PARENT) as writer:
        writer.append([event, stopped()], [blob]).result()
    with open_log(path) as reader:
        row = next(reader.rows())
        for line in (jsonl_line(reader.info, row), cloudevents_line(reader.info, row)):
            assert line.count(b"\n") == 1
            assert b"\x1b" not in line
            assert json.loads(line)["subject"] == event.clip


def test_a_type_that_no_event_has_is_refused() -> None:
    assert checked_types([]) is None
    assert checked_types(["call.failed"]) == ["call.failed"]
    with pytest.raises(InputError, match=r"no event has the type 'call'; there are: answer\.accepted"):
        checked_types(["call"])
