"""Structural checks of the entity table, the rules an answer passes, and texts that can't be trusted."""

import msgspec
import pytest

from vlmrec.engine.reference import load_reference, versions
from vlmrec.schemas import load as load_schema
from vlmrec.stages.checks import ANSWER_RULES, Given
from vlmrec.stages.rules import check_group, parse_rules
from vlmrec.stages.table import TABLE_RULES, table_faults
from vlmrec.stages.text import discipline_flags, repetition, text_flags
from vlmrec.synth.make import gold_label, plan_clips, stage_clip
from vlmrec.synth.scenarios import SCENARIOS
from vlmrec.table import EntityTable, table_schema
from vlmrec.terms import Answer, Party, Status

RULES = parse_rules(load_schema("validation_rules.yaml"))
LEDGER = load_reference(versions()[-1]).ledger

SOUND = {
    "entities": [
        {
            "id": "e1",
            "kind": "car",
            "role": "counterpart",
            "descriptor": "white car ahead of e2",
            "first_seen": 0.5,
            "last_seen": 9.0,
            "heading": "parallel",
            "lane": 2,
            "boxes": [{"t": t, "box": [100 + 30 * t, 400, 300 + 30 * t, 600]} for t in range(1, 6)],
        },
        {"id": "e2", "kind": "truck", "boxes": [{"t": t, "box": [500, 400, 600, 600]} for t in range(1, 4)]},
    ],
    "contact_time": 4.5,
    "ego_lane": 1,
    "lane_count": 2,
    "camera_events": [{"t": 4.5, "kind": "shake"}],
}


def made(**changes: object) -> EntityTable:
    return msgspec.convert({**SOUND, **changes}, EntityTable)


def first(**changes: object) -> list[dict[str, object]]:
    one, two = SOUND["entities"]  # type: ignore[misc]
    return [{**one, **changes}, two]  # type: ignore[dict-item]


def rules_broken(table: EntityTable, duration_s: float = 10.0) -> list[str]:
    return [fault.rule for fault in table_faults(table, duration_s=duration_s)]


FROZEN = [{"t": float(t), "box": [100, 400, 300, 600]} for t in range(1, 6)]


@pytest.mark.parametrize(
    ("rule", "table"),
    [
        ("table_ids_unique", made(entities=first(id="e2"))),
        ("table_ids_referenced", made(entities=first(descriptor="behind e7"))),
        ("table_one_counterpart", made(entities=[{**e, "role": "counterpart"} for e in SOUND["entities"]])),  # type: ignore[attr-defined,dict-item]
        ("table_times_inside_clip", made(entities=first(last_seen=99.0))),
        ("table_times_inside_clip", made(camera_events=[{"t": 11, "kind": "cut"}])),
        ("table_span_ordered", made(entities=first(first_seen=9.5), contact_time=None)),
        ("table_box_ordered", made(entities=first(boxes=[{"t": 1, "box": [300, 400, 200, 600]}]))),
        ("table_box_not_frozen", made(entities=first(boxes=FROZEN))),
        ("table_contact_in_span", made(entities=first(last_seen=2.0))),
        ("table_lane_in_count", made(ego_lane=3)),
        ("table_lane_in_count", made(entities=first(lane=3))),
    ],
)
def test_each_structural_fault_is_found_by_its_own_rule(rule: str, table: EntityTable) -> None:
    assert rules_broken(table) == [rule]


def test_a_sound_table_has_no_fault_and_every_rule_is_tried() -> None:
    assert rules_broken(made()) == []
    tried = test_each_structural_fault_is_found_by_its_own_rule.pytestmark[0].args[1]  # type: ignore[attr-defined]
    assert {rule for rule, _ in tried} == set(TABLE_RULES)


def test_a_vehicle_that_stands_in_a_picture_in_which_nothing_moves_is_not_called_frozen() -> None:
    assert rules_broken(made(entities=first(boxes=FROZEN, descriptor="")[:1], contact_time=7.0)) == []
    assert rules_broken(made(entities=first(boxes=FROZEN, descriptor="")[:1], contact_time=4.5)) == [
        "table_box_not_frozen"
    ]
    beside = [first(boxes=FROZEN)[0], {**SOUND["entities"][0], "id": "e2", "role": "other"}]  # type: ignore[index]
    assert "table_box_not_frozen" in rules_broken(made(entities=beside, contact_time=None))


def test_labels_of_synthetic_clips_have_no_fault() -> None:
    for plan in plan_clips(seed=0, count=len(SCENARIOS)):
        table = gold_label(stage_clip(plan), LEDGER).stage0
        assert table is not None
        assert table_faults(table, duration_s=plan.duration) == (), plan.scenario


@pytest.mark.parametrize("box", [[-1, 0, 10, 10], [0, 0, 1001, 10]])
def test_boxes_outside_the_scale_are_refused_by_the_contract_itself(box: list[int]) -> None:
    with pytest.raises(msgspec.ValidationError, match="box"):
        made(entities=first(boxes=[{"t": 1, "box": box}]))


def test_the_contract_given_to_models_names_every_key_and_allows_no_other() -> None:
    schema = table_schema()
    tables = [each for each in schema["$defs"].values() if each["type"] == "object"]
    assert len(tables) == 4
    assert all(each["additionalProperties"] is False for each in tables)


def given(question: str, party: Party, value: str | None, reason: str | None = None, **more: object) -> Given:
    status = Status.OBSERVED if value is not None else Status.UNKNOWN
    return Given(Answer(question_id=question, party=party, status=status, value=value), reason, **more)  # type: ignore[arg-type]


def flagged(*group: Given, table: EntityTable | None = None) -> list[set[str]]:
    verdicts = check_group(RULES, LEDGER, group, {}, table=table, duration_s=10.0)
    return [{violation.rule for violation in verdict.violations} for verdict in verdicts]


