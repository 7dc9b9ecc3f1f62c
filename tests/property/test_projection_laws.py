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
from importlib.resources import files
from pathlib import Path
from random import Random
from typing import Any

from hypothesis import given, note
from hypothesis import strategies as st
from runbuilder import RunBuilder
from strategies import gold_sets, interleaved, runs

from vlmrec.canonical import sha256_hex
from vlmrec.events import Event, Stage, TurnOpened
from vlmrec.gold import GoldSet, gold_set
from vlmrec.projections.core import Folding, LogProvenance, event_types, finish, project, stable_bytes
from vlmrec.projections.memory import MemoryLog
from vlmrec.projections.registry import MODULES, AnyProjection, Inputs, projections
from vlmrec.stages.rules import parse_rules, rules_hash

PROJECTIONS = projections()
RULES = files("vlmrec.schemas").joinpath("validation_rules.yaml").read_bytes()
ROOT = Path(__file__).resolve().parent.parent.parent


def make(name: str, gold: GoldSet) -> AnyProjection:
    return PROJECTIONS[name](Inputs(gold=gold, rules=parse_rules(RULES), rules_hash=rules_hash(RULES)))


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


def each(gold: GoldSet, logs: Sequence[RunBuilder]) -> Iterator[tuple[AnyProjection, Sequence[RunBuilder]]]:
    """Every projection, over as many of the runs as it takes. One drawing serves all: drawing is what takes time."""
    for name in PROJECTIONS:
        note(f"projection {name}")
        projection = make(name, gold)
        yield projection, of_runs(projection, logs)


@given(logs=two_runs, gold=gold_sets())
def test_the_same_log_gives_the_same_bytes(logs: tuple[RunBuilder, ...], gold: GoldSet) -> None:
    for projection, chosen in each(gold, logs):
        elsewhere = [MemoryLog(run.events, run_id="another", uuid="u", head="h", blobs=run.blobs) for run in chosen]
        first = stable_bytes(project(projection, [run.log() for run in chosen]))
        assert stable_bytes(project(projection, [run.log() for run in chosen])) == first
        assert stable_bytes(project(make(projection.name, gold), elsewhere)) == first


@given(logs=two_runs, gold=gold_sets(), cuts=st.lists(st.integers(0, 200), max_size=4), peek=st.booleans())
def test_a_prefix_and_then_the_rest_equals_the_whole(
    logs: tuple[RunBuilder, ...], gold: GoldSet, cuts: list[int], peek: bool
) -> None:
    for projection, chosen in each(gold, logs):
        whole = stable_bytes(project(projection, [run.log() for run in chosen]))
        assert combined(projection, [in_pieces(projection, run, run.events, cuts, peek) for run in chosen]) == whole


@given(logs=two_runs, gold=gold_sets(), data=st.data())
def test_the_interleaving_of_clips_changes_nothing(
    logs: tuple[RunBuilder, ...], gold: GoldSet, data: st.DataObject
) -> None:
    shuffled = [MemoryLog(data.draw(interleaved(run.events)), blobs=run.blobs) for run in logs]
    for projection, chosen in each(gold, logs):
        mixed_up = shuffled[: len(chosen)]
        assert stable_bytes(project(projection, mixed_up)) == stable_bytes(
            project(projection, [run.log() for run in chosen])
        )


@given(logs=two_runs, gold=gold_sets(), junk=runs(run_id="junk"), seed=st.randoms(use_true_random=False))
def test_events_of_unhandled_types_change_nothing(
    logs: tuple[RunBuilder, ...], gold: GoldSet, junk: RunBuilder, seed: Random
) -> None:
    for projection, chosen in each(gold, logs):
        handled = set(event_types(projection))
        strangers = [event for event in junk.events if event.data.type not in handled]
        folded, without = [], []
        for run in chosen:
            own = [event for event in run.events if event.data.type in handled]
            folded.append(in_pieces(projection, run, mixed(run.events, strangers, seed), (), False))
            without.append(MemoryLog(own, blobs=run.blobs))
        assert combined(projection, folded) == stable_bytes(project(projection, without))


def mixed(events: Sequence[Event], strangers: Sequence[Event], seed: Random) -> list[Event]:
    """The events in their order, with strangers among them."""
    at: dict[int, list[Event]] = {}
    for event in strangers:
        at.setdefault(seed.randint(0, len(events)), []).append(event)
    return [event for i in range(len(events) + 1) for event in (*at.get(i, ()), *events[i : i + 1])]


@given(logs=two_runs, gold=gold_sets(), cut=st.integers(0, 200))
def test_every_prefix_of_a_log_can_be_projected(logs: tuple[RunBuilder, ...], gold: GoldSet, cut: int) -> None:
    prefixes = [MemoryLog(run.events[: cut % (len(run.events) + 1)], blobs=run.blobs) for run in logs]
    for projection, chosen in each(gold, logs):
        stable_bytes(project(projection, prefixes[: len(chosen)]))


@given(logs=two_runs, gold=gold_sets())
def test_clips_left_out_leave_no_trace_in_what_is_known_of_the_others(
    logs: tuple[RunBuilder, ...], gold: GoldSet
) -> None:
    only = frozenset(["c1", "한글"])
    alone = [MemoryLog([e for e in run.events if e.clip is None or e.clip in only], blobs=run.blobs) for run in logs]
    for projection, chosen in each(gold, logs):
        whole = stable_bytes(project(projection, [run.log() for run in chosen], clips=only))
        assert whole == stable_bytes(project(projection, alone[: len(chosen)], clips=only))


def test_every_module_that_defines_a_projection_is_registered() -> None:
    folder = ROOT / "vlmrec" / "projections"
    defining = {path.stem for path in folder.glob("*.py") if "\n@register(" in path.read_text(encoding="utf-8")}
    assert defining == set(MODULES)
    assert all(make(name, gold_set({})).name == name for name in PROJECTIONS)


SURROUNDINGS = (
    {"PYTHONHASHSEED": "1", "TZ": "Asia/Seoul", "LANG": "ko_KR.UTF-8"},
    {"PYTHONHASHSEED": "4242", "TZ": "America/St_Johns", "LANG": "C"},
)


def test_hash_seed_time_zone_and_locale_change_nothing() -> None:
    assert {digest_elsewhere(surroundings) for surroundings in SURROUNDINGS} == {digest()}


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
