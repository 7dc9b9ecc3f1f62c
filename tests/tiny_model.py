"""A model's server on loopback that abstains from everything, and remembers the addresses of the media it was sent."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self


class TinyModel:
    """``with TinyModel() as model:`` serves chat completions at ``model.url``."""

    def __init__(self) -> None:
        self.media_urls: list[str] = []
        self.requests = 0
        seen = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                seen.requests += 1
                seen.media_urls += [part[part["type"]]["url"] for part in _media(body)]
                reply = json.dumps(_reply(body["model"])).encode()
                self.send_response(200)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(reply)))
                self.end_headers()
                self.wfile.write(reply)

            def log_message(self, format: str, *args: Any) -> None:
                return

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def _media(body: dict[str, Any]) -> list[dict[str, Any]]:
    parts = [
        part for message in body["messages"] if isinstance(message["content"], list) for part in message["content"]
    ]
    return [part for part in parts if part["type"] != "text"]


def _reply(model: str) -> dict[str, Any]:
    said = json.dumps({"reason": "It cannot be told.", "status": "unknown", "value": None})
    message = {"role": "assistant", "content": said}
    usage = {"prompt_tokens": 10, "completion_tokens": 5}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    return {"id": "x", "object": "chat.completion", "model": model, "choices": [choice], "usage": usage}
