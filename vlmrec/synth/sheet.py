"""Contact sheets: frames of a finished clip with its gold beside them, for a person to look at.

Reads only what a clip's folder holds (video and gold file), so it shows what the label really says.
"""

from collections.abc import Iterator
from pathlib import Path

import av
import cv2
import numpy as np
from numpy.typing import NDArray

from vlmrec.errors import InputError
from vlmrec.gold import GoldLabel, load_gold
from vlmrec.table import EntityTable, TimedBox
from vlmrec.terms import Status

Image = NDArray[np.uint8]
WIDE, COLUMNS, PANEL = 640, 3, 560
AROUND = (-3.0, -2.0, -1.0, -0.4, 0.0, 0.35, 1.0)
INK, COUNTERPART, OTHER = (235, 235, 235), (60, 220, 255), (170, 170, 170)


def write_sheets(folder: Path) -> Iterator[Path]:
    """A PNG in ``folder/sheets`` for every clip of ``folder`` that has a reviewed label."""
    labels = load_gold(folder / "gold").reviewed
    if not labels:
        raise InputError(f"{folder / 'gold'}: no label found; render clips first with `vlmrec synth --out {folder}`")
    (folder / "sheets").mkdir(exist_ok=True)
    for clip_id, label in sorted(labels.items()):
        video = folder / f"{clip_id}.mp4"
        if not video.exists():
            raise InputError(f"{video}: missing, although {clip_id} has a label")
        target = folder / "sheets" / f"{clip_id}.png"
        cv2.imwrite(str(target), sheet(video, label))
        yield target


def sheet(video: Path, label: GoldLabel) -> Image:
    """The picture of one clip: frames around the contact with entity boxes, and a panel of what the gold says."""
    frames = _frames(video)
    length = len(frames[1]) and frames[1][-1]
    contact = label.stage0.contact_time if label.stage0 else None
    times = _times(contact, length)
    tiles = [
        _tile(frames[0][int(np.argmin(np.abs(np.array(frames[1]) - time)))], time, label.stage0, contact)
        for time in times
    ]
    while len(tiles) % COLUMNS:
        tiles.append(np.zeros_like(tiles[0]))
    rows = [np.hstack(tiles[k : k + COLUMNS]) for k in range(0, len(tiles), COLUMNS)]
    grid = np.vstack(rows)
    picture: Image = np.hstack([grid, _panel(label, grid.shape[0])])
    return picture


def _times(contact: float | None, length: float) -> list[float]:
    if contact is None:
        return [length * k / 8 for k in range(9)]
    around = [contact + shift for shift in AROUND]
    return [0.3, *(min(max(0.0, time), length) for time in around), length]


def _frames(video: Path) -> tuple[list[Image], list[float]]:
    images, times = [], []
    with av.open(str(video)) as container:
        for frame in container.decode(video=0):
            full = frame.to_ndarray(format="bgr24")
            images.append(cv2.resize(full, (WIDE, full.shape[0] * WIDE // full.shape[1]), interpolation=cv2.INTER_AREA))
            times.append(float(frame.time or 0.0))
    return images, times  # type: ignore[return-value]  # cv2 has looser array types


def _tile(frame: Image, time: float, table: EntityTable | None, contact: float | None) -> Image:
    tile = frame.copy()
    for entity in table.entities if table else ():
        box = _nearest(entity.boxes, time)
        if box is None:
            continue
        scale = np.array([tile.shape[1], tile.shape[0]] * 2) / 1000
        x0, y0, x1, y1 = (np.array(box.box) * scale).astype(int).tolist()
        leading = entity.role == "counterpart"
        cv2.rectangle(tile, (x0, y0), (x1, y1), COUNTERPART if leading else OTHER, 2 if leading else 1)
        cv2.putText(
            tile, entity.id, (x0, max(10, y0 - 3)), cv2.FONT_HERSHEY_SIMPLEX, 0.4, COUNTERPART if leading else OTHER, 1
        )
    mark = " CONTACT" if contact is not None and abs(time - contact) < 0.05 else ""
    cv2.putText(tile, f"{time:.2f} s{mark}", (8, 18), cv2.FONT_HERSHEY_SIMPLEX, 0.55, (0, 0, 0), 3)
    cv2.putText(tile, f"{time:.2f} s{mark}", (8, 18), cv2.FONT_HERSHEY_SIMPLEX, 0.55, INK, 1)
    return tile


def _nearest(boxes: tuple[TimedBox, ...], time: float) -> TimedBox | None:
    """The box of (nearly) that moment; a box of another moment would point beside the vehicle."""
    close = [box for box in boxes if abs(box.t - time) <= 0.12]
    return min(close, key=lambda box: abs(box.t - time)) if close else None


def _panel(label: GoldLabel, height: int) -> Image:
    panel = np.full((height, PANEL, 3), 32, np.uint8)
    lines = [label.clip_id, f"leaf {(label.leaf or '-').replace('차', 'chart ')}  self fault {label.self_fault}"]
    if label.stage0:
        table = label.stage0
        lines.append(f"contact {table.contact_time}  lane {table.ego_lane} of {table.lane_count}")
        mark = {"counterpart": "*"}
        lines += [f"  {e.id}{mark.get(e.role, '')} {e.descriptor} {e.heading} lane {e.lane}" for e in table.entities][
            :8
        ]
    lines.append("")
    for answer in label.answers:
        if answer.status is Status.OBSERVED:
            span = f"{answer.evidence_start:g}-{answer.evidence_end:g}" if answer.evidence_start is not None else ""
            lines.append(f"{answer.question_id[2:]}/{answer.party}: {answer.value} [{span}]")
    hidden = [
        f"{a.question_id[2:]}/{a.party}" for a in label.answers if a.status in (Status.OFF_SCREEN, Status.OCCLUDED)
    ]
    lines += ["", "off screen or occluded: " + str(len(hidden))]
    for number, line in enumerate(lines):
        cv2.putText(panel, line[:70], (8, 18 + number * 17), cv2.FONT_HERSHEY_SIMPLEX, 0.44, INK, 1, cv2.LINE_AA)
    return panel
