"""The viewer's page in a real browser: shown, worked by keys, filtered, and safe with hostile replies."""

import unicodedata
from pathlib import Path
from time import monotonic
from typing import Any

import pytest
from media_factory import write_clip
from pages import opened_at, until
from viewer_runs import make_gold, make_run

from vlmrec.viewer.view import write_view

pytestmark = pytest.mark.browser


@pytest.fixture
def shown(tmp_path: Path) -> Path:
    """Two runs over three clips with videos and labels; the second run is wrong and contradicts itself."""
    (tmp_path / "clips").mkdir()
    names = ("a-day", "b-밤길", "c-night")
    clips: dict[str, Path | None] = {
        name: write_clip(tmp_path / "clips" / f"{name}.mp4", pts=range(number, 20 + number))
        for number, name in enumerate(names)
    }
    make_run(tmp_path / "store", "first", clips)
    make_run(tmp_path / "store", "second", clips, model="test/other", right=False, contradict=True)
    gold = make_gold(tmp_path / "gold", list(clips))
    runs = [tmp_path / "store" / f"{name}.db" for name in ("first", "second")]
    write_view(runs, tmp_path / "view.html", gold=gold, clips_dir=tmp_path / "clips", language="ko")
    return tmp_path / "view.html"


def opened(page: Any, path: Path, fragment: str = "") -> Any:
    return opened_at(page, f"{path.as_uri()}{fragment}")


def test_runs_stand_side_by_side_beside_the_labels(page: Any, shown: Path) -> None:
    opened(page, shown)
    assert page.locator("thead th.run").all_inner_texts()[0].startswith("1 first")
    row = page.locator("tr.turn", has_text="q_maneuver")
    assert "차로 변경" in row.inner_text()
    assert row.locator("td.cell.correct").count() == 1
    assert row.locator("td.cell.wrong").count() == 1
    assert row.locator("td.labels").inner_text().startswith("A")
    outcome = page.locator("tr.outcome-row").inner_text()
    assert "일치" in outcome
    assert "오판" in outcome
    assert "차43-2" in outcome


def test_evidence_and_time_line_seek_the_video(page: Any, shown: Path) -> None:
    opened(page, shown)
    until(page, "document.querySelector('video').readyState >= 1")
    page.locator("tr.turn", has_text="q_collision").locator("td.cell .jump").first.click()
    until(page, "Math.abs(document.querySelector('video').currentTime - 1.0) < 0.05")
    page.locator("tr.turn", has_text="q_maneuver").locator("th").click()
    page.locator("#spans .span").first.click()
    until(page, "Math.abs(document.querySelector('video').currentTime - 0.4) < 0.05")
    assert page.evaluate("document.querySelector('video').videoWidth") == 160
    page.locator("#spans .moment").first.click()  # the label's contact time
    until(page, "Math.abs(document.querySelector('video').currentTime - 1.1) < 0.05")
    page.wait_for_selector(".boxes rect")
    assert page.locator(".boxes text").all_text_contents() == ["e1", "e1", "reviewed: white car"]


def test_the_keyboard_alone_goes_everywhere(page: Any, shown: Path) -> None:
    opened(page, shown)
    name = page.locator(".clip-name")
    page.keyboard.press("ArrowRight")
    until(page, "document.querySelector('.clip-name').textContent === 'b-밤길'")
    page.keyboard.press("ArrowDown")
    assert page.locator("tr.turn.chosen .key").inner_text().startswith("q_maneuver")
    assert "turn=q_maneuver%2Fother" in page.url
    page.keyboard.press("1")
    until(page, "Math.abs(document.querySelector('video').currentTime - 0.4) < 0.05")
    page.keyboard.press("/")
    page.keyboard.type("night")
    assert page.locator("#list li").count() == 1
    page.keyboard.press("Enter")
    page.keyboard.press("ArrowRight")
    until(page, "document.querySelector('.clip-name').textContent === 'c-night'")
    page.keyboard.press("?")
    assert page.locator("dialog dt").count() > 8
    page.keyboard.press("Escape")
    until(page, "document.querySelector('dialog') === null")
    page.keyboard.press("ArrowLeft")
    assert name.inner_text() == "c-night"  # the search still holds: there is no other clip to go to


