"""What every scenario promises, over many seeds, before a single pixel is drawn."""

import re
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from vlmrec.engine.core import evaluate
from vlmrec.engine.reference import Reference, load_reference, versions
from vlmrec.errors import InputError
from vlmrec.gold import OUT_OF_SCOPE, GoldLabel, decode_label, encode_label, label_name
from vlmrec.protocol import EngineStatus, EvaluateRequest
from vlmrec.synth.make import Staged, gold_label, plan_clips, stage_clip, varied
from vlmrec.synth.motion import first_contact, separation
from vlmrec.synth.scenarios import SCENARIOS, summary
from vlmrec.terms import Party, Status

SEEDS = 3
LOADS = ("falling_load",)


@pytest.fixture(scope="module")
def reference() -> Reference:
    return load_reference("0.1.3")


@cache
def staged(name: str, *, seed: int = 400, count: int = SEEDS) -> list[Staged]:
    return [stage_clip(plan) for plan in plan_clips(seed=seed, count=count, scenarios=[name])]


@pytest.mark.parametrize("version", versions())
@pytest.mark.parametrize("name", list(SCENARIOS))
def test_the_gold_answers_lead_every_engine_to_the_gold_leaf_and_share(name: str, version: str) -> None:
    """Two independent sources: the chart is a table by hand, the answers are facts of the motion."""
    reference = load_reference(version)
    for clip in staged(name, count=2):
        label = gold_label(clip, reference.ledger)
        reply = evaluate(reference, EvaluateRequest(answers=tuple(each.answer for each in label.answers)))
        if label.gold_leaf == OUT_OF_SCOPE:
            assert reply.status is EngineStatus.OUT_OF_SCOPE
            continue
        assert reply.status in (EngineStatus.CONFIRMED, EngineStatus.LEADING)
        assert [(each.chart, each.fault.self_) for each in reply.candidates] == [(label.gold_leaf, label.self_fault)]


@pytest.mark.parametrize("name", list(SCENARIOS))
def test_the_two_vehicles_touch_at_the_stated_time_and_not_deep(name: str) -> None:
    for clip in staged(name):
        scene = clip.plot.scene
        if scene.counterpart is None or name in LOADS:
            continue
        found = first_contact(scene.ego.track, scene.ego.body, scene.counterpart.track, scene.counterpart.body)
        assert scene.contact is not None
        assert found == pytest.approx(scene.contact, abs=0.07)
        depth = separation(scene.ego.track, scene.ego.body, scene.counterpart.track, scene.counterpart.body).min()
        assert depth > -0.9


@pytest.mark.parametrize("name", list(SCENARIOS))
def test_nobody_but_the_counterpart_touches_anybody(name: str) -> None:
    for clip in staged(name, count=3):
        scene = clip.plot.scene
        cast = [scene.ego, *scene.vehicles]
        for index, one in enumerate(cast):
            for two in cast[index + 1 :]:
                if {one.id, two.id} == {"ego", "e1"} and scene.counterpart is not None:
                    continue
                gap = float(np.min(separation(one.track, one.body, two.track, two.body)))
                assert gap > -0.05, f"{clip.plan.scenario} {clip.plan.index}: {one.id} meets {two.id}"


@pytest.mark.parametrize("name", list(SCENARIOS))
def test_every_question_of_the_ledger_has_an_answer_and_the_label_is_valid(name: str, reference: Reference) -> None:
    clip = staged(name, count=1)[0]
    label = gold_label(clip, reference.ledger)
    assert tuple(each.key for each in label.answers) == reference.ledger.turns
    assert decode_label(encode_label(label), name=label_name(label)) == label
    for each in label.answers:
        question = reference.ledger.question(each.question_id)
        if each.status is Status.OBSERVED:
            assert each.value in question.codes
            assert each.evidence_start is not None
            assert each.evidence_end is not None
            assert 0 <= each.evidence_start <= each.evidence_end <= clip.plan.duration
        if not question.observable:
            assert each.status in (Status.UNKNOWN, Status.NOT_APPLICABLE)


def test_a_counterpart_that_is_never_in_the_picture_is_off_screen(reference: Reference) -> None:
    label = gold_label(staged("rear_end_struck", count=1)[0], reference.ledger)
    answers = {each.key: each for each in label.answers}
    assert answers[("q_maneuver", Party.OTHER)].status is Status.OFF_SCREEN
    assert answers[("q_maneuver", Party.SELF)].value == "stopped"
    counterpart = next(each for each in _entities(label) if each.role == "counterpart")
    assert counterpart.first_seen is None


def _entities(label: GoldLabel):  # type: ignore[no-untyped-def]
    assert label.stage0 is not None
    return label.stage0.entities


def test_boxes_lie_in_the_picture_and_the_counterparts_grows_until_contact(reference: Reference) -> None:
    label = gold_label(staged("rear_end", count=1)[0], reference.ledger)
    for entity in _entities(label):
        for each in entity.boxes:
            x0, y0, x1, y1 = each.box
            assert 0 <= x0 < x1 <= 1000
            assert 0 <= y0 < y1 <= 1000
    counterpart = next(each for each in _entities(label) if each.role == "counterpart")
    areas = {each.t: (each.box[2] - each.box[0]) * (each.box[3] - each.box[1]) for each in counterpart.boxes}
    assert label.stage0 is not None
    assert max(areas, key=areas.__getitem__) == pytest.approx(label.stage0.contact_time, abs=1.0)


