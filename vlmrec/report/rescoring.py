"""Re-scores a stored run on an embedded engine or a server, and sets old and new side by side.

An embedded engine is called as a function, and nothing is written unless that is asked for. A
server's replies are always saved as a derived log, so that asking again is offline.
"""

import asyncio
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

import httpx

from vlmrec.canonical import sha256_hex
from vlmrec.engine.client import EngineClient
from vlmrec.engine.reference import load_reference
from vlmrec.errors import InputError
from vlmrec.events import Event, RunStopped
from vlmrec.ledger import decode_ledger
from vlmrec.log.format import LogKind
from vlmrec.log.format import Parent as LogParent
from vlmrec.log.reader import open_log
from vlmrec.log.store import run_path
from vlmrec.log.writer import LogWriter
from vlmrec.models.urls import check_base_url
from vlmrec.projections.core import Projected, project
from vlmrec.projections.memory import MemoryLog
from vlmrec.projections.rescore import RescoreBeside, Rescored
from vlmrec.protocol import EvaluateRequest
from vlmrec.report.logs import open_sources
from vlmrec.stages.parents import embedded_target, read_parent
from vlmrec.stages.rescore import READ_TYPES, Mode, Parent, Target, rescore_events, stored_clips
from vlmrec.stages.submission import EngineReply


class Saved(NamedTuple):
    """Where a derived log was saved, and whether it was there already."""

    path: Path
    reused: bool


def rescore(
    run: Path, store: Path, *, engine: str | None, url: str | None, all_at_once: bool, save: bool
) -> tuple[Projected[Rescored, None], Saved | None]:
    """``run`` under the engine that is named, and where its derived log lies. Raises InputError unless one is named."""
    mode: Mode = "all" if all_at_once else "planned"
    if (engine is None) == (url is None):
        raise InputError("name the engine: either --engine VERSION or --engine-url URL")
    now = datetime.now(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
    if url is not None:
        return rescore_remote(run, url.rstrip("/"), store, mode=mode, now=now)
    assert engine is not None
    if not save:
        return rescore_embedded(run, engine, mode=mode, save_to=None, now=now), None
    with open_log(run) as reader:
        path = run_path(store, derived_name(read_parent(reader), load_reference(engine).data_version, mode))
    if path.exists() and is_whole(path):
        return _beside_saved(run, path), Saved(path, True)
    return rescore_embedded(run, engine, mode=mode, save_to=path, now=now), Saved(path, False)


def rescore_embedded(
    run: Path, version: str, *, mode: Mode, save_to: Path | None, now: str
) -> Projected[Rescored, None]:
    """``run`` under an embedded engine, in this process; saved as a derived log at ``save_to`` where that is named."""
    target = embedded_target(version)
    if save_to is not None:
        _write(run, target, save_to, mode=mode, now=now)
        return _beside_saved(run, save_to)
    with open_log(run) as reader:
        parent = read_parent(reader)
        clips = stored_clips(reader.events(READ_TYPES))
    name = derived_name(parent, target.ledger.data_version, mode)
    batches = rescore_events(parent, clips, target, run_id=name, mode=mode, time="")
    events: list[Event] = []
    blobs: dict[str, bytes] = {}
    for batch in batches:
        events.extend(batch.events)
        blobs.update((blob.ref.sha256, blob.body) for blob in batch.blobs)
    derived = MemoryLog(events, run_id=name, kind=LogKind.DERIVED, blobs=blobs)
    with open_sources([run]) as logs:
        return project(RescoreBeside(), [*logs, derived])


def rescore_remote(
    run: Path, url: str, store: Path, *, mode: Mode, now: str
) -> tuple[Projected[Rescored, None], Saved]:
    """``run`` under the engine at ``url``. Its replies are in a derived log; where that is whole, nothing is asked."""
    with open_log(run) as reader:
        parent = read_parent(reader)
    path = run_path(store, derived_name(parent, url, mode))
    reused = path.exists() and is_whole(path)
    if not reused:
        if path.exists():
            raise InputError(f"{path}: an earlier re-scoring was cut off; remove the file and try again")
        with remote_target(url) as target:
            _write(run, target, path, mode=mode, now=now)
    return _beside_saved(run, path), Saved(path, reused)


def derived_name(parent: Parent, engine: str, mode: Mode) -> str:
    """The run id of a derived log: the parent's, and a short hash of parent head, engine and mode."""
    return f"{parent.manifest.run_id}--{sha256_hex(f'{parent.head}/{engine}/{mode}'.encode())[:10]}"


@contextmanager
def remote_target(url: str) -> Iterator[Target]:
    """The engine at ``url``, one request after the other. Raises InputError for what is no base URL."""
    check_base_url(url)
    with asyncio.Runner() as runner:
        http = httpx.AsyncClient(base_url=url)
        client = EngineClient(http)
        try:
            meta = runner.run(client.meta_bytes())
            questions = runner.run(client.questions_bytes())

            def ask(request: EvaluateRequest) -> EngineReply:
                reply = runner.run(client.evaluate(request))
                return EngineReply(reply.raw, reply.evaluation)

            yield Target(url, decode_ledger(meta, questions), meta, questions, ask)
        finally:
            runner.run(http.aclose())


def is_whole(path: Path) -> bool:
    """Whether a derived log was written to its end."""
    with open_log(path) as reader:
        return reader.count([RunStopped.type]) > 0


def _write(run: Path, target: Target, path: Path, *, mode: Mode, now: str) -> None:
    with open_log(run) as reader:
        parent = read_parent(reader)
        clips = stored_clips(reader.events(READ_TYPES))
    origin = LogParent(uuid=parent.uuid, head=parent.head)
    fresh = str(uuid.uuid4())
    with LogWriter.create(path, kind=LogKind.DERIVED, log_uuid=fresh, created=now, parent=origin) as writer:
        pending = [
            writer.append(batch.events, batch.blobs)
            for batch in rescore_events(parent, clips, target, run_id=path.stem, mode=mode, time=now)
        ]
        for each in pending:
            each.result()
        writer.seal()


def _beside_saved(run: Path, derived: Path) -> Projected[Rescored, None]:
    with open_sources([run, derived]) as logs:
        return project(RescoreBeside(), logs)
