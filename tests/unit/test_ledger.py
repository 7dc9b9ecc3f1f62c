"""The ledger: decoding, hashes, preconditions, swapping the two vehicles."""

from typing import Any

import msgspec
import pytest

from vlmrec.engine.reference import load_reference, versions
from vlmrec.ledger import (
    Ledger,
    LedgerError,
    by_turn,
    checked_ledger,
    decode_ledger,
    flip,
    meta_bytes,
    questions_bytes,
    shown_hash,
)
from vlmrec.question import Clause, Option, Question, identity_hash, precondition
from vlmrec.terms import Answer, Party, Status, TurnKey

LEDGER = load_reference("0.1.3").ledger


def answer(question_id: str, party: Party, value: str | None) -> Answer:
    status = Status.UNKNOWN if value is None else Status.OBSERVED
    return Answer(question_id=question_id, party=party, status=status, value=value)


def changed(question: Question, **changes: Any) -> Question:
    return msgspec.structs.replace(question, **changes)


def with_question(question: Question) -> Ledger:
    questions = tuple(question if each.id == question.id else each for each in LEDGER.questions)
    return msgspec.structs.replace(LEDGER, questions=questions)


@pytest.mark.parametrize("version", versions())
def test_ledger_survives_the_wire(version: str) -> None:
    ledger = load_reference(version).ledger
    assert decode_ledger(meta_bytes(ledger), questions_bytes(ledger)) == ledger


def test_meta_and_questions_of_two_versions_are_refused() -> None:
    other = load_reference("0.1.1").ledger
    with pytest.raises(LedgerError, match="the engine changed between the two"):
        decode_ledger(meta_bytes(LEDGER), questions_bytes(other))


@pytest.mark.parametrize(("meta", "questions"), [(b"{}", b"{}"), (b"<html>", b"{}"), (b'{"data_version": 1}', b"{}")])
def test_bodies_that_are_no_ledger_are_refused(meta: bytes, questions: bytes) -> None:
    with pytest.raises(LedgerError, match="not as the protocol says"):
        decode_ledger(meta, questions)


def test_fields_of_a_newer_engine_are_passed_over_but_not_in_a_precondition() -> None:
    body: dict[str, Any] = msgspec.json.decode(questions_bytes(LEDGER))
    for question in body["questions"]:
        question["difficulty"] = "high"
    assert decode_ledger(meta_bytes(LEDGER), msgspec.json.encode(body)) == LEDGER
    asked_under_conditions = next(question for question in body["questions"] if question["any_of"])
    asked_under_conditions["any_of"][0]["unless"] = ["u_turn"]
    with pytest.raises(LedgerError, match="unknown field `unless`"):
        decode_ledger(meta_bytes(LEDGER), msgspec.json.encode(body))


def test_order_is_the_ledgers_own_with_self_before_other() -> None:
    turns = list(LEDGER.turns)
    turns.reverse()
    assert tuple(sorted(turns, key=LEDGER.order)) == LEDGER.turns
    with pytest.raises(LedgerError, match="no question 'q_nothing'"):
        LEDGER.order(TurnKey("q_nothing", Party.SELF))


def test_identity_is_id_form_codes_and_precondition_and_not_wording() -> None:
    question = LEDGER.question("q_lane_line")
    same = identity_hash(question)
    assert identity_hash(changed(question, notes_en=("a note",), domain=tuple(reversed(question.domain)))) == same
    assert identity_hash(changed(question, id="q_line")) != same
    assert identity_hash(changed(question, parties=(Party.SELF,))) != same
    assert identity_hash(changed(question, domain=question.domain[:-1])) != same
    assert identity_hash(changed(question, any_of=question.any_of[:-1])) != same


def test_what_is_shown_is_text_options_in_order_notes_and_rules_for_the_party() -> None:
    question = LEDGER.question("q_maneuver")
    same = shown_hash(LEDGER, question, Party.SELF)
    assert shown_hash(LEDGER, question, Party.OTHER) != same
    relabelled = Option(code="straight", label_ko="직진함", label_en="straight")
    for other in (
        changed(question, domain=tuple(reversed(question.domain))),
        changed(question, domain=(relabelled, *question.domain[1:])),
        changed(question, notes_ko=()),
    ):
        assert shown_hash(with_question(other), other, Party.SELF) != same
    assert shown_hash(LEDGER, changed(question, any_of=(), section="other"), Party.SELF) == same
    without_rules = msgspec.structs.replace(LEDGER, meta=msgspec.structs.replace(LEDGER.meta, observation_rules=()))
    assert shown_hash(without_rules, question, Party.SELF) != same


