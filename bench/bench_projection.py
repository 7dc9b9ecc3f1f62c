"""Each projection over a million events of about 500 bytes, beside bare reading and decoding of the rows it handles.

The bare loop selects the same rows in the same order and decodes their data with msgspec, nothing more. The
runs are made once; each figure is the median of three rounds that alternate between the two.

    python bench/bench_projection.py [NAME…]
"""

import json
import os
import sqlite3
import sys
import time
from collections.abc import Iterator
from decimal import Decimal
from importlib.resources import files
from pathlib import Path
from statistics import median

import msgspec
from workspace import workspace

from vlmrec.canonical import json_blob, make_blob
from vlmrec.engine.reference import load_reference, versions
from vlmrec.events import (
    BY_TYPE,
    AnswerAccepted,
    CallCompleted,
    CallRequested,
    CandidateBrief,
    ClipFinished,
    ClipOpened,
    EngineDescribed,
    EngineSubmitted,
    Event,
    Option,
    Payload,
    ReplyParsed,
    Stage,
    TurnOpened,
    Usage,
    make_event,
)
from vlmrec.gold import GoldAnswer, GoldLabel, GoldSet, encode_label, gold_set, label_name
from vlmrec.ledger import meta_bytes, questions_bytes
from vlmrec.log.format import LogKind
from vlmrec.log.reader import open_log
from vlmrec.log.writer import LogWriter
from vlmrec.projections.core import event_types, project
from vlmrec.projections.registry import AnyProjection, Inputs, projections
from vlmrec.protocol import Eliminated, EliminatedBy, EngineStatus
from vlmrec.report.logs import StoredLog
from vlmrec.stages.rules import parse_rules, rules_hash
from vlmrec.terms import Party, QuestionRef, Status

EVENTS = int(os.environ.get("VLMREC_BENCH_EVENTS", "1000000"))
ROUNDS = 3
TURNS = 12
AIM = "<= 1.5"
TIME = "2026-01-05T09:00:00.125Z"
BODY = json_blob({"choices": [{"message": {"role": "assistant", "content": "{}"}}]})
LEDGER = load_reference(versions()[-1]).ledger
META, QUESTIONS = (
    make_blob(meta_bytes(LEDGER), "application/json"),
    make_blob(questions_bytes(LEDGER), "application/json"),
)
ASKED = [(question.id, question.parties[0], question.codes) for question in LEDGER.questions[:TURNS]]
WHY = "상대 차량이 2차로에서 1차로로 방향지시등 없이 진로를 변경했다. The other car left its lane at about 3.9 s, and kept its speed."
WITHOUT_AIM = ("scan", "show")
"""One reads every text for what it claims, the other keeps and shows everything: the ratio is stated, not aimed at."""
PAIRED = ("rescore",)
"""Projections that take a run and another made from it; measured elsewhere."""


def main() -> None:
    chosen = sys.argv[1:]
    rules = files("vlmrec.schemas").joinpath("validation_rules.yaml").read_bytes()
    with workspace() as folder:
        path = folder / "run.db"
        clips = write_run(path)
        inputs = Inputs(gold=labels(clips), rules=parse_rules(rules), rules_hash=rules_hash(rules))
        for name, make in projections().items():
            if name not in PAIRED and (not chosen or name in chosen):
                bench(name, make(inputs), path)


def bench(name: str, projection: AnyProjection, path: Path) -> None:
    types = event_types(projection)
    ours, bare = [], []
    for _ in range(ROUNDS):
        bare.append(read_bare(path, types))
        ours.append(run(projection, path))
    measured, beside = median(ours), median(bare)
    figure = {"name": f"{name} over {EVENTS:,} events", "measured": measured, "beside": beside, "unit": "s",
              "ratio": measured / beside, "aim": None if name in WITHOUT_AIM else AIM}  # fmt: skip
    print(json.dumps(figure), flush=True)


def run(projection: AnyProjection, path: Path) -> float:
    start = time.process_time()
    with open_log(path) as log:
        project(projection, [StoredLog(log)])
    return time.process_time() - start


def read_bare(path: Path, types: tuple[str, ...]) -> float:
    decoders = {name: msgspec.json.Decoder(BY_TYPE[name]).decode for name in types}
    marks = ", ".join("?" * len(types))
    query = f"SELECT type, id, subject, time, causation, data FROM events WHERE +type IN ({marks}) ORDER BY seq"
    start = time.process_time()
    connection = sqlite3.connect(path)
    for kind, _, _, _, _, data in connection.execute(query, types):
        decoders[kind](data)
    connection.close()
    return time.process_time() - start


# ---- a run -------------------------------------------------------------------------------------


