"""Where the loss is: the embedded model with its own entity tables, with the labels', and with deliberately wrong ones."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from vlmrec.cli import cli
from vlmrec.gold import load_gold
from vlmrec.log.reader import open_log

pytestmark = pytest.mark.deep

EXPERIMENT = """
clips = ["clips"]
base = "S2,V=full,L=en"
[[condition]]
name = "own"
[[condition]]
name = "gold"
stage0_from = "gold:clips/gold"
[[condition]]
name = "wrong"
stage0_from = "gold:wrong"
[[condition]]
name = "gold-answers"
stage0_from = "gold:clips/gold"
answers_from = "gold:clips/gold"
"""

Said = dict[tuple[str, str, str], tuple[str, str | None]]


def vlmrec(*arguments: str) -> None:
    result = CliRunner().invoke(cli, list(arguments))
    assert result.exit_code == 0, result.output


def deliberately_wrong(label: dict[str, Any]) -> dict[str, Any]:
    """The counterpart is of another kind, goes another way and stays in a corner; contact is at another time."""
    table = label["stage0"]
    for entity in table["entities"]:
        if entity["role"] == "counterpart":
            entity["heading"] = "perpendicular" if entity["heading"] == "oncoming" else "oncoming"
            entity["kind"] = "car" if entity["kind"] == "motorcycle" else "motorcycle"
            entity["boxes"] = [{**timed, "box": [0, 0, 30, 30]} for timed in entity["boxes"]]
    contact = table["contact_time"]
    table["contact_time"] = 5.0 if contact is None else contact - 2.5 if contact > 3 else contact + 2.5
    return label


def answers(log: Path) -> Said:
    with open_log(log) as reader:
        return {
            (str(event.clip), event.data.question_id, event.data.party): (event.data.status, event.data.value)  # type: ignore[attr-defined]
            for event in reader.events(["answer.accepted"])
            if event.data.source == "model"  # type: ignore[attr-defined]
        }


def rules_broken(log: Path) -> set[str]:
    with open_log(log) as reader:
        verdicts = reader.events(["table.checked", "answer.validated"])
        return {violation.rule for event in verdicts for violation in event.data.violations}  # type: ignore[attr-defined]


def test_right_tables_help_wrong_ones_harm_and_the_rules_say_so(tmp_path: Path) -> None:
    clips, store = tmp_path / "clips", tmp_path / "store"
    vlmrec(
        "synth",
        "--out",
        str(clips),
        "--seed",
        "3",
        "--count",
        "4",
        "--size",
        "640x360",
        "--fps",
        "10",
        "--duration",
        "8",
    )
    wrong = tmp_path / "wrong"
    wrong.mkdir()
    for path in sorted((clips / "gold").glob("[!_]*.json")):
        changed = deliberately_wrong(json.loads(path.read_text("utf-8")))
        (wrong / path.name).write_text(json.dumps(changed), encoding="utf-8")
    (tmp_path / "cells.toml").write_text(EXPERIMENT, encoding="utf-8")
    vlmrec("experiment", str(tmp_path / "cells.toml"), "--store", str(store))

    runs = {name: answers(store / f"cells-{name}.db") for name in ("own", "gold", "wrong")}
    labels = {
        (clip, answer.question_id, answer.party): (answer.status, answer.value)
        for clip, label in load_gold(clips / "gold").reviewed.items()
        for answer in label.answers
    }
    common = [key for key in labels if all(key in said for said in runs.values())]
    right = {name: sum(said[key] == labels[key] for key in common) for name, said in runs.items()}
    print(f"of {len(common)} common answers right: {right}")
    assert right["own"] <= right["gold"]
    assert right["wrong"] < right["gold"]
    found = rules_broken(store / "cells-wrong.db") - rules_broken(store / "cells-gold.db")
    assert found & {
        "table_box_not_frozen",
        "table_contact_in_span",
        "table_heading_oncoming",
        "table_heading_perpendicular",
    }
    assert not {rule for rule in rules_broken(store / "cells-gold.db") if rule.startswith("table_")}

    with open_log(store / "cells-gold-answers.db") as reader:
        endings = {event.clip: event.data for event in reader.events(["clip.finished"])}
    for clip, label in load_gold(clips / "gold").reviewed.items():
        charts = {candidate.chart for candidate in endings[clip].candidates}  # type: ignore[attr-defined]
        assert charts == ({label.leaf} if label.leaf != "out_of_scope" else set())
