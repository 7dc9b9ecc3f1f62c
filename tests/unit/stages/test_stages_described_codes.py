"""Every question that a description can settle: for each of its codes a sentence in English and one in Korean."""

import pytest

from vlmrec.engine.reference import load_reference, versions
from vlmrec.stages.describe import is_mapped, map_description
from vlmrec.stages.describe_scene import SCENE
from vlmrec.stages.describe_vehicle import VEHICLES, YES_NO
from vlmrec.terms import Party, Status

LEDGER = load_reference(versions()[-1]).ledger
OBSERVABLE = [question for question in LEDGER.questions if question.observable]
OLDEST = load_reference("0.1.1").ledger

# question: code: what is said of the scene, or of the other vehicle
SAID: dict[str, dict[str, tuple[str, str]]] = {
    "q_vehicle_kind": {
        "car": ("The other vehicle is a grey sedan.", "상대 차량은 흰색 승용차다."),
        "truck": ("The other vehicle is a small delivery truck.", "상대 차량은 파란 화물차이다."),
        "bus": ("The other vehicle is a city bus.", "상대 차량은 시내버스다."),
        "motorcycle": ("The other vehicle is a motorcycle.", "상대 차량은 오토바이다."),
        "bicycle": ("The other vehicle is a bicycle.", "상대방은 자전거다."),
        "personal_mobility": ("The other party is an electric kick scooter.", "상대방은 전동 킥보드다."),
        "pedestrian": ("The other party is a pedestrian.", "상대방은 보행자다."),
        "other_kind": ("The other party is a deer.", "상대방은 고라니, 곧 동물이다."),
    },
    "q_lanes_per_direction": {
        "one": ("There is one lane in the direction of travel.", "진행 방향은 편도 1차로이다."),
        "two": ("The road has two lanes on this side.", "진행 방향 차로는 2개다."),
        "three_or_more": ("There are four lanes in this direction.", "진행 방향은 편도 3차로 도로다."),
    },
    "q_congestion": {
        "yes": ("Traffic was crawling in a long jam.", "차량들이 정체로 서 있었다."),
        "no": ("Traffic was flowing freely.", "정체는 없었다."),
    },
    "q_visibility": {
        "clear": ("It is daylight and the view is clear.", "맑은 낮이라 시야가 좋다."),
        "poor": ("It happens at night in heavy rain.", "야간이고 비가 내린다."),
    },
    "q_surroundings": {
        "residential_or_shopping": ("It is a narrow residential street.", "주택가 골목길이다."),
        "elsewhere": ("It is a main road, not a residential area.", "고속도로다."),
    },
    "q_no_overtaking_place": {
        "yes": ("It happens inside a tunnel.", "추월이 금지된 다리 위다."),
        "no": ("Overtaking is allowed here.", "교차로나 터널이 아니다."),
    },
    "q_hazardous_place": {
        "yes": ("The collision is in a sharp bend.", "급커브 구간이다."),
        "no": ("It is a straight road.", "곧은 도로다."),
    },
    "q_centre_line": {
        "solid_yellow": ("The centre line is a double yellow.", "중앙선은 황색 실선이다."),
        "dashed_yellow": ("The centre line is a broken yellow one.", "중앙선은 노란 점선이다."),
        "barrier": ("A concrete barrier separates the directions.", "중앙분리대가 있다."),
        "none": ("There is no centre line.", "중앙선이 없다."),
    },
    "q_lane_relation": {
        "same_lane": ("Both are in the same lane.", "두 차량은 같은 차로에 있었다."),
        "adjacent_lane": ("They drive in adjacent lanes.", "상대 차량은 옆 차로에 있었다."),
        "two_lanes_apart": ("They are two lanes apart.", "한 차로를 사이에 두고 달렸다."),
        "lane_vs_shoulder": ("One of them is on the shoulder.", "상대 차량은 갓길에 있었다."),
        "lane_vs_roadside": ("The other vehicle waits at the edge of the road.", "상대 차량은 길가에 있었다."),
        "lane_vs_access": ("The other vehicle comes out of a car park.", "상대 차량은 주유소에서 나왔다."),
    },
    "q_order": {
        "self_ahead": ("The other vehicle follows.", "상대 차량이 뒤따르고 있었다."),
        "other_ahead": ("The recording vehicle drives behind.", "상대 차량이 바로 앞에 있었다."),
        "side_by_side": ("They are abreast of each other.", "두 차량은 나란히 달렸다."),
    },
    "q_first_to_move": {
        "self_first": ("The recording vehicle began to change lanes first.", "블랙박스 차량이 먼저 차로를 바꾸기 시작했다."),
        "other_first": ("The other vehicle moves over first.", "상대 차량이 먼저 움직였다."),
        "together": ("Both begin at about the same time.", "둘은 거의 동시에 움직였다."),
    },
    "q_change_direction_relation": {
        "same_side": ("Both moved over to the same side.", "두 차량 모두 왼쪽으로 옮겼다."),
        "opposite_sides": ("They moved to opposite sides.", "서로 반대쪽으로 옮겨 갔다."),
    },
    "q_falling_object": {
        "self_lost": ("The recording vehicle lost a box.", "블랙박스 차량에서 상자가 떨어졌다."),
        "other_lost": ("A pallet falls off the other truck.", "상대 차량에서 짐이 떨어졌다."),
        "nobody": ("Nothing fell.", "떨어진 물체는 없다."),
    },
    "q_overtaking": {
        "none": ("The other vehicle did not pass.", "상대 차량은 추월하지 않았다."),
        "passing": ("The other vehicle overtakes.", "상대 차량이 옆을 지나갔다."),
        "cut_in": ("The other vehicle overtakes and cuts in.", "상대 차량이 추월한 뒤 앞으로 끼어들었다."),
    },
    "q_prior_stop_kind": {
        "none": ("The other vehicle was moving all along.", "상대 차량은 멈추지 않고 계속 주행했다."),
        "on_the_way": ("The other vehicle had stopped for a red light.", "상대 차량은 신호 대기 중이었다."),
        "queue": ("The other vehicle stood in a queue.", "상대 차량은 대기 행렬에 서 있었다."),
        "standing": ("The other vehicle was parked at the kerb.", "상대 차량은 길가에 주차되어 있었다."),
        "bus_stop": ("The other vehicle stood at a bus stop.", "상대 차량은 버스정류장에 서 있었다."),
    },
    "q_target_lane_relation": {
        "rivals_lane": (
            "The other vehicle moved into the lane that the recording vehicle was in.",
            "상대 차량은 블랙박스 차량이 달리던 차로로 들어왔다.",
        ),
        "common_lane": ("The other vehicle moved into the same lane at that time.", "상대 차량은 같은 차로로 들어왔다."),
        "shoulder": ("The other vehicle moved onto the shoulder.", "상대 차량은 갓길로 나갔다."),
        "elsewhere": ("The other vehicle moved into an empty lane.", "상대 차량은 빈 차로로 옮겼다."),
    },
    "q_motion_at_contact": {
        "moving": ("The other vehicle was still moving.", "상대 차량은 달리고 있었다."),
        "just_stopped": ("The other vehicle had just stopped.", "상대 차량은 신호 대기 중이었다."),
        "standing": ("The other vehicle was parked.", "상대 차량은 고장으로 서 있었다."),
        "moving_off": ("The other vehicle was just pulling away.", "상대 차량은 막 출발하던 중이었다."),
    },
    "q_stop_place": {
        "in_lane": ("The other vehicle stood in the second lane.", "상대 차량은 차로 한가운데 서 있었다."),
        "road_edge": ("The other vehicle stood at the side of the road.", "상대 차량은 길가에 서 있었다."),
        "shoulder": ("The other vehicle stood on the hard shoulder.", "상대 차량은 갓길에 서 있었다."),
        "bus_stop": ("The other vehicle stood in a bus bay.", "상대 차량은 버스정류장에 서 있었다."),
    },
    "q_stop_reason": {
        "traffic_or_signal": ("The other vehicle stopped at a red light.", "상대 차량은 신호 때문에 멈췄다."),
        "hazard_ahead": ("The other vehicle stopped for an animal.", "상대 차량은 장애물을 보고 멈췄다."),
        "earlier_accident": ("The other vehicle stood there after an earlier accident.", "상대 차량은 선행 사고로 멈춰 있었다."),
        "breakdown": ("The other vehicle had broken down.", "상대 차량은 고장으로 멈췄다."),
        "parked_or_waiting": ("The other vehicle was waiting for passengers.", "상대 차량은 승객을 태우고 있었다."),
        "no_visible_reason": ("The other vehicle stopped for no visible reason.", "상대 차량은 보이는 이유가 없이 멈췄다."),
    },
    "q_contact_area": {
        "front": ("The front of the other vehicle was hit.", "상대 차량의 앞범퍼가 부딪쳤다."),
        "front_corner": ("It was the front left corner of the other vehicle.", "상대 차량의 앞 모서리가 부딪쳤다."),
        "side": ("The other vehicle's right side was touched.", "상대 차량의 옆면이 긁혔다."),
        "rear_corner": ("The other vehicle's rear corner was hit.", "상대 차량의 뒤 모서리에 닿았다."),
        "rear": ("The other vehicle was hit in the rear.", "상대 차량의 뒷부분이 부서졌다."),
    },
    "q_lane_ends": {
        "yes": ("The other vehicle was in a lane that soon ends: the lane ends there.", "상대 차량이 달리던 차로가 끝난다."),
        "no": ("The lane of the other vehicle continues; its lane does not end.", "상대 차량의 차로는 계속 이어진다."),
    },
    "q_safety_zone": {
        "not_crossed": ("The other vehicle did not touch the safety zone.", "상대 차량은 안전지대를 지나지 않았다."),
        "inside_or_at_edge": ("The other vehicle was still inside the hatched zone.", "상대 차량은 안전지대 안에 있었다."),
        "fully_left": ("The other vehicle was completely clear of the hatched zone.", "상대 차량은 안전지대를 완전히 벗어난 뒤였다."),
    },
    "q_shoulder_driving": {
        "yes": ("The other vehicle drove along the shoulder.", "상대 차량은 갓길로 달렸다."),
        "no": ("The other vehicle was not on the shoulder.", "상대 차량은 갓길로 달리지 않았다."),
    },
    "q_lane_change_direction": {
        "left": ("The other vehicle moved over to the left.", "상대 차량은 왼쪽으로 옮겨 갔다."),
        "right": ("The other vehicle went from the left lane into the right.", "상대 차량은 왼쪽 차로에서 오른쪽 차로로 옮겼다."),
    },
    "q_overtaking_side": {
        "left": ("The other vehicle passed on the left.", "상대 차량은 왼쪽으로 지나갔다."),
        "right": ("The other vehicle passed on the right side.", "상대 차량은 우측으로 지나갔다."),
    },
    "q_overtaking_gap": {
        "close": ("The other vehicle started from right behind.", "상대 차량은 바짝 붙어 있다가 나왔다."),
        "ample": ("The other vehicle started from an ample distance.", "상대 차량은 충분한 거리를 두고 시작했다."),
    },
    "q_centre_line_crossed": {
        "yes": ("The other vehicle crossed the centre line.", "상대 차량이 중앙선을 넘었다."),
        "no": ("The other vehicle did not cross the centre line.", "상대 차량은 중앙선을 넘지 않았다."),
    },
    "q_lane_line": {
        "dashed_white": ("The other vehicle crossed a dashed line.", "상대 차량은 점선을 넘었다."),
        "solid_white": ("The other vehicle crossed a solid white line.", "상대 차량은 흰색 실선을 넘었다."),
        "none": ("The road where the other vehicle moved over is unmarked.", "상대 차량이 옮긴 곳에는 차선이 없다."),
    },
    "q_road_entry": {
        "none": ("The other vehicle was already on the main road.", "상대 차량은 도로에서 계속 달리던 중이었다."),
        "right_turn": ("The other vehicle came out of an alley, turning right.", "상대 차량은 주차장에서 우회전으로 나왔다."),
        "left_turn": ("The other vehicle turned left out of the petrol station.", "상대 차량은 골목에서 좌회전으로 들어왔다."),
    },
    "q_turn_signal": {
        "in_time": ("The other vehicle signalled in good time.", "상대 차량은 방향지시등을 미리 켰다."),
        "late": ("The other vehicle signalled too late.", "상대 차량은 뒤늦게 방향지시등을 켰다."),
        "none": ("The other vehicle did not signal.", "상대 차량은 방향지시등을 켜지 않았다."),
    },
    "q_early_intent": {
        "yes": ("The other vehicle had already signalled.", "상대 차량은 이미 방향지시등을 켜고 있었다."),
        "no": ("The other vehicle had not already signalled.", "상대 차량은 먼저 방향지시등을 켜지 않았다."),
    },
    "q_consecutive_lane_changes": {
        "yes": ("The other vehicle crossed several lanes.", "상대 차량은 여러 차로를 연달아 바꿨다."),
        "no": ("The other vehicle changed only one lane.", "상대 차량은 한 차로만 옮겼다."),
    },
    "q_change_distance": {
        "far": ("The other vehicle finished its change far behind.", "상대 차량은 멀리 뒤에서 차로 변경을 마쳤다."),
        "near": ("The other vehicle finished its change right in front.", "상대 차량은 바로 앞에서 차로를 바꿨다."),
    },
    "q_bus_lane": {
        "yes": ("The other vehicle used the bus lane.", "상대 차량은 버스전용차로를 달렸다."),
        "no": ("The other vehicle was not in a bus lane.", "상대 차량은 전용차로에 있지 않았다."),
    },
    "q_passing_lane": {
        "yes": ("The other vehicle was in the passing lane.", "상대 차량은 추월차로에 있었다."),
        "no": ("The other vehicle was in lane 2.", "상대 차량은 2차로에 있었다."),
    },
    "q_target_passing_lane": {
        "yes": ("The other vehicle moved into the passing lane.", "상대 차량은 1차로로 옮겼다."),
        "no": ("The other vehicle moved into lane 3.", "상대 차량은 3차로로 옮겼다."),
    },
    "q_brake_lamps": {
        "working": ("The brake lamps of the other vehicle light up.", "상대 차량의 제동등이 켜졌다."),
        "not_working": ("The brake lights of the other vehicle did not come on.", "상대 차량의 제동등이 켜지지 않았다."),
    },
    "q_hazard_lamps": {
        "on": ("The hazard lights of the other vehicle were flashing.", "상대 차량은 비상점멸등을 켜고 있었다."),
        "off": ("The other vehicle stood there without hazard lights.", "상대 차량의 비상등은 꺼져 있었다."),
    },
    "q_warning_sign": {
        "set_up": ("A warning triangle stood behind the other vehicle.", "상대 차량 뒤에 안전삼각대가 설치되어 있었다."),
        "not_set_up": ("There was no warning triangle behind the other vehicle.", "상대 차량 뒤에 안전표지가 없었다."),
    },
    "q_lane_occupied": {
        "partly": ("The other vehicle stood partly in the lane.", "상대 차량은 차로 일부를 막고 있었다."),
        "not_at_all": ("The other vehicle stood clear of the lane.", "상대 차량은 차로를 차지하지 않았다."),
    },
    "q_no_stopping_place": {
        "yes": ("The other vehicle stood in a no-stopping zone.", "상대 차량은 주정차 금지 구역에 서 있었다."),
        "no": ("Stopping is allowed where the other vehicle stood.", "상대 차량이 선 곳은 주정차가 허용된다."),
    },
    "q_parking_manner": {
        "proper": ("The other vehicle was parked properly.", "상대 차량은 올바르게 주차되어 있었다."),
        "improper": ("The other vehicle was double-parked.", "상대 차량은 이중주차를 했다."),
    },
    "q_escape_room": {
        "possible": ("The other vehicle had room to get away.", "상대 차량은 피할 공간이 있었다."),
        "impossible": ("The other vehicle had no room to get away.", "상대 차량은 피할 수 없었다."),
    },
    "q_braking_manner": {
        "sudden": ("The other vehicle braked hard.", "상대 차량이 급제동했다."),
        "normal": ("The other vehicle slowed down gradually.", "상대 차량은 서서히 멈췄다."),
    },
    "q_driving_slow": {
        "yes": ("The other vehicle drove unusually slowly.", "상대 차량은 지나치게 저속으로 달렸다."),
        "no": ("The other vehicle drove at a normal speed.", "상대 차량은 흐름에 맞춰 달렸다."),
    },
    "q_following_gap": {
        "sufficient": ("The other vehicle kept a safe distance.", "상대 차량은 안전거리를 유지했다."),
        "insufficient": ("The other vehicle was tailgating.", "상대 차량은 안전거리를 지키지 않았다."),
    },
    "q_slowing": {
        "slowed": ("The other vehicle slowed down first.", "상대 차량은 서행하며 들어왔다."),
        "did_not_slow": ("The other vehicle did not slow down.", "상대 차량은 속도를 줄이지 않았다."),
    },
    "q_nose_out": {
        "yes": ("The other vehicle waited with its nose in the road.", "상대 차량은 앞부분을 내민 채 기다렸다."),
        "no": ("No, nothing of the other vehicle was in the road.", "상대 차량은 앞부분을 도로에 내밀지 않았다."),
    },
    "q_closed_to_centre": {
        "yes": ("The other vehicle had moved close to the centre line.", "상대 차량은 중앙선 쪽으로 다가섰다."),
        "no": ("The other vehicle had not moved to the centre line.", "상대 차량은 중앙선 쪽으로 붙지 않았다."),
    },
    "q_edge_crossed": {
        "yes": ("The other vehicle crossed the edge line.", "상대 차량은 길가장자리선을 넘었다."),
        "no": ("The other vehicle did not cross the edge of the road.", "상대 차량은 도로 경계를 넘지 않았다."),
    },
    "q_pass_after_lane_entry": {
        "yes": ("The other vehicle passed right after entering the lane.", "상대 차량은 진입하자마자 앞질렀다."),
        "no": ("The other vehicle did not pass right after entering the lane.", "아니요, 상대 차량은 한참 뒤에 앞질렀다."),
    },
    "q_right_turn_manner": {
        "normal": ("The other vehicle turned right in the usual way.", "상대 차량은 통상적으로 우회전했다."),
        "wide": ("The other vehicle turned right in a wide arc.", "상대 차량은 크게 돌아 우회전했다."),
        "sudden": ("The other vehicle turned right suddenly.", "상대 차량은 급하게 우회전했다."),
        "wide_and_sudden": ("The other vehicle turned right in a wide arc and suddenly.", "상대 차량은 크게, 급하게 우회전했다."),
    },
    "q_yielded": {
        "yes": ("The other vehicle gave way.", "상대 차량은 양보했다."),
        "no": ("The other vehicle did not give way.", "상대 차량은 양보하지 않았다."),
    },
    "q_blocked_overtaking": {
        "yes": ("The other vehicle sped up.", "상대 차량은 속도를 높여 막아섰다."),
        "no": ("The other vehicle did not obstruct it.", "상대 차량은 방해하지 않았다."),
    },
    "q_u_turn_place": {
        "inside_zone": ("The other vehicle turned inside the U-turn zone.", "상대 차량은 유턴구역 안에서 돌았다."),
        "outside_zone": ("The other vehicle turned outside the U-turn zone.", "상대 차량은 유턴구역 밖에서 돌았다."),
    },
    "q_u_turn_progress": {
        "under_way": ("The other vehicle was in the middle of its U-turn.", "상대 차량은 유턴 중이었다."),
        "just_completed": ("The other vehicle had just completed its U-turn.", "상대 차량은 유턴을 막 마친 상태였다."),
    },
    "q_school_bus": {
        "yes": ("The other vehicle is a school bus.", "상대 차량은 어린이 통학버스다."),
        "no": ("The other vehicle is not a school bus.", "상대 차량은 통학버스가 아니다."),
    },
    "q_speed": {
        "within_limit": ("The other vehicle kept within the speed limit.", "상대 차량은 제한속도를 지켰다."),
        "under_10": ("The other vehicle was less than 10 km/h too fast.", "상대 차량은 10 km/h 미만으로 빨랐다."),
        "from_10_to_20": ("The other vehicle was 10 to 20 km/h too fast.", "상대 차량은 10에서 20 km/h 정도 빨랐다."),
        "over_20": ("The other vehicle was more than 20 km/h too fast.", "상대 차량은 20 km/h 초과로 빨랐다."),
    },
    "q_lookout": {
        "poor": ("The other vehicle failed to react.", "상대 차량은 반응하지 않았다."),
        "adequate": ("The other vehicle braked at once.", "상대 차량은 곧바로 제동했다."),
    },
    "q_handling": {
        "wrong": ("The driver of the other vehicle lost control.", "상대 차량의 조작이 잘못됐다."),
        "ordinary": ("The other vehicle was steered in the usual way.", "상대 차량의 조작은 통상적이었다."),
    },
}  # fmt: skip
OLDER = {"q_collision", "q_direction_relation", "q_road_class", "q_place", "q_maneuver"}
"""Their sentences are in test_stages_describe.py."""
SENTENCES = [
    (question, code, text) for question, codes in SAID.items() for code, texts in codes.items() for text in texts
]
OF_A_VEHICLE = [row for row in SENTENCES if row[0] in VEHICLES]


