"""Makes the golden cases of the decision core: `python tests/golden/make_core.py`.

Each case is one clip: its inputs (observations and records, as a log has them) and the decisions that the core
of the current version makes of them. Replies are fixed; the engine's replies are among the inputs, and the
ledger is kept beside the cases, so that only the core can change a decision. Cases of a *released* core version
stay; a raised version gets its own folder.
"""

import json
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from random import Random
from types import MappingProxyType
from typing import Any, NamedTuple

import msgspec

sys.path.insert(0, str(Path(__file__).parents[1]))  # the simulator, when run as a program

from stage_simulator import TIME, Simulation, answer, failed_call, make_context, reply_body

from vlmrec.canonical import canonical_json, json_blob
from vlmrec.engine.reference import load_reference
from vlmrec.events import (
    AnswerGiven,
    CallFailed,
    Event,
    Family,
    Manifest,
    Provenance,
    Stage,
    TableGiven,
    blob_refs,
    make_event,
)
from vlmrec.ledger import Ledger, decode_ledger, meta_bytes, questions_bytes
from vlmrec.schemas import load as load_schema
from vlmrec.stages.condition import Condition
from vlmrec.stages.context import CORE_VERSION, RunContext
from vlmrec.stages.effects import SendCall
from vlmrec.terms import Party, Status

UNREAD = ("call.requested", "media.prepared")
"""Events whose bodies no decision rests on."""
FOLDER = Path(__file__).parent / "core"
COMMAND = "python tests/golden/make_core.py"
ENGINE = "0.1.3"
RULES = "validation_rules.yaml"
TABLE = {
    "entities": [{"id": "e1", "kind": "car", "role": "counterpart", "heading": "parallel", "first_seen": 0.5}],
    "contact_time": 4.2,
    "ego_lane": 1,
    "lane_count": 2,
}
SAID: dict[tuple[str, str], str] = {
    ("q_collision", "none"): "vehicle_contact",
    ("q_direction_relation", "none"): "same_direction",
    ("q_vehicle_kind", "other"): "car",
    ("q_lane_relation", "none"): "adjacent_lane",
    ("q_order", "none"): "other_ahead",
    ("q_maneuver", "other"): "lane_change",
    ("q_maneuver", "self"): "straight",
    ("q_motion_at_contact", "self"): "moving",
    ("q_motion_at_contact", "other"): "moving",
    ("q_overtaking", "other"): "none",
}


class Case(NamedTuple):
    """A clip to be decided: the condition, what the model says, and what is in the manifest and log beforehand."""

    condition: Condition
    script: Callable[[SendCall], "str | CallFailed"]
    extra: Mapping[str, object] = MappingProxyType({})
    given: bool = False


def main() -> None:
    folder = FOLDER / f"v{CORE_VERSION}"
    folder.mkdir(parents=True, exist_ok=True)
    ledger = load_reference(ENGINE).ledger
    write(folder / "ledger.json", {"meta": meta_bytes(ledger).decode(), "questions": questions_bytes(ledger).decode()})
    (folder / "rules.yaml").write_bytes(load_schema(RULES))
    for name, case in CASES.items():
        run = simulated(case)
        (folder / f"{name}.jsonl").write_bytes(b"".join(canonical_json(line) + b"\n" for line in lines(run)))
        named = {ref.sha256 for event in run.events for ref in blob_refs(event.data) if event.data.type not in UNREAD}
        used = {sha: body.decode("utf-8") for sha, body in sorted(run.stored.items()) if sha in named}
        write(folder / f"{name}.blobs.json", used)
    print(f"wrote {len(CASES)} cases to {folder}", file=sys.stderr)


def simulated(case: Case) -> Simulation:
    """The case under the current core and the embedded engine."""
    context = make_context(case.condition, version=ENGINE, **case.extra)
    run = Simulation(context, case.script, Random(0), events=given_events() if case.given else [])
    if case.given:
        run._keep(json_blob(TABLE))
    return run.run()


def lines(run: Simulation) -> list[dict[str, Any]]:
    """The manifest, and every event in order, told apart by family."""
    events = [{"decision" if is_decision(event) else "input": as_json(event)} for event in run.events]
    return [{"manifest": msgspec.to_builtins(run.context.manifest)}, *events]


def is_decision(event: Event) -> bool:
    return event.data.family is Family.DECISION


