"""Upload whole clips to an object store, as ``full`` delivery would."""

from pathlib import Path

from msgspec import Struct

from vlmrec.media.objects import ObjectStore
from vlmrec.media.probe import probe
from vlmrec.media.video import make_video, plan_video


class Upload(Struct, frozen=True, kw_only=True):
    """A clip that lies in a store."""

    file: str
    key: str
    sha256: str
    media_type: str
    bytes: int
    uploaded: bool


def upload_clip(path: Path, store: ObjectStore) -> Upload:
    """Store the clip's bytes (as MP4, where its container is one that servers don't read) unless they are there."""
    video = make_video(path, plan_video(probe(path)))
    stored = store.put(video.body, media_type=video.media_type, sha256=video.sha256)
    return Upload(
        file=str(path),
        key=stored.key,
        sha256=video.sha256,
        media_type=video.media_type,
        bytes=len(video.body),
        uploaded=stored.uploaded,
    )
