"""Generated files are as the code says; each failure names the command that repairs it."""

import json
import subprocess
import sys
from pathlib import Path

import jsonschema
import msgspec
import pytest

from vlmrec import schema
from vlmrec.errors import CheckFailed, InputError
from vlmrec.events import NoteAdded, Payload

ROOT = Path(__file__).resolve().parents[3]


def test_schemas_are_as_generated() -> None:
    assert schema.check_schemas(ROOT / "schemas") == len(schema.generate())


def test_drift_names_the_file_and_the_repairing_command(tmp_path: Path) -> None:
    schema.write_schemas(tmp_path)
    (tmp_path / "note.added.v1.json").write_text("{}")
    with pytest.raises(CheckFailed, match=r"note\.added\.v1\.json.*vlmrec schema --write schemas"):
        schema.check_schemas(tmp_path)
    assert schema.write_schemas(tmp_path) == ["note.added.v1.json"]
    schema.check_schemas(tmp_path)


def test_older_schema_versions_are_left_alone(tmp_path: Path) -> None:
    old = tmp_path / "note.added.v0.json"
    old.write_text("{}")
    schema.write_schemas(tmp_path)
    assert old.read_text() == "{}"
    schema.check_schemas(tmp_path)


@pytest.mark.parametrize("name", sorted(schema.generate()))
def test_every_schema_is_valid_json_schema_in_its_written_form(name: str) -> None:
    body = schema.generate()[name]
    document = json.loads(body)
    jsonschema.Draft202012Validator.check_schema(document)
    assert body.endswith(b"}\n")
    assert body == json.dumps(document, sort_keys=True, indent=2, ensure_ascii=False).encode() + b"\n"


def test_a_second_validator_agrees_on_a_payload() -> None:
    validator = jsonschema.Draft202012Validator(json.loads(schema.schema_named("note.added")))
    payload: Payload = NoteAdded(ordinal=1, text="비 오는 날")
    validator.validate(json.loads(msgspec.json.encode(payload)))
    with pytest.raises(jsonschema.ValidationError):
        validator.validate({"ordinal": 0, "text": "ordinals count from 1"})


def test_an_unknown_schema_name_is_answered_with_the_known_ones() -> None:
    with pytest.raises(InputError, match=r"call\.completed"):
        schema.schema_named("call.complete")


def test_generated_pages_and_the_command_table_are_as_the_code_says() -> None:
    """In a process of its own: a command that a test has run keeps the help option it had there."""
    script = ROOT / "docs" / "generate.py"
    done = subprocess.run([sys.executable, str(script), "--check"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
