"""The client against a real server on the loopback, and against an ASGI app in process."""

import asyncio
import base64
import gzip
import json
import random
from collections.abc import AsyncIterator

import pytest
from faulty_server import FAULTS
from scripted_server import ChatCall, Reply, completion, error_body, scripted_server, stream
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from vlmrec.errors import InputError
from vlmrec.models.client import ChatClient, in_process
from vlmrec.models.request import CHUNK, encode_json, encode_prefix, encode_request, request_digest, whole_request
from vlmrec.models.wire import Completed, Failed, FailureKind, PreparedRequest, Retry

SYSTEM = {"role": "system", "content": '블랙박스를 보고 답하시오 — "JSON"으로 \\ only'}
VIDEO = {
    "type": "video_url",
    "video_url": {"url": "data:video/mp4;base64," + base64.b64encode(b"clip" * 9000).decode()},
}
TEXT = {"type": "text", "text": "[question] q_maneuver\n[party] other\n다음 중 고르시오"}
FIELDS = {"model": "example/vlm", "temperature": 0, "seed": 7, "extra": {"top_k": [1, 2.5, None, True]}}


def request(request_id: str = "log/clip/predicate/q/other/0/1", **fields: object) -> PreparedRequest:
    prefix = encode_prefix(messages=[SYSTEM], content=[VIDEO])
    return PreparedRequest(
        content=encode_request(prefix, content=[TEXT], fields={**FIELDS, **fields}), request_id=request_id
    )


def failed(attempt: object) -> Failed:
    assert isinstance(attempt, Failed), attempt
    return attempt


def completed(attempt: object) -> Completed:
    assert isinstance(attempt, Completed), attempt
    return attempt


# ---- request bytes ---------------------------------------------------------------------------


@pytest.mark.parametrize("messages", [[], [SYSTEM], [SYSTEM, {"role": "user", "content": "이전"}]])
@pytest.mark.parametrize("shared", [[], [VIDEO], [VIDEO, TEXT]])
@pytest.mark.parametrize("own", [[], [TEXT], [TEXT, {"type": "text", "text": "é"}]])
def test_spliced_chunks_are_the_json_of_the_whole_request(messages: list, shared: list, own: list) -> None:
    prefix = encode_prefix(messages=messages, content=shared)
    chunks = encode_request(prefix, content=own, fields=FIELDS)
    whole = whole_request(messages=messages, prefix_content=shared, content=own, fields=FIELDS)
    expected = json.dumps(whole, ensure_ascii=False, separators=(",", ":")).encode()
    assert b"".join(chunks) == expected == encode_json(whole)


def test_turns_of_a_clip_share_the_bytes_of_its_prefix() -> None:
    prefix = encode_prefix(messages=[SYSTEM], content=[{"type": "video_url", "video_url": {"url": "x" * 3 * CHUNK}}])
    one = encode_request(prefix, content=[TEXT], fields={"model": "a"})
    other = encode_request(prefix, content=[], fields={"model": "b"})
    assert len(prefix.chunks) > 3
    assert all(left is right for left, right in zip(one, prefix.chunks, strict=False))
    assert all(left is right for left, right in zip(other, prefix.chunks, strict=False))


def test_digest_of_a_body_does_not_depend_on_the_splice() -> None:
    whole = encode_prefix(messages=[SYSTEM], content=[VIDEO, TEXT])
    split = encode_prefix(messages=[SYSTEM], content=[VIDEO])
    one = encode_request(whole, content=[], fields=FIELDS)
    other = encode_request(split, content=[TEXT], fields=FIELDS)
    assert request_digest(whole, one) == request_digest(split, other)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), "\ud83d"])
def test_what_json_cannot_hold_is_refused_before_it_is_sent(value: object) -> None:
    prefix = encode_prefix(messages=[], content=[])
    with pytest.raises(ValueError):
        encode_request(prefix, content=[], fields={"x": value})


def test_messages_cannot_be_overridden_by_a_field() -> None:
    with pytest.raises(ValueError, match="prefix"):
        encode_request(encode_prefix(messages=[], content=[]), content=[], fields={"messages": []})


