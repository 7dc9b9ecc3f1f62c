"""Labels brought to a run: a chart that their engine doesn't have is refused by file, key and name."""

from pathlib import Path
from typing import Any

import pytest

from vlmrec.engine.reference import load_reference, versions
from vlmrec.errors import InputError
from vlmrec.gold import GoldLabel, write_gold
from vlmrec.report.goldmap import load_labels

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
