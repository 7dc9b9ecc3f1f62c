"""``catalog.db``: every run of a store in one database, for questions across runs.

Disposable: made from the logs alone, and rebuilt whole when its own version changes. A run is read again
only when its head has changed; runs that are gone, or whose log was changed, leave the catalog. Made with sqlite-utils.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

from sqlite_utils import Database

from vlmrec.errors import InputError, LogError
from vlmrec.gold import GoldSet
from vlmrec.log.reader import LogReader, open_log
from vlmrec.log.store import run_logs
from vlmrec.viewer.queries import ELIMINATIONS

VERSION = 1
NAME = "catalog.db"
_OUTSIDE = {
    sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED,
}  # fmt: skip
"""What SQLite says where a file or folder is in the way."""
TABLES = ("runs", "clips", "turns", "violations", "eliminations")


class Cataloged(NamedTuple):
    """What an update did; ``refused`` says by run why a log was left out."""

    path: Path
    runs: int
    read: tuple[str, ...]
    removed: tuple[str, ...]
    refused: dict[str, str]


def update_catalog(store: Path, *, gold: GoldSet | None = None) -> Cataloged:
    """Bring the store's catalog up to date. Logs that can't be read are named and left out.

    Raises InputError where there is no store, or the catalog can't be written there.
    """
    if not store.is_dir():
        raise InputError(f"there is no store {store}; record a run there first, or name another with --store DIR")
    path = store / NAME
    try:
        return _updated(path, store, gold)
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode & 0xFF not in _OUTSIDE:  # anything else is our own mistake
            raise
        raise InputError(
            f"{path}: can't write the catalog: {error}; may you write there, and is there room?"
        ) from error


def _updated(path: Path, store: Path, gold: GoldSet | None) -> Cataloged:
    _discard_if_old(path)
    with closing(Database(path)) as db:
        _make_tables(db)
        known = {row["run_id"]: row["head"] for row in db["runs"].rows}
        logs = {log.stem: log for log in run_logs(store)}
        read, refused = [], {}
        for run_id, log_path in logs.items():
            try:
                with open_log(log_path) as log:
                    log.check_chain()  # of a known head as well: a row before it may have been changed since
                    if known.get(run_id) != (log.head() or ""):
                        _put_run(db, run_id, log)
                        read.append(run_id)
            except LogError as error:
                refused[run_id] = str(error)
        removed = sorted(set(known) - (set(logs) - set(refused)))
        for run_id in removed:
            with db.conn:
                _remove(db, run_id)
        if gold is not None:
            _put_gold(db, gold)
        return Cataloged(path, db["runs"].count, tuple(read), tuple(removed), refused)


def _discard_if_old(path: Path) -> None:
    if not path.is_file():
        return
    try:
        with closing(sqlite3.connect(path)) as connection:
            (version,) = connection.execute("PRAGMA user_version").fetchone()
    except sqlite3.OperationalError:
        raise  # it can't be opened, or another has it
    except sqlite3.DatabaseError:
        version = None  # no database at all: made anew like an old one
    if version != VERSION:
        path.unlink()


def _make_tables(db: Any) -> None:
    if db["runs"].exists():
        return
    text, number, whole = str, float, int
    keys = {"run_id": text, "clip": text}
    turn = {"question_id": text, "party": text}
    db["runs"].create(
        {"run_id": text, "kind": text, "model": text, "condition": text, "data_version": text, "engine": text, "vlmrec_version": text,
         "started": text, "stopped": text, "events": whole, "clips": whole, "finished": whole, "failed": whole, "turns": whole, "calls": whole,
         "cost_usd": number, "cost_unknown": whole, "prompt_tokens": whole, "excluded": text, "uuid": text, "head": text},
        pk="run_id",
    )  # fmt: skip
    db["clips"].create(
        {**keys, "outcome": text, "charts": text, "candidates": whole, "incomplete": whole, "truncated": whole, "fault_self": whole,
         "rounds": whole, "reason": text, "excluded": text, "cost_usd": number, "latency_s": number, "event": text},
        pk=("run_id", "clip"), foreign_keys=[("run_id", "runs", "run_id")],
    )  # fmt: skip
    db["turns"].create(
        {**keys, **turn, "round": whole, "put": whole, "text": text, "status": text, "value": text, "explanation": text,
         "evidence_start": number, "evidence_end": number, "confidence": number, "violations": whole, "event": text},
        pk=("run_id", "clip", "question_id", "party"), foreign_keys=[("run_id", "runs", "run_id")],
    )  # fmt: skip
    db["violations"].create(
        {**keys, **turn, "rule": text, "action": text, "message": text, "against_question_id": text, "against_party": text, "event": text},
        foreign_keys=[("run_id", "runs", "run_id")],
    )  # fmt: skip
    db["eliminations"].create(
        {**keys, "chart": text, "self_is": text, "variant": text, "round": whole, **turn, "value": text, "event": text},
        foreign_keys=[("run_id", "runs", "run_id")],
    )  # fmt: skip
    db["gold"].create({"clip": text, "leaf": text, "labellers": whole, "excluded": text}, pk="clip")
    for table in ("clips", "turns", "violations", "eliminations"):
        db[table].create_index(["clip"])
    db["eliminations"].create_index(["chart"])
    db["turns"].enable_fts(
        ["text", "explanation"], tokenize="trigram", create_triggers=True
    )  # any three letters, Korean too
    db.conn.execute(f"PRAGMA user_version = {VERSION}")


def _put_run(db: Any, run_id: str, log: LogReader) -> None:
    """Replace a run's rows, all or none."""
    connection = sqlite3.connect(f"{log.path.resolve().as_uri()}?mode=ro", uri=True)
    connection.row_factory = sqlite3.Row
    with closing(connection), db.conn:
        _remove(db, run_id)
        rows = {name: list(_rows(connection, sql, run_id)) for name, sql in _SOURCES.items()}
        run = {
            **rows["runs"][0],
            "uuid": log.info.uuid,
            "kind": log.info.kind,
            "head": log.head() or "",
            "events": log.last_seq(),
        }
        db["runs"].insert(run, alter=False)
        for table in TABLES[1:]:
            db[table].insert_all(rows[table], alter=False)


