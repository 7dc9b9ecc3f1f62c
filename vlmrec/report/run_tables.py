"""One run as tables and lines: ``show``, turn by turn, and ``status``."""

from collections.abc import Iterator

from vlmrec.projections.core import Projected
from vlmrec.projections.meter import CallFigures
from vlmrec.projections.shown import ClipShown, Shown, ShownMeasured, TurnShown
from vlmrec.projections.status import RunStatus, RunTimes
from vlmrec.report.table import Table, answer, money, percent, seconds


def turns_table(projected: Projected[Shown, ShownMeasured]) -> Table:
    """Every turn of every clip, a row each."""
    calls = _calls(projected.measured)
    rows = [
        (
            clip.clip,
            turn.round,
            turn.question_id,
            turn.party,
            answer(turn.answer.status, turn.answer.value) if turn.answer else _why_none(turn),
            _span(turn),
            _count(turn.before),
            _count(turn.after),
            seconds(calls[key].latency_total_s) if (key := _key(clip, turn)) in calls else "-",
            money(calls[key].cost_usd) if key in calls else "-",
        )
        for clip in projected.result.clips
        for turn in clip.turns
    ]
    columns = ("clip", "round", "question", "party", "answer", "evidence", "before", "after", "latency", "cost")
    return Table("Turns", columns, rows, notes=[f"note: {note.text}" for note in projected.result.notes])


def clips_table(projected: Projected[Shown, ShownMeasured]) -> Table:
    """Every clip, a row each."""
    rows = [
        (
            clip.clip,
            clip.outcome.outcome if clip.outcome else "not finished",
            ", ".join(sorted({candidate.chart for candidate in clip.outcome.candidates})) if clip.outcome else "-",
            len(clip.turns),
            "; ".join(_flags(clip)) or "-",
        )
        for clip in projected.result.clips
    ]
    return Table("Clips", ("clip", "outcome", "charts", "turns", "remarks"), rows)


def clip_story(projected: Projected[Shown, ShownMeasured]) -> Iterator[str]:
    """A clip in full: each turn with question, options, answer, reason, evidence, candidates and figures."""
    calls = _calls(projected.measured)
    for clip in projected.result.clips:
        length = f", {clip.duration_s:.2f} s" if clip.duration_s is not None else ""
        yield f"{clip.clip}  ({clip.path or 'not opened'}{length})"
        for remark in _flags(clip, failure=not _failed(clip)):  # the ending says why a clip failed
            yield f"  ! {_without_path(remark, clip)}"
        for turn in clip.turns:
            yield ""
            yield from _turn_lines(turn, calls.get(_key(clip, turn)))
        yield ""
        yield f"  {_without_path(_ending(clip), clip)}"


def status_lines(projected: Projected[RunStatus, RunTimes], *, sealed: bool) -> Iterator[str]:
    """How far the run has come."""
    done, times = projected.result, projected.measured
    of = f" of {done.clips}" if done.clips is not None else ""
    yield f"run        {projected.provenance[0].run_id}  ({times.state}, {'sealed' if sealed else 'unsealed'})"
    yield f"condition  {done.condition or '-'}"
    yield f"clips      {done.finished + done.failed}{of} done: {done.finished} finished, {done.failed} failed, {done.begun} under way"
    if done.outcomes:
        yield f"outcomes   {', '.join(f'{outcome} {count}' for outcome, count in done.outcomes.items())}"
    if done.incomplete or done.truncated:
        yield f"           {done.incomplete} incomplete, {done.truncated} decoded only in part"
    if done.several_streams:
        yield f"           {done.several_streams} of several video streams, of which one is shown (vlmrec media probe)"
    yield f"turns      {done.turns_answered} answered of {done.turns_opened} opened"
    yield f"calls      {_calls_line(times.calls)}, {times.calls_in_flight} in flight"
    yield f"cost       {money(times.calls.cost_usd, times.calls.cost_unknown)}"
    rate = f"{times.clips_per_hour:.1f} clips an hour" if times.clips_per_hour is not None else "-"
    yield f"rate       {rate}, time left {seconds(times.left_s)}"
    if times.state in ("running", "stalled"):
        yield f"last event {seconds(times.quiet_s)} ago"
    if done.excluded is not None:
        yield f"! noted as not to be counted: {done.excluded}"
    for failure in done.failures:
        again = "; can be tried again with --resume --retry-failed" if failure.retryable else ""
        yield f"! {failure.clip} failed ({failure.cause}): {failure.reason}{again}"


