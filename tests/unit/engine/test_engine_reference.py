"""The embedded data: what each version holds, and what its content hash answers to."""

import os
import subprocess
import sys
from importlib.resources import files
from pathlib import Path

import pytest

from vlmrec.engine.reference import build_reference, load_reference, versions
from vlmrec.errors import InputError

ROOT = Path(__file__).resolve().parents[3]
FIGURES = ROOT / "tests" / "golden" / "engine" / "figures.txt"
DATA = files("vlmrec.engine").joinpath("data")


def texts(version: str) -> tuple[bytes, bytes]:
    folder = DATA.joinpath(version)
    return folder.joinpath("ledger.yaml").read_bytes(), folder.joinpath("same_direction.yaml").read_bytes()


@pytest.mark.parametrize("version", versions())
def test_base_ratios_and_rows_are_the_printed_ones(version: str) -> None:
    lines = []
    for chart in load_reference(version).charts:
        bases = ",".join(str(share) for share in (chart.base_a, *(variant.base_a for variant in chart.variants)))
        lines.append(f"{chart.id} | {bases} | {' '.join(f'{row.name}{row.delta:+d}' for row in chart.rows)}")
    assert lines == FIGURES.read_text(encoding="utf-8").split("\n")[:-1]
    assert len(lines) == 23


@pytest.mark.parametrize("version", versions())
def test_every_chart_says_where_its_figures_stand(version: str) -> None:
    for chart in load_reference(version).charts:
        assert chart.source.url.startswith("https://")
        assert 351 <= chart.source.book_page <= 422


@pytest.mark.parametrize("version", versions())
def test_the_ledger_has_about_seventy_questions_in_both_languages(version: str) -> None:
    ledger = load_reference(version).ledger
    assert 68 <= len(ledger.questions) <= 76
    for question in ledger.questions:
        for party in question.parties:
            assert question.text(party, "ko") != question.text(party, "en")
            assert question.text(party, "en").endswith("?")
        assert len(question.notes_ko) == len(question.notes_en)


@pytest.mark.parametrize("version", versions())
def test_no_question_names_a_chart_or_a_fault(version: str) -> None:
    ledger = load_reference(version).ledger
    shown = [rule.text_ko + rule.text_en for rule in ledger.meta.observation_rules]
    for question in ledger.questions:
        shown += [question.text(party, language) for party in question.parties for language in ("ko", "en")]
        shown += [option.label_ko + option.label_en for option in question.domain]
        shown += [*question.notes_ko, *question.notes_en]
    told = " ".join(shown)
    assert not any(chart.id in told for chart in load_reference(version).charts)
    assert "{" not in told
    assert "과실비율" not in told


def test_the_two_ledgers_differ_as_designed() -> None:
    old, new = load_reference("0.1.1").ledger, load_reference("0.1.3").ledger
    assert len(old.question("q_maneuver").domain) == 9
    assert {"overtaking", "starting_from_stop"} <= set(old.question("q_maneuver").codes)
    assert not {"overtaking", "starting_from_stop", "merging"} & set(new.question("q_maneuver").codes)
    assert [q for q in ("q_overtaking", "q_prior_stop_kind", "q_target_lane_relation") if q in new and q not in old]
    assert (len(old.meta.observation_rules), len(new.meta.observation_rules)) == (0, 7)


@pytest.mark.parametrize("version", versions())
def test_gates_stand_in_ledger_order(version: str) -> None:
    ledger = load_reference(version).ledger
    orders = [ledger.order(gate.key) for gate in ledger.gates]
    assert orders == sorted(orders)
    assert [gate.question_id for gate in ledger.gates] == ["q_collision", "q_vehicle_kind", "q_direction_relation"]


def test_comments_and_layout_do_not_change_the_data_version_and_words_do() -> None:
    ledger, charts = texts("0.1.3")
    reference = load_reference("0.1.3")
    assert build_reference("0.1.3", b"# a remark\n" + ledger, charts).data_version == reference.data_version
    reworded = ledger.replace(b"What kind of road is it?", b"Which kind of road is it?")
    assert build_reference("0.1.3", reworded, charts).data_version != reference.data_version
    moved = charts.replace(b"base_a: 30", b"base_a: 40", 1)
    assert build_reference("0.1.3", ledger, moved).data_version != reference.data_version
    assert reference.data_version.startswith("0.1.3+")


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (b"q_order: [other_ahead]", b"q_oder: [other_ahead]", "no question 'q_oder'"),
        (b"q_order: [other_ahead]", b"q_order: [far_ahead]", "can't be any of"),
        (b"q_maneuver/B: [straight, stopped]", b"q_maneuver: [straight]", "is not put for none"),
        (b"{code: residential, role: A, delta: 10}", b"{code: residental, role: A, delta: 10}", "nor in the catalogue"),
        (b"base_a: 100", b"base: 100", "chart file of engine 0.1.3 can't be used: .*unknown field"),
        (b"q_maneuver/A: [straight]", b"q_maneuver/B: [straight]", "the key 'q_maneuver/B' is given twice"),
    ],
)
def test_data_that_does_not_fit_is_refused_in_words(old: bytes, new: bytes, said: str) -> None:
    ledger, charts = texts("0.1.3")
    assert old in charts
    with pytest.raises(InputError, match=said):
        build_reference("0.1.3", ledger, charts.replace(old, new, 1))


def test_the_same_answers_give_the_same_bytes_under_any_hash_seed() -> None:
    program = (
        "import msgspec; from vlmrec.engine.core import evaluate; from vlmrec.engine.reference import load_reference;"
        "from vlmrec.engine.witness import witness; from vlmrec.protocol import EvaluateRequest;"
        "from vlmrec.canonical import sha256_hex; r = load_reference('0.1.3');"
        "parts = [evaluate(r, EvaluateRequest(answers=witness(p)[:n])) for p in r.tables.positions[::7] for n in (3, 9)];"
        "print(r.data_version, sha256_hex(msgspec.json.encode(parts)))"
    )
    printed = set()
    for seed in ("1", "2"):
        env = os.environ | {"PYTHONHASHSEED": seed}
        done = subprocess.run([sys.executable, "-c", program], env=env, capture_output=True, text=True, check=True)
        printed.add(done.stdout)
    assert len(printed) == 1


def test_an_unknown_chart_is_said_so() -> None:
    with pytest.raises(InputError, match="no chart '차99-9'"):
        load_reference("0.1.3").chart("차99-9")
