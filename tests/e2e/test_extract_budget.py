"""A limit is used to its end, with many samples in flight: never a call beyond it, and none held back within it."""

import json
import math
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from media_factory import write_clip
from scripted_server import ChatCall, Reply, ScriptedServer, answer, completion, scripted_server

from vlmrec.cli import cli
from vlmrec.events import CallCompleted, CallFailed, CallRequested, RunStopped
from vlmrec.log.reader import open_log

CLIPS = 3
GATES = 3


@pytest.fixture
def clips(tmp_path: Path) -> Path:
    folder = tmp_path / "clips"
    folder.mkdir()
    for index in range(CLIPS):
        write_clip(folder / f"clip-{index}.mp4", pts=tuple(range(4)), size=(32, 32))
    return folder


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with scripted_server(briefly) as running:
        yield running


def briefly(call: ChatCall) -> Reply:
    """Answers that end a clip with its gates, some later than others."""
    said = answer("no_contact") if call.question == "q_collision" else answer(None, status="unknown")
    reply = completion(json.dumps(said))
    return Reply(reply.status, reply.body, reply.headers, delay_s=0.003 * (call.number % 5))


def extract(*arguments: str) -> Any:
    return CliRunner().invoke(cli, ["extract", "--run-id", "r", *arguments], catch_exceptions=False)


def check_log(store: Path, server: ScriptedServer) -> None:
    """Every request that arrived is in the log and closed, none was sent twice, and the log replays."""
    with open_log(store / "r.db") as log:
        requested = list(log.events([CallRequested.type]))
        closed = list(log.events([CallCompleted.type, CallFailed.type]))
    assert len(requested) == len(closed) == len(server.calls)
    assert set(server.by_key.values()) == {1}
    verified = CliRunner().invoke(cli, ["verify", "r", "--replay"])
    assert verified.exit_code == 0, verified.output


@pytest.mark.parametrize("repetition", [1, 3, 5])
@pytest.mark.parametrize("part", [0.01, 0.4, 0.9, 1.0, 1.5])
def test_a_limit_of_calls_is_used_exactly_and_a_resume_goes_on_from_there(
    clips: Path, server: ScriptedServer, private_store: Path, repetition: int, part: float
) -> None:
    needed = CLIPS * GATES * repetition
    limit = math.ceil(needed * part)
    start = [str(clips), "--model", "x/m", "--base-url", server.url, "--repetition", str(repetition)]
    first = extract(*start, "--max-calls", str(limit))
    assert len(server.calls) == min(limit, needed)
    check_log(private_store, server)
    if limit >= needed:
        assert first.exit_code == 0, first.output
        return
    assert first.exit_code == 3, first.output
    assert f"the limit of {limit} calls is used up\n" in first.output
    resume = ["--resume", "--base-url", server.url, "--max-calls"]
    again = extract(*resume, str(limit))
    assert again.exit_code == 3
    assert f"the limit of {limit} calls is used up ({limit} were made before this start)" in again.output
    assert len(server.calls) == limit
    extract(*resume, str(limit + 4))
    assert len(server.calls) == min(limit + 4, needed)
    assert extract(*resume, str(needed)).exit_code == 0
    assert len(server.calls) == needed
    check_log(private_store, server)


@pytest.mark.parametrize("limit", ["0.015", "0.025", "0.04"])
def test_a_cost_limit_is_used_until_the_next_call_could_break_it(
    clips: Path, server: ScriptedServer, private_store: Path, limit: str
) -> None:
    price = ["--assume-price", "0.001,10", "--max-tokens", "1000", "--base-url", server.url, "--max-cost", limit]
    stopped = extract(str(clips), "--model", "x/m", "--repetition", "40", *price)
    assert stopped.exit_code == 3, stopped.output
    with open_log(private_store / "r.db") as log:
        bounds = [e.data.reserved_cost for e in log.events([CallRequested.type]) if isinstance(e.data, CallRequested)]
        costs = [e.data.cost for e in log.events([CallCompleted.type]) if isinstance(e.data, CallCompleted)]
        (end,) = [e.data for e in log.events([RunStopped.type]) if isinstance(e.data, RunStopped)]
    spent = sum((cost for cost in costs if cost is not None), Decimal(0))
    highest = max(bound for bound in bounds if bound is not None)
    assert spent <= Decimal(limit) < spent + highest
    assert end.detail is not None
    assert f"{spent} are spent" in end.detail
    check_log(private_store, server)
