"""The OpenAPI document of the engine protocol, with schemas taken from the Structs themselves."""

from typing import Any

import msgspec

from vlmrec.ledger import Meta, Questions
from vlmrec.protocol import EvaluateRequest, Evaluation, Refused, Version

_TYPES = (Version, Meta, Questions, EvaluateRequest, Evaluation, Refused)


def openapi_document(engine_version: str, data_version: str) -> dict[str, Any]:
    """OpenAPI 3.1 for the five paths of a server."""
    refs, components = msgspec.json.schema_components(_TYPES, ref_template="#/components/schemas/{name}")
    version, meta, questions, request, evaluation, refused = refs
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Fault-ratio rule engine",
            "version": engine_version,
            "x-data-version": data_version,
            "description": "Stateless. Every reply carries data_version, which names ledger and charts.",
        },
        "paths": {
            "/version": _get("Which engine and data this is.", version),
            "/meta": _get("Sections, gate questions and observation rules.", meta),
            "/questions": _get("Every question of the ledger.", questions),
            "/evaluate": {
                "post": {
                    "summary": "What the answers so far leave standing, and the next question.",
                    "requestBody": {"required": True, "content": {"application/json": {"schema": request}}},
                    "responses": {
                        "200": _body("The evaluation.", evaluation),
                        "422": _body("An item of the request is refused; the body names it.", refused),
                    },
                }
            },
            "/openapi.json": _get("This document.", {"type": "object"}),
        },
        "components": {"schemas": dict(sorted(components.items()))},
    }


def _get(summary: str, schema: dict[str, Any]) -> dict[str, Any]:
    return {"get": {"summary": summary, "responses": {"200": _body(summary, schema)}}}


def _body(description: str, schema: dict[str, Any]) -> dict[str, Any]:
    return {"description": description, "content": {"application/json": {"schema": schema}}}
