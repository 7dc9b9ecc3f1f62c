"""The media side of a run: opens clips and makes request parts as the condition's axes V and P say."""

from collections.abc import Callable, Iterable
from pathlib import Path

from vlmrec.events import ClipOpened
from vlmrec.media.delivery import Delivery
from vlmrec.media.facts import Probe
from vlmrec.media.prepare import PreparedMedia, prepare_async
from vlmrec.media.probe import probe_async
from vlmrec.media.workers import WorkerPool
from vlmrec.stages.condition import Condition
from vlmrec.stages.ports import OpenedClip
from vlmrec.stages.windows import media_spec
from vlmrec.table import EntityTable


class ClipMedia:
    """Clips as files on this machine. ``keep_out`` is told every string that a delivery's addresses must not leave."""

    def __init__(
        self,
        condition: Condition,
        *,
        pool: WorkerPool | None = None,
        delivery: Delivery | None = None,
        keep_out: Callable[[Iterable[str]], None] = lambda secrets: None,
    ) -> None:
        self._condition = condition
        self._pool = pool
        self._delivery = delivery
        self._keep_out = keep_out

    async def open(self, path: Path) -> OpenedClip:
        probe = await probe_async(path, pool=self._pool)
        return OpenedClip(clip_opened(path, probe), probe)

    async def prepare(self, path: Path, opened: OpenedClip, window: str, table: EntityTable | None) -> PreparedMedia:
        probe = opened.probe
        assert isinstance(probe, Probe)
        contact = table.contact_time if table is not None else None
        spec = media_spec(self._condition, window, contact=contact, duration=probe.exact_duration)
        made = await prepare_async(path, probe, spec, delivery=self._delivery, pool=self._pool)
        self._keep_out(made.secrets)
        return made


def clip_opened(path: Path, probe: Probe) -> ClipOpened:
    """``clip.opened`` from a probe."""
    return ClipOpened(
        path=str(path),
        sha256=probe.sha256,
        bytes=probe.bytes,
        duration_s=probe.duration_s,
        frames=probe.frames,
        first_s=probe.first_s,
        last_s=probe.last_s,
        average_rate=probe.average_rate,
        variable_rate=probe.variable_rate,
        width=probe.width,
        height=probe.height,
        rotation=probe.rotation,
        codec=probe.codec,
        truncated=probe.truncated,
        truncated_reason=probe.truncated_reason,
        timestamps_synthesised=probe.timestamps_synthesised,
        stream_index=probe.stream_index,
        video_streams=max(1, len(probe.video_streams)),
    )
