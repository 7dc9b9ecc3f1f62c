"""``vlmrec engine``: what the commands print, and that they agree with the HTTP calls."""

import json
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
import uvicorn
from click.testing import CliRunner, Result

from vlmrec.commands.engine import command
from vlmrec.engine.reference import load_reference
from vlmrec.engine.server import create_app
from vlmrec.engine.witness import position_of, witness
from vlmrec.errors import CheckFailed, InputError

REQUEST = {
    "answers": [
        {"question_id": "q_vehicle_kind", "party": "other", "status": "observed", "value": "car"},
        *(
            {"question_id": answer.question_id, "party": answer.party, "status": answer.status, "value": answer.value}
            for answer in witness(position_of(load_reference("0.1.3"), "차43-2", "A"))
        ),
    ],
    "skip": [{"question_id": "q_lane_line", "party": "other"}],
}


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    """A real server on a free loopback port."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        server = uvicorn.Server(uvicorn.Config(create_app("0.1.3"), log_level="warning", lifespan="off"))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        while not server.started:
            time.sleep(0.01)
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        server.should_exit = True
        thread.join()


def run(*args: str, stdin: str | None = None) -> Result:
    return CliRunner().invoke(command, args, input=stdin, catch_exceptions=False)


def test_evaluate_prints_what_the_http_call_replies(url: str, tmp_path: Path) -> None:
    file = tmp_path / "answers.json"
    file.write_text(json.dumps(REQUEST), encoding="utf-8")
    replied = httpx.post(f"{url}/evaluate", content=file.read_bytes()).content
    assert run("evaluate", str(file), "--engine", "0.1.3").stdout_bytes == replied + b"\n"
    assert run("evaluate", "-", stdin=json.dumps(REQUEST)).stdout_bytes == replied + b"\n"
    assert json.loads(replied)["status"] == "confirmed"


def test_evaluate_names_the_answer_that_is_wrong() -> None:
    wrong = {"answers": [{"question_id": "q_maneuver", "party": "none", "status": "unknown"}]}
    with pytest.raises(InputError, match="q_maneuver is put for self and other, not for none"):
        run("evaluate", "-", stdin=json.dumps(wrong))
    with pytest.raises(InputError, match="standard input is no request"):
        run("evaluate", "-", stdin="{")


def test_explain_tells_what_stands_what_fell_and_why_it_asks() -> None:
    told = run("explain", "-", stdin=json.dumps({"answers": REQUEST["answers"][:-4]})).stdout
    assert "차43-2 with self as A: Following vehicle going straight" in told
    assert "by q_lane_relation/none=adjacent_lane (needs same_lane):" in told
    assert "its answer separates what stands:" in told
    confirmed = run("explain", "-", "--lang", "ko", stdin=json.dumps(REQUEST)).stdout
    assert confirmed.splitlines()[1].startswith("confirmed:")
    assert "후행 직진 대 선행 진로변경" in confirmed
    assert "it decides the modifier" in confirmed


def test_explain_tells_of_gates_and_of_an_empty_list() -> None:
    gate = {"question_id": "q_direction_relation", "party": "none", "status": "observed", "value": "crossing"}
    told = run("explain", "-", stdin=json.dumps({"answers": [gate]})).stdout
    assert "out_of_scope" in told
    assert "gate:q_direction_relation/none=crossing" in told
    assert "next question: none" in told


def test_explain_of_an_empty_list_names_the_answers_that_stand_in_the_way() -> None:
    wrong = [
        each | {"value": "self_ahead"} if each["question_id"] == "q_order" else each for each in REQUEST["answers"]
    ]
    told = run("explain", "-", stdin=json.dumps({"answers": wrong})).stdout
    assert "none: the answers rule out every chart" in told
    line = "차43-2 with self as A but for q_order/none=self_ahead (needs other_ahead or side_by_side)"
    assert line in told.split("closest charts")[1]


def test_explain_as_json_says_the_same_as_values() -> None:
    asking = json.loads(run("explain", "-", "--json", stdin=json.dumps({"answers": REQUEST["answers"][:-4]})).stdout)
    assert asking["evaluation"]["status"] == "asking"
    assert asking["titles"].keys() == {each["chart"] for each in asking["evaluation"]["candidates"]}
    asked, branches = asking["next"], asking["next"]["branches"]
    assert (asked["question_id"], asked["why"]) == (asking["evaluation"]["next_question"]["question_id"], "separates")
    assert [branch["value"] for branch in branches] == list(
        load_reference("0.1.3").ledger.question(asked["question_id"]).codes
    )
    assert all(branch["left"] >= len(branch["charts"]) for branch in branches)
    confirmed = json.loads(run("explain", "-", "--json", stdin=json.dumps(REQUEST)).stdout)
    assert (confirmed["next"]["why"], confirmed["closest"]) == ("modifier", [])
    wrong = [
        each | {"value": "self_ahead"} if each["question_id"] == "q_order" else each for each in REQUEST["answers"]
    ]
    empty = json.loads(run("explain", "-", "--json", stdin=json.dumps({"answers": wrong})).stdout)
    assert empty["next"] is None
    [obstacle] = next(each for each in empty["closest"] if (each["chart"], each["self_is"]) == ("차43-2", "A"))[
        "but_for"
    ]
    assert obstacle == {
        "question_id": "q_order",
        "party": "none",
        "value": "self_ahead",
        "expects": ["other_ahead", "side_by_side"],
    }


def test_questions_lists_the_ledger_and_as_json_the_structs() -> None:
    listed = run("questions", "--engine", "0.1.1").stdout
    assert "starting_from_stop" in listed
    assert "상대 차량" in run("questions", "--lang", "ko").stdout
    document = json.loads(run("questions", "--json").stdout)
    assert document["data_version"] == load_reference("0.1.3").data_version
    assert len(document["questions"]) == len(load_reference("0.1.3").ledger.questions)


def test_diff_tells_new_gone_and_changed() -> None:
    told = run("diff", "0.1.1", "0.1.3").stdout
    assert "q_prior_stop_kind" in told
    assert "+reversing, -merging, -overtaking, -starting_from_stop" in told
    document = json.loads(run("diff", "0.1.1", "0.1.3", "--json").stdout)
    assert document["questions_removed"] == ["q_returns_in_front", "q_queue_stop", "q_bus_stop"]
    assert len(document["rules_added"]) == 7
    assert document["migration"].startswith(document["before"])
    same = json.loads(run("diff", "0.1.3", "0.1.3", "--json").stdout)
    assert (same["questions_changed"], same["charts_changed"], same["migration"]) == ([], [], None)


def test_check_passes_over_the_network(url: str) -> None:
    result = run("check", url, "--cases", "2")
    assert result.exit_code == 0
    assert "BROKEN" not in result.stdout
    assert json.loads(run("check", url, "--cases", "1", "--json").stdout)["broken"] == []


def test_check_fails_where_something_else_answers(url: str) -> None:
    with pytest.raises(CheckFailed, match="1 of 29 laws do not hold"):
        run("check", f"{url}/elsewhere", "--cases", "1")
    with pytest.raises(InputError, match="begins with http"):
        run("check", "localhost:8091")


def test_help_of_every_command_has_a_line_to_paste() -> None:
    for name, sub in command.commands.items():
        assert f"vlmrec engine {name}" in (sub.help or "")
