"""Options that several commands share, each one decorator, so that all commands agree on them.

``run_argument`` and ``run_arguments`` accept a run's id or the path of its log, and bring ``--store``
along; add ``store_option`` as well where the command itself wants the store's path.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from vlmrec.errors import InputError

Function = TypeVar("Function", bound=Callable[..., Any])

_STORE = "vlmrec.store"
RESERVED = ("catalog", "labels")


def json_option(function: Function) -> Function:
    """``--json``, passed as ``as_json``."""
    return click.option("--json", "as_json", is_flag=True, help="Print one JSON document instead of a table.")(function)


def store_option(function: Function) -> Function:
    """``--store DIR``, passed as ``store: Path``; it need not exist."""
    _remove_store(function)
    return _store(function, expose=True)


def run_argument(function: Function) -> Function:
    """``RUN``, passed as ``run: Path``: the log of a run that exists."""
    return _with_store(click.argument("run", type=RunType(), metavar="RUN")(function))


def optional_run_argument(function: Function) -> Function:
    """``[RUN]``, passed as ``run: Path | None``."""
    return _with_store(click.argument("run", type=RunType(), metavar="[RUN]", required=False)(function))


def run_arguments(function: Function) -> Function:
    """``RUN...``, passed as ``runs: tuple[Path, ...]``, at least one, in the order named."""
    return _with_store(click.argument("runs", type=RunType(), metavar="RUN...", nargs=-1, required=True)(function))


def gold_option(function: Function) -> Function:
    """``--gold DIR``, passed as ``gold: Path``: a folder of gold files that exists."""
    kind = click.Path(exists=True, file_okay=False, path_type=Path)
    return click.option("--gold", type=kind, required=True, metavar="DIR", help="Folder of gold label files.")(function)


def optional_gold_option(function: Function) -> Function:
    """``--gold DIR``, passed as ``gold: Path | None``."""
    kind = click.Path(exists=True, file_okay=False, path_type=Path)
    return click.option("--gold", type=kind, metavar="DIR", help="Folder of gold label files.")(function)


def clips_option(function: Function) -> Function:
    """``--clips SET``, passed as ``clips: Path | None``: a file of clip ids, one a line."""
    kind = click.Path(exists=True, dir_okay=False, path_type=Path)
    return click.option("--clips", type=kind, metavar="SET", help="Only these clips: a file of clip ids, one a line.")(
        function
    )


class RunType(click.ParamType[Path]):
    """A run's id in the store, or the path of a log."""

    name = "run"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        if isinstance(value, Path):
            return value
        store = ctx.meta.get(_STORE) if ctx is not None else None
        return locate_run(str(value), store if isinstance(store, Path) else Path("store"))


def locate_run(name: str, store: Path) -> Path:
    """The log of the run called ``name``. Raises InputError naming the runs there are."""
    as_path = Path(name)
    if as_path.suffix == ".db" or len(as_path.parts) > 1:
        if as_path.is_file():
            return as_path
        raise InputError(f"no run log at {as_path}: give the path of a .db file, or a run id with --store")
    found = store / f"{name}.db"
    if found.is_file():
        return found
    runs = sorted(path.stem for path in store.glob("*.db") if path.stem not in RESERVED) if store.is_dir() else []
    known = f"runs there: {', '.join(runs[:20])}{' …' if len(runs) > 20 else ''}" if runs else "it holds no run yet"
    raise InputError(
        f"no run {name!r} in the store {store} ({known}); name one of them, or another store with --store DIR"
    )


def _with_store(function: Function) -> Function:
    if any(param.name == "store" for param in _params(function)):
        return function
    return _store(function, expose=False)


def _store(function: Function, *, expose: bool) -> Function:
    return click.option(
        "--store",
        type=click.Path(file_okay=False, path_type=Path),
        default="store",
        envvar="VLMREC_STORE",
        is_eager=True,  # known before RUN is looked up
        expose_value=expose,
        callback=_remember,
        metavar="DIR",
        help="Where run logs are kept. [default: $VLMREC_STORE, else ./store]",
    )(function)


def _remember(ctx: click.Context, param: click.Parameter, value: Path) -> Path:
    ctx.meta[_STORE] = value
    return value


def _params(function: Any) -> list[click.Parameter]:
    params: list[click.Parameter] = getattr(function, "__click_params__", [])
    return params


def _remove_store(function: Any) -> None:
    params = _params(function)
    params[:] = [param for param in params if param.name != "store"]
