"""What probe says of files: the shared real clips, clips made here, and files that aren't clips."""

import json
from fractions import Fraction
from pathlib import Path

import pytest
from media_factory import write_clip, write_two_streams

from vlmrec.errors import MediaError
from vlmrec.media.probe import probe, probe_async
from vlmrec.stages.video import clip_opened

UNREADABLE = {
    "p03_no_moov_44_bytes.mp4": "no index",
    "p04_zero_length.mp4": "empty",
    "p05_audio_only.mp4": "no video stream",
}
BEST_STREAM_DIFFERS = {"p08_two_video_tracks.mp4": (390, 480, 270)}


def test_every_real_clip_gives_the_frames_and_times_that_were_measured(shared_data: Path) -> None:
    expected = json.loads((shared_data / "clips" / "expected.json").read_text())
    for name, facts in expected.items():
        if name in UNREADABLE or name in BEST_STREAM_DIFFERS:
            continue
        found = probe(shared_data / "clips" / name)
        assert (found.frames, found.sha256, found.bytes) == (
            facts["decode"]["frames"],
            facts["sha256"],
            facts["bytes"],
        ), name
        assert found.codec == facts["video"]["codec"], name
        assert found.rotation == facts["decode"]["rotation"][0], name
        sizes = (found.width, found.height) if found.rotation == 0 else (found.height, found.width)
        assert list(sizes) == facts["decode"]["sizes"][0], name
        assert found.truncated == (name == "p02_corrupt_midstream.mp4"), name
        assert found.pts_not_increasing == facts["decode"]["pts_not_increasing"], name
        if facts["decode"]["first_s"] is None:
            assert found.timestamps_synthesised, name
        else:
            assert (found.first_s, found.last_s) == (facts["decode"]["first_s"], facts["decode"]["last_s"]), name
            own = Fraction(facts["decode"]["last_frame_duration"]) * Fraction(facts["video"]["time_base"])
            assert abs(found.exact_duration - (Fraction(found.last_s) - Fraction(found.first_s) + own)) < 2e-6, name


@pytest.mark.parametrize("name", UNREADABLE)
def test_a_file_without_a_frame_is_refused_by_name_and_fault(shared_data: Path, name: str) -> None:
    with pytest.raises(MediaError, match=UNREADABLE[name]) as refused:
        probe(shared_data / "clips" / name)
    assert name in str(refused.value)


def test_the_best_video_stream_is_taken_and_not_the_first(shared_data: Path) -> None:
    for name, shape in BEST_STREAM_DIFFERS.items():
        found = probe(shared_data / "clips" / name)
        assert (found.frames, found.width, found.height) == shape
        assert found.stream_index == 3


def test_every_video_stream_is_named_and_pictures_attached_to_sound_are_none(tmp_path: Path, shared_data: Path) -> None:
    found = probe(write_two_streams(tmp_path / "two.mp4"))
    assert [(each.index, each.codec, each.width, each.height) for each in found.video_streams] == [
        (0, "h264", 80, 60),
        (1, "h264", 160, 120),
    ]
    assert (found.stream_index, found.width) == (0, 80)
    assert clip_opened(Path("two.mp4"), found).video_streams == 2
    assert [each.index for each in probe(write_clip(tmp_path / "one.mp4")).video_streams] == [0]
    for name in BEST_STREAM_DIFFERS:
        streams = probe(shared_data / "clips" / name).video_streams
        assert len(streams) > 1
        assert 3 in [each.index for each in streams]


def test_a_clip_of_twenty_frames_lasts_as_long_as_its_frames(tmp_path: Path) -> None:
    found = probe(write_clip(tmp_path / "a.mp4"))
    assert (found.frames, found.duration, found.duration_s, found.first_s, found.last_s) == (20, "2", 2.0, 0.0, 1.9)
    assert (found.average_rate, found.average_rate_exact, found.variable_rate) == (10.0, "10", False)
    assert (found.width, found.height, found.rotation, found.truncated) == (160, 120, 0, False)


def test_uneven_gaps_are_reported_as_a_variable_rate(tmp_path: Path) -> None:
    found = probe(write_clip(tmp_path / "a.mp4", pts=(0, 1, 2, 8, 9), last_ticks=1))
    assert found.variable_rate
    assert found.duration == "1"
    assert found.clip_times == tuple(Fraction(n, 10) for n in (0, 1, 2, 8, 9))


def test_rotation_swaps_the_sides_as_shown(tmp_path: Path) -> None:
    for rotation, size in ((90, (120, 160)), (-90, (120, 160)), (180, (160, 120))):
        found = probe(write_clip(tmp_path / f"{rotation}.mp4", rotation=rotation, pts=(0, 1)))
        assert (found.width, found.height) == size
        assert found.rotation % 360 == rotation % 360


def test_a_recording_cut_in_the_middle_opens_as_truncated_with_the_reason(tmp_path: Path) -> None:
    whole = write_clip(tmp_path / "whole.mp4", options={"g": "5"}, pts=tuple(range(100)))
    body = whole.read_bytes()
    moov = body.index(b"moov") - 4
    cut = tmp_path / "cut.mp4"
    free = body[:moov]
    # the index is kept and half of the pictures are gone: what a card that filled up leaves behind
    cut.write_bytes(free[: moov // 2] + bytes(moov - moov // 2) + body[moov:])
    found = probe(cut)
    assert 0 < found.frames < 100
    assert found.truncated
    assert str(found.frames) in (found.truncated_reason or "")


def test_a_file_whose_index_promises_frames_that_it_does_not_hold_is_refused(tmp_path: Path) -> None:
    body = write_clip(tmp_path / "whole.mp4").read_bytes()
    moov, mdat = body.index(b"moov") - 4, body.index(b"mdat") + 4
    empty = tmp_path / "empty.mp4"
    empty.write_bytes(body[:mdat] + bytes(moov - mdat) + body[moov:])
    with pytest.raises(MediaError, match=r"empty\.mp4: not a single frame decodes"):
        probe(empty)


@pytest.mark.parametrize(
    ("body", "fault"),
    [
        (b"not a video at all, only words " * 20, "can't be opened as video"),
        (b"#EXTM3U\n#EXTINF:4,\nfile:///etc/hostname\n#EXT-X-ENDLIST\n", "can't be opened as video"),
        (b"ffconcat version 1.0\nfile 'a.mp4'\n", "can't be opened as video"),
        (bytes(4096), "can't be opened as video"),
    ],
)
def test_what_is_no_video_is_refused(tmp_path: Path, body: bytes, fault: str) -> None:
    write_clip(tmp_path / "a.mp4")
    (tmp_path / "b.mp4").write_bytes(body)
    with pytest.raises(MediaError, match=fault):
        probe(tmp_path / "b.mp4")


def test_a_path_that_is_no_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(MediaError, match="no such file"):
        probe(tmp_path / "absent.mp4")
    with pytest.raises(MediaError, match="not a file"):
        probe(tmp_path)


@pytest.mark.parametrize("name", ["블랙박스 영상.mp4", "a%03d b:c'd.mp4", "-i.mp4", "http:x.mp4"])
def test_odd_file_names_are_only_names(tmp_path: Path, name: str) -> None:
    assert probe(write_clip(tmp_path / "a.mp4").rename(tmp_path / name)).frames == 20


async def test_probe_can_be_awaited(tmp_path: Path) -> None:
    assert (await probe_async(write_clip(tmp_path / "a.mp4"))).frames == 20