def test_filters_leave_what_they_say(page: Any, shown: Path) -> None:
    opened(page, shown)
    every = page.locator("tr.turn").count()
    page.keyboard.press("d")
    page.wait_for_selector("button[aria-pressed=true]")
    assert "q_maneuver" in " ".join(page.locator("tr.turn").all_inner_texts())
    assert page.locator("tr.turn").count() < every
    page.keyboard.press("d")
    page.keyboard.press("c")
    assert page.locator("tr.turn").count() == 1
    assert "앞의 답과 맞지 않습니다" in page.locator("tr.turn").inner_text()
    page.keyboard.press("c")
    page.keyboard.press("w")
    assert page.locator("tr.turn").count() == 1
    page.keyboard.press("w")
    page.get_by_label("질문", exact=True).select_option("q_signal/other")
    assert page.locator("tr.turn .key").all_inner_texts() == ["q_signal · 상대"]


def test_a_link_from_elsewhere_opens_the_turn(page: Any, shown: Path) -> None:
    opened(page, shown, "#clip=c-night&turn=q_signal/other")
    assert page.locator(".clip-name").inner_text() == "c-night"
    assert page.locator("tr.turn.chosen .key").inner_text().startswith("q_signal")


def test_remarks_and_what_is_not_to_be_counted_are_shown(page: Any, tmp_path: Path) -> None:
    run = make_run(tmp_path, "run", {"day": None}, write=False)
    run.note("wrong camera", clip="day")
    run.note("glare in the lens", clip="day", turn=("q_signal", "other"), exclude=False)
    run.write(tmp_path)
    write_view([tmp_path / "run.db"], tmp_path / "view.html", gold=make_gold(tmp_path / "gold", ["day"]), language="en")
    opened(page, tmp_path / "view.html")
    assert "excluded: wrong camera" in page.locator("tr.outcome-row").inner_text()
    assert "glare in the lens" in page.locator("tr.turn", has_text="q_signal").inner_text()
    assert page.locator("#list .glyph.excluded").count() == 1


def test_whole_messages_come_on_demand(page: Any, shown: Path) -> None:
    opened(page, shown)
    cell = page.locator("tr.turn", has_text="q_collision").locator("td.cell").first
    cell.locator("details.samples > summary").click()
    cell.locator(".sample details").first.wait_for()
    assert "추론" in cell.inner_text()
    cell.locator(".sample details summary", has_text="추론").click()
    assert "첫 장면부터 봅니다." in cell.inner_text()


def test_both_languages_and_the_overview(page: Any, shown: Path) -> None:
    opened(page, shown)
    page.get_by_label("언어").select_option("en")
    assert "Only differences" in page.locator("#bar").inner_text()
    page.keyboard.press("o")
    assert page.locator("figure.plot svg").count() >= 4
    page.keyboard.press("o")
    page.wait_for_selector("tr.turn")


HOSTILE = [
    "<script>window.pwned=1</script>",
    "</script><script>window.pwned=2</script>",
    '<img src=x onerror="window.pwned=3">',
    '"><svg/onload=window.pwned=4>',
    "=HYPERLINK(\"http://127.0.0.1/\";\"x\")",
    "javascript:window.pwned=5",
    "abc\u202edcba\u2066hidden\u2069",
    "\x1b[31mred\x07\x00",
    "{{ script }}{% raw %}${window.pwned=6}",
    "긴 글 " * 60_000,
]  # fmt: skip