def test_the_look_is_drawn_without_knowing_the_scenario() -> None:
    """The same seed and number look the same whatever happens in the clip, and the paints don't depend on roles."""
    looks = [stage_clip(plan_clips(seed=7, count=1, scenarios=[name])[0]).look for name in ("rear_end", "oncoming")]
    assert looks[0].light == looks[1].light
    assert looks[0].mount == looks[1].mount
    assert looks[0].paints[0] == looks[1].paints[0]


def test_varying_one_thing_leaves_all_else_as_it_was() -> None:
    plans = plan_clips(
        seed=3, count=1, scenarios=["lane_change_from_left"], vary={"lane_change_s": ["3.5", "1.2"], "light": ["day"]}
    )
    slow, quick = (stage_clip(plan) for plan in plans)
    assert slow.drawn["lane_change_s"] == 3.5
    assert quick.drawn["lane_change_s"] == 1.2
    assert {key for key in slow.drawn if slow.drawn[key] != quick.drawn[key]} == {"lane_change_s"}
    assert slow.look.mount == quick.look.mount
    assert len({plan.clip_id for plan in plans}) == 2


def test_picture_size_and_rate_can_be_varied() -> None:
    plans = plan_clips(
        seed=3, count=1, scenarios=["rear_end"], vary={"fps": ["5", "30"], "width": ["640"], "height": ["360"]}
    )
    assert [(plan.fps, plan.width, plan.height) for plan in plans] == [(5, 640, 360), (30, 640, 360)]


def test_all_scenarios_take_turns_before_one_comes_again() -> None:
    plans = plan_clips(seed=1, count=2 * len(SCENARIOS))
    first, second = plans[: len(SCENARIOS)], plans[len(SCENARIOS) :]
    assert {plan.scenario for plan in first} == {plan.scenario for plan in second} == set(SCENARIOS)


def test_clip_names_say_nothing_about_the_scenario() -> None:
    names = [plan_clips(seed=9, count=1, scenarios=[name])[0].clip_id for name in SCENARIOS]
    assert all(re.fullmatch("clip_[0-9a-f]{10}", name) for name in names)
    assert len(set(names)) == len(SCENARIOS)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"scenarios": ["lane_chnge"]}, "expected one of lane_change_from_left"),
        ({"vary": {"lane_speed": ["1"]}}, "lane_speed.*it has"),
        ({"vary": {"light": ["noon"]}}, "expected one of day"),
        ({"vary": {"lane_change_s": ["quick"]}}, "expected a number"),
        ({"vary": {"fps": ["x"]}}, "whole number"),
        ({"duration": 2.0}, "expected 6 to 60 seconds"),
        ({"vary": {"lane_change_s": ["30"]}}, "expected 0.6 to"),
        ({"vary": {"lane_change_s": ["nan"]}}, "expected 0.6 to"),
        ({"vary": {"lane_change_s": ["7"], "contact_share": ["0.4"]}}, "begin before the clip"),
        ({"width": 641}, "an even number"),
    ],
)
def test_a_wrong_wish_is_refused_before_anything_is_rendered(change: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        plan_clips(**{"seed": 1, "count": 1, "scenarios": ["lane_change_from_left"], **change})  # type: ignore[arg-type]


@pytest.mark.parametrize("text", ["lane_change_s", "=1", "lane_change_s=", "lane_change_s=1,,2"])
def test_a_malformed_variation_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="expected KEY=A,B"):
        varied([text])


@pytest.mark.parametrize("version", versions())
def test_gold_can_be_made_for_every_embedded_ledger(version: str) -> None:
    target = load_reference(version)
    for name in ("start_roadside", "overtake_solid_line", "lane_change_from_right"):
        label = gold_label(staged(name, count=1)[0], target.ledger)
        assert label.data_version == target.data_version
        for each in label.answers:
            if each.value is not None:
                assert each.value in target.ledger.question(each.question_id).codes


def test_scenarios_describe_themselves_in_a_line() -> None:
    assert all(len(summary(name)) > 20 for name in SCENARIOS)


def test_the_documentation_names_every_scenario() -> None:
    page = (Path(__file__).parents[3] / "docs" / "synth.md").read_text("utf-8")
    assert all(f"`{name}`" in page for name in SCENARIOS)


@pytest.mark.deep
def test_over_many_seeds_leaf_and_share_agree_with_the_engine_and_nothing_is_left_to_ask(reference: Reference) -> None:
    for plan in plan_clips(seed=12, count=30 * len(SCENARIOS)):
        label = gold_label(stage_clip(plan), reference.ledger)
        reply = evaluate(reference, EvaluateRequest(answers=tuple(each.answer for each in label.answers)))
        where = f"{plan.scenario}, seed {plan.seed}, number {plan.index}"
        if label.gold_leaf == OUT_OF_SCOPE:
            assert reply.status is EngineStatus.OUT_OF_SCOPE, where
            continue
        found = [(each.chart, each.fault.self_) for each in reply.candidates]
        assert found == [(label.gold_leaf, label.self_fault)], where
        assert reply.next_question is None, where
