"""Finds clips' files by the hash of their bytes, and makes small copies that any browser plays.

A file's name plays no part, so NFC, NFD and renamed files are all found. Hashes are taken only of files
whose size fits, and remembered by path, size and time of change.
"""

import hashlib
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from vlmrec.errors import MediaError
from vlmrec.stages.clips import VIDEO_SUFFIXES

PLAYED = {"h264": (".mp4", ".m4v", ".mov"), "vp8": (".webm",), "vp9": (".webm", ".mp4"), "av1": (".webm", ".mp4"), "libdav1d": (".webm", ".mp4")}  # fmt: skip
"""What browsers play as it is: codec, and the containers that it may come in."""

PROXY_PIXELS = 480 * 270
MEDIA_TYPES = {".webm": "video/webm"}


class Wanted(NamedTuple):
    """A clip's bytes, as a run recorded them."""

    sha256: str
    bytes: int | None
    codec: str | None
    path: str | None


class Found(NamedTuple):
    """A clip's file; ``plays`` says whether browsers play it as it is."""

    path: Path
    sha256: str
    plays: bool
    media_type: str


class VideoFinder:
    """Looks in a folder, and where the run itself found its clips."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self._hashes: dict[tuple[str, int, int], str] = {}

    def find(self, wanted: Mapping[str, Wanted]) -> dict[str, Found]:
        """The files of these clips, as far as they are there."""
        sizes: dict[int, list[Path]] = {}
        for path in self.files():
            sizes.setdefault(path.stat().st_size, []).append(path)
        found = {}
        for clip, one in wanted.items():
            candidates = list(sizes.get(one.bytes, ())) if one.bytes is not None else []
            if one.path is not None and Path(one.path).is_file():
                candidates.append(Path(one.path))
            match = next((path for path in candidates if self.hash(path) == one.sha256), None)
            if match is not None:
                found[clip] = Found(match, one.sha256, plays(match, one.codec), media_type(match))
        return found

    def hash(self, path: Path) -> str:
        """The SHA-256 of a file's bytes."""
        stat = path.stat()
        key = (str(path), stat.st_size, stat.st_mtime_ns)
        if key not in self._hashes:
            with path.open("rb") as file:
                self._hashes[key] = hashlib.file_digest(file, "sha256").hexdigest()
        return self._hashes[key]

    def files(self) -> Iterable[Path]:
        """Every video file in the folder and below it, sorted."""
        if self._folder is None:
            return ()
        return sorted(
            path for path in self._folder.rglob("*") if path.suffix.lower() in VIDEO_SUFFIXES and path.is_file()
        )


class Part(NamedTuple):
    """A part of a file; ``total`` is the file's length where a range was asked for."""

    body: bytes
    first: int
    total: int | None


PART_BYTES = 4 * 1024 * 1024


def read_range(path: Path, wanted: str | None) -> Part:
    """The bytes that an HTTP Range header asks for, at most PART_BYTES of them; all of the file without one."""
    total = path.stat().st_size
    found = re.fullmatch(r"bytes=(\d*)-(\d*)", wanted or "")
    if found is None or found[1] == found[2] == "":
        return Part(path.read_bytes(), 0, None)
    first = int(found[1]) if found[1] else max(0, total - int(found[2]))
    last = int(found[2]) if found[1] and found[2] else total - 1
    with path.open("rb") as file:
        file.seek(min(first, total))
        return Part(file.read(max(0, min(last - first + 1, PART_BYTES))), first, total)


def plays(path: Path, codec: str | None) -> bool:
    """Whether browsers play the file as it is."""
    return codec is not None and path.suffix.lower() in PLAYED.get(codec, ())


def media_type(path: Path) -> str:
    """The media type to serve a file under."""
    return MEDIA_TYPES.get(path.suffix.lower(), "video/mp4")


def small_copy(path: Path) -> bytes:
    """The clip as a small H.264 file whose first frame is at 0. Raises MediaError when no frame can be had."""
    from vlmrec.media.probe import probe
    from vlmrec.media.video import make_video, plan_video

    facts = probe(path)
    pixels = min(PROXY_PIXELS, facts.width * facts.height - 1)  # less than it has, so that it is encoded anew
    if pixels < 4:
        raise MediaError(f"{path}: {facts.width} by {facts.height} pixels are too few to show")
    return make_video(path, plan_video(facts, max_pixels=pixels)).body
