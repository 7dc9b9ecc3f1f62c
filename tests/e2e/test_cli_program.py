"""The installed program as a person meets it: help, errors, exit codes, pipes, start-up cost."""

import os
import re
import subprocess
import sys
import unicodedata
from importlib import import_module
from pathlib import Path

import click
import pytest
from click.shell_completion import ShellComplete
from click.testing import CliRunner

from vlmrec import __version__, cli
from vlmrec.commands import _output
from vlmrec.commands._options import run_argument, run_arguments, store_option
from vlmrec.errors import BudgetReached, CheckFailed, InputError, VlmrecError
from vlmrec.spelling import spelled

NAMES = [name for rows in cli.COMMANDS.values() for name in rows]


def program(*args: str, **options: object) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, **options}
    return subprocess.run(
        [sys.executable, "-m", "vlmrec.cli", *args], capture_output=True, text=True, check=False, env=environment
    )


def test_version_is_the_packages() -> None:
    assert program("--version").stdout == f"vlmrec {__version__}\n"


def test_help_lists_every_command_with_its_line() -> None:
    shown = " ".join(program("--help").stdout.split())
    for rows in cli.COMMANDS.values():
        for name, row in rows.items():
            assert f"{name} {row.help}" in shown


def test_help_and_completion_import_no_library_code() -> None:
    code = (
        "import sys\nfrom vlmrec.cli import cli\ncli(['--help'], standalone_mode=False)\n"
        "heavy = {'msgspec', 'rich', 'av', 'cv2', 'numpy', 'httpx', 'asyncio', 'sqlite3', 'vlmrec.events'} & set(sys.modules)\n"
        "sys.exit(f'imported: {heavy}' if heavy else 0)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_completion_offers_commands_with_their_help() -> None:
    completion = ShellComplete(cli.cli, {}, "vlmrec", "_VLMREC_COMPLETE")
    offered = {item.value: item.help for item in completion.get_completions([], "sche")}
    assert list(offered) == ["schema"]
    assert offered["schema"]


def test_completion_offers_the_runs_of_the_store(private_store: Path) -> None:
    private_store.mkdir()
    for name in ("day", "dusk", "night", "labels"):
        (private_store / f"{name}.db").touch()
    completion = ShellComplete(cli.cli, {}, "vlmrec", "_VLMREC_COMPLETE")
    assert [item.value for item in completion.get_completions(["show"], "d")] == ["day", "dusk"]


@pytest.mark.parametrize("name", NAMES)
def test_every_command_has_help_that_ends_in_a_line_to_paste(name: str) -> None:
    rows = {name: row for rows in cli.COMMANDS.values() for name, row in rows.items()}
    command = import_module(f"vlmrec.commands.{rows[name].module}").command
    for leaf in leaves(command):
        text = leaf.help or ""
        assert text.strip().splitlines()[0].endswith("."), f"{name}: the first line is one sentence"
        assert re.search(rf"^    .*vlmrec {re.escape(name)}\b", text, re.MULTILINE), (
            f"{name} {leaf.name}: no line to paste"
        )
        assert "\b" in text, f"{name} {leaf.name}: mark the example with \\b, so that it isn't wrapped"


def leaves(command: click.Command) -> list[click.Command]:
    if isinstance(command, click.Group):
        return [leaf for child in command.commands.values() for leaf in leaves(child)]
    return [command]


def test_an_unknown_command_is_a_usage_error() -> None:
    done = program("extarct")
    assert done.returncode == 2
    assert "extarct" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(("error", "code"), [(InputError, 2), (CheckFailed, 1), (BudgetReached, 3)])
def test_an_error_for_people_is_one_line_and_an_exit_code(error: type[VlmrecError], code: int) -> None:
    result = invoke(raising(error("clip a.mp4 has no frame; give another")))
    assert result.exit_code == code
    assert result.stderr == "Error: clip a.mp4 has no frame; give another\n"
    assert result.stdout == ""


def test_what_the_system_refuses_is_one_line_that_names_the_file(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    done = program("schema", "--write", str(tmp_path / "file" / "below"))
    assert done.returncode == 2
    assert done.stderr == f"Error: {tmp_path / 'file' / 'below'}: Not a directory\n"


def test_a_catalog_of_no_store_is_refused(tmp_path: Path) -> None:
    done = program("catalog", "--store", str(tmp_path / "nowhere"))
    assert done.returncode == 2
    assert done.stderr.startswith(f"Error: there is no store {tmp_path / 'nowhere'}")


def test_an_interrupt_ends_with_130() -> None:
    assert invoke(raising(KeyboardInterrupt())).exit_code == 130


def test_a_bug_keeps_its_traceback() -> None:
    assert isinstance(invoke(raising(TypeError("bug"))).exception, TypeError)


def test_a_reader_that_leaves_ends_the_program_in_silence() -> None:
    code = (
        "import click, sys\nfrom vlmrec.cli import LazyGroup\n"
        "group = LazyGroup('vlmrec', invoke_without_command=True, callback=lambda: [click.echo('x' * 1000) for _ in range(5000)])\n"
        "group([])\n"
    )
    done = subprocess.run(
        ["bash", "-c", f"{sys.executable} -c {quoted(code)} | head -1; echo ${{PIPESTATUS[0]}}"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stderr == ""
    assert done.stdout.splitlines()[-1] == "141"


def quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


def raising(error: BaseException) -> click.Command:
    def body() -> None:
        raise error

    return click.Command("x", callback=body)


def invoke(command: click.Command, *args: str):  # type: ignore[no-untyped-def] # click's Result moved between releases
    class One(cli.LazyGroup):
        def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command:
            return command

    return CliRunner().invoke(One("vlmrec"), ["x", *args])


@pytest.mark.parametrize("decorators", [(run_argument,), (store_option, run_argument), (run_argument, store_option)])
def test_a_run_is_named_by_id_or_by_path_whatever_the_order_of_options(decorators: tuple, tmp_path: Path) -> None:  # type: ignore[type-arg]
    (tmp_path / "night.db").touch()

    def body(run: Path, store: Path | None = None) -> None:
        click.echo(str(run))

    command: object = body
    for decorate in decorators:
        command = decorate(command)
    built = click.command()(command)  # type: ignore[arg-type] # decorators keep the type
    for args in (
        ["night", "--store", str(tmp_path)],
        ["--store", str(tmp_path), "night"],
        [str(tmp_path / "night.db")],
    ):
        assert CliRunner().invoke(built, args).output == f"{tmp_path / 'night.db'}\n"


def test_several_runs_keep_their_order_and_the_store_comes_from_the_environment(private_store: Path) -> None:
    private_store.mkdir()
    for name in "abc":
        (private_store / f"{name}.db").touch()

    @click.command()
    @run_arguments
    def command(runs: tuple[Path, ...]) -> None:
        click.echo(" ".join(run.stem for run in runs))

    assert CliRunner().invoke(command, ["c", "a", "b"]).output == "c a b\n"


def test_a_run_that_is_not_there_is_answered_with_those_that_are(private_store: Path) -> None:
    private_store.mkdir()
    for name in ("day", "night", "labels", "catalog"):
        (private_store / f"{name}.db").touch()

    @click.command()
    @run_argument
    def command(run: Path) -> None:
        raise AssertionError

    result = invoke(command, "nigth")
    assert result.exit_code == 2
    assert re.search(r"no run 'nigth' in the store .*runs there: day, night\)", result.stderr)


def test_json_is_canonical_and_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    _output.print_json({"b": 1, "a": "차43-2"})
    assert capsys.readouterr().out == '{"a":"차43-2","b":1}\n'


def test_a_table_in_a_pipe_is_aligned_text_also_for_wide_letters(capsys: pytest.CaptureFixture[str]) -> None:
    _output.print_table(["chart", "clips", "note"], [("차43-2", 3, None), ("none", 12, "a\nb")])
    assert capsys.readouterr().out == "chart   clips  note\n차43-2      3  -\nnone       12  a⏎b\n"


@pytest.mark.parametrize("width", [12, 20, 40, 60, 80, 120])
def test_a_terminal_of_any_width_shows_every_word_of_a_table(
    width: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    columns = ["clip", "misjudged", "correct_out_of_scope", "share [95 %]"]
    rows = [("차43-2 한글", 3, 4, "25.0% [8.9, 53.2]"), ("b", 12, 5, None)]
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    _output.print_table(columns, rows, title="Clips of a run")
    out = capsys.readouterr().out
    words = [word for text in (*columns, *map(str, rows[0]), "Clips") for word in text.split()]
    assert [word for word in words if word not in out] == []
    assert "…" not in out


@pytest.mark.parametrize("text", ["\x1b[31mred", "a\u202eb", "\x07", "x\u200by", "\ud800", "\u2066"])
def test_nothing_that_drives_a_terminal_or_reorders_a_line_is_printed(text: str) -> None:
    shown = spelled(text)
    assert not any(unicodedata.category(char) in ("Cc", "Cf", "Cs") for char in shown)
    assert "\\" in shown
