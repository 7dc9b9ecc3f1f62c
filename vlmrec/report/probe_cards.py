"""Cards of probes that lie in a store: the table of one, and what a condition asks that its model's card says is ignored."""

from collections.abc import Sequence
from pathlib import Path

from vlmrec.config import Config, ResolvedModel
from vlmrec.errors import LogError, ServiceError
from vlmrec.log.format import LogKind
from vlmrec.log.reader import open_log
from vlmrec.log.store import run_logs, run_path
from vlmrec.projections.core import Projected, project
from vlmrec.projections.probe import Card, Latency, ProbeCard
from vlmrec.report.logs import open_sources
from vlmrec.report.table import Table
from vlmrec.stages.condition import Condition
from vlmrec.stages.endpoints import REPLAY

ProjectedCard = Projected[Card, Latency]


def read_card(path: Path) -> ProjectedCard:
    """The card of the probe logged at ``path``."""
    with open_sources([path]) as logs:
        return project(ProbeCard(), logs)


def check_reached(card: ProjectedCard, path: Path) -> None:
    """Raise ServiceError where no call of the probe logged at ``path`` succeeded."""
    if card.measured.slowest_s is None:
        called = next(check for check in card.result.checks if check.name == "model callable")
        raise ServiceError(
            f"no call to {card.result.model} at {card.result.endpoint} succeeded ({called.detail}); "
            f"check the address, the model's name and the key, then probe again; what was tried is in {path}"
        )


def latest_card(store: Path, model: str) -> ProjectedCard | None:
    """The card of the probe of ``model`` that began last; None where there is none in ``store``."""
    found: list[tuple[str, Path]] = []
    for path in run_logs(store):
        try:
            with open_log(path) as log:
                if log.info.kind is LogKind.PROBE:
                    found.append((log.info.created, path))
        except LogError:
            continue
    for _, path in sorted(found, reverse=True):
        card = read_card(path)
        if card.result.model == model:
            return card
    return None


def card_warnings(card: Card, condition: Condition, *, fps: float | None, samples_in_one_call: bool) -> tuple[str, ...]:
    """What ``condition`` asks for and the card says is ignored, refused or not seen."""
    asked: Sequence[tuple[bool, str, str]] = (
        (fps is not None, "frame rate honoured", "a frame rate is asked of the server"),
        (condition.video in ("full", "window"), "video seen", "a video is sent"),
        (condition.video.startswith("frames-"), "images in a request", "frames are sent as images"),
        (condition.format == "schema", "structured output", "F=schema constrains the reply"),
        (samples_in_one_call, "n > 1", "several samples are asked for in one call"),
    )
    found = []
    for applies, name, what in asked:
        check = next((each for each in card.checks if each.name == name), None)
        if applies and check is not None and check.verdict in ("no", "ignored"):
            found.append(f"{what}, but the probe of {card.model} found: {name}: {check.verdict} ({check.detail})")
    return tuple(found)


def asked_in_vain(
    store: Path, config: Config, condition: Condition, *, fps: float | None, base_urls: tuple[str, ...] = ()
) -> tuple[str, ...]:
    """What a run asks that its provider can't do, or that the newest probe of its model found to be ignored."""
    if condition.model.startswith(REPLAY):
        return ()
    resolved = config.resolve(condition.model, base_urls=base_urls)
    card = latest_card(store, condition.model)
    probed = card_warnings(card.result, condition, fps=fps, samples_in_one_call=False) if card is not None else ()
    return (*provider_warnings(resolved, condition, fps=fps), *probed)


def provider_warnings(resolved: ResolvedModel, condition: Condition, *, fps: float | None) -> tuple[str, ...]:
    """What ``condition`` asks for and the settings say that the provider can't do."""
    provider, name = resolved.provider, resolved.provider_name
    found = []
    if condition.video in ("full", "window") and "data_url" not in provider.deliveries:
        found.append(f"a video is sent, but {name} takes no video ({provider.note}); use V=frames-…")
    if fps is not None and provider.accepts is not None and "media_io_kwargs" not in provider.accepts:
        found.append(f"a frame rate is asked for, but {name} reads no field for it; it is left out")
    return tuple(found)


def card_tables(projected: ProjectedCard) -> tuple[Table, ...]:
    """The card for people."""
    card, measured = projected.result, projected.measured
    rows = [(check.name, check.verdict, check.detail) for check in card.checks]
    notes = [
        f"served as {card.served_model or '?'} at {card.endpoint}",
        f"median latency: text {_seconds(measured.text_s)}, video {_seconds(measured.video_s)}; {measured.calls} calls",
    ]
    return (Table(f"Card of {card.model}", ("check", "verdict", "detail"), rows, notes),)


def free_run_id(store: Path, model: str) -> str:
    """``probe-MODEL``, numbered where there is one already."""
    slug = "".join(letter if letter.isalnum() and letter.isascii() else "-" for letter in model.lower()).strip("-")
    name = f"probe-{slug}"[:90]
    numbered = (name, *(f"{name}-{number}" for number in range(2, 10_000)))
    return next(each for each in numbered if not run_path(store, each).exists())


def _seconds(value: float | None) -> str:
    return "-" if value is None else f"{value:.3g} s"
