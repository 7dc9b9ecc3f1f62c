"""The served viewer: live runs, labels by several people, and nobody else let in."""

import json
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from media_factory import write_clip
from pages import opened_at, until
from runbuilder import RunBuilder, axes
from viewer_runs import LEDGER, add_clip, make_gold, make_run

from vlmrec.canonical import make_blob
from vlmrec.events import blob_refs
from vlmrec.gold import load_gold
from vlmrec.log import LogWriter, open_log


class Served(NamedTuple):
    url: str
    base: str
    token: str
    store: Path

    def post(self, path: str, body: Any, **headers: str) -> httpx.Response:
        given = {"x-vlmrec-token": self.token, "content-type": "application/json", **headers}
        return httpx.post(f"{self.base}{path}", content=json.dumps(body), headers=given)

    def get(self, path: str, **headers: str) -> httpx.Response:
        return httpx.get(f"{self.base}{path}", headers={"x-vlmrec-token": self.token, **headers})


@contextmanager
def serving(store: Path, *args: str) -> Iterator[Served]:
    command = [sys.executable, "-m", "vlmrec.cli", "view", *args, "--serve", "--store", str(store)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stderr is not None
    try:
        url = process.stdout.readline().strip()
        assert url, process.stderr.read()
        parts = urlsplit(url)
        yield Served(url, f"http://{parts.netloc}", parse_qs(parts.query)["token"][0], store)
    finally:
        process.send_signal(signal.SIGINT)
        assert process.wait(20) in (0, 130)
        problems = process.stderr.read()
        process.stdout.close()
        process.stderr.close()
    assert "Traceback" not in problems, problems


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    (tmp_path / "clips").mkdir()
    clips: dict[str, Path | None] = {name: write_clip(tmp_path / "clips" / f"{name}.mp4") for name in ("day",)}
    clips["old"] = write_clip(tmp_path / "clips" / "old.avi", codec="mpeg4")
    make_run(tmp_path / "store", "first", clips)
    with serving(tmp_path / "store", "first", "--clips-dir", str(tmp_path / "clips"), "--language", "en") as one:
        yield one


ANSWER = {
    "clip": "day",
    "labeler": "A",
    "question_id": "q_signal",
    "party": "other",
    "status": "observed",
    "value": "on",
}


def test_video_is_served_in_ranges_and_as_a_copy_where_browsers_need_one(served: Served) -> None:
    clips = {clip["id"]: clip for clip in served.get("/api/index").json()["clips"]}
    whole = served.get(f"/{clips['day']['video']['src']}")
    part = served.get(f"/{clips['day']['video']['src']}", range="bytes=100-199")
    assert part.status_code == 206
    assert part.content == whole.content[100:200]
    assert part.headers["content-range"] == f"bytes 100-199/{len(whole.content)}"
    copy = served.get(f"/{clips['old']['video']['src']}", range="bytes=0-99")
    assert copy.status_code == 206
    assert copy.content[4:8] == b"ftyp"
    assert served.get(f"/video/{'0' * 64}").status_code == 404


@pytest.mark.parametrize(
    ("path", "headers", "why"),
    [
        ("/api/index", {"x-vlmrec-token": "guess"}, "token"),
        ("/api/index", {"host": "evil.example:80"}, "own address"),
        ("/api/index", {"origin": "http://evil.example"}, "origin"),
        ("/api/index", {"sec-fetch-site": "cross-site"}, "another site"),
        ("/?token=guess", {}, "token"),
    ],
)
def test_whoever_is_not_the_page_is_refused(served: Served, path: str, headers: dict[str, str], why: str) -> None:
    given = {"x-vlmrec-token": served.token} if "token=" not in path else {}
    reply = httpx.get(f"{served.base}{path}", headers={**given, **headers})
    assert reply.status_code == 403
    assert why in reply.json()["error"]


def test_labels_need_json_our_token_and_our_origin(served: Served) -> None:
    assert served.post("/api/labels", ANSWER, **{"content-type": "text/plain"}).status_code == 403
    assert served.post("/api/labels", ANSWER, origin="http://evil.example").status_code == 403
    in_url = httpx.post(f"{served.base}/api/labels?token={served.token}", json=ANSWER)
    assert in_url.status_code == 403
    assert not (served.store / "labels.db").exists()
    assert served.post("/api/labels", ANSWER, origin=served.base).status_code == 200


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"value": "sideways"}, "not a value of q_signal"),
        ({"value": None}, "a value goes with observed"),
        ({"status": "maybe"}, "Invalid enum value"),
        ({"question_id": "q_nope"}, "no question"),
        ({"party": "self"}, "not asked for self"),
        ({"labeler": "../x"}, "labeller"),
        ({"clip": "nowhere"}, "no clip"),
        ({"evidence_start": 2, "evidence_end": 1}, "before it starts"),
        ({"field": "gold_leaf.evil", "field_value": 1}, "no field"),
        ({"field": "stage0.counterpart_box", "field_value": {"t": 0, "box": [9, 9, 3, 3]}}, "empty"),
    ],
)
def test_labels_that_no_gold_file_could_hold_are_refused(served: Served, change: dict[str, Any], why: str) -> None:
    reply = served.post("/api/labels", {**ANSWER, **change})
    assert reply.status_code == 400
    assert why in reply.json()["error"]


