"""Whole runs against servers that fail: what is retried, what stops the run, what it costs, what may leak."""

import asyncio
import sqlite3
from collections import Counter
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from faulty_server import FAULTS, faulty
from media_factory import write_clip
from scripted_server import ChatCall, Reply, Rule, ScriptedServer, answer, completion, error_body, scripted_server

from vlmrec.config import parse_config
from vlmrec.events import CallCompleted, CallFailed, CallRequested, Event, RateChanged, RunStopped
from vlmrec.log.reader import open_log
from vlmrec.log.verify import verify_log
from vlmrec.models.budget import Limits, Price
from vlmrec.models.retry import RetryPolicy
from vlmrec.stages.condition import parse_condition
from vlmrec.stages.engines import engine_source
from vlmrec.stages.extract import RunResult
from vlmrec.stages.options import NewRun, Options
from vlmrec.stages.request import Parameters
from vlmrec.stages.session import begin, go_on
from vlmrec.stages.stop import Stop

QUICK = RetryPolicy(max_failures=12, max_gateway_timeouts=6, base_s=0.001, max_delay_s=0.01)
PRICE = Price(prompt=Decimal(1), completion=Decimal(2))


def clips(folder: Path, number: int) -> tuple[Path, ...]:
    folder.mkdir(exist_ok=True)
    first = write_clip(folder / "clip-0.mp4", pts=tuple(range(4)), size=(32, 32)).read_bytes()
    for index in range(1, number):
        (folder / f"clip-{index}.mp4").write_bytes(first)
    return (folder,)


def unknown(call: ChatCall) -> dict[str, Any]:
    """Passes every gate and abstains from all else, so that the engine asks all it can."""
    gates = {"q_collision": "vehicle_contact"}
    return answer(gates.get(call.question or ""))


async def run(
    store: Path, server: ScriptedServer, paths: tuple[Path, ...] = (), *, model: str = "test/model", **options: Any
) -> RunResult:
    """A new run where clips are given, else the resume of the one in ``store``."""
    config = parse_config("", source=None, environ={"TEST_KEY": "sk-very-secret-0123456789"})
    settings = Options(
        store=store,
        run_id=options.pop("run_id", "run"),
        base_urls=(server.url,) if not model.startswith("replay:") else (),
        workers=8,
        **{"in_flight": 16, "policy": QUICK, **options},
    )
    stop = Stop()
    if not paths:
        return await go_on(settings, (), config, retry_failed=False, stop=stop, progress=lambda clip, state: None)
    new = NewRun(
        clips=paths,
        clip_set=None,
        condition=parse_condition(f"M={model}"),
        parameters=Parameters(),
        engine=engine_source(None, None),
    )
    return await begin(settings, new, config, stop=stop, progress=lambda clip, state: None)


def events(store: Path, run_id: str = "run") -> list[Event]:
    with open_log(store / f"{run_id}.db") as log:
        return list(log.events())


def check_calls(found: list[Event], server: ScriptedServer) -> Counter[str]:
    """Each attempt is an event; no key is sent after its completion; each extra send follows a recorded failure."""
    open_calls: dict[tuple[object, ...], int] = {}
    completed: set[tuple[object, ...]] = set()
    failures: Counter[str] = Counter()
    sends = 0
    for event in found:
        data = event.data
        if isinstance(data, CallRequested):
            key = (event.clip, *data.call_key())
            assert key not in completed
            assert key not in open_calls, "a call was sent before the one before it had ended"
            open_calls[key] = data.attempt
            sends += 1
        elif isinstance(data, (CallCompleted, CallFailed)):
            key = (event.clip, *data.call_key())
            assert open_calls.pop(key) == data.attempt
            if isinstance(data, CallCompleted):
                completed.add(key)
            else:
                failures[data.reason] += 1
                if data.in_doubt:
                    assert data.charged_cost is not None
                    assert data.charged_cost > 0
    assert not open_calls
    assert sends == len(server.calls) == len(completed) + sum(failures.values())
    return failures


# ---- everything that is retried --------------------------------------------------------------


async def test_a_run_of_five_hundred_turns_ends_complete_though_three_in_ten_sends_fail(tmp_path: Path) -> None:
    paths = clips(tmp_path / "clips", 18)
    with scripted_server(faulty(unknown, rate=0.3, seed=3)) as server:
        result = await run(tmp_path, server, paths, price=PRICE, limits=Limits(max_cost=Decimal(900)))
    found = events(tmp_path)
    assert (result.reason, result.failed, result.unfinished) == ("done", 0, 0)
    failures = check_calls(found, server)
    completed = [event.data for event in found if isinstance(event.data, CallCompleted)]
    assert len(completed) >= 500
    assert 0.2 < sum(failures.values()) / len(server.calls) < 0.4
    assert set(failures) >= {"rate_limited", "provider_error", "gateway_timeout", "connection_lost"}
    assert any(isinstance(event.data, RateChanged) for event in found)
    charged = [data.charged_cost or Decimal(0) for data in (e.data for e in found) if isinstance(data, CallFailed)]
    assert sum(charged) + sum((data.cost or Decimal(0) for data in completed), Decimal(0)) <= 900
    assert verify_log(tmp_path / "run.db").holds


