"""What a viewer that serves shows at the moment: runs that may be growing, labels that may be added, videos."""

from collections.abc import Callable, Sequence
from pathlib import Path
from threading import Lock
from typing import Any

from vlmrec.gold import load_gold
from vlmrec.ledger import Ledger
from vlmrec.question import Language
from vlmrec.stages.clips import clip_id
from vlmrec.viewer.documents import index
from vlmrec.viewer.label_log import LabelLog
from vlmrec.viewer.overview import overviews
from vlmrec.viewer.runs import RunView
from vlmrec.viewer.site import Site, heads, site, with_labels
from vlmrec.viewer.videos import Found, VideoFinder, Wanted, media_type, plays, small_copy
from vlmrec.viewer.view import ledger_of, title_of, wanted_videos


class Live:
    """What is served: runs, labels and videos as they are at the moment."""

    def __init__(
        self,
        runs: Sequence[Path],
        *,
        labels: LabelLog,
        gold: Path | None,
        clips_dir: Path | None,
        clips: frozenset[str] | None,
        language: Language,
        default_ledger: Callable[[], Ledger],
        copies: Path,
    ) -> None:
        self.language: Language = language
        self.labels = labels
        self.export_folder = gold if gold is not None else labels.path.parent / "gold"
        self._views = [RunView(path, clips=clips) for path in runs]
        self._gold_folder = gold
        self._finder = VideoFinder(clips_dir)
        self._clips_dir = clips_dir
        self._default_ledger = default_ledger
        self._copies = copies
        self._guard = Lock()
        self._site: Site | None = None
        self._found: dict[str, Found] = {}
        self._own_clips: dict[str, Path] | None = None
        self._made: dict[str, Any] = {}

    def site(self) -> Site:
        """The runs and labels as they are now."""
        with self._guard:
            runs = [view.refresh() for view in self._views]
            folder = self._gold_folder
            files = load_gold(folder, may_be_empty=True) if folder and folder.is_dir() else None
            made = self.labels.labels(files)
            fresh = site(
                runs,
                gold=with_labels(files, made) if files or made else None,
                ledger=ledger_of(runs) or self._default_ledger(),
                language=self.language,
                more_clips=self._clips_on_disk() if not runs else (),
                here=frozenset((label.clip_id, label.labeler) for label in made),
            )
            if self._site is None or heads(fresh) != heads(self._site):
                self._site = fresh
                self._made = {}
                self._found = self._videos(fresh)
            return self._site

    def index(self) -> dict[str, Any]:
        """The index, with the videos' addresses and the plots."""
        of = self.site()
        if "index" not in self._made:
            videos = {
                clip: {"src": f"video/{found.sha256}", "type": "video/mp4" if not found.plays else found.media_type}
                for clip, found in self._found.items()
            }
            made = index(of, title=title_of(of.runs), videos=videos, labelling=True)
            made["plots"] = overviews(of, made)
            self._made["index"] = made
        return dict(self._made["index"])

    def video(self, sha256: str) -> Path | None:
        """The file to serve for a clip's bytes: the clip itself, or a copy that browsers play."""
        self.site()
        found = next((one for one in self._found.values() if one.sha256 == sha256), None)
        if found is None or found.plays:
            return found.path if found else None
        copy = self._copies / f"{sha256}.mp4"
        with self._guard:
            if not copy.is_file():
                body = small_copy(found.path)
                copy.with_suffix(".part").write_bytes(body)
                copy.with_suffix(".part").rename(copy)
        return copy

    def data_version(self, of: Site) -> str:
        """The ledger that labels are made with."""
        return of.ledger.data_version if of.ledger else self._default_ledger().data_version

    def _videos(self, of: Site) -> dict[str, Found]:
        wanted: dict[str, Wanted] = wanted_videos(of.runs)
        found = self._finder.find(wanted)
        for clip, path in self._clips_on_disk().items():
            if clip in of.clips and clip not in wanted:  # no run has opened it: its name says which clip it is
                codec = "h264" if path.suffix.lower() in (".mp4", ".m4v", ".mov") else "vp9"
                found[clip] = Found(path, self._finder.hash(path), plays(path, codec), media_type(path))
        return found

    def _clips_on_disk(self) -> dict[str, Path]:
        if self._own_clips is None:
            files = self._finder.files() if self._clips_dir else ()
            self._own_clips = {clip_id(path): path for path in files}
        return self._own_clips
