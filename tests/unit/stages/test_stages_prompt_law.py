"""Law: a prompt never contains a chart's name, condition or candidate list. Over all charts, questions, parties and axes."""

import re
from itertools import product
from random import Random

import pytest
from axis_requests import requests_of
from stage_simulator import TIME, Simulation, make_context
from test_stages_core import known

from vlmrec.engine.reference import load_reference, versions
from vlmrec.events import AnswerAccepted, Stage, make_event
from vlmrec.stages.condition import Condition, parse_condition
from vlmrec.stages.context import CORE_VERSION, RunContext
from vlmrec.stages.decide import _turn_opened
from vlmrec.stages.prompts import build_prompt, load_templates
from vlmrec.stages.state import ClipState, apply
from vlmrec.terms import Status, TurnKey

SHARE = re.compile(
    r"\b\d{1,3}\s?(?:%|percent\b)|\d\s?퍼센트|과실\s?비율|기본\s?과실|fault ratio|base fault", re.IGNORECASE
)
ROLE = re.compile(r"[AB]\s?차|\bB (?:vehicle|car)\b|(?:vehicle|car|party) [AB]\b")
CHART_ID = re.compile(r"[차보거]\s?\d{1,2}\s?-\s?\d")


def chart_names(version: str) -> set[str]:
    """What names a chart wherever it stands: ids and titles."""
    charts = load_reference(version).charts
    return {name for chart in charts for name in (chart.id, chart.id[1:], chart.title_ko, chart.title_en)}


def engine_words(version: str) -> set[str]:
    """What only an engine says, or a chapter's headings; a ledger's own labels may use ordinary words among them."""
    groups = {chart.group_ko for chart in load_reference(version).charts}
    return groups | {"candidate", "후보", "self_is", "eliminated", "도표", "chart", "modifier", "수정요소"}


def everything_asked(context: RunContext) -> ClipState:
    """A clip on which every question of the ledger was answered, so that axis A has the most to tell."""
    state = ClipState("clip")
    for key in context.ledger.turns:
        question = context.ledger.question(key.question_id)
        apply(state, make_event(_turn_opened(context, state, key, 1), clip="clip", time=TIME))
        value = question.codes[0]
        data = AnswerAccepted(
            core=CORE_VERSION,
            stage=Stage.PREDICATE,
            question_id=key.question_id,
            party=key.party,
            status=Status.OBSERVED,
            value=value,
            source="model" if question.observable else "not_observable",
            explanation=f"At 2.0 s it is {value}.",
        )
        apply(state, make_event(data, clip="clip", time=TIME))
    return state


SETTINGS = [
    f"L={language},Q={mode},{levels}"
    for language, mode, levels in product(
        ("ko", "en"), ("choice", "describe-map"), ("G0,A0,C0", "G1,A1,C0", "G2,A0,C1", "G3,A2,C1")
    )
]


@pytest.mark.parametrize("version", versions())
def test_no_prompt_of_any_question_names_a_chart_its_condition_or_a_candidate(version: str) -> None:
    names, words = chart_names(version), engine_words(version)
    for setting in SETTINGS:
        condition = parse_condition(setting)
        context = make_context(condition, version=version)
        state, templates = everything_asked(context), load_templates(condition.language)
        for key in context.ledger.turns:
            if not context.asked(key).observable:
                continue
            turn = _turn_opened(context, state, key, 2)
            prompt = build_prompt(templates, context, state, turn, table='{"entities":[]}', scene="A road.")
            text = "\n".join((prompt.system, *prompt.lead, prompt.tail))
            where = f"{setting} {key}"
            assert not [name for name in names if name in text], where
            assert CHART_ID.search(text) is None, where
            assert ROLE.search(text) is None, where
            own = "\n".join(line for line in text.splitlines() if not line.startswith(("- ", "[text]")))
            assert not [word for word in words if word in own], where
            assert SHARE.search(own) is None, where


@pytest.mark.parametrize("version", versions())
@pytest.mark.parametrize("setting", ["S1,L=ko,G3", "S1,L=en,G3", "S2,L=ko,G3", "S2,L=en,G3"])
def test_stage_0_asks_for_a_scene_or_table_and_names_no_chart_and_no_question(version: str, setting: str) -> None:
    condition = parse_condition(setting)
    context = make_context(condition, version=version)
    (_, key), state = context.stage_zero, ClipState("clip")
    turn = _turn_opened(context, state, key, 0)
    prompt = build_prompt(load_templates(condition.language), context, state, turn, table=None, scene=None)
    text = f"{prompt.system}\n{prompt.tail}"
    assert prompt.lead == ()
    assert prompt.tail.startswith(f"[task] {key.question_id}\n")
    assert not [name for name in chart_names(version) | engine_words(version) if name in text]
    assert CHART_ID.search(text) is None
    assert ROLE.search(text) is None
    assert SHARE.search(text) is None
    assert not [question.id for question in context.ledger.questions if question.id in text]