# ---- what stops a run ------------------------------------------------------------------------

STOPS: dict[str, tuple[Callable[[], Reply], str, str]] = {
    "credit": (lambda: error_body(402, {"error": {"message": "Insufficient credits"}}), "no_credit", "credit"),
    "quota": (lambda: error_body(429, {"error": {"code": "insufficient_quota"}}), "no_credit", "credit"),
    "key": (lambda: error_body(401, {"error": "Unauthorized"}), "not_authorised", "not_authorised"),
    "model": (
        lambda: error_body(404, {"status": 404, "detail": "Function 'f': Not found for account 'ACME1'"}),
        "model_not_available",
        "error",
    ),
    "address": (lambda: Reply(404, b'{"detail": "Not Found"}'), "not_found", "error"),
    "page": (lambda: Reply(200, b"<html>sign in</html>", {"content-type": "text/html"}), "not_an_api", "error"),
    "field": (
        lambda: error_body(400, {"error": {"message": "Per-request media_io_kwargs are disabled by default"}}),
        "bad_request",
        "error",
    ),
}


@pytest.mark.parametrize("name", STOPS)
async def test_a_failure_that_concerns_every_call_stops_the_run_and_a_resume_ends_it(tmp_path: Path, name: str) -> None:
    reply, reason, stopped = STOPS[name]
    paths = clips(tmp_path / "clips", 3)
    broken = True

    def rule(call: ChatCall) -> Any:
        return reply() if broken and call.number > 5 else unknown(call)

    with scripted_server(rule) as server:
        first = await run(tmp_path, server, paths, price=PRICE)
        sent = len(server.calls)
        assert first.reason == stopped
        assert first.failed == 0
        assert sent <= 6 + 16, "calls went on after the run had been stopped"
        broken = False
        second = await run(tmp_path, server, price=PRICE)
    found = events(tmp_path)
    assert (second.reason, second.failed, second.unfinished) == ("done", 0, 0)
    failures = check_calls(found, server)
    assert set(failures) == {reason}
    stop = next(event.data for event in found if isinstance(event.data, RunStopped))
    assert stop.detail is not None
    assert reason in stop.detail
    assert "ACME1" not in stop.detail


async def test_a_refused_request_fails_its_clip_and_no_other(tmp_path: Path) -> None:
    def rule(call: ChatCall) -> Any:
        return error_body(413, {}) if call.clip == "clip-1" else unknown(call)

    with scripted_server(rule) as server:
        result = await run(tmp_path, server, clips(tmp_path / "clips", 3), price=PRICE)
    assert (result.reason, result.finished, result.failed) == ("done", 2, 1)
    check_calls(events(tmp_path), server)


async def test_truncated_refused_and_unreadable_replies_are_outcomes_and_never_asked_for_again(tmp_path: Path) -> None:
    replies = [
        completion('{"status": "obs', finish_reason="length"),
        completion(None, message={"refusal": "no"}, finish_reason="content_filter"),
        completion("I see a road."),
    ]
    with scripted_server(lambda call: replies[call.number % 3]) as server:
        result = await run(tmp_path, server, clips(tmp_path / "clips", 1), price=PRICE)
    assert (result.reason, result.failed) == ("done", 0)
    assert set(server.by_key.values()) == {1}
    assert not check_calls(events(tmp_path), server)


# ---- budgets ---------------------------------------------------------------------------------


async def test_a_cost_limit_is_not_overrun_though_replies_are_lost_and_the_run_can_go_on(tmp_path: Path) -> None:
    limit = Decimal("0.10")
    kinds = ("reset", "cut", "524_html", "429")
    paths = clips(tmp_path / "clips", 3)
    config = {"price": Price(prompt=Decimal("0.1"), completion=Decimal(1))}
    with scripted_server(faulty(unknown, rate=0.3, seed=5, kinds=kinds)) as server:
        first = await run(tmp_path, server, paths, limits=Limits(max_cost=limit), **config)
        assert first.reason == "budget"
        spent = charged(events(tmp_path))
        assert limit / 2 < spent <= limit
        again = await run(tmp_path, server, limits=Limits(max_cost=limit), **config)
        assert again.reason == "budget"
        assert charged(events(tmp_path)) <= limit
        last = await run(tmp_path, server, **config)
    assert (last.reason, last.failed, last.unfinished) == ("done", 0, 0)
    check_calls(events(tmp_path), server)


