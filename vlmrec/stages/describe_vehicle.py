"""Words that settle a question about one of the two vehicles: declared rules, Korean and English. Pure data.

What a rule is, and what ``@V`` and ``@O`` stand for, says ``vlmrec.stages.describe_scene``.
"""

from vlmrec.stages.describe_scene import Rule, either

_SIGNAL = r"\b(?:signal(?:s|led|ed|ling|ing)?|indicat(?:es?|ed|ing|ors?)|turn (?:signals?|lamps?)|blinkers?)\b|방향\s?지시등|깜빡이"
_PASS = (
    r"\b(?:overtak(?:es?|en|ing)|overtook|pass(?:es|ed|ing)?(?! lane)|(?:goes|going|went) past)\b|앞질러|앞지르|앞질렀|추월(?!\s?차로)"
    r"|지나쳐|지나쳤|지나[가갔감간]"
)
_CUT_IN = (
    r"\bcut(?:s|ting)? in(?:to|side)?\b|\bmov(?:es?|ed|ing) (?:back )?(?:in|over) (?:right )?in front\b"
    r"|\b(?:comes?|came|pulls?|pulled) (?:back )?in(?:to its lane)? (?:right )?(?:in front|ahead)\b|끼어들|앞으로 (?:끼어|들어|진입)"
)
_QUEUE = (
    r"\bin (?:a|the) (?:queue|line of (?:cars|vehicles|traffic)|(?:traffic )?jam|jammed lane|congestion)\b|\bqueu(?:ed|ing|eing)\b"
    r"|대기\s?(?:행렬|줄)|정체 (?:차로|구간|행렬)|줄지어|줄을 서"
)
_ZONE = r"\b(?:hatched|safety|striped|painted|chevron)(?: safety)? (?:zone|area|island|markings)\b|안전\s?지대"
_SHOULDER = r"\b(?:hard )?shoulder\b|갓길"
_BUS_STOP = r"\bbus (?:stop|bay)\b|버스\s?(?:정류장|정류소|베이)"
_OVER_CENTRE = (
    r"\bcross(?:es|ed|ing)? (?:over )?(?:the |a )?(?:\w+ )?cent(?:re|er) ?line\b|\b(?:over|beyond|across) the cent(?:re|er) ?line\b"
    r"|중앙선(?:을|를)?\s?(?:넘|침범|가로)"
)
_PASSING_LANE = (
    r"\b(?:passing|overtaking|fast|leftmost|innermost) lane\b|\blane (?:1|one)\b|추월\s?차로|(?<!\d)1\s?차로"
)
_OTHER_LANE = r"\blane [2-9]\b|(?<!\d)[2-9]\s?차로"
_BRAKE_LAMPS = (
    r"\b(?:brake|tail) (?:lamps?|lights?) (?:\w+ ){0,6}?(?:works?|worked|working|lit|lights? up|c[ao]mes? on|go(?:es)? on|went on|(?:is|are|were|was) on)\b"
    r"|(?:제동등|브레이크\s?등|미등)(?:이|은|을|도)?\s?(?:\S+ )?(?:켜|점등|정상|작동|들어)"
)
_HAZARDS = (
    r"\b(?:hazard|warning) (?:lamps?|lights?|flashers?) (?:\w+ ){0,6}?(?:on|flash\w*|blink\w*|lit)\b"
    r"|비상\s?(?:점멸)?등(?:을|이|은)?\s?(?:\S+ )?(?:켜|켠|켰|점멸|깜빡|작동)"
)
_SUDDEN = (
    r"\b(?:sudden(?:ly)?|abrupt(?:ly)?|hard|emergency) (?:brak\w+|stop\w*)\b|\b(?:brak|stop)\w* (?:\w+ )?(?:suddenly|abruptly|hard|sharply)\b|\bslams?\b"
    r"|급\s?(?:정지|정거|제동|브레이크)|(?:급하게|급히|갑자기) (?:멈|정지|제동|서)"
)
_SAFE_GAP = r"\b(?:safe|sufficient|enough|adequate|ample|proper) (?:following )?(?:distance|gap)\b|충분한 (?:거리|간격)|안전\s?거리(?!\s?(?:미확보|부족))"
_SLOWED = r"\bslow(?:s|ed|ing)(?: down)?\b|\bslow down\b|\bdecelerat\w+|\breduc(?:es|ed|ing) (?:its )?speed\b|서행|감속|속도를 (?:줄|낮)"
_YIELDED = r"\byield(?:s|ed|ing)?\b|\bg(?:ives?|ave|iving) way\b|\blet(?:s|ting)? (?:it|@O) (?:pass|by)\b|양보"
_EXCEEDS = r"\bexceed(?:s|ed|ing)? the (?:speed )?limit\b|\bover the (?:speed )?limit\b|과속|제한\s?속도를? (?:넘|초과)"
_LEFT = r"\b(?:to|into|onto|towards?) (?:the |its |my |our )?left\b|\bleftwards?\b|(?:왼쪽|좌측|왼편)(?: 차로| 차선)?(?:으로|로)"
_RIGHT = r"\b(?:to|into|onto|towards?) (?:the |its |my |our )?right\b|\brightwards?\b|(?:오른쪽|우측|오른편)(?: 차로| 차선)?(?:으로|로)"
_BY_LEFT = (
    r"\b(?:on|by|from|along) (?:the |its )?left(?: side)?\b|\bto the left of\b|(?:왼쪽|좌측|왼편)(?:으로|에서|을)?"
)
_BY_RIGHT = r"\b(?:on|by|from|along) (?:the |its )?right(?: side)?\b|\bto the right of\b|(?:오른쪽|우측|오른편)(?:으로|에서|을)?"