# ---- completions -----------------------------------------------------------------------------


async def test_a_good_reply_is_completed_with_everything_it_told() -> None:
    usage = {
        "prompt_tokens": 1384,
        "completion_tokens": 31,
        "cost": 0.00123,
        "prompt_tokens_details": {"cached_tokens": 288, "multimodal_tokens": {"video": 1360, "image": 8}},
        "completion_tokens_details": {"reasoning_tokens": 9},
    }
    good = completion("{}", model="example/vlm-2", usage=usage, provider="Provider A")
    with scripted_server(lambda call: good) as server:
        async with ChatClient(server.url, key="sk-test") as client:
            attempt = completed(await client.send(request()))
    assert attempt.body == good.body
    assert attempt.usage.prompt_tokens == 1384
    assert attempt.usage.cached_tokens == 288
    assert attempt.usage.media_tokens == 1368
    assert attempt.usage.reasoning_tokens == 9
    assert str(attempt.cost) == "0.00123"
    assert attempt.served_model == "example/vlm-2"
    assert attempt.finish_reasons == ("stop",)
    assert attempt.provider == "Provider A"
    assert attempt.latency_s > 0
    call = server.calls[0]
    assert call.raw == b"".join(request().content)
    assert call.headers["authorization"] == "Bearer sk-test"
    assert call.headers["x-request-id"] == "log/clip/predicate/q/other/0/1"
    assert call.headers["content-type"] == "application/json"
    assert "transfer-encoding" not in call.headers


async def test_without_a_key_no_authorisation_is_sent() -> None:
    with scripted_server(lambda call: "ok") as server:
        async with ChatClient(server.url) as client:
            completed(await client.send(request()))
    assert "authorization" not in server.calls[0].headers


async def test_a_clip_id_in_korean_travels_in_the_request_id() -> None:
    with scripted_server(lambda call: "ok") as server:
        async with ChatClient(server.url) as client:
            completed(await client.send(request("uuid/사고 영상/predicate/q_maneuver/other/0/2")))
    assert server.calls[0].clip == "사고 영상"
    assert server.calls[0].attempt == 2


@pytest.mark.parametrize(
    ("text", "message", "finish"),
    [
        (None, {}, "length"),
        (None, {"refusal": "I can't"}, "content_filter"),
        ("not an answer", {}, "stop"),
        ("", {}, None),
    ],
)
async def test_truncated_refused_and_unreadable_texts_are_completed(
    text: str | None, message: dict[str, str], finish: str | None
) -> None:
    with scripted_server(lambda call: completion(text, message=message, finish_reason=finish)) as server:
        async with ChatClient(server.url) as client:
            assert completed(await client.send(request())).finish_reasons == (finish,)


async def test_missing_usage_is_unknown_and_not_zero() -> None:
    with scripted_server(lambda call: error_body(200, {"choices": [{"message": {"content": "x"}}]})) as server:
        async with ChatClient(server.url) as client:
            attempt = completed(await client.send(request()))
    assert attempt.usage.prompt_tokens is None
    assert attempt.cost is None


async def test_a_compressed_reply_is_kept_decoded() -> None:
    body = completion("{}").body
    packed = Reply(200, gzip.compress(body), {"content-encoding": "gzip", "content-type": "application/json"})
    with scripted_server(lambda call: packed) as server:
        async with ChatClient(server.url) as client:
            assert completed(await client.send(request())).body == body


async def test_a_stream_is_completed_with_its_bytes_as_they_came() -> None:
    reply = stream(
        [
            {"model": "m", "choices": [{"index": 1, "delta": {"role": "assistant", "content": "b"}}]},
            {"choices": [{"index": 0, "delta": {"content": "a", "reasoning": "hm"}}]},
            "retry: 3000",
            {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]},
            {"choices": [{"index": 1, "delta": {}, "finish_reason": "length"}]},
            {"choices": [], "usage": {"prompt_tokens": 5, "completion_tokens": 2}},
        ]
    )
    with scripted_server(lambda call: reply) as server:
        async with ChatClient(server.url) as client:
            attempt = completed(await client.send(request(stream=True)))
    assert attempt.body == reply.body
    assert attempt.choices == 2
    assert attempt.finish_reasons == ("stop", "length")
    assert attempt.usage.completion_tokens == 2