async def test_a_limit_of_calls_counts_every_send(tmp_path: Path) -> None:
    with scripted_server(faulty(unknown, rate=0.5, seed=1, kinds=("429", "500"))) as server:
        result = await run(tmp_path, server, clips(tmp_path / "clips", 2), limits=Limits(max_calls=20))
        assert result.reason == "budget"
        assert len(server.calls) == 20
        assert (await run(tmp_path, server)).reason == "done"


def charged(found: list[Event]) -> Decimal:
    total = Decimal(0)
    for event in found:
        if isinstance(event.data, CallCompleted):
            total += event.data.cost or Decimal(0)
        elif isinstance(event.data, CallFailed):
            total += event.data.charged_cost or Decimal(0)
    return total


# ---- secrets ---------------------------------------------------------------------------------


async def test_no_key_and_no_signature_reaches_the_log_though_the_server_echoes_them(tmp_path: Path) -> None:
    key = "sk-very-secret-0123456789"
    signed = "https://b/k.mp4?X-Amz-Credential=AKIAEXAMPLE%2F1&X-Amz-Signature=0f1e2d3c4b5a"

    def rule(call: ChatCall) -> Any:
        if (call.attempt or 0) == 1 and call.number % 2:
            return error_body(500, {"error": {"message": f"key {key} and {signed}"}}, x_echo=key, location=signed)
        return answer("vehicle_contact" if call.question == "q_collision" else None, reason=f"{key} {signed}")

    with scripted_server(rule) as server:
        result = await run(tmp_path, server, clips(tmp_path / "clips", 1), price=PRICE)
    assert result.reason == "done"
    raw = (tmp_path / "run.db").read_bytes()
    for secret in (key.encode(), b"0f1e2d3c4b5a", b"AKIAEXAMPLE"):
        assert secret not in raw
    with sqlite3.connect(tmp_path / "run.db") as database:
        (marked,) = database.execute("SELECT count(*) FROM events WHERE data LIKE '%\"redactions\":_%'").fetchone()
    assert marked
    database.close()
    assert sum(e.data.redactions for e in events(tmp_path) if isinstance(e.data, (CallCompleted, CallFailed))) > 0


# ---- replay ----------------------------------------------------------------------------------


async def test_a_replayed_run_gives_the_same_decisions_and_sends_nothing(tmp_path: Path) -> None:
    paths = clips(tmp_path / "clips", 2)
    rule: Rule = faulty(unknown, rate=0.2, seed=9)
    with scripted_server(rule) as server:
        await run(tmp_path, server, paths, price=PRICE)
        sent = len(server.calls)
        again = await run(tmp_path, server, paths, model="replay:run", run_id="again")
        assert len(server.calls) == sent
    assert (again.reason, again.failed) == ("done", 0)
    decided = [
        [(e.id, e.data) for e in events(tmp_path, run_id) if e.data.family == "decision" and e.clip == clip]
        for clip in ("clip-0", "clip-1")
        for run_id in ("run", "again")
    ]
    assert decided[0] == decided[1]
    assert decided[2] == decided[3]
    assert charged(events(tmp_path, "again")) == 0


async def test_a_replay_with_other_settings_stops_at_the_first_request_it_does_not_know(tmp_path: Path) -> None:
    paths = clips(tmp_path / "clips", 1)
    with scripted_server(unknown) as server:
        await run(tmp_path, server, paths, price=PRICE)
        (tmp_path / "clips" / "other.mp4").write_bytes(
            write_clip(tmp_path / "o.mp4", pts=tuple(range(5)), size=(32, 32)).read_bytes()
        )
        result = await run(tmp_path, server, paths, model="replay:run", run_id="again")
    assert result.reason == "error"
    assert result.detail is not None
    assert "replay_miss" in result.detail
    assert "closest is clip-0/" in result.detail
    assert "differs at $.messages[1].content[0].video_url" in result.detail


# ---- interrupts ------------------------------------------------------------------------------


async def test_a_cancelled_run_records_its_calls_in_doubt_and_goes_on_later(tmp_path: Path) -> None:
    slow = True

    def rule(call: ChatCall) -> Any:
        return Reply(200, b"{}", delay_s=30) if slow and call.number > 4 else unknown(call)

    with scripted_server(rule) as server:
        task = asyncio.create_task(run(tmp_path, server, clips(tmp_path / "clips", 2), price=PRICE))
        while len(server.calls) < 7:
            await asyncio.sleep(0.02)
        task.cancel()
        first = (await asyncio.gather(task, return_exceptions=True))[0]
        assert isinstance(first, asyncio.CancelledError) or first.reason == "interrupted"
        doubtful = [e.data for e in events(tmp_path) if isinstance(e.data, CallFailed)]
        assert doubtful
        assert all(data.kind == "cancelled" and data.in_doubt and not data.final for data in doubtful)
        slow = False
        assert (await run(tmp_path, server, price=PRICE)).reason == "done"
    check_calls(events(tmp_path), server)


def test_the_faulty_server_mixes_every_kind() -> None:
    assert len(FAULTS) >= 15
