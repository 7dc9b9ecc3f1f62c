"""What ``vlmrec extract`` makes of its options, shows on the way, and says at the end."""

import asyncio
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

import click
import msgspec
from click.core import ParameterSource

from vlmrec.commands._output import note, print_json, print_table, warn
from vlmrec.commands._same_settings import check_ranges, check_same_settings
from vlmrec.config import load_config
from vlmrec.errors import INTERRUPTED, InputError
from vlmrec.log.store import resolve_run, run_path
from vlmrec.models.budget import Limits, Price
from vlmrec.report.oracle import make_oracle
from vlmrec.report.probe_cards import asked_in_vain
from vlmrec.stages.condition import AXES, Condition, parse_condition
from vlmrec.stages.engines import engine_source
from vlmrec.stages.extract import Progress, RunResult
from vlmrec.stages.options import NewRun, Options
from vlmrec.stages.session import begin, estimate_top_up, go_on, top_up
from vlmrec.stages.settings import check_table_source, monitor_share, one_call, run_parameters, vote_share
from vlmrec.stages.state import ClipState
from vlmrec.stages.stop import Stop, interruptible


def options(store: Path, run_id: str, settings: Mapping[str, Any]) -> Options:
    """How the run is carried out."""
    return Options(
        store=store,
        run_id=run_id,
        workers=settings["workers"],
        in_flight=settings["in_flight"],
        base_urls=settings["base_urls"],
        limits=Limits(
            max_cost=money(settings["max_cost"], "--max-cost"),
            max_calls=settings["max_calls"],
            max_minutes=settings["max_minutes"],
        ),
        price=price(settings["assume_price"]),
        store_environ=store_environ(),
    )


def new_run(paths: tuple[Path, ...], store: Path, settings: Mapping[str, Any]) -> NewRun:
    """What a new run is to be. Raises InputError for settings that make no sense together."""
    if not paths:
        raise InputError("name the clips: video files, or a folder that holds some")
    base = Condition(model=settings["model"]) if settings["model"] else Condition()
    single = [f"{axis.letter}={settings[axis.field]}" for axis in AXES if axis.letter != "M" and settings[axis.field]]
    condition = parse_condition(",".join([settings["condition"] or "", *single]), base)
    if settings["model"] and condition.model != settings["model"]:
        raise InputError("--model and --condition name different models")
    check_table_source(settings["stage0_from"], condition)
    sampling = ("temperature", "top_p", "top_k", "max_tokens", "seed", "fps")
    return NewRun(
        clips=paths,
        clip_set=settings["clips"],
        condition=condition,
        parameters=run_parameters(condition, **{name: settings[name] for name in sampling}),
        engine=engine_source(settings["engine"], settings["engine_url"]),
        vote_threshold=vote_share(settings["vote_threshold"]),
        delivery=settings["delivery"],
        monitor_rate=monitor_share(settings["monitor_rate"], condition),
        n_in_one_call=one_call(settings["n_in_one_call"], condition),
        oracle=make_oracle(settings["stage0_from"], settings["answers_from"], store=store, beside=paths),
    )


def store_environ() -> dict[str, str]:
    """What the environment says of an object store, but for its keys."""
    return {name: value for name, value in os.environ.items() if name.startswith("VLMREC_S3_")}


def carry_out(
    paths: tuple[Path, ...], run_id: str | None, store: Path, settings: Mapping[str, Any]
) -> tuple[str, Path, RunResult]:
    """Run to the end or to a stop, with progress on a terminal."""
    if run_id is None:
        raise InputError("name the run with --run-id")
    if settings["retry_failed"] and not settings["resume"]:
        raise InputError("--retry-failed goes with --resume")
    check_ranges(settings)
    if settings["resume"]:
        _check_resume(store, run_id, settings)
    how = options(store, run_id, settings)
    config = load_config(settings["config"], environ=os.environ)
    new = None if settings["resume"] or settings["top_up"] else new_run(paths, store, settings)
    parent = resolve_run(settings["top_up"], store) if settings["top_up"] else None
    if new is not None:
        fps, base_urls = settings["fps"], how.base_urls
        for text in asked_in_vain(store, config, new.condition, fps=fps, base_urls=base_urls):
            warn(text)

    async def run() -> RunResult:
        stop = Stop()
        with interruptible(stop), progress_lines() as progress:
            if settings["resume"]:
                retry = settings["retry_failed"]
                return await go_on(how, paths, config, retry_failed=retry, stop=stop, progress=progress)
            if parent is not None:
                return await top_up(how, parent, _version(settings), paths, config, stop=stop, progress=progress)
            assert new is not None
            return await begin(how, new, config, stop=stop, progress=progress)

    return run_id, store, asyncio.run(run())