def test_two_people_at_once_lose_nothing(served: Served) -> None:
    def label(name: str) -> None:
        for at in range(12):
            done = served.post("/api/labels", {**ANSWER, "labeler": name, "value": "on" if at % 2 else "off"})
            assert done.status_code == 200, done.text

    people = [threading.Thread(target=label, args=(name,)) for name in ("A", "B")]
    for person in people:
        person.start()
    for person in people:
        person.join()
    with open_log(served.store / "labels.db") as log:
        made = [event.data for event in log.events(["label.set"])]
    assert len(made) == 24
    assert sorted(one.ordinal for one in made) == list(range(1, 25))  # type: ignore[attr-defined]


def test_two_servers_over_one_store_take_turns(served: Served) -> None:
    with serving(served.store, "first") as other:

        def label(through: Served, name: str) -> None:
            for _ in range(6):
                done = through.post("/api/labels", {**ANSWER, "labeler": name})
                assert done.status_code == 200, done.text

        people = [threading.Thread(target=label, args=pair) for pair in ((served, "A"), (other, "B"))]
        for person in people:
            person.start()
        for person in people:
            person.join()
    with open_log(served.store / "labels.db") as log:
        assert sorted(event.data.ordinal for event in log.events(["label.set"])) == list(range(1, 13))  # type: ignore[attr-defined]


def test_undo_brings_the_edit_before_back_and_gold_files_are_an_export(served: Served) -> None:
    served.post("/api/labels", ANSWER)
    served.post("/api/labels", {**ANSWER, "value": "off", "evidence_start": 0.5, "evidence_end": 0.75})
    served.post("/api/labels", {"clip": "day", "labeler": "A", "field": "stage0.contact_time", "field_value": 1.2})
    box = {"t": 1.0, "box": [100, 200, 300, 400]}
    served.post("/api/labels", {"clip": "day", "labeler": "A", "field": "stage0.counterpart_box", "field_value": box})
    served.post("/api/labels", {"clip": "day", "labeler": "reviewed", "field": "gold_leaf", "field_value": "차43-2"})
    done = served.post("/api/labels/export", {}).json()
    assert sorted(done["files"]) == ["day.json", "day__A.json"]
    gold = load_gold(Path(done["folder"]))
    of_a = gold.labellers["A"]["day"]  # type: ignore[index]
    assert [(answer.value, answer.evidence_start) for answer in of_a.answers] == [("off", 0.5)]
    assert of_a.stage0 is not None
    assert of_a.stage0.contact_time == 1.2
    assert of_a.stage0.entities[0].boxes[0].box == (100, 200, 300, 400)
    assert gold.reviewed["day"].leaf == "차43-2"  # type: ignore[index]
    for _ in range(3):
        assert served.post("/api/labels/undo", {"clip": "day", "labeler": "A"}).json()["withdrawn"]
    document = served.get("/api/clips/0").json()
    labels = [label for turn in document["turns"] if turn["question_id"] == "q_signal" for label in turn["labels"]]
    assert [(label["labeler"], label["value"]) for label in labels] == [("A", "on")]
    command = [sys.executable, "-m", "vlmrec.cli", "view", "--store", str(served.store), "--export-labels"]
    subprocess.run([*command, str(served.store / "again")], check=True, capture_output=True)
    again = load_gold(served.store / "again")
    assert [answer.value for answer in again.labellers["A"]["day"].answers] == ["on"]  # type: ignore[index]
    listed = subprocess.run([*command, str(served.store / "again"), "--json"], check=True, capture_output=True)
    assert {Path(path).name for path in json.loads(listed.stdout)["labels"]} == {
        path.name for path in (served.store / "again").iterdir()
    }
    served.post("/api/labels/undo", {"clip": "day", "labeler": "A"})
    assert served.post("/api/labels/undo", {"clip": "day", "labeler": "A"}).json()["withdrawn"] in (None, "")


