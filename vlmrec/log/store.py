"""Where runs lie: a store is a folder that holds ``<run_id>.db`` side by side."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from vlmrec.errors import InputError, LogError
from vlmrec.log.reader import LogReader, open_checked, open_log
from vlmrec.log.sealing import seal_if_idle

RESERVED = ("catalog", "labels")
_SLUG = re.compile(r"[a-z0-9][a-z0-9._-]{0,99}", re.IGNORECASE)


def run_path(store: Path, run_id: str) -> Path:
    """Where a run's log lies or will lie. Raises InputError for an id that is no slug, or that is reserved."""
    if _SLUG.fullmatch(run_id) is None:
        raise InputError(
            f"{run_id!r} can't be a run id: 1 to 100 letters, digits, dots, hyphens and underscores, "
            f"beginning with a letter or digit, such as qwen-full-01"
        )
    if run_id.lower() in RESERVED:
        raise InputError(f"{run_id!r} can't be a run id: the store keeps {run_id.lower()}.db for itself")
    if run_id.lower().endswith((".db", ".lock")):
        raise InputError(f"{run_id!r} can't be a run id: leave the file's ending away")
    return store / f"{run_id}.db"


def resolve_run(run: str, store: Path) -> Path:
    """The log of a run named by its id or by the path of its log. Raises InputError naming the runs there are."""
    as_path = Path(run)
    if as_path.suffix == ".db" or len(as_path.parts) > 1:
        if as_path.is_file():
            return as_path
        raise InputError(f"no run log at {as_path}: give the path of a .db file, or a run id with --store")
    found = run_path(store, run)
    if found.is_file():
        return found
    names = [path.stem for path in run_logs(store)]
    known = f"runs there: {', '.join(names[:20])}{' …' if len(names) > 20 else ''}" if names else "it holds no run yet"
    raise InputError(
        f"no run {run!r} in the store {store} ({known}); name one of them, or another store with --store DIR"
    )


def run_logs(store: Path) -> list[Path]:
    """The logs of a store's runs, sorted by name. Files that only look like logs are told apart on opening."""
    if not store.is_dir():
        return []
    return sorted(path for path in store.glob("*.db") if path.stem not in RESERVED and _SLUG.fullmatch(path.stem))


def latest_run(store: Path) -> Path:
    """The log whose run began last, by the logs' own account. Raises InputError when there is none."""
    found: list[tuple[str, str, Path]] = []
    for path in run_logs(store):
        try:
            with open_log(path) as log:
                found.append((log.info.created, path.stem, path))
        except LogError:
            continue  # a file of another kind, or from a newer vlmrec, is not the latest run that can be used
    if not found:
        raise InputError(f"the store {store} holds no run yet; make one with `vlmrec extract`, or name it by its path")
    return max(found)[2]


@contextmanager
def open_run(path: Path) -> Iterator[LogReader]:
    """``open_checked`` for commands: a log that was left unsealed, and that nobody writes any more, is sealed first."""
    seal_if_idle(path)
    with open_checked(path) as log:
        yield log
