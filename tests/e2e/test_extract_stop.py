"""Runs that stop before their end: by an interrupt, by another engine, by what was changed in between."""

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from media_factory import write_clip
from scripted_server import ChatCall, Reply, answer, completion, scripted_server

from vlmrec.cli import cli
from vlmrec.events import CallCompleted, CallFailed, CallRequested, RunStopped
from vlmrec.log.reader import open_log


@pytest.fixture
def clips(tmp_path: Path) -> Path:
    folder = tmp_path / "clips"
    folder.mkdir()
    for name in ("가 clip", "b"):
        write_clip(folder / f"{name}.mp4", pts=tuple(range(4)), size=(64, 48))
    return folder


def extract(*arguments: str) -> Any:
    return CliRunner().invoke(cli, ["extract", *arguments], catch_exceptions=False)


def briefly(call: ChatCall) -> Any:
    """Answers that end a clip with its gates."""
    return answer("no_contact") if call.question == "q_collision" else answer(None, status="unknown")


def slowly(call: ChatCall) -> Reply:
    said = completion(json.dumps(briefly(call)))
    return Reply(said.status, said.body, said.headers, delay_s=0.4)


def start(clips: Path, store: Path, url: str) -> "subprocess.Popen[str]":
    command = [
        sys.executable,
        "-m",
        "vlmrec.cli",
        "extract",
        str(clips),
        "--run-id",
        "r",
        "--model",
        "x/m",
        "--base-url",
        url,
    ]
    environment = {**os.environ, "VLMREC_STORE": str(store)}
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


@pytest.mark.parametrize("signals", [1, 2])
def test_an_interrupt_ends_with_130_every_call_recorded_and_the_run_resumable(
    tmp_path: Path, clips: Path, private_store: Path, signals: int
) -> None:
    with scripted_server(slowly) as server:
        process = start(clips, private_store, server.url)
        deadline = time.monotonic() + 60
        while len(server.calls) < 2 and time.monotonic() < deadline:
            time.sleep(0.01)
        for _ in range(signals):
            process.send_signal(signal.SIGINT)
            time.sleep(0.1)
        output, errors = process.communicate(timeout=60)
        assert process.returncode == 130, output + errors
        assert "--resume" in errors
        assert "Traceback" not in errors
        with open_log(private_store / "r.db") as log:
            requested = [event.data for event in log.events([CallRequested.type])]
            ended = [event.data for event in log.events([CallCompleted.type, CallFailed.type])]
            (stopped,) = log.events([RunStopped.type])
        assert isinstance(stopped.data, RunStopped)
        assert stopped.data.reason == "interrupted"
        assert len(requested) == len(ended)
        in_doubt = sum(isinstance(each, CallFailed) and each.in_doubt for each in ended)
        assert in_doubt == 0 if signals == 1 else in_doubt >= 0
        before = len(server.calls)
        result = extract("--run-id", "r", "--resume", "--base-url", server.url)
        assert result.exit_code == 0, result.output
        keys = {call.key for call in server.calls}
        assert len(server.calls) == len(keys) + in_doubt
        assert len(server.calls) > before


def test_an_engine_that_changes_in_mid_run_stops_it_with_nothing_lost(clips: Path, private_store: Path) -> None:
    import asyncio
    import threading

    import uvicorn

    from vlmrec.engine.server import create_app

    apps = {"now": create_app("0.1.3")}

    async def engine(scope: Any, receive: Any, send: Any) -> None:
        await apps["now"](scope, receive, send)

    served = uvicorn.Server(uvicorn.Config(engine, port=0, log_level="error", lifespan="off"))
    thread = threading.Thread(target=lambda: asyncio.run(served.serve()))
    thread.start()
    while not served.started:
        time.sleep(0.01)
    url = f"http://127.0.0.1:{served.servers[0].sockets[0].getsockname()[1]}"

    def rule(call: ChatCall) -> Any:
        if call.question not in ("q_collision", "q_vehicle_kind", "q_direction_relation"):
            apps["now"] = create_app("0.1.1")
        return answer(None, status="unknown")

    try:
        with scripted_server(rule) as server:
            arguments = [str(clips), "--run-id", "r", "--model", "x/m", "--base-url", server.url]
            changed = extract(*arguments, "--engine-url", url)
            assert changed.exit_code == 2, changed.output
            assert "0.1.1" in changed.output
            refused = extract("--run-id", "r", "--resume", "--base-url", server.url)
            assert refused.exit_code == 2
            assert "data_version" in refused.output
            calls = len(server.calls)
            apps["now"] = create_app("0.1.3")
            with scripted_server(lambda call: answer(None, status="unknown")) as calm:
                resumed = extract("--run-id", "r", "--resume", "--base-url", calm.url)
                assert resumed.exit_code == 0, resumed.output
                assert len({call.key for call in [*server.calls, *calm.calls]}) == calls + len(calm.calls)
    finally:
        served.should_exit = True
        thread.join()
    assert CliRunner().invoke(cli, ["verify", "r", "--replay"]).exit_code == 0


def stopped_run(clips: Path, url: str) -> None:
    result = extract(str(clips), "--run-id", "r", "--model", "x/m", "--base-url", url, "--max-calls", "3")
    assert result.exit_code == 3, result.output


