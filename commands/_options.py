"""Options that several commands share, each one decorator, so that all commands agree on them.

``run_argument`` and ``run_arguments`` accept a run's id or the path of its log, and bring ``--store``
along; add ``store_option`` as well where the command itself wants the store's path.
"""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click
from click.shell_completion import CompletionItem

Function = TypeVar("Function", bound=Callable[..., Any])

_STORE = "vlmrec.store"


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


def any_runs_argument(function: Function) -> Function:
    """``[RUN]...``, passed as ``runs: tuple[Path, ...]``, none or more."""
    return _with_store(click.argument("runs", type=RunType(), metavar="[RUN]...", nargs=-1)(function))


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
        from vlmrec.log.store import resolve_run

        return resolve_run(str(value), store if isinstance(store, Path) else Path("store"))

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        from vlmrec.log.store import run_logs

        store = ctx.params.get("store") or os.environ.get("VLMREC_STORE", "store")
        names = (path.stem for path in run_logs(Path(store)))
        return [CompletionItem(name) for name in names if name.startswith(incomplete)]


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
