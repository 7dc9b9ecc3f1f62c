"""A run of the older ledger, rescored on the newer one: offline, byte-identical, explained."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from media_factory import write_clip
from scripted_server import ChatCall, answer, scripted_server

from vlmrec.cli import cli
from vlmrec.engine.reference import load_reference
from vlmrec.engine.witness import witness
from vlmrec.log.format import LogKind
from vlmrec.log.reader import open_log
from vlmrec.terms import Status, TurnKey

CLIPS = 12


@pytest.fixture(scope="module")
def run_of_the_older_ledger(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Twelve clips, each answered as one chart's witness would have it, extracted at 0.1.1 from a scripted model."""
    folder = tmp_path_factory.mktemp("rescored")
    clips = folder / "clips"
    clips.mkdir()
    for number in range(CLIPS):
        write_clip(clips / f"clip-{number:02}.mp4", pts=tuple(range(4)), size=(64, 48))
    reference = load_reference("0.1.1")
    by_chart = {position.chart.id: position for position in reference.tables.positions if position.self_is == "A"}
    scenes = [{each.key: each for each in witness(position)} for position in list(by_chart.values())[:CLIPS]]

    def rule(call: ChatCall) -> Any:
        assert call.clip is not None
        scene = scenes[int(call.clip.removeprefix("clip-"))]
        said = scene.get(TurnKey(str(call.question), call.party))  # type: ignore[arg-type]
        if said is None or said.status is not Status.OBSERVED:
            return answer(None, status="unknown")
        return answer(said.value)

    with scripted_server(rule) as server:
        arguments = ["extract", str(clips), "--run-id", "old", "--engine", "0.1.1", "--model", "scripted/m"]
        result = invoke(folder, *arguments, "--base-url", server.url)
    assert result.exit_code == 0, result.output
    return folder


def invoke(folder: Path, *arguments: str) -> Any:
    return CliRunner().invoke(cli, list(arguments), env={"VLMREC_STORE": str(folder / "store")}, catch_exceptions=False)


def rescored(folder: Path, *arguments: str) -> dict[str, Any]:
    result = invoke(folder, "rescore", "old", *arguments, "--json")
    assert result.exit_code == 0, result.output
    document: dict[str, Any] = json.loads(result.stdout)
    return document


def test_rescoring_twice_prints_the_same_bytes_and_explains_every_change(run_of_the_older_ledger: Path) -> None:
    folder = run_of_the_older_ledger
    first, second = (invoke(folder, "rescore", "old", "--engine", "0.1.3", "--json").stdout for _ in range(2))
    assert first == second
    document = json.loads(first)
    assert len(document["clips"]) == CLIPS
    assert document["kept"] > 0
    assert document["approximate"]
    for clip in document["clips"]:
        same = (clip["before"]["outcome"], clip["before"]["charts"]) == (
            clip["after"]["outcome"],
            clip["after"]["charts"],
        )
        if clip["changed"] and not same:
            assert clip["lost"] or clip["gained"] or clip["missing"] or clip["approximate"]
        for loss in clip["lost"]:
            assert loss["question_id"] is not None


def test_rescoring_on_the_runs_own_engine_changes_nothing(run_of_the_older_ledger: Path) -> None:
    document = rescored(run_of_the_older_ledger, "--engine", "0.1.1")
    assert document["changed"] == 0
    assert document["incomplete"] == 0
    assert document["approximate"] == {}


@pytest.mark.parametrize("mode", ["planned", "all"])
def test_a_saved_rescoring_is_a_derived_log_that_names_its_parent_and_holds(
    run_of_the_older_ledger: Path, mode: str
) -> None:
    folder = run_of_the_older_ledger
    in_memory = rescored(folder, "--engine", "0.1.3", "--mode", mode)
    saved = rescored(folder, "--engine", "0.1.3", "--mode", mode, "--save")
    del in_memory["provenance"], saved["provenance"]
    assert saved == in_memory
    logs = [path for path in (folder / "store").glob("old--*.db")]  # noqa: C416
    assert logs
    for path in logs:
        with open_log(path) as log, open_log(folder / "store" / "old.db") as parent:
            assert log.info.kind is LogKind.DERIVED
            assert log.info.parent is not None
            assert (log.info.parent.uuid, log.info.parent.head) == (parent.info.uuid, parent.head())
            assert log.count(["call.requested"]) == 0
        verify = invoke(folder, "verify", "--replay", str(path))
        assert verify.exit_code == 0, verify.output


