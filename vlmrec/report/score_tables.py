"""A score as tables: clips first, then answers, causes, Stage 0, format and cost."""

from collections.abc import Iterator

from vlmrec.projections.core import Projected
from vlmrec.projections.layer1 import Tally
from vlmrec.projections.layer2 import Layer2, Lost
from vlmrec.projections.meter import CallFigures
from vlmrec.projections.score import Score
from vlmrec.projections.tables import Hits, Stage0
from vlmrec.report.table import Table, count_of, money, percent, seconds


def score_tables(projected: Projected[Score, CallFigures]) -> list[Table]:
    """All tables of a score, in reading order; those without a row are left out."""
    score = projected.result
    tables = [
        _layer2(score),
        _layer1(score),
        _groups(score),
        _discipline(score),
        _lost("Answers that ruled the label's chart out", score.lost),
        _lost("Lost at the scope gates", score.scope_losses),
        _clips(score),
        *([_stage0(score.stage0)] if score.stage0 is not None else []),
        _labellers(score),
        _format(score),
        figures_table(projected.measured),
    ]
    return [table for table in tables if table.rows]


def layer2_cells(layer2: Layer2) -> list[tuple[str, object]]:
    """Layer 2 as name and figure, in the order of the definition."""
    survival = layer2.survival
    return [
        ("clips", layer2.clips),
        ("match", layer2.match),
        ("misjudged", layer2.misjudged),
        ("reserved", layer2.reserved),
        ("none", layer2.none),
        ("scope_error", layer2.scope_error),
        ("correct_out_of_scope", layer2.correct_out_of_scope),
        ("no_outcome", layer2.no_outcome),
        ("survival", count_of(survival.survived, survival.undecided)),
        ("candidates left", layer2.candidates_left),
        ("excluded", sum(layer2.excluded.values())),
    ]


def figures_table(calls: CallFigures) -> Table:
    """What the calls took."""
    rows = [
        ("calls completed", calls.completed),
        ("calls failed", calls.failed),
        ("of these in doubt", calls.in_doubt),
        ("cost", money(calls.cost_usd, calls.cost_unknown)),
        ("prompt tokens", calls.prompt_tokens),
        ("completion tokens", calls.completion_tokens),
        ("cached share", percent(calls.cached_share)),
        ("latency, median", seconds(calls.latency_median_s)),
        ("latency, 90 %", seconds(calls.latency_p90_s)),
    ]
    return Table("Measured", ("figure", "value"), rows if calls.completed or calls.failed else [])


def _layer2(score: Score) -> Table:
    layer2 = score.layer2
    notes = []
    if layer2.excluded:
        notes.append("excluded: " + ", ".join(f"{count} {reason}" for reason, count in layer2.excluded.items()))
    if layer2.incomplete:
        notes.append(f"{layer2.incomplete} clips are incomplete: their path met an answer that could not be had")
    if layer2.truncated:
        notes.append(f"{layer2.truncated} clips decoded only in part")
    if layer2.equivalent:
        notes.append(f"footnote: misjudged, but called equivalent by the label: {', '.join(layer2.equivalent)}")
    matched = layer2.clips > layer2.no_outcome or score.layer1.total.items or score.layer1.not_asked
    if layer2.unlabelled and not matched:
        notes.append(
            f"none of the run's {len(layer2.unlabelled)} clips has a label: are these the labels of other clips?"
        )
    elif layer2.unlabelled:
        notes.append(f"{len(layer2.unlabelled)} clips of the run have no settled chart and are not counted")
    if score.gold.disputed_charts:
        notes.append(f"{score.gold.disputed_charts} clips have a final chart in dispute between labellers")
    if score.fault.clips:
        notes.append(
            f"share of fault, over {score.fault.clips} matches: {score.fault.exact} exact, "
            f"{score.fault.within_range} within the range"
        )
    cells = layer2_cells(layer2)
    return Table("Layer 2: clips", [name for name, _ in cells], [[value for _, value in cells]], notes)


def _layer1(score: Score) -> Table:
    rows = [(turn.question_id, turn.party, *_tally(turn.tally)) for turn in score.layer1.by_question]
    rows.append(("all", "", *_tally(score.layer1.total)))
    one = score.layer1
    notes = [
        f"not among the items: {one.not_asked} labelled but never asked, {one.unusable} with unreadable replies, "
        + f"{one.not_put} that nothing on screen answers, {one.unlabelled} answers without a label"
    ]
    if one.demoted:
        notes.append(f"validation demoted {one.demoted} labelled answers, of which {one.demoted_right} were right")
    if score.gold.disputed:
        notes.append(f"{score.gold.disputed} answers in dispute between labellers are left out ({score.gold.rule})")
    mapping = score.gold.mapping
    if mapping.migrations or mapping.unmapped:
        notes.append(
            f"labels of another ledger: {mapping.mapped} answers mapped ({mapping.approximate} by a named rule), "
            f"{mapping.unmapped} left out"
        )
    if score.gold.other_ledger:
        notes.append(f"{score.gold.other_ledger} labelled answers are of another ledger and left out")
    return Table("Layer 1: answers", ("question", "party", *_TALLY), rows if one.total.items else [], notes)