# ---- failures --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", FAULTS)
async def test_every_retried_failure_is_told_as_one_to_send_again(name: str) -> None:
    with scripted_server(lambda call: FAULTS[name]()) as server:
        async with ChatClient(server.url) as client:
            attempt = failed(await client.send(request()))
    assert attempt.transient
    assert not attempt.stop_run
    assert attempt.in_doubt == (name in ("reset", "cut", "stream_cut"))


async def test_a_cut_body_keeps_what_had_arrived() -> None:
    whole = completion('{"status": "observed", "value": "straight"}').body
    cut = Reply(200, whole, cut=60)
    with scripted_server(lambda call: cut) as server:
        async with ChatClient(server.url) as client:
            attempt = failed(await client.send(request()))
    assert attempt.kind is FailureKind.CUT
    assert attempt.body == whole[:60]
    assert attempt.reason == "connection_lost"
    assert attempt.in_doubt
    assert attempt.status == 200


async def test_a_reply_without_end_is_given_up() -> None:
    with scripted_server(lambda call: Reply(200, b"x" * 50_000)) as server:
        async with ChatClient(server.url, largest_reply=5000) as client:
            attempt = failed(await client.send(request()))
    assert (attempt.kind, attempt.in_doubt) == (FailureKind.CUT, True)
    assert "longer than 5,000 bytes" in attempt.message
    assert len(attempt.body) <= 5000


async def test_a_cut_error_page_keeps_its_status_and_is_not_in_doubt() -> None:
    page = Reply(503, b"<html>busy" + b"." * 500, {"retry-after": "7"}, cut=10)
    with scripted_server(lambda call: page) as server:
        async with ChatClient(server.url) as client:
            attempt = failed(await client.send(request()))
    assert (attempt.status, attempt.retry, attempt.retry_after_s) == (503, Retry.AFTER_SECONDS, 7)
    assert attempt.body == b"<html>busy"
    assert not attempt.in_doubt


async def test_an_idle_connection_closed_by_the_server_costs_no_failure() -> None:
    with scripted_server(lambda call: Reply(200, completion("x").body, end="close")) as server:
        async with ChatClient(server.url) as client:
            for _ in range(5):
                completed(await client.send(request()))
                await asyncio.sleep(0.02)
    assert len(server.calls) == 5


async def test_time_out_is_in_doubt_and_a_closed_port_is_not() -> None:
    with scripted_server(lambda call: Reply(200, b"{}", delay_s=5)) as server:
        async with ChatClient(server.url, timeout_s=0.2) as client:
            late = failed(await client.send(request()))
    async with ChatClient(server.url, timeout_s=5) as client:
        refused = failed(await client.send(request()))
    assert (late.kind, late.reason, late.in_doubt) == (FailureKind.TIMEOUT, "timed_out", True)
    assert (refused.kind, refused.reason, refused.in_doubt) == (FailureKind.CONNECT, "no_connection", False)
    assert refused.transient
    assert refused.message.startswith(f"no connection to {server.url.removesuffix('/v1')}: ")


async def test_the_address_of_a_closed_port_is_told_without_what_is_secret_in_it() -> None:
    with scripted_server(lambda call: Reply(200, b"{}")) as server:
        port = server.url.rpartition(":")[2].partition("/")[0]
    async with ChatClient(f"http://user:pass@127.0.0.1:{port}/v1", timeout_s=5) as client:
        refused = failed(await client.send(request()))
    assert f"http://127.0.0.1:{port}: " in refused.message
    assert "pass" not in refused.message


