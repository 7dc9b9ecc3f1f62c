"""Options given with ``--resume`` must be those of the run: what it was made with can't be changed any more."""

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from vlmrec.errors import InputError, ResumeRefused
from vlmrec.events import Manifest, RunStarted
from vlmrec.log.reader import open_log
from vlmrec.stages.condition import AXES, condition_from_axes, difference, parse_condition
from vlmrec.stages.engines import engine_source

PARAMETERS = ("temperature", "top_p", "top_k", "max_tokens", "seed", "fps")
FIXED = ("stage0_from", "answers_from", "clips", "monitor_rate", "n_in_one_call", "delivery")


def check_same_settings(path: Path, settings: Mapping[str, Any], given: Collection[str]) -> None:
    """Raise ResumeRefused when one of the options ``given`` says otherwise than the run at ``path`` was made."""
    with open_log(path) as reader:
        started = next((event.data for event in reader.events([RunStarted.type])), None)
    if not isinstance(started, RunStarted):
        return  # the resume itself says that there is no run yet
    manifest = started.manifest
    found = _first_difference(manifest, {name: settings[name] for name in given if name in settings})
    if found is not None:
        raise ResumeRefused(
            f"run {manifest.run_id}: {found}; a run keeps what it was made with: leave the option out, or start "
            "another run"
        )


def _first_difference(manifest: Manifest, given: Mapping[str, Any]) -> str | None:
    stored = condition_from_axes(manifest.axes)
    asked = ",".join(
        [
            given.get("condition") or "",
            *(f"{axis.letter}={given[axis.field]}" for axis in AXES if given.get(axis.field)),
        ]
    )
    for letter, (was, now) in difference(stored, parse_condition(asked, stored)).items():
        return f"axis {letter} is {was}, not {now}"
    if "engine" in given or "engine_url" in given:
        engine = engine_source(given.get("engine"), given.get("engine_url"))
        if engine != manifest.engine:
            return f"its engine is {manifest.engine}, not {engine}"
    for name in PARAMETERS:
        if name in given and given[name] != manifest.parameters.get(name):
            return f"{name} is {manifest.parameters.get(name)}, not {given[name]}"
    if "vote_threshold" in given and given["vote_threshold"] != manifest.vote_threshold:
        return f"the vote threshold is {manifest.vote_threshold}, not {given['vote_threshold']}"
    for name in FIXED:
        if name in given and str(manifest.extra.get(name)) != str(given[name]):
            return f"--{name.replace('_', '-')} belongs to the start of a run"
    return None


def check_ranges(settings: Mapping[str, Any]) -> None:
    """Raise InputError for numbers that no server or run can make sense of."""
    bounds = {"fps": (0, 1000), "temperature": (0, 2), "top_p": (0, 1), "max_minutes": (0, float("inf"))}
    for name, (low, high) in bounds.items():
        value = settings[name]
        if value is not None and not (low <= value <= high and (name == "temperature" or value > 0)):
            option = f"--{name.replace('_', '-')}"
            limits = f"between {low} and {high:g}" if high != float("inf") else "above 0"
            raise InputError(f"{option} {value:g} makes no sense; expected a number {limits}")
