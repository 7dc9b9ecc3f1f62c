"""`vlmrec synth` as a program: real rendering, small pictures, the bytes it leaves behind."""

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

import av
import cv2
import numpy as np
import pytest

from vlmrec.gold import load_gold

SMALL = ("--size", "320x180", "--fps", "5", "--duration", "6")


def synth(*arguments: str, check: bool = True) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "vlmrec.cli", "synth", *arguments],
        capture_output=True,
        text=True,
        check=check,
        env=os.environ,
    )


@pytest.fixture(scope="module")
def clips(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("clips")
    synth("--out", str(out), "--seed", "2", "--count", "2", "--scenario", "rear_end", "--scenario", "crossing", *SMALL)
    return out


def test_each_clip_has_a_label_of_the_same_name_and_the_stated_shape(clips: Path) -> None:
    videos = sorted(clips.glob("*.mp4"))
    assert [path.stem for path in videos] == list(load_gold(clips / "gold").clip_ids)
    for path in videos:
        with av.open(str(path)) as container:
            stream = container.streams.video[0]
            frames = sum(1 for _ in container.decode(video=0))
            assert (stream.width, stream.height, frames) == (320, 180, 30)
            assert stream.codec_context.name == "h264"


def test_the_same_seed_gives_the_same_bytes_whatever_the_number_of_workers(clips: Path, tmp_path: Path) -> None:
    names = ("--scenario", "rear_end", "--scenario", "crossing")
    synth("--out", str(tmp_path), "--seed", "2", "--count", "2", *names, "--workers", "2", *SMALL)
    assert _hashes(tmp_path) == _hashes(clips)


def test_neither_names_nor_metadata_nor_bytes_of_the_video_say_what_happens(clips: Path) -> None:
    notes = json.loads((clips / "gold" / "_scenarios.json").read_text("utf-8"))
    for path in clips.glob("*.mp4"):
        assert notes[path.stem]["scenario"] in ("rear_end", "crossing")
        body = path.read_bytes()
        for word in (b"rear_end", b"crossing", b"scenario", "차".encode(), b"vlmrec"):
            assert word not in body
        with av.open(str(path)) as container:
            assert "creation_time" not in container.metadata
            assert "title" not in container.metadata


def test_the_picture_moves_and_is_not_flat(clips: Path) -> None:
    for path in clips.glob("*.mp4"):
        with av.open(str(path)) as container:
            frames = [frame.to_ndarray(format="gray") for frame in container.decode(video=0)]
        assert np.std(frames[0]) > 15
        assert np.mean(np.abs(frames[0].astype(int) - frames[5])) > 2


def test_the_gold_box_of_the_counterpart_lies_on_something_that_moves_against_the_road(clips: Path) -> None:
    """In the crossing clip the counterpart is the one thing that slides across: its box must hold that motion."""
    notes = json.loads((clips / "gold" / "_scenarios.json").read_text("utf-8"))
    clip_id = next(name for name, note in notes.items() if note["scenario"] == "crossing")
    label = load_gold(clips / "gold").reviewed[clip_id]
    assert label.stage0 is not None
    counterpart = next(each for each in label.stage0.entities if each.role == "counterpart")
    contact = label.stage0.contact_time
    assert contact is not None
    box = next(each.box for each in counterpart.boxes if each.t == contact)
    with av.open(str(clips / f"{clip_id}.mp4")) as container:
        frames = [frame.to_ndarray(format="gray") for frame in container.decode(video=0)]
    at = int(contact * 5)
    moved = np.abs(frames[at + 1].astype(int) - frames[at])
    x0, y0, x1, y1 = (int(part * size / 1000) for part, size in zip(box, (320, 180, 320, 180), strict=True))
    assert moved[y0:y1, x0:x1].mean() > 5


def test_contact_sheets_are_drawn_for_every_clip(clips: Path) -> None:
    printed = synth("--contact-sheet", str(clips)).stdout.split()
    assert len(printed) == 2
    for path in printed:
        picture = cv2.imread(path)
        assert picture is not None
        assert picture.shape[1] > 1500


def test_json_output_is_one_document(tmp_path: Path) -> None:
    found = json.loads(synth("--list", "--json").stdout)
    assert {row["scenario"] for row in found} >= {"rear_end", "falling_load"}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "--out DIR is missing"),
        (("--out", "x", "--size", "big"), "WIDTHxHEIGHT"),
        (("--out", "x", "--engine", "9"), "9"),
    ],
)
def test_a_wrong_call_ends_with_one_line_and_code_2(arguments: tuple[str, ...], message: str, tmp_path: Path) -> None:
    done = synth(*arguments, check=False)
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def _hashes(folder: Path) -> dict[str, str]:
    files = sorted(path for path in folder.rglob("*") if path.is_file() and "sheets" not in path.parts)
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}
