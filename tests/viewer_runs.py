"""Runs for tests of what shows runs: several side by side over the same clips, with labels, tables and contradictions."""

import hashlib
from hashlib import sha256
from pathlib import Path

import msgspec
from runbuilder import ClipBuilder, RunBuilder, axes, ledger_of, question

from vlmrec.events import ClipOpened, Violation
from vlmrec.gold import GoldAnswer, GoldLabel, write_gold
from vlmrec.table import Entity, EntityTable, TimedBox
from vlmrec.terms import BlobRef, Party, QuestionRef, Status

LEDGER = ledger_of(
    question("q_collision", "none", "yes no", scope="instant"),
    question("q_maneuver", "self other", "straight lane_change stopped"),
    question("q_signal", "other", "on off"),
)
TABLE = msgspec.json.encode(
    {
        "entities": [
            {
                "id": "e1",
                "kind": "car",
                "role": "counterpart",
                "descriptor": "흰색 승용차",
                "boxes": [{"t": 0.5, "box": [200, 300, 400, 600]}, {"t": 1.0, "box": [300, 300, 500, 600]}],
            }
        ],
        "contact_time": 1.2,
        "ego_lane": 2,
        "lane_count": 3,
    }
)
SYSTEM = "당신은 블랙박스 영상을 보고 질문에 답합니다. 보이지 않으면 보이지 않는다고 답합니다. " * 40
CHARTS = ["차41-1", "차43-2", "차43-3", "차45-3", "차47-1", "차48-1"]


class TalkativeRun(RunBuilder):
    """Requests and replies of the size that real ones have: a long common part, and a part of each call's own."""

    def blob(self, body: bytes, media_type: str = "application/json") -> BlobRef:
        if body == b"{}":
            own = hashlib.sha256(str(len(self.events)).encode()).hexdigest() * 12
            text = f"{SYSTEM}\n[question] {own}"
            body = msgspec.json.encode({"messages": [{"role": "system", "content": text}], "seed": len(self.events)})
        return super().blob(body, media_type)


def make_run(
    folder: Path,
    run_id: str,
    clips: dict[str, Path | None],
    *,
    model: str = "test/model",
    turns: int = 4,
    explain: str = "앞차가 차로를 바꾸었습니다.",
    right: bool = True,
    contradict: bool = False,
    write: bool = True,
    talkative: bool = False,
) -> RunBuilder:
    """A run over these clips (id to file, if there is one). ``right`` runs answer as ``make_gold`` labels."""
    folder.mkdir(parents=True, exist_ok=True)
    run = (TalkativeRun if talkative else RunBuilder)(run_id=run_id, clips=clips, axes=axes(M=model), ledger=LEDGER)
    for number, (clip_id, file) in enumerate(clips.items()):
        add_clip(run, clip_id, file, number, turns=turns, explain=explain, right=right, contradict=contradict)
    if write:
        run.write(folder)
    return run


def add_clip(
    run: RunBuilder,
    clip_id: str,
    file: Path | None,
    number: int,
    *,
    turns: int,
    explain: str,
    right: bool,
    contradict: bool,
) -> None:
    clip = run.clip(clip_id, opened=False)
    clip.add(opened(file, clip_id))
    clip.table(TABLE)
    clip.turn("q_collision", "none", value="yes", explanation=explain, evidence=(1.0, 1.4), options=("yes", "no"),
              labels=("부딪쳤다", "부딪치지 않았다"), cost="0.0012", reasoning="첫 장면부터 봅니다.")  # fmt: skip
    clip.submit("asking", CHARTS, next_question=("q_maneuver", "other"))
    maneuver(clip, "lane_change" if right or number % 2 else "straight", explain, contradict)
    clip.submit("asking", CHARTS[:3], eliminated=[(chart, "q_maneuver", "other", "lane_change") for chart in CHARTS[3:]],
                next_question=("q_signal", "other"))  # fmt: skip
    clip.turn(
        "q_signal",
        "other",
        status="occluded",
        explanation="보이지 않습니다.",
        options=("on", "off"),
        labels=("켬", "끔"),
        cost="0.0010",
    )
    clip.submit("asking", CHARTS[:2], eliminated=[(CHARTS[2], "q_signal", "other", "off")])
    for extra in range(3, turns):
        clip.turn(f"q_extra_{extra:02}", "none", value="straight", explanation=f"{explain} {extra}", evidence=(0.5, 0.7),
                  options=("straight", "lane_change", "stopped"), labels=("직진", "차로 변경", "정지"))  # fmt: skip
        clip.submit("asking", CHARTS[:2])
    clip.submit("confirmed", ["차43-2" if right else "차41-1"])
    clip.finish()


def maneuver(clip: ClipBuilder, value: str, explain: str, contradict: bool) -> None:
    against = Violation(rule="domain", action="demote", message="앞의 답과 맞지 않습니다",
                        against=QuestionRef(question_id="q_collision", party=Party.NONE))  # fmt: skip
    clip.turn("q_maneuver", "other", value=value, explanation=explain, evidence=(0.4, 0.9), options=("straight", "lane_change", "stopped"),
              labels=("직진", "차로 변경", "정지"), cost="0.0011", violations=(against,) if contradict else ())  # fmt: skip


def opened(file: Path | None, clip_id: str) -> ClipOpened:
    body = file.read_bytes() if file else b""
    return ClipOpened(path=str(file or f"{clip_id}.mp4"), sha256=sha256(body).hexdigest(), bytes=len(body), duration_s=2.0, frames=20, first_s=0.0, last_s=1.9,
                      average_rate=10.0, variable_rate=False, width=160, height=120, rotation=0, codec="h264")  # fmt: skip


def make_gold(folder: Path, clips: list[str]) -> Path:
    """Labels by A, and a reviewed final chart, of every clip."""
    for clip in clips:
        answers = (
            GoldAnswer(question_id="q_collision", party=Party.NONE, status=Status.OBSERVED, value="yes", evidence_start=1.1, evidence_end=1.2),
            GoldAnswer(question_id="q_maneuver", party=Party.OTHER, status=Status.OBSERVED, value="lane_change"),
            GoldAnswer(question_id="q_signal", party=Party.OTHER, status=Status.UNKNOWN),
        )  # fmt: skip
        box = TimedBox(t=1.0, box=(310.0, 300.0, 510.0, 610.0))
        table = EntityTable(
            entities=(Entity(id="white car", kind="car", role="counterpart", boxes=(box,)),), contact_time=1.1
        )
        write_gold(folder, GoldLabel(clip_id=clip, labeler="A", answers=answers, data_version="test-ledger"))
        write_gold(folder, GoldLabel(clip_id=clip, gold_leaf="차43-2", stage0=table, data_version="test-ledger"))
    return folder
