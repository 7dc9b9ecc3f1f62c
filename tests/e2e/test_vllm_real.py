"""A whole extraction against a real vLLM server: structured output, frame rate, prefix cache, kill and resume.

Opt-in, since it needs a server: ``VLMREC_VLLM_URL`` says where it is (docs/providers.md, "Against a real vLLM",
says how to start one). The model's answers don't matter; any weights will do.
"""

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
import urllib.request
from pathlib import Path
from typing import Any, NamedTuple

import jsonschema
import pytest

from vlmrec.media.tokens import video_tokens

URL = os.environ.get("VLMREC_VLLM_URL", "").rstrip("/")
pytestmark = pytest.mark.skipif(
    not URL, reason="NOT TRIED AGAINST A REAL VLLM: set VLMREC_VLLM_URL to one, such as http://127.0.0.1:8000/v1"
)

VLMREC = [sys.executable, "-m", "vlmrec.cli"]
WIDTH, HEIGHT, SECONDS, SOURCE_FPS, FPS = 640, 360, 6, 15, 6
VIDEO_TOKENS = video_tokens(SECONDS * SOURCE_FPS, SOURCE_FPS, WIDTH, HEIGHT, fps=FPS).tokens
FIRST_CALLS_BEFORE_KILL = 3


class Recorded(NamedTuple):
    """The run that all tests here look at."""

    store: Path
    clip: Path

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        with sqlite3.connect(f"file:{self.store / 'real.db'}?mode=ro", uri=True) as connection:
            return connection.execute(sql).fetchall()


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Recorded:
    """One clip of more than 4,000 video tokens, extracted to its end under F=schema, killed once on the way."""
    folder = tmp_path_factory.mktemp("vllm")
    size = f"{WIDTH}x{HEIGHT}"
    _vlmrec("synth", "--out", str(folder / "clips"), "--size", size, "--duration", str(SECONDS), "--seed", "7")
    (clip,) = (folder / "clips").glob("*.mp4")
    run = Recorded(folder / "store", clip)
    arguments = [
        *("extract", "--store", str(run.store), "--run-id", "real", "--base-url", URL, str(clip)),
        *("--model", f"vllm/{_served_model()}", "--condition", "F=schema", "--fps", str(FPS)),
        *("--max-tokens", "400", "--temperature", "1", "--in-flight", "4"),
    ]
    process = subprocess.Popen([*VLMREC, *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    deadline = time.monotonic() + 600
    while process.poll() is None and _completed(run) < FIRST_CALLS_BEFORE_KILL and time.monotonic() < deadline:
        time.sleep(0.05)
    process.send_signal(signal.SIGKILL)
    said, _ = process.communicate()
    assert _completed(run) >= FIRST_CALLS_BEFORE_KILL, said.decode()
    _vlmrec(*arguments, "--resume")
    return run


def test_the_clip_runs_to_its_end_and_no_answer_is_paid_twice(recorded: Recorded) -> None:
    assert recorded.rows("SELECT count(*) FROM outcomes") == [(1,)]
    assert recorded.rows("SELECT count(*) FROM events WHERE type = 'clip.finished'") == [(1,)]
    twice = "SELECT stage, question_id, party, sample FROM calls WHERE state = 'completed' GROUP BY 1, 2, 3, 4"
    assert recorded.rows(f"{twice} HAVING count(*) > 1") == []
    assert recorded.rows("SELECT DISTINCT reason FROM calls WHERE state = 'failed' AND reason <> 'crash'") == []


def test_the_record_replays_to_the_same_decisions(recorded: Recorded) -> None:
    said = _vlmrec("verify", "real", "--replay", "--store", str(recorded.store))
    assert "0 clips differ, 0 decisions not yet written" in said


def test_every_whole_reply_keeps_to_the_schema_that_was_sent(recorded: Recorded) -> None:
    bodies = "SELECT q.body, r.body FROM calls JOIN blobs q ON q.sha256 = request JOIN blobs r ON r.sha256 = reply"
    checked = 0
    for request, reply in recorded.rows(bodies):
        (choice,) = json.loads(reply)["choices"]
        if choice["finish_reason"] == "stop":
            schema = json.loads(request)["response_format"]["json_schema"]["schema"]
            jsonschema.validate(json.loads(choice["message"]["content"]), schema)
            checked += 1
    assert checked > 10


def test_replies_are_read_without_mending(recorded: Recorded) -> None:
    parsed = [json.loads(data) for (data,) in recorded.rows("SELECT data FROM events WHERE type = 'reply.parsed'")]
    whole = [reply for reply in parsed if reply.get("reason") != "truncated"]
    assert any(reply["strictness"] == "strict" for reply in whole)
    # a status and a value that contradict each other are within the schema, and no answer
    assert {reply.get("reason") for reply in whole if reply["outcome"] != "answer"} <= {"bad_value"}
    assert not any(reply["strictness"] == "loose" for reply in whole)


def test_the_frame_rate_and_the_seed_arrive(recorded: Recorded) -> None:
    counted = {tokens for (tokens,) in recorded.rows("SELECT media_tokens FROM calls WHERE state = 'completed'")}
    assert counted == {VIDEO_TOKENS}
    assert VIDEO_TOKENS >= 4000
    (body,) = recorded.rows("SELECT body FROM blobs WHERE sha256 = (SELECT request FROM calls LIMIT 1)")[0]
    assert json.loads(body)["seed"] == 0


def test_after_the_warming_call_the_prompt_comes_from_the_cache(recorded: Recorded) -> None:
    rows = recorded.rows("SELECT prompt_tokens, cached_tokens FROM calls WHERE state = 'completed' ORDER BY ended")
    rest = rows[1:]
    assert len(rest) > 10
    assert all(cached is not None for _, cached in rest), "start the server with --enable-prompt-tokens-details"
    assert sum(cached for _, cached in rest) >= 0.85 * sum(prompt for prompt, _ in rest)


def test_the_probe_finds_what_the_run_relied_on(tmp_path: Path) -> None:
    said = _vlmrec(
        *("probe", f"vllm/{_served_model()}", "--base-url", URL, "--store", str(tmp_path), "--largest", "4", "--json")
    )
    checks = {check["name"]: check["verdict"] for check in json.loads(said)["checks"]}
    for name in ("video seen", "frame rate honoured", "tokens as predicted", "cached tokens on a shared prefix"):
        assert checks[name] == "yes", name


def _completed(run: Recorded) -> int:
    if not (run.store / "real.db").exists():
        return 0
    try:
        return int(run.rows("SELECT count(*) FROM events WHERE type = 'call.completed'")[0][0])
    except sqlite3.OperationalError:  # the log is being made
        return 0


def _vlmrec(*arguments: str) -> str:
    done = subprocess.run([*VLMREC, *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def _served_model() -> str:
    with urllib.request.urlopen(f"{URL}/models", timeout=30) as reply:
        return str(json.load(reply)["data"][0]["id"])
