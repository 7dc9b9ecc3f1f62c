"""What ``vlmrec experiment`` makes of its file, shows on the way, and says at the end."""

import asyncio
import os
from collections.abc import Sequence
from pathlib import Path

import click

from vlmrec.commands._extract import exit_code, price, progress_lines, store_environ
from vlmrec.commands._output import note, print_json, print_table, warn
from vlmrec.config import Config, load_config
from vlmrec.errors import InputError
from vlmrec.report.oracle import make_oracle
from vlmrec.report.probe_cards import asked_in_vain
from vlmrec.stages.engines import open_engine
from vlmrec.stages.experiment import Experiment, PlannedRun, parse_experiment
from vlmrec.stages.experiment_run import RunOutcome, RunPlan, plan_runs, run_experiment
from vlmrec.stages.options import Options, Oracle
from vlmrec.stages.stop import Stop, interruptible


def show_plan(file: Path, config: Path | None, store: Path, *, as_json: bool) -> None:
    """Every run, its state, in what it differs from the first, and an estimate of its calls and cost."""
    experiment, options, settings = _open(file, config, store)

    async def described() -> tuple[RunPlan, ...]:
        async with open_engine(experiment.engine) as engine:
            return plan_runs(experiment, options, settings, engine.description.ledger())

    plans = asyncio.run(described())
    if as_json:
        print_json({"experiment": experiment.name, "runs": plans})
        return
    rows = [
        (
            plan.run_id,
            plan.short_hash,
            plan.state,
            plan.differs or "(the first)",
            plan.clips,
            f"{plan.calls_at_least} to {plan.calls_at_most}",
            "unknown" if plan.cost_at_most is None else f"{plan.cost_at_least} to {plan.cost_at_most}",
        )
        for plan in plans
    ]
    columns = ("run", "hash", "state", "differs in", "clips", "calls", "USD, estimated")
    print_table(columns, rows, title=f"{experiment.name}: {plans[0].condition}")
    for plan in plans[1:]:
        click.echo(f"  {plan.run_id}: {plan.condition}")


def carry_out(
    file: Path, config: Path | None, store: Path, *, retry_failed: bool
) -> tuple[Experiment, Path, tuple[RunOutcome, ...]]:
    """Every run to its end, or until one stops."""
    experiment, options, settings = _open(file, config, store)

    def oracle(run: PlannedRun) -> Oracle | None:
        sources = [_within(file, source) for source in (run.stage0_from, run.answers_from)]
        return make_oracle(*sources, store=store, beside=experiment.clips)

    for run in experiment.runs:
        for text in asked_in_vain(
            store, settings, run.condition, fps=run.parameters.fps, base_urls=experiment.base_urls
        ):
            warn(f"{run.name}: {text}")

    async def run_all() -> tuple[RunOutcome, ...]:
        stop = Stop()
        with interruptible(stop), progress_lines() as progress:
            return await run_experiment(
                experiment,
                options,
                settings,
                oracle=oracle,
                retry_failed=retry_failed,
                stop=stop,
                progress=progress,
                on_run=lambda run_id, state: note(f"{run_id}: {'going on' if state != 'new' else 'beginning'}"),
            )

    return experiment, store, asyncio.run(run_all())


def conclude(done: tuple[Experiment, Path, tuple[RunOutcome, ...]], *, as_json: bool) -> None:
    """Say how each run stands, and end with the exit code of the worst."""
    experiment, _, outcomes = done
    if as_json:
        runs = [
            {"run_id": each.run_id, "skipped": each.skipped, "result": each.result._asdict() if each.result else None}
            for each in outcomes
        ]
        print_json({"experiment": experiment.name, "runs": runs})
    else:
        print_table(("run", "", "finished", "failed", "unfinished"), [_row(each) for each in outcomes])
    stopped = next((each for each in outcomes if each.result is not None and each.result.reason != "done"), None)
    if stopped is not None and stopped.result is not None:
        note(
            f"{stopped.run_id} stopped: {stopped.result.detail or stopped.result.reason}; start the same command again"
        )
    if code := worst(outcomes):
        click.get_current_context().exit(code)


def worst(outcomes: Sequence[RunOutcome]) -> int:
    """The exit code of the run that stopped, else 1 where any clip failed, else 0."""
    codes = [exit_code(each.result) for each in outcomes if each.result is not None]
    return max((code for code in codes if code > 1), default=max(codes, default=0))


def _row(outcome: RunOutcome) -> tuple[object, ...]:
    result = outcome.result
    if result is None:
        return (outcome.run_id, "not begun", None, None, None)
    how = "done before" if outcome.skipped else result.reason
    return (outcome.run_id, how, result.finished, result.failed, result.unfinished)


def _open(file: Path, config: Path | None, store: Path) -> tuple[Experiment, Options, Config]:
    try:
        text = file.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{file}: can't be read: {error}") from error
    experiment = parse_experiment(text, path=file)
    options = Options(
        store=store,
        run_id=experiment.runs[0].run_id,
        workers=experiment.settings.workers,
        in_flight=experiment.settings.in_flight,
        base_urls=experiment.base_urls,
        limits=experiment.limits,
        price=price(experiment.assume_price),
        store_environ=store_environ(),
    )
    return experiment, options, load_config(config, environ=os.environ)


def _within(file: Path, source: str | None) -> str | None:
    """A folder of labels is named from the file's own folder."""
    kind, colon, folder = (source or "").partition(":")
    return f"{kind}:{file.parent / folder}" if colon else source