def write_run(path: Path) -> int:
    """Clips of twelve turns each until there are enough events; returns how many clips."""
    described = EngineDescribed(
        ordinal=1,
        source="embedded",
        engine_version=LEDGER.engine_version,
        data_version=LEDGER.data_version,
        meta=META.ref,
        questions=QUESTIONS.ref,
    )
    clips = size = 0
    with LogWriter.create(
        path, kind=LogKind.RUN, log_uuid="0a9f7f5e-0000-4000-8000-000000000001", created=TIME
    ) as writer:
        writer.append([make_event(described, clip=None, time=TIME)], [META, QUESTIONS]).result()
        while size < EVENTS:
            batch = [event for k in range(50) for event in clip_events(f"clip-{clips + k:06d}")]
            writer.append(batch, [BODY]).result()
            clips, size = clips + 50, size + len(batch)
        writer.seal()
    return clips


def clip_events(clip: str) -> list[Event]:
    return [make_event(payload, clip=clip, time=TIME) for payload in clip_payloads(clip)]


def clip_payloads(clip: str) -> Iterator[Payload]:
    yield ClipOpened(
        path=f"{clip}.mp4", sha256="0" * 64, bytes=12_000_000, duration_s=10.0, frames=150, first_s=0.0, last_s=9.93,
        average_rate=15.0, variable_rate=False, width=1280, height=720, rotation=0, codec="h264",
    )  # fmt: skip
    charts = [f"차43-{n}" for n in range(1, 9)]
    gone: list[Eliminated] = []
    seed = int(clip[-6:])
    for number, (question, party, codes) in enumerate(ASKED):
        value = codes[(seed + number) % len(codes)]
        yield from turn(question, party, codes, value, number + 1, f"{WHY} ({clip}, {number})")
        if len(charts) > 1 and number % 2:
            gone.append(
                Eliminated(
                    chart=charts.pop(), self_is="A", by=EliminatedBy(question_id=question, party=party, value=value)
                )
            )
        yield submission(
            number + 1, charts, gone, None if number + 1 == TURNS else QuestionRef(question_id=question, party=party)
        )
    yield ClipFinished(
        core=1, ordinal=1, outcome=EngineStatus.OPEN, candidates=candidates(charts), rounds=TURNS,
        submission=f"engine.submitted/{clip}/{TURNS}/1",
    )  # fmt: skip


def turn(question: str, party: Party, codes: tuple[str, ...], value: str, round_: int, why: str) -> Iterator[Payload]:
    of = {"stage": Stage.PREDICATE, "question_id": question, "party": party}
    yield TurnOpened(
        **of, core=1, round=round_, text="충돌 직전까지 상대 차량은 어떻게 움직이고 있었습니까?",
        options=tuple(Option(code=code, label=code) for code in codes), identity_hash="a" * 64, shown_hash="b" * 64,
        window="whole", samples=1,
    )  # fmt: skip
    yield CallRequested(
        **of, sample=0, attempt=1, fingerprint="v1:" + "c" * 64, request=BODY.ref, model="qwen3.5-plus",
        endpoint="in-process", media=("d" * 64,), predicted_prompt_tokens=4900,
    )  # fmt: skip
    yield CallCompleted(
        **of, sample=0, attempt=1, status=200, body=BODY.ref, latency_s=2.375, headers={"content-type": "application/json"},
        usage=Usage(prompt_tokens=4812, completion_tokens=96, cached_tokens=4096), cost=Decimal("0.001932"),
        cost_source="price", served_model="qwen3.5-plus-2026", finish_reasons=("stop",),
    )  # fmt: skip
    said = {
        "status": Status.OBSERVED,
        "value": value,
        "explanation": why,
        "evidence_start": 3.125,
        "evidence_end": 4.75,
    }
    yield ReplyParsed(
        **of, **said, core=1, sample=0, call=f"call.completed/{question}/{party}", outcome="answer", strictness="strict",
        confidence=0.82, repetition=0.0,
    )  # fmt: skip
    yield AnswerAccepted(**of, **said, core=1, source="model", confidence=0.82)


def submission(
    round_: int, charts: list[str], gone: list[Eliminated], following: QuestionRef | None
) -> EngineSubmitted:
    return EngineSubmitted(
        round=round_, attempt=1, request=BODY.ref, reply=BODY.ref, http_status=200, engine_version="0.1.3",
        data_version=LEDGER.data_version, status=EngineStatus.ASKING if following else EngineStatus.OPEN,
        candidates=candidates(charts), eliminated=tuple(gone), next_question=following,
    )  # fmt: skip


def candidates(charts: list[str]) -> tuple[CandidateBrief, ...]:
    return tuple(
        CandidateBrief(chart=chart, variant=None, self_is="A", fault_self=30, fault_self_range=(20, 40))
        for chart in charts[:3]
    )


def labels(clips: int) -> GoldSet:
    """Labels of fifty clips: people label that many."""
    answers = tuple(
        GoldAnswer(question_id=question, party=party, status=Status.OBSERVED, value=codes[0])
        for question, party, codes in ASKED
    )
    made = [
        GoldLabel(clip_id=f"clip-{k:06d}", answers=answers, gold_leaf="차43-2", data_version=LEDGER.data_version)
        for k in range(min(50, clips))
    ]
    return gold_set({label_name(label): encode_label(label) for label in made})


if __name__ == "__main__":
    main()
