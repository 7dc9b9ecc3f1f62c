"""From a turn to the bytes of a call, what a log may hold of it, and its fingerprint. Pure.

What is stored is what is sent, media replaced by their hashes. The fingerprint is the hash of that
in canonical form: everything that can change the reply and nothing else (no base URL, no key, no
signature).
"""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, NamedTuple

from msgspec import Meta, Struct

from vlmrec.canonical import canonical_json, json_blob, sha256_hex
from vlmrec.events import Sample, Stage, TurnOpened
from vlmrec.models.presets import Family, Provider
from vlmrec.models.request import Prefix, encode_prefix, encode_request, whole_request
from vlmrec.models.structured import accepted_fields, schema_fields, strict_schema
from vlmrec.stages.contract import answer_schema, coupled_answer_schema
from vlmrec.stages.prompts import Prompt
from vlmrec.table import table_schema
from vlmrec.terms import Blob, JsonValue

SEED_SPACING = 1000
"""Servers that make n samples in one call use the seeds after the one given; samples must not overlap."""


class Wire(Struct, frozen=True, kw_only=True):
    """How the model's server is spoken to: what of a provider's settings can change a request."""

    model: Annotated[str, Meta(description="The model's name as it is sent.")] = ""
    family: Family = "plain"
    thinking: bool = False
    structured: Literal["response_format", "structured_outputs", "none"] = "response_format"
    root_any_of: bool = False
    accepts: tuple[str, ...] | None = None
    max_tokens_field: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    top_k_off: int = 0
    stream: bool = False
    extra: dict[str, Any] = {}

    @property
    def provider(self) -> Provider:
        """The same as the model side's functions take it."""
        return Provider(
            base_urls=(),
            structured=self.structured,
            accepts=self.accepts,
            max_tokens_field=self.max_tokens_field,
            top_k_off=self.top_k_off,
            extra=self.extra,
        )


class Parameters(Struct, frozen=True, kw_only=True):
    """Sampling and limits of a run's calls. Everything here can change a reply, and stands in the manifest."""

    wire: Wire = Wire()
    temperature: float = 0.0
    top_p: float | None = None
    top_k: int | None = None
    max_tokens: Annotated[int, Meta(ge=1)] = 1024
    table_max_tokens: Annotated[int, Meta(ge=1)] = 4096
    seed: int | None = 0
    fps: Annotated[float | None, Meta(description="Server-side frame rate under V=full; null leaves the default.")] = (
        None
    )


class CallSpec(NamedTuple):
    """One call, ready to be recorded and sent."""

    content: tuple[bytes, ...]
    request: Blob
    fingerprint: str
    tail: str
    predicted: int | None = None


def call_fields(parameters: Parameters, turn: TurnOpened, sample: Sample, *, constrained: bool) -> dict[str, JsonValue]:
    """The request's top-level fields, in a fixed order, those that the server reads."""
    return _all_fields(parameters, turn, sample, constrained=constrained)[0]


def left_out(parameters: Parameters, turn: TurnOpened) -> tuple[str, ...]:
    """The sampling fields that were set and are not sent, because the server doesn't read them."""
    return _all_fields(parameters, turn, 0, constrained=False)[1]


def _all_fields(
    parameters: Parameters, turn: TurnOpened, sample: Sample, *, constrained: bool
) -> tuple[dict[str, JsonValue], tuple[str, ...]]:
    wire = parameters.wire
    fields: dict[str, JsonValue] = {"model": wire.model, "max_tokens": max_tokens(parameters, turn)}
    fields["temperature"] = parameters.temperature
    if parameters.top_p is not None:
        fields["top_p"] = parameters.top_p
    if parameters.top_k is not None:
        fields["top_k"] = parameters.top_k
    if parameters.seed is not None:
        fields["seed"] = parameters.seed + (0 if sample == "all" else sample) * SEED_SPACING
    if sample == "all":
        fields["n"] = turn.samples
    if parameters.fps is not None:
        fields["media_io_kwargs"] = {"video": {"fps": parameters.fps}}
    if wire.stream:
        fields |= {"stream": True, "stream_options": {"include_usage": True}}
    kept, dropped = accepted_fields(fields, wire.provider)
    if constrained and turn.stage is not Stage.SCENE:
        name = "entity_table" if turn.stage is Stage.TABLE else "answer"
        kept |= schema_fields(_asked_schema(turn, wire), name=name, provider=wire.provider)
    return kept, dropped


def _asked_schema(turn: TurnOpened, wire: Wire) -> dict[str, JsonValue]:
    if turn.stage is Stage.TABLE:
        return strict_schema(table_schema())
    return coupled_answer_schema(turn.options) if wire.root_any_of else answer_schema(turn.options)


def encode_start(prompt: Prompt, parts: Sequence[Mapping[str, JsonValue]]) -> Prefix:
    """The shared start of every call of a clip, stage and window: system text, media, table or scene."""
    return encode_prefix(messages=[_system(prompt)], content=[*parts, *map(_text, prompt.lead)])


def build_call(
    prompt: Prompt, loggable: Sequence[Mapping[str, JsonValue]], fields: Mapping[str, JsonValue], prefix: Prefix | None
) -> CallSpec:
    """A call from its texts, the media's loggable parts and the top-level fields.

    Without ``prefix`` the call can be fingerprinted but not sent.
    """
    stored = whole_request(
        messages=[_system(prompt)],
        prefix_content=[*loggable, *map(_text, prompt.lead)],
        content=[_text(prompt.tail)],
        fields=fields,
    )
    content = encode_request(prefix, content=[_text(prompt.tail)], fields=fields) if prefix is not None else ()
    return CallSpec(content, json_blob(stored), fingerprint(stored), prompt.tail)


def fingerprint(stored: JsonValue) -> str:
    """``v1:`` and the SHA-256 of the stored request as canonical JSON."""
    return f"v1:{sha256_hex(canonical_json(stored))}"


def max_tokens(parameters: Parameters, turn: TurnOpened) -> int:
    """The limit on a reply's length, by what it is a reply to."""
    return parameters.table_max_tokens if turn.stage in (Stage.TABLE, Stage.SCENE) else parameters.max_tokens


def _system(prompt: Prompt) -> dict[str, JsonValue]:
    return {"role": "system", "content": prompt.system}


def _text(text: str) -> dict[str, JsonValue]:
    return {"type": "text", "text": text}
