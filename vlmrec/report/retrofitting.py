"""Describe-then-map over a stored run: by the declared rules, or by a text-only model whose calls are stored too.

A mapper's calls go into a derived log beside the run, named after the run's head and the model. Where that log is
whole nothing is asked again, so that a second look is offline.
"""

import time
import uuid
from collections.abc import Sequence
from pathlib import Path

from vlmrec.canonical import sha256_hex
from vlmrec.config import Config
from vlmrec.errors import InputError, StopRun
from vlmrec.events import Manifest, RunStopped
from vlmrec.log import Parent, open_checked, open_log
from vlmrec.log.store import run_path
from vlmrec.models.budget import BudgetMeter, Ledger, Limits
from vlmrec.projections.core import Folding, LogSource, Projected, event_types, project, run_facts
from vlmrec.projections.retrofit import RetrofitDescribeMap, Retrofitted, descriptions
from vlmrec.report.goldmap import load_labels
from vlmrec.report.logs import StoredLog, open_sources, read_clip_set
from vlmrec.report.scoring import labels_for
from vlmrec.stages.endpoints import open_model
from vlmrec.stages.mapper import MapTask, run_mapping
from vlmrec.stages.ports import clock


def retrofit_run(
    run: Path, gold: Path, *, clips: Path | None = None, mapped: Path | None = None
) -> Projected[Retrofitted, None]:
    """What the run's descriptions map to, beside what was chosen; by the mapper's log where one is given.

    Raises InputError for a run in which nothing was chosen.
    """
    with open_sources([run, *([mapped] if mapped is not None else [])]) as logs:
        _check_chosen(logs[0])
        stored = load_labels(gold)
        only = read_clip_set(clips, [run], stored.clip_ids)
        labels, mapping = labels_for(logs[:1], stored, only)
        return project(RetrofitDescribeMap(labels, mapping=mapping), logs, clips=only)


async def map_by_model(
    run: Path, store: Path, gold: Path, model: str, config: Config, *, base_urls: tuple[str, ...]
) -> tuple[Path, bool]:
    """The log of a mapper's calls on this run, and whether it was there already. Raises StopRun where calls are useless."""
    with open_checked(run) as reader:
        _check_chosen(StoredLog(reader))
        head = reader.head() or ""
        path = run_path(store, f"{run.stem}--map-{sha256_hex(f'{head}/{model}'.encode())[:10]}")
        if path.exists():
            with open_log(path) as stored:
                stops = [event.data for event in stored.events([RunStopped.type])]
            if stops and isinstance(stops[-1], RunStopped) and stops[-1].reason == "done":
                return path, True
            raise InputError(f"{path}: an earlier mapping was cut off; remove the file and try again")
        manifest, tasks = _tasks(StoredLog(reader), gold)
        parent = Parent(uuid=reader.info.uuid, head=head)
        async with open_model(model, config, store=store, base_urls=base_urls) as opened:
            resolved = opened.resolved
            meter = BudgetMeter(
                Ledger(Limits()), clock=time.monotonic, price=resolved.price, context=resolved.settings.context
            )
            stopped = await run_mapping(
                path,
                opened,
                tasks,
                parent=parent,
                manifest=manifest,
                meter=meter,
                clock=clock(),
                log_uuid=str(uuid.uuid4()),
                scrub=config.secrets.scrub,
            )
    if stopped is not None:
        raise StopRun(f"{model}: {stopped}; what was mapped so far is in {path}")
    return path, False


def _check_chosen(log: LogSource) -> None:
    """Refuse a run that asked for descriptions: there is no forced choice to hold them against."""
    manifest = run_facts(log).manifest
    if manifest is not None and manifest.axes.get("Q") == "describe-map":
        raise InputError(
            f"{log.provenance().run_id}: this run asked for descriptions (Q=describe-map), so nothing was chosen that they "
            "could be held against; set it beside a run of Q=choice with `vlmrec compare`"
        )


def _tasks(log: StoredLog, gold: Path) -> tuple[Manifest, Sequence[MapTask]]:
    projection = RetrofitDescribeMap(load_labels(gold))
    folding = Folding(projection, blob=log.blob)
    folding.feed(log.events(event_types(projection)))
    run = folding.results()
    if run.facts.manifest is None:
        raise InputError("a log without a manifest has no descriptions to map")
    tasks = [
        MapTask(clip, opened.question_id, opened.party, opened.text, opened.options, text)
        for clip, opened, text in descriptions(run)
    ]
    return run.facts.manifest, tasks
