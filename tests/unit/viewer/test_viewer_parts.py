"""The viewer's pure parts: page and policy, plots, cells, files found by their bytes, runs read piece by piece."""

import base64
import hashlib
import json
import re
from collections.abc import MutableMapping
from pathlib import Path
from typing import Any, cast
from xml.etree import ElementTree

import msgspec
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from viewer_runs import make_gold, make_run

from vlmrec.canonical import make_blob
from vlmrec.commands.view import command
from vlmrec.errors import InputError
from vlmrec.events import blob_refs
from vlmrec.gold import load_gold
from vlmrec.log import LogKind, LogWriter, open_log
from vlmrec.spelling import spelled
from vlmrec.viewer import plots
from vlmrec.viewer.cells import long_text
from vlmrec.viewer.documents import clip_document
from vlmrec.viewer.documents import index as index_of
from vlmrec.viewer.documents import messages as messages_of
from vlmrec.viewer.live import Live
from vlmrec.viewer.page import policy, script, static_page
from vlmrec.viewer.runs import RunView
from vlmrec.viewer.server import make_app
from vlmrec.viewer.site import site
from vlmrec.viewer.videos import VideoFinder, Wanted, read_range
from vlmrec.viewer.view import check_output

HOSTILE = st.text(st.characters(codec=None, categories=None), max_size=60)


