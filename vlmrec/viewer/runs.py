"""Reads runs for the viewer, and goes on reading while they are written.

A ``RunView`` keeps the folds of one run and feeds them only what is new; the page that is made of it
at any moment equals the page made of the whole log.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from vlmrec.events import RunStopped, Stage
from vlmrec.log.chain import Link
from vlmrec.log.reader import open_log
from vlmrec.projections.core import Folding, LogProvenance, event_types
from vlmrec.projections.facts import RunFacts
from vlmrec.projections.meter import CallFigures
from vlmrec.projections.show import ClipStory, Show
from vlmrec.projections.shown import ClipShown, Shown, ShownMeasured
from vlmrec.viewer.extras import ClipExtras, Extras


class RunData(NamedTuple):
    """One run at one moment."""

    run_id: str
    provenance: LogProvenance
    facts: RunFacts
    shown: Shown
    measured: ShownMeasured
    extras: dict[str, ClipExtras]
    running: bool
    blobs: Callable[[set[str]], dict[str, bytes]]
    stories: dict[str, ClipShown]
    figures: dict[tuple[str, str, str], CallFigures]
    """Cost and time of a turn's own calls, by clip, question and party."""


class RunView:
    """A run under observation."""

    def __init__(self, path: Path, *, clips: frozenset[str] | None = None) -> None:
        self.path = path
        self._checked: Link | None = None
        self._stopped = False
        self._show: Folding[Any, ClipStory] = Folding(Show(), blob=self._blob, clips=clips)
        self._extras: Folding[Any, ClipExtras] = Folding(Extras(), blob=self._blob, clips=clips)
        self._provenance: LogProvenance | None = None
        self._data: RunData | None = None

    def refresh(self) -> RunData:
        """The run as it is now. Raises LogError when the log can't be read."""
        types = sorted({*event_types(Show()), *event_types(Extras())})
        with open_log(self.path) as log:
            head = log.head() or ""
            if self._data is not None and self._provenance is not None and self._provenance.head == head:
                return self._data
            events = list(log.events(types, after=self._checked.seq if self._checked else 0))
            for event in log.events(["run.started", "run.resumed", "run.stopped"]):
                self._stopped = isinstance(event.data, RunStopped)
            self._checked = log.check_chain(self._checked)
            self._provenance = LogProvenance(
                run_id=self.path.stem, uuid=log.info.uuid, kind=log.info.kind, head=head, events=self._checked.seq
            )
        self._show.feed(events)
        self._extras.feed(events)
        story, extras = self._show.results(), self._extras.results()
        shown = Show().combine([story])
        self._data = RunData(
            run_id=story.facts.manifest.run_id if story.facts.manifest else self.path.stem,
            provenance=self._provenance,
            facts=story.facts,
            shown=shown.result,
            measured=shown.measured,
            extras=dict(extras.clips),
            running=not self._stopped,
            blobs=self._blobs,
            stories={story.clip: story for story in shown.result.clips},
            figures={
                (turn.clip, turn.question_id, turn.party): turn.calls
                for turn in shown.measured.turns
                if turn.stage == Stage.PREDICATE
            },
        )
        return self._data

    def _blobs(self, wanted: set[str]) -> dict[str, bytes]:
        with open_log(self.path) as log:
            return {sha256: log.blob(sha256) for sha256 in sorted(wanted) if log.has_blob(sha256)}

    def _blob(self, sha256: str) -> bytes:
        with open_log(self.path) as log:
            return log.blob(sha256)
