"""Labels brought to a run: what their engine doesn't have is refused by file, key and name; unknown engines are named."""

from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from msgspec.structs import replace
from samples import sample_runs

from vlmrec.commands.score import command as score
from vlmrec.engine.reference import load_reference, versions
from vlmrec.errors import InputError
from vlmrec.gold import GoldAnswer, GoldLabel, load_gold, write_gold
from vlmrec.ledger import Ledger
from vlmrec.report.goldmap import gold_for_ledger, load_labels, unknown_ledgers
from vlmrec.terms import Party, Status

NEWEST = load_reference(versions()[-1]).data_version


def write(folder: Path, **changes: Any) -> Path:
    write_gold(folder, GoldLabel(clip_id="k1", **{"data_version": NEWEST, **changes}))
    return folder


@pytest.mark.parametrize(
    ("changes", "file", "key"),
    [
        ({"gold_leaf": "차99-9"}, "k1.json", "gold_leaf"),
        ({"gold_leaf": "차43-2", "review_leaf": "차99-9"}, "k1.json", "review_leaf"),
        ({"equivalent_leaves": ("차43-3", "차99-9")}, "k1.json", r"equivalent_leaves\[1\]"),
        ({"gold_leaf": "차99-9", "labeler": "A"}, "k1__A.json", "gold_leaf"),
        ({"gold_leaf": "차99-9", "data_version": load_reference("0.1.1").data_version}, "k1.json", "gold_leaf"),
        ({"gold_leaf": "차99-9", "labeler": "kim"}, "k1.json", "gold_leaf"),
    ],
)
def test_a_chart_that_the_engine_does_not_have_is_refused(
    tmp_path: Path, changes: dict[str, Any], file: str, key: str
) -> None:
    with pytest.raises(InputError, match=f"{file}: {key} names the chart '차99-9'.*차43-2"):
        load_labels(write(tmp_path, **changes))


@pytest.mark.parametrize(
    "changes",
    [
        {"gold_leaf": "차43-2", "review_leaf": "out_of_scope", "equivalent_leaves": ("차43-3",)},
        {"gold_leaf": "차99-9", "data_version": "0.1.3+of somebody else"},
        {"gold_leaf": "차99-9", "data_version": "9.9.9+unknown"},
        {"gold_leaf": "차12-1", "layer2_exclude": "out_of_section"},
    ],
)
def test_known_charts_unknown_engines_and_other_sections_are_left_alone(
    tmp_path: Path, changes: dict[str, Any]
) -> None:
    assert list(load_labels(write(tmp_path, **changes)).reviewed) == ["k1"]


def said(question: str, party: str, value: str | None) -> tuple[GoldAnswer, ...]:
    """A good answer, and this one."""
    status = Status.OBSERVED if value is not None else Status.UNKNOWN
    good = GoldAnswer(question_id="q_collision", party=Party.NONE, status=Status.OBSERVED, value="vehicle_contact")
    return good, GoldAnswer(question_id=question, party=Party(party), status=status, value=value)


WRONG = [
    (("q_maneuver", "other", "banana"), r"answers\[1\].value is 'banana'.*no option of q_maneuver.*lane_change"),
    (("q_manoeuver", "other", "straight"), r"answers\[1\].question_id names 'q_manoeuver'.*did you mean q_maneuver"),
    (("q_maneuver", "none", None), r"answers\[1\].party is 'none', but .* asks q_maneuver for self, other"),
]


@pytest.mark.parametrize(("answer", "message"), WRONG)
@pytest.mark.parametrize(("labeler", "file"), [("reviewed", "k1.json"), ("A", "k1__A.json")])
def test_an_answer_that_its_ledger_does_not_have_is_refused(
    tmp_path: Path, answer: tuple[str, str, str | None], message: str, labeler: str, file: str
) -> None:
    write(tmp_path, answers=said(*answer), labeler=labeler)
    with pytest.raises(InputError, match=f"{file}: {message}") as refused:
        load_labels(tmp_path)
    assert refused.value.exit_code == 2


def test_an_answer_is_held_against_the_ledger_it_was_made_with_and_no_other(tmp_path: Path) -> None:
    old, new = load_reference("0.1.1").ledger, load_reference(versions()[-1]).ledger
    gone = next(key for key in old.turns if key.question_id not in new)
    value = old.question(gone.question_id).codes[0]
    answers = (GoldAnswer(question_id=gone.question_id, party=gone.party, status=Status.OBSERVED, value=value),)
    loaded = load_labels(write(tmp_path / "old", answers=answers, data_version=old.data_version))
    gold_for_ledger(loaded, new)
    with pytest.raises(InputError, match=f"names '{gone.question_id}'"):
        load_labels(write(tmp_path / "new", answers=answers))


@pytest.mark.parametrize(("answer", "message"), WRONG)
def test_a_run_of_an_engine_that_is_not_embedded_brings_the_ledger_to_check_with(
    tmp_path: Path, answer: tuple[str, str, str | None], message: str
) -> None:
    ledger: Ledger = replace(load_reference(versions()[-1]).ledger, data_version="of somebody else")
    loaded = load_labels(write(tmp_path, answers=said(*answer), data_version="of somebody else"))
    with pytest.raises(InputError, match=f"k1.json: {message}"):
        gold_for_ledger(loaded, ledger)


def test_labels_of_a_ledger_unknown_here_are_loaded_and_named_once(tmp_path: Path) -> None:
    write(tmp_path, answers=said("q_maneuver", "other", "banana"), data_version="9.9")
    write(tmp_path, answers=said("q_maneuver", "other", "banana"), data_version="9.9", labeler="A")
    loaded = load_labels(tmp_path)
    warning = unknown_ledgers(loaded, {NEWEST})
    assert warning is not None
    assert "9.9 (2 files)" in warning
    assert "4 answers are left out" in warning
    assert NEWEST in warning
    assert unknown_ledgers(loaded, {"9.9"}) is None
    assert unknown_ledgers(load_gold(write(tmp_path / "known")), set()) is None


def test_a_command_says_on_stderr_which_labels_it_could_not_check(tmp_path: Path) -> None:
    log = sample_runs()[0].write(tmp_path)
    for version, warned in (("9.9", 1), ("test-ledger", 0)):
        gold = write(tmp_path / version, data_version=version)
        told = CliRunner().invoke(score, [str(log), "--gold", str(gold)])
        assert told.exit_code == 0, told.output
        assert told.stderr.count("no ledger here has") == warned
