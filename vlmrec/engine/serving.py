"""Serves an engine over HTTP with uvicorn, and says when it is ready."""

import asyncio
import socket
from collections.abc import Callable

import uvicorn

from vlmrec.engine.server import create_app
from vlmrec.errors import InputError


def serve_engine(version: str, host: str, port: int, *, ready: Callable[[str], None]) -> None:
    """Serve until interrupted. ``ready`` gets the base URL once the socket listens. Raises InputError if it can't."""
    app = create_app(version)
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        listener = socket.create_server((host, port), family=family, backlog=256)
    except OSError as error:
        raise InputError(f"can't listen on {host}:{port}: {error.strerror}; choose another --port") from error
    with listener:
        shown = f"[{host}]" if ":" in host else host
        ready(f"http://{shown}:{listener.getsockname()[1]}")
        config = uvicorn.Config(app, log_level="warning", access_log=False)
        asyncio.run(uvicorn.Server(config).serve(sockets=[listener]))
