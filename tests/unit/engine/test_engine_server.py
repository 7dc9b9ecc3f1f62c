"""The engine over ASGI: what each path gives, and what is refused."""

from collections.abc import MutableMapping
from typing import Any

import httpx
import msgspec
import pytest

from vlmrec.engine.core import evaluate
from vlmrec.engine.reference import load_reference, versions
from vlmrec.engine.refusals import MALFORMED, malformed_bodies
from vlmrec.engine.server import LARGEST_REQUEST, create_app
from vlmrec.engine.witness import position_of, witness
from vlmrec.errors import InputError
from vlmrec.ledger import decode_ledger
from vlmrec.protocol import EvaluateRequest, Evaluation, Refused, Version


def connect(version: str) -> httpx.AsyncClient:
    return httpx.AsyncClient(transport=httpx.ASGITransport(app=create_app(version)), base_url="http://engine")


@pytest.mark.parametrize("version", versions())
async def test_every_reply_carries_the_same_data_version(version: str) -> None:
    async with connect(version) as http:
        bodies = [(await http.get(path)).content for path in ("/version", "/meta", "/questions")]
        bodies += [(await http.post("/evaluate", content=body)).content for body in (b"{}", b"{", b'{"hint": 1}')]
    carried = {msgspec.json.decode(body)["data_version"] for body in bodies}
    assert carried == {load_reference(version).data_version}


@pytest.mark.parametrize("version", versions())
async def test_the_ledger_can_be_read_back_from_the_wire(version: str) -> None:
    async with connect(version) as http:
        ledger = decode_ledger((await http.get("/meta")).content, (await http.get("/questions")).content)
        assert msgspec.json.decode((await http.get("/version")).content, type=Version).engine_version == version
    assert ledger == load_reference(version).ledger


async def test_an_evaluation_is_that_of_the_core() -> None:
    reference = load_reference("0.1.3")
    request = EvaluateRequest(answers=witness(position_of(reference, "차43-2", "B")))
    async with connect("0.1.3") as http:
        response = await http.post("/evaluate", content=msgspec.json.encode(request))
    assert response.status_code == 200
    assert response.headers["content-type"] == "application/json"
    assert msgspec.json.decode(response.content, type=Evaluation) == evaluate(reference, request)


async def test_each_malformed_request_is_refused_and_its_item_named() -> None:
    async with connect("0.1.3") as http:
        seen = set()
        for kind, body, named in malformed_bodies(load_reference("0.1.3").ledger):
            response = await http.post("/evaluate", content=body)
            error = msgspec.json.decode(response.content, type=Refused).error
            assert response.status_code == 422, kind
            assert (error.question_id, error.party) == (named or (None, None))
            if named is not None:
                assert error.kind == kind
                assert named.question_id in error.message
            seen.add(kind)
    assert seen == set(MALFORMED)


@pytest.mark.parametrize(
    "body", [b"", b"[]", b"null", b'{"answers": {}}', b'{"answers": [1]}', b"\xff", b'{"answers": NaN}']
)
async def test_what_is_no_request_is_refused_in_words(body: bytes) -> None:
    async with connect("0.1.3") as http:
        response = await http.post("/evaluate", content=body)
    assert response.status_code == 422
    assert msgspec.json.decode(response.content, type=Refused).error.message.startswith("the request is not")


async def test_a_huge_request_is_refused_before_it_is_read() -> None:
    async with connect("0.1.3") as http:
        response = await http.post("/evaluate", content=b" " * (LARGEST_REQUEST + 1))
    assert response.status_code == 413
    assert "at most" in msgspec.json.decode(response.content, type=Refused).error.message


async def test_other_paths_and_methods_are_not_served() -> None:
    async with connect("0.1.3") as http:
        assert (await http.get("/evaluate")).status_code == 405
        assert (await http.post("/meta")).status_code == 405
        assert (await http.get("/charts")).status_code == 404


async def test_the_openapi_document_describes_the_five_paths_with_resolvable_schemas() -> None:
    async with connect("0.1.3") as http:
        document = (await http.get("/openapi.json")).json()
    assert set(document["paths"]) == {"/version", "/meta", "/questions", "/evaluate", "/openapi.json"}
    text = msgspec.json.encode(document).decode()
    named = {part.split('"')[0] for part in text.split("#/components/schemas/")[1:]}
    assert named <= set(document["components"]["schemas"])
    assert {"Evaluation", "EvaluateRequest", "Question", "Refused"} <= named


async def test_replies_fit_the_published_schema_by_a_second_validator() -> None:
    import jsonschema

    reference = load_reference("0.1.3")
    async with connect("0.1.3") as http:
        document = (await http.get("/openapi.json")).json()
        answers = msgspec.json.encode(EvaluateRequest(answers=witness(position_of(reference, "차45-6", "A"))[:6]))
        replies = {
            "Evaluation": (await http.post("/evaluate", content=answers)).json(),
            "Meta": (await http.get("/meta")).json(),
            "Questions": (await http.get("/questions")).json(),
            "Refused": (await http.post("/evaluate", content=b"1")).json(),
        }
    for name, reply in replies.items():
        jsonschema.validate(reply, {"$ref": f"#/components/schemas/{name}", "components": document["components"]})


def test_a_version_or_section_that_is_not_there_is_said_so() -> None:
    with pytest.raises(InputError, match=r"no embedded engine '9.9.9'; there are 0.1.1, 0.1.3"):
        create_app("9.9.9")
    with pytest.raises(InputError, match="no charts of the section 'opposite'"):
        load_reference("0.1.3", "opposite")


async def test_a_client_that_goes_away_while_it_asks_is_no_error() -> None:
    sent = []

    async def receive() -> dict[str, str]:
        return {"type": "http.disconnect"}

    async def send(message: MutableMapping[str, Any]) -> None:
        sent.append(message)

    scope = {"type": "http", "method": "POST", "path": "/evaluate", "headers": [], "query_string": b""}
    await create_app(versions()[-1])(scope, receive, send)
    assert [message["status"] for message in sent if message["type"] == "http.response.start"] == [499]
