"""The state of a run just now: what its log says, whether anybody writes it, and the time."""

from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from vlmrec.log import lock, open_checked, seal_if_idle
from vlmrec.projections.core import Projected, project
from vlmrec.projections.status import RunProgress, RunStatus, RunTimes
from vlmrec.report.logs import StoredLog


class StateOfRun(NamedTuple):
    """A run's progress, and whether its file is sealed."""

    projected: Projected[RunStatus, RunTimes]
    sealed: bool


def run_status(run: Path) -> StateOfRun:
    """The progress of the run at ``run``. A log that nobody writes is sealed on the way."""
    writing = is_written(run)
    sealed = not writing and seal_if_idle(run)
    now = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    with open_checked(run) as log:
        projection = RunProgress(now=now, writing=writing, stopped=log.stopped())
        return StateOfRun(project(projection, [StoredLog(log)]), sealed)


def is_written(run: Path) -> bool:
    """Whether a process holds the writer's lock of the log at this moment."""
    return lock.is_held(run)
