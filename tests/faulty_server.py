"""Failures of every kind that is sent again, mixed into a scripted server at a given rate.

Which request fails, and how, depends only on the seed and the request's id, so that the order of
arrival changes nothing.
"""

import hashlib
from collections.abc import Callable
from typing import Any

from scripted_server import ChatCall, Reply, Rule, error_body, stream


def _error(status: int, message: str, **headers: str) -> Reply:
    return error_body(status, {"error": {"message": message, "code": status}}, **headers)


_PAGE = b"<html><head><title>A time-out occurred</title></head><body>no reply in time</body></html>"
_HALF = {"choices": [{"index": 0, "delta": {"content": '{"status": "obs'}, "finish_reason": None}]}

FAULTS: dict[str, Callable[[], Reply]] = {
    "429": lambda: _error(429, "slow down"),
    "429_retry_after": lambda: _error(429, "slow down", retry_after="0"),
    "408": lambda: _error(408, "took too long"),
    "409": lambda: _error(409, "conflict"),
    "500": lambda: _error(500, "internal"),
    "502_html": lambda: Reply(502, b"<html>bad gateway</html>", {"content-type": "text/html"}),
    "503": lambda: _error(503, "The engine is currently busy"),
    "504": lambda: _error(504, "upstream time-out"),
    "524_html": lambda: Reply(524, _PAGE, {"content-type": "text/html"}),
    "529": lambda: _error(529, "overloaded"),
    "reset": lambda: Reply(reset=True),
    "cut": lambda: Reply(200, b'{"choices": [{"message": {"content": "half an ans', {"content-length": "900"}, cut=40),
    "empty": lambda: Reply(200, b""),
    "no_choices": lambda: error_body(200, {"object": "chat.completion", "choices": []}),
    "error_in_200": lambda: error_body(200, {"choices": None, "error": {"message": "upstream said no", "code": 429}}),
    "error_in_choice": lambda: error_body(
        200,
        {
            "choices": [
                {
                    "index": 0,
                    "message": {"role": "assistant", "content": '{"status": "unknown", "value": null}'},
                    "finish_reason": "error",
                    "error": {"code": 502, "message": "upstream broke off"},
                }
            ]
        },
    ),
    "stream_cut": lambda: stream([_HALF], done=False),
    "stream_error": lambda: stream([_HALF, {"error": {"code": "server_error", "message": "gone"}, "choices": []}]),
}


def faulty(rule: Rule, *, rate: float, seed: int = 0, kinds: tuple[str, ...] = tuple(FAULTS)) -> Rule:
    """``rule``, but a share ``rate`` of requests fails, each kind as often as every other."""

    def failing(call: ChatCall) -> "Reply | dict[str, Any] | str":
        digest = hashlib.sha256(f"{seed}/{'/'.join(call.request_id.split('/')[1:])}".encode()).digest()
        if int.from_bytes(digest[:8], "big") / 2**64 < rate:
            return FAULTS[kinds[int.from_bytes(digest[8:12], "big") % len(kinds)]]()
        return rule(call)

    return failing
