"""A store where the catalog can't be written: said in a line, and nothing is removed."""

import sqlite3
from contextlib import closing
from pathlib import Path

from click.testing import CliRunner

from vlmrec.cli import cli


def test_a_catalog_that_cannot_be_opened_is_named(tmp_path: Path) -> None:
    path = tmp_path / "catalog.db"
    path.mkdir()
    result = CliRunner().invoke(cli, ["catalog", "--store", str(tmp_path)], catch_exceptions=False)
    assert result.exit_code == 2
    assert f"{path}: can't write the catalog: unable to open database file" in result.output


def test_a_catalog_that_another_has_locked_is_named_and_kept(tmp_path: Path) -> None:
    path = tmp_path / "catalog.db"
    with closing(sqlite3.connect(path)) as other:
        other.execute("CREATE TABLE theirs (x)")
        other.execute("BEGIN EXCLUSIVE")
        result = CliRunner().invoke(cli, ["catalog", "--store", str(tmp_path)], catch_exceptions=False)
    assert result.exit_code == 2
    assert "database is locked" in result.output
    assert path.is_file()
