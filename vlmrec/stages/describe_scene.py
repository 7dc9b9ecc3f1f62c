"""Words that settle a question about the scene or about both vehicles: declared rules, Korean and English. Pure data.

``vlmrec.stages.describe`` says how they are read. A rule stands for one code; the words of two rules of one
question may both be there, and then neither is taken, but where one ``beats`` the other.
"""

from typing import Literal, NamedTuple


class Rule(NamedTuple):
    """Words that stand for one code; with ``said`` denied, it is their denial that does.

    In a pattern ``@V`` is the vehicle asked about and ``@O`` the other one of the two. With ``@V`` the words say
    themselves whose they are; else they count where the vehicle asked about is the one spoken of. ``alone``: only
    where no vehicle is named beside them. ``inner``: a negation within the words denies them.
    """

    code: str
    pattern: str
    said: Literal["asserted", "denied"] = "asserted"
    beats: tuple[str, ...] = ()
    alone: bool = False
    inner: bool = False


def either(yes: str, no: str, pattern: str, *, inner: bool = True) -> tuple[Rule, Rule]:
    """Words that mean one code, and their denial that means the other; ``inner`` False where the words hold a "not"."""
    return Rule(yes, pattern, inner=inner), Rule(no, pattern, "denied", inner=inner)


VEHICLE = r"(?:vehicle|car|truck|bus|van|suv|sedan|taxi|motorcycle|scooter|lorry)"
OTHER_EN = rf"(?:other|counterpart|opposing)(?: party)?(?: {VEHICLE})?"
SELF_EN = rf"(?:(?:ego|recording|camera|dashcam|my|our|own)(?: {VEHICLE})?|self)"
OTHER_KO = r"상대\s?(?:차량?|방)"
SELF_KO = r"(?:블랙박스\s?차량?|자차|내\s?차량?|본인\s?차량?|자기\s?차량?|촬영\s?차량?)"

_TOUCH = (
    r"\b(?:collisions?|collid(?:e|es|ed|ing)|crash(?:es|ed)?|rear-end(?:s|ed)?|struck|strikes?|impact|contact(?:s|ed)?|hits?)\b"
    r"|충돌|추돌|접촉|부딪|들이받"
)
_HOME = r"\b(?:residential|shopping|housing) (?:streets?|areas?|districts?|roads?|estates?)\b|주택가|상점가|상가|골목길|주거\s?지역"
_JAM = r"\b(?:jam(?:s|med)?|congest(?:ed|ion)|gridlock(?:ed)?|bumper[- ]to[- ]bumper|stop-and-go|crawl(?:s|ing|ed)?)\b|정체|지체|꽉 막"
_NO_PASSING = (
    r"\bno[- ]overtaking\b|\bovertaking (?:is |was )?(?:prohibited|forbidden|banned|not (?:allowed|permitted))\b"
    r"|\b(?:in|inside|on|at) (?:an?|the) (?:\w+ )?(?:tunnel|bridge|intersection|junction|crest)\b"
    r"|(?:앞지르기|추월)\s?(?:가|이)?\s?금지|터널|다리 위|교차로|고갯마루"
)
_TIGHT = (
    r"\b(?:sharp|tight|blind) (?:bend|curve|corner)s?\b|\bnarrow (?:road|street|alley)\b|\b(?:hazardous|dangerous) (?:place|spot|stretch|bend)\b"
    r"|급\s?커브|굽은 (?:길|도로)|좁은 (?:길|도로|골목)|위험한 (?:곳|구간|장소)"
)

