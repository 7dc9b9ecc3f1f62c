"""How later answers fare after a wrong earlier one, or with a wrong entity table. Pure; needs labels.

A clip that is hard is hard in many turns, so a drop after a wrong answer is no proof of its cause. The intervals
are by clip; the honest test is to give the right answer or table (oracle substitution) and run again.
"""

from collections.abc import Mapping, Sequence

from msgspec import Struct

from vlmrec.gold import GoldSet
from vlmrec.projections.facts import RunFacts
from vlmrec.projections.findings import Answered
from vlmrec.projections.labels import ClipGold, clip_gold
from vlmrec.projections.layer1 import Given, Verdict, verdict
from vlmrec.projections.order import Shown
from vlmrec.projections.tables import compared
from vlmrec.stats.intervals import Interval, interval
from vlmrec.table import EntityTable
from vlmrec.terms import ClipId, TurnKey

RESAMPLES = 2000


class After(Struct, frozen=True, kw_only=True):
    """Accuracy of turns under one circumstance."""

    items: int
    correct: int
    accuracy: Interval


class Propagation(Struct, frozen=True, kw_only=True):
    """Later turns of clips, by whether an earlier round had a wrong answer; all turns, by whether the table is right."""

    run: int
    after_right: After
    after_wrong: After
    table_right: After
    table_wrong: After


Clip = tuple[ClipId, Mapping[TurnKey, Answered], Mapping[TurnKey, Shown], EntityTable | None]
Counts = list[tuple[int, int]]


def propagation(run: int, clips: Sequence[Clip], gold: GoldSet, facts: RunFacts) -> Propagation:
    """The figures of one run."""
    labels = clip_gold(gold, data_version=facts.data_version)
    noted = facts.excluded_clips()
    sorted_out: dict[str, Counts] = {"right": [], "wrong": [], "table_right": [], "table_wrong": []}
    for clip, answers, shown, table in clips:
        label = labels.get(clip)
        if label is None or clip in noted:
            continue
        judged = _judged(answers, shown, label)
        after: dict[str, list[bool]] = {"right": [], "wrong": []}
        for round_, right in judged:
            earlier = [fine for before, fine in judged if before < round_]
            if earlier:
                after["right" if all(earlier) else "wrong"].append(right)
        for name, found in after.items():
            sorted_out[name].append((sum(found), len(found)))
        whole = _table_right(table, label)
        if whole is not None:
            every = [right for _, right in judged]
            sorted_out["table_right" if whole else "table_wrong"].append((sum(every), len(every)))
    return Propagation(
        run=run,
        after_right=_after(sorted_out["right"]),
        after_wrong=_after(sorted_out["wrong"]),
        table_right=_after(sorted_out["table_right"]),
        table_wrong=_after(sorted_out["table_wrong"]),
    )


def _judged(
    answers: Mapping[TurnKey, Answered], shown: Mapping[TurnKey, Shown], label: ClipGold
) -> list[tuple[int, bool]]:
    found = []
    for key in sorted(set(answers) & set(shown) & set(label.answers)):
        answered = answers[key]
        given = Given(answered.event, answered.answer.status, answered.answer.value, "model", None, None, None)
        found.append((shown[key].round, verdict(given, label.answers[key]) is Verdict.CORRECT))
    return found


def _table_right(table: EntityTable | None, label: ClipGold) -> bool | None:
    """Right when counterpart, heading and contact agree as far as they are labelled; None without both tables."""
    if table is None or label.table is None:
        return None
    found = compared(table, label.table)
    known = [hit for hit in (found.counterpart, found.heading, found.contact_presence) if hit is not None]
    return all(known)


def _after(counts: Counts) -> After:
    tops, bottoms = [top for top, _ in counts], [bottom for _, bottom in counts]
    accuracy = interval(tops, bottoms, of="share", seed=0, resamples=RESAMPLES)
    return After(items=sum(bottoms), correct=sum(tops), accuracy=accuracy)
