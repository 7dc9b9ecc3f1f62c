"""What the page is told: an index of runs and clips, and one document per clip. Pure.

Runs keep the order in which they were named. A document holds the turns of all runs side by side, in
order of round and then of the ledger, each with the labellers' answers; texts are as recorded.
"""

import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from vlmrec import __version__
from vlmrec.canonical import canonical_json, sha256_hex
from vlmrec.gold import GoldAnswer, GoldLabel, GoldSet
from vlmrec.ledger import Ledger
from vlmrec.projections.labels import ClipGold, clip_gold
from vlmrec.projections.layer1 import Given, verdict
from vlmrec.projections.layer2 import Ending, ending
from vlmrec.projections.show import ClipShown, TurnShown
from vlmrec.protocol import EngineStatus
from vlmrec.question import Language
from vlmrec.terms import BlobRef, ClipId, Party, Status, TurnKey
from vlmrec.viewer.runs import RunData

WRONG_ENDINGS = (Ending.MISJUDGED, Ending.NONE, Ending.SCOPE_ERROR)
Document = dict[str, Any]


class Site(NamedTuple):
    """Everything that the page can show."""

    runs: tuple[RunData, ...]
    clips: tuple[str, ...]
    gold: GoldSet | None
    ledger: Ledger | None
    language: Language
    here: frozenset[tuple[str, str]]
    """(clip, labeller) of labels made in this viewer."""
    tables: Mapping[str, Any]
    """Decoded entity tables by SHA-256."""


class _Turns(NamedTuple):
    keys: tuple[TurnKey, ...]
    of_run: tuple[dict[TurnKey, TurnShown], ...]


def site(
    runs: Sequence[RunData],
    *,
    gold: GoldSet | None = None,
    ledger: Ledger | None = None,
    language: Language = "ko",
    more_clips: Iterable[str] = (),
    here: frozenset[tuple[str, str]] = frozenset(),
) -> Site:
    """A site of these runs, over every clip that a run or ``more_clips`` names, sorted."""
    named = {story.clip for run in runs for story in run.shown.clips}
    tables = {
        sha256: msgspec.json.decode(body)
        for run in runs
        for sha256, body in run.blobs({ref.sha256 for ref in _table_refs(run)}).items()
    }
    return Site(tuple(runs), tuple(sorted(named.union(more_clips))), gold, ledger, language, here, tables)


def index(of: Site, *, title: str, videos: Mapping[str, Document | None], labelling: bool = False) -> Document:
    """The first thing that the page loads. ``videos`` by clip: source and media type, or None."""
    golds = [_golds(of, run.facts.data_version) for run in of.runs]
    asked = {key for clip in of.clips for key in _turns(of, clip).keys}
    return {
        "made_with": __version__,
        "title": title,
        "labelling": labelling,
        "running": any(run.running for run in of.runs),
        "heads": heads(of),
        "runs": [_run(run) for run in of.runs],
        "clips": [_clip_row(of, clip, golds, videos.get(clip)) for clip in of.clips],
        "questions": [f"{key.question_id}/{key.party}" for key in sorted(asked, key=lambda key: _order(of, key))],
    }


def clip_document(of: Site, clip: str) -> Document:
    """Everything about one clip but the bodies of its calls."""
    turns = _turns(of, clip)
    stories = [_story(run, clip) for run in of.runs]
    golds = [_golds(of, run.facts.data_version).get(ClipId(clip)) for run in of.runs]
    labels = _labels(of, clip)
    keys = list(turns.keys)
    if of.ledger is not None:
        keys.extend(key for key in of.ledger.turns if key not in set(keys))
    return {
        "clip": clip,
        "turns": [_turn(of, clip, key, turns, golds, labels) for key in keys],
        "tables": [_table(of, story) for story in stories],
        "outcomes": [_builtins(story.outcome) if story is not None else None for story in stories],
        "notes": [[_builtins(note) for note in story.notes] if story is not None else [] for story in stories],
        "gold": [
            {
                "labeler": label.labeler,
                "leaf": label.leaf,
                "exclude": label.layer2_exclude,
                "here": (clip, label.labeler) in of.here,
                "stage0": _builtins(label.stage0),
            }
            for label in labels
        ],
    }


def messages(of: Site, clip: str) -> Document:
    """The bodies of a clip's calls: requests, replies and reasoning, as text, each once."""
    calls: dict[str, Document] = {}
    blobs: dict[str, str] = {}
    for run in of.runs:
        found = run.extras.get(clip)
        story = _story(run, clip)
        if found is None or story is None:
            continue
        wanted = {sha256 for bodies in found.calls.values() for sha256 in bodies if sha256 is not None}
        wanted |= {s.reasoning.sha256 for turn in story.turns for s in turn.samples if s.reasoning is not None}
        for sha256, body in run.blobs(wanted).items():
            blobs[sha256] = _as_text(body)
        prefix = f"{run.provenance.uuid} "
        calls.update({prefix + call: bodies._asdict() for call, bodies in found.calls.items()})
    return {"calls": calls, "blobs": blobs}


