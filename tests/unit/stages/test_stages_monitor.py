"""Monitoring calls: a share of the calls once more, without constraints, counted and never used."""

import json
from fractions import Fraction
from random import Random

import pytest
from stage_simulator import Simulation, answer, failed_call, make_context
from test_stages_core import known

from vlmrec.events import CallFailed, CallRequested, ClipFinished, ReplyParsed, Stage
from vlmrec.stages.compose import wire_fields
from vlmrec.stages.condition import Condition
from vlmrec.stages.effects import SendCall
from vlmrec.stages.replay import replay_clip
from vlmrec.stages.request import Parameters


def run_with(rate: str, seed: int = 0, **script_changes: object) -> Simulation:
    context = make_context(Condition(format="schema"), monitor_rate=rate)

    def script(call: SendCall) -> "str | CallFailed":
        if call.turn.stage is Stage.MONITOR:
            return "prose that is no answer" if not script_changes else failed_call(call, final=True)
        return known(call)

    return Simulation(context, script, Random(seed)).run()


def requested(run: Simulation, stage: Stage) -> set[tuple[object, ...]]:
    return {
        data.call_key()[1:] for data in run.of(CallRequested) if isinstance(data, CallRequested) and data.stage is stage
    }


def test_at_a_rate_of_one_every_call_is_monitored_and_none_is_read_as_an_answer() -> None:
    run = run_with("1")
    assert requested(run, Stage.MONITOR) == requested(run, Stage.PREDICATE)
    assert {data.stage for data in run.of(ReplyParsed)} == {Stage.PREDICATE}  # type: ignore[attr-defined]
    plain = Simulation(make_context(Condition(format="schema")), known, Random(0)).run()
    assert plain.decisions() == run.decisions()


def test_the_share_is_picked_by_a_hash_of_the_key_alike_in_every_order_of_arrival() -> None:
    half = requested(run_with("1/2"), Stage.MONITOR)
    assert half == requested(run_with("1/2", seed=7), Stage.MONITOR)
    assert half < requested(run_with("1"), Stage.MONITOR)
    context = make_context(Condition(format="schema"), monitor_rate="1/10")
    keys = [key for key in context.ledger.turns for _ in range(1)]
    picked = sum(context.is_monitored(f"clip-{number}", key, 0) for number in range(40) for key in keys)
    assert Fraction(picked, 40 * len(keys)) == pytest.approx(0.1, abs=0.02)


def test_a_monitoring_call_that_fails_for_good_neither_fails_the_clip_nor_is_sent_again() -> None:
    run = run_with("1", fails=True)
    assert isinstance(run.events[-1].data, ClipFinished)
    counts = [data for data in run.of(CallRequested) if data.stage is Stage.MONITOR]  # type: ignore[attr-defined]
    assert len(counts) == len(requested(run, Stage.MONITOR))
    assert replay_clip(run.context, "clip", run.events, run.bodies).difference is None


def test_a_monitoring_call_is_the_same_call_without_constrained_decoding() -> None:
    context = make_context(Condition(format="schema"), monitor_rate="1")
    sent: list[SendCall] = []

    def script(call: SendCall) -> str:
        sent.append(call)
        return answer("unknown")

    Simulation(context, script, Random(0)).run()
    for monitor in (call for call in sent if call.turn.stage is Stage.MONITOR):
        twin = next(
            call
            for call in sent
            if call.turn.stage is Stage.PREDICATE
            and call.turn.ref == monitor.turn.ref
            and call.sample == monitor.sample
        )
        constrained = wire_fields(context, Parameters(), twin)
        free = wire_fields(context, Parameters(), monitor)
        assert constrained.pop("response_format")
        assert json.dumps(constrained) == json.dumps(free)
