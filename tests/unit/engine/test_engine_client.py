"""The client: retries, the pin on data_version, and errors that say what happened."""

from collections.abc import Callable

import httpx
import msgspec
import pytest

from vlmrec.engine.client import DataVersionChanged, EngineClient, EngineRefused, in_process_client
from vlmrec.engine.reference import load_reference
from vlmrec.engine.server import evaluate_bytes
from vlmrec.engine.witness import observed
from vlmrec.errors import ServiceError, StopRun
from vlmrec.ledger import meta_bytes, questions_bytes
from vlmrec.protocol import EvaluateRequest, Version
from vlmrec.terms import Party, TurnKey

REFERENCE = load_reference("0.1.3")
Handler = Callable[[httpx.Request], httpx.Response]


def client(handler: Handler, pauses: list[float] | None = None, data_version: str | None = None) -> EngineClient:
    async def sleep(seconds: float) -> None:
        if pauses is not None:
            pauses.append(seconds)

    http = httpx.AsyncClient(transport=httpx.MockTransport(handler), base_url="http://engine")
    return EngineClient(http, sleep=sleep, data_version=data_version)


def sound(request: httpx.Request) -> httpx.Response:
    bodies = {"/meta": meta_bytes(REFERENCE.ledger), "/questions": questions_bytes(REFERENCE.ledger)}
    if request.url.path in bodies:
        return httpx.Response(200, content=bodies[request.url.path])
    status, body = evaluate_bytes(REFERENCE, request.content)
    return httpx.Response(status, content=body)


async def test_in_process_client_gives_version_ledger_and_raw_bytes() -> None:
    engine = in_process_client("0.1.3")
    assert await engine.version() == Version(engine_version="0.1.3", data_version=REFERENCE.data_version)
    assert await engine.ledger() == REFERENCE.ledger
    reply = await engine.evaluate(EvaluateRequest())
    assert (200, reply.raw) == evaluate_bytes(REFERENCE, b"{}")
    assert engine.data_version == REFERENCE.data_version


async def test_client_tries_again_after_server_and_transport_errors() -> None:
    failures: list[Callable[[], httpx.Response]] = [
        lambda: httpx.Response(503),
        lambda: httpx.Response(429),
        lambda: (_ for _ in ()).throw(httpx.ReadTimeout("slow")),
    ]
    pauses: list[float] = []

    def flaky(request: httpx.Request) -> httpx.Response:
        return failures.pop()() if failures else sound(request)

    reply = await client(flaky, pauses).evaluate(EvaluateRequest())
    assert reply.evaluation.data_version == REFERENCE.data_version
    assert pauses == [0.2, 0.8, 2.0]


async def test_client_says_who_did_not_answer_when_attempts_are_used_up() -> None:
    def dead(request: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("refused")

    with pytest.raises(
        ServiceError, match=r"engine at http://engine.* did not answer GET /meta in 4 attempts: ConnectError"
    ):
        await client(dead).meta_bytes()


async def test_client_gives_up_on_a_server_that_keeps_failing() -> None:
    with pytest.raises(ServiceError, match="POST http://engine/evaluate gave 500"):
        await client(lambda request: httpx.Response(500, text="oh")).evaluate(EvaluateRequest())


async def test_client_stops_when_the_data_version_changes() -> None:
    seen = 0

    def drifting(request: httpx.Request) -> httpx.Response:
        nonlocal seen
        seen += 1
        body = evaluate_bytes(REFERENCE, b"{}")[1]
        return httpx.Response(200, content=body if seen < 3 else body.replace(b"0.1.3+", b"0.1.4+"))

    engine = client(drifting)
    await engine.evaluate(EvaluateRequest())
    await engine.evaluate(EvaluateRequest())
    with pytest.raises(DataVersionChanged, match=r"now has the data 0.1.4\+.*, and not 0.1.3\+") as caught:
        await engine.evaluate(EvaluateRequest())
    assert isinstance(caught.value, StopRun)


async def test_client_can_be_pinned_from_the_start() -> None:
    with pytest.raises(DataVersionChanged):
        await client(sound, data_version="0.1.1+other").meta_bytes()


async def test_client_hands_on_what_the_engine_refused() -> None:
    wrong = observed(TurnKey("q_maneuver", Party.SELF), "flying")
    with pytest.raises(EngineRefused, match="can't be 'flying'") as caught:
        await client(sound).evaluate(EvaluateRequest(answers=(wrong,)))
    assert caught.value.refusal is not None
    assert (caught.value.refusal.kind, caught.value.refusal.question_id) == ("value_outside_domain", "q_maneuver")


async def test_client_wraps_a_refusal_that_does_not_say_why() -> None:
    with pytest.raises(EngineRefused, match=r"\(400\): <html>") as caught:
        await client(lambda request: httpx.Response(400, text="<html>")).evaluate(EvaluateRequest())
    assert caught.value.refusal is None


@pytest.mark.parametrize("body", [b"<html>", b"[]", b'{"data_version": 3}', b"\xff\xfe"])
async def test_client_wraps_a_reply_that_is_not_the_protocol(body: bytes) -> None:
    with pytest.raises(ServiceError, match="reply to /evaluate is not as the protocol says"):
        await client(lambda request: httpx.Response(200, content=body)).evaluate(EvaluateRequest())


async def test_client_accepts_fields_that_a_newer_engine_adds() -> None:
    def newer(request: httpx.Request) -> httpx.Response:
        body = msgspec.json.decode(evaluate_bytes(REFERENCE, b"{}")[1]) | {"explanation": "new in some later engine"}
        return httpx.Response(200, content=msgspec.json.encode(body))

    assert (await client(newer).evaluate(EvaluateRequest())).evaluation.candidates