@pytest.mark.parametrize(
    ("clause_party", "said", "verdict"),
    [
        ("same", {}, None),
        ("same", {Party.SELF: "u_turn"}, True),
        ("same", {Party.SELF: "stopped"}, False),
        ("same", {Party.SELF: None}, None),
        ("same", {Party.OTHER: "u_turn"}, None),
        ("other", {Party.OTHER: "u_turn"}, True),
        ("any", {Party.OTHER: "u_turn"}, True),
        ("any", {Party.SELF: "stopped"}, None),
        ("any", {Party.SELF: "stopped", Party.OTHER: None}, None),
        ("any", {Party.SELF: "stopped", Party.OTHER: "straight"}, False),
    ],
)
def test_precondition_is_three_valued(clause_party: str, said: dict[Party, str | None], verdict: bool | None) -> None:
    clause = msgspec.convert({"question": "q_maneuver", "party": clause_party, "values": ["u_turn"]}, Clause)
    question = changed(LEDGER.question("q_u_turn_place"), any_of=(clause,))
    answers = by_turn(answer("q_maneuver", party, value) for party, value in said.items())
    assert precondition(question, Party.SELF, answers) is verdict


def test_any_true_clause_is_enough_and_all_must_be_false() -> None:
    question = LEDGER.question("q_lane_line")
    overtakes = answer("q_overtaking", Party.OTHER, "cut_in")
    straight = answer("q_maneuver", Party.OTHER, "straight")
    no = answer("q_overtaking", Party.OTHER, "none")
    assert precondition(question, Party.OTHER, by_turn([straight, overtakes])) is True
    assert precondition(question, Party.OTHER, by_turn([straight])) is None
    assert precondition(question, Party.OTHER, by_turn([straight, no])) is False
    assert precondition(LEDGER.question("q_order"), Party.NONE, {}) is True


def test_flip_swaps_parties_turns_relations_and_is_its_own_inverse() -> None:
    answers = (
        answer("q_order", Party.NONE, "self_ahead"),
        answer("q_maneuver", Party.SELF, "u_turn"),
        answer("q_lane_relation", Party.NONE, "same_lane"),
        answer("q_first_to_move", Party.NONE, None),
    )
    turned = flip(LEDGER, answers)
    assert [(each.party, each.value) for each in turned] == [
        (Party.NONE, "other_ahead"),
        (Party.OTHER, "u_turn"),
        (Party.NONE, "same_lane"),
        (Party.NONE, None),
    ]
    assert flip(LEDGER, turned) == answers


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"section": "elsewhere"}, "which /meta does not list"),
        ({"domain": LEDGER.question("q_order").domain[:1]}, "two or more domain codes"),
        ({"domain": LEDGER.question("q_order").domain[:1] * 2}, "each once"),
        ({"parties": (Party.OTHER, Party.SELF)}, "in that order"),
        ({"parties": (Party.SELF,)}, "no text in the form for self"),
        ({"flip": {"self_ahead": "other_ahead"}}, "to and fro in pairs"),
        ({"flip": {"self_ahead": "above", "above": "self_ahead"}}, "to and fro in pairs"),
        ({"any_of": (Clause(question="q_gone", party="none", values=("x",)),)}, "q_gone, which is not in the ledger"),
        ({"any_of": (Clause(question="q_place", party="none", values=("x",)),)}, "that it has not"),
        (
            {"any_of": (Clause(question="q_place", party="any", values=("road_section",)),)},
            "depends on q_place for self",
        ),
    ],
)
def test_a_ledger_that_contradicts_itself_is_refused(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(LedgerError, match=said):
        checked_ledger(with_question(changed(LEDGER.question("q_order"), **changes)))


def test_a_question_is_not_put_for_a_party_outside_its_form() -> None:
    with pytest.raises(ValueError, match="q_order is not put for self"):
        LEDGER.question("q_order").text(Party.SELF, "ko")
