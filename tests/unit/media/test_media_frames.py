"""Frames by plan: the right pictures, upright, in the size asked for, the same bytes each time."""

import hashlib
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from media_factory import frame_number, read_jpeg, striped, write_clip

from vlmrec.errors import InputError, MediaError
from vlmrec.media.frames import extract_frames
from vlmrec.media.plan import fitted_size, plan_frames
from vlmrec.media.probe import probe
from vlmrec.media.sampling import Window, parse_sampling

FOUR_FPS = parse_sampling("frames-4fps")


def test_the_frames_shown_are_those_that_were_planned(tmp_path: Path) -> None:
    clip = write_clip(tmp_path / "a.mp4", pts=tuple(range(100, 140)), time_base=Fraction(1, 20))
    plan = plan_frames(probe(clip), FOUR_FPS)
    frames = extract_frames(clip, plan)
    assert [frame.pick.time_s for frame in frames] == [0.1, 0.35, 0.6, 0.85, 1.1, 1.35, 1.6, 1.85]
    assert [frame_number(read_jpeg(frame.jpeg)) for frame in frames] == [2, 7, 12, 17, 22, 27, 32, 37]
    assert frames[2].label == "[frame 3 at 0.600 s]"
    assert all(frame.sha256 == hashlib.sha256(frame.jpeg).hexdigest() for frame in frames)


def test_b_frames_and_long_groups_make_no_difference(tmp_path: Path) -> None:
    options = {"bf": "3", "g": "250", "preset": "medium"}
    clip = write_clip(tmp_path / "a.mp4", pts=tuple(range(60)), time_base=Fraction(1, 20), options=options)
    window = Window(Fraction("1.5"), Fraction("2.5"))
    frames = extract_frames(clip, plan_frames(probe(clip), FOUR_FPS, window=window))
    assert [frame_number(read_jpeg(frame.jpeg)) for frame in frames] == [32, 37, 42, 47]


def test_the_same_plan_gives_the_same_bytes(tmp_path: Path) -> None:
    clip = write_clip(tmp_path / "a.mp4", size=(322, 242))
    plan = plan_frames(probe(clip), FOUR_FPS, max_pixels=40_000, burn_clock=True)
    assert extract_frames(clip, plan) == extract_frames(clip, plan)


def upper_half_light(number: int, width: int, height: int) -> np.ndarray:
    picture = np.zeros((height, width, 3), dtype=np.uint8)
    picture[: height // 2] = 220
    return picture


@pytest.mark.parametrize(("rotation", "light"), [(0, "top"), (90, "left"), (180, "bottom"), (-90, "right")])
def test_a_turned_recording_is_shown_upright(tmp_path: Path, rotation: int, light: str) -> None:
    clip = write_clip(tmp_path / "a.mp4", rotation=rotation, paint=upper_half_light)
    (frame,) = extract_frames(clip, plan_frames(probe(clip), parse_sampling("frames-1")))
    picture = read_jpeg(frame.jpeg)
    assert (
        (picture.shape[1], picture.shape[0])
        == (frame.width, frame.height)
        == ((160, 120), (120, 160))[rotation % 180 > 0]
    )
    half_h, half_w = picture.shape[0] // 2, picture.shape[1] // 2
    halves = {
        "top": picture[:half_h],
        "bottom": picture[half_h:],
        "left": picture[:, :half_w],
        "right": picture[:, half_w:],
    }
    assert max(halves, key=lambda side: halves[side].mean()) == light


def test_rotation_agrees_with_opencv_on_a_phones_recording(shared_data: Path) -> None:
    import cv2

    clip = shared_data / "clips" / "p01_rotate_90.mov"
    (frame,) = extract_frames(clip, plan_frames(probe(clip), parse_sampling("frames-1")))
    reader = cv2.VideoCapture(str(clip))
    reader.read()
    theirs = cv2.cvtColor(reader.read()[1], cv2.COLOR_BGR2RGB)
    assert theirs.shape == read_jpeg(frame.jpeg).shape
    assert np.abs(theirs.astype(int) - read_jpeg(frame.jpeg)).mean() < 6


def test_a_pixel_limit_scales_the_picture_and_keeps_its_shape(tmp_path: Path) -> None:
    clip = write_clip(tmp_path / "a.mp4", size=(320, 180))
    frames = extract_frames(clip, plan_frames(probe(clip), FOUR_FPS, max_pixels=14_400))
    assert {(frame.width, frame.height) for frame in frames} == {(160, 90)}
    assert frame_number(read_jpeg(frames[3].jpeg)) == frames[3].pick.index


def test_the_burnt_clock_changes_the_corner_and_nothing_else(tmp_path: Path) -> None:
    clip = write_clip(tmp_path / "a.mp4", size=(320, 240))
    found = probe(clip)
    plain = extract_frames(clip, plan_frames(found, FOUR_FPS))[1]
    clock = extract_frames(clip, plan_frames(found, FOUR_FPS, burn_clock=True))[1]
    difference = np.abs(read_jpeg(plain.jpeg).astype(int) - read_jpeg(clock.jpeg)).max(axis=2) > 30
    rows, columns = np.nonzero(difference)
    assert len(rows) > 50
    assert rows.max() < 40
    assert columns.max() < 130
    assert frame_number(read_jpeg(clock.jpeg)) == clock.pick.index


def test_a_single_frame_is_shown_once_whatever_the_rate(shared_data: Path) -> None:
    clip = shared_data / "clips" / "p06_single_frame_sar.mp4"
    for sampling in ("frames-8", "frames-30fps", "frames-0.1fps"):
        (frame,) = extract_frames(clip, plan_frames(probe(clip), parse_sampling(sampling)))
        assert (frame.width, frame.height) == (640, 480)


def test_a_stream_without_time_stamps_gives_its_frames(shared_data: Path) -> None:
    clip = shared_data / "clips" / "p14_raw_no_pts.h264"
    plan = plan_frames(probe(clip), parse_sampling("frames-2fps"))
    assert plan.timestamps_synthesised
    assert [frame.pick.time_s for frame in extract_frames(clip, plan)] == [0.24, 0.76, 1.24]


def test_a_file_that_changed_since_it_was_probed_is_refused(tmp_path: Path) -> None:
    clip = write_clip(tmp_path / "a.mp4")
    plan = plan_frames(probe(clip), FOUR_FPS)
    write_clip(clip, size=(170, 120))
    with pytest.raises(MediaError, match=r"a\.mp4: has other bytes than when it was probed"):
        extract_frames(clip, plan)


@pytest.mark.parametrize("size", [(1, 1), (1920, 1080), (1080, 1920), (7, 4000), (161, 121)])
@pytest.mark.parametrize("limit", [None, 1, 5, 1000, 50_176, 10**9])
def test_a_fitted_size_keeps_the_limit_and_never_enlarges(size: tuple[int, int], limit: int | None) -> None:
    width, height = fitted_size(*size, limit)
    assert 1 <= width <= size[0]
    assert 1 <= height <= size[1]
    assert limit is None or width * height <= limit
    assert (width, height) == size or (limit is not None and limit < size[0] * size[1])


def test_an_impossible_limit_is_refused() -> None:
    with pytest.raises(InputError, match="below the 4"):
        fitted_size(100, 100, 3, multiple=2)


def test_stripes_can_be_read_back() -> None:
    assert [frame_number(striped(number, 160, 120)) for number in (0, 1, 682, 1023)] == [0, 1, 682, 1023]