def test_a_resume_refuses_other_bytes_under_a_known_clip_id_and_names_both_paths(clips: Path, tmp_path: Path) -> None:
    with scripted_server(briefly) as server:
        stopped_run(clips, server.url)
        moved = tmp_path / "elsewhere"
        moved.mkdir()
        for path in clips.iterdir():
            write_clip(moved / path.name, pts=tuple(range(5)), size=(64, 48))
        result = extract(str(moved), "--run-id", "r", "--resume", "--base-url", server.url)
    assert result.exit_code == 2
    assert "holds other bytes" in result.output
    assert str(moved) in result.output
    assert str(clips) in result.output


def test_a_resume_takes_the_same_bytes_from_another_place(clips: Path, tmp_path: Path) -> None:
    with scripted_server(briefly) as server:
        stopped_run(clips, server.url)
        moved = tmp_path / "elsewhere"
        clips.rename(moved)
        result = extract(str(moved), "--run-id", "r", "--resume", "--base-url", server.url)
        assert result.exit_code == 0, result.output


def test_a_resume_that_would_send_another_request_prints_the_first_difference(
    clips: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from vlmrec.stages import compose

    original = compose.wire_fields
    with scripted_server(briefly) as server:
        stopped_run(clips, server.url)
        sent = len(server.calls)
        for module in ("vlmrec.stages.compose", "vlmrec.stages.resume"):
            monkeypatch.setattr(f"{module}.wire_fields", lambda *given: {**original(*given), "temperature": 0.25})
        result = extract("--run-id", "r", "--resume", "--base-url", server.url)
        assert result.exit_code == 2, result.output
        assert "$.temperature: stored 0.0, now 0.25" in result.output
        assert len(server.calls) == sent


def test_two_files_of_one_clip_id_are_refused_with_both_paths(clips: Path, tmp_path: Path) -> None:
    other = write_clip(tmp_path / "b.mp4", pts=tuple(range(4)), size=(64, 48))
    result = extract(str(clips), str(other), "--run-id", "r")
    assert result.exit_code == 2
    assert str(other) in result.output
    assert str(clips / "b.mp4") in result.output


@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_a_korean_file_name_is_one_clip_id_in_either_normal_form(tmp_path: Path, form: Any) -> None:
    import unicodedata

    name = unicodedata.normalize(form, "사고 영상")
    write_clip(tmp_path / f"{name}.mp4", pts=tuple(range(4)), size=(64, 48))
    with scripted_server(briefly) as server:
        result = extract(str(tmp_path / f"{name}.mp4"), "--run-id", "r", "--model", "x/m", "--base-url", server.url)
        assert result.exit_code == 0, result.output
        assert {call.clip for call in server.calls} == {unicodedata.normalize("NFC", name)}


def test_a_second_writer_gets_a_clear_message(clips: Path, private_store: Path) -> None:
    with scripted_server(lambda call: replace(slowly(call), delay_s=2.0)) as server:
        process = start(clips, private_store, server.url)
        deadline = time.monotonic() + 60
        while not server.calls and time.monotonic() < deadline:
            time.sleep(0.01)
        result = extract("--run-id", "r", "--resume", "--base-url", server.url)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
    assert result.exit_code == 2
    assert "r.db" in result.output
    assert f"written by process {process.pid}" in result.output


@pytest.mark.parametrize(
    ("option", "named"),
    [
        (["--condition", "V=frames-8"], "axis V is full, not frames-8"),
        (["--grounding", "2"], "axis G is 0, not 2"),
        (["--engine", "0.1.1"], "its engine is embedded:0.1.3, not embedded:0.1.1"),
        (["--seed", "4"], "seed is 0, not 4"),
        (["--temperature", "0.5"], "temperature is 0.0, not 0.5"),
        (["--vote-threshold", "2/3"], "vote threshold"),
        (["--delivery", "file"], "--delivery"),
    ],
)
def test_a_resume_refuses_an_option_that_says_otherwise_than_the_run(
    clips: Path, option: list[str], named: str
) -> None:
    with scripted_server(briefly) as server:
        stopped_run(clips, server.url)
        result = extract("--run-id", "r", "--resume", "--base-url", server.url, *option)
        assert result.exit_code == 2, result.output
        assert named in result.output
        same = extract("--run-id", "r", "--resume", "--base-url", server.url, "--seed", "0", "--condition", "V=full")
        assert same.exit_code == 0, same.output


@pytest.mark.parametrize(
    "option",
    [["--fps", "0"], ["--temperature", "-1"], ["--top-p", "7"], ["--max-minutes", "nan"], ["--max-minutes", "-1"]],
)
def test_a_number_that_makes_no_sense_is_refused_before_anything_is_asked(clips: Path, option: list[str]) -> None:
    result = extract(str(clips), "--run-id", "r", *option)
    assert result.exit_code == 2
    assert option[0] in result.output


@pytest.mark.parametrize("damage", ["DELETE FROM events WHERE seq = 8", "UPDATE events SET data = '{}' WHERE seq = 8"])
def test_a_damaged_log_is_not_gone_on_with(clips: Path, private_store: Path, damage: str) -> None:
    import sqlite3

    with scripted_server(briefly) as server:
        stopped_run(clips, server.url)
        connection = sqlite3.connect(private_store / "r.db")
        triggers = connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall()
        for name, _ in triggers:
            connection.execute(f"DROP TRIGGER {name}")
        connection.execute(damage)
        for _, sql in triggers:
            connection.execute(sql)
        connection.commit()
        connection.close()
        sent = len(server.calls)
        result = extract("--run-id", "r", "--resume", "--base-url", server.url)
        assert result.exit_code == 2, result.output
        assert "damaged" in result.output
        assert len(server.calls) == sent
