"""A Datasette plugin (entry point ``vlmrec``): run logs with described views, canned queries and links to the viewer.

Works on any run log that Datasette is given, after a plain install. ``datasette store/`` also finds runs
that appear, and lets go of those that are gone, while it is up. Replies are other people's text: every cell
is escaped, folded when long, with control and bidirectional characters spelled out. Settings under
``plugins: vlmrec:`` in metadata.yaml: ``clips_dir``, where the viewer looks for videos.
"""

import sqlite3
import time
from functools import lru_cache
from pathlib import Path
from typing import Any
from urllib.parse import quote

from datasette import hookimpl
from datasette.database import Database
from datasette.utils.asgi import NotFound, Response
from markupsafe import Markup, escape

from vlmrec.log.format import APPLICATION_ID
from vlmrec.log.views import VIEWS
from vlmrec.spelling import spelled
from vlmrec.viewer.cells import long_text, pretty
from vlmrec.viewer.queries import CATALOG_QUERIES, RUN_QUERIES, Query

LOOK_EVERY_S = 1.0
TIMES = {"time", "opened", "accepted", "requested", "ended", "created", "started", "stopped"}
BLOBS = {"request", "reply"}
JSON = {"options", "tally", "data", "finish_reasons", "candidates", "eliminated"}
TABLES = {
    "events": "Every event of the run, in order: the log itself. The views beside it are readings of it.",
    "blobs": "Bodies that events refer to, by SHA-256: requests, replies, prompts, ledgers. Media are never stored.",
    "log": "What this log is: its format, kind and uuid, and the log it was derived from.",
}


@hookimpl
def startup(datasette: Any) -> None:
    """Look once, so that a catalog or run that came before the first request is there."""
    _look(datasette)


@hookimpl
def asgi_wrapper(datasette: Any) -> Any:
    """Look for runs that have come or gone, at most once a second, before a request is answered."""
    looked = time.monotonic()

    def wrap(app: Any) -> Any:
        async def looking(scope: Any, receive: Any, send: Any) -> None:
            nonlocal looked
            if scope["type"] == "http" and time.monotonic() - looked > LOOK_EVERY_S:
                looked = time.monotonic()
                _look(datasette)
            await app(scope, receive, send)

        return looking

    return wrap


@hookimpl
def get_metadata(datasette: Any, database: str | None) -> dict[str, Any]:
    """Descriptions of every run log and of the catalog."""
    described: dict[str, Any] = {}
    for name, db in datasette.databases.items():
        if _is_log(db):
            described[name] = {"description": "A vlmrec log: one run, append-only.", "tables": _described()}
        elif _is_catalog(db):
            described[name] = {
                "description": "Every run of the store, made by `vlmrec catalog`; disposable.",
                "tables": {},
            }
    return {"databases": described}


@hookimpl
def canned_queries(datasette: Any, database: str) -> dict[str, Any]:
    """Queries for a run log, or for the catalog."""
    db = datasette.databases[database]
    queries: dict[str, Query] = RUN_QUERIES if _is_log(db) else CATALOG_QUERIES if _is_catalog(db) else {}
    return {
        name: {"title": query.title, "description": query.description, "sql": query.sql, "hide_sql": True}
        for name, query in queries.items()
    }


@hookimpl
def render_cell(row: Any, value: Any, column: str, table: str | None, database: str, datasette: Any) -> Any:
    """Times, links and long texts; everything that is text is escaped here."""
    db = datasette.databases[database]
    catalog = _is_catalog(db)
    if not catalog and not _is_log(db):
        return None
    if not isinstance(value, str):
        return None
    if column in TIMES:
        return Markup('<time datetime="{}">{}</time>').format(value, spelled(value.replace("T", " ").removesuffix("Z")))
    if column in BLOBS and len(value) == 64 and not catalog:
        return Markup('<a href="{}"><code>{}…</code></a>').format(_blob_url(datasette, database, value), value[:12])
    if column in ("clip", "subject"):
        return _viewer_link(datasette, row, value, str(_of(row, "run_id") or database) if catalog else database)
    if column in JSON:
        return long_text(pretty(value))
    return long_text(value)


@hookimpl
def database_actions(datasette: Any, database: str) -> list[dict[str, str]]:
    """A link from a run to its viewer."""
    if not _is_log(datasette.databases[database]):
        return []
    return [{"href": datasette.urls.path(f"-/vlmrec/view/{quote(database)}"), "label": "See this run in the viewer"}]


@hookimpl
def register_routes() -> list[tuple[str, Any]]:
    """The viewer of a run, its videos, and bodies as text."""
    return [
        (r"^/-/vlmrec/view/(?P<database>[^/]+)$", view_page),
        (r"^/-/vlmrec/video/(?P<database>[^/]+)/(?P<sha256>[0-9a-f]{64})$", video),
        (r"^/-/vlmrec/blob/(?P<database>[^/]+)/(?P<sha256>[0-9a-f]{64})$", blob),
    ]


async def view_page(request: Any, datasette: Any) -> Response:
    """The viewer's page of one run."""
    db = await _allowed(request, datasette)
    body = await _in_thread(datasette, lambda: _page(Path(db.path), db.name, _clips_dir(datasette), _head(db.path)))
    return Response(body, content_type="text/html; charset=utf-8")


async def video(request: Any, datasette: Any) -> Response:
    """A clip of the run, or a part of it."""
    db = await _allowed(request, datasette)
    found = await _in_thread(datasette, lambda: _videos(Path(db.path), _clips_dir(datasette), _head(db.path)))
    path = found.get(request.url_vars["sha256"])
    if path is None:
        raise NotFound("no such video")
    return _ranged(path, request.headers.get("range"))


