"""Stored answers in the words of another ledger: kept, approximate by a named rule, or to be asked anew."""

import msgspec
import pytest

from vlmrec.engine.core import evaluate
from vlmrec.engine.migration import (
    Migration,
    check_migration,
    declared_migrations,
    decode_migration,
    load_migration,
    map_answers,
)
from vlmrec.engine.reference import Reference, load_reference, versions
from vlmrec.engine.witness import observed, unknown, witness
from vlmrec.errors import InputError
from vlmrec.protocol import EngineStatus, EvaluateRequest
from vlmrec.terms import Answer, Party, TurnKey

OLD, NEW = load_reference("0.1.1"), load_reference("0.1.3")
SELF, OTHER, NONE = Party.SELF, Party.OTHER, Party.NONE


def migration(source: Reference, target: Reference) -> Migration:
    found = load_migration(source.data_version, target.data_version)
    assert found is not None
    return found


def mapped(*answers: Answer) -> dict[TurnKey, tuple[str | None, str, str | None]]:
    result = map_answers(OLD.ledger, NEW.ledger, migration(OLD, NEW), answers)
    return {each.answer.key: (each.answer.value, each.kind, each.rule) for each in result.answers}


def say(question_id: str, party: Party, value: str | None) -> Answer:
    key = TurnKey(question_id, party)
    return unknown(key) if value is None else observed(key, value)


@pytest.mark.parametrize("pair", [(OLD, NEW), (NEW, OLD)])
def test_declared_migrations_are_keyed_by_the_data_versions_of_today(pair: tuple[Reference, Reference]) -> None:
    # when this fails, data changed: look at the migration again, then renew the `from` and `to` of its file
    assert load_migration(pair[0].data_version, pair[1].data_version) is not None


def test_declared_migrations_name_only_what_exists() -> None:
    by_version = {load_reference(version).data_version: load_reference(version) for version in versions()}
    for (source, target), each in declared_migrations().items():
        check_migration(each, by_version[source].ledger, by_version[target].ledger)


def test_an_answer_under_the_same_question_and_wording_is_kept() -> None:
    assert mapped(say("q_road_class", NONE, "expressway")) == {("q_road_class", NONE): ("expressway", "kept", None)}


def test_an_answer_under_changed_wording_is_approximate_and_says_so() -> None:
    # 0.1.3 added rules of observation that bear on it
    assert mapped(say("q_order", NONE, None)) == {("q_order", NONE): (None, "approximate", "shown_changed")}


def test_starting_from_a_stop_becomes_straight_with_the_prior_stop_that_was_seen() -> None:
    starting = say("q_maneuver", OTHER, "starting_from_stop")
    assert mapped(starting, say("q_bus_stop", OTHER, "yes"))[("q_prior_stop_kind", OTHER)][0] == "bus_stop"
    found = mapped(starting, say("q_stop_place", OTHER, "road_edge"))
    assert found[("q_maneuver", OTHER)] == ("straight", "approximate", "starting_is_a_prior_stop")
    assert found[("q_prior_stop_kind", OTHER)] == ("standing", "approximate", "started_from_the_edge")


def test_a_start_of_unknown_kind_is_not_guessed() -> None:
    result = map_answers(OLD.ledger, NEW.ledger, migration(OLD, NEW), [say("q_maneuver", OTHER, "starting_from_stop")])
    assert ("q_prior_stop_kind", OTHER) not in {each.answer.key for each in result.answers}
    reasons = {(each.question_id, each.party): each.reason for each in result.needs_new_answer}
    assert reasons[("q_prior_stop_kind", OTHER)] == "new_question"


def test_overtaking_needs_a_new_answer_unless_the_follow_up_tells() -> None:
    overtaking = say("q_maneuver", SELF, "overtaking")
    result = map_answers(OLD.ledger, NEW.ledger, migration(OLD, NEW), [overtaking])
    reasons = {(each.question_id, each.party): each.reason for each in result.needs_new_answer}
    assert reasons[("q_maneuver", SELF)] == "no_rule_holds"
    assert result.unused == (msgspec.convert({"question_id": "q_maneuver", "party": "self"}, type(result.unused[0])),)
    found = mapped(overtaking, say("q_returns_in_front", SELF, "yes"))
    assert found[("q_maneuver", SELF)][0] == "lane_change"
    assert found[("q_overtaking", SELF)][0] == "cut_in"