def said(question: str, party: Party, text: str) -> str | None:
    described = map_description(question, text, party, LEDGER.question(question).codes)
    return described.value or (described.status.value if described.status is not None else None)


def party_of(question: str) -> Party:
    return Party.OTHER if question in VEHICLES else Party.NONE


def turned_round(text: str) -> str:
    """The same said of the recording vehicle, and of the other what was said of it."""
    pairs = [("other vehicle", "recording vehicle"), ("other party", "recording car"), ("상대 차량", "블랙박스 차량"),
             ("상대방", "자차")]  # fmt: skip
    for place, (theirs, ours) in enumerate(pairs):
        text = text.replace(theirs, f"<{place}>").replace(ours, theirs).replace(f"<{place}>", ours)
    return text


def test_every_question_that_can_be_seen_has_rules_and_every_code_a_sentence_here() -> None:
    assert all(is_mapped(question.id) for question in OBSERVABLE)
    for question in OBSERVABLE:
        if question.id not in OLDER:
            assert set(SAID[question.id]) == set(question.codes), question.id


def test_questions_of_the_older_ledger_alone_have_rules_too() -> None:
    alone = [question for question in OLDEST.questions if question.observable and question.id not in LEDGER]
    assert alone
    for question in alone:
        assert {rule.code for rule in VEHICLES[question.id]} == set(question.codes)
    text = "The other vehicle stood in a queue."
    assert map_description("q_queue_stop", text, Party.OTHER, ("yes", "no")).value == "yes"
    assert (
        map_description("q_queue_stop", f"{text[:17]} did not stand in a queue.", Party.OTHER, ("yes", "no")).value
        == "no"
    )