async def blob(request: Any, datasette: Any) -> Response:
    """A stored body as plain text."""
    db = await _allowed(request, datasette)
    result = await db.execute("SELECT body FROM blobs WHERE sha256 = ?", [request.url_vars["sha256"]])
    found = result.first()
    if found is None:
        raise NotFound("no such blob")
    headers = {"x-content-type-options": "nosniff", "content-security-policy": "default-src 'none'; sandbox"}
    return Response(
        pretty(bytes(found[0]).decode("utf-8", "replace")), content_type="text/plain; charset=utf-8", headers=headers
    )


async def _allowed(request: Any, datasette: Any) -> Any:
    name = request.url_vars["database"]
    db = datasette.databases.get(name)
    if db is None or not _is_log(db):
        raise NotFound("no such run")
    await datasette.ensure_permissions(request.actor, [("view-database", name), "view-instance"])
    return db


async def _in_thread(datasette: Any, work: Any) -> Any:
    import asyncio

    return await asyncio.get_running_loop().run_in_executor(datasette.executor, work)


@lru_cache(maxsize=4)
def _page(path: Path, name: str, clips_dir: Path | None, head: str) -> bytes:
    from vlmrec.viewer.view import one_run_page

    return one_run_page(path, clips_dir=clips_dir, video_url=lambda sha256: f"../video/{quote(name)}/{sha256}")


@lru_cache(maxsize=8)
def _videos(path: Path, clips_dir: Path | None, head: str) -> dict[str, Path]:
    from vlmrec.viewer.runs import RunView
    from vlmrec.viewer.videos import VideoFinder
    from vlmrec.viewer.view import wanted_videos

    found = VideoFinder(clips_dir).find(wanted_videos([RunView(path).refresh()]))
    return {one.sha256: one.path for one in found.values()}


def _ranged(path: Path, wanted: str | None) -> Response:
    from vlmrec.viewer.videos import media_type, read_range

    part = read_range(path, wanted)
    headers = {"accept-ranges": "bytes", "x-content-type-options": "nosniff"}
    if part.total is not None:
        headers["content-range"] = f"bytes {part.first}-{part.first + len(part.body) - 1}/{part.total}"
    return Response(
        part.body, status=206 if part.total is not None else 200, headers=headers, content_type=media_type(path)
    )


def _look(datasette: Any) -> None:
    """Add logs that have come to the served folder, and let go of those that are gone."""
    if datasette.config_dir is None:
        return
    known = {Path(db.path).resolve() for db in datasette.databases.values() if db.path}
    for path in sorted(datasette.config_dir.glob("*.db")):
        if path.resolve() not in known and _kind(str(path), path.stat().st_mtime_ns) is not None:
            datasette.add_database(Database(datasette, path=str(path), is_mutable=True))
    for name, db in list(datasette.databases.items()):
        if db.path and not Path(db.path).exists() and Path(db.path).resolve().parent == datasette.config_dir.resolve():
            datasette.remove_database(name)


def _is_log(db: Any) -> bool:
    return _kind_of(db) == "log"


def _is_catalog(db: Any) -> bool:
    return _kind_of(db) == "catalog"


def _kind_of(db: Any) -> str | None:
    if not db.path:
        return None
    try:
        return _kind(str(db.path), Path(db.path).stat().st_ino)
    except OSError:
        return None


@lru_cache(maxsize=4096)
def _kind(path: str, stamp: int) -> str | None:
    try:
        connection = sqlite3.connect(f"{Path(path).resolve().as_uri()}?mode=ro", uri=True)
    except sqlite3.Error:
        return None
    try:
        if connection.execute("PRAGMA application_id").fetchone()[0] == APPLICATION_ID:
            return "log"
        tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}
        return "catalog" if Path(path).name == "catalog.db" and {"runs", "clips", "turns"} <= tables else None
    except sqlite3.Error:
        return None
    finally:
        connection.close()


def _head(path: str) -> str:
    from vlmrec.log.reader import open_log

    with open_log(Path(path)) as log:
        return log.head() or ""


def _clips_dir(datasette: Any) -> Path | None:
    configured = (datasette.plugin_config("vlmrec") or {}).get("clips_dir")
    return Path(configured) if configured else None


def _described() -> dict[str, Any]:
    views = {name: {"description": view.row, "columns": dict(view.columns)} for name, view in VIEWS.items()}
    return {**views, **{name: {"description": text} for name, text in TABLES.items()}}


def _of(row: Any, column: str) -> Any:
    if row is None or column not in row.keys():  # noqa: SIM118  a Row has no `in` for names
        return None
    value = row[column]
    return value["value"] if isinstance(value, dict) else value  # a foreign key comes with its label


def _viewer_link(datasette: Any, row: Any, clip: str, run: str) -> Markup:
    if run not in datasette.databases:
        return Markup(escape(spelled(clip)))
    address = f"clip={quote(clip, safe='')}"
    question_id, party = _of(row, "question_id"), _of(row, "party")
    if question_id and party:
        address += f"&turn={quote(f'{question_id}/{party}', safe='')}"
    url = datasette.urls.path(f"-/vlmrec/view/{quote(run)}") + "#" + address
    return Markup('<a href="{}" title="See it in the viewer">{}</a>').format(url, spelled(clip))


def _blob_url(datasette: Any, database: str, sha256: str) -> str:
    return str(datasette.urls.path(f"-/vlmrec/blob/{quote(database)}/{sha256}"))
