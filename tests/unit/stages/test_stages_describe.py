"""Descriptions, mapped to codes by declared rules: what is denied, earlier, another's or unsaid is never guessed."""

from random import Random

import pytest
from stage_simulator import Simulation, make_context
from test_stages_core import KNOWN

from vlmrec.engine.reference import load_reference, versions
from vlmrec.events import AnswerAccepted, ClipFinished, ReplyParsed
from vlmrec.stages.condition import Condition
from vlmrec.stages.describe import map_description
from vlmrec.stages.describe_scene import SCENE
from vlmrec.stages.effects import SendCall
from vlmrec.stages.replay import replay_clip
from vlmrec.terms import Party, Status

LEDGER = load_reference(versions()[-1]).ledger


def said(question: str, party: Party, text: str) -> str | None:
    described = map_description(question, text, party, LEDGER.question(question).codes)
    return described.value or (described.status.value if described.status is not None else None)


@pytest.mark.parametrize(
    ("question", "party", "text", "expected"),
    [
        ("q_collision", Party.NONE, "At 4.2 s the two cars collide.", "vehicle_contact"),
        ("q_collision", Party.NONE, "4.2초에 두 차량이 충돌한다.", "vehicle_contact"),
        ("q_collision", Party.NONE, "The cars pass and do not collide.", "no_contact"),
        ("q_collision", Party.NONE, "두 차량은 충돌하지 않는다.", "no_contact"),
        ("q_collision", Party.NONE, "A falling object from the truck strikes the bonnet.", "object_contact"),
        ("q_collision", Party.NONE, "They collide at 3 s. There is no collision.", "unknown"),
        ("q_collision", Party.NONE, "Whether they collide is not visible.", "unknown"),
        ("q_collision", Party.NONE, "The road is wet.", None),
        ("q_vehicle_kind", Party.OTHER, "The other vehicle is a white truck.", "truck"),
        ("q_vehicle_kind", Party.OTHER, "상대 차량은 흰색 승용차다.", "car"),
        ("q_vehicle_kind", Party.OTHER, "A bus stands at the kerb.", None),
        ("q_direction_relation", Party.NONE, "Both drive in the same direction.", "same_direction"),
        ("q_direction_relation", Party.NONE, "상대 차량이 마주 오고 있다.", "oncoming"),
        ("q_direction_relation", Party.NONE, "It is not oncoming.", None),
        ("q_order", Party.NONE, "상대 차량이 앞에서 달린다.", "other_ahead"),
        ("q_order", Party.NONE, "They drive side by side.", "side_by_side"),
        ("q_maneuver", Party.OTHER, "The other vehicle changes lanes at 3 s.", "lane_change"),
        ("q_maneuver", Party.OTHER, "The ego vehicle changes lanes.", None),
        ("q_maneuver", Party.OTHER, "The other vehicle did not change lanes.", None),
        ("q_maneuver", Party.OTHER, "At first the other vehicle turned left.", None),
        ("q_maneuver", Party.OTHER, "상대 차량이 2차로에서 1차로로 차로를 변경한다.", "lane_change"),
        ("q_maneuver", Party.OTHER, "상대 차량은 화면 밖에 있다.", "off_screen"),
        ("q_turn_signal", Party.OTHER, "Its lamps are hidden by a truck.", "occluded"),
        ("q_turn_signal", Party.OTHER, "Its lamps are round.", None),
    ],
)
def test_a_description_is_mapped_by_what_it_asserts(
    question: str, party: Party, text: str, expected: str | None
) -> None:
    assert said(question, party, text) == expected


def test_every_declared_code_is_one_of_the_ledger() -> None:
    for question, rules in SCENE.items():
        assert {rule.code for rule in rules} <= set(LEDGER.question(question).codes)


TOLD = {
    "q_collision": "At 4 s the two vehicles collide.",
    "q_direction_relation": "Both drive in the same direction.",
    "q_vehicle_kind": "The other vehicle is a grey sedan.",
    "q_lane_relation": "They are in adjacent lanes.",
    "q_order": "The other vehicle is ahead.",
}


def test_a_run_in_describe_mode_accepts_what_maps_and_leaves_the_rest_unanswered() -> None:
    def script(call: SendCall) -> str:
        if call.turn.question_id == "q_maneuver":
            who = "other" if call.turn.party is Party.OTHER else "ego"
            motion = {"lane_change": "changes lanes", "straight": "goes straight"}
            return f"The {who} vehicle {motion[KNOWN['q_maneuver', call.turn.party.value]]} at 3 s."
        return TOLD.get(call.turn.question_id, "The weather is fine.")

    run = Simulation(make_context(Condition(mode="describe-map", language="en")), script, Random(0)).run()
    accepted = {each.ref.key: each for each in run.of(AnswerAccepted)}  # type: ignore[attr-defined]
    assert accepted["q_order", Party.NONE].value == "other_ahead"  # type: ignore[attr-defined]
    assert accepted["q_maneuver", Party.OTHER].value == "lane_change"  # type: ignore[attr-defined]
    assert accepted["q_order", Party.NONE].explanation == TOLD["q_order"]  # type: ignore[attr-defined]
    unread = [each for each in run.of(ReplyParsed) if each.outcome == "no_answer"]  # type: ignore[attr-defined]
    assert unread
    assert {each.reason for each in unread} == {"unmapped"}  # type: ignore[attr-defined]
    assert not {(each.question_id, each.party) for each in unread} & {tuple(key) for key in accepted}  # type: ignore[attr-defined]
    (finished,) = run.of(ClipFinished)
    assert isinstance(finished, ClipFinished)
    assert finished.incomplete
    assert replay_clip(run.context, "clip", run.events, run.bodies).difference is None


def test_a_description_of_several_motions_is_unknown_and_says_so() -> None:
    said = map_description(
        "q_order",
        "The other vehicle is ahead. Later they drive side by side.",
        Party.NONE,
        ("other_ahead", "side_by_side"),
    )
    assert (said.status, said.value, said.told) == (Status.UNKNOWN, None, ("other_ahead", "side_by_side"))
