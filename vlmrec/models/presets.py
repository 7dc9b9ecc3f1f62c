"""What is known of the usual providers, as data. ``vlmrec.toml`` overrides any of it field by field.

Facts and their sources are in docs/providers.md. A fact that was never seen on a live service is a
default to be checked with ``vlmrec probe``, not a promise.
"""

from decimal import Decimal
from typing import Annotated, Literal, TypeAlias

from msgspec import Meta, Struct

from vlmrec.models.budget import Price
from vlmrec.terms import JsonValue

Delivery: TypeAlias = Literal["data_url", "presigned_url", "frames", "file"]
Family: TypeAlias = Literal["plain", "think_answer", "cosmos"]

SAMPLING = ("temperature", "top_p", "max_tokens", "stop", "seed")


class Provider(Struct, frozen=True, kw_only=True):
    """A provider: where it is, who may call it, and what its server understands."""

    base_urls: tuple[str, ...]
    key_env: Annotated[str | None, Meta(description="Environment variable that holds the key.")] = None
    key_required: bool = True
    in_process: bool = False
    accepts: Annotated[
        tuple[str, ...] | None, Meta(description="Top-level request fields that the server reads; null: all are sent.")
    ] = None
    structured: Annotated[
        Literal["response_format", "structured_outputs", "none"],
        Meta(description="How a JSON Schema is asked for under F=schema."),
    ] = "response_format"
    root_any_of: Annotated[
        bool,
        Meta(description="A schema may be a choice between objects: grammar engines take it, strict mode doesn't."),
    ] = False
    max_tokens_field: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    top_k_off: Annotated[int, Meta(description="The value of top_k that means no limit.")] = 0
    deliveries: tuple[Delivery, ...] = ("data_url", "frames")
    max_inline_bytes: Annotated[int | None, Meta(description="Largest media body within a request.")] = None
    default_fps: Annotated[float | None, Meta(description="Frame rate the server uses when none is asked for.")] = None
    states_cost: Annotated[bool, Meta(description="`usage.cost` tells what a call cost.")] = False
    stream: bool = False
    timeout_s: float = 600.0
    in_flight: int = 8
    gpu_hour: Annotated[Decimal | None, Meta(description="USD per GPU and hour, in place of a price per token.")] = None
    gpus: int = 1
    headers: dict[str, str] = {}
    extra: Annotated[dict[str, JsonValue], Meta(description="Top-level fields added to every request.")] = {}
    note: str = ""


PRESETS: dict[str, Provider] = {
    "observer": Provider(
        base_urls=("http://observer/v1",),
        key_required=False,
        in_process=True,
        root_any_of=True,
        note="the embedded baseline; runs in this process and costs nothing",
    ),
    "vllm": Provider(
        base_urls=("http://localhost:8000/v1",),
        key_env="VLLM_API_KEY",
        key_required=False,
        root_any_of=True,
        deliveries=("data_url", "frames", "presigned_url", "file"),
        default_fps=2.0,
        timeout_s=1200.0,
        in_flight=32,
        note="frame rate and pixel limits need --trust-request-mm-kwargs from 0.31 on",
    ),
    "nim": Provider(
        base_urls=("http://localhost:8000/v1",),
        key_required=False,
        root_any_of=True,
        top_k_off=-1,
        default_fps=4.0,
        timeout_s=1200.0,
        in_flight=32,
        note="one video and five images a request",
    ),
    "openrouter": Provider(
        base_urls=("https://openrouter.ai/api/v1",),
        key_env="OPENROUTER_API_KEY",
        accepts=(*SAMPLING, "top_k", "response_format", "provider", "reasoning", "stream"),
        max_inline_bytes=7_500_000,
        states_cost=True,
        extra={"provider": {"allow_fallbacks": False, "require_parameters": True}},
        note="no frame rate and no pixel limit can be asked for",
    ),
    "nvidia": Provider(
        base_urls=("https://integrate.api.nvidia.com/v1",),
        key_env="NVIDIA_API_KEY",
        accepts=(*SAMPLING, "top_k", "response_format", "media_io_kwargs", "stream"),
        top_k_off=-1,
        max_inline_bytes=180_000,
        in_flight=4,
        note="about 40 requests a minute; a listed model need not be callable",
    ),
    "dashscope": Provider(
        base_urls=("https://dashscope-intl.aliyuncs.com/compatible-mode/v1",),
        key_env="DASHSCOPE_API_KEY",
        accepts=(*SAMPLING, "top_k", "response_format", "stream"),
        max_inline_bytes=7_500_000,
        default_fps=2.0,
        note="one frame per 0.5 s through this route, whatever is asked; clips of 2 s and longer",
    ),
    "gemini": Provider(
        base_urls=("https://generativelanguage.googleapis.com/v1beta/openai",),
        key_env="GEMINI_API_KEY",
        accepts=("temperature", "top_p", "max_tokens", "stop", "response_format", "stream"),
        deliveries=("frames",),
        note="a video part may be dropped in silence through this route: send frames",
    ),
    "openai": Provider(
        base_urls=("https://api.openai.com/v1",),
        key_env="OPENAI_API_KEY",
        accepts=("temperature", "top_p", "max_completion_tokens", "stop", "seed", "n", "response_format", "stream"),
        max_tokens_field="max_completion_tokens",
        deliveries=("frames",),
        note="no video input: send frames",
    ),
}

FREE = Price(prompt=Decimal(0), completion=Decimal(0))