def _check_resume(store: Path, run_id: str, settings: Mapping[str, Any]) -> None:
    context = click.get_current_context()
    given = [name for name in settings if context.get_parameter_source(name) is ParameterSource.COMMANDLINE]
    path = run_path(store, run_id)
    if path.is_file():
        check_same_settings(path, settings, given)


def dry_run(store: Path, settings: Mapping[str, Any], *, as_json: bool) -> None:
    """Say how many calls a top-up would make at least."""
    if not settings["top_up"]:
        raise InputError("--dry-run goes with --top-up")
    found = estimate_top_up(resolve_run(settings["top_up"], store), _version(settings))
    if as_json:
        print_json(found)
        return
    print_table(("turn", "calls"), list(found.by_question.items()))
    cost = "unknown" if found.cost is None else f"about {found.cost.normalize():f} USD"
    click.echo(
        f"at least {found.calls} calls on {found.clips_with_calls} of {found.clips} clips; cost {cost} "
        "(a new answer can lead to further questions)"
    )


def _version(settings: Mapping[str, Any]) -> str:
    if not settings["engine"]:
        raise InputError("--top-up needs the embedded engine to ask for: --engine VERSION")
    return str(settings["engine"])


def conclude(run_id: str, store: Path, result: RunResult, *, as_json: bool) -> None:
    """Say how the run stopped, and end with its exit code."""
    if as_json:
        print_json({"run_id": run_id, **result._asdict()})
    else:
        click.echo(
            f"{run_id}: {result.reason}; {result.finished} clips finished, {result.failed} failed, "
            f"{result.unfinished} unfinished"
        )
        if result.detail:
            note(result.detail)
        if result.failed:
            note(f"why clips failed: vlmrec status {run_id}")
        if result.unfinished or result.reason != "done":
            note(f"go on with: vlmrec extract --run-id {run_id} --resume")
        if not result.sealed:
            note(f"{store / (run_id + '.db')} is not sealed yet, because another program reads it")
    if code := exit_code(result):
        click.get_current_context().exit(code)


def exit_code(result: RunResult) -> int:
    """0 done, 1 some clips failed, 2 the run can't go on as it is, 3 budget or credit, 130 interrupted."""
    if result.reason == "interrupted":
        return INTERRUPTED
    if result.reason in ("budget", "credit"):
        return 3
    if result.reason != "done":
        return 2
    return 1 if result.failed else 0


def money(text: str | None, option: str) -> Decimal | None:
    if text is None:
        return None
    try:
        amount = Decimal(text)
    except InvalidOperation:
        raise InputError(f"{option} {text!r} is not an amount; write it as 2.50") from None
    if not amount.is_finite() or amount < 0:
        raise InputError(f"{option} {text} must be zero or more")
    return amount


def price(text: str | None) -> Price | None:
    if text is None:
        return None
    prompt, comma, completion = text.partition(",")
    if not comma:
        raise InputError(f"--assume-price {text!r}: expected two prices, such as 0.40,1.20")
    amounts = [money(part.strip(), "--assume-price") for part in (prompt, completion)]
    return msgspec.convert({"prompt": amounts[0], "completion": amounts[1]}, Price)


@contextmanager
def progress_lines() -> Iterator[Progress]:
    """A line per clip under way on a terminal; nothing in a pipe."""
    if not sys.stderr.isatty():
        yield lambda clip, state: None
        return
    from rich.console import Console
    from rich.progress import Progress as Bar
    from rich.progress import SpinnerColumn, TextColumn, TimeElapsedColumn

    with Bar(
        SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn(), console=Console(stderr=True)
    ) as bar:
        lines: dict[str, Any] = {}

        def show(clip: str, state: ClipState) -> None:
            if clip not in lines:
                lines[clip] = bar.add_task(clip, total=None)
            answered = sum(turn.accepted is not None for turn in state.turns.values())
            bar.update(lines[clip], description=f"{clip}: round {state.round or 0}, {answered} answers")
            if state.ended:
                bar.remove_task(lines.pop(clip))

        yield show
