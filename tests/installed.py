"""Run by the interpreter of an environment that holds only the built wheel and its requirements, outside the repository.

`make wheel` calls it. It shows that the wheel is whole: every command loads and has help, the
schemas and everything else that is no Python are in it (a clip is rendered, recorded, scored and shown),
and nothing of the repository or of the development tools is in reach.
"""

import importlib.metadata
import importlib.util
import os
import subprocess
import sys
import tempfile
from pathlib import Path


def main() -> None:
    program = Path(sys.executable).with_name("vlmrec")
    assert importlib.util.find_spec("pytest") is None, "development packages are in reach"
    assert importlib.util.find_spec("commands") is None, "the repository is in reach"

    import vlmrec
    from vlmrec import cli, schemas

    installed = Path(vlmrec.__file__).resolve()
    assert "site-packages" in installed.parts, f"vlmrec was imported from {installed}"
    assert vlmrec.__version__ == importlib.metadata.version("vlmrec")
    assert run(program, "--version") == f"vlmrec {vlmrec.__version__}\n"
    names = [name for rows in cli.COMMANDS.values() for name in rows]
    for name in names:
        assert run(program, name, "--help").startswith("Usage: vlmrec"), name
    body = schemas.load("call.completed.v1.json").decode()
    assert run(program, "schema", "call.completed") == body
    assert importlib.metadata.entry_points(group="datasette")["vlmrec"].load(), "the Datasette plugin is missing"
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        run(program, "synth", "--out", "clips", "--count", "1", "--duration", "6", "--size", "320x180")
        run(program, "extract", "clips", "--run-id", "first")
        run(program, "verify", "first", "--replay")
        assert '"layer2"' in run(program, "score", "first", "--gold", "clips/gold", "--json")
        run(program, "view", "first", "-o", "view.html")
        assert "<!doctype html>" in Path("view.html").read_text(encoding="utf-8")
        os.chdir("/")
    print(f"the installed wheel works: {len(names)} commands, {installed.parent}")


def run(program: Path, *args: str) -> str:
    done = subprocess.run([program, *args], capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"vlmrec {' '.join(args)} exited {done.returncode}:\n{done.stdout}{done.stderr}"
    return done.stdout


if __name__ == "__main__":
    main()
