"""The embedded engine behind HTTP: one stateless ASGI application for a version.

The application holds no state between requests and reads nothing but the request, so it may be mounted,
served by any ASGI server, or called in process; all three give the same bytes.
"""

import msgspec
from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

from vlmrec.canonical import canonical_json
from vlmrec.engine.core import evaluate
from vlmrec.engine.openapi import openapi_document
from vlmrec.engine.reference import DEFAULT_SECTION, Reference, load_reference
from vlmrec.engine.requests import RequestError
from vlmrec.ledger import meta_bytes, questions_bytes
from vlmrec.protocol import EvaluateRequest, Refusal, Refused, Version

LARGEST_REQUEST = 1 << 20


def create_app(version: str, section: str = DEFAULT_SECTION) -> Starlette:
    """The application for an embedded version. Raises InputError for one that is not there."""
    return app_for(load_reference(version, section))


def app_for(reference: Reference) -> Starlette:
    """The application for any reference, such as one built from other data files."""
    ledger = reference.ledger
    bodies = {
        "/version": canonical_json(Version(engine_version=ledger.engine_version, data_version=reference.data_version)),
        "/meta": meta_bytes(ledger),
        "/questions": questions_bytes(ledger),
        "/openapi.json": canonical_json(openapi_document(ledger.engine_version, reference.data_version)),
    }

    async def stored(request: Request) -> Response:
        return _json(200, bodies[request.url.path])

    async def evaluation(request: Request) -> Response:
        body = bytearray()
        async for chunk in request.stream():
            body += chunk
            if len(body) > LARGEST_REQUEST:
                return _refused(reference, 413, "too_large", f"a request may have {LARGEST_REQUEST} bytes at most")
        status, reply = evaluate_bytes(reference, bytes(body))
        return _json(status, reply)

    routes = [Route(path, stored, methods=["GET"]) for path in bodies]
    routes.append(Route("/evaluate", evaluation, methods=["POST"]))
    return Starlette(routes=routes, exception_handlers={ClientDisconnect: _gone})


def evaluation_bytes(reference: Reference, request: EvaluateRequest) -> bytes:
    """The body of a 200 reply. Raises RequestError."""
    return msgspec.json.encode(evaluate(reference, request))


def evaluate_bytes(reference: Reference, body: bytes) -> tuple[int, bytes]:
    """Status and body of the reply to ``POST /evaluate``."""
    try:
        request = msgspec.json.decode(body, type=EvaluateRequest)
        return 200, evaluation_bytes(reference, request)
    except RequestError as error:
        refusal = Refusal(kind=error.fault, message=str(error), question_id=error.question_id, party=error.party)
    except msgspec.ValidationError as error:
        refusal = Refusal(kind="not_the_protocol", message=f"the request is not as the protocol says: {error}")
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        refusal = Refusal(kind="not_json", message=f"the request is not JSON: {error}")
    return 422, _refusal_body(reference, refusal)


async def _gone(request: Request, error: Exception) -> Response:
    return Response(status_code=499)  # nobody is there to read it


def _refused(reference: Reference, status: int, kind: str, message: str) -> Response:
    return _json(status, _refusal_body(reference, Refusal(kind=kind, message=message)))


def _refusal_body(reference: Reference, refusal: Refusal) -> bytes:
    return canonical_json(
        Refused(engine_version=reference.ledger.engine_version, data_version=reference.data_version, error=refusal)
    )


def _json(status: int, body: bytes) -> Response:
    return Response(body, status_code=status, media_type="application/json")
