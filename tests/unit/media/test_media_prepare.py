"""Content parts: what a server gets, and what a log may hold of it."""

import base64
import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from media_factory import frame_number, read_jpeg, write_clip

from vlmrec.canonical import canonical_json, sha256_hex
from vlmrec.errors import InputError, MediaError
from vlmrec.media.plan import FramesPlan, VideoPlan
from vlmrec.media.prepare import MediaSpec, prepare, prepare_async
from vlmrec.media.probe import probe
from vlmrec.media.video import make_video, plan_video


def body_of(part: Any) -> tuple[str, bytes]:
    head, data = part[part["type"]]["url"].split(";base64,")
    return head.removeprefix("data:"), base64.b64decode(data, validate=True)


def probed_again(tmp_path: Path, body: bytes) -> Any:
    (tmp_path / "again.mp4").write_bytes(body)
    return probe(tmp_path / "again.mp4")


def test_an_mp4_file_goes_out_as_its_own_bytes(tmp_path: Path) -> None:
    clip = write_clip(tmp_path / "a.mp4")
    made = prepare(clip, probe(clip), MediaSpec())
    (part,) = made.parts
    assert body_of(part) == ("video/mp4", clip.read_bytes())
    assert isinstance(made.plan, VideoPlan)
    assert made.plan.method == "as_is"
    ref = {"sha256": sha256_hex(clip.read_bytes()), "media_type": "video/mp4", "bytes": clip.stat().st_size}
    assert made.loggable == ({"type": "video_url", "video_url": {"url": ref}},)


def test_frames_go_out_each_after_its_label(tmp_path: Path) -> None:
    clip = write_clip(tmp_path / "a.mp4")
    made = prepare(clip, probe(clip), MediaSpec(sampling="frames-4"))
    assert [part["type"] for part in made.parts] == ["text", "image_url"] * 4
    assert [part["text"] for part in made.parts[::2]] == [
        f"[frame {number} at {time} s]" for number, time in enumerate(("0.200", "0.700", "1.200", "1.700"), 1)
    ]
    assert [frame_number(read_jpeg(body_of(part)[1])) for part in made.parts[1::2]] == [2, 7, 12, 17]
    assert [ref.time_s for ref in made.media] == [0.2, 0.7, 1.2, 1.7]
    assert isinstance(made.plan, FramesPlan)
    assert [pick.pts * Fraction(made.plan.time_base) for pick in made.plan.picks] == [
        Fraction(n, 10) for n in (2, 7, 12, 17)
    ]


@pytest.mark.parametrize("spec", [MediaSpec(), MediaSpec(sampling="frames-4fps", burn_clock=True)])
def test_what_a_log_may_hold_has_no_body_and_names_each(tmp_path: Path, spec: MediaSpec) -> None:
    clip = write_clip(tmp_path / "a.mp4")
    made = prepare(clip, probe(clip), spec)
    held = canonical_json({"parts": made.loggable, "plan": made.plan, "media": made.media}).decode()
    assert "base64" not in held
    assert str(tmp_path) not in held
    bodies = [body_of(part)[1] for part in made.parts if part["type"] != "text"]
    assert [ref.sha256 for ref in made.media] == [sha256_hex(body) for body in bodies]
    assert [ref.bytes for ref in made.media] == [len(body) for body in bodies]
    assert all(json.dumps(ref.sha256) in held for ref in made.media)


def test_a_window_is_cut_to_its_frames_at_their_own_times(tmp_path: Path) -> None:
    pts = (0, 1, 2, 3, 5, 9, 10, 11, 12, 13, 14)
    clip = write_clip(tmp_path / "a.mp4", pts=pts, rotation=90)
    made = prepare(clip, probe(clip), MediaSpec(window=("0.3", "1.25")))
    found = probed_again(tmp_path, body_of(made.parts[0])[1])
    assert found.clip_times == tuple(Fraction(n, 10) for n in (0, 2, 6, 7, 8, 9))
    assert found.duration_s == 1.0  # the last frame is shown until the next one of the clip
    assert (found.width, found.height, found.rotation) == (120, 160, 0)
    assert isinstance(made.plan, VideoPlan)
    assert [pick.time_s for pick in made.plan.picks or ()] == [0.3, 0.5, 0.9, 1.0, 1.1, 1.2]