async def test_a_cancelled_call_is_a_failure_in_doubt_and_the_task_stays_cancelled() -> None:
    seen: list[object] = []

    async def call(client: ChatClient) -> None:
        seen.append(await client.send(request()))
        task = asyncio.current_task()
        assert task is not None
        seen.append(task.cancelling())

    with scripted_server(lambda call: Reply(200, b"{}", delay_s=5)) as server:
        async with ChatClient(server.url) as client:
            task = asyncio.create_task(call(client))
            while not server.calls:
                await asyncio.sleep(0.01)
            task.cancel()
            await task
    attempt = failed(seen[0])
    assert (attempt.kind, attempt.in_doubt) == (FailureKind.CANCELLED, True)
    assert seen[1] == 1


async def test_a_redirect_is_not_followed() -> None:
    moved = Reply(307, b"", {"location": "http://127.0.0.1:1/v1/chat/completions"})
    with scripted_server(lambda call: moved) as server:
        async with ChatClient(server.url, key="secret") as client:
            attempt = failed(await client.send(request()))
    assert (attempt.reason, attempt.stop_run, attempt.headers["location"][:16]) == (
        "not_an_api",
        True,
        "http://127.0.0.1",
    )


async def test_cookies_are_not_kept_and_secrets_are_replaced_before_anyone_sees_them() -> None:
    def scrub(body: bytes) -> tuple[bytes, int]:
        return body.replace(b"sk-secret", b"[key]"), body.count(b"sk-secret")

    echo = error_body(401, {"error": {"message": "no such key: sk-secret"}}, set_cookie="a=b", x_echo="sk-secret")
    with scripted_server(lambda call: echo) as server:
        async with ChatClient(server.url, key="sk-secret", scrub=scrub) as client:
            attempt = failed(await client.send(request()))
    assert "sk-secret" not in repr(attempt)
    assert "set-cookie" not in attempt.headers
    assert attempt.redactions == 2
    assert (attempt.reason, attempt.stop_run) == ("not_authorised", True)


@pytest.mark.parametrize("url", ["", "localhost:8000/v1", "ftp://host/v1", "http://", "http://h:99999/v1", "http://["])
def test_a_base_url_that_nothing_can_be_sent_to_is_refused(url: str) -> None:
    with pytest.raises(InputError, match="base URL"):
        ChatClient(url)


async def test_bytes_of_noise_in_place_of_a_reply_never_raise() -> None:
    noise = random.Random(5)

    def rule(call: ChatCall) -> Reply:
        body = noise.randbytes(noise.randrange(400))
        kind = noise.choice(["application/json", "text/event-stream", "text/html", "application/octet-stream"])
        packed = {"content-encoding": "gzip"} if noise.random() < 0.3 else {}
        return Reply(noise.choice([200, 204, 302, 400, 418, 500, 599]), body, {"content-type": kind, **packed})

    with scripted_server(rule) as server:
        async with ChatClient(server.url, timeout_s=20) as client:
            for _ in range(60):
                failed(await client.send(request()))


# ---- in process ------------------------------------------------------------------------------


async def _app(incoming: Request) -> Response:
    body = await incoming.json()
    if body.get("seed") == 1:
        raise RuntimeError("a fault in the app")
    if body.get("seed") == 2:

        async def parts() -> AsyncIterator[bytes]:
            for chunk in (
                b'data: {"choices":[{"index":0,"delta":{"content":"hi"},"finish_reason":"stop"}]}\n\n',
                b"data: [DONE]\n\n",
            ):
                yield chunk

        return StreamingResponse(parts(), media_type="text/event-stream")
    return JSONResponse({"choices": [{"message": {"content": body["model"]}}]})


async def test_the_same_client_speaks_to_an_app_in_process() -> None:
    app = Starlette(routes=[Route("/v1/chat/completions", _app, methods=["POST"])])
    async with ChatClient("http://observer/v1", transport=in_process(app)) as client:
        assert (
            json.loads(completed(await client.send(request())).body)["choices"][0]["message"]["content"]
            == "example/vlm"
        )
        assert completed(await client.send(request(seed=2))).finish_reasons == ("stop",)
        crashed = failed(await client.send(request(seed=1)))
    assert (crashed.status, crashed.reason) == (500, "provider_error")
