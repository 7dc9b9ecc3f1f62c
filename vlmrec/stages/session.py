"""A run from the outside: options in, engine, model and media opened, the run driven, a result out."""

import time
import uuid
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from msgspec.structs import replace

from vlmrec.config import Config
from vlmrec.errors import InputError
from vlmrec.events import ClipSource
from vlmrec.log.format import Parent as LogParent
from vlmrec.log.reader import open_log
from vlmrec.log.store import run_path
from vlmrec.models.budget import BudgetMeter, Ledger
from vlmrec.models.limits import AdaptiveLimiter, RateChange
from vlmrec.schemas import load as load_schema
from vlmrec.stages.clips import find_clips, only, read_clip_set
from vlmrec.stages.condition import Condition, condition_from_axes
from vlmrec.stages.deliveries import DATA_URL, check_delivery, open_delivery
from vlmrec.stages.endpoints import OpenModel, open_model
from vlmrec.stages.engines import OpenEngine, open_engine
from vlmrec.stages.extract import Parts, Plan, Progress, RunResult, start_run
from vlmrec.stages.options import NewRun, Options
from vlmrec.stages.parents import embedded_target, read_parent
from vlmrec.stages.ports import Engine, Limiter, clock
from vlmrec.stages.prompts import load_templates
from vlmrec.stages.request import Parameters
from vlmrec.stages.resume import read_stored, resume_run
from vlmrec.stages.spending import active_minutes, spent_so_far
from vlmrec.stages.stop import Stop
from vlmrec.stages.topup import Estimate, TakenOver, batches, estimate, located, read_taken
from vlmrec.stages.video import ClipMedia

RULES_FILE = "validation_rules.yaml"


async def begin(
    options: Options, new: NewRun, config: Config, *, stop: Stop, progress: Progress, budget: Ledger | None = None
) -> RunResult:
    """A new run, from its first event to its last. Raises InputError when there is one of that id already.

    ``budget`` is shared with other runs of an experiment; by default the run has its own.
    """
    path = _new_path(options)
    wanted = read_clip_set(new.clip_set) if new.clip_set is not None else None
    clips = only(find_clips(new.clips), wanted, new.clip_set)
    async with _opened(new.engine, new.condition.model, options, config, options.base_urls) as (engine, model):
        check_delivery(new.delivery, model.resolved.provider, name=new.condition.model)
        taken = TakenOver((), {})
        if new.oracle is not None:
            taken = new.oracle(engine.description.ledger(), [clip.clip_id for clip in clips])
        plan = _plan(
            options,
            engine,
            condition=new.condition,
            parameters=replace(new.parameters, wire=model.wire),
            clips=clips,
            vote_threshold=new.vote_threshold,
            extra={**new.extra, **taken.extra},
        )
        parts = _parts(
            options, model, engine.port, new.condition, config, budget or Ledger(options.limits), new.delivery
        )
        return await _start(path, options, plan, parts, taken, stop=stop, progress=progress)


async def go_on(
    options: Options,
    clips: tuple[Path, ...],
    config: Config,
    *,
    retry_failed: bool,
    stop: Stop,
    progress: Progress,
    budget: Ledger | None = None,
    clip_set: Path | None = None,
) -> RunResult:
    """A stored run, from where it stopped. Raises ResumeRefused where what it was made with has changed."""
    path = run_path(options.store, options.run_id)
    if not path.exists() or not has_begun(path):
        raise InputError(
            f"there is no run {options.run_id} in {options.store} to resume; leave --resume out to start it"
        )
    with open_log(path) as reader:
        stored = read_stored(reader)
        minutes = active_minutes(reader.events()) if options.limits.max_minutes is not None else 0.0
    condition = stored.context.condition
    base_urls = options.base_urls or _endpoint_urls(stored.manifest.endpoint)
    async with _opened(stored.manifest.engine, condition.model, options, config, base_urls) as (engine, model):
        spent = budget or spent_so_far(stored, options.limits, minutes=minutes)
        wanted = read_clip_set(clip_set) if clip_set is not None else None
        delivery = stored.manifest.extra.get("delivery", DATA_URL)
        parts = _parts(options, model, engine.port, condition, config, spent, delivery)
        return await resume_run(
            path,
            parts,
            ledger=engine.description.ledger(),
            templates=load_templates,
            clips=only(find_clips(clips), wanted, clip_set) if clips else (),
            workers=options.workers,
            stop=stop,
            retry_failed=retry_failed,
            progress=progress,
        )


