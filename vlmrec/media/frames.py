"""Frames of a clip as JPEG files, by plan."""

from pathlib import Path
from typing import NamedTuple

from msgspec import Struct

from vlmrec.canonical import sha256_hex
from vlmrec.media.plan import FramesPlan, Pick
from vlmrec.media.workers import WorkerPool, in_thread, shared_pool


class Frame(NamedTuple):
    """One frame as shown: ``number`` counts from 1 in order of time."""

    number: int
    pick: Pick
    width: int
    height: int
    jpeg: bytes
    sha256: str

    @property
    def label(self) -> str:
        """The text that stands before the frame in a request: a list of frames has no clock of its own."""
        return f"[frame {self.number} at {self.pick.time_s:.3f} s]"


def extract_frames(path: Path, plan: FramesPlan, *, pool: WorkerPool | None = None) -> list[Frame]:
    """The plan's frames in order of time. Raises MediaError if the file isn't the one that was planned for."""
    args = {
        "source_sha256": plan.source_sha256,
        "wanted": [
            {
                "index": pick.index,
                "pts": None if plan.timestamps_synthesised else pick.pts,
                "clock": clock_text(pick) if plan.burnt_clock else None,
            }
            for pick in plan.picks
        ],
        "max_pixels": plan.max_pixels,
        "quality": plan.encoder.settings["quality"],
    }
    reply = (pool or shared_pool()).call("frames", path, args, list[tuple[int, int, int]])
    by_index = {
        index: (width, height, jpeg) for (index, width, height), jpeg in zip(reply.value, reply.items, strict=True)
    }
    made = ((number, pick, *by_index[pick.index]) for number, pick in enumerate(plan.picks, 1))
    return [Frame(number, pick, width, height, jpeg, sha256_hex(jpeg)) for number, pick, width, height, jpeg in made]


async def extract_frames_async(path: Path, plan: FramesPlan, *, pool: WorkerPool | None = None) -> list[Frame]:
    """``extract_frames`` for asyncio."""
    return await in_thread(extract_frames, path, plan, pool=pool)


def clock_text(pick: Pick) -> str:
    """What a burnt-in clock shows: clip time in milliseconds."""
    return f"{pick.time_s:.3f} s"


class WrittenFrame(Struct, frozen=True, kw_only=True):
    """One JPEG file that was written."""

    file: str
    time_s: float
    width: int
    height: int
    bytes: int
    sha256: str


def write_frames(path: Path, plan: FramesPlan, folder: Path) -> list[WrittenFrame]:
    """Write the plan's frames into ``folder``, named so that they sort in order of time."""
    written = []
    folder.mkdir(parents=True, exist_ok=True)
    for frame in extract_frames(path, plan):
        file = folder / f"{path.stem}-{frame.number:04d}-{frame.pick.time_s:.3f}s.jpg"
        file.write_bytes(frame.jpeg)
        written.append(
            WrittenFrame(
                file=str(file),
                time_s=frame.pick.time_s,
                width=frame.width,
                height=frame.height,
                bytes=len(frame.jpeg),
                sha256=frame.sha256,
            )
        )
    return written
