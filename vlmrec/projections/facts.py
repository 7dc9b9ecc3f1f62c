"""What a run's own events say of it: its manifest, the ledger it asked from, and the notes on it. Pure."""

from msgspec import Struct

from vlmrec.events import EngineDescribed, Event, Manifest, NoteAdded, Payload, RunStarted
from vlmrec.terms import BlobRef

RUN_HANDLES: tuple[type[Payload], ...] = (RunStarted, EngineDescribed, NoteAdded)
"""The event types behind a run's facts; read for every projection."""


class Note(Struct, frozen=True, kw_only=True):
    """A remark on a run, a clip or a turn; with ``exclude`` it is not to be counted."""

    event: str
    text: str
    exclude: bool
    clip: str | None
    question_id: str | None
    party: str | None


class RunFacts(Struct, frozen=True, kw_only=True):
    """What a run's own events say: the manifest, the ledger it asked from, the notes on it."""

    manifest: Manifest | None
    rules: str | None
    """SHA-256 of the validation rules, where they were applied."""
    data_version: str | None
    questions: BlobRef | None
    meta: BlobRef | None
    notes: tuple[Note, ...]

    def excluded_clips(self) -> dict[str, str]:
        """Clips not to be counted, with the reason."""
        return {n.clip: n.text for n in self.notes if n.exclude and n.clip is not None and n.question_id is None}

    def excluded_turns(self) -> dict[tuple[str, str, str | None], str]:
        """Turns not to be counted as (clip, question, party), with the reason; party None means every party."""
        return {
            (n.clip, n.question_id, n.party): n.text
            for n in self.notes
            if n.exclude and n.clip is not None and n.question_id is not None
        }

    def excluded_run(self) -> str | None:
        """Why the whole run is not to be counted, if it isn't."""
        reasons = [n.text for n in self.notes if n.exclude and n.clip is None and n.question_id is None]
        return "; ".join(reasons) if reasons else None


class RunFold:
    """The fold over events that belong to no clip. Of several descriptions of the engine the first stands."""

    def __init__(self) -> None:
        self._started: RunStarted | None = None
        self._engine: EngineDescribed | None = None
        self._notes: list[Note] = []

    def apply(self, event: Event) -> None:
        """Take in one event that belongs to no clip."""
        data = event.data
        if isinstance(data, RunStarted):
            self._started = data
        elif isinstance(data, EngineDescribed):
            self._engine = self._engine or data
        elif isinstance(data, NoteAdded):
            self._notes.append(
                Note(
                    event=event.id,
                    text=data.text,
                    exclude=data.exclude,
                    clip=data.clip,
                    question_id=data.question_id,
                    party=data.party,
                )
            )

    def facts(self) -> RunFacts:
        """What is known of the run."""
        engine, started = self._engine, self._started
        manifest = started.manifest if started else None
        versions = (manifest and manifest.data_version, engine and engine.data_version)
        return RunFacts(
            manifest=manifest,
            rules=started.rules.sha256 if started and started.rules else None,
            data_version=next((version for version in versions if version), None),
            questions=engine.questions if engine else None,
            meta=engine.meta if engine else None,
            notes=tuple(self._notes),
        )
