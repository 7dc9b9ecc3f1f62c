"""An experiment: several conditions over the same clips, from one TOML file. Pure; paths are not looked at.

Every condition is a run ``<experiment>-<name>``. All else is shared, so that what differs between two runs
is what their conditions say. Errors name the file and the key.
"""

import re
import tomllib
from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import msgspec
from msgspec import Meta, Struct

from vlmrec.errors import InputError
from vlmrec.events import Manifest
from vlmrec.models.budget import Limits
from vlmrec.stages.condition import Condition, canonical_id, difference, parse_condition
from vlmrec.stages.deliveries import DATA_URL
from vlmrec.stages.engines import engine_source
from vlmrec.stages.request import Parameters
from vlmrec.stages.settings import check_table_source, monitor_share, one_call, run_parameters, vote_share

_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,49}", re.IGNORECASE)


class Settings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """``[settings]``: shared by all conditions."""

    temperature: Annotated[float, Meta(ge=0)] | None = None
    top_p: float | None = None
    top_k: int | None = None
    max_tokens: Annotated[int, Meta(ge=1)] = 1024
    seed: int = 0
    fps: Annotated[float, Meta(gt=0)] | None = None
    vote_threshold: str = "1/2"
    delivery: str = DATA_URL
    monitor_rate: str | None = None
    n_in_one_call: bool = False
    workers: Annotated[int, Meta(ge=1)] = 2
    in_flight: Annotated[int, Meta(ge=1)] | None = None


