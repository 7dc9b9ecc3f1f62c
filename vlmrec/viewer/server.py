"""``vlmrec view --serve``: the page over a local server, updated while runs are written, with labels.

Bound to loopback, and behind a guard that answers the page of this start only.
"""

import secrets
import socket
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import FileResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from vlmrec.errors import InputError, VlmrecError
from vlmrec.gold import load_gold
from vlmrec.question import Language
from vlmrec.viewer.documents import clip_document
from vlmrec.viewer.documents import messages as messages_of
from vlmrec.viewer.guard import Guard
from vlmrec.viewer.label_log import LabelLog
from vlmrec.viewer.live import Live
from vlmrec.viewer.page import served_page
from vlmrec.viewer.site import Site
from vlmrec.viewer.site import heads as heads_of
from vlmrec.viewer.videos import media_type

LABEL_BODY_LIMIT = 64 * 1024


def make_app(live: Live, *, token: str, port: int) -> ASGIApp:
    """The application, for the server on ``port``."""

    def page(request: Request) -> Response:
        return Response(served_page("vlmrec", language=live.language), media_type="text/html; charset=utf-8")

    def index(request: Request) -> Response:
        return _json(live.index())

    def heads(request: Request) -> Response:
        return _json({"heads": heads_of(live.site())})

    def clip(request: Request) -> Response:
        of = live.site()
        return _json(clip_document(of, _clip(of, request)))

    def messages(request: Request) -> Response:
        of = live.site()
        return _json(messages_of(of, _clip(of, request)))

    def video(request: Request) -> Response:
        path = live.video(request.path_params["sha256"])
        if path is None:
            return _json({"error": "no such video"}, 404)
        return FileResponse(path, media_type=media_type(path))

    async def label(request: Request) -> Response:
        edit = await _body(request)
        of = await run_in_threadpool(live.site)
        clip_name = _known(of, edit.pop("clip", None))
        made = await run_in_threadpool(
            lambda: live.labels.set(clip_name, edit, data_version=live.data_version(of), ledger=of.ledger)
        )
        return _json({"event": made})

    async def undo(request: Request) -> Response:
        edit = await _body(request)
        of = await run_in_threadpool(live.site)
        withdrawn = await run_in_threadpool(
            lambda: live.labels.undo(_known(of, edit.get("clip")), str(edit.get("labeler")))
        )
        return _json({"withdrawn": withdrawn})

    async def export(request: Request) -> Response:
        await _body(request)
        folder = live.export_folder
        files = load_gold(folder, may_be_empty=True) if folder.is_dir() else None
        written = await run_in_threadpool(lambda: live.labels.export(live.export_folder, files))
        return _json({"folder": str(live.export_folder), "files": [path.name for path in written]})

    routes = [
        Route("/", page),
        Route("/api/index", index),
        Route("/api/heads", heads),
        Route("/api/clips/{at:int}", clip),
        Route("/api/clips/{at:int}/messages", messages),
        Route("/api/labels", label, methods=["POST"]),
        Route("/api/labels/undo", undo, methods=["POST"]),
        Route("/api/labels/export", export, methods=["POST"]),
        Route("/video/{sha256}", video),
    ]
    app = Starlette(routes=routes, exception_handlers={VlmrecError: _said, ClientDisconnect: _gone})
    return Guard(app, token=token, port=port)


def listen(port: int | None) -> socket.socket:
    """A socket on loopback: a free port, or the one named. Raises InputError when that one is in use."""
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        listening.bind(("127.0.0.1", port or 0))
        listening.listen(64)
    except OSError as error:
        listening.close()
        raise InputError(f"port {port} can't be had ({error}); leave --port out to get a free one") from error
    return listening


def serve(
    runs: Sequence[Path],
    *,
    store: Path,
    gold: Path | None,
    clips_dir: Path | None,
    clips: frozenset[str] | None,
    language: Language,
    port: int | None,
    now: Callable[[], str],
    new_uuid: Callable[[], str],
    ready: Callable[[str], None],
) -> None:
    """Serve until interrupted. ``ready`` is told the page's address, with its token."""
    import uvicorn

    from vlmrec.engine.reference import load_reference, versions

    token = secrets.token_urlsafe(24)
    labels = LabelLog(store / "labels.db", now=now, new_uuid=new_uuid)
    with tempfile.TemporaryDirectory(prefix="vlmrec-view-") as copies, listen(port) as listening:
        live = Live(
            runs,
            labels=labels,
            gold=gold,
            clips_dir=clips_dir,
            clips=clips,
            language=language,
            default_ledger=lambda: load_reference(versions()[-1]).ledger,
            copies=Path(copies),
        )
        live.site()  # a log that can't be read is said now, not in the browser
        actual = listening.getsockname()[1]
        config = uvicorn.Config(
            make_app(live, token=token, port=actual), log_level="warning", lifespan="off", timeout_graceful_shutdown=2
        )
        ready(f"http://127.0.0.1:{actual}/?token={token}")
        try:
            uvicorn.Server(config).run(sockets=[listening])
        finally:
            labels.seal()


def _clip(of: Site, request: Request) -> str:
    at = int(request.path_params["at"])
    if at >= len(of.clips):
        raise InputError(f"there are {len(of.clips)} clips")
    return of.clips[at]


def _known(of: Site, clip: object) -> str:
    if not isinstance(clip, str) or clip not in of.clips:
        raise InputError(f"no clip {clip!r} is shown here")
    return clip


async def _body(request: Request) -> dict[str, Any]:
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > LABEL_BODY_LIMIT:
            raise InputError("the request is too long for a label")
    try:
        return msgspec.json.decode(bytes(body), type=dict[str, Any])
    except msgspec.MsgspecError as error:
        raise InputError(f"the request isn't JSON: {error}") from error


def _said(request: Request, error: Exception) -> Response:
    return _json({"error": str(error)}, 400 if isinstance(error, InputError) else 500)


async def _gone(request: Request, error: Exception) -> Response:
    return Response(status_code=499)  # nobody is there to read it


def _json(document: Any, status: int = 200) -> Response:
    return Response(msgspec.json.encode(document), status_code=status, media_type="application/json")
