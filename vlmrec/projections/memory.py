"""A log that is only in memory: the events of a derived run that isn't saved, or of a test."""

from collections.abc import Collection, Iterator, Mapping, Sequence

from vlmrec.errors import LogError
from vlmrec.events import Event
from vlmrec.projections.core import LogProvenance


class MemoryLog:
    """Events and bodies, readable as a log is. It has no hash chain, so its head is given, or empty."""

    def __init__(
        self,
        events: Sequence[Event],
        *,
        run_id: str = "memory",
        uuid: str = "",
        kind: str = "run",
        head: str = "",
        blobs: Mapping[str, bytes] | None = None,
    ) -> None:
        self._events = events
        self._blobs = {} if blobs is None else blobs
        self._provenance = LogProvenance(run_id=run_id, uuid=uuid, kind=kind, head=head, events=len(events))

    def provenance(self) -> LogProvenance:
        return self._provenance

    def events(self, types: Collection[str]) -> Iterator[Event]:
        """The events of these types, in order."""
        wanted = frozenset(types)
        return (event for event in self._events if event.data.type in wanted)

    def blob(self, sha256: str) -> bytes:
        """A body. Raises LogError when there is none of that hash."""
        try:
            return self._blobs[sha256]
        except KeyError:
            raise LogError(f"{self._provenance.run_id} holds no blob {sha256}") from None