COLLIDED = given("q_collision", Party.NONE, "vehicle_contact")
MOVES = given("q_maneuver", Party.OTHER, "lane_change")


@pytest.mark.parametrize(
    ("rule", "checked", "others", "table"),
    [
        ("domain", given("q_order", Party.NONE, "nowhere"), [], None),
        ("precondition", given("q_lane_change_direction", Party.OTHER, "left"),
         [given("q_maneuver", Party.OTHER, "u_turn"), given("q_overtaking", Party.OTHER, "none")], None),
        ("evidence_inside_clip", given("q_order", Party.NONE, "other_ahead", None, evidence_end=30.0), [], None),
        ("evidence_inside_window",
         given("q_order", Party.NONE, "other_ahead", None, evidence_start=8.0, window=(2.0, 5.0)), [], None),
        ("reason_names_chosen_code",
         given("q_order", Party.NONE, "other_ahead", "so self_ahead holds at 2 s"), [], None),
        ("reason_describes_another_motion",
         given("q_maneuver", Party.OTHER, "straight", "The other vehicle changes lanes at 3 s."), [], None),
        ("reason_against_collision",
         given("q_maneuver", Party.OTHER, "straight", "There is no collision in this clip."), [COLLIDED], None),
        ("reason_against_collision", given("q_order", Party.NONE, None, "충돌은 일어나지 않았다."),
         [given("q_lane_relation", Party.NONE, None, "두 차량이 4.2초에 충돌했다.")], None),
        ("reason_without_counterpart",
         given("q_order", Party.NONE, None, "영상에 상대 차량이 전혀 보이지 않는다."), [MOVES], None),
        ("reason_names_unknown_entity",
         given("q_order", Party.NONE, "other_ahead", "e9 is ahead of us"), [], made()),
        ("repetition", given("q_order", Party.NONE, "other_ahead", "x", repetition=0.9), [], None),
        ("table_move_of_nobody", MOVES, [], made(entities=first(role="other"))),
        ("table_heading_parallel", given("q_direction_relation", Party.NONE, "crossing"), [], made()),
        ("table_contact_present", given("q_collision", Party.NONE, "no_contact"), [], made()),
        ("collision_denied", given("q_contact_area", Party.SELF, "front"),
         [given("q_collision", Party.NONE, "no_contact")], None),
        ("stopped_yet_moving", given("q_maneuver", Party.SELF, "stopped"),
         [given("q_motion_at_contact", Party.SELF, "moving")], None),
    ],
)  # fmt: skip
def test_each_rule_reports_what_it_is_there_for(
    rule: str, checked: Given, others: list[Given], table: EntityTable | None
) -> None:
    assert rule in flagged(checked, *others, table=table)[0]


def test_answers_that_agree_break_no_rule() -> None:
    sound = [
        COLLIDED,
        given("q_maneuver", Party.OTHER, "lane_change", "At 3.1 s e1 changes lanes: lane_change."),
        given("q_order", Party.NONE, "other_ahead", None, evidence_start=1.0, evidence_end=2.0, window=(0.0, 5.0)),
    ]
    assert flagged(*sound, table=made()) == [set(), set(), set()]


def test_every_rule_of_the_file_is_about_questions_and_codes_of_some_ledger() -> None:
    ledgers = [load_reference(version).ledger for version in versions()]
    for rule in RULES.contradictions:
        for claim in (rule.one, rule.other):
            known = [ledger for ledger in ledgers if claim.question in ledger]
            assert known, f"{rule.id}: no ledger has {claim.question}"
            codes = {code for ledger in known for code in ledger.question(claim.question).codes}
            assert set(claim.values) <= codes, rule.id
    names = [rule.id for rule in (*RULES.contradictions, *RULES.table)]
    assert len(set(names) | set(ANSWER_RULES)) == len(names) + len(ANSWER_RULES)


@pytest.mark.parametrize(
    ("text", "flag"),
    [
        ("The car goes on and on in its lane. " * 12, "repetitive"),
        ("상대 차량이 차로를 유지하며 직진합니다. " * 12, "repetitive"),
        ("The two cars collide at 4.2 s. There is no collision between the cars.", "contradicts_collision"),
        ("두 차량이 4.2초에 충돌했다. 충돌은 일어나지 않았다.", "contradicts_collision"),
        ("No other vehicle is visible in the clip. The white car changes lanes.", "contradicts_counterpart"),
    ],
)
def test_text_that_repeats_or_contradicts_itself_is_flagged(text: str, flag: str) -> None:
    assert flag in text_flags(text)


@pytest.mark.parametrize(
    "text",
    [
        "At 2.1 s the other vehicle moves from lane 2 to lane 1; at 4.2 s the two vehicles collide.",
        "2.1초에 상대 차량이 2차로에서 1차로로 진로를 변경하고, 4.2초에 두 차량이 충돌한다.",
        "",
    ],
)
def test_ordinary_text_is_not_flagged(text: str) -> None:
    assert text_flags(text) == ()
    assert repetition(text) in (None, 0.0)


def test_grounding_asks_for_no_forbidden_words_and_for_code_and_time() -> None:
    loose = "It comes from the left."
    assert discipline_flags(loose, "crossing", grounding=1) == ()
    assert discipline_flags(loose, "crossing", grounding=2) == ("forbidden_words",)
    assert discipline_flags("왼쪽에서 온다", "crossing", grounding=3) == (
        "forbidden_words",
        "code_not_cited",
        "time_not_cited",
    )
    assert discipline_flags("Lane 2 to lane 1 from 2.1 s on: lane_change.", "lane_change", grounding=3) == ()
    assert discipline_flags("It can't be seen.", None, grounding=3) == ()
