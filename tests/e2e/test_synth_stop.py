"""`vlmrec synth` that is interrupted, killed, run twice at once, or given a folder that it can't use."""

import hashlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner

from vlmrec.cli import cli
from vlmrec.gold import load_gold

SMALL = ("--size", "320x180", "--fps", "5", "--duration", "6", "--scenario", "crossing")


def start(out: Path, *arguments: str) -> "subprocess.Popen[str]":
    """In a process group of its own, as a shell starts it."""
    command = [sys.executable, "-m", "vlmrec.cli", "synth", "--out", str(out), *SMALL, *arguments]
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=os.environ, process_group=0
    )


def wait_for(out: Path, pattern: str) -> None:
    deadline = time.monotonic() + 60
    while not list(out.glob(pattern)):
        assert time.monotonic() < deadline, f"no {pattern} appeared"
        time.sleep(0.01)


def assert_every_clip_has_its_label(out: Path) -> None:
    videos = sorted(path.stem for path in out.glob("*.mp4"))
    assert videos
    assert videos == list(load_gold(out / "gold").clip_ids)
    assert videos == sorted(json.loads((out / "gold" / "_scenarios.json").read_text("utf-8")))
    assert {path.name for path in out.iterdir()} == {"gold", *(f"{name}.mp4" for name in videos)}


def contents(folder: Path) -> dict[str, str]:
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


@pytest.mark.parametrize("workers", ["1", "2"])
def test_ctrl_c_to_the_whole_group_ends_at_once_and_leaves_only_labelled_clips(tmp_path: Path, workers: str) -> None:
    process = start(tmp_path, "--count", "9", "--workers", workers, "--duration", "30")
    wait_for(tmp_path, ".clip_*.part")
    began = time.monotonic()
    os.killpg(process.pid, signal.SIGINT)
    output, errors = process.communicate(timeout=60)  # until all workers have closed their ends
    took = time.monotonic() - began
    assert process.returncode == 130, output + errors
    assert errors == "Interrupted.\n"
    assert took < 3
    assert [path.name for path in tmp_path.iterdir()] == ["gold"]
    assert list((tmp_path / "gold").iterdir()) == []


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_a_clip_that_was_finished_before_the_end_has_its_label(tmp_path: Path, how: signal.Signals) -> None:
    process = start(tmp_path, "--count", "9")
    wait_for(tmp_path, "clip_*.mp4")
    wait_for(tmp_path, ".clip_*.part")
    os.kill(process.pid, how)
    process.communicate(timeout=60)  # its workers hold the pipes: all have left when it returns
    assert_every_clip_has_its_label(tmp_path)
    assert len(list(tmp_path.glob("*.mp4"))) < 9


def test_two_equal_commands_at_once_in_one_folder_both_succeed_with_the_bytes_of_one(tmp_path: Path) -> None:
    both = [start(tmp_path / "both", "--count", "2") for _ in range(2)]
    for process in both:
        output, errors = process.communicate(timeout=120)
        assert process.returncode == 0, output + errors
    assert_every_clip_has_its_label(tmp_path / "both")
    alone = start(tmp_path / "alone", "--count", "2")
    alone.communicate(timeout=120)
    assert contents(tmp_path / "both") == contents(tmp_path / "alone")


def test_one_clip_is_called_one(tmp_path: Path) -> None:
    process = start(tmp_path)
    output, _ = process.communicate(timeout=60)
    assert output == f"1 clip in {tmp_path}, its label in {tmp_path / 'gold'}\n"


@pytest.mark.parametrize("damage", ["{", "[]", "\udcff"])
def test_damaged_notes_are_refused_before_anything_is_rendered(tmp_path: Path, damage: str) -> None:
    notes = tmp_path / "gold" / "_scenarios.json"
    notes.parent.mkdir()
    notes.write_bytes(damage.encode(errors="surrogateescape"))
    result = CliRunner().invoke(cli, ["synth", "--out", str(tmp_path), *SMALL], catch_exceptions=False)
    assert result.exit_code == 2
    assert f"{notes}: is damaged" in result.output
    assert [path.name for path in tmp_path.rglob("*")] == ["gold", "_scenarios.json"]


@pytest.mark.parametrize("within", ["file", "file/below", "has_file_gold"])
def test_a_folder_that_cannot_be_written_to_is_refused_in_one_line(tmp_path: Path, within: str) -> None:
    (tmp_path / "file").write_bytes(b"")
    (tmp_path / "has_file_gold").mkdir()
    (tmp_path / "has_file_gold" / "gold").write_bytes(b"")
    result = CliRunner().invoke(cli, ["synth", "--out", str(tmp_path / within), *SMALL], catch_exceptions=False)
    assert result.exit_code == 2
    assert str(tmp_path / within) in result.output


@pytest.mark.skipif(not Path("/proc/self").is_dir(), reason="needs a folder that nobody can write to")
def test_an_existing_folder_that_nobody_can_write_to_is_named() -> None:
    result = CliRunner().invoke(cli, ["synth", "--out", "/proc", *SMALL], catch_exceptions=False)
    assert result.exit_code == 2
    assert "Error: /proc: can't write there" in result.output


def test_an_encoder_that_cannot_write_says_which_file(tmp_path: Path) -> None:
    import numpy as np

    from vlmrec.errors import InputError
    from vlmrec.synth.encode import write_video

    (tmp_path / "file").write_bytes(b"")
    target = tmp_path / "file" / "a.mp4"
    with pytest.raises(InputError, match=r"a\.mp4: can't write the video there: Not a directory"):
        write_video(target, [np.zeros((64, 64, 3), np.uint8)], fps=5, width=64, height=64, crf=30)


def test_a_worker_that_refuses_is_quoted_by_whoever_waits_for_it(tmp_path: Path) -> None:
    from vlmrec.errors import InputError
    from vlmrec.synth.make import _render, plan_clips
    from vlmrec.synth.processes import run_each

    (plan,) = plan_clips(seed=0, count=1, width=64, height=64, fps=1, duration=6)
    with pytest.raises(InputError, match="can't write the video there"):
        list(run_each(_render, [(plan, tmp_path / "missing" / "a.part")]))
