"""Whether the prompt tokens that a server counted fit what it was sent. Pure.

A server that ignores the frame rate, scales frames down or never sees the video still answers; its own count of
prompt tokens gives it away. The prediction was made when the request was sent, and lies in the log.
"""

from collections.abc import Sequence

from msgspec import Struct

from vlmrec.events import Stage
from vlmrec.projections.findings import Finding
from vlmrec.projections.meter import median
from vlmrec.terms import TurnKey

TOLERANCE = 0.2
"""Counts within this of the prediction fit: chat templates and rounding of frames explain that much."""


class Sent(Struct, frozen=True, gc=False):
    """A completed call: what was predicted for it, and what was counted."""

    event: str
    stage: Stage
    key: TurnKey
    predicted: int | None
    counted: int | None
    media: bool
    media_tokens: int | None


class ProviderFigures(Struct, frozen=True, kw_only=True):
    """Counted by predicted prompt tokens over a run's calls."""

    calls: int
    compared: int
    """Calls with both a prediction and a count; without them nothing is known of what the server did."""
    ratio_median: float | None
    too_few: int
    too_many: int
    media_unseen: int
    """Calls with media for which the server counted no media tokens at all."""


def provider_figures(sent: Sequence[Sent]) -> ProviderFigures:
    """The figures of one run."""
    ratios = [ratio for call in sent if (ratio := _ratio(call)) is not None]
    return ProviderFigures(
        calls=len(sent),
        compared=len(ratios),
        ratio_median=median(ratios),
        too_few=sum(ratio < 1 - TOLERANCE for ratio in ratios),
        too_many=sum(ratio > 1 + TOLERANCE for ratio in ratios),
        media_unseen=sum(call.media and call.media_tokens == 0 for call in sent),
    )


def provider_findings(run: int, clip: str, sent: Sequence[Sent]) -> list[Finding]:
    """Each call whose count does not fit."""
    found = []
    for call in sent:
        ratio = _ratio(call)
        if call.media and call.media_tokens == 0:
            found.append(_finding(run, clip, call, "media_unseen", "media were sent, and no media tokens were counted"))
        elif ratio is not None and abs(ratio - 1) > TOLERANCE:
            rule, why = ("too_few_tokens", "fewer") if ratio < 1 else ("too_many_tokens", "more")
            message = f"{call.counted} prompt tokens counted, {call.predicted} expected: {why} frames or pixels than asked for"
            found.append(_finding(run, clip, call, rule, message))
    return found


def _ratio(call: Sent) -> float | None:
    return call.counted / call.predicted if call.predicted and call.counted is not None else None


def _finding(run: int, clip: str, call: Sent, rule: str, message: str) -> Finding:
    return Finding(
        kind="provider",
        rule=rule,
        run=run,
        clip=clip,
        stage=call.stage,
        question_id=call.key.question_id,
        party=call.key.party,
        event=call.event,
        message=message,
    )
