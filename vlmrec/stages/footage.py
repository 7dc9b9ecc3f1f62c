"""A clip's file on its way into calls: opened once, and each window's media made once in this process."""

import asyncio
from pathlib import Path

import msgspec

from vlmrec.canonical import json_blob
from vlmrec.errors import InputError, MediaError
from vlmrec.events import ClipOpened, MediaFailed, MediaItem, MediaPrepared
from vlmrec.media.prepare import PreparedMedia
from vlmrec.stages.effects import Blobs
from vlmrec.stages.ports import Media, OpenedClip
from vlmrec.stages.settle import accepted_table
from vlmrec.stages.state import ClipState
from vlmrec.terms import Blob


class Footage:
    """The file of one clip, whose ``state`` others fold on."""

    def __init__(self, media: Media, path: Path, state: ClipState, blobs: Blobs) -> None:
        self._media = media
        self._path = path
        self._state = state
        self._blobs = blobs
        self._opened: OpenedClip | None = None
        self._made: dict[str, PreparedMedia] = {}
        self._locks: dict[str, asyncio.Lock] = {}

    async def open(self) -> ClipOpened | MediaFailed:
        """Hash and probe the file; what is to be recorded of it."""
        try:
            self._opened = await self._media.open(self._path)
        except MediaError as error:
            return self._failed(str(error))
        return self._opened.data

    async def prepare(self, window: str) -> tuple[MediaPrepared | MediaFailed, tuple[Blob, ...]]:
        """Make the media of a window; what is to be recorded of them."""
        try:
            made = await self.of(window)
        except MediaError as error:
            return self._failed(str(error), window), ()
        return media_payload(window, made)

    async def of(self, window: str) -> PreparedMedia:
        """The media of a window, made once in this process; after a resume they must equal those on record."""
        async with self._locks.setdefault(window, asyncio.Lock()):
            made = self._made.get(window)
            if made is None:
                opened = await self._reopened()
                table = accepted_table(self._state, self._blobs)
                made = self._made[window] = await self._media.prepare(self._path, opened, window, table)
            return made

    def _failed(self, reason: str, window: str | None = None) -> MediaFailed:
        return MediaFailed(
            ordinal=self._state.media_failures + 1,
            path=str(self._path),
            reason=reason,
            sha256=self._state.opened.sha256 if self._state.opened is not None else None,
            window=window,
            transient=not self._path.exists(),
        )

    async def _reopened(self) -> OpenedClip:
        if self._opened is None:
            self._opened = await self._media.open(self._path)
            check_same_clip(self._state, self._opened, self._path)
        return self._opened


def check_same_clip(state: ClipState, opened: OpenedClip, path: Path) -> None:
    """Raises InputError when the file is no longer the one on record, naming both."""
    if state.opened is not None and state.opened.sha256 != opened.data.sha256:
        raise InputError(
            f"clip {state.clip}: {path} holds other bytes (sha256 {opened.data.sha256[:12]}…) than "
            f"{state.opened.path} did when the run opened it ({state.opened.sha256[:12]}…); put the file back, "
            "or start another run"
        )


def media_payload(window: str, made: PreparedMedia) -> tuple[MediaPrepared, tuple[Blob, ...]]:
    """``media.prepared``: the items by hash, the plan, and the parts as a log may hold them."""
    parts = json_blob(list(made.loggable))
    plan = msgspec.to_builtins(made.plan)
    items = tuple(
        MediaItem(sha256=item.sha256, media_type=item.media_type, bytes=item.bytes, time_s=item.time_s)
        for item in made.media
    )
    inline_frames = made.delivery == "data_url" and plan.get("type") == "frames"
    delivery = "frames" if inline_frames else made.delivery
    return MediaPrepared(window=window, delivery=delivery, items=items, plan=plan, parts=parts.ref), (parts,)
