"""`make screenshots`: the pictures of docs/, taken from the data of `make demo` in a real browser.

Needs Chromium, and `make demo` to have run. A picture shows what the demo's runs say at that version, so it is
renewed with the program and not compared by tests.
"""

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import sync_playwright

ROOT = Path(__file__).resolve().parent.parent
PICTURES = ROOT / "docs" / "pictures"
DEMO = ROOT / "demo"
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def main() -> None:
    program = shutil.which("chromium") or shutil.which("chromium-browser")
    if program is None:
        sys.exit("no chromium here; apt-get install chromium fonts-noto-cjk")
    if not (DEMO / "view.html").is_file():
        sys.exit("no demo here; run `make demo` first")
    PICTURES.mkdir(exist_ok=True)
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=program, args=FLAGS, headless=True)
        page = browser.new_page(viewport={"width": 1440, "height": 860})
        viewer(page)
        labelling(page)
        datasette(page)
        for report in sorted(DEMO.glob("*report*.html")):
            page.goto(report.as_uri())
            taken(page, "report")
        browser.close()


def viewer(page: Any) -> None:
    page.goto(f"{(DEMO / 'view.html').as_uri()}")
    page.wait_for_selector("body[data-ready]")
    page.get_by_role("button", name="요약 그림").wait_for()
    page.wait_for_timeout(500)
    page.keyboard.press("ArrowRight")
    page.wait_for_timeout(500)
    page.keyboard.press("ArrowDown")
    for moment in page.locator("#spans .moment").all()[:1]:
        moment.click()
    page.wait_for_timeout(700)
    taken(page, "viewer")
    page.get_by_label("언어").select_option("en")
    page.keyboard.press("o")
    page.wait_for_timeout(300)
    taken(page, "overview")


def labelling(page: Any) -> None:
    command = [sys.executable, "-m", "vlmrec.cli", "view", "grounded", "--serve", "--language", "en"]
    with serving([*command, "--store", str(DEMO / "store"), "--clips-dir", str(DEMO / "clips")], "stdout") as url:
        page.goto(url)
        page.wait_for_selector("body[data-ready]")
        page.keyboard.press("l")
        page.keyboard.type("A")
        page.keyboard.press("Tab")
        page.wait_for_timeout(1200)
        taken(page, "labels")
        page.goto("about:blank")


def datasette(page: Any) -> None:
    command = [sys.executable, "-u", "-m", "datasette", "serve", str(DEMO / "store"), "--port", "0"]
    with serving(command, "stderr") as url:
        page.goto(f"{url}/grounded")
        taken(page, "datasette-run")
        page.goto(f"{url}/grounded/abstentions")
        taken(page, "datasette-query")


@contextmanager
def serving(command: list[str], speaks_on: str) -> Iterator[str]:
    process = subprocess.Popen(command, **{"stderr": subprocess.DEVNULL, speaks_on: subprocess.PIPE}, text=True)  # type: ignore[call-overload]
    try:
        yield next(found[0] for line in getattr(process, speaks_on) if (found := re.search(r"http://\S+", line)))
    finally:
        process.terminate()
        process.wait(20)


def taken(page: Any, name: str) -> None:
    page.screenshot(path=PICTURES / f"{name}.png")
    print(PICTURES / f"{name}.png")


if __name__ == "__main__":
    main()