def test_a_port_in_use_is_not_taken(tmp_path: Path) -> None:
    make_run(tmp_path, "run", {"c": None})
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = str(other.getsockname()[1])
        command = [
            sys.executable,
            "-m",
            "vlmrec.cli",
            "view",
            "run",
            "--serve",
            "--port",
            port,
            "--store",
            str(tmp_path),
        ]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=30)
    assert done.returncode == 2
    assert port in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.browser
def test_labels_are_made_with_the_keyboard_and_survive_a_reload(served: Served, page: Any) -> None:
    opened_at(page, f"{served.url}#clip=day")
    page.keyboard.press("l")
    page.keyboard.type("a")
    page.keyboard.press("Tab")
    until(page, "document.querySelectorAll('.label-form').length > 2")
    form = page.locator("tr.turn", has_text="q_signal").locator("form.label-form")
    form.locator("select").focus()
    form.locator("select").select_option("observed:off")
    form.locator("input").first.fill("0.4")
    page.keyboard.press("Enter")
    until(page, "document.querySelector('#live').textContent === 'Saved'")
    page.reload()
    page.wait_for_selector("body[data-ready]")
    row = page.locator("tr.turn", has_text="q_signal")
    assert "A" in row.locator("td.labels").inner_text()
    assert "0.4 s" in row.locator("td.labels").inner_text()
    page.keyboard.press("l")
    page.locator("#main").focus()
    page.keyboard.press("z")
    until(page, "[...document.querySelectorAll('tr.turn')].every(row => !row.querySelector('.label'))")


@pytest.mark.browser
def test_axe_finds_no_serious_fault_in_labelling(served: Served, page: Any) -> None:
    from axe_playwright_python.sync_playwright import Axe

    opened_at(page, f"{served.url}#clip=day")
    page.keyboard.press("l")
    page.keyboard.type("A")
    page.keyboard.press("Tab")
    until(page, "document.querySelectorAll('.label-form').length > 2")
    until(page, "document.querySelector('video').readyState >= 1")
    found = Axe().run(page).response["violations"]
    serious = [(one["id"], one["nodes"][0]["html"][:200]) for one in found if one["impact"] in ("serious", "critical")]
    assert not serious


@pytest.mark.browser
def test_two_people_see_each_others_labels(browser: Any, served: Served) -> None:
    people = {name: browser.new_context().new_page() for name in ("A", "B")}
    for name, person in people.items():
        opened_at(person, f"{served.url}#clip=day")
        person.keyboard.press("l")
        person.keyboard.type(name)
        person.keyboard.press("Tab")
    for name, person in people.items():
        form = person.locator("tr.turn", has_text="q_signal").locator("form.label-form")
        form.locator("select").select_option("observed:on" if name == "A" else "observed:off")
        form.locator("button[type=submit]").click()
    for person in people.values():
        person.locator("#main").focus()
        until(person, "document.querySelectorAll('td.labels .label').length === 2")
        person.context.close()


@pytest.mark.browser
def test_a_box_is_drawn_on_the_video(served: Served, page: Any) -> None:
    opened_at(page, f"{served.url}#clip=day")
    page.keyboard.press("l")
    page.keyboard.type("A")
    page.keyboard.press("Tab")
    until(page, "document.querySelector('video').readyState >= 1")
    page.get_by_text("Draw on the video").click()
    place = page.locator(".stage").bounding_box()
    page.mouse.move(place["x"] + place["width"] * 0.2, place["y"] + place["height"] * 0.25)
    page.mouse.down()
    page.mouse.move(place["x"] + place["width"] * 0.6, place["y"] + place["height"] * 0.75)
    page.mouse.up()
    page.locator("form", has=page.locator(".corner")).locator("button[type=submit]").click()
    until(page, "document.querySelector('#live').textContent === 'Saved'")
    with open_log(served.store / "labels.db") as log:
        (event,) = log.events(["label.set"])
    x1, y1, x2, y2 = event.data.field_value["box"]  # type: ignore[attr-defined]
    assert abs(x1 - 200) < 15
    assert abs(y1 - 250) < 15
    assert abs(x2 - 600) < 15
    assert abs(y2 - 750) < 15


