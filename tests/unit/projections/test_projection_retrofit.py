"""Descriptions mapped to codes: negation, tense, and who did it."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from runbuilder import RunBuilder
from samples import label, labels

from vlmrec.commands.retrofit import command
from vlmrec.events import ClipSource, RunStarted
from vlmrec.gold import write_gold
from vlmrec.projections.core import project
from vlmrec.projections.describe_rules import describe_map, without_code
from vlmrec.projections.retrofit import RetrofitDescribeMap
from vlmrec.terms import Party

CODES = ("straight", "lane_change", "turn_left", "turn_right", "u_turn", "stopped", "reversing")


@pytest.mark.parametrize(
    ("party", "text", "code"),
    [
        ("other", "The white car moves from lane 2 to lane 1.", "lane_change"),
        ("other", "흰색 승용차가 2차로에서 1차로로 이동했다.", "lane_change"),
        ("other", "The white car changes lanes in front of us.", "lane_change"),
        ("other", "The white car does not change lanes, it goes straight.", "straight"),
        ("other", "The other vehicle is about to change lanes but stays in its lane.", "straight"),
        ("other", "The ego vehicle changes lanes. The other vehicle goes straight.", "straight"),
        ("self", "The ego vehicle changes lanes. The other vehicle goes straight.", "lane_change"),
        ("other", "Initially the other car was parked, then it turns left.", "turn_left"),
        ("other", "The other car goes straight and then merges into our lane.", "lane_change"),
        ("other", "The other car makes a U-turn and stops.", None),
        ("other", 'The prompt says "changes lanes", the sedan is stationary.', "stopped"),
        ("other", "It may be turning right.", None),
        ("other", "상대 차량이 옆 차로에서 차로를 변경했다.", "lane_change"),
        ("other", "상대 차량은 차로를 변경하지 않고 직진했다.", "straight"),
        ("other", "블랙박스 차량이 차로를 변경하고, 상대 차량은 직진한다.", "straight"),
        ("self", "블랙박스 차량이 차로를 변경하고, 상대 차량은 직진한다.", "lane_change"),
        ("other", "상대 차량이 좌회전하려고 했으나 직진했다.", "straight"),
        ("other", "상대 차량은 처음에 정차해 있었다. 그 뒤 유턴했다.", "u_turn"),
        ("other", "상대 차량이 끼어들었다.", "lane_change"),
        ("other", "상대 차량이 후진하는지 확인되지 않는다.", None),
        ("other", "앞차가 멈춰 서 있었다.", "stopped"),
        ("other", "도로가 젖어 있다.", None),
    ],
)
def test_a_description_maps_to_what_it_asserts_of_the_right_vehicle(party: str, text: str, code: str | None) -> None:
    assert describe_map("q_maneuver", text, Party(party), CODES).code == code


def test_codes_that_are_not_among_the_options_are_never_given() -> None:
    assert describe_map("q_maneuver", "The other car turns left.", Party.OTHER, ("straight", "stopped")).code is None


@pytest.mark.parametrize(
    "text",
    ["The answer is straight. The car moves into the left lane.", "`straight`: the car moves into the left lane.",
     "Answer: straight, because the car moves into the left lane."],
)  # fmt: skip
def test_the_chosen_code_is_taken_out_before_mapping(text: str) -> None:
    assert describe_map("q_maneuver", without_code(text, CODES), Party.OTHER, CODES).code == "lane_change"


def retrofitted_run() -> RunBuilder:
    run = RunBuilder(clips=["recovered", "right", "wrong", "broken", "unmapped", "silent"])
    said = {
        "recovered": ("straight", "The other car changes lanes."),
        "right": ("lane_change", "The other car merges."),
        "wrong": ("straight", "The other car turns left."),
        "broken": ("lane_change", "The other car goes straight on."),
        "unmapped": ("lane_change", "The road is wet."),
        "silent": ("lane_change", None),
    }
    for clip, (value, text) in said.items():
        run.clip(clip).turn("q_maneuver", "other", value=value, explanation=text, options=CODES)
    return run


def test_choice_and_mapping_are_compared_with_the_label() -> None:
    run = retrofitted_run()
    gold = labels(*(label(s.clip_id, answers={("q_maneuver", "other"): "lane_change"}) for s in _sources(run)))
    one = project(RetrofitDescribeMap(gold), [run.log()]).result
    assert one.counts == {"recovered": 1, "kept_right": 1, "kept_wrong": 1, "broken": 1, "unmapped": 1}
    assert (one.chosen_right, one.mapped_right, one.without_text) == (0.6, 0.4, 1)


def test_reasoning_is_used_where_the_reason_tells_nothing() -> None:
    run = RunBuilder(clips=["c"])
    run.clip("c").turn("q_maneuver", "other", value="straight", reasoning="The other car cuts in.", options=CODES)
    gold = labels(label("c", answers={("q_maneuver", "other"): "lane_change"}))
    assert project(RetrofitDescribeMap(gold), [run.log()]).result.counts["recovered"] == 1


def test_the_command_prints_sums_and_changed_turns(tmp_path: Path) -> None:
    run = retrofitted_run()
    for source in _sources(run):
        write_gold(tmp_path / "gold", label(source.clip_id, answers={("q_maneuver", "other"): "lane_change"}))
    arguments = ["describe-map", str(run.write(tmp_path)), "--gold", str(tmp_path / "gold")]
    printed = CliRunner().invoke(command, arguments)
    assert printed.exit_code == 0, printed.output
    assert "recovered" in printed.stdout
    assert json.loads(CliRunner().invoke(command, [*arguments, "--json"]).stdout)["counts"]["broken"] == 1


def _sources(run: RunBuilder) -> tuple[ClipSource, ...]:
    started = run.events[0].data
    assert isinstance(started, RunStarted)
    return started.manifest.clips
