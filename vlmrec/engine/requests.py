"""What is wrong with a request, said of the item that is wrong: the engine's 422."""

from collections.abc import Iterable
from typing import Literal

import msgspec

from vlmrec.engine.compiled import Tables
from vlmrec.errors import InputError
from vlmrec.ledger import Ledger
from vlmrec.protocol import EvaluateRequest
from vlmrec.terms import Answer, QuestionRef, Status, TurnKey

Fault = Literal[
    "unknown_question",
    "party_not_in_form",
    "value_outside_domain",
    "missing_value",
    "value_beside_abstention",
    "answered_twice",
    "skipped_twice",
    "answered_and_skipped",
]


class RequestError(InputError):
    """An answer or skip that the engine refuses, naming the question and party."""

    def __init__(self, fault: Fault, key: TurnKey, message: str) -> None:
        super().__init__(message)
        self.fault: Fault = fault
        self.question_id = key.question_id
        self.party = key.party


def encode_request(tables: Tables, request: EvaluateRequest) -> tuple[int, int]:
    """The request as a state, and the bits of all questions that it closes. Raises RequestError."""
    atoms = tables.atoms
    state = closed = 0
    for answer in request.answers:
        found = atoms.get((answer.question_id, answer.party, answer.status, answer.value))
        if found is None or closed & found[1]:
            raise fault_of(tables.ledger, request)
        state |= found[0]
        closed |= found[1]
    for skipped in request.skip:
        bit = tables.key_bit.get((skipped.question_id, skipped.party))  # type: ignore[call-overload]  # a TurnKey is this tuple
        if bit is None or closed & bit:
            raise fault_of(tables.ledger, request)
        closed |= bit
    return state, closed


def read_request(body: bytes, name: str) -> EvaluateRequest:
    """A request from a file's bytes. Raises InputError, naming the file, where it is not as the protocol says."""
    try:
        return msgspec.json.decode(body, type=EvaluateRequest)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise InputError(
            f'{name} is no request: {error}; it takes {{"answers": [{{"question_id", "party", "status", "value"}}], '
            '"skip": [{"question_id", "party"}]}'
        ) from error


def fault_of(ledger: Ledger, request: EvaluateRequest) -> RequestError:
    """The first thing wrong with a request that was found to be wrong."""
    for answer in request.answers:
        wrong = _form(ledger, answer) or _value(ledger, answer)
        if wrong is not None:
            return wrong
    for skipped in request.skip:
        wrong = _form(ledger, skipped)
        if wrong is not None:
            return wrong
    answered = [answer.key for answer in request.answers]
    skipped_keys = [ref.key for ref in request.skip]
    for fault, keys, where in (
        ("answered_twice", answered, "answers"),
        ("skipped_twice", skipped_keys, "skip"),
    ):
        twice = _repeated(keys)
        if twice is not None:
            return RequestError(
                fault,  # type: ignore[arg-type]  # mypy widens literals in a loop's tuple
                twice,
                f"{_name(twice)} is in {where} twice: give each question once for each party",
            )
    both = next(key for key in skipped_keys if key in set(answered))
    return RequestError(
        "answered_and_skipped", both, f"{_name(both)} is in answers and in skip: a skipped question has no answer"
    )


def _form(ledger: Ledger, item: Answer | QuestionRef) -> RequestError | None:
    if item.question_id not in ledger:
        return RequestError(
            "unknown_question",
            item.key,
            f"{item.question_id} is not a question of {ledger.data_version}: GET /questions lists them",
        )
    parties = ledger.question(item.question_id).parties
    if item.party not in parties:
        return RequestError(
            "party_not_in_form",
            item.key,
            f"{item.question_id} is put for {' and '.join(parties)}, not for {item.party}",
        )
    return None


def _value(ledger: Ledger, answer: Answer) -> RequestError | None:
    if answer.status is not Status.OBSERVED:
        if answer.value is None:
            return None
        return RequestError(
            "value_beside_abstention",
            answer.key,
            f"{_name(answer.key)} is {answer.status} and yet has the value {answer.value!r}: an abstention has none",
        )
    codes = ledger.question(answer.question_id).codes
    if answer.value is None:
        return RequestError(
            "missing_value", answer.key, f"{_name(answer.key)} is observed and has no value: give one of {list(codes)}"
        )
    if answer.value not in codes:
        return RequestError(
            "value_outside_domain",
            answer.key,
            f"{_name(answer.key)} can't be {answer.value!r}: its domain is {list(codes)}",
        )
    return None


def _repeated(keys: Iterable[TurnKey]) -> TurnKey | None:
    seen: set[TurnKey] = set()
    for key in keys:
        if key in seen:
            return key
        seen.add(key)
    return None


def _name(key: TurnKey) -> str:
    return f"{key.question_id} for {key.party}"
