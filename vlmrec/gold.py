"""Human labels: Structs, reading and writing of gold files, one clip each.

``<clip_id>.json`` holds the reviewed label, ``<clip_id>__A.json`` that of labeller A; a file whose name
begins with ``_`` is no label. Decoding is pure; only ``load_gold`` and ``write_gold`` touch files.
Every error names the file and the key.
"""

import unicodedata
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Literal

import msgspec
from msgspec import Meta, Struct

from vlmrec.canonical import canonical_json, sha256_hex
from vlmrec.errors import InputError
from vlmrec.table import EntityTable
from vlmrec.terms import Answer, ClipId, Party, Sha256, Status, TurnKey

OUT_OF_SCOPE = "out_of_scope"
REVIEWED = "reviewed"
Seconds = Annotated[float, Meta(ge=0, description="Seconds of clip time.")]


class GoldAnswer(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a person answered to one question for one party, and when the clip shows it."""

    question_id: str
    party: Party
    status: Status
    value: str | None = None
    evidence_start: Seconds | None = None
    evidence_end: Seconds | None = None
    confidence: Annotated[float, Meta(ge=0, le=1)] | None = None

    @property
    def key(self) -> TurnKey:
        return TurnKey(self.question_id, self.party)

    @property
    def answer(self) -> Answer:
        """The same as the engine protocol carries it."""
        return Answer(question_id=self.question_id, party=self.party, status=self.status, value=self.value)


class GoldLabel(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One person's label of one clip, or the reviewed one. ``data_version`` is that of the ledger it was made with."""

    clip_id: str
    labeler: str = REVIEWED
    answers: tuple[GoldAnswer, ...] = ()
    gold_leaf: str | None = None
    review_leaf: str | None = None
    self_fault: Annotated[int, Meta(ge=0, le=100, description="Share of the recording vehicle in percent.")] | None = (
        None
    )
    layer2_exclude: Literal["policy", "out_of_section", "direction_only"] | None = None
    equivalent_leaves: tuple[str, ...] = ()
    stage0: EntityTable | None = None
    data_version: str

    @property
    def leaf(self) -> str | None:
        """The final chart: the review's stands over the label's."""
        return self.review_leaf or self.gold_leaf

    @property
    def accepted_leaves(self) -> frozenset[str]:
        """Every leaf that counts as the final chart."""
        return frozenset(leaf for leaf in (self.leaf, *self.equivalent_leaves) if leaf)


class GoldSet(Struct, frozen=True, kw_only=True):
    """All labels of a folder. ``content`` is a hash over every label file's name and bytes."""

    reviewed: dict[ClipId, GoldLabel]
    labellers: dict[str, dict[ClipId, GoldLabel]]
    content: Sha256

    @property
    def clip_ids(self) -> tuple[ClipId, ...]:
        """Clips with a label of any kind, sorted."""
        found = set(self.reviewed).union(*self.labellers.values())
        return tuple(sorted(found))


def load_gold(directory: Path, *, may_be_empty: bool = False) -> GoldSet:
    """Reads every label in ``directory``. Raises InputError, naming file and key, for the first bad one.

    So it does for a folder without labels, unless it ``may_be_empty``: one that labels are still to be written to.
    """
    if not directory.is_dir():
        raise InputError(f"{directory}: expected a folder of gold files (<clip_id>.json, <clip_id>__A.json)")
    paths = sorted(path for path in directory.iterdir() if path.suffix == ".json" and is_label_name(path.name))
    if not paths and not may_be_empty:
        raise InputError(f"no labels in {directory} (expected <clip_id>.json or <clip_id>__A.json, one for each clip)")
    return gold_set({path.name: path.read_bytes() for path in paths}, where=str(directory))


def write_gold(directory: Path, label: GoldLabel) -> Path:
    """Writes one label under the name that its clip and labeller give it, and returns the path."""
    directory.mkdir(parents=True, exist_ok=True)
    path = directory / label_name(label)
    path.write_bytes(encode_label(label))
    return path


def gold_set(files: Mapping[str, bytes], *, where: str = "") -> GoldSet:
    """The labels in ``files`` (name to bytes). Pure; the order of ``files`` doesn't matter."""
    reviewed: dict[ClipId, GoldLabel] = {}
    labellers: dict[str, dict[ClipId, GoldLabel]] = {}
    names: dict[tuple[ClipId, str | None], str] = {}
    bodies: list[tuple[str, str]] = []
    for name in sorted(files, key=_nfc):
        if not is_label_name(name):
            continue
        shown = f"{where}/{name}" if where else name
        label = decode_label(files[name], name=name, shown=shown)
        clip = ClipId(label.clip_id)
        labeler = split_name(name)[1]
        previous = names.setdefault((clip, labeler), shown)
        if previous != shown:
            raise InputError(
                f"{shown}: clip {clip} is already labelled in {previous}, whose name is the same text; keep one"
            )
        target = reviewed if labeler is None else labellers.setdefault(labeler, {})
        target[clip] = label
        bodies.append((_nfc(name), sha256_hex(files[name])))
    return GoldSet(
        reviewed=reviewed, labellers=dict(sorted(labellers.items())), content=sha256_hex(canonical_json(bodies))
    )


def decode_label(body: bytes, *, name: str, shown: str | None = None) -> GoldLabel:
    """One label file. ``name`` must agree with the ``clip_id`` and ``labeler`` inside; ``shown`` is for errors."""
    shown = shown or name
    try:
        label = msgspec.json.decode(body, type=GoldLabel)
    except msgspec.ValidationError as error:
        raise InputError(f"{shown}: {error}; docs/gold.md lists the keys of a gold file") from error
    except msgspec.DecodeError as error:
        raise InputError(f"{shown}: not valid JSON ({error})") from error
    label = msgspec.structs.replace(label, clip_id=_nfc(label.clip_id))
    clip, labeler = split_name(name)
    if clip != label.clip_id:
        raise InputError(
            f"{shown}: clip_id is {label.clip_id!r}, but the file's name says {clip!r}; rename the file or correct the key"
        )
    if labeler is not None and label.labeler not in (labeler, REVIEWED):
        raise InputError(
            f"{shown}: labeler is {label.labeler!r}, but the file's name says {labeler!r}; make the two agree"
        )
    if labeler is not None:
        label = msgspec.structs.replace(label, labeler=labeler)
    _check_answers(label.answers, shown)
    if label.stage0 is not None:
        _check_boxes(label.stage0, shown)
    return label


def encode_label(label: GoldLabel) -> bytes:
    """A label as the bytes of its file: sorted keys, two spaces, a final newline."""
    return msgspec.json.format(msgspec.json.encode(label, order="sorted"), indent=2) + b"\n"


def label_name(label: GoldLabel) -> str:
    """The file name that a label belongs under: a labeller's letter is part of it, any other name is a reviewer's."""
    named = f"{label.clip_id}__{label.labeler}.json"
    return named if split_name(named)[1] else f"{label.clip_id}.json"


def split_name(name: str) -> tuple[ClipId, str | None]:
    """The clip and labeller that a file name stands for; the labeller is None for a reviewed label."""
    stem = _nfc(name.removesuffix(".json"))
    clip, mark, labeler = stem.rpartition("__")
    if mark and clip and labeler.isalnum() and labeler.isupper() and len(labeler) <= 2:
        return ClipId(clip), labeler
    return ClipId(stem), None


def is_label_name(name: str) -> bool:
    """Whether a file of this name is a label: JSON, and neither hidden nor set aside with ``_``."""
    return name.endswith(".json") and not name.startswith(("_", "."))


def _check_answers(answers: Iterable[GoldAnswer], shown: str) -> None:
    seen: set[TurnKey] = set()
    for index, answer in enumerate(answers):
        where = f"{shown}: answers[{index}] ({answer.question_id}, {answer.party})"
        if answer.key in seen:
            raise InputError(f"{where}: this question is already answered for this party; keep one of the two")
        seen.add(answer.key)
        if (answer.status is Status.OBSERVED) != (answer.value is not None):
            raise InputError(
                f"{where}: value is {answer.value!r} beside status {answer.status}; a value goes with observed, and only with it"
            )
        start, end = answer.evidence_start, answer.evidence_end
        if start is not None and end is not None and end < start:
            raise InputError(f"{where}: evidence_end {end} lies before evidence_start {start}")


def _check_boxes(table: EntityTable, shown: str) -> None:
    """A box that ends before it begins is a typing error in a label; what a model replies is Stage 0's to judge."""
    for i, entity in enumerate(table.entities):
        for j, timed in enumerate(entity.boxes):
            left, top, right, bottom = timed.box
            if right < left or bottom < top:
                side = (
                    f"x2 {right:g} lies before x1 {left:g}" if right < left else f"y2 {bottom:g} lies before y1 {top:g}"
                )
                raise InputError(
                    f"{shown}: stage0.entities[{i}].boxes[{j}].box ({entity.id} at {timed.t:g} s): {side}; "
                    "a box is x1, y1, x2, y2 with x1 <= x2 and y1 <= y2, in 0 to 1000 from the top left"
                )


def _nfc(text: str) -> str:
    return unicodedata.normalize("NFC", text)
