"""Hypothesis strategies for runs and their events, shared by the property tests.

``runs`` draws whole logs that a real run could have written, unfinished ones among them, over a small
world: few clips, questions, codes and charts, so that coincidences are common. ``gold_sets`` draws
labels over the same world. ``interleaved`` draws another order of the same events that keeps each
clip's own order and the run's.
"""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from hypothesis import strategies as st
from runbuilder import ClipBuilder, RunBuilder, axes

from vlmrec.events import Event, Violation
from vlmrec.gold import OUT_OF_SCOPE, REVIEWED, GoldAnswer, GoldLabel, GoldSet, encode_label, gold_set, label_name
from vlmrec.table import Entity, EntityTable, TimedBox
from vlmrec.terms import Party, QuestionRef, Status

CLIPS = ("c1", "c2", "한글", "c10")
CHARTS = ("차41-1", "차43-2", "차43-3")
QUESTIONS: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ("q_collision", "none", ("yes", "no")),
    ("q_maneuver", "self", ("straight", "lane_change", "stopped")),
    ("q_maneuver", "other", ("straight", "lane_change", "stopped")),
    ("q_signal", "other", ("on", "off")),
)
ABSTENTIONS = ("unknown", "occluded", "off_screen", "not_applicable")
TEXTS = (
    None,
    "상대 차량이 왼쪽 차로에서 1차로로 차선을 변경했다.",
    "The other car changes lanes from lane 2 to lane 1. There was no collision.",
    "같은 말 같은 말 같은 말 같은 말 같은 말 같은 말",
)
TABLE = (
    b'{"entities":[{"id":"e1","kind":"car","role":"counterpart","descriptor":"white","first_seen":0.2,"last_seen":9.0,'
    b'"heading":"parallel","lane":2,"boxes":[{"t":4.0,"box":[10,10,200,200]}]}],"contact_time":4.3,"ego_lane":1,'
    b'"lane_count":3,"camera_events":[]}'
)
GOLD_TABLE = EntityTable(
    entities=(
        Entity(
            id="g1",
            kind="car",
            role="counterpart",
            heading="parallel",
            lane=2,
            boxes=(TimedBox(t=4.1, box=(0, 0, 190, 190)),),
        ),
    ),
    contact_time=4.0,
    ego_lane=1,
)


@st.composite
def runs(draw: st.DrawFn, *, clips: int = 3, run_id: str = "run") -> RunBuilder:
    """A run over up to ``clips`` clips; each may stop anywhere, fail, or end with any outcome."""
    names = draw(st.lists(st.sampled_from(CLIPS), max_size=clips, unique=True))
    run = RunBuilder(run_id=run_id, clips=names, axes=axes(O=draw(st.sampled_from(("ledger", "shuffle-1")))))
    begun = draw(st.integers(0, len(names)))  # the others are in the manifest alone
    for name in names[:begun]:
        _clip(draw, run, name)
    if names and draw(st.booleans()):
        turn = draw(st.sampled_from([None, ("q_maneuver", "other")]))
        run.note("wrong clip", exclude=draw(st.booleans()), clip=draw(st.sampled_from(names)), turn=turn)
    return run


@st.composite
def interleaved(draw: st.DrawFn, events: Sequence[Event]) -> list[Event]:
    """The same events in another order that each clip, and the run, sees as the same order."""
    lanes: dict[str | None, list[Event]] = defaultdict(list)
    for event in events:
        lanes[event.clip].append(event)
    queues = [list(reversed(lane)) for lane in lanes.values()]
    merged: list[Event] = []
    random = draw(st.randoms(use_true_random=False))
    while queues:
        queue = random.choice(queues)
        merged.append(queue.pop())
        queues = [queue for queue in queues if queue]
    return merged


