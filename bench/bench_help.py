"""CPU of ``vlmrec --help`` beside ``python -c "import click"``, on an install that is not editable if there is one."""

import json
import resource
import subprocess
import sys
from pathlib import Path
from statistics import median

ROOT = Path(__file__).resolve().parent.parent
WHEEL_ENV = ROOT / "build" / "wheel-env" / "bin"  # made by `make wheel`; an editable install starts 15 ms later


def main() -> None:
    bin_folder = WHEEL_ENV if (WHEEL_ENV / "vlmrec").exists() else Path(sys.executable).parent
    bare = cpu_seconds([str(bin_folder / "python"), "-c", "import click"])
    ours = cpu_seconds([str(bin_folder / "vlmrec"), "--help"])
    figure = {"name": "vlmrec --help, beside importing click", "measured": ours * 1000, "beside": bare * 1000}
    print(json.dumps({**figure, "unit": "ms CPU", "ratio": ours / bare, "aim": "<= 2"}))


def cpu_seconds(command: list[str], times: int = 21) -> float:
    found = []
    for _ in range(times):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command, stdout=subprocess.DEVNULL, check=True, cwd="/")
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        found.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return median(found)


if __name__ == "__main__":
    main()
