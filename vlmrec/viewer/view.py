"""``vlmrec view``: the page of some runs, written once or served and kept up to date."""

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

from vlmrec.errors import InputError, MediaError
from vlmrec.gold import load_gold
from vlmrec.ledger import Ledger, decode_ledger
from vlmrec.question import Language
from vlmrec.viewer.documents import clip_document, messages
from vlmrec.viewer.documents import index as index_of
from vlmrec.viewer.overview import overviews
from vlmrec.viewer.page import static_page
from vlmrec.viewer.runs import RunData, RunView
from vlmrec.viewer.site import site
from vlmrec.viewer.videos import VideoFinder, Wanted, small_copy

PAGES = (".html", ".htm")


class Written(NamedTuple):
    """What was written, and what could not be shown."""

    path: Path
    size: int
    clips: int
    without_video: tuple[str, ...]
    problems: tuple[str, ...]


def write_view(
    runs: Sequence[Path],
    output: Path,
    *,
    gold: Path | None = None,
    clips_dir: Path | None = None,
    clips: frozenset[str] | None = None,
    language: Language = "ko",
    embed_videos: bool = False,
    with_messages: bool = True,
) -> Written:
    """Write the page of these runs, side by side in the order named."""
    data = [RunView(path, clips=clips).refresh() for path in runs]
    of = site(data, gold=load_gold(gold) if gold is not None else None, ledger=ledger_of(data), language=language)
    found = VideoFinder(clips_dir).find(wanted_videos(data))
    videos: dict[str, dict[str, Any] | None] = {}
    inside: dict[int, bytes] = {}
    problems = []
    for at, clip in enumerate(of.clips):
        if clip not in found:
            videos[clip] = None
        elif embed_videos:
            try:
                inside[at] = small_copy(found[clip].path)
                videos[clip] = {"inside": f"video-{at}", "type": "video/mp4"}
            except MediaError as error:
                problems.append(str(error))
        else:
            videos[clip] = {"src": _link(found[clip].path, output), "type": found[clip].media_type}
    index = index_of(of, title=title_of(data), videos=videos)
    index["running"] = False  # a page that stands alone is of one moment
    index["plots"] = overviews(of, index)
    body = static_page(
        index,
        (clip_document(of, clip) for clip in of.clips),
        (messages(of, clip) for clip in of.clips) if with_messages else None,
        language=language,
        videos=inside,
    )
    output.parent.mkdir(parents=True, exist_ok=True)
    output.write_bytes(body)
    missing = tuple(clip for clip in of.clips if videos.get(clip) is None)
    return Written(output, len(body), len(of.clips), missing, tuple(problems))


def one_run_page(
    run: Path, *, clips_dir: Path | None, video_url: Callable[[str], str], language: Language = "ko"
) -> bytes:
    """The page of one run, its videos linked as ``video_url`` says."""
    data = [RunView(run).refresh()]
    of = site(data, ledger=ledger_of(data), language=language)
    found = VideoFinder(clips_dir).find(wanted_videos(data))
    videos = {clip: {"src": video_url(one.sha256), "type": one.media_type} for clip, one in found.items()}
    index = index_of(of, title=title_of(data), videos=videos)
    index["running"] = False
    index["plots"] = overviews(of, index)
    clips = (clip_document(of, clip) for clip in of.clips)
    return static_page(index, clips, (messages(of, clip) for clip in of.clips), language=language)


def wanted_videos(runs: Sequence[RunData]) -> dict[str, Wanted]:
    """The clips' bytes, by clip id; of several runs the first that opened the clip."""
    wanted: dict[str, Wanted] = {}
    for run in runs:
        for clip, extras in run.extras.items():
            if extras.sha256 is not None and clip not in wanted:
                story = run.stories.get(clip)
                wanted[clip] = Wanted(extras.sha256, extras.bytes, extras.codec, story.path if story else None)
    return wanted


def ledger_of(runs: Sequence[RunData]) -> Ledger | None:
    """The ledger that the first run which names one asked from."""
    for run in runs:
        meta, questions = run.facts.meta, run.facts.questions
        if meta is not None and questions is not None:
            bodies = run.blobs({meta.sha256, questions.sha256})
            if len(bodies) == 2:
                return decode_ledger(bodies[meta.sha256], bodies[questions.sha256])
    return None


def title_of(runs: Sequence[RunData]) -> str:
    """The page's title."""
    return "vlmrec: " + (", ".join(run.run_id for run in runs) or "labels")


def check_output(output: Path, runs: Sequence[Path]) -> None:
    """Raise InputError where the page would be written over a log or a folder, or below a file."""
    if output.is_dir():
        raise InputError(f"{output} is a folder; name the HTML file, such as {output / 'view.html'}")
    if output in runs or output.suffix == ".db":
        raise InputError(f"{output} is a log; the page must not be written over it")
    if output.suffix.lower() not in PAGES:
        raise InputError(f"{output}: the page is written as {' or '.join(PAGES)}; give the file one of these endings")
    above = next((path for path in output.parents if path.exists()), None)
    if above is not None and not above.is_dir():
        raise InputError(f"{output}: {above} is not a folder; write the page somewhere else")


def _link(path: Path, output: Path) -> str:
    """A relative link from the page to the file, byte for byte as the file system names it."""
    relative = os.path.relpath(path.resolve(), output.resolve().parent)
    return quote(os.fsencode(relative).replace(os.sep.encode(), b"/"), safe="/._-~")
