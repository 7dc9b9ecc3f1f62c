"""A text-only model as mapper: its calls are recorded in a derived log, and a second look makes none."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from runbuilder import RunBuilder, axes
from samples import label
from scripted_server import ChatCall, answer, scripted_server

from vlmrec.commands.retrofit import command
from vlmrec.errors import InputError
from vlmrec.events import CallCompleted, CallRequested
from vlmrec.gold import write_gold
from vlmrec.log import open_log
from vlmrec.log.verify import verify_log

CODES = ("straight", "lane_change", "stopped")


def described_run(folder: Path) -> Path:
    run = RunBuilder(clips=["a", "b"])
    run.clip("a").turn(
        "q_maneuver", "other", value="straight", explanation="straight: it slid over beside us.", options=CODES
    )
    run.clip("b").turn("q_maneuver", "other", value="lane_change", explanation="It kept its lane.", options=CODES)
    for clip in ("a", "b"):
        write_gold(folder / "gold", label(clip, answers={("q_maneuver", "other"): "lane_change"}))
    return run.write(folder)


def retrofit(log: Path, folder: Path, *more: str) -> Result:
    arguments = ["describe-map", str(log), "--gold", str(folder / "gold"), "--store", str(folder), "--json", *more]
    return CliRunner().invoke(command, arguments)


def test_a_mappers_calls_are_stored_and_replayed(tmp_path: Path) -> None:
    log = described_run(tmp_path)

    def mapper(call: ChatCall) -> dict[str, object]:
        assert "straight:" not in call.text.split("[options]")[0]
        return answer("lane_change" if "slid over" in call.text else "straight")

    with scripted_server(mapper) as server:
        options = ("--mapper", "vllm/scripted", "--base-url", server.url)
        first = retrofit(log, tmp_path, *options)
        assert first.exit_code == 0, (first.output, first.exception)
        asked = len(server.calls)
        second = retrofit(log, tmp_path, *options)
        assert len(server.calls) == asked == 2
    found = json.loads(first.stdout)
    assert found["mapper"] == "vllm/scripted"
    assert (found["counts"]["recovered"], found["counts"]["broken"]) == (1, 1)
    assert json.loads(second.stdout) == found
    (derived,) = tmp_path.glob("run--map-*.db")
    assert verify_log(derived).holds
    with open_log(derived) as stored:
        assert stored.info.parent is not None
        assert stored.count([CallRequested.type]) == stored.count([CallCompleted.type]) == 2


def test_without_a_mapper_the_declared_rules_map_and_nothing_is_called(tmp_path: Path) -> None:
    result = retrofit(described_run(tmp_path), tmp_path)
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["mapper"].startswith("rules:")
    assert list(tmp_path.glob("run--map-*.db")) == []


@pytest.mark.parametrize(
    "options", [(), ("--mapper", "vllm/scripted", "--base-url", "http://127.0.0.1:9/v1")], ids=["rules", "model"]
)
def test_a_run_that_asked_for_descriptions_is_refused(tmp_path: Path, options: tuple[str, ...]) -> None:
    run = RunBuilder(clips=["a"], axes=axes(Q="describe-map"))
    run.clip("a").turn("q_maneuver", "other", value="straight", explanation="It kept its lane.", options=CODES)
    write_gold(tmp_path / "gold", label("a", answers={("q_maneuver", "other"): "lane_change"}))
    refused = retrofit(run.write(tmp_path), tmp_path, *options)
    assert isinstance(refused.exception, InputError)
    assert "Q=describe-map" in str(refused.exception)
    assert not list(tmp_path.glob("*--map-*.db"))
