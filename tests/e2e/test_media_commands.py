"""``vlmrec media`` as a person runs it, on files and against a real S3 server."""

import json
import logging
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import boto3
import httpx
import pytest
from media_factory import frame_number, read_jpeg, write_clip, write_two_streams
from moto.server import ThreadedMotoServer

from vlmrec.canonical import sha256_hex

BUCKET = "commands"  # servers started in one process share their buckets
KEYS = {"AWS_ACCESS_KEY_ID": "AKIDEXAMPLE1234567", "AWS_SECRET_ACCESS_KEY": "wJalrXUtnFEMIexampleSECRETkey"}


def media(*args: object, code: int = 0, **environment: str) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [sys.executable, "-m", "vlmrec.cli", "media", *map(str, args)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **environment},
    )
    assert done.returncode == code, done.stderr
    return done


def test_one_clip_gives_one_object(tmp_path: Path) -> None:
    clip = write_clip(tmp_path / "a.mp4")
    found = json.loads(media("probe", clip, "--json").stdout)
    expected = {
        "file": str(clip),
        "duration_s": 2.0,
        "frames": 20,
        "first_s": 0.0,
        "last_s": 1.9,
        "average_rate": 10.0,
        "variable_rate": False,
        "width": 160,
        "height": 120,
        "rotation": 0,
        "codec": "h264",
        "sha256": sha256_hex(clip.read_bytes()),
        "bytes": clip.stat().st_size,
        "truncated": False,
    }
    assert {name: found[name] for name in expected} == expected


def test_a_file_with_two_cameras_says_which_one_is_taken(tmp_path: Path) -> None:
    two, one = write_two_streams(tmp_path / "two.mp4"), write_clip(tmp_path / "one.mp4")
    done = media("probe", two, one)
    (warning,) = done.stderr.splitlines()
    assert warning.startswith(f"Warning: {two}: holds 2 video streams; stream 0 (80x60 h264) is taken")
    assert "stream 1 (160x120 h264) is never shown" in warning
    found = json.loads(media("probe", two, "--json").stdout)
    assert found["stream_index"] == 0
    assert [stream["index"] for stream in found["video_streams"]] == [0, 1]


def test_several_files_give_an_array_with_the_good_and_the_reasons_for_the_bad(tmp_path: Path) -> None:
    good = write_clip(tmp_path / "good.mp4")
    empty = tmp_path / "empty.mp4"
    empty.touch()
    done = media("probe", empty, good, tmp_path / "absent.mp4", "--json", code=2)
    first, second, third = json.loads(done.stdout)
    assert first == {"file": str(empty), "error": f"{empty}: is empty (0 bytes)"}
    assert second["frames"] == 20
    assert "no such file" in third["error"]
    assert done.stderr.splitlines() == [f"Error: {first['error']}", f"Error: {third['error']}"]


def test_a_table_names_the_clips_and_warns_of_what_is_cut_off(tmp_path: Path, shared_data: Path) -> None:
    done = media("probe", shared_data / "clips" / "p02_corrupt_midstream.mp4", write_clip(tmp_path / "a.mp4"))
    assert "a.mp4" in done.stdout
    assert "Warning: " in done.stderr
    assert "decoding stopped after 28 frames" in done.stderr


def test_frames_are_written_as_files_that_sort_by_time(tmp_path: Path) -> None:
    clip, out = write_clip(tmp_path / "a.mp4"), tmp_path / "out"
    found = json.loads(
        media("frames", clip, "--out", out, "--sampling", "frames-4fps", "--window", "0.5", "1.5", "--json").stdout
    )
    files = sorted(out.iterdir())
    assert [path.name for path in files] == [
        f"a-000{number}-{time}s.jpg" for number, time in enumerate(("0.600", "0.900", "1.100", "1.400"), 1)
    ]
    assert [frame_number(read_jpeg(path.read_bytes())) for path in files] == [6, 9, 11, 14]
    assert [row["file"] for row in found["frames"]] == [str(path) for path in files]
    assert found["plan"]["source_sha256"] == sha256_hex(clip.read_bytes())


