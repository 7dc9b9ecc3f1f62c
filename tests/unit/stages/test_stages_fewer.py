"""What fewer samples would have given: equal to a run that asked for fewer, and incomplete where nothing was asked."""

from random import Random

import pytest
from stage_simulator import Simulation, answer, failed_call, make_context
from test_stages_core import known

from vlmrec.engine.core import evaluate
from vlmrec.engine.reference import load_reference
from vlmrec.errors import InputError
from vlmrec.events import CallFailed, CallRequested, ClipFailed, ClipFinished, Event, SamplesVoted, Stage
from vlmrec.ledger import Ledger
from vlmrec.protocol import EvaluateRequest
from vlmrec.stages.condition import Condition
from vlmrec.stages.context import RunContext
from vlmrec.stages.effects import SendCall
from vlmrec.stages.fewer import fewer_events, fewer_manifest, stored_inputs
from vlmrec.stages.replay import replay_clip
from vlmrec.stages.submission import EngineReply


def ask(request: EvaluateRequest) -> EngineReply:
    return EngineReply(None, evaluate(load_reference("0.1.3"), request), None)


def fewer(run: Simulation, samples: int) -> tuple[RunContext, list[Event]]:
    inputs = stored_inputs(run.events)
    manifest = fewer_manifest(run.context.manifest, samples, {"clip": inputs})
    ledger: Ledger = run.context.ledger
    context = RunContext(manifest, ledger, None)
    return context, fewer_events(context, "clip", inputs, ask, run.bodies)[0]


def decisions(events: list[Event]) -> dict[str, object]:
    return {event.id: event.data for event in events if event.data.family == "decision"}


def wavering(call: SendCall) -> str:
    """Most samples see two vehicles in one lane; the first sees them beside each other, which leads elsewhere."""
    if call.turn.question_id == "q_lane_relation":
        return answer("observed", "adjacent_lane" if call.sample == 0 else "same_lane")
    return known(call)


def steady(call: SendCall) -> str:
    return known(call)


@pytest.mark.parametrize("samples", [1, 3, 5])
def test_where_the_path_is_the_same_it_equals_a_run_that_asked_for_fewer(samples: int) -> None:
    large = Simulation(make_context(Condition(repetition="5")), steady, Random(0)).run()
    small = Simulation(make_context(Condition(repetition=str(samples))), steady, Random(1)).run()
    context, events = fewer(large, samples)
    assert decisions(events) == small.decisions()
    assert replay_clip(context, "clip", events, large.bodies).difference is None


def test_where_the_path_leaves_what_was_asked_the_clip_is_incomplete_and_everything_before_is_the_same() -> None:
    large = Simulation(make_context(Condition(repetition="5")), wavering, Random(0)).run()
    context, events = fewer(large, 1)
    small = Simulation(make_context(Condition(repetition="1")), wavering, Random(0)).run()
    asked = {data.ref.key for data in large.of(CallRequested)}  # type: ignore[attr-defined]
    needed = [data.ref.key for data in small.of(CallRequested)]  # type: ignore[attr-defined]
    assert set(needed) - asked, "the example must need a turn that was never asked"
    finished = [event.data for event in events if isinstance(event.data, ClipFinished)]
    assert [each.incomplete for each in finished] == [True]
    first_new = next(place for place, key in enumerate(needed) if key not in asked)
    votes = {event.id: event.data for event in events if isinstance(event.data, SamplesVoted)}
    for key in needed[:first_new]:
        expected = next(data for data in small.of(SamplesVoted) if data.ref.key == key)  # type: ignore[attr-defined]
        assert expected in votes.values()
    assert replay_clip(context, "clip", events, large.bodies).difference is None


def test_samples_of_one_call_are_restricted_as_well() -> None:
    from stage_simulator import reply_body

    def script(call: SendCall) -> str:
        return reply_body("", texts=[known(call), answer("unknown"), answer("unknown")]).decode()

    large = Simulation(make_context(Condition(repetition="3"), n_in_one_call=True), script, Random(0)).run()
    _, events = fewer(large, 1)
    votes = [event.data for event in events if isinstance(event.data, SamplesVoted)]
    assert votes
    assert {vote.n for vote in votes} == {1}
    assert [vote.value for vote in votes if vote.question_id == "q_collision"] == ["vehicle_contact"]


def test_a_failure_among_the_first_samples_fails_the_clip_and_one_beyond_them_does_not() -> None:
    def script(call: SendCall) -> "str | CallFailed":
        if call.turn.question_id == "q_order" and call.sample == 2:
            return failed_call(call, final=True)
        return known(call)

    large = Simulation(make_context(Condition(repetition="3")), script, Random(0)).run()
    assert isinstance(large.events[-1].data, ClipFailed)
    _, whole = fewer(large, 3)
    assert isinstance(whole[-1].data, ClipFailed)
    _, events = fewer(large, 2)
    last = events[-1].data
    assert isinstance(last, ClipFinished)
    assert last.incomplete


def test_monitoring_calls_are_left_out() -> None:
    run = Simulation(
        make_context(Condition(repetition="3", format="schema"), monitor_rate="1"), steady, Random(0)
    ).run()
    context, events = fewer(run, 1)
    assert not [event for event in events if getattr(event.data, "stage", None) is Stage.MONITOR]
    assert not context.monitor_rate


@pytest.mark.parametrize("samples", [0, 4])
def test_more_samples_than_there_are_can_not_be_had(samples: int) -> None:
    run = Simulation(make_context(Condition(repetition="3")), steady, Random(0)).run()
    with pytest.raises(InputError, match="1 to 3"):
        fewer(run, samples)


def test_prompts_that_tell_earlier_answers_can_not_be_replayed_with_fewer() -> None:
    run = Simulation(make_context(Condition(repetition="3", context="1")), steady, Random(0)).run()
    with pytest.raises(InputError, match="other requests"):
        fewer(run, 2)
    assert fewer(run, 3)
