"""The requests that a condition sends, as a log stores them, and where those of two conditions differ.

Media stand in as what the condition asks of them; all else is what a run would send.
"""

import json
import re
from dataclasses import asdict, is_dataclass
from fractions import Fraction
from random import Random
from typing import Any

import msgspec
from stage_simulator import Simulation, answer, make_context

from vlmrec.events import Stage
from vlmrec.stages.compose import call_prompt, wire_fields
from vlmrec.stages.condition import Condition
from vlmrec.stages.effects import SendCall
from vlmrec.stages.prompts import load_templates
from vlmrec.stages.request import Parameters, Wire, build_call
from vlmrec.stages.settle import accepted_table
from vlmrec.stages.windows import media_spec

ANSWERS = {
    "q_collision": "vehicle_contact",
    "q_direction_relation": "same_direction",
    "q_vehicle_kind": "car",
    "q_lane_relation": "adjacent_lane",
    "q_order": "other_ahead",
}
TABLE = {
    "entities": [{"id": "e1", "kind": "car", "role": "counterpart", "heading": "parallel", "first_seen": 0.0}],
    "contact_time": 4.5,
    "ego_lane": 1,
    "lane_count": 2,
}
Requests = dict[tuple[str, ...], dict[str, Any]]


def requests_of(condition: Condition, parameters: Parameters | None = None) -> Requests:
    """Every request of a clip by stage, question, party and sample, decoded."""
    context = make_context(condition)
    templates = load_templates(condition.language)
    asked = parameters or Parameters(wire=Wire(model=condition.model))
    found: Requests = {}
    runs: list[Simulation] = []

    def script(call: SendCall) -> str:
        (run,) = runs
        prompt = call_prompt(context, templates, asked, run.state, call, run.bodies)
        table = accepted_table(run.state, run.bodies)
        contact = table.contact_time if table is not None else None
        spec = media_spec(condition, call.turn.window, contact=contact, duration=Fraction(10))
        kind = "video" if spec.sampling is None else "frames"
        part = {"type": kind, kind: asdict(spec) if is_dataclass(spec) else msgspec.to_builtins(spec)}
        request = build_call(prompt, [part], wire_fields(context, asked, call), None).request
        key = (call.turn.stage.value, call.turn.question_id, call.turn.party.value, str(call.sample))
        found[key] = json.loads(request.body)
        if call.turn.stage is Stage.TABLE:
            return json.dumps(TABLE)
        if call.turn.stage is Stage.SCENE:
            return "Two cars drive side by side; at 4.5 s they touch."
        value = ANSWERS.get(call.turn.question_id)
        return answer("observed", value) if value else answer("unknown")

    runs.append(Simulation(context, script, Random(0)))
    runs[0].run()
    return found


def places_that_differ(one: dict[str, Any], other: dict[str, Any]) -> set[str]:
    """The parts of two stored requests that are not the same, each by the name that docs/conditions.md uses."""
    a, b = _parts(one), _parts(other)
    return {name for name in set(a) | set(b) if a.get(name) != b.get(name)}


def _parts(request: dict[str, Any]) -> dict[str, Any]:
    system, user = request["messages"]
    *start, tail = user["content"]
    parts = {name: value for name, value in request.items() if name != "messages"}
    parts["system text"] = system["content"]
    parts["media"] = [part for part in start if part["type"] != "text"]
    for text in (part["text"] for part in start if part["type"] == "text"):
        parts[text.splitlines()[0]] = text
    for section in re.split(r"(?m)^(?=\[)", tail["text"]):
        if section:
            parts[section.split("]")[0] + "]"] = section.strip()
    return parts
