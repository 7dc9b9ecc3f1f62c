"""Damaged files give frames or one clear error, whatever was damaged; and never anything else."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from media_factory import write_clip

from vlmrec.errors import InputError, MediaError
from vlmrec.media.prepare import MediaSpec, prepare
from vlmrec.media.probe import probe
from vlmrec.media.workers import WorkerPool

T = TypeVar("T")
KINDS = {
    "mp4": ("libx264", "mp4"),
    "ts": ("libx264", "mpegts"),
    "mkv": ("libx264", "matroska"),
    "avi": ("mjpeg", "avi"),
    "h264": ("libx264", "h264"),
    "m4v": ("mpeg4", "mp4"),
}
SPECS = [
    MediaSpec(),
    MediaSpec(sampling="frames-3", max_pixels=4000),
    MediaSpec(sampling="frames-2fps", window=("0.5", "1")),
    MediaSpec(max_pixels=4000, burn_clock=True),
]
bytes_at = st.tuples(st.floats(0, 1, exclude_max=True), st.sampled_from([0, 1, 0x7F, 0x80, 0xFF]))
damages = st.one_of(
    st.tuples(st.just("set"), st.lists(bytes_at, min_size=1, max_size=40)),
    st.tuples(st.just("cut"), st.floats(0, 1, exclude_max=True)),
    st.tuples(st.just("remove"), st.floats(0, 1, exclude_max=True), st.integers(1, 3000)),
    st.tuples(st.just("blank"), st.floats(0, 1, exclude_max=True), st.integers(1, 3000)),
    st.tuples(st.just("repeat"), st.floats(0, 1, exclude_max=True), st.integers(1, 3000)),
)


def damaged(body: bytes, damage: tuple[Any, ...]) -> bytes:
    found = bytearray(body)
    kind, where, *length = damage
    if kind == "set":
        for place, value in where:
            found[int(place * len(found))] = value
        return bytes(found)
    start = int(where * len(found))
    end = len(found) if kind == "cut" else min(len(found), start + length[0])
    found[start:end] = {"blank": bytes(end - start), "repeat": bytes(found[start:end]) * 2}.get(kind, b"")
    return bytes(found)


@pytest.fixture(scope="module")
def clips(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("whole")
    for name, (codec, container) in KINDS.items():
        write_clip(folder / f"a.{name}", codec=codec, container=container, options={"g": "8"})
    return folder


@pytest.fixture(scope="module")
def pool() -> Iterator[WorkerPool]:
    with WorkerPool(1, stall_s=20, total_s=60) as pool:
        yield pool


def outcome(path: Path, spec: MediaSpec, pool: WorkerPool) -> None:
    """Frames and what was asked for, or one line that names the file."""
    found, refusal = attempt(lambda: probe(path, pool=pool))
    if found is None:
        assert isinstance(refusal, MediaError)
        assert str(refusal).startswith(f"{path}: ")
        assert len(str(refusal)) < 400
        assert "\n" not in str(refusal)
        return
    assert found.frames == len(found.pts) >= 1
    assert found.truncated == (found.truncated_reason is not None)
    assert found.exact_duration > 0
    made, refusal = attempt(lambda: prepare(path, found, spec, pool=pool))
    if made is None:  # what is left may be shorter than the window
        assert str(refusal).startswith((f"{path}: ", "the window"))
    else:
        assert made.media


def attempt(action: Callable[[], T]) -> tuple[T | None, InputError | None]:
    try:
        return action(), None
    except InputError as refusal:
        return None, refusal


@given(name=st.sampled_from(sorted(KINDS)), damage=damages, spec=st.sampled_from(SPECS))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
def test_a_damaged_clip_gives_frames_or_one_clear_error(
    clips: Path, pool: WorkerPool, tmp_path: Path, name: str, damage: tuple[Any, ...], spec: MediaSpec
) -> None:
    path = tmp_path / f"damaged.{name}"
    path.write_bytes(damaged((clips / f"a.{name}").read_bytes(), damage))
    outcome(path, spec, pool)


@pytest.mark.deep
@given(data=st.data())
@settings(max_examples=400, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
def test_damaged_real_clips_give_frames_or_one_clear_error(
    shared_data: Path, pool: WorkerPool, tmp_path: Path, data: st.DataObject
) -> None:
    clips = sorted(p for p in (shared_data / "clips").iterdir() if p.suffix not in (".md", ".json"))
    clip = data.draw(st.sampled_from([p for p in clips if 0 < p.stat().st_size < 1_000_000]))
    path = tmp_path / f"damaged{clip.suffix}"
    path.write_bytes(damaged(clip.read_bytes(), data.draw(damages)))
    outcome(path, data.draw(st.sampled_from(SPECS)), pool)