async def top_up(
    options: Options,
    run: Path,
    version: str,
    clips: tuple[Path, ...],
    config: Config,
    *,
    stop: Stop,
    progress: Progress,
) -> RunResult:
    """A new run under another embedded engine, which takes over the answers of ``run`` and asks only for the rest."""
    path = _new_path(options)
    target = embedded_target(version)
    with open_log(run) as reader:
        parent = read_parent(reader)
        parameters = read_stored(reader).parameters
        taken = read_taken(reader, parent, target)
    condition = condition_from_axes(parent.manifest.axes)
    places = {clip.clip_id: Path(clip.path) for clip in find_clips(clips)} if clips else {}
    base_urls = options.base_urls or _endpoint_urls(parent.manifest.endpoint)
    async with _opened(target.source, condition.model, options, config, base_urls) as (engine, model):
        plan = _plan(
            options,
            engine,
            condition=condition,
            parameters=parameters,
            clips=located(taken, places),
            vote_threshold=parent.manifest.vote_threshold,
            extra=taken.extra,
        )
        parts = _parts(options, model, engine.port, condition, config, Ledger(options.limits))
        origin = LogParent(uuid=parent.uuid, head=parent.head)
        return await _start(path, options, plan, parts, taken, stop=stop, progress=progress, parent=origin)


def estimate_top_up(run: Path, version: str) -> Estimate:
    """How many calls a top-up of ``run`` would make at least."""
    with open_log(run) as reader:
        parent = read_parent(reader)
        return estimate(reader, parent, embedded_target(version), samples=parent.manifest.samples)


def _new_path(options: Options) -> Path:
    """Where a new run's log goes. Raises InputError when that run has begun already."""
    path = run_path(options.store, options.run_id)
    if path.exists() and has_begun(path):
        raise InputError(
            f"run {options.run_id} is in {options.store} already: go on with it by --resume, or choose another --run-id"
        )
    return path


@asynccontextmanager
async def _opened(
    engine: str, model: str, options: Options, config: Config, base_urls: tuple[str, ...]
) -> AsyncIterator[tuple[OpenEngine, OpenModel]]:
    async with (
        open_engine(engine) as opened_engine,
        open_model(model, config, store=options.store, base_urls=base_urls) as opened_model,
    ):
        yield opened_engine, opened_model


def _plan(
    options: Options,
    engine: OpenEngine,
    *,
    condition: Condition,
    parameters: Parameters,
    clips: tuple[ClipSource, ...],
    vote_threshold: str,
    extra: dict[str, object],
) -> Plan:
    return Plan(
        run_id=options.run_id,
        condition=condition,
        parameters=parameters,
        clips=clips,
        engine=engine.description,
        templates=load_templates(condition.language),
        rules=load_schema(RULES_FILE) if condition.stages == "2" else None,
        vote_threshold=vote_threshold,
        extra=extra,
    )


async def _start(
    path: Path,
    options: Options,
    plan: Plan,
    parts: Parts,
    taken: TakenOver,
    *,
    stop: Stop,
    progress: Progress,
    parent: LogParent | None = None,
) -> RunResult:
    return await start_run(
        path,
        plan,
        parts,
        log_uuid=str(uuid.uuid4()),
        workers=options.workers,
        stop=stop,
        progress=progress,
        parent=parent,
        given=batches(taken, time=parts.clock.now()),
    )


def _parts(
    options: Options,
    model: OpenModel,
    engine: Engine,
    condition: Condition,
    config: Config,
    budget: Ledger,
    delivery: str = DATA_URL,
) -> Parts:
    secrets = config.secrets
    bodies = open_delivery(delivery, options.store_environ)
    return Parts(
        engine=engine,
        model=model.port,
        media=ClipMedia(condition, delivery=bodies, keep_out=secrets.learn),
        meter=_meter(options, model, budget),
        limiter=_limiter(options, model),
        clock=clock(),
        scrub=secrets.scrub,
        policy=options.policy,
    )


def has_begun(path: Path) -> bool:
    """Whether a log holds any event; a process that died at once leaves one that doesn't."""
    with open_log(path) as reader:
        return reader.last_seq() > 0


def _meter(options: Options, model: OpenModel, budget: Ledger) -> BudgetMeter:
    resolved = model.resolved
    return BudgetMeter(
        budget,
        clock=time.monotonic,
        price=options.price or resolved.price,
        hourly=resolved.hourly if options.price is None else None,
        longest_s=resolved.provider.timeout_s,
        context=resolved.settings.context,
        states_cost=resolved.provider.states_cost,
    )


def _limiter(options: Options, model: OpenModel) -> Callable[[Callable[[RateChange], None]], Limiter]:
    limit = options.in_flight or model.resolved.provider.in_flight
    return lambda on_change: AdaptiveLimiter(limit, on_change=on_change)


def _endpoint_urls(endpoint: str) -> tuple[str, ...]:
    return tuple(endpoint.split()) if endpoint.startswith(("http://", "https://")) else ()
