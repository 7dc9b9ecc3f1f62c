"""The laws of projections, over every registered one.

About a result without ``measured`` and ``provenance``: the same log gives the same bytes; batch size and
the interleaving of clips don't matter; a prefix and then the rest equals the whole; events of types that
a projection doesn't handle change nothing. And the same bytes come from other processes with another
hash seed, time zone and locale.
"""

import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from runbuilder import RunBuilder
from strategies import gold_sets, interleaved, runs

from vlmrec.canonical import sha256_hex
from vlmrec.events import Event, Stage, TurnOpened
from vlmrec.gold import GoldSet, gold_set
from vlmrec.projections.core import Folding, LogProvenance, event_types, finish, project, stable_bytes
from vlmrec.projections.memory import MemoryLog
from vlmrec.projections.registry import MODULES, AnyProjection, Inputs, projections

PROJECTIONS = projections()
ROOT = Path(__file__).resolve().parent.parent.parent
over_every_projection = pytest.mark.parametrize("name", list(PROJECTIONS))


def make(name: str, gold: GoldSet) -> AnyProjection:
    return PROJECTIONS[name](Inputs(gold=gold))


def of_runs(projection: AnyProjection, runs: Sequence[RunBuilder]) -> Sequence[RunBuilder]:
    return runs if projection.several else runs[:1]


def in_pieces(projection: AnyProjection, run: RunBuilder, events: list[Event], cuts: Sequence[int], peek: bool) -> Any:
    folding = Folding(projection, blob=run.log().blob)
    start = 0
    for cut in (*sorted(cut % (len(events) + 1) for cut in cuts), len(events)):
        folding.feed(iter(events[start:cut]))
        start = cut
        if peek:  # what is read on the way must not change what comes after
            folding.results()
    return folding.results()


def combined(projection: AnyProjection, folded: list[Any]) -> bytes:
    nowhere = LogProvenance(run_id="", uuid="", kind="run", head="", events=0)
    return stable_bytes(finish(projection, folded, [nowhere] * len(folded)))


two_runs = st.tuples(runs(), runs(run_id="other"))


@over_every_projection
@given(logs=two_runs, gold=gold_sets())
def test_the_same_log_gives_the_same_bytes(name: str, logs: tuple[RunBuilder, ...], gold: GoldSet) -> None:
    first, second = make(name, gold), make(name, gold)
    sources = [run.log() for run in of_runs(first, logs)]
    elsewhere = [MemoryLog(run.events, run_id="another", uuid="u", head="h", blobs=run.blobs) for run in logs]
    assert stable_bytes(project(first, sources)) == stable_bytes(project(first, sources))
    assert stable_bytes(project(first, sources)) == stable_bytes(project(second, elsewhere[: len(sources)]))


@over_every_projection
@given(logs=two_runs, gold=gold_sets(), cuts=st.lists(st.integers(0, 200), max_size=4), peek=st.booleans())
def test_a_prefix_and_then_the_rest_equals_the_whole(
    name: str, logs: tuple[RunBuilder, ...], gold: GoldSet, cuts: list[int], peek: bool
) -> None:
    projection = make(name, gold)
    chosen = of_runs(projection, logs)
    whole = stable_bytes(project(projection, [run.log() for run in chosen]))
    assert combined(projection, [in_pieces(projection, run, run.events, cuts, peek) for run in chosen]) == whole


@over_every_projection
@given(logs=two_runs, gold=gold_sets(), data=st.data())
def test_the_interleaving_of_clips_changes_nothing(
    name: str, logs: tuple[RunBuilder, ...], gold: GoldSet, data: st.DataObject
) -> None:
    projection = make(name, gold)
    chosen = of_runs(projection, logs)
    shuffled = [MemoryLog(data.draw(interleaved(run.events)), blobs=run.blobs) for run in chosen]
    assert stable_bytes(project(projection, shuffled)) == stable_bytes(project(projection, [r.log() for r in chosen]))


