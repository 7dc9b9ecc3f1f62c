"""The observer as an OpenAI-compatible ASGI app: chat completions, the model list, health.

One analysis per clip: its result is kept under the hash of the media, and requests that come while it runs wait for
the same one. It runs on a worker thread, so the event loop stays free. The same request always gets the same answer;
sampling parameters change nothing.
"""

import asyncio
import hashlib
import math
import threading
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from vlmrec.canonical import canonical_json, sha256_hex
from vlmrec.observer.request import BadRequest, ChatRequest, read_request
from vlmrec.observer.scene import Scene
from vlmrec.observer.table import Hint, read_hint

if TYPE_CHECKING:
    from vlmrec.observer.measure import Glimpse, Measures

    Measured = Measures | Glimpse

K = TypeVar("K")
T = TypeVar("T")

MODEL = "observer/classical"
"""The name served. Any other name under ``observer/`` is answered by the same model."""

MAX_MODEL_LEN = 1_048_576
TOKENS_PER_FRAME = 100
_CUT = 4  # bytes of UTF-8 that count as one token


class _Cache:
    """Measures by media, scenes by media and hint; the least recently used goes first. Thread-safe.

    What fails is forgotten, so that it can be tried again. Jobs of one pool start in the order given, so a scene never
    waits for measures that have not begun.
    """

    def __init__(self, capacity: int, workers: int) -> None:
        self._capacity = capacity
        self._pool = ThreadPoolExecutor(max_workers=workers, thread_name_prefix="observer")
        self._lock = threading.Lock()
        self._measured: OrderedDict[str, Future[Measured]] = OrderedDict()
        self._scenes: OrderedDict[tuple[str, Hint | None], Future[Scene]] = OrderedDict()

    def scene(self, request: ChatRequest) -> "Future[Scene]":
        from vlmrec.observer import analysis
        from vlmrec.observer.footage import read_frames

        media, hint = _media_key(request), read_hint(request.table)
        with self._lock:
            measured = _remembered(
                self._measured, media, self._capacity, self._pool, lambda: analysis.analyse(read_frames(request))
            )
            return _remembered(
                self._scenes,
                (media, hint),
                4 * self._capacity,
                self._pool,
                lambda: analysis.scene_of(measured.result(), hint),
            )


def _remembered(
    store: "OrderedDict[K, Future[T]]", key: K, capacity: int, pool: ThreadPoolExecutor, job: Callable[[], T]
) -> "Future[T]":
    """The future under ``key``, begun if there is none, or if the one there has failed."""
    future = store.get(key)
    if future is None or (future.done() and future.exception() is not None):
        store[key] = future = pool.submit(job)
        while len(store) > capacity:
            store.popitem(last=False)
    store.move_to_end(key)
    return future


class Reply(NamedTuple):
    """The text of a reply and what it cost in tokens, by the observer's simple count."""

    text: str
    prompt_tokens: int


def create_app(*, cache_size: int = 32, workers: int = 1) -> Starlette:
    """The ASGI app. ``cache_size`` clips are remembered; ``workers`` analyses run at once."""
    cache = _Cache(cache_size, workers)

    async def chat(request: Request) -> Response:
        try:
            asked = read_request(await request.body())
            _check_model(asked.model)
            reply = await _reply(asked, cache)
        except BadRequest as error:
            return _error(error)
        except ClientDisconnect:  # nobody is there to answer
            return Response(status_code=499)
        return JSONResponse(_completion(asked, reply))

    async def models(_: Request) -> Response:
        card = {"id": MODEL, "object": "model", "created": 0, "owned_by": "vlmrec", "max_model_len": MAX_MODEL_LEN}
        return JSONResponse({"object": "list", "data": [card]})

    async def health(_: Request) -> Response:
        return Response(status_code=200)

    return Starlette(
        routes=[
            Route("/v1/chat/completions", chat, methods=["POST"]),
            Route("/v1/models", models, methods=["GET"]),
            Route("/health", health, methods=["GET"]),
        ]
    )


async def _reply(asked: ChatRequest, cache: _Cache) -> Reply:
    from vlmrec.observer.answers import reply_text

    scene: Scene | None = None
    if asked.videos or asked.stills:
        # A caller that hangs up must not cancel the analysis others wait for.
        scene = await asyncio.shield(asyncio.wrap_future(cache.scene(asked)))
    text = reply_text(asked, scene)
    frames = scene.frames if scene is not None else 0
    return Reply(text, sum(_tokens(part) for part in asked.texts) + TOKENS_PER_FRAME * frames)


def _media_key(asked: ChatRequest) -> str:
    digest = hashlib.sha256()
    for video in asked.videos:
        digest.update(f"video {video.fps} {sha256_hex(video.body)}\n".encode())
    for still in asked.stills:
        digest.update(f"still {still.time} {sha256_hex(still.body)}\n".encode())
    return digest.hexdigest()


def _tokens(text: str) -> int:
    return math.ceil(len(text.encode("utf-8", "surrogatepass")) / _CUT)


def _completion(asked: ChatRequest, reply: Reply) -> dict[str, Any]:
    text, finish = reply.text, "stop"
    if asked.max_tokens is not None and _tokens(text) > asked.max_tokens:
        text, finish = text.encode()[: asked.max_tokens * _CUT].decode("utf-8", "ignore"), "length"
    completion_tokens = _tokens(text) * asked.n
    body = {
        "object": "chat.completion",
        "created": 0,
        "model": asked.model or MODEL,
        "choices": [
            {
                "index": index,
                "message": {"role": "assistant", "content": text, "refusal": None},
                "logprobs": None,
                "finish_reason": finish,
            }
            for index in range(asked.n)
        ],
        "system_fingerprint": MODEL,
        "usage": {
            "prompt_tokens": reply.prompt_tokens,
            "completion_tokens": completion_tokens,
            "total_tokens": reply.prompt_tokens + completion_tokens,
            "prompt_tokens_details": None,
        },
    }
    # No clock here: the same request gives the same bytes, id included.
    return {"id": f"chatcmpl-{sha256_hex(canonical_json(body))[:24]}", **body}


def _check_model(model: str | None) -> None:
    if model is not None and model != MODEL:
        raise BadRequest(f"The model `{model}` does not exist. Served here: {MODEL}", param="model", status=404)


def _error(error: BadRequest) -> JSONResponse:
    kind = "NotFoundError" if error.status == 404 else "BadRequestError"
    return JSONResponse(
        {"error": {"message": error.message, "type": kind, "param": error.param, "code": error.status}},
        status_code=error.status,
    )
