"""Where projections get their events from: stored logs, labels and clip sets. The reading side of every projection."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from vlmrec.errors import InputError
from vlmrec.events import Event
from vlmrec.log import LogReader
from vlmrec.log.clips import find_clip
from vlmrec.log.reader import open_log
from vlmrec.log.store import open_run
from vlmrec.projections.core import LogProvenance, LogSource
from vlmrec.projections.facts import RUN_HANDLES
from vlmrec.stages.clips import read_clip_set as read_ids

RUN_TYPES = frozenset(cls.type for cls in RUN_HANDLES)


class StoredLog:
    """A log reader as projections want it; with ``clip``, only that clip's events and the run's own."""

    def __init__(self, reader: LogReader, *, clip: str | None = None) -> None:
        self._reader = reader
        self._clip = clip

    def provenance(self) -> LogProvenance:
        info = self._reader.info
        return LogProvenance(
            run_id=self._reader.path.stem,
            uuid=info.uuid,
            kind=info.kind,
            head=self._reader.head() or "",
            events=self._reader.last_seq(),
        )

    def events(self, types: Collection[str]) -> Iterator[Event]:
        """The events of these types, in log order; with a clip, the run's own come first."""
        if self._clip is None:
            return self._reader.events(types)
        return self._of_clip(self._clip, types)

    def blob(self, sha256: str) -> bytes:
        return self._reader.blob(sha256)

    def _of_clip(self, clip: str, types: Collection[str]) -> Iterator[Event]:
        yield from self._reader.events(RUN_TYPES & set(types))
        yield from self._reader.events(types, clip=clip)


@contextmanager
def open_sources(paths: Iterable[Path], *, clip: str | None = None) -> Iterator[Sequence[LogSource]]:
    """The logs at these paths, in the order named. Raises InputError for a clip that one of them doesn't know."""
    with ExitStack() as stack:
        readers = [stack.enter_context(open_run(path)) for path in paths]
        yield [StoredLog(reader, clip=None if clip is None else find_clip(reader, clip)) for reader in readers]


def read_clip_set(
    path: Path | None, runs: Iterable[Path] | None = None, labelled: Collection[str] = ()
) -> frozenset[str] | None:
    """The clip ids in a file, as extraction reads them. None for no file.

    Raises InputError for one that neither ``runs`` (unless None) nor a label knows: a slip of the pen would drop a
    clip unseen.
    """
    if path is None:
        return None
    wanted, known = read_ids(path), set(labelled)
    if runs is None:
        return wanted
    for run in runs:
        with open_log(run) as log:
            known.update(log.clips())
    missing = sorted(wanted - known)
    if missing:
        more = f" and {len(missing) - 1} more" if missing[1:] else ""
        raise InputError(f"{path}: no clip {missing[0]!r}{more} in these runs or labels; mend the list")
    return wanted
