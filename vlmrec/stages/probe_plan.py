"""What a probe asks, step by step. Pure.

Each step is one or more calls whose replies answer one question about the server. A step says what
the server would count if it did as asked, so that the card needs nothing but the log.
"""

from typing import Annotated, Any

from msgspec import Meta, Struct

from vlmrec.media.tokens import image_tokens, video_tokens
from vlmrec.models.presets import Provider
from vlmrec.models.structured import schema_fields
from vlmrec.stages.probe_media import FPS, FRAMES, HEIGHT, WIDTH

MEGABYTE = 1_000_000
QUESTION = "What moves in the picture? Answer in one short sentence."
OTHER_QUESTION = "Is anything bright in the picture? Answer in one short sentence."
TEXT = "Name one colour. Answer in one word."
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "colour": {"type": "string", "maxLength": 30},
        "count": {"type": "integer", "minimum": 0, "maximum": 9},
    },
    "required": ["colour", "count"],
    "additionalProperties": False,
}
SCHEMA_TEXT = "Describe the picture as JSON with the keys colour (text) and count (integer from 0 to 9)."
IMAGES = (1, 5, 16, 40)
SIZES_MB = (1, 4, 10, 20, 40)
SMALL_CLIP_LIMIT = 250_000
"""Above one frame of 640 x 360, far below a clip of them: bites only where the limit is for the whole clip."""
SMALL_FRAME_LIMIT = 60_000
"""Below one frame: bites wherever any limit is obeyed."""


class Step(Struct, frozen=True, kw_only=True):
    """One call of a probe. ``media`` names bodies; ``group`` ties steps of which the first failure ends the rest."""

    name: str
    text: str
    media: tuple[str, ...] = ()
    fields: dict[str, Any] = {}
    sample: int = 0
    group: str | None = None
    url: str | None = None
    asks: Annotated[str, Meta(description="The request field that the step is about.")] = ""
    predicted_media_tokens: int | None = None
    size: int | None = None


def plan_steps(provider: Provider, *, video_url: str | None = None, largest_mb: int = 20) -> tuple[Step, ...]:
    """The steps for a provider, in the order they are taken. Fields that it doesn't read are not asked for."""

    def reads(field: str) -> bool:
        return provider.accepts is None or field in provider.accepts

    steps = [
        Step(name="text", text=TEXT),
        Step(name="text", text=TEXT, sample=1),
        _video("video", provider.default_fps),
        Step(name="prefix", text=OTHER_QUESTION, media=("clip",)),
    ]
    if reads("media_io_kwargs"):
        for rate in (1, 4):
            fields = {"media_io_kwargs": {"video": {"fps": rate}}}
            steps.append(_video(f"fps_{rate}", float(rate), fields, "media_io_kwargs"))
    if reads("mm_processor_kwargs"):
        for name, limit in (("pixels_clip", SMALL_CLIP_LIMIT), ("pixels_frame", SMALL_FRAME_LIMIT)):
            fields = {"mm_processor_kwargs": {"size": {"shortest_edge": 4096, "longest_edge": limit}}}
            steps.append(_video(name, provider.default_fps, fields, "mm_processor_kwargs", limit))
    for number in IMAGES:
        names = tuple(f"still-{index}" for index in range(number))
        tokens = number * image_tokens(320, 180)
        steps.append(
            Step(
                name=f"images_{number}",
                text=TEXT,
                media=names,
                group="images",
                predicted_media_tokens=tokens,
                size=number,
            )
        )
    if provider.structured != "none":
        asked = schema_fields(SCHEMA, name="probe", provider=provider)
        steps.append(Step(name="schema", text=SCHEMA_TEXT, fields=asked, asks=provider.structured))
        thinking = {**asked, **thinking_fields(provider)}
        steps.append(Step(name="schema_thinking", text=SCHEMA_TEXT, fields=thinking, asks=provider.structured))
    steps.append(Step(name="n", text=TEXT, fields={"n": 3, "temperature": 0.7}, asks="n"))
    if video_url is not None:
        steps.append(Step(name="url", text=QUESTION, url=video_url))
    for megabytes in SIZES_MB:
        if megabytes <= largest_mb:
            size = megabytes * MEGABYTE
            steps.append(
                Step(name=f"inline_{megabytes}", text=QUESTION, media=(f"clip-{size}",), group="inline", size=size)
            )
    return tuple(steps)


def thinking_fields(provider: Provider) -> dict[str, Any]:
    """How the provider is asked to let its model think before it answers."""
    if provider.accepts is None:
        return {"chat_template_kwargs": {"enable_thinking": True}}
    return {"reasoning": {"enabled": True}} if "reasoning" in provider.accepts else {}


def _video(
    name: str, fps: float | None, fields: dict[str, Any] | None = None, asks: str = "", limit: int | None = None
) -> Step:
    bound = {"longest_edge": limit} if limit is not None else {}
    predicted = video_tokens(FRAMES, float(FPS), WIDTH, HEIGHT, fps=fps, **bound).tokens if fps is not None else None
    return Step(
        name=name,
        text=QUESTION,
        media=("clip",),
        fields=fields or {},
        asks=asks,
        predicted_media_tokens=predicted,
        size=limit,
    )