SCENE: dict[str, tuple[Rule, ...]] = {
    "q_collision": (
        Rule("object_contact", r"\b(?:fallen|falling|dropped|lost) (?:object|load|cargo)\b|낙하물|떨어진 (?:물체|짐|화물)", beats=("vehicle_contact",)),
        *either("vehicle_contact", "no_contact", _TOUCH),
    ),
    "q_direction_relation": (
        Rule("same_direction", r"\bsame[- ](?:direction|way)\b|\bparallel same-direction\b|같은 방향|동일\s?방향"),
        Rule("oncoming", r"\boncoming\b|\bopposite direction\b|\bhead-on\b|마주|반대\s?방향|맞은편"),
        Rule("crossing", r"\bperpendicular(?:ly)?\b|\bcrossing (?:road|course|path)\b|\bfrom (?:a|the) (?:cross|crossing|side) (?:road|street)\b"
                         r"|교차(?:하는)? 도로|직각|다른 도로에서"),
    ),
    "q_road_class": (
        Rule("expressway", r"\b(?:expressway|motorway|freeway|highway)\b|고속도로|자동차\s?전용\s?도로"),
        Rule("ordinary", r"\bordinary road\b|\b(?:city|urban|local) (?:road|street)\b|일반\s?도로|시내\s?도로"),
    ),
    "q_place": (
        Rule("signalised_intersection", r"\bsignali[sz]ed (?:intersection|junction)\b|\b(?:intersection|junction) with (?:traffic )?(?:signals|lights)\b"
                                        r"|신호기?(?:가)? 있는 교차로"),
        Rule("other_intersection", r"\bunsignali[sz]ed (?:intersection|junction)\b|\b(?:intersection|junction) without (?:traffic )?(?:signals|lights)\b"
                                   r"|신호기?(?:가)? 없는 교차로"),
        Rule("road_section", r"\bstretch of road\b|\bnot (?:at )?an intersection\b|교차로가 아닌"),
    ),
    "q_lanes_per_direction": (
        Rule("one", r"\b(?:one|a single|only one|1) lane\b(?! between)|\bsingle-lane\b|편도\s?(?:1|일)\s?차로|(?:1|한)\s?개(?:의)?\s?차로|차로(?:가|는)\s?(?:하나|1개|한 개)"),
        Rule("two", r"\b(?:two|2) lanes\b(?! apart)|\btwo-lane\b|편도\s?(?:2|이)\s?차로|(?:2|두)\s?개(?:의)?\s?차로|차로(?:가|는)\s?(?:둘|2개|두 개)"),
        Rule("three_or_more", r"\b(?:three|four|five|six|[3-9]) (?:or more )?lanes\b|\b(?:three|four|five)-lane\b|편도\s?[3-9]\s?차로|(?:[3-9]|세|네|다섯)\s?개(?:의)?\s?차로"
                              r"|차로(?:가|는)\s?(?:셋|넷|[3-9]개|세 개|네 개|다섯 개)"),
    ),
    "q_congestion": (
        *either("yes", "no", _JAM),
        Rule("no", r"\btraffic (?:is |was )?(?:flow(?:s|ed|ing)|mov(?:es|ed|ing)) (?:freely|normally|smoothly)\b|\bfree[- ]flowing\b|소통이? (?:원활|잘)|원활"),
    ),
    "q_visibility": (
        Rule("clear", r"\b(?:clear|good|fine) (?:visibility|weather|view)\b|\bvisibility (?:is|was) (?:clear|good|fine)\b|\b(?:daylight|sunny|daytime)\b"
                      r"|시야(?:가|는)?\s?(?:양호|좋|맑)|대낮|주간|맑은 (?:날|낮)|날씨(?:가|는)?\s?(?:맑|좋)"),
        Rule("poor", r"\bnight(?:-?time)?\b|\b(?:is|was|in the|after|already) dark\b|\bdarkness\b|\b(?:poor|bad|low|reduced) (?:visibility|view|weather)\b|\bvisibility (?:is|was) (?:poor|bad|low|reduced)\b"
                     r"|\b(?:rain(?:s|ing|y)?|snow(?:s|ing|y)?|fog(?:gy)?)\b|야간|한밤|심야|밤(?:이|에)|어둡|어두워|어두운 (?:밤|도로|상태|시간)|비가|눈이 (?:오|내)|안개|악천후|시야(?:가|는)?\s?(?:나쁘|나빴|불량|흐)"),
    ),
    "q_surroundings": (
        *either("residential_or_shopping", "elsewhere", _HOME),
        Rule("elsewhere", r"\b(?:expressway|motorway|freeway|highway|rural road|countryside|arterial road|main road)\b|고속도로|자동차\s?전용\s?도로|국도|간선\s?도로|외곽\s?도로"),
    ),
    "q_no_overtaking_place": (
        *either("yes", "no", _NO_PASSING, inner=False),
        Rule("no", r"\bovertaking (?:is |was )?(?:allowed|permitted)\b|(?:앞지르기|추월)(?:가|이)?\s?(?:허용|가능)"),
    ),
    "q_hazardous_place": (
        *either("yes", "no", _TIGHT),
        Rule("no", r"\b(?:straight|wide)(?:,? \w+)? (?:road|stretch|street)\b|곧은 (?:길|도로)|넓은 (?:길|도로)|직선\s?(?:도로|구간)"),
    ),
    "q_centre_line": (
        Rule("solid_yellow", r"\bsolid (?:double )?yellow\b|\bdouble yellow\b|(?:황색|노란색?)\s?(?:겹\s?)?실선|황색\s?(?:복선|겹선)"),
        Rule("dashed_yellow", r"\b(?:dashed|broken|dotted) yellow\b|(?:황색|노란색?)\s?점선"),
        Rule("barrier", r"\b(?:median|central) (?:strip|divider|reservation|barrier)\b|\b(?:a|concrete|steel) barrier\b|중앙\s?분리대|방호벽"),
        Rule("none", r"\bno cent(?:re|er) ?line\b|\bwithout (?:a |any )?cent(?:re|er) ?line\b|\bone-way\b|중앙선(?:이|은)?\s?없|일방\s?통행"),
    ),
    "q_lane_relation": (
        Rule("same_lane", r"\b(?:in|within) the same lane\b|같은 차로|동일\s?차로"),
        Rule("adjacent_lane", r"\b(?:adjacent|neighbou?ring|next) lanes?\b|바로 옆 차로|옆 차로|인접\s?차로"),
        Rule("two_lanes_apart", r"\btwo lanes apart\b|\bone lane between\b|한 차로를 사이에"),
        Rule("lane_vs_shoulder", r"\bon the (?:hard )?shoulder\b|갓길"),
        Rule("lane_vs_roadside", r"\b(?:at|by|on) the (?:edge|side) of the road\b|\broadside\b|\b(?:kerb|curb)side\b|도로 가장자리|길가|노상\s?주차"),
        Rule("lane_vs_access", r"\b(?:in|from|out of) (?:an? |the )?(?:access|driveway|car park|parking lot|(?:petrol|gas) station|alley)\b"
                               r"|출입로|(?:주차장|주유소|골목)(?:에서|에 있)"),
    ),
    "q_order": (
        Rule("other_ahead", rf"\b{OTHER_EN} (?:is|was|drives|travels|runs) (?:\w+ )?(?:ahead|in front)\b|\b{SELF_EN} (?:is|was|drives|travels) (?:\w+ )?behind\b|\b{SELF_EN} follow(?:s|ed)\b"
                            rf"|{OTHER_KO}(?:이|가|은|는) (?:\S+ )?앞(?:에|서)|{SELF_KO}(?:이|가|은|는) (?:\S+ )?뒤(?:에|따)"),
        Rule("self_ahead", rf"\b{SELF_EN} (?:is|was|drives|travels) (?:\w+ )?(?:ahead|in front)\b|\b{OTHER_EN} (?:is|was|drives|travels) (?:\w+ )?behind\b|\b{OTHER_EN} follow(?:s|ed)\b"
                           rf"|{SELF_KO}(?:이|가|은|는) (?:\S+ )?앞(?:에|서)|{OTHER_KO}(?:이|가|은|는) (?:\S+ )?뒤(?:에|따)"),
        Rule("side_by_side", r"\bside by side\b|\babreast\b|나란히"),
    ),
    "q_first_to_move": (
        Rule("self_first", rf"\b{SELF_EN} (?:\w+ ){{0,6}}?(?:first|earlier)\b|{SELF_KO}(?:이|가|은|는) (?:\S+ ){{0,2}}?먼저"),
        Rule("other_first", rf"\b{OTHER_EN} (?:\w+ ){{0,6}}?(?:first|earlier)\b|{OTHER_KO}(?:이|가|은|는) (?:\S+ ){{0,2}}?먼저"),
        Rule("together", r"\bat (?:about |almost |nearly )?the same (?:time|moment|instant)\b|\bsimultaneously\b|동시에"),
    ),
    "q_change_direction_relation": (
        Rule("same_side", r"\b(?:to|towards?) the same side\b|\bboth (?:\w+ ){0,4}?to the (?:left|right)\b|같은 쪽|같은 방향으로|모두 (?:왼쪽|오른쪽|좌측|우측)"),
        Rule("opposite_sides", r"\b(?:to|towards?) opposite sides\b|\bin opposite directions\b|서로 반대|반대쪽으로|서로 다른 쪽"),
    ),
    "q_falling_object": (
        Rule("self_lost", rf"\b{SELF_EN} (?:\w+ ){{0,2}}?(?:lost|loses|dropped|drops|sheds)\b|\b(?:from|off) (?:the )?{SELF_EN}\b|{SELF_KO}에서"),
        Rule("other_lost", rf"\b{OTHER_EN} (?:\w+ ){{0,2}}?(?:lost|loses|dropped|drops|sheds)\b|\b(?:from|off) (?:the )?{OTHER_EN}\b|{OTHER_KO}에서"),
        Rule("nobody", r"\bneither (?:\w+ ){0,3}?(?:lost|loses|dropped|drops|sheds)\b|\bnothing (?:fell|falls|was lost|was dropped)\b|\bno (?:object|load|cargo) (?:fell|falls|was lost)\b"
                       r"|(?:떨어진|낙하한?) (?:물체|물건|짐|화물)(?:이|은|는)?\s?없|아무것도 (?:떨어|낙하)", beats=("self_lost", "other_lost")),
    ),
}  # fmt: skip