def test_rescoring_reaches_no_model_and_no_network(run_of_the_older_ledger: Path) -> None:
    """In a process of its own, with sockets blocked and no key set: no client of a model is even imported."""
    script = (
        "import socket, sys\n"
        "def refuse(*args, **kwargs): raise AssertionError('a socket was opened')\n"
        "socket.socket.connect = refuse\n"
        "socket.create_connection = refuse\n"
        "from vlmrec.cli import cli\n"
        "cli(['rescore', 'old', '--engine', '0.1.3'], standalone_mode=False)\n"
        "clients = {'vlmrec.models.client', 'vlmrec.models.endpoint', 'openai', 'vlmrec.observer.app', 'boto3', 'av'}\n"
        "loaded = clients & set(sys.modules)\n"
        "assert not loaded, loaded\n"
    )
    environment = {"VLMREC_STORE": str(run_of_the_older_ledger / "store"), "PATH": "", "HOME": "/nonexistent"}
    ended = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr


def test_a_servers_replies_are_saved_so_that_asking_again_is_offline(run_of_the_older_ledger: Path) -> None:
    import asyncio
    import threading

    import uvicorn

    from vlmrec.engine.server import create_app

    folder = run_of_the_older_ledger
    server = uvicorn.Server(uvicorn.Config(create_app("0.1.3"), port=0, log_level="error"))
    thread = threading.Thread(target=lambda: asyncio.run(server.serve()))
    thread.start()
    while not server.started:
        pass
    url = f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    try:
        online = rescored(folder, "--engine-url", url)
    finally:
        server.should_exit = True
        thread.join()
    offline = rescored(folder, "--engine-url", url)
    assert offline == online
    embedded = rescored(folder, "--engine", "0.1.3")
    for document in (online, embedded):
        del document["provenance"]
    assert online == embedded


def test_an_engine_must_be_named_and_known(run_of_the_older_ledger: Path) -> None:
    wrong = ((["--engine", "9.9.9"], "9.9.9"), ([], "--engine"), (["--engine-url", "nonsense"], "base URL 'nonsense'"))
    for arguments, named in wrong:
        result = CliRunner().invoke(
            cli, ["rescore", "old", *arguments], env={"VLMREC_STORE": str(run_of_the_older_ledger / "store")}
        )
        assert result.exit_code == 2
        assert named in result.output


def test_a_top_up_asks_only_what_is_missing_and_takes_the_rest_over_with_its_provenance(
    run_of_the_older_ledger: Path,
) -> None:
    folder = run_of_the_older_ledger
    plan = invoke(folder, "extract", "--top-up", "old", "--engine", "0.1.3", "--dry-run", "--json")
    assert plan.exit_code == 0, plan.output
    planned = json.loads(plan.stdout)
    with scripted_server(lambda call: answer(None, status="unknown")) as server:
        result = invoke(
            folder, "extract", "--run-id", "topped", "--top-up", "old", "--engine", "0.1.3", "--base-url", server.url
        )
        asked = {(call.clip, call.question, call.party) for call in server.calls}
    assert result.exit_code == 0, result.output
    assert len(asked) >= planned["calls"] > 0
    with open_log(folder / "store" / "topped.db") as log, open_log(folder / "store" / "old.db") as parent:
        given = [event for event in log.events(["answer.given"])]  # noqa: C416
        taken = {(event.clip, event.data.question_id, event.data.party) for event in given}  # type: ignore[attr-defined]
        assert not asked & taken
        for event in given:
            source = event.data.source  # type: ignore[attr-defined]
            assert source.log == parent.info.uuid
            assert parent.event(source.event) is not None
    assert invoke(folder, "verify", "--replay", "topped").exit_code == 0
