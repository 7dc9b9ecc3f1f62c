"""Servers that break one law each: our own application with a fault put in front of it."""

import itertools
from collections.abc import Callable
from typing import Any

import msgspec
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from vlmrec.engine.reference import Reference, load_reference
from vlmrec.engine.server import evaluate_bytes
from vlmrec.ledger import meta_bytes, questions_bytes
from vlmrec.protocol import EvaluateRequest
from vlmrec.question import precondition
from vlmrec.terms import Answer, Party

Json = dict[str, Any]
Fault = Callable[[Reference, Json, Callable[[Json], Json]], Json]
"""Takes the request and a way to ask the sound engine, and gives the faulty reply."""


def abstention_eliminates(reference: Reference, request: Json, ask: Callable[[Json], Json]) -> Json:
    def guess(answer: Json) -> Json:
        if answer["status"] == "observed":
            return answer
        return answer | {"status": "observed", "value": reference.ledger.question(answer["question_id"]).codes[-1]}

    return ask(request | {"answers": [guess(answer) for answer in request["answers"]]})


def order_matters(reference: Reference, request: Json, ask: Callable[[Json], Json]) -> Json:
    return ask(request | {"answers": request["answers"][:4]})


def charts_come_back(reference: Reference, request: Json, ask: Callable[[Json], Json]) -> Json:
    answers = request["answers"]
    return ask(request | {"answers": [] if len(answers) > 3 else answers})


def relations_are_not_turned(reference: Reference, request: Json, ask: Callable[[Json], Json]) -> Json:
    def straighten(answer: Json) -> Json:
        return answer | {"value": "self_ahead"} if answer.get("value") == "other_ahead" else answer

    return ask(request | {"answers": [straighten(answer) for answer in request["answers"]]})


def asks_again(reference: Reference, request: Json, ask: Callable[[Json], Json]) -> Json:
    reply = ask(request)
    if reply["next_question"] and request["answers"]:
        answer = request["answers"][0]
        reply["next_question"] = {"question_id": answer["question_id"], "party": answer["party"]}
    return reply


def asks_against_preconditions(reference: Reference, request: Json, ask: Callable[[Json], Json]) -> Json:
    reply = ask(request)
    answers = {answer.key: answer for answer in msgspec.convert(request["answers"], tuple[Answer, ...])}
    closed = set(answers) | {(ref["question_id"], Party(ref["party"])) for ref in request.get("skip", ())}
    for key in reference.ledger.turns if reply["next_question"] else ():
        question = reference.ledger.question(key.question_id)
        if key not in closed and precondition(question, key.party, answers) is False:
            reply["next_question"] = {"question_id": key.question_id, "party": key.party}
            break
    return reply


def asks_open_preconditions_first(reference: Reference, request: Json, ask: Callable[[Json], Json]) -> Json:
    reply = ask(request)
    answers = {answer.key: answer for answer in msgspec.convert(request["answers"], tuple[Answer, ...])}
    closed = set(answers) | {(ref["question_id"], Party(ref["party"])) for ref in request.get("skip", ())}
    few = 2 < len(answers) < 9 and len(answers) == len(closed) and reply["next_question"]
    for key in reference.ledger.turns if few else ():
        question = reference.ledger.question(key.question_id)
        if key not in closed and precondition(question, key.party, answers) is None:
            reply["next_question"] = {"question_id": key.question_id, "party": key.party}
            break
    return reply


def asks_unknown_questions(reference: Reference, request: Json, ask: Callable[[Json], Json]) -> Json:
    reply = ask(request)
    if reply["next_question"]:
        reply["next_question"]["question_id"] = "q_weather_on_the_moon"
    return reply


def shares_do_not_add_up(reference: Reference, request: Json, ask: Callable[[Json], Json]) -> Json:
    reply = ask(request)
    for candidate in reply["candidates"]:
        candidate["fault"]["other"] += 5
    return reply


def ranges_are_invented(reference: Reference, request: Json, ask: Callable[[Json], Json]) -> Json:
    reply = ask(request)
    for candidate in reply["candidates"]:
        candidate["fault_range"]["self"] = [0, 100]
    return reply


def confirms_too_soon(reference: Reference, request: Json, ask: Callable[[Json], Json]) -> Json:
    reply = ask(request)
    if reply["status"] == "leading":
        reply["status"] = "confirmed"
    return reply


def blames_another_answer(reference: Reference, request: Json, ask: Callable[[Json], Json]) -> Json:
    reply = ask(request)
    for eliminated in reply["eliminated"]:
        eliminated["by"]["value"] = "something_else"
    return reply


def loses_charts(reference: Reference, request: Json, ask: Callable[[Json], Json]) -> Json:
    reply = ask(request)
    reply["eliminated"] = reply["eliminated"][1:]
    return reply


def open_conditions_are_called_met(reference: Reference, request: Json, ask: Callable[[Json], Json]) -> Json:
    reply = ask(request)
    for candidate in reply["candidates"]:
        candidate["met"] += candidate["open"]
        candidate["open"] = candidate["open"][:0]
    return reply