@pytest.mark.browser
def test_a_page_of_another_origin_can_neither_read_nor_label(browser: Any, served: Served, tmp_path: Path) -> None:
    evil = tmp_path / "evil"
    evil.mkdir()
    body = json.dumps(ANSWER)
    attack = f"""
      const out = [];
      const tries = [
        () => fetch("{served.base}/api/labels", {{method: "POST", body: {body!r}, headers: {{"Content-Type": "application/json", "X-Vlmrec-Token": "{served.token}"}}}}),
        () => fetch("{served.base}/api/labels", {{method: "POST", mode: "no-cors", body: {body!r}}}),
        () => fetch("{served.base}/api/index?token={served.token}"),
      ];
      (async () => {{ for (const one of tries) out.push(await one().then((r) => r.type === "opaque" ? "opaque" : r.status, () => "blocked")); window.tried = out; }})();
    """
    (evil / "index.html").write_text(
        f"<!doctype html><form method=post action='{served.base}/api/labels' enctype='text/plain'></form><script>{attack}</script>"
    )
    server = subprocess.Popen(
        [sys.executable, "-u", "-m", "http.server", "--bind", "127.0.0.1", "-d", str(evil), "0"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        assert server.stdout is not None
        port = server.stdout.readline().split("port ")[1].split()[0]
        context = browser.new_context()
        page = context.new_page()
        page.goto(f"http://127.0.0.1:{port}/")
        until(page, "window.tried !== undefined")
        assert page.evaluate("window.tried") == ["blocked", "blocked", "blocked"]
        page.evaluate("document.forms[0].submit()")
        page.wait_for_url(f"{served.base}/**")
        context.close()
    finally:
        server.terminate()
        server.wait()
        server.stdout.close()
    assert not (served.store / "labels.db").exists()


@pytest.mark.browser
def test_a_running_extraction_updates_the_page(page: Any, tmp_path: Path) -> None:
    path = tmp_path / "live.db"
    run = RunBuilder(run_id="live", clips=["two", "one"], axes=axes(), ledger=LEDGER)
    run.write(tmp_path)
    written = len(run.events)
    with serving(tmp_path, "live", "--language", "en") as served:
        opened_at(page, served.url)
        assert page.locator("tr.turn").count() == 0 or page.locator("#list li").count() == 0
        with LogWriter.open(path) as writer:
            for number, clip in enumerate(("two", "one")):
                add_clip(run, clip, None, number, turns=4, explain="just now", right=True, contradict=False)
                fresh = run.events[written:]
                refs = {ref.sha256: ref for event in fresh for ref in blob_refs(event.data)}
                with open_log(path) as log:
                    blobs = [
                        make_blob(run.blobs[key], ref.media_type) for key, ref in refs.items() if not log.has_blob(key)
                    ]
                writer.append(fresh, blobs).result()
                written = len(run.events)
                until(page, f"document.querySelectorAll('#list li').length === {number + 1}")
            until(page, "document.querySelector('.turns').textContent.includes('just now')")
            assert page.locator(".clip-name").inner_text() == "two"  # still the clip that was looked at
            assert page.locator("#list a[aria-current]").inner_text().startswith("two")
            assert "Running" in page.locator("#bar").inner_text()
        page.goto("about:blank")  # it would ask a server that is gone


@pytest.mark.browser
def test_labels_can_be_made_with_no_run_at_all(page: Any, tmp_path: Path) -> None:
    (tmp_path / "clips").mkdir()
    write_clip(tmp_path / "clips" / "새 영상.mp4")
    with serving(tmp_path / "store", "--clips-dir", str(tmp_path / "clips"), "--language", "ko") as served:
        opened_at(page, served.url)
        page.keyboard.press("l")
        page.keyboard.type("A")
        page.keyboard.press("Tab")
        until(page, "document.querySelector('video').readyState >= 1")
        form = page.locator("tr.turn form.label-form").first
        form.locator("select").select_option(index=1)
        form.locator("button[type=submit]").click()
        until(page, "document.querySelectorAll('td.labels .label').length === 1")
        page.get_by_text("정답 파일로 내보내기").click()
        until(page, "document.querySelector('#trouble').textContent.includes('내보냄')")
        page.goto("about:blank")  # it would ask a server that is gone
    gold = load_gold(tmp_path / "store" / "gold")
    assert list(gold.labellers["A"]) == ["새 영상"]


def test_gold_files_and_labels_made_here_stand_together(tmp_path: Path) -> None:
    make_run(tmp_path / "store", "first", {"day": None})
    gold = make_gold(tmp_path / "gold", ["day"])
    with serving(tmp_path / "store", "first", "--gold", str(gold)) as served:
        served.post("/api/labels", {**ANSWER, "value": "off"})
        turns = {f"{turn['question_id']}/{turn['party']}": turn for turn in served.get("/api/clips/0").json()["turns"]}
        assert [label["value"] for label in turns["q_maneuver/other"]["labels"]] == ["lane_change"]
        assert [label["value"] for label in turns["q_signal/other"]["labels"]] == ["off"]
        assert turns["q_signal/other"]["cells"][0]["verdict"] == "missed"
        served.post("/api/labels/export", {})
    of_a = load_gold(gold).labellers["A"]["day"]  # type: ignore[index]
    assert {answer.question_id: answer.value for answer in of_a.answers} == {
        "q_collision": "yes",
        "q_maneuver": "lane_change",
        "q_signal": "off",
    }
