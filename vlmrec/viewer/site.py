"""What the viewer shows: runs, clips, labels and the ledger, and what is read off them. Pure.

Runs keep the order in which they were named. A clip's turns are those of all runs side by side, in
order of round and then of the ledger.
"""

import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from vlmrec.canonical import canonical_json, sha256_hex
from vlmrec.gold import GoldLabel, GoldSet
from vlmrec.ledger import Ledger
from vlmrec.projections.labels import ClipGold, clip_gold
from vlmrec.projections.layer1 import Given, verdict
from vlmrec.projections.shown import TurnShown
from vlmrec.question import Language
from vlmrec.terms import BlobRef, ClipId, Party, Status, TurnKey
from vlmrec.viewer.runs import RunData


class Turns(NamedTuple):
    """A clip's turns: those that any run has, in order, and what each run has of them."""

    keys: tuple[TurnKey, ...]
    of_run: tuple[dict[TurnKey, TurnShown], ...]

    def at(self, key: TurnKey) -> list[TurnShown]:
        """The turn in every run that has it."""
        return [found[key] for found in self.of_run if key in found]

    def differ(self, key: TurnKey) -> bool:
        """Whether runs gave different answers."""
        given = {(turn.answer.status, turn.answer.value) for turn in self.at(key) if turn.put and turn.answer}
        return len(given) > 1


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

    def turns(self, clip: str) -> Turns:
        """The clip's turns in all runs."""
        of_run = []
        for run in self.runs:
            story = run.stories.get(clip)
            of_run.append({_key(turn): turn for turn in story.turns} if story else {})
        rounds: dict[TurnKey, int] = {}
        for found in of_run:
            for key, turn in found.items():
                rounds[key] = min(rounds.get(key, 10**6), turn.round if turn.round is not None else 10**5)
        return Turns(tuple(sorted(rounds, key=lambda key: (rounds[key], self.order(key)))), tuple(of_run))

    def order(self, key: TurnKey) -> tuple[int, int, str, str]:
        """Sort key: the ledger's own order; questions that it doesn't have come last."""
        if self.ledger is not None and key.question_id in self.ledger:
            return (*self.ledger.order(key), "", "")
        return (10**6, 0, key.question_id, key.party)

    def golds(self, run: RunData) -> dict[ClipId, ClipGold]:
        """The labels that hold for a run, by clip."""
        return clip_gold(self.gold, data_version=run.facts.data_version) if self.gold is not None else {}

    def labels(self, clip: str) -> list[GoldLabel]:
        """Everybody's label of the clip: the reviewed one first, then by labeller."""
        if self.gold is None:
            return []
        nfc = ClipId(unicodedata.normalize("NFC", clip))
        found = [labels[nfc] for _, labels in sorted(self.gold.labellers.items()) if nfc in labels]
        return [*([self.gold.reviewed[nfc]] if nfc in self.gold.reviewed else []), *found]


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
        content += sha256_hex(canonical_json(label))
    return GoldSet(reviewed=reviewed, labellers=dict(sorted(labellers.items())), content=sha256_hex(content.encode()))


def contradicts(turn: TurnShown) -> bool:
    """Whether the turn's answer was found to contradict another."""
    return any(violation.against is not None for violation in turn.violations)


def verdict_of(turn: TurnShown, label: ClipGold | None) -> str | None:
    """How the turn's answer does beside its label; None where there is nothing to compare."""
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


def _key(turn: TurnShown) -> TurnKey:
    return TurnKey(turn.question_id, Party(turn.party))


def _table_refs(run: RunData) -> list[BlobRef]:
    return [story.table.table for story in run.shown.clips if story.table is not None and story.table.table is not None]