def test_a_part_is_cut_out_with_a_clock_or_without(tmp_path: Path) -> None:
    clip, out = write_clip(tmp_path / "a.mp4", size=(320, 240)), tmp_path / "out.mp4"
    with_clock = json.loads(media("cut", clip, "0.5", "1.5", "--out", out, "--json").stdout)
    assert (with_clock["video"]["frames"], with_clock["plan"]["burnt_clock"]) == (10, True)
    assert with_clock["video"]["sha256"] == sha256_hex(out.read_bytes())
    assert json.loads(media("probe", out, "--json").stdout)["duration_s"] == 1.0
    without = json.loads(media("cut", clip, "0.5", "1.5", "--out", out, "--no-clock", "--json").stdout)
    assert without["video"]["sha256"] != with_clock["video"]["sha256"]


def test_a_clip_is_never_written_over_by_its_own_part(tmp_path: Path) -> None:
    clip = write_clip(tmp_path / "a.mp4")
    body = clip.read_bytes()
    assert "is the clip itself" in media("cut", clip, "0", "1", "--out", clip, code=2).stderr
    assert clip.read_bytes() == body


@pytest.mark.parametrize("name", ["first.db", "notes.txt", "part"])
def test_a_part_is_written_over_nothing_but_videos(tmp_path: Path, name: str) -> None:
    clip, other = write_clip(tmp_path / "a.mp4"), tmp_path / name
    other.write_bytes(b"kept")
    assert "the ending .mp4" in media("cut", clip, "0", "1", "--out", other, code=2).stderr
    assert other.read_bytes() == b"kept"


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("frames", "{clip}", "--out", "{out}", "--sampling", "every"), "frames-8"),
        (("frames", "{clip}", "--out", "{out}", "--window", "5", "6"), "holds nothing"),
        (("cut", "{clip}", "one", "2", "--out", "{out}"), "not a time"),
        (("frames", "{out}", "--out", "{out}"), "no such file"),
    ],
)
def test_what_makes_no_sense_is_refused_in_one_line(tmp_path: Path, args: tuple[str, ...], said: str) -> None:
    clip, out = write_clip(tmp_path / "a.mp4"), tmp_path / "out"
    done = media(*(arg.format(clip=clip, out=out) for arg in args), code=2)
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert not out.exists()


@pytest.fixture
def bucket() -> Iterator[dict[str, str]]:
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    host, port = server.get_host_and_port()
    endpoint = f"http://{host}:{port}"
    keys: dict[str, Any] = {name.lower(): value for name, value in KEYS.items()}
    boto3.client("s3", endpoint_url=endpoint, region_name="us-east-1", **keys).create_bucket(Bucket=BUCKET)
    yield {**KEYS, "VLMREC_S3_ENDPOINT": endpoint, "VLMREC_S3_BUCKET": BUCKET, "VLMREC_S3_REGION": "us-east-1"}
    server.stop()


def test_a_clip_is_put_once_and_fetched_by_its_address(bucket: dict[str, str], tmp_path: Path) -> None:
    clip = write_clip(tmp_path / "a.mp4")
    first, second = (json.loads(media("put", clip, "--json", **bucket).stdout) for _ in range(2))
    assert (first["uploaded"], second["uploaded"]) == (True, False)
    assert first["key"] == second["key"] == f"media/{sha256_hex(clip.read_bytes())}.mp4"
    address = media("url", clip, "--expires", "60", **bucket).stdout.strip()
    assert httpx.get(address).content == clip.read_bytes()
    assert "X-Amz-Expires=60" in address
    told = json.loads(media("url", clip, "--json", **bucket).stdout)
    assert (told["key"], told["uploaded"], told["expires_s"]) == (first["key"], False, 6 * 3600)
    assert httpx.get(told["url"]).content == clip.read_bytes()


def test_a_store_that_refuses_says_so_without_its_keys(bucket: dict[str, str], tmp_path: Path) -> None:
    done = media("put", write_clip(tmp_path / "a.mp4"), "--bucket", "absent", code=2, **bucket)
    assert "NoSuchBucket" in done.stderr or "404" in done.stderr
    assert not any(secret in done.stderr + done.stdout for secret in KEYS.values())
