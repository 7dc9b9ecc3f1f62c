"""Which clips a run is over: files found, named by their stem in NFC, and told apart by name. Reads the file system."""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from pathlib import Path

from vlmrec.errors import InputError
from vlmrec.events import ClipSource
from vlmrec.terms import ClipId

VIDEO_SUFFIXES = frozenset(
    [
        ".mp4",
        ".m4v",
        ".mov",
        ".ts",
        ".mts",
        ".m2ts",
        ".avi",
        ".mkv",
        ".webm",
        ".h264",
        ".264",
        ".h265",
        ".265",
        ".hevc",
        ".mpg",
        ".mpeg",
        ".3gp",
        ".wmv",
        ".flv",
    ]
)


def clip_id(path: Path) -> ClipId:
    """The file's stem in NFC, so that one name is one id on every file system."""
    return ClipId(unicodedata.normalize("NFC", path.stem))


def find_clips(paths: Sequence[Path]) -> tuple[ClipSource, ...]:
    """The clips that ``paths`` name, sorted by id. A folder stands for the video files directly in it.

    Raises InputError for a path that is not there, a folder without videos, and two files of one id.
    """
    found: dict[str, Path] = {}
    for path in _files(paths):
        name = clip_id(path)
        other = found.setdefault(name, path)
        if other != path and not _same_file(other, path):
            spelt = "" if other.stem == path.stem else ", whose names differ only in Unicode normal form (NFC, NFD)"
            raise InputError(
                f"two files have the clip id {name!r}: {other} and {path}{spelt}; rename one, or run them separately"
            )
    if not found:
        raise InputError("no clips: name video files, or a folder that holds some")
    return tuple(ClipSource(clip_id=name, path=str(found[name])) for name in sorted(found))


def read_clip_set(path: Path) -> frozenset[str]:
    """The clip ids of a ``--clips`` file: one a line, a ``#`` at its start or after a blank begins a remark.

    Raises InputError when it can't be read, or names none.
    """
    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: can't be read as a list of clip ids ({error})") from error
    lines = (re.split(r"(?:^|\s)#", line, maxsplit=1)[0].strip() for line in text.splitlines())
    names = frozenset(unicodedata.normalize("NFC", line) for line in lines if line)
    if not names:
        raise InputError(f"{path}: names no clip; expected one clip id a line")
    return names


def only(clips: Sequence[ClipSource], wanted: frozenset[str] | None, source: object) -> tuple[ClipSource, ...]:
    """Those of ``clips`` that are ``wanted``. Raises InputError for a wanted one that is not there."""
    if wanted is None:
        return tuple(clips)
    missing = sorted(wanted - {clip.clip_id for clip in clips})
    if missing:
        raise InputError(
            f"{source}: no clip {missing[0]!r} here{f' and {len(missing) - 1} more' if missing[1:] else ''}"
        )
    return tuple(clip for clip in clips if clip.clip_id in wanted)


def _files(paths: Iterable[Path]) -> Iterable[Path]:
    for path in paths:
        if path.is_dir():
            inside = sorted(
                each
                for each in path.iterdir()
                if each.suffix.lower() in VIDEO_SUFFIXES and not each.name.startswith(".")
            )
            if not inside:
                raise InputError(
                    f"{path}: no video files in this folder (looked for {', '.join(sorted(VIDEO_SUFFIXES))})"
                )
            yield from inside
        elif path.is_file():
            yield path
        else:
            raise InputError(f"{path}: no such file or folder")


def _same_file(one: Path, other: Path) -> bool:
    return one.samefile(other)