def _groups(score: Score) -> Table:
    rows = [(f"party {party}", *_tally(tally)) for party, tally in score.layer1.by_party.items()]
    rows += [(f"time scope {scope}", *_tally(tally)) for scope, tally in score.layer1.by_time_scope.items()]
    return Table("Layer 1 by party and time scope", ("group", *_TALLY), rows)


def _discipline(score: Score) -> Table:
    one, cited = score.discipline, score.evidence
    rows = [
        ("answered with a value", one.observed, "right", percent(one.precision)),
        ("to be seen", one.to_be_seen, "found", percent(one.recall)),
        ("to be seen", one.to_be_seen, "missed", percent(one.missed_share)),
        ("not to be seen", one.not_to_be_seen, "invented", percent(one.invented_share)),
        ("answered with a value", cited.observed, "time cited", percent(cited.cited_share)),
        ("right, both cite a time", cited.comparable, "times meet", count_of(cited.overlapping, cited.comparable)),
    ]
    return Table(
        "Abstention discipline and evidence",
        ("of", "n", "share", "value"),
        rows if one.observed or one.to_be_seen else [],
    )


def _lost(title: str, lost: tuple[Lost, ...]) -> Table:
    rows = [
        (
            one.question_id,
            one.party,
            one.value,
            one.clips,
            ", ".join(f"{verdict} {count}" for verdict, count in one.verdicts.items()),
            ", ".join(one.names[:5]) + (" …" if len(one.names) > 5 else ""),
        )
        for one in lost
    ]
    return Table(title, ("question", "party", "answer", "clips", "the answer was", "which"), rows)


def _clips(score: Score) -> Table:
    rows = [
        (
            row.clip,
            row.verdict or (f"excluded: {row.excluded}" if row.excluded else "no settled chart"),
            row.outcome,
            row.gold,
            ", ".join(row.charts[:4]) + (" …" if len(row.charts) > 4 else ""),
            _cause(score, row.clip),
        )
        for row in score.clips
    ]
    return Table("Clips", ("clip", "verdict", "outcome", "label", "charts left", "label's chart ruled out by"), rows)


def _cause(score: Score, clip: str) -> str:
    cause = next((row.cause for row in score.clips if row.clip == clip), None)
    if cause is None:
        return "-"
    decisive = [by for by in cause.by if by.decisive]
    return ", ".join(f"round {by.round}: {by.question_id}/{by.party}={by.value} ({by.verdict})" for by in decisive)


def _stage0(stage0: Stage0) -> Table:
    def hits(name: str, found: Hits) -> tuple[str, str, str]:
        return name, count_of(found.right, found.of), percent(found.share)

    rows: list[tuple[str, str, str]] = [
        ("tables", count_of(stage0.tables, stage0.labelled), ""),
        ("contact |Δt|, median", seconds(stage0.contact_median_s), ""),
        hits("contact within 0.5 s", stage0.contact_close),
        hits("whether there is contact", stage0.contact_presence),
        hits("counterpart", stage0.counterpart),
        hits("heading", stage0.heading),
        hits("counterpart's lane", stage0.lane),
        hits("own lane", stage0.ego_lane),
        hits("number of lanes", stage0.lane_count),
        ("boxes, median IoU", "-" if stage0.box_iou_median is None else f"{stage0.box_iou_median:.2f}", ""),
    ]
    return Table("Stage 0: entity tables", ("what", "right", "share"), rows)


def _labellers(score: Score) -> Table:
    def rows() -> Iterator[tuple[object, ...]]:
        for pair in score.labellers:
            for what, found in (("answers", pair.answers), ("charts", pair.charts), *sorted(pair.by_question.items())):
                yield f"{pair.a}, {pair.b}", what, found.items, percent(found.share), found.cohen, found.krippendorff

    columns = ("labellers", "on", "items", "agreed", "Cohen's kappa", "Krippendorff's alpha")
    return Table("Agreement between labellers", columns, list(rows()))


def _format(score: Score) -> Table:
    one = score.format
    rows: list[tuple[str, int, str]] = [
        ("strict", one.strict, percent(one.strict_share)),
        ("loose", one.loose, ", ".join(f"{how} {count}" for how, count in one.recovered.items())),
        ("none", one.none, ", ".join(f"{reason} {count}" for reason, count in one.reasons.items())),
    ]
    return Table("How replies were read", ("strictness", "replies", "detail"), rows if one.replies else [])


_TALLY = ("items", "correct", "wrong", "missed", "invented", "accuracy")


def _tally(tally: Tally) -> tuple[object, ...]:
    return tally.items, tally.correct, tally.wrong, tally.missed, tally.invented, percent(tally.accuracy)
