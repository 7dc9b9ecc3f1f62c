"""The decision core, clip by clip: rounds, votes, skips, failures, and orders of arrival that change nothing."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from stage_simulator import TIME, Simulation, answer, failed_call, make_context, reply_body

from vlmrec.canonical import canonical_json
from vlmrec.events import (
    AnswerAccepted,
    AnswerGiven,
    AnswerValidated,
    CallFailed,
    CallRequested,
    ClipFailed,
    ClipFinished,
    ClipReopened,
    EngineSubmitted,
    Provenance,
    ReplyParsed,
    SamplesVoted,
    Stage,
    TableChecked,
    TurnOpened,
    make_event,
)
from vlmrec.protocol import EngineStatus
from vlmrec.stages.condition import Condition
from vlmrec.stages.effects import SendCall
from vlmrec.stages.replay import replay_clip
from vlmrec.terms import Party, Status

KNOWN = {
    ("q_collision", "none"): "vehicle_contact",
    ("q_direction_relation", "none"): "same_direction",
    ("q_vehicle_kind", "other"): "car",
    ("q_lane_relation", "none"): "adjacent_lane",
    ("q_order", "none"): "other_ahead",
    ("q_maneuver", "other"): "lane_change",
    ("q_maneuver", "self"): "straight",
    ("q_lane_ends", "other"): "no",
    ("q_safety_zone", "self"): "not_crossed",
    ("q_safety_zone", "other"): "not_crossed",
    ("q_prior_stop_kind", "other"): "none",
    ("q_prior_stop_kind", "self"): "none",
    ("q_overtaking", "other"): "none",
    ("q_overtaking", "self"): "none",
    ("q_target_lane_relation", "other"): "rivals_lane",
    ("q_motion_at_contact", "self"): "moving",
    ("q_motion_at_contact", "other"): "moving",
}


def known(call: SendCall) -> str:
    value = KNOWN.get((call.turn.question_id, call.turn.party.value))
    return answer("observed", value) if value else answer("unknown")


def test_a_clip_goes_through_its_gates_and_then_one_question_a_round_until_the_engine_has_none() -> None:
    run = Simulation(make_context(), known, Random(0)).run()
    rounds = [(turn.round, turn.question_id) for turn in run.of(TurnOpened)]  # type: ignore[attr-defined]
    assert [name for number, name in rounds if number == 1] == ["q_collision", "q_vehicle_kind", "q_direction_relation"]
    assert [number for number, _ in rounds if number > 1] == list(range(2, 2 + len(rounds) - 3))
    (finished,) = run.of(ClipFinished)
    assert isinstance(finished, ClipFinished)
    assert finished.outcome is EngineStatus.CONFIRMED or finished.outcome is EngineStatus.LEADING
    assert {candidate.chart for candidate in finished.candidates} == {"차43-2"}
    assert not finished.incomplete


@given(st.integers(0, 2**32), st.integers(0, 2**32), st.sampled_from(["1", "3"]))
def test_the_order_in_which_replies_arrive_changes_no_request_and_no_decision(
    one: int, other: int, samples: str
) -> None:
    context = make_context(Condition(repetition=samples))

    def script(call: SendCall) -> str:
        return known(call) if call.sample != 1 else answer("unknown")

    first, second = (Simulation(context, script, Random(seed)).run() for seed in (one, other))
    assert first.decisions() == second.decisions()
    assert [data for data in first.of(EngineSubmitted)] == [data for data in second.of(EngineSubmitted)]  # noqa: C416


@given(st.integers(0, 2**32), st.data())
def test_a_crash_after_any_event_and_a_resume_end_as_if_nothing_had_happened(seed: int, data: st.DataObject) -> None:
    context = make_context()
    whole = Simulation(context, known, Random(seed)).run()
    cut = data.draw(st.integers(0, len(whole.events)))
    crashed = Simulation(context, known, Random(seed), events=whole.events[:cut])
    crashed.stored.update(whole.stored)
    for requested in open_calls(crashed.events):
        closed = failing_for(requested, crash=True)
        crashed._apply(make_event(closed, clip="clip", time=TIME))
    crashed.run()
    assert {key: data for key, data in crashed.decisions().items() if not key.startswith("reply.parsed")} == {
        key: data for key, data in whole.decisions().items() if not key.startswith("reply.parsed")
    }
    report = replay_clip(context, "clip", crashed.events, crashed.bodies)
    assert report.difference is None
    assert report.unwritten == 0


def open_calls(events: list) -> list[CallRequested]:  # type: ignore[type-arg]
    from vlmrec.stages.resume import open_requests

    return [requested for _, requested in open_requests(events)]


def failing_for(requested: CallRequested, *, crash: bool) -> CallFailed:
    from vlmrec.stages.calls import crashed_payload

    assert crash
    return crashed_payload(requested)


@given(st.integers(0, 2**32), st.sampled_from(["S0", "S1", "S2"]), st.sampled_from(["1", "3"]))
def test_replaying_the_inputs_reproduces_every_decision(seed: int, stages: str, samples: str) -> None:
    context = make_context(Condition(stages=stages[1], repetition=samples))
    chance = Random(seed)

    def script(call: SendCall) -> str:
        if call.turn.stage is Stage.TABLE:
            return '{"entities": [], "contact_time": 4.0}'
        if call.turn.stage is Stage.SCENE:
            return "Two cars drive side by side; at 4 s they touch."
        draw = chance.random()
        if draw < 0.1:
            return "no idea"
        if draw < 0.4:
            return answer("occluded")
        code = chance.choice(call.turn.options).code
        return answer("observed", code, evidence_start=1, evidence_end=30 * chance.random())

    run = Simulation(context, script, chance).run()
    report = replay_clip(context, "clip", run.events, run.bodies)
    assert report.difference is None
    assert report.unwritten == 0
    assert report.decisions == len(run.decisions()) > 5


def test_a_changed_decision_is_named_by_replay() -> None:
    context = make_context()
    run = Simulation(context, known, Random(0)).run()
    place = next(index for index, event in enumerate(run.events) if isinstance(event.data, AnswerAccepted))
    accepted = run.events[place].data
    assert isinstance(accepted, AnswerAccepted)
    changed = AnswerAccepted(**{**{name: getattr(accepted, name) for name in accepted.__struct_fields__}, "value": "x"})
    events = [*run.events[:place], run.events[place]._replace(data=changed), *run.events[place + 1 :]]
    difference = replay_clip(context, "clip", events, run.bodies).difference
    assert difference is not None
    assert difference.stored == run.events[place].id
    assert "value" in difference.detail


def test_a_question_that_nothing_on_screen_can_answer_is_never_put_to_the_model() -> None:
    asked: set[str] = set()

    def script(call: SendCall) -> str:
        asked.add(call.turn.question_id)
        return known(call)

    context = make_context(source="model")
    unobservable = {question.id for question in context.ledger.questions if not question.observable}
    Simulation(context, script, Random(0)).run()
    assert unobservable
    assert not asked & unobservable


def test_a_turn_whose_every_sample_is_unusable_is_skipped_and_the_clip_is_incomplete() -> None:
    def script(call: SendCall) -> str:
        return "I can't tell" if call.turn.question_id == "q_order" else known(call)

    run = Simulation(make_context(Condition(repetition="3")), script, Random(0)).run()
    (vote,) = [vote for vote in run.of(SamplesVoted) if vote.question_id == "q_order"]  # type: ignore[attr-defined]
    assert isinstance(vote, SamplesVoted)
    assert (vote.outcome, vote.n, vote.usable) == ("unusable", 3, 0)
    assert not [each for each in run.of(AnswerAccepted) if each.question_id == "q_order"]  # type: ignore[attr-defined]
    (finished,) = run.of(ClipFinished)
    assert isinstance(finished, ClipFinished)
    assert finished.incomplete


def test_a_truncated_reply_is_a_stored_outcome_and_is_not_asked_again() -> None:
    def script(call: SendCall) -> str:
        if call.turn.question_id == "q_order":
            return reply_body('{"status": "observed", "val', finish_reason="length").decode()
        return known(call)

    run = Simulation(make_context(), script, Random(0)).run()
    (parsed,) = [each for each in run.of(ReplyParsed) if each.question_id == "q_order"]  # type: ignore[attr-defined]
    assert isinstance(parsed, ReplyParsed)
    assert (parsed.outcome, parsed.reason) == ("no_answer", "truncated")
    assert len([each for each in run.of(CallRequested) if each.question_id == "q_order"]) == 1  # type: ignore[attr-defined]


@pytest.mark.parametrize("stages", ["0", "2"])
@pytest.mark.parametrize(
    ("start", "end", "flags"),
    [
        (2.0, 4.0, ()),
        (4.0, 4.0, ()),
        (9.0, 10.4, ()),  # the clip is of 10 s, and models round
        (4.0, 2.0, ("evidence_backwards",)),
        (9.0, 11.0, ("evidence_outside_clip",)),
        (-1.0, None, ("evidence_outside_clip",)),
        (30.0, 20.0, ("evidence_backwards", "evidence_outside_clip")),
        (None, 3600.0, ("evidence_outside_clip",)),
    ],
)
def test_cited_times_that_cannot_be_so_are_flagged_and_stay_as_cited(
    stages: str, start: float | None, end: float | None, flags: tuple[str, ...]
) -> None:
    def script(call: SendCall) -> str:
        if call.turn.question_id == "q_order":
            return answer("observed", "other_ahead", evidence_start=start, evidence_end=end)
        return known(call)

    run = Simulation(make_context(Condition(stages=stages)), script, Random(0)).run()  # type: ignore[arg-type]
    (parsed,) = [each for each in run.of(ReplyParsed) if each.question_id == "q_order"]  # type: ignore[attr-defined]
    assert isinstance(parsed, ReplyParsed)
    assert parsed.flags == flags
    assert (parsed.evidence_start, parsed.evidence_end) == (start, end)
    validated = [each for each in run.of(AnswerValidated) if each.question_id == "q_order"]  # type: ignore[attr-defined]
    if stages == "2":  # its rule says the same
        (verdict,) = validated
        assert isinstance(verdict, AnswerValidated)
        assert bool(flags) is any(each.rule == "evidence_inside_clip" for each in verdict.violations)


def test_disagreeing_samples_become_unknown() -> None:
    def script(call: SendCall) -> str:
        if call.turn.question_id == "q_order":
            return answer("observed", ["self_ahead", "other_ahead", "side_by_side"][int(call.sample)])
        return known(call)

    run = Simulation(make_context(Condition(repetition="3")), script, Random(0)).run()
    accepted = next(each for each in run.of(AnswerAccepted) if each.question_id == "q_order")  # type: ignore[attr-defined]
    assert isinstance(accepted, AnswerAccepted)
    assert (accepted.status, accepted.value) == (Status.UNKNOWN, None)


def test_n_samples_in_one_call_are_read_from_its_choices() -> None:
    def script(call: SendCall) -> str:
        assert call.sample == "all"
        text = known(call)
        return reply_body("", texts=[text, text, answer("unknown")]).decode()

    context = make_context(Condition(repetition="3"), n_in_one_call=True)
    run = Simulation(context, script, Random(0)).run()
    assert all(vote.usable == 3 for vote in run.of(SamplesVoted))  # type: ignore[attr-defined]
    assert len(run.of(ReplyParsed)) == 3 * len(run.of(CallRequested))


@pytest.mark.parametrize(("transient", "retryable"), [(True, True), (False, False)])
def test_a_call_that_finally_fails_fails_the_clip_once_nothing_is_in_flight(transient: bool, retryable: bool) -> None:
    def script(call: SendCall) -> "str | CallFailed":
        if call.turn.question_id == "q_vehicle_kind":
            return failed_call(call, final=True, transient=transient)
        return known(call)

    for seed in range(5):
        run = Simulation(make_context(), script, Random(seed)).run()
        failed = run.events[-1].data
        assert isinstance(failed, ClipFailed)
        assert (failed.cause, failed.retryable) == ("call", retryable)
        assert run.state.in_flight == 0


def test_a_failure_that_is_not_final_sends_the_next_attempt_under_the_same_key() -> None:
    def script(call: SendCall) -> "str | CallFailed":
        if call.turn.question_id == "q_order" and call.attempt < 3:
            return failed_call(call, final=False)
        return known(call)

    run = Simulation(make_context(), script, Random(0)).run()
    attempts = [each.attempt for each in run.of(CallRequested) if each.question_id == "q_order"]  # type: ignore[attr-defined]
    assert attempts == [1, 2, 3]
    assert isinstance(run.events[-1].data, ClipFinished)


def test_a_reopened_clip_sends_only_what_is_missing() -> None:
    down = {"q_order"}

    def script(call: SendCall) -> "str | CallFailed":
        return failed_call(call, final=True) if call.turn.question_id in down else known(call)

    run = Simulation(make_context(), script, Random(0)).run()
    assert isinstance(run.events[-1].data, ClipFailed)
    before = len(run.of(CallRequested))
    down.clear()
    run._apply(make_event(ClipReopened(ordinal=1, reason="retry"), clip="clip", time=TIME))
    run.run()
    assert isinstance(run.events[-1].data, ClipFinished)
    after = run.of(CallRequested)[before:]
    assert after[0].question_id == "q_order"  # type: ignore[attr-defined]
    assert after[0].attempt == 2  # type: ignore[attr-defined]
    assert replay_clip(run.context, "clip", run.events, run.bodies).difference is None


def test_the_first_call_of_a_prefix_goes_alone_and_the_others_follow_its_reply() -> None:
    run = Simulation(make_context(), known, Random(3)).run()
    kinds = [event.data.type for event in run.events if event.data.type.startswith("call.")]
    assert kinds[:2] == ["call.requested", "call.completed"]


def test_gates_that_contradict_each_other_are_both_demoted_before_the_first_submission() -> None:
    def script(call: SendCall) -> str:
        if call.turn.stage is Stage.TABLE:
            return '{"entities": []}'
        if call.turn.question_id == "q_vehicle_kind":
            return answer("observed", "pedestrian")
        return known(call)

    run = Simulation(make_context(Condition(stages="2")), script, Random(0)).run()
    demoted = {each.question_id for each in run.of(AnswerAccepted) if each.demoted_by == "kind_is_no_vehicle_gate"}  # type: ignore[attr-defined]
    assert demoted == {"q_vehicle_kind", "q_direction_relation"}
    first = run.of(EngineSubmitted)[0]
    assert isinstance(first, EngineSubmitted)
    assert not first.eliminated or first.next_question is not None


def test_later_only_the_new_answer_of_a_contradiction_is_demoted_and_the_verdict_names_both() -> None:
    said = {
        ("q_maneuver", Party.SELF): "straight",
        ("q_maneuver", Party.OTHER): "stopped",
        ("q_lane_relation", Party.NONE): "same_lane",
        ("q_order", Party.NONE): "other_ahead",
        ("q_motion_at_contact", Party.OTHER): "moving",
        ("q_motion_at_contact", Party.SELF): "moving",
    }

    def script(call: SendCall) -> str:
        if call.turn.stage is Stage.TABLE:
            return '{"entities": []}'
        value = said.get((call.turn.question_id, call.turn.party))
        return answer("observed", value) if value else known(call)

    run = Simulation(make_context(Condition(stages="2")), script, Random(0)).run()
    by_turn = {each.ref.key: each for each in run.of(AnswerAccepted)}  # type: ignore[attr-defined]
    pair = [("q_maneuver", Party.OTHER), ("q_motion_at_contact", Party.OTHER)]
    both = [by_turn[key] for key in pair]
    assert sorted(each.demoted_by or "" for each in both) == ["", "stopped_yet_moving"]  # type: ignore[attr-defined]
    later = max(both, key=lambda each: run.state.turns[each.ref.key].opened.round)  # type: ignore[attr-defined]
    assert isinstance(later, AnswerAccepted)
    assert (later.status, later.demoted_by) == (Status.UNKNOWN, "stopped_yet_moving")
    verdict = next(each for each in run.of(AnswerValidated) if each.ref == later.ref)  # type: ignore[attr-defined]
    assert isinstance(verdict, AnswerValidated)
    against = verdict.violations[0].against
    assert against is not None
    assert {against.key, later.ref.key} == set(pair)


def test_a_table_that_cannot_be_read_leaves_the_clip_without_one() -> None:
    def script(call: SendCall) -> str:
        return "none" if call.turn.stage is Stage.TABLE else known(call)

    run = Simulation(make_context(Condition(stages="2")), script, Random(0)).run()
    (checked,) = run.of(TableChecked)
    assert isinstance(checked, TableChecked)
    assert checked.table is None
    assert isinstance(run.events[-1].data, ClipFinished)


def test_stored_answers_are_waited_for_and_then_need_no_model_and_no_video() -> None:
    given = [
        AnswerGiven(
            stage=Stage.PREDICATE,
            question_id=question_id,
            party=Party(party),
            status=Status.OBSERVED,
            value=value,
            source=Provenance(kind="log"),
        )
        for (question_id, party), value in KNOWN.items()
    ]
    context = make_context(source="stored", given={"clip": len(given)})
    run = Simulation(context, lambda call: pytest.fail("a model was asked"), Random(0)).run()
    assert run.events == []
    for data in given:
        run._apply(make_event(data, clip="clip", time=TIME))
    run.run()
    finished = run.events[-1].data
    assert isinstance(finished, ClipFinished)
    assert {candidate.chart for candidate in finished.candidates} == {"차43-2"}
    assert all(each.source in ("given", "not_observable") for each in run.of(AnswerAccepted))  # type: ignore[attr-defined]
    assert replay_clip(context, "clip", run.events, run.bodies).difference is None


def test_decision_payloads_have_one_byte_form() -> None:
    run = Simulation(make_context(), known, Random(0)).run()
    for data in run.decisions().values():
        assert canonical_json(data) == canonical_json(data)