_SIDES = r"(?:left|right|driver'?s|passenger|near|off)"
_PARTS: tuple[tuple[str, str, str], ...] = (
    ("front_corner", rf"(?:front[- ]{_SIDES} (?:corner|fender|wing)|{_SIDES}[- ]front (?:corner|fender|wing)|front (?:{_SIDES} )?(?:corner|fender|wing))",
     r"(?:앞\s?(?:왼쪽\s?|오른쪽\s?)?(?:모서리|휀더|펜더)|(?:왼쪽|오른쪽|좌측|우측|조수석|운전석)\s?앞\s?(?:모서리|휀더|펜더|부분))"),
    ("rear_corner", rf"(?:rear[- ]{_SIDES} (?:corner|fender|wing)|{_SIDES}[- ]rear (?:corner|fender|wing)|rear (?:{_SIDES} )?(?:corner|fender|wing))",
     r"(?:뒤\s?(?:왼쪽\s?|오른쪽\s?)?(?:모서리|휀더|펜더)|(?:왼쪽|오른쪽|좌측|우측)\s?뒤\s?(?:모서리|휀더|펜더|부분))"),
    ("front", r"(?:front(?: end| bumper)?|bonnet|hood)(?! (?:left|right|corner|fender|wing))", r"(?:앞면|앞부분|전면|앞\s?범퍼|앞쪽)"),
    ("side", rf"(?:(?:{_SIDES} )?(?:side|flank|doors?))", r"(?:옆면|측면|옆구리|옆부분|옆쪽|문짝)"),
    ("rear", r"(?:rear(?: end| bumper)?|back|tail|boot|trunk)(?! (?:left|right|corner|fender|wing))", r"(?:뒷면|뒷부분|후면|뒤\s?범퍼|후미|뒤쪽)"),
)  # fmt: skip


def _area(code: str, en: str, ko: str) -> tuple[Rule, ...]:
    """A part of the vehicle asked about: named as its own, struck with or in it, or with no vehicle named beside it."""
    beats = (code.removesuffix("_corner"), "side") if code.endswith("_corner") else ()
    return (
        Rule(code, rf"\b{en} of (?:the )?@V\b|@V(?:'s|’s) (?:\w+ )?{en}\b|@V(?:의)?\s(?:\S+\s)?{ko}|@V의 ?{ko}", beats=beats),
        Rule(code, rf"\bwith (?:its|the) {en}\b|\b(?:hit|struck|rear-ended|contacted) (?:from|in|on|at) (?:the |its ){en}\b", beats=beats),
        Rule(code, rf"\b{en}\b|{ko}", beats=beats, alone=True),
    )  # fmt: skip