def _turn_lines(turn: TurnShown, calls: CallFigures | None) -> Iterator[str]:
    yield f"  round {turn.round}  {turn.question_id} / {turn.party}"
    if turn.text:
        yield f"    asked      {turn.text}"
    if turn.options:
        yield f"    options    {', '.join(f'{o.code} ({o.label})' for o in turn.options)}"
    for sample in turn.samples:
        if len(turn.samples) > 1 or sample.outcome == "no_answer":
            said = answer(sample.status, sample.value) if sample.outcome == "answer" else f"no answer: {sample.reason}"
            yield f"    sample {sample.sample}   {said}, {sample.strictness}"
    if turn.answer is not None:
        how = f", {turn.samples[0].strictness}" if len(turn.samples) == 1 else ""
        demoted = (
            f", demoted from {turn.answer.demoted_from} by {turn.answer.demoted_by}" if turn.answer.demoted_from else ""
        )
        yield f"    answered   {answer(turn.answer.status, turn.answer.value)}{how}{demoted}"
        if turn.answer.explanation:
            yield f"    reason     {turn.answer.explanation}"
        yield f"    evidence   {_span(turn)}"
    else:
        yield f"    answered   {_why_none(turn)}"
    if flags := dict.fromkeys(flag for sample in turn.samples for flag in sample.flags):
        yield f"    flags      {', '.join(flags)}"
    for violation in turn.violations:
        yield f"    rule       {violation.rule}: {violation.message} ({violation.action})"
    yield f"    candidates {_charts(turn.before)} -> {_charts(turn.after)}"
    if turn.eliminated:
        yield f"    ruled out  {', '.join(f'{gone.chart} (self is {gone.self_is})' for gone in turn.eliminated)}"
    if calls is not None:
        yield f"    took       {_calls_line(calls)}, {seconds(calls.latency_total_s)}, {money(calls.cost_usd)}"


def _ending(clip: ClipShown) -> str:
    outcome = clip.outcome
    if outcome is None:
        return "outcome: not finished"
    charts = ", ".join(f"{c.chart} (self is {c.self_is}, {c.fault_self} %)" for c in outcome.candidates)
    why = f": {outcome.reason}" if outcome.reason else ""
    return f"outcome: {outcome.outcome}{why}{'; ' + charts if charts else ''}{'; incomplete' if outcome.incomplete else ''}"


def _failed(clip: ClipShown) -> bool:
    return clip.outcome is not None and clip.outcome.outcome == "failed"


def _without_path(text: str, clip: ClipShown) -> str:
    """``text`` without the clip's path before what happened to it, where the path stands above."""
    return text.replace(f"{clip.path}: ", "", 1) if clip.path else text


def _flags(clip: ClipShown, *, failure: bool = True) -> list[str]:
    flags = []
    if clip.truncated:
        flags.append("decoded only in part")
    if clip.video_streams > 1:
        flags.append(f"{clip.video_streams} video streams, only stream {clip.stream_index} is shown")
    if failure and clip.media_failure is not None:
        flags.append(clip.media_failure)
    if clip.outcome is not None and clip.outcome.incomplete:
        flags.append("incomplete")
    if failure and _failed(clip) and clip.media_failure is None:
        flags.append((clip.outcome and clip.outcome.reason) or "failed")
    flags.extend(f"{'not to be counted' if note.exclude else 'note'}: {note.text}" for note in clip.notes)
    return flags


def _calls(measured: ShownMeasured) -> dict[tuple[str, str, str], CallFigures]:
    return {
        (turn.clip, turn.question_id, turn.party): turn.calls for turn in measured.turns if turn.stage == "predicate"
    }


def _key(clip: ClipShown, turn: TurnShown) -> tuple[str, str, str]:
    return clip.clip, turn.question_id, turn.party


def _why_none(turn: TurnShown) -> str:
    reasons = sorted({sample.reason or "" for sample in turn.samples if sample.outcome == "no_answer"})
    return f"no answer: {', '.join(reasons)}" if reasons else "not yet"


def _span(turn: TurnShown) -> str:
    given = turn.answer
    if given is None or given.evidence_start is None:
        return "-"
    end = f"–{given.evidence_end:.2f}" if given.evidence_end is not None else ""
    return f"{given.evidence_start:.2f}{end} s"


def _count(charts: tuple[str, ...] | None) -> int | None:
    return None if charts is None else len(charts)


def _charts(charts: tuple[str, ...] | None) -> str:
    if charts is None:
        return "all"
    shown = ", ".join(charts[:6]) + (" …" if len(charts) > 6 else "")
    return f"{len(charts)} ({shown})" if charts else "0"


def _calls_line(calls: CallFigures) -> str:
    line = f"{calls.completed} completed"
    if calls.failed:
        line += f", {calls.failed} failed" + (f" ({calls.in_doubt} in doubt)" if calls.in_doubt else "")
    if calls.cached_share is not None:
        line += f", {percent(calls.cached_share)} of prompt tokens cached"
    return line
