"""Everything that reads a run works with sockets blocked and no key set, and gives the same bytes twice."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner
from media_factory import write_clip
from scripted_server import ChatCall, answer, scripted_server

from vlmrec.cli import cli
from vlmrec.engine.reference import load_reference, versions

SCRIPT = """
import socket, sys
def refuse(*args, **kwargs):
    raise AssertionError("a socket was opened")
socket.socket.connect = socket.socket.connect_ex = refuse
socket.create_connection = refuse
from vlmrec.cli import cli
cli(sys.argv[1:], prog_name="vlmrec")
"""


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two runs of one clip that differ in one axis, and its label."""
    folder = tmp_path_factory.mktemp("offline")
    write_clip(folder / "c.mp4", pts=tuple(range(4)), size=(64, 48))
    (folder / "gold").mkdir()
    label = {
        "clip_id": "c",
        "gold_leaf": "차43-2",
        "data_version": load_reference(versions()[-1]).data_version,
        "answers": [{"question_id": "q_collision", "party": "none", "status": "observed", "value": "vehicle_contact"}],
    }
    (folder / "gold" / "c.json").write_text(json.dumps(label), encoding="utf-8")

    def rule(call: ChatCall) -> object:
        known = {"q_collision": "vehicle_contact", "q_direction_relation": "crossing"}
        said = known.get(str(call.question))
        return answer(said) if said else answer(None, status="unknown")

    with scripted_server(rule) as server:
        for run_id, language in (("one", "ko"), ("two", "en")):
            arguments = ["extract", str(folder / "c.mp4"), "--run-id", run_id, "--condition", f"L={language}"]
            result = CliRunner().invoke(
                cli,
                [*arguments, "--model", "x/m", "--base-url", server.url],
                env={"VLMREC_STORE": str(folder / "store")},
                catch_exceptions=False,
            )
            assert result.exit_code == 0, result.output
    return folder


@pytest.mark.parametrize(
    "arguments",
    [
        ["score", "one", "--gold", "gold"],
        ["show", "one"],
        ["show", "one", "c"],
        ["status", "one"],
        ["verify", "one", "--replay"],
        ["events", "one"],
        ["rescore", "one", "--engine", "0.1.1"],
        ["compare", "one", "two", "--gold", "gold"],
        ["confusion", "one", "two", "--gold", "gold", "--question", "q_collision"],
        ["scan", "one"],
        ["retrofit", "describe-map", "one", "--gold", "gold"],
        ["report", "one", "two", "--gold", "gold", "-o", "report.html"],
    ],
    ids=lambda arguments: " ".join(arguments[:2]),
)
def test_a_reading_command_needs_no_network_and_no_key(store: Path, arguments: list[str]) -> None:
    environment = {"VLMREC_STORE": str(store / "store"), "HOME": str(store), "PATH": ""}
    printed = []
    for _ in range(2):
        ended = subprocess.run(
            [sys.executable, "-c", SCRIPT, *arguments], cwd=store, env=environment, capture_output=True, check=False
        )
        assert ended.returncode == 0, (ended.stdout + ended.stderr).decode()
        written = (store / "report.html").read_bytes() if "-o" in arguments else b""
        printed.append(ended.stdout + written)
    if arguments[0] != "status":  # how far a run has come is told against the time
        assert printed[0] == printed[1]
