"""A write-ahead log cut off or damaged at any byte leaves a whole number of batches, and a log that can go on."""

import shutil
from itertools import accumulate
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from logs import create, requested, stopped

from vlmrec.log.reader import open_log
from vlmrec.log.verify import verify_log
from vlmrec.log.writer import LogWriter

SIZES = (1, 3, 2, 5, 1, 4, 40, 2)
ENDS = {0, *accumulate(SIZES)}


@pytest.fixture(scope="module")
def crashed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files of a writer that died after its last acknowledgement."""
    folder = tmp_path_factory.mktemp("crash")
    with create(folder / "source.db") as writer:
        numbers = iter(range(100))
        for size in SIZES:
            pairs = [requested(next(numbers)) for _ in range(size)]
            writer.append([event for event, _ in pairs], [blob for _, blob in pairs]).result()
        for ending in ("", "-wal"):
            shutil.copy(folder / f"source.db{ending}", folder / f"run.db{ending}")
    return folder / "run.db"


def whole_batches_are_left(path: Path) -> int:
    report = verify_log(path)
    assert report.holds, report.faults
    assert report.events in ENDS
    with LogWriter.open(path) as writer:
        assert writer.last_seq == report.events
        assert writer.append([stopped()]).result().last_seq == report.events + 1
    with open_log(path) as log:
        assert [row.seq for row in log.rows()] == list(range(1, report.events + 2))
    return report.events


def test_nothing_is_lost_where_nothing_is_cut(crashed: Path, tmp_path: Path) -> None:
    for ending in ("", "-wal"):
        shutil.copy(f"{crashed}{ending}", tmp_path)
    assert whole_batches_are_left(tmp_path / "run.db") == sum(SIZES)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_a_cut_or_damaged_tail_takes_whole_batches(crashed: Path, tmp_path: Path, data: st.DataObject) -> None:
    wal = Path(f"{crashed}-wal").read_bytes()
    at = data.draw(st.integers(0, len(wal)), label="byte")
    damage = data.draw(st.sampled_from([b"", b"\0" * 600, b"\xff", wal[:4120]]), label="what lies there instead")
    path = tmp_path / f"{at}.db"
    path.unlink(missing_ok=True)
    shutil.copy(crashed, path)
    keep = data.draw(st.booleans(), label="the rest is still there")
    Path(f"{path}-wal").write_bytes(wal[:at] + damage + (wal[at + len(damage) :] if keep and damage else b""))
    whole_batches_are_left(path)
