"""Older records of runs, read as answers: JSONL, one object for each turn. Pure.

Every team's scripts named things differently, so each field has several usual names, and ``--field`` names
another path. A record that can't be used is left out with its line and the reason; nothing is guessed.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from vlmrec.errors import InputError
from vlmrec.ledger import Ledger
from vlmrec.terms import ABSTENTIONS, Party, Status, TurnKey

FIELDS: dict[str, tuple[str, ...]] = {
    "clip": ("clip", "clip_id", "video", "video_id"),
    "question": ("question", "question_id", "q"),
    "party": ("party", "subject", "target"),
    "asked": ("asked_actual", "asked_text", "asked", "prompt"),
    "raw": ("raw_response", "raw", "response", "raw_text"),
    "status": ("parsed.status", "status"),
    "value": ("parsed.value", "parsed.answer", "value", "answer", "parsed"),
    "reason": ("parsed.reason", "reason", "explanation"),
    "evidence_start": ("evidence_start", "parsed.evidence_start", "evidence.start", "evidence.0"),
    "evidence_end": ("evidence_end", "parsed.evidence_end", "evidence.end", "evidence.1"),
    "before": ("candidates_before", "before"),
    "after": ("candidates_after", "after"),
    "latency": ("latency_s", "latency", "elapsed_s"),
}
"""What is read, and the usual paths to it, first come first served."""


class OldTurn(NamedTuple):
    """One record that could be read."""

    line: int
    clip: str
    key: TurnKey
    status: Status
    value: str | None
    text: str | None
    """What the model said: the raw response, or the reason where there is none."""
    evidence_start: float | None
    evidence_end: float | None
    after: tuple[str, ...] | None
    latency_s: float | None


class LeftOut(NamedTuple):
    """A record that could not be used."""

    line: int
    reason: str


class Records(NamedTuple):
    """A file of records, read."""

    turns: tuple[OldTurn, ...]
    left_out: tuple[LeftOut, ...]


def field_map(settings: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """The paths to read from, with those of ``NAME=PATH`` settings in front. Raises InputError for an unknown name."""
    paths = dict(FIELDS)
    for setting in settings:
        name, mark, path = setting.partition("=")
        if name not in FIELDS or not mark or not path:
            raise InputError(f"--field {setting}: expected NAME=PATH with NAME one of {', '.join(FIELDS)}")
        paths[name] = (path, *paths[name])
    return paths


def read_records(text: str, ledger: Ledger, paths: Mapping[str, tuple[str, ...]]) -> Records:
    """Every record of a JSONL text, as answers to this ledger's questions. Of two for one turn the last stands."""
    turns: dict[tuple[str, TurnKey], OldTurn] = {}
    left_out: list[LeftOut] = []
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip():
            continue
        try:
            turn = _turn(number, line, ledger, paths)
        except ValueError as error:
            left_out.append(LeftOut(number, str(error)))
            continue
        turns[turn.clip, turn.key] = turn
    return Records(tuple(turns[place] for place in sorted(turns)), tuple(left_out))


def _turn(number: int, line: str, ledger: Ledger, paths: Mapping[str, tuple[str, ...]]) -> OldTurn:
    try:
        record = json.loads(line)
    except json.JSONDecodeError as error:
        raise ValueError(f"not valid JSON ({error.msg})") from error
    found = {name: _first(record, tried) for name, tried in paths.items()}
    clip, question = found["clip"], found["question"]
    if not (isinstance(clip, str) and isinstance(question, str) and question in ledger):
        raise ValueError(
            f"clip {clip!r}, question {question!r}: expected a clip and a question of the ledger {ledger.data_version}; "
            "say where they are with --field clip=… and --field question=…"
        )
    status, value = _answer(found["status"], found["value"], ledger.question(question).codes)
    return OldTurn(
        line=number,
        clip=clip.rsplit("/", 1)[-1].removesuffix(".mp4"),
        key=TurnKey(question, _party(found["party"], ledger.question(question).parties)),
        status=status,
        value=value,
        text=_text(found["raw"]) or _text(found["reason"]),
        evidence_start=_seconds(found["evidence_start"]),
        evidence_end=_seconds(found["evidence_end"]),
        after=_charts(found["after"]),
        latency_s=_seconds(found["latency"]),
    )


def _answer(status: Any, value: Any, codes: Sequence[str]) -> tuple[Status, str | None]:
    said = value.get("value") if isinstance(value, dict) else value
    word = str(status) if status is not None else str(said) if said is not None else ""
    if word in {str(one) for one in ABSTENTIONS}:
        return Status(word), None
    if said is None:
        raise ValueError("no parsed answer; a raw response alone is not read")
    if str(said) not in codes:
        raise ValueError(f"the answer {said!r} is not one of {', '.join(codes)}")
    return Status.OBSERVED, str(said)


def _party(party: Any, allowed: Sequence[Party]) -> Party:
    if party is None and len(allowed) == 1:
        return allowed[0]
    for one in allowed:
        if str(party) == one:
            return one
    raise ValueError(f"party {party!r}; this question is put for {', '.join(allowed)}")


def _first(record: Any, paths: Sequence[str]) -> Any:
    for path in paths:
        found = record
        for step in path.split("."):
            if isinstance(found, dict):
                found = found.get(step)
            elif isinstance(found, list) and step.isdecimal() and int(step) < len(found):
                found = found[int(step)]
            else:
                found = None
                break
        if found is not None:
            return found
    return None


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value.strip() else None


def _seconds(value: Any) -> float | None:
    if isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value < 1e6:
        return float(value)
    return None


def _charts(value: Any) -> tuple[str, ...] | None:
    if not isinstance(value, list):
        return None
    names = [one if isinstance(one, str) else one.get("chart") if isinstance(one, dict) else None for one in value]
    return tuple(sorted({name for name in names if isinstance(name, str)}))