def asks_skipped_questions(reference: Reference, request: Json, ask: Callable[[Json], Json]) -> Json:
    return ask(request | {"skip": []})


def skipped_counts_as_answer(reference: Reference, request: Json, ask: Callable[[Json], Json]) -> Json:
    skip = request.get("skip", [])
    made = [
        ref | {"status": "observed", "value": reference.ledger.question(ref["question_id"]).codes[0]} for ref in skip
    ]
    return ask({"answers": [*request["answers"], *made], "skip": []})


FAULTS: dict[str, tuple[str, Fault]] = {
    "abstention eliminates": ("abstention", abstention_eliminates),
    "order matters": ("order", order_matters),
    "charts come back": ("monotone", charts_come_back),
    "relations are not turned": ("swap", relations_are_not_turned),
    "asks again": ("asks_once", asks_again),
    "asks against preconditions": ("precondition", asks_against_preconditions),
    "asks open preconditions first": ("open_precondition_last", asks_open_preconditions_first),
    "asks unknown questions": ("asks_from_ledger", asks_unknown_questions),
    "shares do not add up": ("shares", shares_do_not_add_up),
    "ranges are invented": ("fault_range", ranges_are_invented),
    "confirms too soon": ("status", confirms_too_soon),
    "blames another answer": ("eliminated_by", blames_another_answer),
    "loses charts": ("accounted", loses_charts),
    "open conditions are called met": ("facts", open_conditions_are_called_met),
    "asks skipped questions": ("skip", asks_skipped_questions),
    "skipped counts as answer": ("skip", skipped_counts_as_answer),
}
"""A fault by name, and the law that it breaks."""


def faulty_app(version: str, fault: Fault) -> Starlette:
    reference = load_reference(version)

    def reply(body: bytes) -> tuple[int, bytes]:
        status, sound = evaluate_bytes(reference, body)
        if status != 200:
            return status, sound

        def ask(request: Json) -> Json:
            asked, found = evaluate_bytes(reference, msgspec.json.encode(request))
            assert asked == 200, found
            decoded: Json = msgspec.json.decode(found)
            return decoded

        request: Json = msgspec.to_builtins(msgspec.json.decode(body, type=EvaluateRequest))
        return 200, msgspec.json.encode(fault(reference, request, ask))

    return _app(reference, reply)


def lenient_app(version: str) -> Starlette:
    """Takes whatever it is given, and leaves out what it can't use."""
    reference = load_reference(version)

    def reply(body: bytes) -> tuple[int, bytes]:
        status, sound = evaluate_bytes(reference, body)
        return (200, evaluate_bytes(reference, b"{}")[1]) if status == 422 else (status, sound)

    return _app(reference, reply)


def drifting_app(version: str) -> Starlette:
    """Changes its data_version between requests."""
    reference = load_reference(version)
    count = itertools.count()

    def reply(body: bytes) -> tuple[int, bytes]:
        status, sound = evaluate_bytes(reference, body)
        other = b"0.0.0+changed" if next(count) % 7 == 6 else reference.data_version.encode()
        return status, sound.replace(reference.data_version.encode(), other)

    return _app(reference, reply)


def remembering_app(version: str) -> Starlette:
    """Keeps the last request's answers and adds them to the next."""
    reference = load_reference(version)
    kept: list[Json] = []

    def reply(body: bytes) -> tuple[int, bytes]:
        status, sound = evaluate_bytes(reference, body)
        if status != 200:
            return status, sound
        request: Json = msgspec.json.decode(body)
        named = {(answer["question_id"], answer["party"]) for answer in request["answers"] + request.get("skip", [])}
        old = [answer for answer in kept if (answer["question_id"], answer["party"]) not in named]
        kept[:] = request["answers"]
        return evaluate_bytes(reference, msgspec.json.encode(request | {"answers": request["answers"] + old}))

    return _app(reference, reply)


def broken_ledger_app(version: str) -> Starlette:
    """Lists a gate that is no question."""
    reference = load_reference(version)
    meta = meta_bytes(reference.ledger).replace(b'"question_id":"q_collision"', b'"question_id":"q_no_such_gate"')
    return _app(reference, lambda body: evaluate_bytes(reference, body), meta)


def _app(reference: Reference, reply: Callable[[bytes], tuple[int, bytes]], meta: bytes | None = None) -> Starlette:
    bodies = {
        "/version": msgspec.json.encode(
            {"engine_version": reference.ledger.engine_version, "data_version": reference.data_version}
        ),
        "/meta": meta or meta_bytes(reference.ledger),
        "/questions": questions_bytes(reference.ledger),
    }

    async def stored(request: Request) -> Response:
        return Response(bodies[request.url.path], media_type="application/json")

    async def evaluation(request: Request) -> Response:
        status, body = reply(await request.body())
        return Response(body, status_code=status, media_type="application/json")

    routes = [Route(path, stored) for path in bodies]
    return Starlette(routes=[*routes, Route("/evaluate", evaluation, methods=["POST"])])
