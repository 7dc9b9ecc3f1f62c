"""Two fixed runs over three clips, and their labels: one small world with something in it for every projection."""

from typing import Any

from runbuilder import RunBuilder, axes
from strategies import GOLD_TABLE, TABLE

from vlmrec.gold import OUT_OF_SCOPE, GoldAnswer, GoldLabel, GoldSet, encode_label, gold_set, label_name
from vlmrec.terms import Party, Status

CLIPS = ("c1", "c2", "한글")


def label(
    clip: str, leaf: str | None = None, answers: dict[tuple[str, str], str] | None = None, **other: Any
) -> GoldLabel:
    """Answers are values; one in brackets is an abstention."""
    given = []
    for (question, party), said in (answers or {}).items():
        value = None if said.startswith("(") else said
        status = Status.OBSERVED if value is not None else Status(said.strip("()"))
        given.append(GoldAnswer(question_id=question, party=Party(party), status=status, value=value))
    return GoldLabel(
        **{"clip_id": clip, "gold_leaf": leaf, "answers": tuple(given), "data_version": "test-ledger", **other}
    )


def labels(*every: GoldLabel) -> GoldSet:
    return gold_set({label_name(one): encode_label(one) for one in every})


def sample_runs() -> tuple[RunBuilder, RunBuilder]:
    """The second differs from the first in option order, and in what it answers on the first clip."""
    return _run("first", "ledger", "lane_change"), _run("second", "shuffle-1", "straight")


def sample_gold() -> GoldSet:
    """Clip c1 and 한글 have charts; c2 is out of scope. Labellers A and B differ on one answer."""
    labels = [
        _label("c1", "차43-2", [("q_maneuver", "other", "lane_change"), ("q_collision", "none", "yes")]),
        _label("c2", OUT_OF_SCOPE, [("q_collision", "none", "no"), ("q_signal", "other", None)]),
        _label("한글", "차41-1", [("q_maneuver", "other", "stopped")]),
        _label("c1", "차43-2", [("q_maneuver", "self", "straight")], labeller="A"),
        _label("c1", "차43-2", [("q_maneuver", "self", "stopped"), ("q_signal", "other", "on")], labeller="B"),
    ]
    return gold_set({label_name(label): encode_label(label) for label in labels})


def _run(run_id: str, order: str, seen: str) -> RunBuilder:
    run = RunBuilder(run_id=run_id, clips=CLIPS, axes=axes(O=order))
    one, two, three = (run.clip(name) for name in CLIPS)
    one.table(TABLE)
    for clip, collision in ((one, "yes"), (two, "no"), (three, "yes")):
        clip.turn("q_collision", "none", value=collision, options=("yes", "no"), evidence=(4.0, 4.5), cost="0.01")
        clip.submit("asking", ["차41-1", "차43-2", "차43-3"])
    why = (
        "상대 차량이 왼쪽 차로에서 1차로로 차선을 변경했다."
        if seen == "lane_change"
        else "The other car goes straight."
    )
    one.turn("q_maneuver", "other", value=seen, options=("straight", "lane_change", "stopped"), explanation=why)
    gone = [("차43-3", "q_maneuver", "other", seen), ("차41-1", "q_maneuver", "other", seen)]
    if seen == "straight":
        gone.append(("차43-2", "q_maneuver", "other", seen))
    one.submit(
        "confirmed" if seen == "lane_change" else "none", ["차43-2"] if seen == "lane_change" else [], eliminated=gone
    )
    one.finish()
    two.turn("q_signal", "other", status="occluded", strictness="loose").submit("out_of_scope").finish()
    three.turn("q_signal", "other", put=False).turn("q_maneuver", "self", unusable="truncated", failures=1)
    three.submit("open", ["차41-1", "차43-2"]).finish(incomplete=True)
    run.note("blurred", exclude=False, clip="한글")
    return run


def _label(clip: str, leaf: str, seen: list[tuple[str, str, str | None]], labeller: str = "reviewed") -> GoldLabel:
    return GoldLabel(
        clip_id=clip,
        labeler=labeller,
        answers=tuple(
            GoldAnswer(
                question_id=question,
                party=Party(party),
                status=Status.OBSERVED if value is not None else Status.UNKNOWN,
                value=value,
                evidence_start=4.1 if value is not None else None,
            )
            for question, party, value in seen
        ),
        gold_leaf=leaf,
        self_fault=30 if leaf != OUT_OF_SCOPE else None,
        stage0=GOLD_TABLE if labeller == "reviewed" else None,
        data_version="test-ledger",
    )