def test_a_lane_change_leaves_overtaking_open() -> None:
    assert ("q_overtaking", SELF) not in mapped(say("q_maneuver", SELF, "lane_change"))
    assert mapped(say("q_maneuver", SELF, "straight"))[("q_overtaking", SELF)][0] == "none"


def test_an_abstention_on_the_manoeuvre_stays_one_and_says_nothing_of_new_questions() -> None:
    assert mapped(say("q_maneuver", SELF, None)) == {("q_maneuver", SELF): (None, "approximate", "abstention_stays")}


def test_without_a_migration_a_changed_question_needs_a_new_answer() -> None:
    result = map_answers(OLD.ledger, NEW.ledger, None, [say("q_maneuver", SELF, "straight")])
    assert result.answers == ()
    reasons = {(each.question_id, each.party): each.reason for each in result.needs_new_answer}
    assert reasons[("q_maneuver", SELF)] == "identity_changed"
    assert reasons[("q_overtaking", SELF)] == "new_question"
    assert ("q_order", NONE) not in reasons


def test_a_migration_between_other_ledgers_is_refused() -> None:
    with pytest.raises(InputError, match=r"the migration is from 0.1.3\+.* not from 0.1.1"):
        map_answers(OLD.ledger, NEW.ledger, migration(NEW, OLD), [])


@pytest.mark.parametrize("pair", [(OLD, NEW), (NEW, OLD)])
def test_mapping_a_whole_case_never_confirms_another_chart_nor_rules_the_right_one_out(
    pair: tuple[Reference, Reference],
) -> None:
    source, target = pair
    for position in source.tables.positions:
        answers = map_answers(source.ledger, target.ledger, migration(source, target), witness(position)).answers
        evaluation = evaluate(target, EvaluateRequest(answers=tuple(each.answer for each in answers)))
        variant = None if position.variant is None else position.variant.key
        standing = {(each.chart, each.variant, each.self_is) for each in evaluation.candidates}
        assert (position.chart.id, variant, position.self_is) in standing
        if evaluation.status is EngineStatus.CONFIRMED:
            assert len(standing) == 1


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b"from: a\nto: b\nrules: [{rule: x, why: y, question: q_z}]", "rule x for q_z needs"),
        (
            b"from: a\nto: b\nrules: [{rule: x, why: y, question: q, when: {q_a: [b]}, value: c, copy: q_a}]",
            "needs `when`",
        ),
        (b"from: a\nto: b\nguess: yes", "unknown field"),
        (b"from: [", "the migration a_to_b.yaml can't be used"),
        (b"from: a\nto: b\nto: c", "the key 'to' is given twice"),
    ],
)
def test_a_migration_file_that_says_too_little_or_too_much_is_refused(text: bytes, said: str) -> None:
    with pytest.raises(InputError, match=said):
        decode_migration(text, "a_to_b.yaml")


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        ("{rule: x, why: y, question: q_gone, when: {q_maneuver: [straight]}, value: a}", "no question 'q_gone'"),
        ("{rule: x, why: y, question: q_order, when: {q_maneuver: [flying]}, value: self_ahead}", "never had all of"),
        (
            "{rule: x, why: y, question: q_order, when: {q_maneuver: [straight]}, value: above}",
            "can't be \\['above'\\]",
        ),
        ("{rule: x, why: y, question: q_order, when: {q_maneuver: [straight]}, copy: q_maneuver}", "can't be"),
        ("{rule: x, why: y, question: q_order, abstention_of: q_gone}", "no question 'q_gone'"),
    ],
)
def test_a_migration_that_names_what_does_not_exist_is_refused(rule: str, said: str) -> None:
    made = decode_migration(f"from: a\nto: b\nrules: [{rule}]".encode(), "a_to_b.yaml")
    with pytest.raises(InputError, match=said):
        check_migration(made, OLD.ledger, NEW.ledger)


def test_carrying_a_question_that_lost_values_is_refused() -> None:
    made = decode_migration(b"from: a\nto: b\ncarry: [{rule: x, why: y, questions: [q_maneuver]}]", "a_to_b.yaml")
    with pytest.raises(InputError, match="q_maneuver lost values"):
        check_migration(made, OLD.ledger, NEW.ledger)