def test_a_sub_clip_keeps_the_rate_by_which_servers_time_its_frames(tmp_path: Path) -> None:
    import cv2

    clip = write_clip(tmp_path / "a.mp4", pts=tuple(range(100)), time_base=Fraction(1, 25))
    made = prepare(clip, probe(clip), MediaSpec(window=("0.51", "1.73"), burn_clock=True))
    (tmp_path / "part.mp4").write_bytes(body_of(made.parts[0])[1])
    reader = cv2.VideoCapture(str(tmp_path / "part.mp4"))
    assert reader.get(cv2.CAP_PROP_FPS) == 25
    assert reader.get(cv2.CAP_PROP_FRAME_COUNT) == 31
    assert sum(1 for _ in iter(lambda: reader.read()[0], False)) == 31


def test_making_a_sub_clip_twice_gives_the_same_bytes(tmp_path: Path) -> None:
    clip = write_clip(tmp_path / "a.mp4", size=(322, 242))
    spec = MediaSpec(window=("0.5", "1.5"), burn_clock=True, max_pixels=20_000)
    first, *others = (prepare(clip, probe(clip), spec) for _ in range(6))
    assert all(other == first for other in others)


def test_a_pixel_limit_on_video_scales_every_frame(tmp_path: Path) -> None:
    clip = write_clip(tmp_path / "a.mp4", size=(320, 180))
    found = probed_again(tmp_path, body_of(prepare(clip, probe(clip), MediaSpec(max_pixels=14_400)).parts[0])[1])
    assert (found.width, found.height, found.frames, found.duration_s) == (160, 90, 20, 2.0)
    assert prepare(clip, probe(clip), MediaSpec(max_pixels=10**6)).plan.method == "as_is"  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("name", "method", "media_type"),
    [
        ("d10_dashcam_expressway.ts", "remux", "video/mp4"),
        ("p07_late_stream.ts", "remux", "video/mp4"),
        ("p10_vp9_161x121.webm", "as_is", "video/webm"),
        ("p13_blackbox_mjpeg.avi", "transcode", "video/mp4"),
        ("p14_raw_no_pts.h264", "transcode", "video/mp4"),
    ],
)
def test_other_containers_become_mp4_with_the_same_frames_at_the_same_times(
    shared_data: Path, tmp_path: Path, name: str, method: str, media_type: str
) -> None:
    clip = shared_data / "clips" / name
    before = probe(clip)
    made = prepare(clip, before, MediaSpec())
    assert isinstance(made.plan, VideoPlan)
    assert made.plan.method == method
    kind, body = body_of(made.parts[0])
    after = probed_again(tmp_path, body)
    assert kind == media_type
    assert (after.frames, after.first_s, after.width, after.height) == (before.frames, 0.0, before.width, before.height)
    assert after.clip_times == before.clip_times
    assert abs(after.duration_s - before.duration_s) < 1e-4


def test_a_copied_stream_shows_the_same_pictures(shared_data: Path, tmp_path: Path) -> None:
    clip = shared_data / "clips" / "d10_dashcam_expressway.ts"
    copied = tmp_path / "copied.mp4"
    copied.write_bytes(body_of(prepare(clip, probe(clip), MediaSpec()).parts[0])[1])
    spec = MediaSpec(sampling="frames-4")
    ours, theirs = (prepare(path, probe(path), spec).media for path in (clip, copied))
    assert ours == theirs


def test_a_file_too_large_to_be_sent_whole_is_refused_before_it_is_read(tmp_path: Path) -> None:
    clip = write_clip(tmp_path / "a.mp4")
    plan = plan_video(probe(clip))
    with clip.open("r+b") as file:
        file.truncate(3 << 30)  # a file with a hole: it takes no room on the disk
    with pytest.raises(MediaError, match="larger than 1 GiB"):
        make_video(clip, plan)


@pytest.mark.parametrize("window", [("1", "1"), ("3", "4"), ("a", "4"), ("1/0", "2")])
def test_a_window_that_means_nothing_is_refused(tmp_path: Path, window: tuple[str, str]) -> None:
    clip = write_clip(tmp_path / "a.mp4")
    for sampling in (None, "frames-8"):
        with pytest.raises(InputError, match=r"holds nothing|not a time"):
            prepare(clip, probe(clip), MediaSpec(window=window, sampling=sampling))


async def test_prepare_can_be_awaited(tmp_path: Path) -> None:
    clip = write_clip(tmp_path / "a.mp4")
    found = probe(clip)
    assert await prepare_async(clip, found, MediaSpec()) == prepare(clip, found, MediaSpec())