def as_json(event: Event) -> dict[str, Any]:
    return {
        "id": event.id,
        "type": event.data.type,
        "causation": event.causation,
        "data": json.loads(canonical_json(event.data)),
    }


def read_context(folder: Path, manifest: dict[str, Any]) -> RunContext:
    """The context that a case was made with: a log keeps its own ledger and rules."""
    bodies = json.loads((folder / "ledger.json").read_text("utf-8"))
    ledger: Ledger = decode_ledger(bodies["meta"].encode(), bodies["questions"].encode())
    rules = (folder / "rules.yaml").read_bytes() if manifest["axes"]["S"] == "2" else None
    return RunContext(msgspec.convert(manifest, Manifest), ledger, rules)


def write(path: Path, value: object) -> None:
    path.write_text(json.dumps(value, ensure_ascii=False, indent=1, sort_keys=True) + "\n", encoding="utf-8")


def given_events() -> list[Event]:
    source = Provenance(kind="gold", content="0" * 64)
    answer_given = AnswerGiven(
        stage=Stage.PREDICATE,
        question_id="q_collision",
        party=Party.NONE,
        status=Status.OBSERVED,
        value="vehicle_contact",
        source=source,
    )
    table = TableGiven(table=json_blob(TABLE).ref, source=source)
    return [make_event(data, clip="clip", time=TIME) for data in (table, answer_given)]


# ---- what the model says ---------------------------------------------------------------------


def plainly(call: SendCall) -> str:
    if call.turn.stage is Stage.TABLE:
        return json.dumps(TABLE)
    if call.turn.stage is Stage.SCENE:
        return "Two cars drive side by side; at 4.2 s they touch."
    value = SAID.get((call.turn.question_id, call.turn.party.value))
    return answer("observed", value, evidence_start=1.0) if value else answer("unknown")


def with_disagreement(call: SendCall) -> "str | CallFailed":
    if call.turn.question_id == "q_order":
        return answer("observed", ["self_ahead", "other_ahead", "side_by_side"][int(call.sample)])
    if call.turn.question_id == "q_lane_line":
        return "I cannot say."
    if call.turn.question_id == "q_vehicle_kind" and call.sample == 1:
        return reply_body('{"status": "observed", "val', finish_reason="length").decode()
    if call.turn.question_id == "q_motion_at_contact" and call.sample == 0 and call.attempt == 1:
        return failed_call(call, final=False)
    return plainly(call)


def with_contradictions(call: SendCall) -> str:
    said = {
        ("q_direction_relation", "none"): answer("observed", "crossing", reason="It crosses: crossing, at 4.2 s."),
        ("q_maneuver", "other"): answer("observed", "stopped", reason="상대 차량은 차로를 변경한다. 왼쪽에서 온다."),
        ("q_motion_at_contact", "other"): answer("observed", "moving", reason="e7 moves. " * 30, evidence_end=99.0),
        ("q_order", "none"): answer("unknown", reason="There is no collision in this clip."),
    }
    return said.get((call.turn.question_id, call.turn.party.value)) or plainly(call)


def describing(call: SendCall) -> str:
    said = {
        "q_collision": "At 4.2 s the two vehicles collide.",
        "q_direction_relation": "Both drive in the same direction.",
        "q_vehicle_kind": "The other vehicle is a grey sedan.",
        "q_order": "The other vehicle is ahead, later they drive side by side.",
        "q_maneuver": "The other vehicle changes lanes; the ego vehicle goes straight.",
        "q_lane_line": "The line is hidden.",
    }
    return said.get(call.turn.question_id, "The weather is fine.")


def failing(call: SendCall) -> "str | CallFailed":
    return failed_call(call, final=True) if call.turn.question_id == "q_order" else plainly(call)


CASES = {
    "votes": Case(Condition(repetition="3", context="1"), with_disagreement),
    "scene": Case(Condition(stages="1", language="en", order="shuffle-7"), plainly),
    "table": Case(Condition(stages="2", grounding="3"), with_contradictions),
    "windows": Case(Condition(stages="2", video="window", format="schema"), plainly, {"monitor_rate": "1/3"}),
    "described": Case(Condition(mode="describe-map", language="en"), describing),
    "given": Case(Condition(stages="2"), plainly, {"given": {"clip": 1}, "tables_given": ["clip"]}, given=True),
    "failed": Case(Condition(), failing),
}

if __name__ == "__main__":
    main()