@pytest.mark.parametrize("version", versions())
@pytest.mark.parametrize("language", ["ko", "en"])
def test_the_question_is_shown_as_the_ledger_has_it_and_definitions_only_where_asked_for(
    version: str, language: str
) -> None:
    plain, defined = (
        make_context(Condition(language=language, definitions=level), version=version) for level in ("0", "1")
    )
    templates = load_templates(language)
    for key in plain.ledger.turns:
        state = ClipState("clip")
        turn = _turn_opened(plain, state, key, 1)
        question = plain.ledger.question(key.question_id)
        tail = build_prompt(templates, plain, state, turn, table=None, scene=None).tail
        assert tail.startswith(f"[question] {key.question_id}\n[party] {key.party}\n[text] {turn.text}\n[options]\n")
        assert [line for line in tail.splitlines() if line.startswith("- ")] == [
            f"- {option.code}: {option.label(plain.language)}" for option in question.domain
        ]
        with_notes = build_prompt(templates, defined, state, turn, table=None, scene=None).tail
        wanted = [
            *question.notes(plain.language),
            *(rule.text(plain.language) for rule in plain.ledger.rules_for(key.question_id)),
        ]
        assert all(f"- {note}" in with_notes for note in wanted)
        assert with_notes.replace("\n".join(["[definitions]", *(f"- {note}" for note in wanted)]) + "\n", "") == tail


@pytest.mark.parametrize(
    ("level", "wanted"),
    [
        ("1", {"ko": ["접촉 시각", "상대차", "차로", "신호", "같은 도로", "교차하는 도로"],
               "en": ["contact", "counterpart", "lanes", "signals", "same road", "crossing roads"]}),
        ("2", {"ko": ["왼쪽부터 1", "N차로에서 M차로로", "왼쪽에서", "금지", "parallel same-direction", "oncoming",
                      "perpendicular", "정확히 하나", "영상 전체"],
               "en": ["from self's left, starting at 1", "lane N to lane M", "from the left", "from the right", "forbidden",
                      "exactly one", "parallel same-direction", "oncoming", "perpendicular", "whole clip"]}),
        ("3", {"ko": ["직전 1초", "합류", "각도와 관계없이", "다른 도로", "60도에서 120도", "가로지르는", "고른 코드", "시각", "되풀이하지"],
               "en": ["last second before first contact", "merges or changes into self's road", "whatever its angle",
                      "another road", "60 to 120 degrees", "going across", "cite the code you chose", "times", "do not repeat"]}),
    ],
)  # fmt: skip
@pytest.mark.parametrize("language", ["ko", "en"])
def test_each_level_of_grounding_says_all_that_it_stands_for_and_keeps_what_the_level_below_says(
    level: str, wanted: dict[str, list[str]], language: str
) -> None:
    def system(grounding: str) -> str:
        requests = requests_of(Condition(language=language, grounding=grounding))
        texts = {request["messages"][0]["content"] for request in requests.values()}
        assert len(texts) == 1
        return str(texts.pop())

    text, below = system(level), system(str(int(level) - 1))
    assert text.startswith(below)
    added = text.removeprefix(below)
    assert not [words for words in wanted[language] if words not in added]


def test_earlier_answers_are_marked_as_claims_and_reasons_come_only_under_a2() -> None:
    for language, word in (("ko", "주장"), ("en", "claims, not facts")):
        by_level = {level: requests_of(Condition(language=language, context=level)) for level in "012"}
        tails = {
            level: [
                request["messages"][1]["content"][-1]["text"]
                for key, request in requests.items()
                if key[1] == "q_order"
            ]
            for level, requests in by_level.items()
        }
        (none,), (claims,), (reasons,) = tails["0"], tails["1"], tails["2"]
        assert "[earlier answers]" not in none
        assert word in claims
        assert "q_collision (none): vehicle_contact\n" in claims
        assert "q_collision (none): vehicle_contact — seen\n" in reasons


def test_a_prompt_holds_no_answer_of_its_own_round_and_none_that_cannot_be_observed() -> None:
    run = Simulation(make_context(Condition(context="2")), known, Random(0)).run()
    gates = [key for key, turn in run.state.turns.items() if turn.opened.round == 1]
    context, templates = run.context, load_templates("ko")
    for key, turn in run.state.turns.items():
        tail = build_prompt(templates, context, run.state, turn.opened, table=None, scene=None).tail
        earlier = {TurnKey(*match) for match in re.findall(r"^- (q_\w+) \((\w+)\):", tail, re.MULTILINE)}
        opened = {each: run.state.turns[each].opened for each in earlier}
        assert all(each.round < turn.opened.round for each in opened.values())
        assert all(context.asked(each).observable for each in earlier)
        if key in gates:
            assert not earlier