@pytest.mark.parametrize("language", ["ko", "en"])
def test_hostile_replies_are_text(page: Any, tmp_path: Path, language: str) -> None:
    clips: dict[str, Path | None] = {f"c{at} <b>{at}</b>": None for at in range(2)}
    run = make_run(tmp_path, "hostile", clips, explain="\n".join(HOSTILE[:-1]), write=False)
    clip = run.clip("long\u202e<i>")
    clip.turn(
        "q_collision",
        "none",
        value="yes",
        explanation=HOSTILE[-1],
        options=("yes", "no<script>"),
        labels=HOSTILE[:2],
        reasoning="\n".join(HOSTILE[:-1]),
    )
    run.write(tmp_path)
    write_view([tmp_path / "hostile.db"], tmp_path / "view.html", language=language)  # type: ignore[arg-type]
    opened(page, tmp_path / "view.html")
    text = page.locator("tr.turn .why").first.inner_text()
    assert "<script>window.pwned=1</script>" in text
    assert "\\u202e" in text
    assert "\\u001b[31m" in text
    assert "\u202e" not in page.locator("body").inner_text()
    for details in page.locator("tr.turn details").all():
        details.evaluate("node => { node.open = true }")
    page.goto(f"{(tmp_path / 'view.html').as_uri()}#clip=long%E2%80%AE%3Ci%3E")
    until(page, "document.querySelector('.clip-name').textContent.includes('long')")
    long = page.locator("tr.turn .why .prose").first
    assert len(long.inner_text()) < 1000
    long.locator("button").click()
    assert len(long.text_content()) > 200_000
    assert page.evaluate("window.pwned") is None
    assert page.locator("main script, main img, main iframe, main b > b, main i").count() == 0


@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_korean_file_names_are_found_in_either_form(page: Any, tmp_path: Path, form: str) -> None:
    (tmp_path / "영상 모음").mkdir()
    name = unicodedata.normalize(form, "교차로 추돌 #1 100%")
    file = write_clip(tmp_path / "영상 모음" / f"{name}.mp4")
    make_run(tmp_path, "run", {unicodedata.normalize("NFC", name): file})
    done = write_view([tmp_path / "run.db"], tmp_path / "view.html", clips_dir=tmp_path / "영상 모음")
    assert done.without_video == ()
    opened(page, tmp_path / "view.html")
    until(page, "document.querySelector('video').readyState >= 1")


def test_small_copies_inside_the_page_play(page: Any, tmp_path: Path) -> None:
    file = write_clip(tmp_path / "old.avi", codec="mpeg4")
    make_run(tmp_path, "run", {"old": file})
    write_view([tmp_path / "run.db"], tmp_path / "view.html", embed_videos=True)
    file.unlink()
    opened(page, tmp_path / "view.html")
    until(page, "document.querySelector('video').readyState >= 1 && document.querySelector('video').duration > 1.5")


def test_sixty_eight_clips_by_seven_runs_open_within_two_seconds(page: Any, tmp_path: Path) -> None:
    clips: dict[str, Path | None] = {f"clip-{at:03}": None for at in range(68)}
    explain = "상대 차량이 방향지시등을 켜지 않은 채 옆 차로에서 내 차로로 들어왔고, 그 뒤에 부딪쳤습니다. " * 2
    runs = [
        make_run(tmp_path, f"run-{at}", clips, turns=12, explain=explain, right=at % 2 == 0, talkative=True).run_id
        for at in range(7)
    ]
    gold = make_gold(tmp_path / "gold", list(clips))
    done = write_view([tmp_path / f"{run}.db" for run in runs], tmp_path / "view.html", gold=gold)
    begun = monotonic()
    opened(page, tmp_path / "view.html")
    took = monotonic() - begun
    print(f"{done.size / 1e6:.2f} MB, first page after {took:.2f} s")
    assert page.locator("tr.turn").count() == 12
    assert page.locator("#list li").count() == 68
    assert took < 2
    assert done.size < 20e6


def test_axe_finds_no_serious_fault(page: Any, shown: Path) -> None:
    from axe_playwright_python.sync_playwright import Axe

    opened(page, shown)
    until(page, "document.querySelector('video').readyState >= 1")
    for step in ("clips", "overview"):
        if step == "overview":
            page.keyboard.press("o")
        found = Axe().run(page).response["violations"]
        serious = [
            (one["id"], [node["html"][:200] for node in one["nodes"]][:3])
            for one in found
            if one["impact"] in ("serious", "critical")
        ]
        assert not serious, step
