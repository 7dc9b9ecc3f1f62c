"""The run log beside bare SQLite: appending durably from concurrent producers, and reading a million events.

The bare loops do the same work on the same rows with nothing of ours: one transaction per group of as many
rows as there are producers, into the same tables and indexes without triggers; a select with msgspec decode; and,
beside the walk that checks the chain, a select with a bare hash.
Each figure is the median of rounds that alternate between the two, because a disk's mood changes by the second.

    python bench/bench_log.py [append|read]
"""

import asyncio
import hashlib
import json
import os
import sqlite3
import sys
import time
from decimal import Decimal
from pathlib import Path
from statistics import median

import msgspec
from workspace import workspace

from vlmrec.canonical import json_blob, sha256_hex
from vlmrec.events import BY_TYPE, AnswerAccepted, CallCompleted, CallRequested, Event, Stage, Usage, make_event
from vlmrec.log.database import shipped_ddl
from vlmrec.log.format import LogKind
from vlmrec.log.reader import open_checked, open_log
from vlmrec.log.writer import LogWriter
from vlmrec.terms import Party, Status

UUID = "0a9f7f5e-0000-4000-8000-000000000000"
TIME = "2026-01-05T09:00:00.125Z"
BODY = json_blob({"choices": [{"message": {"role": "assistant", "content": "{}"}}]})
ROUNDS = 7
READ_EVENTS = int(os.environ.get("VLMREC_BENCH_EVENTS", "1000000"))
READ_TYPES = ("answer.accepted", "call.completed")


def main() -> None:
    chosen = sys.argv[1:] or ["append", "read"]
    with workspace() as folder:
        if "append" in chosen:
            for producers in (1, 8, 64):
                bench_append(folder, producers)
        if "read" in chosen:
            bench_read(folder)


# ---- appending ---------------------------------------------------------------------------------


