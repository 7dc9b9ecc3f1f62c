"""A text-only model as mapper: it reads stored descriptions, code removed, and picks an option; each call is recorded.

The calls (stage ``map``) go into a derived log of the run they describe, one after the other, each committed before
it leaves and after it came back. Only observations are written: how a reply is read is the projection's affair.
"""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

from msgspec.structs import replace

from vlmrec import __version__
from vlmrec.events import Manifest, Option, RunStarted, RunStopped, Stage
from vlmrec.log.format import LogKind, Parent
from vlmrec.log.writer import LogWriter
from vlmrec.models.structured import accepted_fields
from vlmrec.stages.attempt import Call
from vlmrec.stages.context import CORE_VERSION
from vlmrec.stages.endpoints import OpenModel
from vlmrec.stages.ports import Clock, Meter
from vlmrec.stages.serial import SerialCalls, call_spec
from vlmrec.terms import Party

SYSTEM = (
    "You are given what somebody wrote about a vehicle in a traffic scene, and a question with options. Pick the option "
    "that the text itself states of that vehicle. What the text denies, supposes or says of another vehicle does not count. "
    'If it states none, or several that can\'t all be true, the status is "unknown" and the value null. Add nothing of your own.'
)
ANSWER = (
    'Reply with one JSON object: {"status": "observed" or "unknown", "value": one of the codes or null, "reason": …}'
)
MAX_TOKENS = 256


class MapTask(NamedTuple):
    """A description to be mapped, with the question it was an answer to."""

    clip: str
    question_id: str
    party: Party
    text: str
    options: tuple[Option, ...]
    description: str


def map_prompt(task: MapTask) -> str:
    """What the mapper is asked. The description stands between marks, so that it can't pass for instructions."""
    options = "\n".join(f"- {option.code}: {option.label}" for option in task.options)
    description = task.description.replace("<<<", "").replace(">>>", "")
    return (
        f"[question] {task.question_id}\n[party] {task.party}\n[text] {task.text}\n[description]\n<<<\n{description}\n>>>\n"
        f"[options]\n{options}\n[answer] {ANSWER}"
    )


async def run_mapping(
    path: Path,
    model: OpenModel,
    tasks: Iterable[MapTask],
    *,
    parent: Parent,
    manifest: Manifest,
    meter: Meter,
    clock: Clock,
    log_uuid: str,
    scrub: Callable[[bytes], tuple[bytes, int]],
) -> str | None:
    """Map every task into a new derived log at ``path``; returns why it had to stop, where it had to.

    ``manifest`` is the run's own; the derived log's says who mapped, and of which run.
    """
    mine = replace(
        manifest,
        run_id=path.stem,
        vlmrec_version=__version__,
        core_version=CORE_VERSION,
        model=model.resolved.id,
        endpoint=model.port.endpoint,
        parameters={"temperature": 0, "max_tokens": MAX_TOKENS},
        extra={"source": "map", "parent": {"run_id": manifest.run_id, "uuid": parent.uuid, "head": parent.head}},
    )
    stopped: str | None = None
    with LogWriter.create(path, kind=LogKind.DERIVED, log_uuid=log_uuid, created=clock.now(), parent=parent) as writer:
        calls = SerialCalls(writer, model, meter=meter, clock=clock)
        await calls.append(RunStarted(manifest=mine), None)
        for task in tasks:
            _, stopped = await calls.take(_call(task, model, scrub))
            if stopped is not None:
                break
        await calls.append(RunStopped(ordinal=1, reason="done" if stopped is None else "error", detail=stopped), None)
        writer.seal()
    return stopped


def _call(task: MapTask, model: OpenModel, scrub: Callable[[bytes], tuple[bytes, int]]) -> Call:
    fields: dict[str, Any] = {"model": model.wire.model, "max_tokens": MAX_TOKENS, "temperature": 0}
    fields, _ = accepted_fields(fields, model.wire.provider)
    return Call(
        clip=task.clip,
        stage=Stage.MAP,
        question_id=task.question_id,
        party=task.party,
        sample=0,
        attempt=1,
        spec=call_spec(SYSTEM, map_prompt(task), fields, scrub=scrub),
        max_tokens=MAX_TOKENS,
    )