class Budget(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """``[budget]``: one for the whole experiment."""

    max_cost: Annotated[Decimal, Meta(description="In USD.")] | None = None
    max_calls: Annotated[int, Meta(ge=1)] | None = None
    max_minutes: float | None = None
    assume_price: Annotated[str | None, Meta(description="USD per million prompt and completion tokens: IN,OUT.")] = (
        None
    )


class ConditionTable(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """``[[condition]]``: a name, and the axes in which it differs from ``base``."""

    name: str
    set: str = ""
    stage0_from: str | None = None
    answers_from: str | None = None


class ExperimentFile(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The whole file."""

    clips: Annotated[tuple[str, ...], Meta(min_length=1, description="Files and folders, from the file's own folder.")]
    condition: Annotated[tuple[ConditionTable, ...], Meta(min_length=1)]
    name: str | None = None
    clip_set: str | None = None
    engine: str | None = None
    engine_url: str | None = None
    base: Annotated[str, Meta(description="Axes that all conditions share.")] = ""
    base_urls: tuple[str, ...] = ()
    settings: Settings = Settings()
    budget: Budget = Budget()


class PlannedRun(NamedTuple):
    """One condition as a run."""

    name: str
    run_id: str
    condition: Condition
    parameters: Parameters
    extra: dict[str, object]
    stage0_from: str | None
    answers_from: str | None

    @property
    def one_call(self) -> bool:
        return bool(self.extra.get("n_in_one_call", False))


class Experiment(NamedTuple):
    """What is to be done."""

    name: str
    clips: tuple[Path, ...]
    clip_set: Path | None
    engine: str
    base_urls: tuple[str, ...]
    vote_threshold: str
    settings: Settings
    limits: Limits
    assume_price: str | None
    runs: tuple[PlannedRun, ...]

    def axes_that_differ(self, run: PlannedRun) -> str:
        """In what a run differs from the first, as ``G: 0 -> 3``; empty for the first."""
        first = self.runs[0]
        axes = [
            f"{letter}: {was} -> {now}" for letter, (was, now) in difference(first.condition, run.condition).items()
        ]
        for label, was, now in (
            ("table", first.stage0_from, run.stage0_from),
            ("answers", first.answers_from, run.answers_from),
        ):
            if was != now:
                axes.append(f"{label}: {was or 'model'} -> {now or 'model'}")
        return ", ".join(axes)


def parse_experiment(text: str, *, path: Path) -> Experiment:
    """The experiment in ``text``, the contents of the file at ``path``. Raises InputError naming file and key."""
    try:
        document: dict[str, Any] = tomllib.loads(text, parse_float=Decimal)
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{path}: not TOML: {error}") from error
    try:
        read = msgspec.convert(document, ExperimentFile, strict=False)
    except msgspec.ValidationError as error:
        raise InputError(f"{path}: {_place(str(error))}") from error
    name = read.name or path.stem
    if _NAME.fullmatch(name) is None:
        raise InputError(f"{path}: name {name!r}: expected letters, digits, dots, hyphens and underscores, 50 at most")
    base = _within(path, "base", lambda: parse_condition(read.base))
    runs = tuple(_planned(read, table, place, base, name, path) for place, table in enumerate(read.condition))
    _check_apart(runs, path)
    _check_temperature(read, runs, path)
    folder = path.parent
    return Experiment(
        name=name,
        clips=tuple(folder / clip for clip in read.clips),
        clip_set=folder / read.clip_set if read.clip_set is not None else None,
        engine=_within(
            path,
            "engine" if read.engine_url is None else "engine_url",
            lambda: engine_source(read.engine, read.engine_url),
        ),
        base_urls=read.base_urls,
        vote_threshold=_within(path, "settings.vote_threshold", lambda: vote_share(read.settings.vote_threshold)),
        settings=read.settings,
        limits=Limits(
            max_cost=read.budget.max_cost, max_calls=read.budget.max_calls, max_minutes=read.budget.max_minutes
        ),
        assume_price=read.budget.assume_price,
        runs=runs,
    )


def other_settings(experiment: Experiment, run: PlannedRun, manifest: Manifest, clips: tuple[str, ...]) -> str | None:
    """The first setting in which a stored run is not the planned one, with both values; None where it is."""
    planned: dict[str, Any] = {
        "condition": canonical_id(run.condition),
        "engine": experiment.engine,
        "vote_threshold": experiment.vote_threshold,
        "clips": sorted(clips),
        **_flat("parameters", msgspec.to_builtins(run.parameters)),
        **{name: run.extra.get(name) for name in ("delivery", "monitor_rate", "n_in_one_call")},
        "stage0_from": run.stage0_from is not None,
        "answers_from": run.answers_from is not None,
    }
    stored: dict[str, Any] = {
        "condition": manifest.condition,
        "engine": manifest.engine,
        "vote_threshold": manifest.vote_threshold,
        "clips": sorted(clip.clip_id for clip in manifest.clips),
        **_flat("parameters", manifest.parameters),
        **{name: manifest.extra.get(name) for name in ("delivery", "monitor_rate", "n_in_one_call")},
        "stage0_from": "stage0_from" in manifest.extra,
        "answers_from": "answers_from" in manifest.extra,
    }
    for name, value in planned.items():
        if stored.get(name) != value:
            return f"{name} is {_shown(stored.get(name))} there and {_shown(value)} in the file"
    return None


def _planned(
    read: ExperimentFile, table: ConditionTable, place: int, base: Condition, name: str, path: Path
) -> PlannedRun:
    where = f"condition[{place}] ({table.name})"
    if _NAME.fullmatch(table.name) is None:
        raise InputError(f"{path}: {where}.name: expected letters, digits, dots, hyphens and underscores, 50 at most")
    condition = _within(path, f"{where}.set", lambda: parse_condition(table.set, base))
    _within(path, f"{where}.stage0_from", lambda: check_table_source(table.stage0_from, condition))
    settings = read.settings
    parameters = _within(
        path,
        f"{where} with [settings]",
        lambda: run_parameters(
            condition,
            temperature=settings.temperature,
            top_p=settings.top_p,
            top_k=settings.top_k,
            max_tokens=settings.max_tokens,
            seed=settings.seed,
            fps=settings.fps if condition.video == "full" else None,
        ),
    )
    several = settings.n_in_one_call and condition.samples > 1
    watched = settings.monitor_rate if condition.format == "schema" else None
    extra = {
        "delivery": None if settings.delivery == DATA_URL else settings.delivery,
        "monitor_rate": _within(path, "settings.monitor_rate", lambda: monitor_share(watched, condition)),
        "n_in_one_call": one_call(several, condition) or None,
    }
    return PlannedRun(
        name=table.name,
        run_id=f"{name}-{table.name}",
        condition=condition,
        parameters=parameters,
        extra={key: value for key, value in extra.items() if value is not None},
        stage0_from=table.stage0_from,
        answers_from=table.answers_from,
    )


def _check_apart(runs: tuple[PlannedRun, ...], path: Path) -> None:
    seen: dict[object, str] = {}
    for place, run in enumerate(runs):
        what = (run.condition, run.stage0_from, run.answers_from)
        for key, why in ((run.run_id.casefold(), "has the name of"), (what, "is the same as")):
            other = seen.setdefault(key, run.name)
            if other != run.name or sum(each.run_id.casefold() == run.run_id.casefold() for each in runs) > 1:
                raise InputError(f"{path}: condition[{place}] ({run.name}) {why} another one ({other})")


def _check_temperature(read: ExperimentFile, runs: tuple[PlannedRun, ...], path: Path) -> None:
    """The default temperature follows R, so conditions that differ in R would differ in it too."""
    if read.settings.temperature is None and len({run.parameters.temperature for run in runs}) > 1:
        raise InputError(
            f"{path}: settings.temperature: conditions with one sample and with several would get different defaults; "
            "set one for all, such as 0.7"
        )


def _within(path: Path, key: str, make: Any) -> Any:
    try:
        return make()
    except InputError as error:
        raise InputError(f"{path}: {key}: {error}") from error


def _flat(name: str, values: Mapping[str, Any]) -> dict[str, Any]:
    return {f"{name}.{key}": value for key, value in values.items() if key != "wire"}


def _shown(value: object) -> str:
    return "not set" if value is None else str(value)


def _place(message: str) -> str:
    """msgspec's own words, with the key first: ``settings.seed: Expected `int`, got `str` ``."""
    said, mark, where = message.partition(" - at `$")
    key = where.rstrip("`").lstrip(".")
    return f"{key}: {said}" if mark and key else said
