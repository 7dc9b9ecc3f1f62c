"""Predicted tokens against what a real server counted (vLLM 0.32, random-weight Qwen3-VL)."""

import pytest

from vlmrec.media.tokens import image_tokens, sampled_frames, video_tokens, video_tokens_of

TEN_SECONDS = (300, 30.0)


@pytest.mark.parametrize(
    ("fps", "frames", "tokens"),
    [
        (0.1, 4, 136),
        (-1, 4, 136),
        (0.5, 5, 205),
        (1, 10, 340),
        (2, 20, 680),
        (4, 40, 1360),
        (8, 80, 2720),
        (30, 20, 680),
        (60, 20, 680),
    ],
)
def test_a_rate_costs_what_the_server_counted(fps: float, frames: int, tokens: int) -> None:
    found = video_tokens(*TEN_SECONDS, 320, 192, fps=fps)
    assert (found.frames, found.width, found.height, found.tokens) == (frames, 320, 192, tokens)


@pytest.mark.parametrize(
    ("size", "two_seconds", "ten_seconds"),
    [((640, 360), 456, 2280), ((640, 480), 616, 3080), ((1280, 720), 1776, 8880), ((1920, 1080), 4096, 12040)],
)
def test_a_size_costs_what_the_server_counted(size: tuple[int, int], two_seconds: int, ten_seconds: int) -> None:
    assert video_tokens(60, 30.0, *size).tokens == two_seconds
    assert video_tokens(*TEN_SECONDS, *size).tokens == ten_seconds


@pytest.mark.parametrize(
    ("size", "fps", "scaled", "tokens"),
    [
        ((1280, 720), 4, (1056, 576), 12040),
        ((1280, 720), 8, (736, 416), 12280),
        ((640, 360), 4, (640, 352), 4560),
        ((640, 360), 8, (640, 352), 9120),
        ((1920, 1080), 2, (1472, 832), 12040),
    ],
)
def test_a_clip_over_the_pixel_budget_is_scaled_down(
    size: tuple[int, int], fps: float, scaled: tuple[int, int], tokens: int
) -> None:
    found = video_tokens(*TEN_SECONDS, *size, fps=fps)
    assert ((found.width, found.height), found.tokens) == (scaled, tokens)


def test_a_limit_on_the_clip_shrinks_every_frame() -> None:
    assert video_tokens(*TEN_SECONDS, 320, 192, longest_edge=204_800)[1:] == (128, 64, 160)
    assert video_tokens(*TEN_SECONDS, 1280, 720, fps=4, longest_edge=374_544)[1:] == (128, 64, 320)


def test_frames_chosen_by_the_client_are_all_kept() -> None:
    assert video_tokens_of([i / 30 for i in range(300)], 320, 192).tokens == 10200
    assert video_tokens_of([0.0, 1.0, 2.0, 3.0, 4.0, 5.0], 320, 192).tokens == 204


def test_a_label_grows_by_a_token_at_ten_and_at_a_hundred_seconds() -> None:
    assert [video_tokens_of([t, t], 320, 192).tokens for t in (9.9, 9.96, 10.0, 99.9, 100.0)] == [68, 69, 69, 69, 70]


def test_an_image_has_a_least_size() -> None:
    assert image_tokens(320, 192) == 77
    assert image_tokens(1280, 704) == 40 * 22


def test_a_clip_of_few_frames_keeps_them() -> None:
    assert [sampled_frames(total, 25.0) for total in (1, 3, 4, 5)] == [1, 3, 4, 4]
    assert video_tokens(1, 25.0, 640, 480).frames == 1
