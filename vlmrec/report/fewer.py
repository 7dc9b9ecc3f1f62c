"""A stored run as it would have been with fewer samples, as a log in memory that projections read like any other."""

from pathlib import Path

from vlmrec.engine.reference import load_reference, versions
from vlmrec.errors import InputError
from vlmrec.events import EngineDescribed, Event, RunStarted, make_event
from vlmrec.log.format import LogKind
from vlmrec.log.reader import open_log
from vlmrec.projections.core import LogSource
from vlmrec.projections.memory import MemoryLog
from vlmrec.stages.context import RunContext
from vlmrec.stages.fewer import fewer_events, fewer_manifest, stored_inputs
from vlmrec.stages.parents import embedded_target, read_parent
from vlmrec.stages.replay import run_context


def with_fewer_samples(run: Path, samples: int) -> LogSource:
    """The log of ``run`` restricted to the first ``samples`` of each turn.

    Raises InputError where the stored replies can't stand for such a run, or its engine is no embedded one.
    """
    with open_log(run) as reader:
        parent = read_parent(reader)
        run_level = [event for event in reader.events() if event.clip is None]
        blobs = reader.blob
        stored = {str(clip): stored_inputs(reader.events(clip=clip)) for clip in reader.clips()}
        manifest = fewer_manifest(parent.manifest, samples, stored)
        target = embedded_target(_engine(parent.ledger.data_version))
        started = next(event.data for event in run_level if isinstance(event.data, RunStarted))
        rules = blobs(started.rules.sha256) if started.rules is not None else None
        context = RunContext(manifest, run_context(run_level, blobs).ledger, rules)
        events: list[Event] = [
            make_event(RunStarted(manifest=manifest, rules=started.rules), clip=None, time=""),
            *(event for event in run_level if isinstance(event.data, EngineDescribed)),
            *(event for event in run_level if event.data.type == "note.added"),
        ]
        bodies = StoredBodies(run)
        for clip in sorted(stored):
            found, made = fewer_events(context, clip, stored[clip], target.evaluate, blobs)
            events += found
            bodies.update((blob.ref.sha256, blob.body) for blob in made)
    return MemoryLog(
        events, run_id=f"{run.stem}--R{samples}", uuid=parent.uuid, kind=LogKind.DERIVED, head=parent.head, blobs=bodies
    )


class StoredBodies(dict[str, bytes]):
    """Bodies made on the way, and those of a stored log, read when they are asked for: most never are."""

    def __init__(self, log: Path) -> None:
        super().__init__()
        self._log = log

    def __missing__(self, sha256: str) -> bytes:
        with open_log(self._log) as reader:
            body = self[sha256] = reader.blob(sha256)
        return body


def _engine(data_version: str) -> str:
    """The embedded engine of that data. Raises InputError where there is none: its replies can't be had again."""
    found = next((one for one in versions() if load_reference(one).data_version == data_version), None)
    if found is None:
        raise InputError(
            f"the run's engine had the data {data_version}, and no embedded engine has; what it would have asked next "
            "can't be known"
        )
    return found
