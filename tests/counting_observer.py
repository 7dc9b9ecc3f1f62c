"""The observer in a process of its own, which notes every request that reaches it: ``python counting_observer.py FILE``.

One line a request, its X-Request-Id, written before it is answered. Prints the base URL once it listens.
"""

import asyncio
import socket
import sys
from pathlib import Path
from typing import Any

import uvicorn

from vlmrec.observer.app import create_app


def main() -> None:
    seen = Path(sys.argv[1]).open("a", encoding="ascii", buffering=1)  # noqa: SIM115  open as long as the process lives
    delay_s = float(sys.argv[2])
    app = create_app()

    async def counted(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http" and scope["path"].endswith("/chat/completions"):
            headers = {name.decode(): value.decode() for name, value in scope["headers"]}
            seen.write(headers["x-request-id"] + "\n")
            await asyncio.sleep(delay_s)
        await app(scope, receive, send)

    with socket.create_server(("127.0.0.1", 0), backlog=256) as listener:
        print(f"http://127.0.0.1:{listener.getsockname()[1]}/v1", flush=True)
        config = uvicorn.Config(counted, log_level="error", access_log=False, timeout_graceful_shutdown=1)
        asyncio.run(uvicorn.Server(config).serve(sockets=[listener]))


if __name__ == "__main__":
    main()
