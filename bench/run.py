"""`make bench`: run every ``bench/bench_*.py`` and print one table of ratios.

Each is a script of its own, run in a fresh interpreter, that prints one JSON object a line for every figure:
``{"name": …, "measured": 1.2, "beside": 0.9, "unit": "s", "ratio": 1.33, "aim": "<= 2"}``. A ratio compares two
things measured in the same run on the same machine, so that it means something elsewhere too.
"""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from vlmrec.commands._output import print_table

BENCH = Path(__file__).resolve().parent
OPERATORS = {"<=": lambda ratio, bound: ratio <= bound, ">=": lambda ratio, bound: ratio >= bound}


def main() -> None:
    chosen = sys.argv[1:]
    rows: list[list[Any]] = []
    failed = []
    for script in sorted(BENCH.glob("bench_*.py")):
        if chosen and not any(word in script.stem for word in chosen):
            continue
        print(f"{script.name} …", file=sys.stderr)
        done = subprocess.run([sys.executable, str(script)], stdout=subprocess.PIPE, text=True, check=False)
        if done.returncode:
            failed.append(script.name)
        for figure in figures(done.stdout):
            unit = figure.get("unit", "")
            rows.append(
                [
                    figure["name"],
                    f"{figure['measured']:.4g} {unit}" if "measured" in figure else None,
                    f"{figure['beside']:.4g} {unit}" if "beside" in figure else None,
                    f"{figure['ratio']:.2f}",
                    (figure.get("aim") or "").replace("<=", "≤").replace(">=", "≥"),
                    verdict(figure),
                ]
            )
    print_table(["figure", "measured", "beside", "ratio", "aim", "met"], rows)
    if failed:
        sys.exit(f"failed: {', '.join(failed)}")


def figures(printed: str) -> list[dict[str, Any]]:
    lines = (line.strip() for line in printed.splitlines())
    return [json.loads(line) for line in lines if line.startswith("{") and '"ratio"' in line]


def verdict(figure: dict[str, Any]) -> str:
    operator, _, bound = (figure.get("aim") or "").partition(" ")
    if operator not in OPERATORS:
        return "-"
    return "yes" if OPERATORS[operator](figure["ratio"], float(bound)) else "NO"


if __name__ == "__main__":
    main()