@over_every_projection
@given(logs=two_runs, gold=gold_sets(), junk=runs(run_id="junk"), data=st.data())
def test_events_of_unhandled_types_change_nothing(
    name: str, logs: tuple[RunBuilder, ...], gold: GoldSet, junk: RunBuilder, data: st.DataObject
) -> None:
    projection = make(name, gold)
    handled = set(event_types(projection))
    chosen = of_runs(projection, logs)
    others = [event for event in junk.events if event.data.type not in handled]
    with_others = [MemoryLog(data.draw(mixed(run.events, others)), blobs=run.blobs) for run in chosen]
    without = [MemoryLog([e for e in run.events if e.data.type in handled], blobs=run.blobs) for run in chosen]
    unfiltered = [in_pieces(projection, run, list(log.events(ALL_TYPES)), (), False) for run, log in zip(chosen, with_others, strict=True)]  # fmt: skip
    assert combined(projection, unfiltered) == stable_bytes(project(projection, without))


ALL_TYPES = frozenset(event.data.type for event in RunBuilder(clips=["c"]).events) | {
    "answer.accepted", "answer.given", "answer.validated", "call.completed", "call.failed", "call.requested",
    "clip.failed", "clip.finished", "clip.opened", "clip.reopened", "engine.submitted", "label.set", "label.withdrawn",
    "media.failed", "media.prepared", "note.added", "rate.changed", "reply.parsed", "run.resumed", "run.stopped",
    "samples.voted", "table.checked", "table.given", "turn.opened",
}  # fmt: skip


@st.composite
def mixed(draw: st.DrawFn, events: Sequence[Event], others: Sequence[Event]) -> list[Event]:
    places = draw(st.lists(st.integers(0, len(events)), min_size=len(others), max_size=len(others)))
    at: dict[int, list[Event]] = {}
    for place, event in zip(places, others, strict=True):
        at.setdefault(place, []).append(event)
    return [event for i in range(len(events) + 1) for event in (*at.get(i, ()), *events[i : i + 1])]


@over_every_projection
@given(run=runs(), gold=gold_sets(), cut=st.integers(0, 200))
def test_every_prefix_of_a_log_can_be_projected(name: str, run: RunBuilder, gold: GoldSet, cut: int) -> None:
    projection = make(name, gold)
    stable_bytes(project(projection, [MemoryLog(run.events[: cut % (len(run.events) + 1)], blobs=run.blobs)]))


@over_every_projection
@given(run=runs(), gold=gold_sets())
def test_clips_left_out_leave_no_trace_in_what_is_known_of_the_others(
    name: str, run: RunBuilder, gold: GoldSet
) -> None:
    projection = make(name, gold)
    only = frozenset(["c1", "한글"])
    alone = MemoryLog([e for e in run.events if e.clip is None or e.clip in only], blobs=run.blobs)
    assert stable_bytes(project(projection, [run.log()], clips=only)) == stable_bytes(
        project(projection, [alone], clips=only)
    )


def test_every_module_that_defines_a_projection_is_registered() -> None:
    folder = ROOT / "vlmrec" / "projections"
    defining = {path.stem for path in folder.glob("*.py") if "\n@register(" in path.read_text(encoding="utf-8")}
    assert defining == set(MODULES)
    assert all(make(name, gold_set({})).name == name for name in PROJECTIONS)


SURROUNDINGS = (
    {"PYTHONHASHSEED": "0", "TZ": "UTC", "LANG": "C.UTF-8"},
    {"PYTHONHASHSEED": "1", "TZ": "Asia/Seoul", "LANG": "ko_KR.UTF-8"},
    {"PYTHONHASHSEED": "4242", "TZ": "America/St_Johns", "LANG": "C"},
)


def test_hash_seed_time_zone_and_locale_change_nothing() -> None:
    assert len({digest_elsewhere(surroundings) for surroundings in SURROUNDINGS}) == 1


def digest_elsewhere(surroundings: dict[str, str]) -> str:
    code = f"import sys; sys.path.insert(0, {str(Path(__file__).parent)!r}); import test_projection_laws as laws; print(laws.digest())"
    environment = {**os.environ, **surroundings, "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "tests")])}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, check=True, timeout=120)
    return done.stdout.decode().strip()


def digest() -> str:
    """One hash over every projection of one fixed pair of runs, for comparing processes."""
    from samples import sample_gold, sample_runs

    def parts() -> Iterator[bytes]:
        for name in PROJECTIONS:
            projection = make(name, sample_gold())
            yield stable_bytes(project(projection, [run.log() for run in of_runs(projection, sample_runs())]))

    return sha256_hex(b"\n".join(parts()))


def test_the_sample_runs_have_something_for_every_projection() -> None:
    from samples import sample_runs

    stages = {event.data.stage for run in sample_runs() for event in run.events if isinstance(event.data, TurnOpened)}
    assert stages == {Stage.PREDICATE}
