"""From a scene to the text of a reply: answers to questions, Stage 0 tables, scene prose.

A value is given only where the scene holds the finding with enough confidence and the value is among the options shown.
"""

import json
from collections.abc import Mapping
from typing import Any

from vlmrec.observer.finding import Finding, unknown
from vlmrec.observer.motions import ego_motion
from vlmrec.observer.questions import QUESTIONS
from vlmrec.observer.request import ChatRequest, Question
from vlmrec.observer.scene import Scene
from vlmrec.observer.table import entity_table
from vlmrec.terms import Party

CONFIDENT = 0.6


def reply_text(asked: ChatRequest, scene: Scene | None) -> str:
    """The content of the assistant's message: one JSON object, prose for a scene task."""
    if asked.task == "entity_table":
        return _dump(_keep(entity_table(scene), asked.schema))
    if asked.task == "scene":
        return _prose(scene)
    if asked.question is not None and not asked.question.options and asked.schema is None:
        return _described(asked.question, scene)
    return _dump(_obey(_finding(asked, scene), asked.schema))


def _finding(asked: ChatRequest, scene: Scene | None) -> Finding:
    if asked.question is None:
        return unknown("no question in the form this model reads")
    if scene is None:
        return unknown("no video or frames in the request")
    if not scene.usable:
        return unknown(scene.reason)
    found = _answer(asked.question, scene)
    if found.value is not None and found.value not in asked.question.codes:
        return unknown(f"measured {found.value}, which is not among the options shown")
    if found.confidence is not None and found.confidence < CONFIDENT:
        return unknown(f"{found.reason} (confidence {found.confidence:.2f} is too low to say)")
    return found


def _answer(question: Question, scene: Scene) -> Finding:
    known = QUESTIONS.get(question.question_id)
    if known is not None:
        return known(scene, question.party)
    if question.party is Party.SELF and {"moving", "stopped"} <= question.codes:
        return ego_motion(scene)
    return unknown("this model does not measure what the question asks")


def _described(question: Question, scene: Scene | None) -> str:
    """What can be said without options to choose from: a sentence with the measured grounds."""
    found = unknown("no video") if scene is None else unknown(scene.reason)
    if scene is not None and scene.usable:
        found = _answer(question, scene)
    if found.value is None or (found.confidence or 0) < CONFIDENT:
        return f"This can't be seen: {found.reason}."
    words = found.value.replace("_", " ")
    return f"From {found.start or 0:.1f} s to {found.end or 0:.1f} s: {words} ({found.reason})."


def _obey(found: Finding, schema: Mapping[str, Any] | None) -> dict[str, Any]:
    branches = schema.get("anyOf") if schema is not None else None
    shapes = branches if isinstance(branches, list) and branches else [schema]
    for said in (found, unknown(f"{found.value} is not allowed by the schema")):
        answer = _as_dict(said)
        for shape in shapes:
            if _fits(answer, shape):
                return _keep(answer, shape)
    return _keep(answer, shapes[-1])


def _fits(answer: dict[str, Any], schema: Any) -> bool:
    properties = schema.get("properties") if isinstance(schema, dict) else None
    return not isinstance(properties, dict) or all(
        _allows(properties.get(key), answer[key]) for key in ("status", "value")
    )


def _keep(answer: dict[str, Any], schema: Mapping[str, Any] | None) -> dict[str, Any]:
    """The keys the schema names, in the schema's order: that is the order a constrained decoder writes."""
    properties = schema.get("properties") if schema is not None else None
    if not isinstance(properties, dict) or not properties:
        return answer
    return {key: answer[key] for key in properties if key in answer}


def _allows(schema: Any, value: str | None) -> bool:
    if not isinstance(schema, dict):
        return True
    branches = schema.get("anyOf") or schema.get("oneOf")
    if isinstance(branches, list):
        return any(_allows(branch, value) for branch in branches)
    if isinstance(schema.get("enum"), list):
        return value in schema["enum"]
    if "const" in schema:
        return bool(schema["const"] == value)
    kinds = schema.get("type")
    kinds = [kinds] if isinstance(kinds, str) else kinds
    return not isinstance(kinds, list) or ("null" if value is None else "string") in kinds


def _as_dict(found: Finding) -> dict[str, Any]:
    return {
        "status": str(found.status),
        "value": found.value,
        "reason": found.reason,
        "evidence_start": _seconds(found.start),
        "evidence_end": _seconds(found.end),
        "confidence": None if found.confidence is None else round(found.confidence, 2),
    }


def _seconds(time: float | None) -> float | None:
    return None if time is None else round(time, 3)


def _prose(scene: Scene | None) -> str:
    if scene is None or not scene.usable or not scene.ego:
        return "Nothing about the scene could be measured."
    lines = [f"From {s.start:.1f} s to {s.end:.1f} s the recording vehicle is {s.state}." for s in scene.ego]
    if scene.contact is not None:
        lines.append(f"At {scene.contact.time:.1f} s the camera is knocked.")
    rival = scene.rival
    if rival is not None:
        side = (
            "in the same lane"
            if abs(rival.beside) < 0.35
            else f"{abs(rival.beside):.1f} lanes to the {_side(rival.beside)}"
        )
        lines.append(f"A vehicle is seen from {rival.start:.1f} s, {side} at first.")
        lines += [f"It moves to the {m.side} from {m.start:.1f} s on." for m in rival.keeping.moves]
    return " ".join(lines)


def _side(beside: float) -> str:
    return "right" if beside > 0 else "left"


def _dump(answer: Mapping[str, Any]) -> str:
    return json.dumps(answer, ensure_ascii=False)
