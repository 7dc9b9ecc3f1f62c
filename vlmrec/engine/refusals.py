"""Requests that an engine must refuse, made from its own ledger: one of each kind, with the item to be named."""

import json
from typing import Any

from vlmrec.ledger import Ledger
from vlmrec.terms import Party, TurnKey

MALFORMED = {
    "not_json": "A body that is not JSON is refused.",
    "unknown_field": "A field that the protocol does not know is refused.",
    "unknown_status": "A status that the protocol does not know is refused.",
    "unknown_question": "A question that is not in the ledger is refused.",
    "party_not_in_form": "A party that the question is not put for is refused.",
    "value_outside_domain": "A value outside the domain is refused.",
    "missing_value": "An observed answer without a value is refused.",
    "value_beside_abstention": "A value beside an abstention is refused.",
    "answered_twice": "A question and party answered twice is refused.",
    "skipped_twice": "A question and party skipped twice is refused.",
    "answered_and_skipped": "A question and party both answered and skipped is refused.",
}


def malformed_bodies(ledger: Ledger) -> list[tuple[str, bytes, TurnKey | None]]:
    """Kind, body, and the question and party that the 422 must name (None where there is none to name)."""
    key = ledger.turns[0]
    question = ledger.question(key.question_id)
    good = _answer(key, "observed", question.codes[0])
    ref = {"question_id": key.question_id, "party": key.party}
    absent = next((party for party in Party if party not in question.parties), None)
    found: list[tuple[str, Any, TurnKey | None]] = [
        ("unknown_field", {"answers": [], "hints": []}, None),
        ("unknown_status", {"answers": [_answer(key, "guessed", question.codes[0])]}, None),
        (
            "unknown_question",
            {"answers": [_answer(TurnKey("q_no_such_question", key.party), "unknown", None)]},
            TurnKey("q_no_such_question", key.party),
        ),
        ("value_outside_domain", {"answers": [_answer(key, "observed", "no_such_value")]}, key),
        ("missing_value", {"answers": [_answer(key, "observed", None)]}, key),
        ("value_beside_abstention", {"answers": [_answer(key, "unknown", question.codes[0])]}, key),
        ("answered_twice", {"answers": [good, good]}, key),
        ("skipped_twice", {"answers": [], "skip": [ref, ref]}, key),
        ("answered_and_skipped", {"answers": [good], "skip": [ref]}, key),
    ]
    if absent is not None:
        named = TurnKey(key.question_id, absent)
        found.append(("party_not_in_form", {"answers": [_answer(named, "unknown", None)]}, named))
    bodies = [(kind, json.dumps(body, ensure_ascii=False).encode(), named) for kind, body, named in found]
    return [("not_json", b'{"answers": [', None), *bodies]


def _answer(key: TurnKey, status: str, value: str | None) -> dict[str, str | None]:
    return {"question_id": key.question_id, "party": key.party, "status": status, "value": value}
