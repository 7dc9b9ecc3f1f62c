"""The viewer's overview: how the runs ended, how candidates narrowed, what was taken for what, at what cost."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

from vlmrec.projections.layer2 import Ending
from vlmrec.question import Language
from vlmrec.viewer import plots
from vlmrec.viewer.runs import RunData
from vlmrec.viewer.site import Site

NAMES: dict[Language, dict[str, str]] = {
    "en": {"none": "none left", "correct_out_of_scope": "out of scope, rightly", "out_of_scope": "out of scope"},
    "ko": {
        "match": "일치", "misjudged": "오판", "reserved": "보류", "none": "후보 없음", "scope_error": "범위 오류",
        "correct_out_of_scope": "범위 밖(옳음)", "no_outcome": "결과 없음", "confirmed": "확정", "leading": "우세",
        "open": "미결", "out_of_scope": "범위 밖", "failed": "실패", "asking": "진행 중",
    },
}  # fmt: skip
_OUTCOMES = ("confirmed", "leading", "open", "none", "out_of_scope", "failed", "asking")

TITLES: dict[Language, dict[str, str]] = {
    "en": {
        "outcomes": "How clips ended", "outcomes_gold": "How clips ended, beside the labels",
        "narrowing": "Candidates by round", "round": "round", "left": "charts left (mean)",
        "right": "Matching clips, with 95% intervals", "cost": "Cost against accuracy", "usd": "USD",
        "matching": "matching clips", "confusion": "Labelled chart (rows) and where the clip ended (columns): {run}",
        "no_cost": "no run states a cost above 0", "clips": "Clips counted: {n}.", "unsettled": "unsettled",
        "note": "95% intervals after Wilson; one item a clip.",
    },
    "ko": {
        "outcomes": "클립 결과", "outcomes_gold": "정답과 비교한 클립 결과",
        "narrowing": "라운드별 후보 수", "round": "라운드", "left": "남은 도표(평균)",
        "right": "일치한 클립 비율과 95% 구간", "cost": "비용과 정확도", "usd": "USD",
        "matching": "일치한 클립", "confusion": "정답 도표(행)와 결과(열): {run}",
        "no_cost": "비용이 0보다 큰 실행이 없습니다", "clips": "집계한 클립: {n}.", "unsettled": "미결",
        "note": "95% 구간은 윌슨 방식이며 클립당 한 항목입니다.",
    },
}  # fmt: skip


def overviews(of: Site, index: Mapping[str, Any]) -> dict[Language, str]:
    """The overview as HTML in each language of the interface; every text in it is escaped."""
    return {"ko": overview(of, index, "ko"), "en": overview(of, index, "en")}


def overview(of: Site, index: Mapping[str, Any], language: Language) -> str:
    """The overview in one language."""
    say = TITLES[language]
    names = [run.run_id for run in of.runs]
    rows = [[clip["runs"][at] for clip in index["clips"] if clip["runs"][at]] for at in range(len(of.runs))]
    judged = [[row for row in of_run if row["verdict"] not in (None, "excluded")] for of_run in rows]
    figures = []
    if any(judged):
        counts = [(name, Counter(row["verdict"] for row in found)) for name, found in zip(names, judged, strict=True)]
        used = [kind for kind in Ending if any(count[kind] for _, count in counts)]
        figures.append(plots.figure(say["outcomes_gold"], _count(say, judged), _bars(language, counts, used)))
        points = [
            _matching(name, found, _cost(run)) for name, found, run in zip(names, judged, of.runs, strict=True) if found
        ]
        figures.append(plots.figure(say["right"], say["note"], plots.intervals(points)))
        paid = [point for point in points if point.x]
        if paid:
            figures.append(
                plots.figure(say["cost"], say["note"], plots.scatter(paid, x_name=say["usd"], y_name=say["matching"]))
            )
        else:
            figures.append(plots.figure(say["cost"], say["no_cost"], ""))
        for at, name in enumerate(names):
            figures.append(_confusion(say, index, at, name))
    elif any(rows):
        counts = [
            (name, Counter(row["outcome"] or "asking" for row in found))
            for name, found in zip(names, rows, strict=True)
        ]
        used_outcomes = [kind for kind in _OUTCOMES if any(count[kind] for _, count in counts)]
        figures.append(plots.figure(say["outcomes"], _count(say, rows), _bars(language, counts, used_outcomes)))
    series = [(run.run_id, _narrowing(run)) for run in of.runs]
    if any(values for _, values in series):
        figures.append(plots.figure(say["narrowing"], "", plots.lines(series, x_name=say["round"], y_name=say["left"])))
    return "".join(figures)


def _bars(language: Language, counts: Sequence[tuple[str, Counter[str]]], kinds: Sequence[str]) -> str:
    names = NAMES[language]
    named = [(run, {names.get(kind, kind): count for kind, count in found.items()}) for run, found in counts]
    return plots.stacked_bars(named, [names.get(kind, kind) for kind in kinds])


def _count(say: Mapping[str, str], rows: Sequence[Sequence[Any]]) -> str:
    return say["clips"].format(n=", ".join(str(len(found)) for found in rows))


def _matching(name: str, rows: Sequence[Mapping[str, Any]], cost: float | None) -> plots.Point:
    right = sum(row["verdict"] in (Ending.MATCH, Ending.CORRECT_OUT_OF_SCOPE) for row in rows)
    low, high = wilson(right, len(rows))
    return plots.Point(name, right / len(rows), low, high, cost)


def wilson(right: int, of: int, *, z: float = 1.959964) -> tuple[float, float]:
    """Wilson's interval for a share (JASA 22, 1927): one item a clip, so clips need no resampling here."""
    share, square = right / of, z * z
    middle = (share + square / (2 * of)) / (1 + square / of)
    half = z * math.sqrt(share * (1 - share) / of + square / (4 * of * of)) / (1 + square / of)
    return max(0.0, middle - half), min(1.0, middle + half)


def _cost(run: RunData) -> float | None:
    total = run.measured.total.cost_usd
    return None if total is None else float(total)


def _narrowing(run: RunData) -> list[float]:
    """The mean number of charts left after each round; a clip that has ended keeps its last number."""
    clips = []
    for story in run.shown.clips:
        after = {
            turn.round: len(turn.after) for turn in story.turns if turn.round is not None and turn.after is not None
        }
        if after:
            clips.append([after[round_] for round_ in sorted(after)])
    longest = max(map(len, clips), default=0)
    return [fmean(counts[min(at, len(counts) - 1)] for counts in clips) for at in range(longest)]


def _confusion(say: Mapping[str, str], index: Mapping[str, Any], at: int, name: str) -> str:
    counts: Counter[tuple[str, str]] = Counter()
    for clip in index["clips"]:
        row = clip["runs"][at]
        if row and clip["gold"] and row["verdict"] not in (None, "excluded"):
            settled = row["charts"][0] if row["outcome"] == "confirmed" and len(row["charts"]) == 1 else None
            ended = settled or (
                row["outcome"] if row["outcome"] in ("out_of_scope", "none", "failed") else say["unsettled"]
            )
            counts[(clip["gold"], ended)] += 1
    golds = sorted({gold for gold, _ in counts})
    ends = [
        *(gold for gold in golds if any((g, gold) in counts for g in golds)),
        *sorted({end for _, end in counts} - set(golds)),
    ]
    return plots.figure(say["confusion"].format(run=name), "", plots.heat_map(golds, ends, counts))
