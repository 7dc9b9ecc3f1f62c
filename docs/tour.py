"""`make tour`: runs the ```console blocks of README.md in an empty folder and writes their output under each command.

With ``--check`` only runs them, and says which line failed. What is measured (times, rates) differs from one
machine to the next, so the output itself is not compared.
"""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
README = ROOT / "README.md"
BLOCK = re.compile(r"```console\n(.*?)```", re.DOTALL)


def main() -> None:
    text = README.read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder:
        renewed = BLOCK.sub(lambda found: f"```console\n{run_block(found[1], Path(folder))}```", text)
    if "--check" not in sys.argv[1:]:
        README.write_text(renewed, encoding="utf-8")


def run_block(block: str, folder: Path) -> str:
    lines = []
    for command in (line.removeprefix("$ ") for line in block.splitlines() if line.startswith("$ ")):
        output = run_line(command, folder)
        lines.append(f"$ {command}\n{output}")
    return "".join(lines)


def run_line(command: str, folder: Path) -> str:
    """The line's output as a terminal shows it. Exits, naming the line, when it fails."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "VLMREC_STORE": "store", "PYTHONUTF8": "1", "LC_ALL": "C.UTF-8"}
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
    )
    output = done.stdout.decode("utf-8", "replace")
    if done.returncode != 0:
        sys.exit(f"README.md: `{command}` exited {done.returncode}:\n{output}")
    return "".join(f"{line.rstrip()}\n" for line in output.splitlines())


if __name__ == "__main__":
    main()
