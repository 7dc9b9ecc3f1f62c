"""A real Datasette over loopback: the store as configuration directory, and a single log after a plain install."""

import csv
import io
import json
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from media_factory import write_clip
from viewer_runs import make_gold, make_run

from vlmrec.errors import LogBusy
from vlmrec.gold import load_gold
from vlmrec.log import LogWriter, open_log
from vlmrec.viewer.catalog import update_catalog

ROOT = Path(__file__).resolve().parents[2]
HOSTILE = (
    '<script>window.pwned=1</script><img src=x onerror=window.pwned=2> =HYPERLINK("x") \u202eevil\u2066 \x1b[31m '
    + "길다 " * 400
)


@contextmanager
def datasette(*args: str) -> Iterator[httpx.Client]:
    command = [sys.executable, "-u", "-m", "datasette", "serve", *args, "--host", "127.0.0.1", "--port", "0"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    try:
        address = next(found[0] for line in process.stderr if (found := re.search(r"http://[\d.:]+", line)))
        with httpx.Client(base_url=address, timeout=30) as client:
            yield client
    finally:
        process.terminate()
        process.wait(20)
        process.stderr.close()


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A store as `datasette store/` serves it, with two runs."""
    folder = tmp_path / "store"
    folder.mkdir()
    for name in ("metadata.yaml", "settings.json"):
        shutil.copy(ROOT / "store" / name, folder)
    (tmp_path / "clips").mkdir()
    file = write_clip(tmp_path / "clips" / "day.mp4")
    make_run(folder, "first", {"day": file, "밤길 #2": None}, contradict=True)
    make_run(folder, "second", {"day": file}, explain=HOSTILE, right=False)
    return folder


def test_runs_have_described_views_and_queries_that_answer(store: Path) -> None:
    with datasette(str(store)) as client:
        assert "vlmrec runs" in client.get("/").text
        page = client.get("/first").text
        for title in ("Turns of a clip", "What eliminated a chart", "Cost by model", "Contradictions"):
            assert title in page
        turns = client.get("/first/turns").text
        assert "A question put for one party on one clip" in turns
        assert "The round of the clip in which it was opened" in turns
        rows = client.get("/first/turns_of_a_clip.json", params={"clip": "day", "_shape": "objects"}).json()["rows"]
        assert [row["question_id"] for row in rows] == ["q_collision", "q_maneuver", "q_signal", "q_extra_03"]
        gone = client.get(
            "/first/what_eliminated_a_chart.json", params={"chart": "차48-1", "clip": "", "_shape": "objects"}
        ).json()["rows"]
        assert {(row["clip"], row["question_id"], row["value"]) for row in gone} == {
            ("day", "q_maneuver", "lane_change"),
            ("밤길 #2", "q_maneuver", "lane_change"),
        }
        (cost,) = client.get("/first/cost_by_model.json", params={"_shape": "objects"}).json()["rows"]
        assert (cost["calls"], cost["cost_usd"], cost["cost_unknown"]) == (8, 0.0066, 2)
        found = client.get("/first/contradictions.json", params={"_shape": "objects"}).json()["rows"]
        assert {row["against_question_id"] for row in found} == {"q_collision"}
        for name in ("which_answers_eliminate", "abstentions", "outcomes_counted", "calls_that_failed"):
            assert client.get(f"/first/{name}.json").json()["ok"], name


def test_every_view_and_table_is_described(store: Path) -> None:
    with datasette(str(store)) as client:
        tables = client.get("/first.json").json()
        names = [table["name"] for table in tables["tables"]] + [view["name"] for view in tables["views"]]
        assert {"events", "blobs", "log", "turns", "calls", "outcomes"} <= set(names)
        for name in names:
            assert 'class="metadata-description"' in client.get(f"/first/{name}").text, name


def test_hostile_replies_are_text_in_every_page(store: Path) -> None:
    with datasette(str(store)) as client:
        pages = [
            "/second/turns",
            "/second/answers",
            "/second/events",
            "/second/turns_of_a_clip?clip=day",
            "/second/events/1",
        ]
        for page in pages:
            text = client.get(page).text
            assert "<script>window" not in text
            assert "<img src=x" not in text
            assert "\u202e" not in text
            assert "\x1b" not in text
        turns = client.get("/second/turns").text
        assert "&lt;script&gt;window.pwned=1" in turns
        assert "\\u202eevil" in turns
        assert "<details>" in turns


def test_a_turn_links_to_the_viewer_with_its_video(store: Path) -> None:
    with datasette(str(store)) as client:
        turns = client.get("/first/turns").text
        assert 'href="/-/vlmrec/view/first#clip=day&amp;turn=q_maneuver%2Fother"' in turns
        assert "clip=%EB%B0%A4%EA%B8%B8%20%232" in turns
        page = client.get("/-/vlmrec/view/first")
        assert page.status_code == 200
        assert "Content-Security-Policy" in page.text
        with open_log(store / "first.db") as log:
            (opened,) = log.events(["clip.opened"], clip="day")
        sha256 = opened.data.sha256  # type: ignore[attr-defined]
        whole = client.get(f"/-/vlmrec/video/first/{sha256}")
        part = client.get(f"/-/vlmrec/video/first/{sha256}", headers={"range": "bytes=10-19"})
        assert part.status_code == 206
        assert part.content == whole.content[10:20]
        assert part.headers["content-range"] == f"bytes 10-19/{len(whole.content)}"
        assert client.get(f"/-/vlmrec/video/first/{'0' * 64}").status_code == 404
        assert client.get("/-/vlmrec/view/nothing").status_code == 404
        calls = client.get("/first/calls").text
        blob = calls.split('href="/-/vlmrec/blob/')[1].split('"')[0]
        assert client.get(f"/-/vlmrec/blob/{blob}").text == "{}"


@pytest.mark.browser
def test_the_viewer_opens_at_the_turn_in_a_browser(store: Path, page: Any) -> None:
    with datasette(str(store)) as client:
        page.goto(f"{client.base_url}/first/turns")
        page.locator("a", has_text="day").nth(1).click()
        page.wait_for_selector("tr.turn.chosen")
        assert page.locator("tr.turn.chosen .key").inner_text().startswith("q_")
        assert page.evaluate("document.querySelector('video') !== null")
        page.goto("about:blank")


def test_runs_that_appear_and_go_are_followed(store: Path) -> None:
    with datasette(str(store)) as client:
        assert client.get("/third").status_code == 404
        make_run(store, "third", {"day": None})
        (store / "second.db").unlink()
        (store / "not-a-log.db").write_bytes(b"something else")
        time.sleep(1.2)
        assert "Turns of a clip" in client.get("/third").text
        assert client.get("/second").status_code == 404
        assert client.get("/not-a-log").status_code == 404
        assert "third" in client.get("/").text


def test_a_run_goes_on_while_datasette_shows_it(store: Path) -> None:
    with datasette(str(store)) as client:
        before = client.get("/first/events.json", params={"_size": "0", "_extra": "count"}).json()
        for _ in range(100):
            try:
                writer = LogWriter.open(store / "first.db")
                break
            except LogBusy:
                time.sleep(0.1)
        from vlmrec.events import NoteAdded, make_event

        with writer:
            writer.append(
                [make_event(NoteAdded(ordinal=1, text="hello"), clip=None, time="2026-01-06T00:00:00Z")]
            ).result()
            after = client.get("/first/events.json", params={"_size": "0"}).json()
        assert after["filtered_table_rows_count"] == before["filtered_table_rows_count"] + 1


def test_one_log_alone_works_after_a_plain_install(tmp_path: Path) -> None:
    make_run(tmp_path, "alone", {"day": None})
    make_run(tmp_path, "private", {"day": None})
    with datasette(str(tmp_path / "alone.db")) as client:
        assert "Turns of a clip" in client.get("/alone").text
        time.sleep(1.2)
        assert client.get("/private").status_code == 404  # one log was given, not its folder


def test_the_catalog_answers_across_runs(store: Path, tmp_path: Path) -> None:
    gold = load_gold(make_gold(tmp_path / "gold", ["day", "밤길 #2"]))
    assert update_catalog(store, gold=gold).read == ("first", "second")
    assert update_catalog(store, gold=gold).read == ()
    with datasette(str(store)) as client:
        outcomes = client.get("/catalog/outcomes_by_run.json", params={"_shape": "objects"}).json()["rows"]
        assert [(row["run_id"], row["clips"]) for row in outcomes] == [("first", 2), ("second", 1)]
        params = {"run_a": "first", "run_b": "second", "_shape": "objects"}
        differing = client.get("/catalog/where_runs_differ.json", params=params).json()["rows"]
        assert [(row["question_id"], row["value_a"], row["value_b"]) for row in differing] == [
            ("q_maneuver", "lane_change", "straight")
        ]
        found = client.get("/catalog/turns.json", params={"_search": "차로를", "_shape": "objects"}).json()["rows"]
        assert {row["run_id"] for row in found} == {"first"}
        assert 'href="/-/vlmrec/view/first#clip=day' in client.get("/catalog/turns").text
        for query in ("cost_by_model", "contradictions", "what_eliminated_the_gold_chart"):
            assert client.get(f"/catalog/{query}.json").json()["ok"], query


def test_the_catalog_follows_changes_and_can_always_be_made_anew(store: Path) -> None:
    update_catalog(store)
    fresh = dump(store)
    (store / "second.db").unlink()
    make_run(store, "third", {"day": None})
    (store / "broken.db").write_bytes(b"SQLite format 3\0" + b"\xff" * 4096)
    done = update_catalog(store)
    assert (done.read, done.removed) == (("third",), ("second",))
    assert list(done.refused) == ["broken"]
    assert "broken.db" in done.refused["broken"]
    followed = dump(store)
    (store / "catalog.db").unlink()
    update_catalog(store)
    assert dump(store) == followed
    assert followed != fresh
    (store / "catalog.db").write_bytes(b"damaged")
    update_catalog(store)
    assert dump(store) == followed


def dump(store: Path) -> str:
    import sqlite_utils

    database = sqlite_utils.Database(store / "catalog.db")
    try:
        rows = {
            name: sorted(json.dumps(row, sort_keys=True) for row in database[name].rows)
            for name in ("runs", "clips", "turns", "violations", "eliminations")
        }
    finally:
        database.close()
    return json.dumps(rows)


def test_csv_keeps_the_bytes_for_programs(store: Path) -> None:
    with datasette(str(store)) as client:
        rows = list(csv.DictReader(io.StringIO(client.get("/second/turns.csv").text)))
        assert rows[0]["explanation"].startswith("<script>window.pwned=1</script>")
