"""What a clip is, as its frames are decoded and not as its header promises.

``probe`` decodes the whole file once in a helper process (``vlmrec.media.workers``), so that a
damaged file can neither hang nor crash the caller. It gives a ``Probe``, or raises MediaError
naming the file and the fault when not a single frame can be had.
"""

from pathlib import Path

from vlmrec.media.facts import Probe
from vlmrec.media.workers import WorkerPool, in_thread, shared_pool


def probe(path: Path, *, pool: WorkerPool | None = None) -> Probe:
    """Decode ``path`` from start to end and say what it is. Raises MediaError when no frame can be had."""
    return (pool or shared_pool()).call("probe", path, {}, Probe).value


async def probe_async(path: Path, *, pool: WorkerPool | None = None) -> Probe:
    """``probe`` for asyncio: waits in a thread while the helper process decodes."""
    return await in_thread(probe, path, pool=pool)