def bench_append(folder: Path, producers: int) -> None:
    """Rows a second: every producer appends one event, waits until it is durable, and goes on."""
    each = max(200, 2000 // producers)
    ours, bare = [], []
    for turn in range(ROUNDS):
        events = [[call(f"clip-{p:03d}", turn, k) for k in range(each)] for p in range(producers)]
        path = folder / f"append-{producers}-{turn}.db"
        ours.append(producers * each / append_ours(path, events))
        bare.append(producers * each / append_bare(path, producers))
    figure(f"append, {producers} producers", median(ours), median(bare), "rows/s", ">= 0.7")


def append_ours(path: Path, events: list[list[Event]]) -> float:
    with LogWriter.create(path, kind=LogKind.RUN, log_uuid=UUID, created=TIME) as writer:

        async def produce(own: list[Event]) -> None:
            for event in own:
                await writer.append_async([event])

        async def run() -> float:
            await writer.append_async([call("first", 0, 0)], [BODY])
            start = time.perf_counter()
            await asyncio.gather(*(produce(own) for own in events))
            return time.perf_counter() - start

        return asyncio.run(run())


def append_bare(logged: Path, group: int) -> float:
    """The rows that our writer stored, in the same tables without triggers."""
    source = sqlite3.connect(logged)
    rows = source.execute("SELECT * FROM events ORDER BY seq").fetchall()
    source.close()
    connection = sqlite3.connect(logged.with_suffix(".bare"), isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    for statement in shipped_ddl().split(";\n\n"):
        if "CREATE TABLE" in statement or "CREATE INDEX" in statement:
            connection.execute(statement)
    start = time.perf_counter()
    for at in range(0, len(rows), group):
        connection.execute("BEGIN IMMEDIATE")
        connection.executemany("INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", rows[at : at + group])
        connection.execute("COMMIT")
    took = time.perf_counter() - start
    connection.close()
    return took


# ---- reading -----------------------------------------------------------------------------------


def bench_read(folder: Path) -> None:
    """Seconds for every event of two types among a million, of about 500 bytes each."""
    path = folder / "read.db"
    write_many(path)
    ours, bare = [], []
    for _ in range(3):
        bare.append(read_bare(path))
        ours.append(read_ours(path))
    figure(f"read and decode, {READ_EVENTS:,} events", median(ours), median(bare), "s", "<= 1.3")
    walks = [(walk_ours(path), walk_bare(path)) for _ in range(3)]
    ours, bare = ([walk[which] for walk in walks] for which in (0, 1))
    figure(f"walk the chain, {READ_EVENTS:,} events", median(ours), median(bare), "s", "<= 2.5")


def read_ours(path: Path) -> float:
    start = time.perf_counter()
    with open_log(path) as log:
        count = sum(1 for _ in log.events(READ_TYPES))
    assert count > READ_EVENTS // 2
    return time.perf_counter() - start


def read_bare(path: Path) -> float:
    decoders = {name: msgspec.json.Decoder(BY_TYPE[name]) for name in READ_TYPES}
    start = time.perf_counter()
    connection = sqlite3.connect(path)
    marks = ", ".join("?" * len(READ_TYPES))
    query = f"SELECT type, id, subject, time, causation, data FROM events WHERE +type IN ({marks}) ORDER BY seq"
    count = 0
    for kind, _, _, _, _, data in connection.execute(query, READ_TYPES):
        decoders[kind].decode(data)
        count += 1
    connection.close()
    assert count > READ_EVENTS // 2
    return time.perf_counter() - start


def walk_ours(path: Path) -> float:
    start = time.perf_counter()
    with open_checked(path):
        return time.perf_counter() - start


def walk_bare(path: Path) -> float:
    """Fetching every column and hashing the data alone, without lengths, chain or comparison."""
    start = time.perf_counter()
    connection = sqlite3.connect(path)
    connection.text_factory = bytes
    for row in connection.execute("SELECT * FROM events ORDER BY seq"):
        hashlib.sha256(row[8]).digest()
    connection.close()
    return time.perf_counter() - start


def write_many(path: Path) -> None:
    with LogWriter.create(path, kind=LogKind.RUN, log_uuid=UUID, created=TIME) as writer:
        done = 0
        while done < READ_EVENTS:
            batch = [event for k in range(done, done + 3000, 3) for event in three(k)]
            writer.append(batch, [BODY]).result()
            done += len(batch)
        writer.seal()


# ---- events --------------------------------------------------------------------------------------


def call(clip: str, turn: int, number: int) -> Event:
    payload = CallCompleted(
        stage=Stage.PREDICATE,
        question_id=f"q_{number}",
        party=Party.OTHER,
        sample=turn,
        attempt=1,
        status=200,
        body=BODY.ref,
        latency_s=2.375,
        headers={"content-type": "application/json", "x-request-id": f"req-{number:08d}"},
        usage=Usage(prompt_tokens=4812, completion_tokens=96, cached_tokens=4096),
        cost=Decimal("0.001932"),
        cost_source="price",
        served_model="qwen3.5-plus-2026",
        finish_reasons=("stop",),
    )
    return make_event(
        payload, clip=clip, time=TIME, causation=f"call.requested/{clip}/predicate/q_{number}/other/{turn}/1"
    )


def three(number: int) -> list[Event]:
    clip = f"clip-{number // 300:05d}"
    given = AnswerAccepted(
        stage=Stage.PREDICATE,
        question_id=f"q_{number}",
        party=Party.OTHER,
        core=1,
        status=Status.OBSERVED,
        value="lane_change",
        source="model",
        explanation="상대 차량이 2차로에서 1차로로 방향지시등 없이 진로를 변경했다. The other car left its lane at about 3.9 s.",
        evidence_start=3.125,
        evidence_end=4.75,
        confidence=0.82,
    )
    asked = CallRequested(
        stage=Stage.PREDICATE,
        question_id=f"q_{number}",
        party=Party.OTHER,
        sample=0,
        attempt=1,
        fingerprint="v1:" + sha256_hex(str(number).encode()),
        request=BODY.ref,
        model="qwen3.5-plus",
        endpoint="in-process",
        media=(sha256_hex(clip.encode()),),
    )
    return [
        make_event(asked, clip=clip, time=TIME),
        call(clip, 0, number),
        make_event(given, clip=clip, time=TIME, causation=f"samples.voted/{clip}/predicate/q_{number}/other"),
    ]


def figure(name: str, measured: float, beside: float, unit: str, aim: str) -> None:
    ratio = measured / beside
    print(json.dumps({"name": name, "measured": measured, "beside": beside, "unit": unit, "ratio": ratio, "aim": aim}))


if __name__ == "__main__":
    main()