def test_the_policy_names_the_very_script_and_style_of_the_page() -> None:
    page = static_page({"title": "t"}, [], None, language="en").decode()
    (body,) = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(body.encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in policy(served=False)
    assert "unsafe" not in policy(served=False) + policy(served=True)
    assert "connect-src 'none'" in policy(served=False)


def test_the_script_never_makes_markup_of_text() -> None:
    for way in (
        "innerHTML",
        "outerHTML",
        "insertAdjacentHTML",
        "document.write",
        "eval(",
        "new Function",
        'setTimeout("',
    ):
        assert way not in script()
    assert script().count("parseFromString") == 1  # the plots, whose texts plots.py escapes


@given(HOSTILE)
def test_a_page_is_closed_to_any_title_and_data(text: str) -> None:
    clean = text.encode("utf-8", "replace").decode()
    page = static_page({"title": clean}, [{"clip": clean}], None, language="ko").decode()
    assert page.count("<script>") == 1
    assert page.count("</script>") == 3
    assert page.count("</body>") == 1


def test_the_same_runs_give_the_same_bytes(tmp_path: Path) -> None:
    made = [static_page({"title": "a", "n": n}, [], None, language="ko") for n in (1, 1, 2)]
    assert made[0] == made[1] != made[2]


@given(HOSTILE)
def test_plots_stay_well_formed_whatever_the_names(text: str) -> None:
    drawn = [
        plots.stacked_bars([(text, {"match": 3, text: 1})], ["match", text]),
        plots.heat_map([text], [text, "x"], {(text, text): 4}),
        plots.lines([(text, [3.0, 2.0, 1.0])], x_name=text, y_name="y"),
        plots.scatter([plots.Point(text, 0.5, 0.2, 0.8, 0.01)], x_name="x", y_name="y"),
        plots.intervals([plots.Point(text, 0.5, 0.2, 0.8)]),
    ]
    for one in drawn:
        ElementTree.fromstring(one)
    assert "<script" not in plots.figure(f"<script>{text}", f"<script>{text}", drawn[0])


def test_empty_plots_are_drawn_too() -> None:
    for one in (
        plots.stacked_bars([], []),
        plots.heat_map([], [], {}),
        plots.lines([], x_name="", y_name=""),
        plots.scatter([], x_name="", y_name=""),
        plots.intervals([]),
    ):
        ElementTree.fromstring(one)


@given(HOSTILE)
def test_cells_are_text(text: str) -> None:
    html = str(long_text(text * 20))
    assert not re.search(r"<(?!/?(?:details|summary|pre)\b)", html)
    assert not re.search("[\u202a-\u202e\u2066-\u2069\x00-\x08\x1b]", html)
    assert "\\" in spelled("\u202e")


@pytest.mark.parametrize(
    ("header", "first", "body", "total"),
    [
        (None, 0, b"0123456789", None),
        ("bytes=2-4", 2, b"234", 10),
        ("bytes=7-", 7, b"789", 10),
        ("bytes=-3", 7, b"789", 10),
        ("bytes=8-99", 8, b"89", 10),
        ("bytes=20-30", 20, b"", 10),
        ("bytes=-", 0, b"0123456789", None),
        ("pages=1-2", 0, b"0123456789", None),
    ],
)
def test_parts_of_a_file(tmp_path: Path, header: str | None, first: int, body: bytes, total: int | None) -> None:
    (tmp_path / "f").write_bytes(b"0123456789")
    part = read_range(tmp_path / "f", header)
    assert (part.first, part.body, part.total) == (first, body, total)


def test_files_are_found_by_their_bytes_and_not_by_their_names(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    for name, body in (("a.mp4", b"other"), ("deep/renamed.MP4", b"right"), ("c.txt", b"right")):
        (tmp_path / name).write_bytes(body)
    sha256 = hashlib.sha256(b"right").hexdigest()
    found = VideoFinder(tmp_path).find(
        {"clip": Wanted(sha256, 5, "h264", None), "gone": Wanted("0" * 64, 5, "h264", None)}
    )
    assert {clip: one.path.name for clip, one in found.items()} == {"clip": "renamed.MP4"}
    assert found["clip"].plays


@pytest.mark.parametrize("pieces", [1, 3, 50])
def test_a_run_read_piece_by_piece_shows_as_the_whole(tmp_path: Path, pieces: int) -> None:
    run = make_run(tmp_path / "whole", "run", {"a": None, "b": None}, contradict=True)
    whole = RunView(tmp_path / "whole" / "run.db").refresh()
    path = tmp_path / "grown.db"
    size = max(1, len(run.events) // pieces)
    view = None
    with LogWriter.create(
        path, kind=LogKind.RUN, log_uuid=whole.provenance.uuid, created="2026-01-05T09:00:00Z"
    ) as writer:
        stored: set[str] = set()
        for at in range(0, len(run.events), size):
            batch = run.events[at : at + size]
            refs = {ref.sha256: ref for event in batch for ref in blob_refs(event.data) if ref.sha256 not in stored}
            stored.update(refs)
            blobs = [make_blob(run.blobs[key], ref.media_type) for key, ref in refs.items()]
            writer.append(batch, blobs).result()
            view = view or RunView(path)
            view.refresh()
    assert view is not None
    grown = view.refresh()
    assert msgspec.json.encode(grown.shown) == msgspec.json.encode(whole.shown)
    assert grown.extras == whole.extras
    assert grown.running
    with open_log(path) as log:
        assert grown.provenance.head == log.head()


def test_documents_tell_wrong_from_right_and_differing_from_agreeing(tmp_path: Path) -> None:
    make_run(tmp_path, "first", {"a": None})
    make_run(tmp_path, "second", {"a": None}, right=False, contradict=True)
    runs = [RunView(tmp_path / f"{name}.db").refresh() for name in ("first", "second")]
    of = site(runs, gold=load_gold(make_gold(tmp_path / "gold", ["a"])), language="en")
    index = index_of(of, title="t", videos={})
    (clip,) = index["clips"]
    assert [run["verdict"] for run in clip["runs"]] == ["match", "misjudged"]
    assert (clip["differs"], clip["wrong"], clip["contradictions"]) == (True, True, 1)
    turns = {f"{turn['question_id']}/{turn['party']}": turn for turn in clip_document(of, "a")["turns"]}
    assert [cell["verdict"] for cell in turns["q_maneuver/other"]["cells"]] == ["correct", "wrong"]
    assert [cell["verdict"] for cell in turns["q_signal/other"]["cells"]] == ["correct", "correct"]
    assert not turns["q_signal/other"]["differs"]
    assert turns["q_maneuver/other"]["contradiction"]
    assert [turn for turn in turns if turns[turn]["asked"]] == list(turns)
    messages = messages_of(of, "a")
    calls = {sample["call"] for turn in turns.values() for cell in turn["cells"] for sample in cell["samples"]}
    assert calls <= set(messages["calls"])
    assert all(one["request"] in messages["blobs"] for one in messages["calls"].values())


def test_a_page_below_a_file_is_refused_saying_what_is_no_folder(tmp_path: Path) -> None:
    file = tmp_path / "notes.txt"
    file.touch()
    with pytest.raises(InputError, match=r"notes\.txt is not a folder"):
        check_output(file / "deep" / "x.html", [])
    check_output(tmp_path / "new" / "x.html", [])


@pytest.mark.parametrize("name", ["clip.mp4", "labels.json", "page"])
def test_a_page_is_written_over_nothing_but_pages(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match=r"written as \.html or \.htm"):
        check_output(tmp_path / name, [])


async def test_a_browser_that_goes_away_while_it_sends_a_label_is_no_error() -> None:
    sent = []

    async def receive() -> dict[str, str]:
        return {"type": "http.disconnect"}

    async def send(message: MutableMapping[str, Any]) -> None:
        sent.append(message)

    headers = [(b"host", b"localhost:1"), (b"x-vlmrec-token", b"t"), (b"content-type", b"application/json")]
    scope = {"type": "http", "method": "POST", "path": "/api/labels", "headers": headers, "query_string": b""}
    await make_app(cast(Live, None), token="t", port=1)(scope, receive, send)  # it gets no further than the body
    assert [message["status"] for message in sent if message["type"] == "http.response.start"] == [499]


def test_the_command_says_as_json_what_it_wrote(tmp_path: Path) -> None:
    make_run(tmp_path, "run", {"c": None})
    out = tmp_path / "page.html"
    told = json.loads(CliRunner().invoke(command, [str(tmp_path / "run.db"), "-o", str(out), "--json"]).stdout)
    assert told == {
        "clips": 1,
        "path": str(out),
        "problems": [],
        "runs": ["run"],
        "size": out.stat().st_size,
        "without_video": ["c"],
    }
