"""The checks of a probe's card: each reads the steps it rests on and says what they show. Pure."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from vlmrec.events import CallCompleted, CallFailed
from vlmrec.models.envelope import Choice, read_envelope
from vlmrec.models.replies.read import read_reply
from vlmrec.models.replies.schema import compile_schema
from vlmrec.projections.core import BlobOf
from vlmrec.stages.probe_plan import IMAGES, SCHEMA, SIZES_MB

Verdict = Literal["yes", "no", "ignored", "unknown", "not_tried"]
NOTICEABLE = 30
"""Tokens by which a prompt with media must exceed one without, for the media to have been seen."""
SAME = 0.02
"""Share within which two counts of tokens are taken as the same."""


class Check(Struct, frozen=True, kw_only=True):
    """One thing that was found out."""

    name: str
    verdict: Verdict
    detail: str
    events: tuple[str, ...] = ()


class Taken(NamedTuple):
    """How a step ended: its last event, and whether it completed."""

    id: str
    data: CallCompleted | CallFailed


Steps = Mapping[tuple[str, int], Taken]


class ProbeReading:
    """The steps of a probe, as checks ask for them."""

    def __init__(self, steps: Steps, extra: Mapping[str, Any], blob: BlobOf) -> None:
        self.steps = steps
        self.listing: Mapping[str, Any] = extra.get("listing") or {}
        self._planned: Mapping[str, Any] = extra.get("steps") or {}
        self._blob = blob

    def planned(self, step: str, field: str) -> Any:
        return (self._planned.get(step) or {}).get(field)

    def done(self, step: str, sample: int = 0) -> CallCompleted | None:
        taken = self.steps.get((step, sample))
        return taken.data if taken is not None and isinstance(taken.data, CallCompleted) else None

    def failed(self, step: str) -> CallFailed | None:
        taken = self.steps.get((step, 0))
        return taken.data if taken is not None and isinstance(taken.data, CallFailed) else None

    def ids(self, *steps: str) -> tuple[str, ...]:
        return tuple(taken.id for (name, _), taken in sorted(self.steps.items()) if name in steps)

    def body(self, step: str, sample: int = 0) -> bytes | None:
        done = self.done(step, sample)
        return self._blob(done.body.sha256) if done is not None else None

    def choices(self, step: str, sample: int = 0) -> tuple[Choice, ...]:
        body, done = self.body(step, sample), self.done(step, sample)
        if body is None or done is None:
            return ()
        return read_envelope(body, done.headers.get("content-type", "")).choices

    def media_tokens(self, step: str) -> int | None:
        """What the media of a step cost: as told, else against the prompt of text alone."""
        done, text = self.done(step), self.done("text")
        if done is None:
            return None
        if done.usage.media_tokens is not None:
            return done.usage.media_tokens
        if text is None or text.usage.prompt_tokens is None or done.usage.prompt_tokens is None:
            return None
        return done.usage.prompt_tokens - text.usage.prompt_tokens


def _check(name: str, verdict: Verdict, detail: str, events: tuple[str, ...] = ()) -> Check:
    return Check(name=name, verdict=verdict, detail=detail, events=events)


def _untold(reading: ProbeReading, name: str, step: str) -> Check:
    """A check whose step failed, or was never taken."""
    failed = reading.failed(step)
    if failed is not None:
        return _check(name, "no", f"{failed.reason}: {failed.message}", reading.ids(step))
    return _check(name, "not_tried", "the probe didn't ask")


def _key_accepted(reading: ProbeReading) -> Check:
    first = reading.failed("text")
    if first is not None and first.reason == "not_authorised":
        return _check("key accepted", "no", first.message, reading.ids("text"))
    if first is not None and first.status is None:
        return _check("key accepted", "unknown", first.message, reading.ids("text"))
    if first is None and reading.done("text") is None:
        return _check("key accepted", "not_tried", "the probe didn't ask")
    return _check("key accepted", "yes", "the server answered", reading.ids("text"))


def _callable_model(reading: ProbeReading) -> Check:
    if reading.done("text") is None:
        return _untold(reading, "model callable", "text")
    listed = reading.listing.get("listed")
    detail = "and listed" if listed else "though not listed" if listed is False else "the list could not be had"
    if (context := reading.listing.get("context")) is not None:
        detail += f", with a context of {context} tokens"
    return _check("model callable", "yes", detail, reading.ids("text"))


def _video_seen(reading: ProbeReading) -> Check:
    name = "video seen"
    if reading.done("video") is None:
        return _untold(reading, name, "video")
    tokens = reading.media_tokens("video")
    if tokens is None:
        return _check(name, "unknown", "the replies tell no prompt tokens", reading.ids("text", "video"))
    seen = tokens > NOTICEABLE
    detail = f"{tokens} prompt tokens more than text alone" if seen else "no more prompt tokens than text alone"
    return _check(name, "yes" if seen else "no", detail, reading.ids("text", "video"))


def _frame_rate(reading: ProbeReading) -> Check:
    name = "frame rate honoured"
    refused = reading.failed("fps_4") or reading.failed("fps_1")
    if refused is not None:
        return _check(name, "no", f"{refused.reason}: {refused.message}", reading.ids("fps_1", "fps_4"))
    if reading.done("fps_1") is None or reading.done("fps_4") is None:
        return _check(name, "not_tried", "the provider reads no field for it")
    slow, fast = reading.media_tokens("fps_1"), reading.media_tokens("fps_4")
    events = reading.ids("fps_1", "fps_4")
    if slow is None or fast is None:
        return _check(name, "unknown", "the replies tell no prompt tokens", events)
    detail = f"{slow} media tokens at 1 frame a second, {fast} at 4"
    return _check(name, "ignored" if _alike(slow, fast) else "yes", detail, events)


def _pixel_limit(reading: ProbeReading) -> Check:
    name = "pixel limit"
    steps = ("pixels_clip", "pixels_frame")
    refused = reading.failed(steps[0]) or reading.failed(steps[1])
    if refused is not None:
        return _check(name, "no", f"{refused.reason}: {refused.message}", reading.ids(*steps))
    if reading.done(steps[0]) is None or reading.done(steps[1]) is None:
        return _check(name, "not_tried", "the provider reads no field for it")
    whole, clip, frame = (reading.media_tokens(step) for step in ("video", *steps))
    events = reading.ids("video", *steps)
    if whole is None or clip is None or frame is None:
        return _check(name, "unknown", "the replies tell no prompt tokens", events)
    detail = (
        f"{whole} media tokens without a limit, {clip} at {reading.planned(steps[0], 'size')} pixels, "
        f"{frame} at {reading.planned(steps[1], 'size')}"
    )
    if not _alike(whole, clip):
        return _check(name, "yes", f"for the whole clip: {detail}", events)
    if not _alike(whole, frame):
        return _check(name, "yes", f"per frame: {detail}", events)
    return _check(name, "ignored", detail, events)


def _token_formula(reading: ProbeReading) -> Check:
    name = "tokens as predicted"
    pairs = [
        (step, counted, expected)
        for step in ("video", "fps_1", "fps_4")
        if (counted := reading.media_tokens(step)) is not None
        and isinstance(expected := reading.planned(step, "predicted_media_tokens"), int)
    ]
    if not pairs:
        return _check(name, "unknown", "nothing to compare", reading.ids("video"))
    detail = ", ".join(f"{step}: {counted} counted, {expected} predicted" for step, counted, expected in pairs)
    agreed = all(_alike(counted, expected, SAME * 5) for _, counted, expected in pairs)
    return _check(name, "yes" if agreed else "no", detail, reading.ids(*(step for step, _, _ in pairs)))


def _images(reading: ProbeReading) -> Check:
    steps = [f"images_{number}" for number in IMAGES]
    return _largest(reading, "images in a request", steps, lambda size: f"{size}")


def _inline(reading: ProbeReading) -> Check:
    steps = [f"inline_{megabytes}" for megabytes in SIZES_MB]
    return _largest(reading, "largest data URL", steps, lambda size: f"{size / 1_000_000:g} MB of video")


def _fetched_url(reading: ProbeReading) -> Check:
    name = "fetches a URL"
    if reading.done("url") is None:
        return _untold(reading, name, "url")
    tokens = reading.media_tokens("url")
    if tokens is None:
        return _check(name, "unknown", "the replies tell no prompt tokens", reading.ids("url"))
    return _check(name, "yes" if tokens > NOTICEABLE else "no", f"{tokens} media tokens", reading.ids("url"))


def _structured_plain(reading: ProbeReading) -> Check:
    return _structured(reading, "structured output", "schema")


def _structured_thinking(reading: ProbeReading) -> Check:
    check = _structured(reading, "structured output with reasoning", "schema_thinking")
    if check.verdict == "yes" and not _has_thought(reading, "schema_thinking"):
        # a field that is taken and not acted on leaves the question open
        return replace(check, verdict="unknown", detail=f"{check.detail}, and no reasoning to go with it")
    return check


def _several_choices(reading: ProbeReading) -> Check:
    name = "n > 1"
    if reading.done("n") is None:
        return _untold(reading, name, "n")
    number = len(reading.choices("n"))
    return _check(name, "yes" if number == 3 else "ignored", f"3 asked for, {number} given", reading.ids("n"))


def _repeatable(reading: ProbeReading) -> Check:
    name = "repeatable at temperature 0"
    contents = [[choice.content for choice in reading.choices("text", sample)] for sample in (0, 1)]
    if not all(contents):
        return _check(name, "not_tried", "two replies to the same request are needed", reading.ids("text"))
    alike = contents[0] == contents[1]
    return _check(
        name, "yes" if alike else "no", "same request, " + ("same" if alike else "other") + " text", reading.ids("text")
    )


def _cached_prefix(reading: ProbeReading) -> Check:
    name = "cached tokens on a shared prefix"
    done = reading.done("prefix")
    if done is None:
        return _untold(reading, name, "prefix")
    cached = done.usage.cached_tokens
    if cached is None:
        return _check(name, "unknown", "the server tells no cached tokens", reading.ids("prefix"))
    detail = f"{cached} of {done.usage.prompt_tokens} prompt tokens"
    return _check(name, "yes" if cached else "no", detail, reading.ids("prefix"))


CHECKS: tuple[Callable[[ProbeReading], Check], ...] = (
    _key_accepted,
    _callable_model,
    _video_seen,
    _frame_rate,
    _pixel_limit,
    _token_formula,
    _images,
    _inline,
    _fetched_url,
    _structured_plain,
    _structured_thinking,
    _several_choices,
    _repeatable,
    _cached_prefix,
)


def _structured(reading: ProbeReading, name: str, step: str) -> Check:
    body = reading.body(step)
    if body is None:
        return _untold(reading, name, step)
    read = read_reply(body, compile_schema(SCHEMA))
    if read.outcome == "answer":
        verdict: Verdict = "yes" if read.strictness == "strict" else "ignored"
        detail = "valid JSON" if verdict == "yes" else f"JSON only after mending: {', '.join(read.recovered)}"
        return _check(name, verdict, detail, reading.ids(step))
    if read.reason == "empty_content":
        return _check(name, "no", "the answer got lost: no content beside the reasoning", reading.ids(step))
    if read.reason == "truncated":
        return _check(name, "unknown", "cut by the token limit", reading.ids(step))
    return _check(name, "ignored", f"free text ({read.reason})", reading.ids(step))


def _has_thought(reading: ProbeReading, step: str) -> bool:
    done, body = reading.done(step), reading.body(step)
    if done is not None and done.usage.reasoning_tokens:
        return True
    return body is not None and bool(read_reply(body, compile_schema(SCHEMA)).reasoning)


def _largest(reading: ProbeReading, name: str, steps: Sequence[str], shown: Callable[[int], str]) -> Check:
    """How far a growing series went, and what stopped it."""
    tried = [step for step in steps if reading.done(step) is not None or reading.failed(step) is not None]
    if not tried:
        return _check(name, "not_tried", "the probe didn't ask")
    good = [step for step in tried if reading.done(step) is not None]
    stopped = next((failed for step in tried if (failed := reading.failed(step)) is not None), None)
    counted = [tokens for step in good if (tokens := reading.media_tokens(step)) is not None]
    if counted and max(counted) <= NOTICEABLE:
        return _check(name, "ignored", "taken, with no more prompt tokens than text alone", reading.ids(*tried))
    size = reading.planned(good[-1], "size") if good else None
    detail = f"at least {shown(size)}" if isinstance(size, int) else "none"
    if stopped is not None:
        detail = f"{detail.removeprefix('at least ')}, then {stopped.reason}: {stopped.message}"
    return _check(name, "yes" if good else "no", detail, reading.ids(*tried))


def _alike(one: int, other: int, share: float = SAME) -> bool:
    return abs(one - other) <= share * max(abs(one), abs(other), 1)
