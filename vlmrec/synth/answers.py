"""Gold answers: the scenario's facts, put as answers to the questions of a ledger. Pure.

A fact answers a question only while the picture shows it. Everything else becomes the abstention that a
careful person would choose: what a precondition rules out is not applicable, what lies outside the
picture is off screen, what is hidden is occluded, what nobody could tell is unknown.
"""

from collections.abc import Iterable
from typing import NamedTuple

from msgspec.structs import replace

from vlmrec.gold import GoldAnswer
from vlmrec.ledger import Ledger
from vlmrec.question import Modality, Question, Viewpoint, precondition
from vlmrec.synth.camera import CameraPath
from vlmrec.synth.grounding import Sightings, sightings
from vlmrec.synth.look import Look
from vlmrec.synth.plot import NONE, OTHER, SELF, Fact, FactKey, Facts, Plot, seen
from vlmrec.synth.world import BodyKind
from vlmrec.terms import Answer, Party, Status, TurnKey

PREFIX = "q_"
RELATIONS = frozenset(
    ("direction_relation", "lane_relation", "order", "first_to_move", "change_direction_relation", "falling_object")
)
"""Facts of the scene that need the counterpart in the picture as well."""
KINDS: dict[BodyKind, str] = {
    "sedan": "car",
    "hatch": "car",
    "suv": "car",
    "van": "car",
    "pickup": "truck",
    "box_truck": "truck",
    "bus": "bus",
    "motorcycle": "motorcycle",
}
STARTED = frozenset(("standing", "bus_stop"))
NOWHERE = Sightings(seen=(), hidden=())


class _Shown(NamedTuple):
    status: Status
    value: str | None = None
    start: float | None = None
    end: float | None = None


def gold_answers(plot: Plot, look: Look, path: CameraPath, aspect: float, ledger: Ledger) -> tuple[GoldAnswer, ...]:
    """An answer to every question of the ledger in every form, in ledger order."""
    scene = plot.scene
    sight = sightings(scene, look, path, aspect, scene.counterpart) if scene.counterpart else NOWHERE
    facts = {**_of_the_look(plot, look, sight), **_in_other_words(plot.facts), **plot.facts}
    shown = {key: _shown(ledger.question(key.question_id), key.party, facts, sight) for key in ledger.turns}
    given = {
        key: Answer(question_id=key.question_id, party=key.party, status=found.status, value=found.value)
        for key, found in shown.items()
    }
    for key in ledger.turns:
        question = ledger.question(key.question_id)
        if precondition(question, key.party, given) is False:
            shown[key] = _Shown(Status.NOT_APPLICABLE)
        elif shown[key].status is not Status.OBSERVED:
            shown[key] = _abstention(question, key.party, shown[key], scene.counterpart is None, sight)
    return tuple(_answer(key, shown[key]) for key in ledger.turns)


def observed_values(answers: Iterable[GoldAnswer]) -> dict[tuple[str, Party], str]:
    """What the answers observed, by question (without its prefix) and party."""
    return {
        (each.question_id.removeprefix(PREFIX), each.party): each.value for each in answers if each.value is not None
    }


def _of_the_look(plot: Plot, look: Look, sight: Sightings) -> Facts:
    """What depends on light and camera: kinds of vehicle, visibility."""
    scene, facts = plot.scene, Facts()
    if scene.counterpart is not None:
        facts |= seen("vehicle_kind", OTHER, KINDS[scene.counterpart.body.kind], 0, scene.duration)
    if look.hood:
        facts |= seen("vehicle_kind", SELF, "car", 0, scene.duration)
    if look.light == "night" or look.weather != "dry":
        facts |= seen("visibility", NONE, "poor", 0, scene.duration)
    elif look.light != "dusk":  # between the two nobody could say
        facts |= seen("visibility", NONE, "clear", 0, scene.duration)
    return facts


def _in_other_words(facts: Facts) -> Facts:
    """The same facts as older ledgers ask for them: one question for each kind of stop, one for coming back in front."""
    found = Facts()
    for (name, party), fact in facts.items():
        if name == "prior_stop_kind":
            for kind in ("queue", "bus_stop"):
                said = "yes" if fact.value == kind else "no"
                found[FactKey("queue_stop" if kind == "queue" else kind, party)] = replace(fact, value=said)
        elif name == "overtaking":
            found[FactKey("returns_in_front", party)] = replace(fact, value="yes" if fact.value == "cut_in" else "no")
    return found


def _shown(question: Question, party: Party, facts: Facts, sight: Sightings) -> _Shown:
    """The fact that answers a question, cut to the time during which it can be seen."""
    name = question.id.removeprefix(PREFIX)
    fact = facts.get(FactKey(name, party))
    if fact is None:
        return _Shown(Status.UNKNOWN)
    value = _value(question, party, fact, facts)
    if value is None:
        return _Shown(Status.UNKNOWN)
    if fact.inferred or not (party is OTHER or name in RELATIONS):
        return _Shown(Status.OBSERVED, value, fact.start, fact.end)
    span = sight.within(fact.start, fact.end)
    if span is None:
        hidden = any(fact.start <= time <= fact.end for time in sight.hidden)
        return _Shown(Status.OCCLUDED if hidden else Status.OFF_SCREEN)
    return _Shown(Status.OBSERVED, value, round(span[0], 2), round(span[1], 2))


def _value(question: Question, party: Party, fact: Fact, facts: Facts) -> str | None:
    """The fact in the question's own domain; None where it has no word for it.

    A ledger whose manoeuvres name overtaking and moving off gets those, as a person would answer there.
    """
    if question.id == f"{PREFIX}maneuver":
        overtakes = facts.get(FactKey("overtaking", party))
        if "overtaking" in question.codes and overtakes is not None and overtakes.value != "none":
            return "overtaking"
        stop = facts.get(FactKey("prior_stop_kind", party))
        if "starting_from_stop" in question.codes and stop is not None and stop.value in STARTED:
            return "starting_from_stop"
    return fact.value if fact.value in question.codes else None


def _abstention(question: Question, party: Party, found: _Shown, alone: bool, sight: Sightings) -> _Shown:
    if not question.observable or found.status in (Status.OCCLUDED, Status.OFF_SCREEN):
        return found
    name = question.id.removeprefix(PREFIX)
    if alone and (party is OTHER or name in RELATIONS):
        return _Shown(Status.NOT_APPLICABLE)
    if party is OTHER and not sight.seen:
        return _Shown(Status.OFF_SCREEN)
    if party is SELF and (
        question.viewpoint is Viewpoint.SIGNAL or question.modality in (Modality.LAMPS, Modality.APPEARANCE)
    ):
        return _Shown(Status.OFF_SCREEN)
    return found


def _answer(key: TurnKey, shown: _Shown) -> GoldAnswer:
    return GoldAnswer(
        question_id=key.question_id,
        party=key.party,
        status=shown.status,
        value=shown.value,
        evidence_start=shown.start,
        evidence_end=shown.end,
        confidence=1.0 if shown.status is Status.OBSERVED else None,
    )