def heads(of: Site) -> str:
    """A text that changes when anything shown has changed."""
    return " ".join([*(run.provenance.head for run in of.runs), of.gold.content if of.gold else "", str(len(of.clips))])


def with_labels(gold: GoldSet | None, made_here: Iterable[GoldLabel]) -> GoldSet:
    """Gold files and the labels made in the viewer; the viewer's stand over a file of the same clip and labeller."""
    reviewed = dict(gold.reviewed) if gold else {}
    labellers = {name: dict(labels) for name, labels in gold.labellers.items()} if gold else {}
    content = gold.content if gold else ""
    for label in made_here:
        target = reviewed if label.labeler == "reviewed" else labellers.setdefault(label.labeler, {})
        target[ClipId(label.clip_id)] = label
        content += str(hash_of(label))
    return GoldSet(reviewed=reviewed, labellers=dict(sorted(labellers.items())), content=sha256_hex(content.encode()))


def hash_of(label: GoldLabel) -> str:
    """A label's content hash."""
    return sha256_hex(canonical_json(label))


def _run(run: RunData) -> Document:
    manifest = run.facts.manifest
    return {
        "id": run.run_id,
        "kind": run.provenance.kind,
        "head": run.provenance.head,
        "events": run.provenance.events,
        "condition": manifest.condition if manifest else None,
        "model": manifest.model if manifest else None,
        "data_version": run.facts.data_version,
        "notes": [{"text": note.text, "exclude": note.exclude} for note in run.shown.notes],
    }


def _clip_row(of: Site, clip: str, golds: Sequence[Mapping[ClipId, ClipGold]], video: Document | None) -> Document:
    turns = _turns(of, clip)
    labels = [gold.get(ClipId(clip)) for gold in golds]
    runs = [_clip_run(run, clip, label) for run, label in zip(of.runs, labels, strict=True)]
    present = [row for row in runs if row is not None]
    wrong = any(row["verdict"] in WRONG_ENDINGS for row in present) or any(
        _verdict(turn, label) in ("wrong", "missed", "invented")
        for found, label in zip(turns.of_run, labels, strict=True)
        for turn in found.values()
    )
    ends = {(row["outcome"], tuple(row["charts"])) for row in present}
    durations = [story.duration_s for run in of.runs if (story := _story(run, clip)) and story.duration_s]
    return {
        "id": clip,
        "video": video,
        "duration": durations[0] if durations else (video or {}).get("duration"),
        "truncated": any(story.truncated for run in of.runs if (story := _story(run, clip))),
        "gold": next((label.leaf for label in labels if label and label.leaf), None) or _any_leaf(of, clip),
        "differs": len(ends) > 1 or any(_differs(turns, key) for key in turns.keys),
        "wrong": wrong,
        "contradictions": sum(any(map(_contradicts, _shown_at(turns, key))) for key in turns.keys),
        "questions": [f"{key.question_id}/{key.party}" for key in turns.keys],
        "runs": runs,
    }


def _clip_run(run: RunData, clip: str, label: ClipGold | None) -> Document | None:
    story = _story(run, clip)
    if story is None:
        return None
    outcome = story.outcome
    charts = sorted({one.chart for one in outcome.candidates}) if outcome else []
    excluded = run.facts.excluded_clips().get(clip) or (label.exclude if label else None)
    judged: str | None = None
    if excluded:
        judged = "excluded"
    elif label is not None and label.leaf is not None and outcome is not None:
        ended = None if outcome.outcome == "failed" else EngineStatus(outcome.outcome)
        judged = ending(ended, charts, label.leaf)
    return {
        "outcome": outcome.outcome if outcome else None,
        "charts": charts,
        "verdict": judged,
        "excluded": excluded,
        "turns": len(story.turns),
    }


def _turn(
    of: Site,
    clip: str,
    key: TurnKey,
    turns: _Turns,
    golds: Sequence[ClipGold | None],
    labels: Sequence[GoldLabel],
) -> Document:
    shown = [found.get(key) for found in turns.of_run]
    text, options = _asked(of, key, shown)
    cells: list[Document | None] = []
    for run, turn, label in zip(of.runs, shown, golds, strict=True):
        if turn is None:
            cells.append(None)
            continue
        cell: Document = _builtins(turn)
        for repeated in ("question_id", "party"):
            del cell[repeated]
        if (asked := cell.pop("text")) is not None and asked != text:
            cell["text"] = asked
        if (offered := cell.pop("options")) and offered != options:
            cell["options"] = offered
        for sample in cell["samples"]:
            sample["call"] = f"{run.provenance.uuid} {sample['call']}"
        cell["verdict"] = _verdict(turn, label)
        cell["calls"] = _builtins(run.figures.get((clip, key.question_id, key.party)))
        cells.append(cell)
    answers = [(label, answer) for label in labels for answer in label.answers if answer.key == key]
    return {
        "question_id": key.question_id,
        "party": key.party,
        "text": text,
        "options": options,
        "asked": any(turn is not None for turn in shown),
        "differs": _differs(turns, key),
        "contradiction": any(_contradicts(turn) for turn in shown if turn is not None),
        "labels": [_label(label, answer, of) for label, answer in answers],
        "cells": cells,
    }


