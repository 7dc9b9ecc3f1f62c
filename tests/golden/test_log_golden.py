"""A log of every released version is read as it was written, and judged by a second validator."""

import json
import subprocess
import sys
from pathlib import Path

import make_log
import pytest
from jsonschema import Draft202012Validator
from logs import query

from vlmrec.canonical import canonical_json
from vlmrec.events import EVENT_TYPES
from vlmrec.log.format import FORMAT
from vlmrec.log.reader import open_log
from vlmrec.log.upcast import UPCASTERS
from vlmrec.log.verify import verify_log
from vlmrec.log.views import VIEWS
from vlmrec.schemas import load

LOGS = sorted(make_log.FOLDER.glob("*.db"))
CURRENT = make_log.FOLDER / f"{make_log.NAME}.db"
RENEW = f"; if that is meant, run `{make_log.COMMAND}` and review the diff of its .jsonl"


@pytest.fixture(params=LOGS, ids=lambda path: path.stem)
def golden(request: pytest.FixtureRequest) -> Path:
    return Path(request.param)


def test_there_is_a_golden_log_of_every_format() -> None:
    assert [path.stem for path in LOGS] == [f"format_{number}" for number in range(1, FORMAT + 1)]


def test_a_golden_log_holds(golden: Path) -> None:
    report = verify_log(golden)
    assert report.holds, f"{report.faults}{RENEW}"


def test_a_golden_log_is_the_text_beside_it(golden: Path) -> None:
    assert make_log.lines(golden) == golden.with_suffix(".jsonl").read_bytes()


def test_every_payload_of_a_golden_log_is_valid_by_its_own_json_schema(golden: Path) -> None:
    for event_type, version, data in query(golden, "SELECT type, version, data FROM events"):
        schema = json.loads(load(f"{event_type}.v{version}.json"))
        Draft202012Validator.check_schema(schema)
        Draft202012Validator(schema).validate(json.loads(data))


def test_every_event_of_a_golden_log_reads_at_its_current_version(golden: Path) -> None:
    with open_log(golden) as log:
        for row, event in zip(log.rows(), log.events(), strict=True):
            assert event.data.type == row.type
            if row.version == event.data.schema_version:
                assert canonical_json(event.data).decode() == row.data


def test_the_views_of_a_golden_log_can_be_read(golden: Path) -> None:
    for view in VIEWS:
        assert query(golden, f"SELECT * FROM {view}")


def test_every_event_type_and_version_is_in_the_current_golden_log() -> None:
    found = set(query(CURRENT, "SELECT DISTINCT type, version FROM events"))
    assert found >= {(cls.type, cls.schema_version) for cls in EVENT_TYPES}, f"an event type is missing{RENEW}"


def test_every_older_version_has_its_step_upwards() -> None:
    for cls in EVENT_TYPES:
        for version in range(1, cls.schema_version):
            assert (cls.type, version) in UPCASTERS


def test_the_current_golden_log_is_what_the_code_writes(tmp_path: Path) -> None:
    path = tmp_path / "new.db"
    make_log.write_log(path)
    assert make_log.lines(path) == make_log.lines(CURRENT), f"the writer writes other events than before{RENEW}"
    everything = (
        "SELECT * FROM log",
        "SELECT * FROM blobs ORDER BY sha256",
        "SELECT type, name, sql FROM sqlite_schema ORDER BY name",
    )
    for statement in everything:
        assert query(path, statement) == query(CURRENT, statement), RENEW


def test_the_documents_own_program_walks_the_chain(golden: Path) -> None:
    page = (Path(__file__).parents[2] / "docs" / "log.md").read_text("utf-8")
    program = page.split("```python\n")[1].split("```")[0].replace('"run.db"', repr(str(golden)))
    done = subprocess.run([sys.executable, "-I", "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == verify_log(golden).head