def _clip(draw: st.DrawFn, run: RunBuilder, name: str) -> None:
    clip = run.clip(name, truncated=draw(st.booleans()))
    depth = draw(st.integers(0, 4))
    if draw(st.booleans()):
        clip.table(draw(st.sampled_from([TABLE, None, b"[1"])))
    charts = list(CHARTS)
    gone: list[tuple[str, str, str, str]] = []
    for question, party, codes in QUESTIONS[:depth]:
        value = _turn(draw, clip, question, party, codes)
        if charts and value is not None and draw(st.booleans()):
            gone.append((charts.pop(), question, party, value))
        status = draw(st.sampled_from(["asking", "open"])) if charts else "none"
        clip.submit(status, charts, eliminated=gone)
    ends = draw(st.sampled_from(["confirmed", "leading", "open", "none", "out_of_scope", "failed", "unfinished"]))
    if ends == "failed":
        clip.fail(draw(st.sampled_from(["no frame", "timeout"])), retryable=draw(st.booleans()))
    elif ends != "unfinished" and clip.last_submission:
        left = {"confirmed": charts[:1], "leading": charts[:1], "open": charts}.get(ends, [])
        clip.submit(ends, left, eliminated=gone, self_is=draw(st.sampled_from("AB")))
        clip.finish(incomplete=draw(st.booleans()))


def _turn(draw: st.DrawFn, clip: ClipBuilder, question: str, party: str, codes: tuple[str, ...]) -> str | None:
    kind = draw(st.sampled_from(["value", "value", "abstain", "unusable", "not_put", "given"]))
    if kind == "given":
        taken = draw(st.sampled_from(codes))
        clip.given(question, party, taken, draw(st.sampled_from(TEXTS)))
        return taken
    value = draw(st.sampled_from(codes)) if kind == "value" else None
    against = QuestionRef(question_id="q_collision", party=Party.NONE)
    violation = Violation(rule="exclusive", action="demote", message="contradicts", against=against)
    extra: dict[str, Any] = draw(
        st.fixed_dictionaries(
            {
                "explanation": st.sampled_from(TEXTS),
                "reasoning": st.sampled_from(TEXTS),
                "evidence": st.sampled_from([None, (1.0, 2.5), (0.0, 9.0)]),
                "strictness": st.sampled_from(["strict", "loose"]),
                "latency": st.sampled_from([0.25, 1.0, 7.5]),
                "cost": st.sampled_from([None, "0.001", "0.10"]),
                "prompt_tokens": st.sampled_from([None, 100, 5000]),
                "cached_tokens": st.sampled_from([None, 0, 80]),
                "predicted": st.sampled_from([None, 100]),
                "failures": st.integers(0, 1),
                "violations": st.sampled_from([(), (violation,)]),
            }
        )
    )
    if kind == "abstain":
        extra["status"] = draw(st.sampled_from(ABSTENTIONS))
        extra["demoted_from"] = draw(st.sampled_from([None, *codes]))
    elif kind == "unusable":
        extra["unusable"] = draw(st.sampled_from(["truncated", "refused"]))
    elif kind == "not_put":
        extra["put"] = False
    clip.turn(question, party, value=value, options=codes, **extra)
    return value


@st.composite
def gold_sets(draw: st.DrawFn) -> GoldSet:
    """Labels of some of the clips, by a reviewer and two labellers, now and then of another ledger."""
    files: dict[str, bytes] = {}
    for clip in draw(st.lists(st.sampled_from(CLIPS), max_size=3, unique=True)):
        for labeller in draw(st.lists(st.sampled_from(["", "A", "B"]), max_size=3, unique=True)):
            label = draw(_labels(clip, labeller))
            files[label_name(label)] = encode_label(label)
    return gold_set(files)


@st.composite
def _labels(draw: st.DrawFn, clip: str, labeller: str) -> GoldLabel:
    answers = []
    for question, party, codes in draw(st.lists(st.sampled_from(QUESTIONS), max_size=4, unique=True)):
        value = draw(st.sampled_from([None, *codes]))
        status = Status.OBSERVED if value is not None else Status(draw(st.sampled_from(ABSTENTIONS)))
        start = draw(st.sampled_from([None, 1.0, 6.0]))
        answers.append(
            GoldAnswer(question_id=question, party=Party(party), status=status, value=value, evidence_start=start)
        )
    return GoldLabel(
        clip_id=clip,
        labeler=labeller or REVIEWED,
        answers=tuple(answers),
        gold_leaf=draw(st.sampled_from([None, *CHARTS, OUT_OF_SCOPE])),
        self_fault=draw(st.sampled_from([None, 30, 70])),
        layer2_exclude=draw(st.sampled_from([None, None, None, "policy"])),
        equivalent_leaves=draw(st.sampled_from([(), CHARTS[:1]])),
        stage0=draw(st.sampled_from([None, GOLD_TABLE])),
        data_version=draw(st.sampled_from(["test-ledger", "test-ledger", "another-ledger"])),
    )
