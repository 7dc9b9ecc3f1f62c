"""A run from the outside: options in, engine, model and media opened, the run driven, a result out."""

import random
import signal
import uuid
from asyncio import Task, current_task, get_running_loop
from collections.abc import Iterator
from contextlib import AsyncExitStack, contextmanager
from datetime import UTC, datetime
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from vlmrec.errors import InputError
from vlmrec.log.reader import open_log
from vlmrec.log.store import run_path
from vlmrec.schemas import load as load_schema
from vlmrec.stages.clips import find_clips, only, read_clip_set
from vlmrec.stages.condition import Condition
from vlmrec.stages.endpoints import open_model
from vlmrec.stages.engines import open_engine
from vlmrec.stages.extract import Parts, Plan, Progress, RunResult, start_run
from vlmrec.stages.orchestrator import Stop
from vlmrec.stages.ports import Clock, FixedLimiter, FreeMeter
from vlmrec.stages.prompts import load_templates
from vlmrec.stages.request import Parameters
from vlmrec.stages.resume import read_stored, resume_run
from vlmrec.stages.video import ClipMedia

RULES_FILE = "validation_rules.yaml"


class Options(Struct, frozen=True, kw_only=True):
    """What the operator decides about how a run is carried out; none of it changes a reply."""

    store: Path
    run_id: str
    workers: int = 2
    in_flight: int = 8
    base_url: str | None = None


class NewRun(Struct, frozen=True, kw_only=True):
    """What a new run is to be."""

    clips: tuple[Path, ...]
    clip_set: Path | None
    condition: Condition
    parameters: Parameters
    engine: str
    vote_threshold: str = "1/2"


async def begin(options: Options, new: NewRun, *, stop: Stop, progress: Progress) -> RunResult:
    """A new run, from its first event to its last. Raises InputError when there is one of that id already."""
    path = run_path(options.store, options.run_id)
    if path.exists() and has_begun(path):
        raise InputError(
            f"run {options.run_id} is in {options.store} already: go on with it by --resume, or choose another --run-id"
        )
    wanted = read_clip_set(new.clip_set) if new.clip_set is not None else None
    clips = only(find_clips(new.clips), wanted, new.clip_set)
    async with AsyncExitStack() as stack:
        engine = await stack.enter_async_context(open_engine(new.engine))
        model = await stack.enter_async_context(open_model(new.condition.model, base_url=options.base_url))
        plan = Plan(
            run_id=options.run_id,
            condition=new.condition,
            parameters=_named(new.parameters, model.wire_name),
            clips=clips,
            engine=engine.description,
            templates=load_templates(new.condition.language),
            rules=load_schema(RULES_FILE) if new.condition.stages == "2" else None,
            vote_threshold=new.vote_threshold,
        )
        parts = Parts(
            engine.port, model.port, ClipMedia(new.condition), FreeMeter(), FixedLimiter(options.in_flight), clock()
        )
        return await start_run(
            path, plan, parts, log_uuid=str(uuid.uuid4()), workers=options.workers, stop=stop, progress=progress
        )


async def go_on(
    options: Options, clips: tuple[Path, ...], *, retry_failed: bool, stop: Stop, progress: Progress
) -> RunResult:
    """A stored run, from where it stopped. Raises ResumeRefused where what it was made with has changed."""
    path = run_path(options.store, options.run_id)
    if not path.exists():
        raise InputError(
            f"there is no run {options.run_id} in {options.store} to resume; leave --resume out to start it"
        )
    with open_log(path) as reader:
        stored = read_stored(reader)
    condition = stored.context.condition
    base_url = options.base_url
    if base_url is None and stored.manifest.endpoint.startswith("http"):
        base_url = stored.manifest.endpoint
    async with AsyncExitStack() as stack:
        engine = await stack.enter_async_context(open_engine(stored.manifest.engine))
        model = await stack.enter_async_context(open_model(condition.model, base_url=base_url))
        parts = Parts(
            engine.port, model.port, ClipMedia(condition), FreeMeter(), FixedLimiter(options.in_flight), clock()
        )
        return await resume_run(
            path,
            parts,
            ledger=engine.description.ledger(),
            templates=load_templates,
            clips=find_clips(clips) if clips else (),
            workers=options.workers,
            stop=stop,
            retry_failed=retry_failed,
            progress=progress,
        )


def has_begun(path: Path) -> bool:
    """Whether a log holds any event; a process that died at once leaves one that doesn't."""
    with open_log(path) as reader:
        return reader.last_seq() > 0


def clock() -> Clock:
    """The machine's own time and chance."""
    return Clock(now=utc_now, random=random.random)


def utc_now() -> str:
    """The time as RFC 3339 in UTC, to the microsecond."""
    return datetime.now(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


@contextmanager
def interruptible(stop: Stop) -> Iterator[None]:
    """SIGINT and SIGTERM ask for a stop, in which calls in flight may end; a second one cancels those too."""
    loop = get_running_loop()
    task: Task[object] | None = current_task()

    def interrupt() -> None:
        if stop.requested and task is not None:
            task.cancel()
        stop.request("interrupted")

    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, interrupt)
    try:
        yield
    finally:
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.remove_signal_handler(number)


def _named(parameters: Parameters, wire_name: str) -> Parameters:
    return replace(parameters, model=wire_name)
