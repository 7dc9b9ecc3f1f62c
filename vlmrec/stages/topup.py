"""Top-up: a new run on another engine that takes over a run's answers and asks only for what is missing.

The answers are taken over as re-scoring takes them (mapped by a declared migration, never guessed),
the entity table as it was accepted. What the new run asks is its own; what it took over cost nothing.
"""

from collections import Counter
from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from typing import Annotated, NamedTuple

from msgspec import Meta, Struct

from vlmrec.errors import InputError
from vlmrec.events import (
    AnswerGiven,
    CallCompleted,
    ClipSource,
    Event,
    Payload,
    Provenance,
    TableChecked,
    TableGiven,
    TurnOpened,
    make_event,
)
from vlmrec.log.reader import LogReader
from vlmrec.stages.derive import Taken
from vlmrec.stages.rescore import READ_TYPES, Parent, Target, rescore_events, stored_clips, take_over
from vlmrec.terms import Blob, TurnKey

TOP_UP_TYPES = (*READ_TYPES, TableChecked.type)


class Estimate(Struct, frozen=True, kw_only=True):
    """What a top-up would ask. A new answer can lead to further questions, so this is a lower bound."""

    clips: int
    clips_with_calls: int
    calls: Annotated[int, Meta(description="At least so many.")]
    by_question: dict[str, int]
    cost: Annotated[Decimal | None, Meta(description="USD, by the mean of the run's own calls; null if unknown.")]


class TakenOver(NamedTuple):
    """Everything of a run that a top-up begins with, and the manifest's account of it."""

    clips: tuple[Taken, ...]
    extra: dict[str, object]


def read_taken(reader: LogReader, parent: Parent, target: Target) -> TakenOver:
    """What is taken over of every clip that the run finished."""
    events = list(reader.events(TOP_UP_TYPES))
    tables = {event.clip: event for event in events if isinstance(event.data, TableChecked) and event.data.table}
    stored = stored_clips(events)
    answers, migration = take_over(parent, target, stored)
    clips = tuple(_with_table(reader, parent, each, tables.get(each.clip)) for each in answers)  # type: ignore[call-overload]
    extra: dict[str, object] = {
        "source": "stored_then_model",
        "given": {each.clip: sum(isinstance(data, AnswerGiven) for data in each.given) for each in clips},
        "tables_given": [each.clip for each in clips if any(isinstance(data, TableGiven) for data in each.given)],
        "migration": migration.version if migration is not None else None,
        "parent": {"run_id": parent.manifest.run_id, "uuid": parent.uuid, "head": parent.head},
    }
    return TakenOver(clips, extra)


def batches(taken: TakenOver, *, time: str) -> list[tuple[list[Event], list[Blob]]]:
    """The events that stand before a clip's first decision, one batch a clip."""
    made = []
    for each in taken.clips:
        inputs: list[Payload] = [*((each.opened,) if each.opened is not None else ()), *each.given]
        made.append(([make_event(data, clip=each.clip, time=time) for data in inputs], list(each.blobs)))
    return made


def located(taken: TakenOver, places: Mapping[str, Path]) -> tuple[ClipSource, ...]:
    """The clips and where their files are: as named now, else where the run found them."""
    unknown = sorted(set(places) - {each.clip for each in taken.clips})
    if unknown:
        raise InputError(f"the run to be topped up has no finished clip {unknown[0]!r}")
    return tuple(
        ClipSource(clip_id=each.clip, path=str(places.get(each.clip) or (each.opened.path if each.opened else "")))
        for each in taken.clips
    )


def estimate(reader: LogReader, parent: Parent, target: Target, *, samples: int) -> Estimate:
    """How many calls a top-up needs at least, and what they would cost by the mean of the run's own calls."""
    stored = stored_clips(reader.events(READ_TYPES))
    given: set[tuple[str | None, TurnKey]] = set()
    by_question: Counter[str] = Counter()
    clips: set[str] = set()
    for batch in rescore_events(parent, stored, target, run_id="estimate", mode="planned", time=""):
        for event in batch.events:
            data = event.data
            if isinstance(data, AnswerGiven):
                given.add((event.clip, data.ref.key))
            elif isinstance(data, TurnOpened) and data.put and (event.clip, data.ref.key) not in given:
                by_question[f"{data.question_id}/{data.party}"] += samples
                clips.add(str(event.clip))
    calls = by_question.total()
    return Estimate(
        clips=len(stored),
        clips_with_calls=len(clips),
        calls=calls,
        by_question=dict(sorted(by_question.items())),
        cost=_mean_cost(reader, calls),
    )


def _mean_cost(reader: LogReader, calls: int) -> Decimal | None:
    costs = [event.data.cost for event in reader.events([CallCompleted.type]) if isinstance(event.data, CallCompleted)]
    known = [cost for cost in costs if cost is not None]
    if not known or len(known) < len(costs):
        return None
    return (sum(known, Decimal(0)) / len(known) * calls).quantize(Decimal("0.000001"))


def _with_table(reader: LogReader, parent: Parent, taken: Taken, checked: Event | None) -> Taken:
    if checked is None or not isinstance(checked.data, TableChecked) or checked.data.table is None:
        return taken
    ref = checked.data.table
    source = Provenance(kind="log", log=parent.uuid, head=parent.head, event=checked.id)
    given = (TableGiven(table=ref, source=source), *taken.given)
    return taken._replace(given=given, blobs=(*taken.blobs, Blob(ref, reader.blob(ref.sha256))))