def _remove(db: Any, run_id: str) -> None:
    for table in reversed(TABLES):
        db[table].delete_where("run_id = ?", [run_id])


def _put_gold(db: Any, gold: GoldSet) -> None:
    from vlmrec.projections.labels import clip_gold

    with db.conn:
        db["gold"].delete_where()
        labels = clip_gold(gold, data_version=None)
        counts = {clip: sum(clip in of_one for of_one in gold.labellers.values()) for clip in labels}
        db["gold"].insert_all(
            {"clip": clip, "leaf": label.leaf, "labellers": counts[clip], "excluded": label.exclude} for clip, label in labels.items()
        )  # fmt: skip


def _rows(connection: sqlite3.Connection, sql: str, run_id: str) -> Iterator[dict[str, Any]]:
    return ({"run_id": run_id, **dict(row)} for row in connection.execute(sql))


_SOURCES = {
    "runs": """
        SELECT json_extract(s.data, '$.manifest.model') AS model, json_extract(s.data, '$.manifest.condition') AS condition,
          json_extract(s.data, '$.manifest.data_version') AS data_version, json_extract(s.data, '$.manifest.engine') AS engine,
          json_extract(s.data, '$.manifest.vlmrec_version') AS vlmrec_version, s.time AS started,
          (SELECT max(time) FROM events WHERE type = 'run.stopped') AS stopped,
          (SELECT count(DISTINCT subject) FROM events) AS clips,
          (SELECT count(*) FROM outcomes WHERE outcome != 'failed') AS finished,
          (SELECT count(*) FROM outcomes WHERE outcome = 'failed') AS failed,
          (SELECT count(*) FROM turns) AS turns, (SELECT count(*) FROM calls) AS calls,
          (SELECT sum(CAST(cost AS REAL)) FROM calls) AS cost_usd,
          (SELECT count(*) FROM calls WHERE cost IS NULL) AS cost_unknown,
          (SELECT sum(prompt_tokens) FROM calls) AS prompt_tokens,
          (SELECT group_concat(json_extract(data, '$.text'), '; ') FROM events WHERE type = 'note.added'
            AND json_extract(data, '$.exclude') AND json_extract(data, '$.clip') IS NULL) AS excluded
        FROM (SELECT 1) LEFT JOIN (SELECT * FROM events WHERE type = 'run.started' ORDER BY seq LIMIT 1) AS s""",
    "clips": """
        SELECT c.clip, o.outcome, o.charts, o.candidates, o.incomplete, o.truncated, o.fault_self, o.rounds,
          coalesce(o.reason, o.stop_reason) AS reason, o.excluded, k.cost_usd, k.latency_s, o.event
        FROM (SELECT DISTINCT subject AS clip FROM events WHERE subject IS NOT NULL) AS c
        LEFT JOIN outcomes AS o ON o.clip = c.clip
        LEFT JOIN (SELECT clip, sum(CAST(cost AS REAL)) AS cost_usd, sum(latency_s) AS latency_s FROM calls GROUP BY clip) AS k
          ON k.clip = c.clip""",
    "turns": """
        SELECT clip, question_id, party, round, put, text, status, value, explanation, evidence_start, evidence_end, confidence,
          violations, event FROM turns WHERE stage = 'predicate'""",
    "violations": """
        SELECT clip, question_id, party, rule, action, message, against_question_id, against_party, event
        FROM validations WHERE NOT held""",
    "eliminations": f"""
        SELECT clip, chart, self_is, variant, min(round) AS round, question_id, party, value, event
        FROM ({ELIMINATIONS}) GROUP BY clip, chart, self_is, variant""",
}
