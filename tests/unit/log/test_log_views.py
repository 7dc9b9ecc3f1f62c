"""The SQL views give what the events say, and every column of them is described."""

import sqlite3
from collections.abc import Iterator
from typing import Any

import pytest
from runbuilder import RunBuilder

from vlmrec.events import (
    CallFailed,
    ClipReopened,
    Stage,
    Violation,
)
from vlmrec.log.database import shipped_schema
from vlmrec.log.views import VIEWS
from vlmrec.terms import Party, QuestionRef


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Iterator[sqlite3.Connection]:
    run = RunBuilder(clips=["a/클립", "b", "c"])
    clip = run.clip("a/클립").table(
        b'{"entities":[]}', (Violation(rule="shape", action="flag", message="no counterpart"),)
    )
    clip.turn(
        "q_collision",
        "none",
        value="yes",
        cost="0.001",
        cached_tokens=64,
        failures=1,
        evidence=(1.5, 2.0),
        explanation="부딪혔다",
    )
    clip.turn("q_alcohol", "other", status="unknown", put=False)
    against = QuestionRef(question_id="q_collision", party=Party.NONE)
    clip.turn(
        "q_maneuver", "other", status="unknown", demoted_from="straight",
        violations=(Violation(rule="domain", action="demote", message="not with yes", against=against),),
    )  # fmt: skip
    clip.submit(
        "asking",
        ["차43-2", "차41-1"],
        eliminated=[("차43-3", "q_maneuver", "other", "straight")],
        next_question=("q_signal", "other"),
    )
    clip.turn("q_signal", "other", unusable="refused")
    clip.submit("leading", ["차43-2"], fault=40).finish(incomplete=True)
    failed = run.clip("b", opened=False).fail("no frame", retryable=True)
    open_call: dict[str, Any] = {"stage": Stage.PREDICATE, "question_id": "q_collision", "party": Party.NONE}
    failed.request(open_call, 1)
    failed.add(
        CallFailed(
            **open_call,
            sample=0,
            attempt=1,
            kind="crash",
            reason="crash",
            message="cut",
            final=False,
            in_doubt=True,
            charged_cost="0.5",
        )
    )  # type: ignore[arg-type]
    failed.request(open_call, 2)
    failed.add(ClipReopened(ordinal=1, reason="retry"))
    run.clip("c").submit("out_of_scope").finish()
    run.note("wrong clip", clip="c")
    run.note("only said", exclude=False, clip="a/클립")
    connection = sqlite3.connect(run.write(tmp_path_factory.mktemp("views")))
    connection.row_factory = sqlite3.Row
    yield connection
    connection.close()


def rows(database: sqlite3.Connection, query: str, *columns: str) -> list[tuple[Any, ...]]:
    found = database.execute(query).fetchall()
    assert len({row["event"] for row in found} | {None}) > 1
    return [tuple(row[name] for name in columns) for row in found]


def test_every_view_and_every_column_is_described(database: sqlite3.Connection) -> None:
    in_file = {found.name for found in shipped_schema() if found.type == "view"}
    assert in_file == set(VIEWS)
    for name, view in VIEWS.items():
        columns = [column[0] for column in database.execute(f"SELECT * FROM {name} LIMIT 0").description]
        assert columns == list(view.columns)
        assert all(text.endswith((".", ")")) for text in (view.row, *view.columns.values()))


def test_turns_carry_the_answer_that_was_accepted(database: sqlite3.Connection) -> None:
    query = "SELECT * FROM turns ORDER BY seq"
    assert rows(
        database, query, "question_id", "party", "put", "usable", "status", "value", "violations", "evidence_start"
    ) == [
        ("q_collision", "none", 1, 1, "observed", "yes", 0, 1.5),
        ("q_alcohol", "other", 0, None, "unknown", None, None, None),
        ("q_maneuver", "other", 1, 1, "unknown", None, 1, None),
        ("q_signal", "other", 1, 0, None, None, None, None),
    ]
    assert rows(database, query, "clip", "explanation")[0] == ("a/클립", "부딪혔다")


def test_calls_are_one_row_for_each_send_with_its_end(database: sqlite3.Connection) -> None:
    columns = ("clip", "question_id", "attempt", "state", "reason", "in_doubt", "cost", "cached_tokens")
    assert rows(database, "SELECT * FROM calls ORDER BY seq", *columns) == [
        ("a/클립", "q_collision", 1, "failed", "server_error", 0, None, None),
        ("a/클립", "q_collision", 2, "completed", None, None, "0.001", 64),
        ("a/클립", "q_maneuver", 1, "completed", None, None, None, None),
        ("a/클립", "q_signal", 1, "completed", None, None, None, None),
        ("b", "q_collision", 1, "failed", "crash", 1, "0.5", None),
        ("b", "q_collision", 2, "open", None, None, None, None),
    ]


def test_submissions_say_what_survived_and_what_is_asked_next(database: sqlite3.Connection) -> None:
    columns = ("round", "status", "candidates", "charts", "eliminated", "next_question_id", "next_party")
    assert rows(database, "SELECT * FROM submissions ORDER BY seq", *columns) == [
        (1, "asking", 2, "차43-2 차41-1", 2, "q_signal", "other"),
        (2, "leading", 1, "차43-2", 0, None, None),
        (1, "out_of_scope", 0, None, 0, None, None),
    ]


def test_answers_are_those_accepted(database: sqlite3.Connection) -> None:
    columns = ("question_id", "status", "value", "source", "demoted_from", "demoted_by")
    assert rows(database, "SELECT * FROM answers ORDER BY seq", *columns) == [
        ("q_collision", "observed", "yes", "model", None, None),
        ("q_alcohol", "unknown", None, "not_observable", None, None),
        ("q_maneuver", "unknown", None, "model", "straight", "contradiction"),
    ]


def test_validations_are_one_row_for_each_rule_applied(database: sqlite3.Connection) -> None:
    columns = ("question_id", "rule", "held", "action", "message", "against_question_id", "against_party")
    assert rows(database, "SELECT * FROM validations ORDER BY seq", *columns) == [
        (None, "shape", 0, "flag", "no counterpart", None, None),
        ("q_collision", "domain", 1, None, None, None, None),
        ("q_maneuver", "domain", 0, "demote", "not with yes", "q_collision", "none"),
    ]


def test_outcomes_are_the_last_end_of_each_clip(database: sqlite3.Connection) -> None:
    columns = ("clip", "outcome", "incomplete", "charts", "fault_self", "reason", "retryable", "reopened", "excluded")
    assert rows(database, "SELECT * FROM outcomes ORDER BY clip", *columns) == [
        ("a/클립", "leading", 1, "차43-2", 40, None, None, 0, None),
        ("b", "failed", None, None, None, "no frame", 1, 1, None),
        ("c", "out_of_scope", 0, None, None, None, None, 0, "wrong clip"),
    ]


def test_views_join_through_indexes_and_never_by_scanning(database: sqlite3.Connection) -> None:
    for name in VIEWS:
        plan = [row["detail"] for row in database.execute(f"EXPLAIN QUERY PLAN SELECT * FROM {name}")]
        scans = [
            line for line in plan if line.startswith("SCAN") and "VIRTUAL TABLE" not in line and line != "SCAN last"
        ]
        assert not [
            line
            for line in scans
            if "USING INDEX" not in line and "CONSTANT ROW" not in line and "(subquery" not in line
        ], plan
