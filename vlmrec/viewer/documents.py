"""What the page is told: an index of runs and clips, and one document per clip. Pure.

A document holds the turns of all runs side by side, each with the labellers' answers; texts are as recorded.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from vlmrec import __version__
from vlmrec.gold import GoldAnswer, GoldLabel
from vlmrec.projections.labels import ClipGold
from vlmrec.projections.layer2 import Ending, ending
from vlmrec.projections.shown import ClipShown, TurnShown
from vlmrec.protocol import EngineStatus
from vlmrec.terms import ClipId, TurnKey
from vlmrec.viewer.runs import RunData
from vlmrec.viewer.site import Site, Turns, contradicts, heads, verdict_of

WRONG_ENDINGS = (Ending.MISJUDGED, Ending.NONE, Ending.SCOPE_ERROR)
Document = dict[str, Any]


def index(of: Site, *, title: str, videos: Mapping[str, Document | None], labelling: bool = False) -> Document:
    """The first thing that the page loads. ``videos`` by clip: source and media type, or None."""
    golds = [of.golds(run) for run in of.runs]
    asked = {key for clip in of.clips for key in of.turns(clip).keys}
    return {
        "made_with": __version__,
        "title": title,
        "labelling": labelling,
        "running": any(run.running for run in of.runs),
        "heads": heads(of),
        "runs": [_run(run) for run in of.runs],
        "clips": [_clip_row(of, clip, golds, videos.get(clip)) for clip in of.clips],
        "questions": [f"{key.question_id}/{key.party}" for key in sorted(asked, key=lambda key: of.order(key))],
    }


def clip_document(of: Site, clip: str) -> Document:
    """Everything about one clip but the bodies of its calls."""
    turns = of.turns(clip)
    stories = [run.stories.get(clip) for run in of.runs]
    golds = [of.golds(run).get(ClipId(clip)) for run in of.runs]
    labels = of.labels(clip)
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
        story = run.stories.get(clip)
        if found is None or story is None:
            continue
        wanted = {sha256 for bodies in found.calls.values() for sha256 in bodies if sha256 is not None}
        wanted |= {s.reasoning.sha256 for turn in story.turns for s in turn.samples if s.reasoning is not None}
        for sha256, body in run.blobs(wanted).items():
            blobs[sha256] = _as_text(body)
        prefix = f"{run.provenance.uuid} "
        calls.update({prefix + call: bodies._asdict() for call, bodies in found.calls.items()})
    return {"calls": calls, "blobs": blobs}


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
    turns = of.turns(clip)
    labels = [gold.get(ClipId(clip)) for gold in golds]
    runs = [_clip_run(run, clip, label) for run, label in zip(of.runs, labels, strict=True)]
    present = [row for row in runs if row is not None]
    wrong = any(row["verdict"] in WRONG_ENDINGS for row in present) or any(
        verdict_of(turn, label) in ("wrong", "missed", "invented")
        for found, label in zip(turns.of_run, labels, strict=True)
        for turn in found.values()
    )
    ends = {(row["outcome"], tuple(row["charts"])) for row in present}
    durations = [story.duration_s for run in of.runs if (story := run.stories.get(clip)) and story.duration_s]
    return {
        "id": clip,
        "video": video,
        "duration": durations[0] if durations else (video or {}).get("duration"),
        "truncated": any(story.truncated for run in of.runs if (story := run.stories.get(clip))),
        "gold": next((label.leaf for label in labels if label and label.leaf), None) or _any_leaf(of, clip),
        "differs": len(ends) > 1 or any(turns.differ(key) for key in turns.keys),
        "wrong": wrong,
        "contradictions": sum(any(map(contradicts, turns.at(key))) for key in turns.keys),
        "questions": [f"{key.question_id}/{key.party}" for key in turns.keys],
        "runs": runs,
    }


def _clip_run(run: RunData, clip: str, label: ClipGold | None) -> Document | None:
    story = run.stories.get(clip)
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
    turns: Turns,
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
        cell["verdict"] = verdict_of(turn, label)
        cell["calls"] = _builtins(run.figures.get((clip, key.question_id, key.party)))
        cells.append(cell)
    answers = [(label, answer) for label in labels for answer in label.answers if answer.key == key]
    return {
        "question_id": key.question_id,
        "party": key.party,
        "text": text,
        "options": options,
        "asked": any(turn is not None for turn in shown),
        "differs": turns.differ(key),
        "contradiction": any(contradicts(turn) for turn in shown if turn is not None),
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


def _any_leaf(of: Site, clip: str) -> str | None:
    return next((label.leaf for label in of.labels(clip) if label.leaf), None)


def _as_text(body: bytes) -> str:
    text = body.decode("utf-8", errors="replace")
    try:
        return msgspec.json.format(text, indent=2)
    except msgspec.DecodeError:
        return text


def _builtins(value: Any) -> Any:
    return msgspec.to_builtins(value)