def test_declared_codes_are_codes_of_the_ledger() -> None:
    for question, rules in {**SCENE, **VEHICLES}.items():
        asked = LEDGER if question in LEDGER else OLDEST
        codes = {*asked.question(question).codes, *(["over_limit"] if question == "q_speed" else [])}
        assert {rule.code for rule in rules} | {code for rule in rules for code in rule.beats} <= codes, question
    for question, pair in YES_NO.items():
        assert set(pair) <= set(LEDGER.question(question).codes)


@pytest.mark.parametrize(("question", "code", "text"), SENTENCES)
def test_a_sentence_is_mapped_to_its_code(question: str, code: str, text: str) -> None:
    assert said(question, party_of(question), text) == code


@pytest.mark.parametrize(("question", "code", "text"), OF_A_VEHICLE)
def test_what_is_said_of_one_vehicle_is_not_said_of_the_other(question: str, code: str, text: str) -> None:
    assert said(question, Party.SELF, turned_round(text)) == code
    if not text.startswith(("No", "아니요")):
        assert said(question, Party.SELF, text) in (None, Status.UNKNOWN.value)


@pytest.mark.parametrize(
    ("question", "party", "text", "expected"),
    [
        # a reply that begins with the answer, and one whose "it" is the vehicle asked about
        ("q_yielded", Party.OTHER, "Yes, at 3 s.", "yes"),
        ("q_yielded", Party.SELF, "아니요.", "no"),
        ("q_brake_lamps", Party.OTHER, "No, they stayed dark.", "not_working"),
        ("q_turn_signal", Party.SELF, "It does not signal at all.", "none"),
        ("q_turn_signal", Party.OTHER, "It signals in good time.", "in_time"),
        ("q_turn_signal", Party.OTHER, "No other car is near.", None),
        # the code's own words, and nothing else before the reason
        ("q_contact_area", Party.OTHER, "Rear (it was straight ahead).", "rear"),
        ("q_maneuver", Party.SELF, "From 0.0 s to 4.0 s: straight (it kept its place between the lines).", "straight"),
        ("q_prior_stop_kind", Party.SELF, "None.", "none"),
        ("q_prior_stop_kind", Party.SELF, "None of them is near.", None),
        ("q_order", Party.NONE, "Other ahead, by two car lengths.", "other_ahead"),
        # what can't be seen is not denied
        ("q_collision", Party.NONE, "This can't be seen: a knock, and no vehicle in contact range.", "unknown"),
        ("q_shoulder_driving", Party.OTHER, "The other vehicle is not on the shoulder, but before that it cannot be seen.", "unknown"),
        # two codes, or doubt
        ("q_lane_line", Party.OTHER, "The line is dashed at first, then solid.", "unknown"),
        ("q_yielded", Party.OTHER, "Yes, but it did not give way.", "unknown"),
        ("q_braking_manner", Party.OTHER, "Whether it braked hard can't be seen.", "unknown"),
        ("q_centre_line_crossed", Party.OTHER, "It may have crossed the centre line.", None),
        ("q_hazard_lamps", Party.OTHER, "비상등은 화면에 보이지 않는다.", "off_screen"),
        # words that are about something else
        ("q_visibility", Party.NONE, "A dark car follows.", None),
        ("q_stop_reason", Party.OTHER, "The other vehicle had its turn signal on.", None),
        ("q_slowing", Party.OTHER, "Traffic is slow.", None),
        ("q_blocked_overtaking", Party.OTHER, "The other vehicle could not prevent the collision.", None),
        ("q_motion_at_contact", Party.OTHER, "The other vehicle was not moving.", None),
        # whose part, and whose signal
        ("q_contact_area", Party.SELF, "The front of the other vehicle hits the rear of the recording vehicle.", "rear"),
        ("q_contact_area", Party.OTHER, "The front of the other vehicle hits the rear of the recording vehicle.", "front"),
        ("q_contact_area", Party.SELF, "상대 차량의 앞부분이 블랙박스 차량의 뒷부분을 들이받았다.", "rear"),
        ("q_contact_area", Party.OTHER, "상대 차량의 앞부분이 블랙박스 차량의 뒷부분을 들이받았다.", "front"),
        ("q_contact_area", Party.OTHER, "The left door.", "side"),
        ("q_turn_signal", Party.OTHER, "The recording vehicle did not signal.", None),
        ("q_turn_signal", Party.OTHER, "상대 차량은 방향지시등을 켜지 않았고, 블랙박스 차량은 미리 방향지시등을 켰다.", "none"),
        ("q_turn_signal", Party.SELF, "상대 차량은 방향지시등을 켜지 않았고, 블랙박스 차량은 미리 방향지시등을 켰다.", "in_time"),
    ],
)  # fmt: skip
def test_heads_pronouns_doubt_and_whose_it_is(question: str, party: Party, text: str, expected: str | None) -> None:
    assert said(question, party, text) == expected
