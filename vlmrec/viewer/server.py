"""``vlmrec view --serve``: the page over a local server, updated while runs are written, with labels.

Bound to loopback. Every request needs the token of this start (in the URL of the page and of videos, in a
header elsewhere); Host must be ours, and a request that names another Origin is refused, so that no page of
another site can read or write anything, whatever it knows of the port.
"""

import secrets
import socket
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from threading import Lock
from typing import Any

import msgspec
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import FileResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from vlmrec.errors import InputError, VlmrecError
from vlmrec.gold import load_gold
from vlmrec.ledger import Ledger
from vlmrec.question import Language
from vlmrec.stages.clips import clip_id
from vlmrec.viewer import site as sites
from vlmrec.viewer.label_log import LabelLog
from vlmrec.viewer.overview import overviews
from vlmrec.viewer.page import policy, served_page
from vlmrec.viewer.runs import RunView
from vlmrec.viewer.videos import Found, VideoFinder, Wanted, media_type, plays, small_copy
from vlmrec.viewer.view import ledger_of, title_of, wanted_videos

LABEL_BODY_LIMIT = 64 * 1024


class Live:
    """What is served: runs, labels and videos as they are at the moment."""

    def __init__(
        self,
        runs: Sequence[Path],
        *,
        labels: LabelLog,
        gold: Path | None,
        clips_dir: Path | None,
        clips: frozenset[str] | None,
        language: Language,
        default_ledger: Callable[[], Ledger],
        copies: Path,
    ) -> None:
        self.language: Language = language
        self.labels = labels
        self.export_folder = gold if gold is not None else labels.path.parent / "gold"
        self._views = [RunView(path, clips=clips) for path in runs]
        self._gold_folder = gold
        self._finder = VideoFinder(clips_dir)
        self._clips_dir = clips_dir
        self._default_ledger = default_ledger
        self._copies = copies
        self._guard = Lock()
        self._site: sites.Site | None = None
        self._found: dict[str, Found] = {}
        self._own_clips: dict[str, Path] | None = None
        self._made: dict[str, Any] = {}

    def site(self) -> sites.Site:
        """The runs and labels as they are now."""
        with self._guard:
            runs = [view.refresh() for view in self._views]
            folder = self._gold_folder
            files = load_gold(folder, may_be_empty=True) if folder and folder.is_dir() else None
            made = self.labels.labels(files)
            fresh = sites.site(
                runs,
                gold=sites.with_labels(files, made) if files or made else None,
                ledger=ledger_of(runs) or self._default_ledger(),
                language=self.language,
                more_clips=self._clips_on_disk() if not runs else (),
                here=frozenset((label.clip_id, label.labeler) for label in made),
            )
            if self._site is None or sites.heads(fresh) != sites.heads(self._site):
                self._site = fresh
                self._made = {}
                self._found = self._videos(fresh)
            return self._site

    def index(self) -> dict[str, Any]:
        """The index, with the videos' addresses and the plots."""
        of = self.site()
        if "index" not in self._made:
            videos = {
                clip: {"src": f"video/{found.sha256}", "type": "video/mp4" if not found.plays else found.media_type}
                for clip, found in self._found.items()
            }
            index = sites.index(of, title=title_of(of.runs), videos=videos, labelling=True)
            index["plots"] = overviews(of, index)
            self._made["index"] = index
        return dict(self._made["index"])

    def video(self, sha256: str) -> Path | None:
        """The file to serve for a clip's bytes: the clip itself, or a copy that browsers play."""
        self.site()
        found = next((one for one in self._found.values() if one.sha256 == sha256), None)
        if found is None or found.plays:
            return found.path if found else None
        copy = self._copies / f"{sha256}.mp4"
        with self._guard:
            if not copy.is_file():
                body = small_copy(found.path)
                copy.with_suffix(".part").write_bytes(body)
                copy.with_suffix(".part").rename(copy)
        return copy

    def data_version(self, of: sites.Site) -> str:
        """The ledger that labels are made with."""
        return of.ledger.data_version if of.ledger else self._default_ledger().data_version

    def _videos(self, of: sites.Site) -> dict[str, Found]:
        wanted: dict[str, Wanted] = wanted_videos(of.runs)
        found = self._finder.find(wanted)
        for clip, path in self._clips_on_disk().items():
            if clip in of.clips and clip not in wanted:  # no run has opened it: its name says which clip it is
                codec = "h264" if path.suffix.lower() in (".mp4", ".m4v", ".mov") else "vp9"
                found[clip] = Found(path, self._finder.hash(path), plays(path, codec), media_type(path))
        return found

    def _clips_on_disk(self) -> dict[str, Path]:
        if self._own_clips is None:
            files = self._finder.files() if self._clips_dir else ()
            self._own_clips = {clip_id(path): path for path in files}
        return self._own_clips


def make_app(live: Live, *, token: str, port: int) -> ASGIApp:
    """The application, for the server on ``port``."""

    def page(request: Request) -> Response:
        return Response(served_page("vlmrec", language=live.language), media_type="text/html; charset=utf-8")

    def index(request: Request) -> Response:
        return _json(live.index())

    def heads(request: Request) -> Response:
        return _json({"heads": sites.heads(live.site())})

    def clip(request: Request) -> Response:
        of = live.site()
        return _json(sites.clip_document(of, _clip(of, request)))

    def messages(request: Request) -> Response:
        of = live.site()
        return _json(sites.messages(of, _clip(of, request)))

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


class Guard:
    """Refuses whatever doesn't come from the page that this server gave out."""

    def __init__(self, app: ASGIApp, *, token: str, port: int) -> None:
        self._app = app
        self._token = token
        self._hosts = {f"127.0.0.1:{port}", f"localhost:{port}"}
        self._headers = [
            (b"content-security-policy", policy(served=True).encode()),
            (b"x-content-type-options", b"nosniff"),
            (b"x-frame-options", b"DENY"),
            (b"referrer-policy", b"no-referrer"),
            (b"cross-origin-resource-policy", b"same-origin"),
            (b"cross-origin-opener-policy", b"same-origin"),
            (b"cache-control", b"no-store"),
        ]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def with_headers(message: Any) -> None:
            if message["type"] == "http.response.start":
                message = {**message, "headers": [*message["headers"], *self._headers]}
            await send(message)

        refusal = self._refusal(Request(scope))
        if refusal is not None:
            await _json({"error": refusal}, 403)(scope, receive, with_headers)
            return
        await self._app(scope, receive, with_headers)

    def _refusal(self, request: Request) -> str | None:
        host = request.headers.get("host", "")
        if host not in self._hosts:
            return "this server answers only to its own address"
        origin = request.headers.get("origin")
        if origin is not None and origin not in {f"http://{known}" for known in self._hosts}:
            return "a page of another origin can't use this server"
        if request.headers.get("sec-fetch-site") in ("cross-site", "same-site"):
            return "a page of another site can't use this server"
        given = request.headers.get("x-vlmrec-token")
        if given is None and request.method in ("GET", "HEAD"):
            given = request.query_params.get("token")
        if given is None or not secrets.compare_digest(given.encode(), self._token.encode()):
            return "the token is missing or of another start; open the address that `vlmrec view --serve` printed"
        if request.method == "POST" and request.headers.get("content-type", "").split(";")[0] != "application/json":
            return "labels are sent as JSON"
        return None


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


def _clip(of: sites.Site, request: Request) -> str:
    at = int(request.path_params["at"])
    if at >= len(of.clips):
        raise InputError(f"there are {len(of.clips)} clips")
    return of.clips[at]


def _known(of: sites.Site, clip: object) -> str:
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