def _kind(code: str, en: str, ko: str, beats: tuple[str, ...] = ()) -> Rule:
    said = rf"\b@V (?:is|was|appears as|looks like) (?:an? |the )?(?:\w+ ){{0,3}}?(?:{en})\b"
    return Rule(
        code, rf"{said}|@V(?:은|는|이|가)?\s?(?:[가-힣]+색\s?)?(?:\S+\s){{0,2}}?[가-힣]{{0,3}}?(?:{ko})", beats=beats
    )


VEHICLES: dict[str, tuple[Rule, ...]] = {
    "q_vehicle_kind": (
        _kind("truck", "truck|lorry|pickup", "트럭|화물차|덤프"),
        _kind("bus", "bus", "버스"),
        _kind("personal_mobility", "kick scooter|e-scooter|personal mobility device", r"(?:전동\s?)?킥보드|개인형\s?이동", beats=("motorcycle",)),
        _kind("motorcycle", "motorcycle|motorbike|scooter", "오토바이|이륜차|스쿠터"),
        _kind("bicycle", "bicycle|bike|cyclist", "자전거"),
        _kind("pedestrian", "pedestrian|person", "보행자|사람"),
        _kind("other_kind", "tram|train|animal|deer|dog|wall|guard ?rail|structure", "열차|기차|전차|동물|고라니|시설물|가드레일"),
        _kind("car", "car|sedan|suv|van|taxi|hatchback|minivan", "승용차|승합차|택시|세단|SUV"),
    ),
    "q_overtaking": (
        Rule("cut_in", _CUT_IN, beats=("passing",)),
        *either("passing", "none", _PASS),
        Rule("none", r"\b(?:stay|remain|kep|keep)\w* behind\b|뒤에 (?:머물|남)|뒤를 따라"),
    ),
    "q_prior_stop_kind": (
        Rule("none", r"\b(?:moving|driving|in motion|under way) (?:all along|throughout|all the time|the whole time|continuously)\b|\bwithout (?:ever )?stopping\b|\bnever (?:stopped|stood|stops)\b"
                     r"|\b(?:did|had|was|has|does) not (?:stop(?:ped)?|stand(?:ing)?|been standing)\b|(?:멈추|정지하|서|멈춰 있|서 있)지 않|계속 (?:주행|달리|달렸|진행)"),
        Rule("bus_stop", _BUS_STOP, beats=("standing", "on_the_way")),
        Rule("queue", _QUEUE, beats=("on_the_way", "standing")),
        Rule("on_the_way", r"\b(?:at|for) (?:an?|the) (?:\w+ )?(?:light|lights|signal|pedestrians?|crosswalk|(?:car|vehicle) (?:ahead|in front))\b|신호\s?(?:대기|에|를|때문|로)|보행자 때문|앞\s?차 때문|일시\s?정지"),
        Rule("standing", r"\bparked\b|\bpulled over\b|\b(?:standing|stood|stationary|stopped) (?:\w+ ){0,2}?(?:at|on|by|in) (?:the )?(?:edge|side|roadside|kerb|curb|lane|shoulder)\b|주차|정차|길가에 (?:서|멈)"),
    ),
    "q_target_lane_relation": (
        Rule("rivals_lane", r"\binto (?:the )?@O(?:'s|’s)? lane\b|\binto the lane (?:of|in which|that|where) (?:the )?@O\b|@O(?:이|가) (?:\S+ )?(?:달리던|있던|가던|주행하던|주행 중이던|진행하던) 차[로선](?:으로|로)|@O의 차[로선](?:으로|로)"),
        Rule("common_lane", r"\binto (?:the|a) (?:same|common) lane\b|\bboth (?:\w+ ){0,3}?(?:into|enter(?:ed)?) (?:the |a )?(?:same|one) lane\b|(?:같은|한) 차로로|함께 (?:\S+ )?차로로|차로로 함께"),
        Rule("shoulder", r"\b(?:onto|to|into) the (?:hard )?shoulder\b|갓길(?:로|쪽으로)"),
        Rule("elsewhere", r"\binto (?:an empty|some other|another,? (?:empty|free)|a free) lane\b|빈 차로로|그 밖의 차로|(?<!상대 차량이 달리던 )다른 차로로"),
    ),
    "q_motion_at_contact": (
        Rule("moving_off", r"\b(?:moving|pulling|setting|starting|moved|pulled|set|started) (?:off|away)\b|\bstarting to move\b|막 출발|출발하(?:는|던|고|려던)", beats=("moving", "standing", "just_stopped")),
        Rule("just_stopped", r"\bjust (?:stopped|halted|come to a (?:stop|halt))\b|\bhalted a moment before\b|\bwait(?:s|ed|ing) (?:at|for|in) (?:an?|the|traffic)\b|\b(?:stopped|standing|stood) (?:at|in|for) (?:an?|the) (?:\w+ )?(?:light|lights|signal|queue|jam)\b"
                             r"|막 (?:멈|정지|섰)|신호\s?대기|신호에 (?:걸려|멈)|정체로 (?:서|멈)", beats=("standing",)),
        Rule("standing", r"\bparked\b|\bbroken down\b|\bstationary\b|\bat a standstill\b|\b(?:standing|stood) (?:still )?(?:because|after|due)\b|\bstanding still\b|주차|고장|정차|사고로 (?:서|멈)|서 있"),
        Rule("moving", r"\b(?:was|is|were|are|still|kept|keeps) (?:still )?(?:moving|driving|in motion|travell?ing|rolling)\b|\bmoving (?:at|forwards?)\b|주행|달리(?:고|던|는)|움직이(?:고|던|는)|진행 중"),
    ),
    "q_stop_place": (
        Rule("bus_stop", _BUS_STOP),
        Rule("shoulder", _SHOULDER),
        Rule("road_edge", r"\b(?:at|on|by) the (?:edge|side) of the road\b|\b(?:road|kerb|curb)side\b|\b(?:kerb|curb|pavement|sidewalk)\b|도로 가장자리|길\s?가장자리|길가|보도에 걸"),
        Rule("in_lane", r"\bin (?:the|a|its|my|our) (?:\w+ ){0,2}?lane\b|\bin lane \d\b|차로\s?(?:안|에|위|상|한가운데)"),
    ),
    "q_stop_reason": (
        Rule("no_visible_reason", r"\b(?:no|without (?:any |a )?|for no) ?(?:visible|apparent|obvious)? ?reason\b|이유(?:가|는|도)?\s?(?:없|보이지 않)"),
        Rule("earlier_accident", r"\b(?:earlier|previous|prior|first) (?:accident|collision|crash)\b|선행\s?사고|(?:앞선|이전|먼저 난|앞서 난|앞서 일어난) 사고"),
        Rule("breakdown", r"\bbr(?:oke|oken) down\b|\bbreakdown\b|\b(?:engine failure|flat tyre|flat tire)\b|고장|펑크"),
        Rule("parked_or_waiting", r"\bparked\b|\bwait(?:s|ed|ing) for (?:an? )?(?:passengers?|people|someone|goods)\b|\b(?:un)?loading\b|\b(?:drop(?:s|ped|ping)?|pick(?:s|ed|ing)?) (?:\w+ )?(?:off|up)\b|주차|승하차|하차|승객을|짐을 (?:싣|내)|사람을 기다"),
        Rule("hazard_ahead", r"\b(?:an? |the )?(?:animal|obstacle|pedestrian|debris|hazard)\b|\bcut(?:s|ting)? in\b|동물|장애물|낙하물|끼어[드든들]|보행자"),
        Rule("traffic_or_signal", r"\b(?:red|traffic) lights?\b|(?<!turn )\bsignal\b|\b(?:traffic )?jam\b|\bqueue\b|\bcongestion\b|\b(?:car|vehicle) (?:ahead|in front)\b|신호|정체|앞\s?차(?:가|량이|량 때문|\s?때문)"),
    ),
    "q_contact_area": tuple(rule for part in _PARTS for rule in _area(*part)),
    "q_lane_ends": (
        *either("yes", "no", r"\blane (?:\w+ ){0,2}?(?:ends?|ended|ending|merges?|merged|joins?|joined)\b|(?:차로|차선)(?:가|이|는|은)?\s?(?:\S+ )?(?:끝나|끝난|줄어|합쳐|합류|감소)"),
        Rule("yes", r"(?:차로|차선)(?:가|이)?\s?없어"),
        Rule("no", r"\blane (?:continues|goes on|runs on)\b|차로(?:가|는)?\s?(?:이어|계속)"),
    ),
    "q_safety_zone": (
        Rule("fully_left", rf"\b(?:completely|fully|entirely|well) (?:clear of|out of|left|past) (?:the )?(?:{_ZONE})|안전\s?지대를? (?:완전히|이미) (?:벗어|빠져|지나)", beats=("inside_or_at_edge",)),
        *either("inside_or_at_edge", "not_crossed", _ZONE),
    ),
    "q_shoulder_driving": either("yes", "no", _SHOULDER),
    "q_lane_change_direction": (Rule("left", _LEFT), Rule("right", _RIGHT)),
    "q_overtaking_side": (Rule("left", _BY_LEFT), Rule("right", _BY_RIGHT)),
    "q_overtaking_gap": (
        Rule("close", r"\b(?:close|right|directly|immediately|just) behind\b|\btailgat\w+|\btoo close\b|바로 뒤|바짝|가까운 거리"),
        Rule("ample", r"\b(?:ample|sufficient|safe|enough|large|long) (?:distance|gap|room|space)\b|\bfar behind\b|충분한 (?:거리|간격)|멀리|거리를 (?:넉넉히 )?두고"),
    ),
    "q_centre_line_crossed": (
        *either("yes", "no", _OVER_CENTRE),
        Rule("no", r"\b(?:stay|keep|kep|remain)\w* (?:to|on) its (?:own )?side\b|자기 쪽 차로"),
    ),
    "q_lane_line": (
        Rule("dashed_white", r"\b(?:dashed|broken|dotted)(?: white)?\b|점선"),
        Rule("solid_white", r"\bsolid(?: white)?\b|실선"),
        Rule("none", r"\bno (?:lane )?(?:lines?|markings?)\b|\bwithout (?:any )?(?:lane )?(?:lines?|markings?)\b|\bunmarked\b|차선(?:이|은|도)?\s?없"),
    ),
    "q_road_entry": (
        Rule("right_turn", r"\bturn(?:s|ed|ing)? (?:to the )?right\b|\bright turn\b|우회전"),
        Rule("left_turn", r"\bturn(?:s|ed|ing)? (?:to the )?left\b|\bleft turn\b|좌회전"),
        Rule("none", r"\b(?:on the (?:main )?road|in its lane) (?:all along|throughout|all the time|already)\b|\b(?:was|is|stayed) (?:already )?on the (?:main )?road\b|도로에서 계속|계속 도로|본선을 (?:계속 )?(?:주행|달)"),
        Rule("none", r"\b(?:comes?|came|coming|emerg\w+|pull(?:s|ed|ing)?) (?:out )?(?:of|from|out)\b|(?:주차장|주유소|골목|출입로)에서 나", "denied"),
    ),
    "q_turn_signal": (
        Rule("none", _SIGNAL, "denied"),
        Rule("in_time", rf"(?:{_SIGNAL})(?: \w+){{0,4}}? (?:in (?:good )?time|early|beforehand|well before|in advance)\b|(?:방향\s?지시등|깜빡이)(?:을|를)? (?:\S+ )?미리|미리 (?:\S+ )?(?:방향\s?지시등|깜빡이)"),
        Rule("late", rf"(?:{_SIGNAL})(?: \w+){{0,4}}? (?:(?:too )?late|only (?:as|when|while|after|at))\b|\blate (?:{_SIGNAL})|(?:방향\s?지시등|깜빡이)(?:을|를)? (?:\S+ )?(?:늦게|뒤늦게)|뒤?늦게 (?:\S+ )?(?:방향\s?지시등|깜빡이)"),
    ),
    "q_early_intent": either("yes", "no", rf"\balready (?:had (?:its )?)?(?:{_SIGNAL})|(?:{_SIGNAL})(?: \w+){{0,4}}? (?:before (?:the )?@O|beforehand|earlier|first)\b|(?:이미|먼저) (?:\S+ ){{0,2}}?(?:방향\s?지시등|깜빡이|신호|의사)"
                                          r"|(?:방향\s?지시등|깜빡이)(?:을|를)? (?:이미|먼저)"),
    "q_consecutive_lane_changes": (
        *either("yes", "no", r"\b(?:two|three|several|multiple|consecutive|successive) lanes?(?: changes?)?\b|\bin one go\b|\bin a row\b|차로를 (?:연달아|연속|한꺼번에|두 개|여러)|여러 (?:개(?:의)? )?차로|(?:두|세) 개(?:의)? 차로|연속(?:으로|해서)?\s?(?:차로|진로)|연달아"),
        Rule("no", r"\b(?:only (?:one|a single)|one|a single) lane\b(?! between)|한 (?:개(?:의)? )?차로만|1개 차로만"),
    ),
    "q_change_distance": (
        Rule("far", r"\bfar (?:behind|away|back)\b|\ba long way (?:behind|back)\b|\b(?:large|long) distance\b|멀리|먼 거리|멀찍"),
        Rule("near", r"\b(?:close (?:to|behind|in front)|(?:just|right) (?:behind|in front|ahead))\b|가까이|가까운|바로 (?:뒤|앞)|근접"),
    ),
    "q_bus_lane": either("yes", "no", r"\bbus(?:-only)? lane\b|\b(?:reserved|dedicated|exclusive) lane\b|(?:버스\s?)?전용\s?차로"),
    "q_passing_lane": (*either("yes", "no", _PASSING_LANE), Rule("no", _OTHER_LANE)),
    "q_target_passing_lane": (
        *either("yes", "no", r"\b(?:in)?to (?:the )?(?:passing|overtaking|fast|leftmost|innermost) lane\b|\b(?:in)?to lane (?:1|one)\b|\b(?:is|was) (?:not )?(?:the |a )?(?:passing|overtaking|fast) lane\b|추월\s?차로|(?<!\d)1\s?차로(?:로|였|이)"),
        Rule("no", r"\b(?:in)?to lane [2-9]\b|(?<!\d)[2-9]\s?차로(?:로|였)"),
    ),
    "q_brake_lamps": (
        *either("working", "not_working", _BRAKE_LAMPS),
        Rule("not_working", r"\b(?:brake|tail) (?:lamps?|lights?) (?:\w+ ){0,2}?(?:off|dark|broken|unlit|defective)\b|(?:제동등|브레이크\s?등|미등)(?:이|은|도)?\s?(?:고장|꺼)"),
    ),
    "q_hazard_lamps": (
        *either("on", "off", _HAZARDS),
        Rule("off", r"\b(?:hazard|warning) (?:lamps?|lights?|flashers?) (?:\w+ ){0,2}?off\b|\b(?:without|no) (?:any )?hazard\b|비상\s?(?:점멸)?등(?:이|은|을)?\s?(?:\S+ )?(?:꺼|끄|끈)|비상\s?(?:점멸)?등 없이"),
    ),
    "q_warning_sign": either("set_up", "not_set_up", r"\b(?:warning|safety) (?:triangles?|signs?|cones?)\b|\b(?:triangles?|traffic cones?)\b|삼각대|안전\s?표지"),
    "q_lane_occupied": (
        *either("partly", "not_at_all", r"\b(?:partly|partially|half) (?:in|on|into|inside)\b|\b(?:block|occup|protrud)\w+ (?:\w+ ){0,4}?lane\b|차로(?:의)?\s?일부|차로를 (?:일부 )?(?:차지|막|점유|침범)|차로에 걸"),
        Rule("not_at_all", r"\b(?:clear of|outside|off) the (?:traffic )?lane\b|차로를 (?:완전히 )?벗어|차로 밖"),
    ),
    "q_no_stopping_place": (
        *either("yes", "no", r"\bno[- ](?:stopping|parking)\b(?: (?:zone|area|place))?|\b(?:stopping|parking) (?:is |was )?(?:prohibited|forbidden|not allowed|not permitted)\b|(?:주정차|주차|정차)(?:가|이)?\s?금지", inner=False),
        Rule("no", r"\b(?:stopping|parking) (?:is |was )?(?:allowed|permitted)\b|(?:주정차|주차|정차)(?:가|이)?\s?(?:허용|가능)"),
    ),
    "q_parking_manner": (
        *either("proper", "improper", r"\b(?:properly|correctly|neatly)\b|\b(?:a |in a )?proper (?:way|manner)\b|올바르|올바른|바르게|제대로"),
        Rule("improper", r"\bimproper(?:ly)?\b|\bdouble[- ]park(?:ed|ing)\b|\b(?:wrong|incorrect)(?:ly)?\b|이중\s?주차|잘못 (?:주차|세|서)|비스듬|삐딱"),
    ),
    "q_escape_room": (
        Rule("impossible", r"\b(?:no|not enough|without) (?:room|space|way)\b|\bnowhere to\b|\bimpossible\b|\bcould ?n[o']t (?:have )?(?:got|get|moved?|escaped?|avoid\w*|swerved?)\b|(?:피할|벗어날) (?:수|공간이|여유가|곳이|틈이)\s?없|불가능", beats=("possible",)),
        Rule("possible", r"\b(?:enough |had )(?:room|space)\b|\bcould have (?:got|moved|pulled|swerved|escaped|left)\b|\bwas possible\b|(?:피할|벗어날) (?:수 있|공간이 있|여유가 있|공간이 충분)|여유 공간이 있"),
    ),
    "q_braking_manner": (
        *either("sudden", "normal", _SUDDEN),
        Rule("normal", r"\b(?:normal|usual|gentl|gradual|smooth)\w*|\bd(?:oes|id) not brake\b|\bwithout braking\b|서서히|천천히|평소처럼|완만|(?:감속|제동)하지 않"),
    ),
    "q_driving_slow": (
        *either("yes", "no", r"\b(?:unusually|very|too|noticeably) slow(?:ly)?\b|\b(?:below|under) the minimum speed\b|\bslower than\b|최저\s?속도보다|너무 (?:느리|천천)|느리게|저속"),
        Rule("no", r"\b(?:normal|usual|ordinary) speed\b|\bwith the (?:flow|traffic)\b|정상 속도|흐름에 맞"),
    ),
    "q_following_gap": (
        *either("sufficient", "insufficient", _SAFE_GAP),
        Rule("insufficient", r"\btailgat\w+|\btoo close(?:ly)?\b|\b(?:insufficient|short|small|little) (?:distance|gap)\b|안전\s?거리\s?(?:미확보|부족)|바짝|거리가 (?:가깝|짧|부족)"),
    ),
    "q_slowing": (
        *either("slowed", "did_not_slow", _SLOWED),
        Rule("did_not_slow", r"\bat (?:full|unreduced|the same) speed\b|속도 그대로|빠른 속도로"),
    ),
    "q_nose_out": either("yes", "no", r"\b(?:nose|front(?: end)?) (?:\w+ ){0,3}?(?:in(?:to)?|on|out|protruding|sticking)\b|\bnosed out\b|\bsticking out\b|앞\s?(?:부분|머리)(?:을|를|이|가)?\s?(?:\S+ ){0,2}?(?:내민|내밀|나와|나온)"),
    "q_closed_to_centre": either("yes", "no", r"\b(?:clos|mov|kep|keep|drew|near)\w* (?:\w+ ){0,3}?(?:to|towards?) the cent(?:re|er)\b|중앙선 (?:쪽|가까이)"),
    "q_edge_crossed": either("yes", "no", r"\bcross(?:es|ed|ing)? (?:over )?the (?:\w+ )?(?:edge|kerb|curb)\b|\bover the (?:road )?edge\b|(?:길\s?가장자리\s?(?:구역선|선)?|도로\s?경계\s?선?)(?:을|를)?\s?(?:넘|가로|침범)"),
    "q_pass_after_lane_entry": either("yes", "no", r"\b(?:right|immediately|directly|straight) after (?:\w+ ){0,3}?(?:enter|chang|mov)\w+|\bas soon as (?:\w+ ){0,2}?(?:had )?entered\b|(?:들어오|진입하)자마자|(?:진입|들어온)\s?직후"),
    "q_right_turn_manner": (
        Rule("wide_and_sudden", r"\bwide,? sudden\b|\bsudden,? wide\b|크게,? 급|급하게,? 크게", beats=("wide", "sudden")),
        Rule("wide", r"\bwide(?:ly)?\b|크게"),
        Rule("sudden", r"\b(?:sudden|abrupt|sharp)(?:ly)?\b|급(?:하게|히|격)|급우회전|갑자기"),
        Rule("normal", r"\b(?:normal(?:ly)?|usual|ordinary)\b|통상|정상적|평범|보통"),
    ),
    "q_yielded": either("yes", "no", _YIELDED),
    "q_blocked_overtaking": either("yes", "no", r"\b(?:block|obstruct|hinder)\w*|\bclos(?:es|ed|ing) the (?:gap|way)\b|\bspe(?:eds?|d|eding) up\b|\baccelerat\w+|방해|막아|가로막|속도를 (?:높|올)|가속"),
    "q_u_turn_place": (
        Rule("outside_zone", r"\b(?:outside|beyond|before|past) (?:the|a|any) u-?turn (?:zone|area)\b|유턴\s?(?:구역|구간)\s?(?:밖|외|이 아닌|을 벗어)", beats=("inside_zone",)),
        *either("inside_zone", "outside_zone", r"\b(?:inside|in|within) (?:the|a) u-?turn (?:zone|area)\b|유턴\s?(?:구역|구간)"),
    ),
    "q_u_turn_progress": (
        Rule("just_completed", r"\b(?:just )?(?:completed|finished)\b|유턴을? (?:막 )?(?:마친|마치|마쳤|끝낸|완료)|막 (?:마친|마쳤|끝)", beats=("under_way",)),
        Rule("under_way", r"\b(?:in the middle of|midway through|half-?way through|during|still (?:making|turning|in)|under ?way|was (?:making|turning))\b|유턴\s?(?:중|하던|하는|도중)|돌고 있|도는 중"),
    ),
    "q_school_bus": either("yes", "no", r"\bschool bus\b|통학\s?(?:버스|차)|어린이\s?(?:보호|통학)\s?차"),
    "q_speed": (
        *either("over_limit", "within_limit", _EXCEEDS),
        Rule("within_limit", r"\b(?:within|at|below|under) the (?:speed )?limit\b|제한\s?속도(?:를)?\s?(?:이내|지키|지켰|준수|이하|안)"),
        Rule("under_10", r"\b(?:less than|under|below) 10 ?(?:km|kilomet)\w*|10\s?(?:km/?h?|킬로)\s?미만"),
        Rule("from_10_to_20", r"\b10 ?(?:to|and|-|–) ?20 ?(?:km|kilomet)\w*|10\s?(?:km/?h?|킬로)?\s?(?:이상|에서|~|-)\s?20"),
        Rule("over_20", r"\b(?:more than|over) 20 ?(?:km|kilomet)\w*|20\s?(?:km/?h?|킬로)\s?(?:초과|이상|넘)"),
    ),
    "q_lookout": (
        Rule("poor", r"\b(?:fail(?:s|ed)? to|d(?:oes|id) not) react\b|\bno reaction\b|\bwithout reacting\b|\binattentive\b|반응하지 (?:않|못)|전방\s?주시\s?(?:태만|소홀)|반응이 없"),
        Rule("adequate", r"\breact(?:s|ed|ing)?\b(?! to nothing)|\bno time to react\b|\bhad no time\b|\bbrak(?:es|ed|ing)\b|\bswerv\w+|반응(?:했|하였|하여|하고)|시간이? 없|대응했|제동했|피하려"),
    ),
    "q_returns_in_front": either("yes", "no", _CUT_IN),
    "q_queue_stop": either("yes", "no", _QUEUE),
    "q_bus_stop": either("yes", "no", _BUS_STOP),
    "q_handling": (
        Rule("wrong", r"\b(?:markedly )?wrong(?:ly)?\b|\b(?:incorrect|erratic)(?:ly)?\b|\bover-?steer\w*|\bovercorrect\w*|\blos(?:t|es|ing) control\b|잘못|조작\s?미숙|통제를 잃|과도하게 (?:꺾|조향)"),
        Rule("ordinary", r"\b(?:ordinary|normal(?:ly)?|usual)\b|통상|정상|평소"),
        Rule("ordinary", r"\bwrong(?:ly)?\b|잘못", "denied"),
    ),
}  # fmt: skip

YES_NO: dict[str, tuple[str, str]] = {
    "q_brake_lamps": ("working", "not_working"),
    "q_warning_sign": ("set_up", "not_set_up"),
    "q_parking_manner": ("proper", "improper"),
    "q_escape_room": ("possible", "impossible"),
    "q_following_gap": ("sufficient", "insufficient"),
    "q_slowing": ("slowed", "did_not_slow"),
    "q_handling": ("wrong", "ordinary"),
    "q_lookout": ("poor", "adequate"),
    "q_hazard_lamps": ("on", "off"),
    "q_braking_manner": ("sudden", "normal"),
    "q_change_direction_relation": ("same_side", "opposite_sides"),
    "q_u_turn_place": ("inside_zone", "outside_zone"),
}
"""What "yes" and "no" at the head of a reply mean, where the codes don't say so themselves."""
