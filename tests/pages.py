"""Small helps for tests in a browser."""

from time import monotonic, sleep
from typing import Any


def opened_at(page: Any, url: str) -> Any:
    """The viewer's page, loaded and drawn."""
    page.goto(url)
    page.wait_for_selector("body[data-ready]")
    return page


def until(page: Any, condition: str, *, within_s: float = 15) -> None:
    """Wait until a condition holds in the page. (Playwright's own waiting evaluates text, which the page's policy forbids.)"""
    end = monotonic() + within_s
    while not page.evaluate(condition):
        assert monotonic() < end, f"not within {within_s} s: {condition}"
        sleep(0.05)
