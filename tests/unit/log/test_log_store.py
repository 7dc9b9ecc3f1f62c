"""Run ids, names of logs, and the latest run."""

from pathlib import Path

import pytest
from logs import UUID, create

from vlmrec.errors import InputError
from vlmrec.log.format import LogKind
from vlmrec.log.store import latest_run, open_run, resolve_run, run_logs, run_path
from vlmrec.log.writer import LogWriter


@pytest.mark.parametrize("run_id", ["real-01", "A", "qwen3.5_full", "0"])
def test_a_slug_names_a_run(tmp_path: Path, run_id: str) -> None:
    assert run_path(tmp_path, run_id) == tmp_path / f"{run_id}.db"


@pytest.mark.parametrize(
    "run_id",
    ["", ".hidden", "-option", "a/b", "../up", "a b", "실행", "a\n", "x" * 101, "run.db", "run.db.lock", "..", "a:b"],
)
def test_what_is_no_slug_is_refused(tmp_path: Path, run_id: str) -> None:
    with pytest.raises(InputError, match="can't be a run id"):
        run_path(tmp_path, run_id)


@pytest.mark.parametrize("run_id", ["catalog", "labels", "Labels"])
def test_the_stores_own_names_are_reserved(tmp_path: Path, run_id: str) -> None:
    with pytest.raises(InputError, match="the store keeps"):
        run_path(tmp_path, run_id)


def test_a_run_is_found_by_its_id_and_by_its_path(tmp_path: Path) -> None:
    create(tmp_path / "one.db").close()
    assert resolve_run("one", tmp_path) == tmp_path / "one.db"
    assert resolve_run(str(tmp_path / "one.db"), Path("elsewhere")) == tmp_path / "one.db"


def test_a_run_that_is_not_there_is_told_with_those_that_are(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="it holds no run yet"):
        resolve_run("one", tmp_path)
    for name in ("two", "three", "labels", "catalog"):
        create(tmp_path / f"{name}.db").close()
    with pytest.raises(InputError, match=r"no run 'one' in the store .* \(runs there: three, two\)"):
        resolve_run("one", tmp_path)
    with pytest.raises(InputError, match="no run log at"):
        resolve_run("some/where.db", tmp_path)
    assert run_logs(tmp_path / "nothing") == []


def test_the_latest_run_is_the_one_that_began_last(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="holds no run yet"):
        latest_run(tmp_path)
    for name, created in (("b", "2026-01-02T00:00:00Z"), ("a", "2026-01-03T00:00:00Z"), ("c", "2026-01-01T00:00:00Z")):
        LogWriter.create(tmp_path / f"{name}.db", kind=LogKind.RUN, log_uuid=UUID, created=created).close()
    (tmp_path / "other.db").write_bytes(b"not a log")
    assert latest_run(tmp_path) == tmp_path / "a.db"


def test_a_command_seals_what_was_left_unsealed(tmp_path: Path) -> None:
    path = tmp_path / "run.db"
    create(path).close()
    assert path.read_bytes()[18:20] == b"\x02\x02"  # WAL
    with open_run(path) as log:
        assert log.last_seq() == 0
    assert path.read_bytes()[18:20] == b"\x01\x01"
