"""People and older records as runs: through the engine, replayable, and open to every projection."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from vlmrec.commands.import_ import command
from vlmrec.commands.scan import command as scan
from vlmrec.commands.score import command as score
from vlmrec.commands.show import command as show
from vlmrec.commands.verify import command as verify
from vlmrec.engine.reference import load_reference
from vlmrec.gold import GoldAnswer, GoldLabel, write_gold
from vlmrec.terms import Party, Status

LEDGER = load_reference("0.1.3").ledger
SEEN = {("q_collision", "none"): "vehicle_contact", ("q_direction_relation", "none"): "same_direction",
        ("q_vehicle_kind", "other"): "car", ("q_maneuver", "other"): "lane_change", ("q_maneuver", "self"): "straight"}  # fmt: skip


def run(*arguments: str) -> Result:
    return CliRunner().invoke(command, [str(argument) for argument in arguments])


@pytest.fixture
def gold(tmp_path: Path) -> Path:
    """Labellers A and B and a reviewer on one clip; A misses the manoeuvre."""
    for labeler, missed in (("A", "q_maneuver"), ("B", None), ("reviewed", None)):
        answers = tuple(
            GoldAnswer(
                question_id=question,
                party=Party(party),
                status=Status.UNKNOWN if question == missed else Status.OBSERVED,
                value=None if question == missed else value,
                evidence_start=2.0,
            )
            for (question, party), value in SEEN.items()
        )
        write_gold(
            tmp_path / "gold",
            GoldLabel(
                clip_id="c1", labeler=labeler, answers=answers, gold_leaf="차43-2", data_version=LEDGER.data_version
            ),
        )
    return tmp_path / "gold"


def test_a_labeller_becomes_a_run_that_replays_and_scores(gold: Path, tmp_path: Path) -> None:
    done = run("gold", gold, "--run-id", "human-A", "--store", tmp_path)
    assert done.exit_code == 0, done.output
    assert "human-A: 5 answers on 1 clips" in done.stdout
    again = run("gold", gold, "--run-id", "as-json", "--labeler", "A", "--store", tmp_path, "--json")
    assert json.loads(again.stdout) == {
        "run": "as-json",
        "path": str(tmp_path / "as-json.db"),
        "answers": 5,
        "clips": 1,
        "left_out": [],
        "agreeing": 0,
        "comparable": 0,
    }
    log = str(tmp_path / "human-A.db")
    replayed = CliRunner().invoke(verify, ["--replay", log])
    assert replayed.exit_code == 0, replayed.output
    scored = json.loads(CliRunner().invoke(score, [log, "--gold", str(gold), "--json"]).stdout)
    assert scored["layer1"]["total"]["missed"] == 2
    assert scored["measured"]["completed"] == 0
    shown = json.loads(CliRunner().invoke(show, [log, "--json"]).stdout)
    turns = shown["clips"][0]["turns"]
    assert all(turn["answer"]["source"] == "given" for turn in turns if turn["answer"])


@pytest.mark.parametrize(("run_id", "labeler"), [("human-B", "B"), ("people", "reviewed"), ("human-A", "A")])
def test_whose_labels_are_taken_follows_the_run_id_unless_named(
    gold: Path, tmp_path: Path, run_id: str, labeler: str
) -> None:
    from vlmrec.events import RunStarted
    from vlmrec.log import open_log

    assert run("gold", gold, "--run-id", run_id, "--store", tmp_path).exit_code == 0
    with open_log(tmp_path / f"{run_id}.db") as log:
        started = next(log.events([RunStarted.type])).data
    assert isinstance(started, RunStarted)
    assert started.manifest.extra["imported"]["labeler"] == labeler
    assert started.manifest.model == f"human/{labeler}"


def test_labels_go_to_an_older_engine_through_the_declared_migration(gold: Path, tmp_path: Path) -> None:
    done = run("gold", gold, "--run-id", "old-engine", "--engine", "0.1.1", "--store", tmp_path)
    assert done.exit_code == 0, done.output
    assert CliRunner().invoke(verify, ["--replay", str(tmp_path / "old-engine.db")]).exit_code == 0


def test_a_labeller_nobody_knows_is_refused_with_those_there_are(gold: Path, tmp_path: Path) -> None:
    done = run("gold", gold, "--run-id", "x", "--labeler", "C", "--store", tmp_path)
    assert "reviewed, A, B" in str(done.exception)


def records(tmp_path: Path, *lines: object) -> Path:
    path = tmp_path / "old.jsonl"
    path.write_text(
        "\n".join(line if isinstance(line, str) else json.dumps(line, ensure_ascii=False) for line in lines)
    )
    return path


GOOD = {"clip": "c1.mp4", "question": "q_collision", "party": None, "asked_actual": "…", "raw_response": "The two cars collide.",
        "parsed": {"status": "observed", "value": "vehicle_contact"}, "evidence": [4.0, 4.5], "latency": 3.2,
        "candidates_before": ["차43-2", "차43-3"], "candidates_after": ["차43-2"]}  # fmt: skip


def test_older_records_become_a_run_marked_as_imported(tmp_path: Path) -> None:
    other = {
        "clip": "c1",
        "question": "q_maneuver",
        "party": "other",
        "parsed": "unknown",
        "raw_response": "There is no collision.",
    }
    done = run("turns", records(tmp_path, GOOD, other), "--run-id", "old", "--model", "qwen/old", "--store", tmp_path)
    assert done.exit_code == 0, done.output
    assert "2 answers on 1 clips, 0 left out" in done.stdout
    assert "recorded charts after 0 of 1 turns" in done.stdout
    log = str(tmp_path / "old.db")
    assert CliRunner().invoke(verify, ["--replay", log]).exit_code == 0
    turns = {
        turn["question_id"]: turn
        for turn in json.loads(CliRunner().invoke(show, [log, "--json"]).stdout)["clips"][0]["turns"]
    }
    assert turns["q_collision"]["answer"]["explanation"] == "The two cars collide."
    assert turns["q_collision"]["answer"]["evidence_end"] == 4.5
    found = json.loads(CliRunner().invoke(scan, [log, "--json"]).stdout)["findings"]
    assert [finding["rule"] for finding in found] in ([], ["collision_told_both_ways"])


@pytest.mark.parametrize(
    ("bad", "why"),
    [
        ("{", "not valid JSON"),
        ({**GOOD, "question": "q_unheard_of"}, "expected a clip and a question"),
        ({**GOOD, "parsed": {"value": "explosion"}}, "'explosion' is not one of"),
        ({**GOOD, "parsed": None}, "no parsed answer"),
        ({**GOOD, "question": "q_maneuver", "party": "both", "parsed": "straight"}, "put for self, other"),
    ],
)
def test_a_record_that_cannot_be_used_is_left_out_with_its_line_and_reason(
    tmp_path: Path, bad: object, why: str
) -> None:
    done = run("turns", records(tmp_path, GOOD, bad), "--run-id", "old", "--store", tmp_path)
    assert done.exit_code == 0, done.output
    assert "1 answers on 1 clips, 1 left out" in done.stdout
    assert "line 2" in done.stderr
    assert why in done.stderr


def test_a_field_map_says_where_things_are(tmp_path: Path) -> None:
    line = {"vid": "c1", "item": {"id": "q_collision"}, "out": {"code": "no_contact"}}
    fields = [option for field in ("clip=vid", "question=item.id", "value=out.code") for option in ("--field", field)]
    done = run("turns", records(tmp_path, line), "--run-id", "old", "--store", tmp_path, *fields)
    assert "1 answers" in done.stdout
    wrong = run("turns", records(tmp_path, line), "--run-id", "other", "--store", tmp_path, "--field", "klip=vid")
    assert "expected NAME=PATH" in str(wrong.exception)


def test_a_file_without_a_usable_record_makes_no_run(tmp_path: Path) -> None:
    done = run("turns", records(tmp_path, {"clip": "c1"}), "--run-id", "old", "--store", tmp_path)
    assert "no record could be used" in str(done.exception)
    assert not (tmp_path / "old.db").exists()


def test_labels_with_an_answer_that_their_ledger_does_not_have_are_not_imported(tmp_path: Path) -> None:
    answer = GoldAnswer(question_id="q_maneuver", party=Party.OTHER, status=Status.OBSERVED, value="banana")
    write_gold(tmp_path / "bad", GoldLabel(clip_id="c1", answers=(answer,), data_version=LEDGER.data_version))
    refused = run("gold", tmp_path / "bad", "--run-id", "human", "--store", tmp_path)
    assert refused.exit_code != 0
    assert "c1.json: answers[0].value is 'banana'" in str(refused.exception)
    assert not (tmp_path / "human.db").exists()