def _label(label: GoldLabel, answer: GoldAnswer, of: Site) -> Document:
    plain: Document = _builtins(answer)
    return {"labeler": label.labeler, "here": (label.clip_id, label.labeler) in of.here, **plain}


def _asked(of: Site, key: TurnKey, shown: Sequence[TurnShown | None]) -> tuple[str | None, list[Document]]:
    for turn in shown:
        if turn is not None and turn.text is not None:
            return turn.text, [_builtins(option) for option in turn.options]
    if (
        of.ledger is None
        or key.question_id not in of.ledger
        or key.party not in of.ledger.question(key.question_id).parties
    ):
        return None, []
    question = of.ledger.question(key.question_id)
    options = [{"code": option.code, "label": option.label(of.language)} for option in question.domain]
    return question.text(key.party, of.language), options


def _table(of: Site, story: ClipShown | None) -> Document | None:
    if story is None or story.table is None:
        return None
    table = story.table
    return {
        "table": of.tables.get(table.table.sha256) if table.table else None,
        "violations": [_builtins(violation) for violation in table.violations],
        "taken_over": table.taken_over,
    }


def _table_refs(run: RunData) -> list[BlobRef]:
    return [story.table.table for story in run.shown.clips if story.table is not None and story.table.table is not None]


def _turns(of: Site, clip: str) -> _Turns:
    of_run = []
    for run in of.runs:
        story = _story(run, clip)
        of_run.append({_key(turn): turn for turn in story.turns} if story else {})
    rounds: dict[TurnKey, int] = {}
    for found in of_run:
        for key, turn in found.items():
            rounds[key] = min(rounds.get(key, 10**6), turn.round if turn.round is not None else 10**5)
    return _Turns(tuple(sorted(rounds, key=lambda key: (rounds[key], _order(of, key)))), tuple(of_run))


def _order(of: Site, key: TurnKey) -> tuple[int, int, str, str]:
    if of.ledger is not None and key.question_id in of.ledger:
        return (*of.ledger.order(key), "", "")
    return (10**6, 0, key.question_id, key.party)


def _key(turn: TurnShown) -> TurnKey:
    return TurnKey(turn.question_id, Party(turn.party))


def _shown_at(turns: _Turns, key: TurnKey) -> list[TurnShown]:
    return [found[key] for found in turns.of_run if key in found]


def _differs(turns: _Turns, key: TurnKey) -> bool:
    given = {(turn.answer.status, turn.answer.value) for turn in _shown_at(turns, key) if turn.put and turn.answer}
    return len(given) > 1


def _contradicts(turn: TurnShown) -> bool:
    return any(violation.against is not None for violation in turn.violations)


def _verdict(turn: TurnShown, label: ClipGold | None) -> str | None:
    gold = label.answers.get(_key(turn)) if label is not None else None
    answer = turn.answer
    if gold is None or answer is None or answer.source == "not_observable":
        return None
    given = Given(
        event=answer.event,
        status=Status(answer.status),
        value=answer.value,
        source=answer.source,
        start=answer.evidence_start,
        end=answer.evidence_end,
        demoted_from=answer.demoted_from,
    )
    return verdict(given, gold)


def _story(run: RunData, clip: str) -> ClipShown | None:
    return run.stories.get(clip)


def _golds(of: Site, data_version: str | None) -> dict[ClipId, ClipGold]:
    return clip_gold(of.gold, data_version=data_version) if of.gold is not None else {}


def _labels(of: Site, clip: str) -> list[GoldLabel]:
    if of.gold is None:
        return []
    nfc = ClipId(unicodedata.normalize("NFC", clip))
    found = [labels[nfc] for _, labels in sorted(of.gold.labellers.items()) if nfc in labels]
    return [*([of.gold.reviewed[nfc]] if nfc in of.gold.reviewed else []), *found]


def _any_leaf(of: Site, clip: str) -> str | None:
    return next((label.leaf for label in _labels(of, clip) if label.leaf), None)


def _as_text(body: bytes) -> str:
    text = body.decode("utf-8", errors="replace")
    try:
        return msgspec.json.format(text, indent=2)
    except msgspec.DecodeError:
        return text


def _builtins(value: Any) -> Any:
    return msgspec.to_builtins(value)
