"""Probes of servers that behave differently: the card says what each does, and rests on the log alone."""

import base64
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from scripted_server import ChatCall, Reply, Rule, completion, error_body, scripted_server

from vlmrec.cli import cli
from vlmrec.commands.probe import command
from vlmrec.config import parse_config
from vlmrec.errors import ServiceError
from vlmrec.events import CallCompleted, CallFailed, CallRequested
from vlmrec.log.reader import open_log
from vlmrec.log.verify import verify_log
from vlmrec.media.tokens import image_tokens, video_tokens
from vlmrec.report.probe_cards import asked_in_vain, card_warnings, latest_card
from vlmrec.stages.condition import parse_condition
from vlmrec.stages.probe_media import FPS, FRAMES, HEIGHT, WIDTH, make_clip, make_still, padded

TEXT_TOKENS = 20


def parts(call: ChatCall, kind: str) -> list[str]:
    content = call.body["messages"][-1]["content"]
    return [part[kind]["url"] for part in content if part["type"] == kind]


def media_tokens(call: ChatCall) -> int:
    """What vLLM would count, by the formula."""
    fps = call.body.get("media_io_kwargs", {}).get("video", {}).get("fps", 2.0)
    edge = call.body.get("mm_processor_kwargs", {}).get("size", {}).get("longest_edge", 25_165_824)
    video = video_tokens(FRAMES, float(FPS), WIDTH, HEIGHT, fps=fps, longest_edge=edge).tokens
    return len(parts(call, "video_url")) * video + len(parts(call, "image_url")) * image_tokens(320, 180)


def obedient(call: ChatCall) -> Reply:
    """A server that does all that it is asked."""
    text = '{"colour": "red", "count": 1}' if "response_format" in call.body else f"red {call.body.get('seed')}"
    thoughts = {"reasoning": "something red"} if "chat_template_kwargs" in call.body else {}
    tokens = TEXT_TOKENS + media_tokens(call)
    cached = {"prompt_tokens_details": {"cached_tokens": 448}} if "Is anything" in call.text else {}
    usage = {"prompt_tokens": tokens, "completion_tokens": 9, **cached}
    return completion(text, model=call.body["model"], usage=usage, choices=call.body.get("n", 1), message=thoughts)


def deaf(call: ChatCall) -> Reply:
    """A server that answers everything with 200 and ignores video, fields and schema."""
    return completion(f"blue {call.number}", usage={"prompt_tokens": TEXT_TOKENS, "completion_tokens": 3})


def strict(call: ChatCall) -> Reply:
    """A server that refuses what it doesn't know, and bodies over 5 MB, and five images."""
    for field in ("media_io_kwargs", "mm_processor_kwargs", "response_format", "chat_template_kwargs"):
        if field in call.body:
            message = (
                f"Per-request {field} are disabled by default" if field.endswith("kwargs") else f"{field}: unknown"
            )
            return error_body(400, {"error": {"message": message, "param": field}})
    if len(call.raw) > 5_000_000:
        return Reply(413, b"<html><title>too large</title></html>", {"content-type": "text/html"})
    if len(parts(call, "image_url")) > 5:
        return error_body(400, {"error": {"message": "at most 5 images"}})
    if call.body.get("n", 1) > 1:
        return error_body(400, {"error": {"message": "n must be 1"}})
    seen = len(parts(call, "video_url")) + len(parts(call, "image_url"))
    return completion("red", usage={"prompt_tokens": TEXT_TOKENS + 100 * seen})


def thoughtless(call: ChatCall) -> Reply:
    """An obedient server whose model doesn't think, whatever it is asked."""
    body = {name: value for name, value in call.body.items() if name != "chat_template_kwargs"}
    return obedient(replace(call, body=body))


def silent(call: ChatCall) -> Reply:
    """A server without usage, that loses constrained answers in its reasoning."""
    if "response_format" in call.body:
        return completion(None, message={"reasoning": "thinking …"}, usage={})
    return completion("red", usage={})


def probe(store: Path, rule: Rule, *arguments: str) -> tuple[Result, dict[str, tuple[str, str]]]:
    with scripted_server(rule, model="m") as server:
        options = ["test/m", "--base-url", server.url, "--store", str(store), "--largest", "10", "--json", *arguments]
        result = CliRunner().invoke(command, options, standalone_mode=False)
    if result.exception is not None:
        raise result.exception
    checks = json.loads(result.stdout)["checks"]
    return result, {check["name"]: (check["verdict"], check["detail"]) for check in checks}


EXPECTED: list[tuple[Callable[[ChatCall], Reply], dict[str, str]]] = [
    (
        obedient,
        {
            "key accepted": "yes",
            "model callable": "yes",
            "video seen": "yes",
            "frame rate honoured": "yes",
            "pixel limit": "yes",
            "tokens as predicted": "yes",
            "images in a request": "yes",
            "largest data URL": "yes",
            "fetches a URL": "not_tried",
            "structured output": "yes",
            "structured output with reasoning": "yes",
            "n > 1": "yes",
            "repeatable at temperature 0": "yes",
            "cached tokens on a shared prefix": "yes",
        },
    ),
    (
        deaf,
        {
            "video seen": "no",
            "frame rate honoured": "ignored",
            "pixel limit": "ignored",
            "images in a request": "ignored",
            "largest data URL": "ignored",
            "structured output": "ignored",
            "n > 1": "ignored",
            "repeatable at temperature 0": "no",
            "cached tokens on a shared prefix": "unknown",
        },
    ),
    (
        strict,
        {
            "video seen": "yes",
            "frame rate honoured": "no",
            "pixel limit": "no",
            "images in a request": "yes",
            "largest data URL": "yes",
            "structured output": "no",
            "n > 1": "no",
        },
    ),
    (
        thoughtless,
        {
            "structured output": "yes",
            "structured output with reasoning": "unknown",
        },
    ),
    (
        silent,
        {
            "video seen": "unknown",
            "frame rate honoured": "unknown",
            "pixel limit": "unknown",
            "tokens as predicted": "unknown",
            "structured output": "no",
        },
    ),
]


@pytest.mark.parametrize(("rule", "expected"), EXPECTED, ids=lambda each: getattr(each, "__name__", ""))
def test_the_card_says_what_a_server_does(tmp_path: Path, rule: Rule, expected: dict[str, str]) -> None:
    _, card = probe(tmp_path, rule)
    assert {name: card[name][0] for name in expected} == expected
    if rule is obedient:
        assert "for the whole clip" in card["pixel limit"][1]
        assert "and listed" in card["model callable"][1]
        assert "448 of" in card["cached tokens on a shared prefix"][1]
    if rule is strict:
        assert card["images in a request"][1].startswith("5, then bad_request")
        assert card["largest data URL"][1].startswith("1 MB of video, then payload_too_large")
        assert "disabled by default" in card["frame rate honoured"][1]
    if rule is silent:
        assert "no content beside the reasoning" in card["structured output"][1]


def test_a_key_that_is_refused_ends_the_probe(tmp_path: Path) -> None:
    with pytest.raises(ServiceError, match=r"no call to test/m at .* succeeded \(.*probe-test-m\.db"):
        probe(tmp_path, lambda call: error_body(401, {"error": "Unauthorized"}))
    shown = CliRunner().invoke(command, ["--card", "probe-test-m", "--store", str(tmp_path), "--json"])
    assert shown.exit_code == 0
    card = {check["name"]: (check["verdict"], check["detail"]) for check in json.loads(shown.stdout)["checks"]}
    assert card["key accepted"][0] == "no"
    assert card["model callable"][0] == "no"
    assert card["video seen"][0] == "not_tried"
    with open_log(tmp_path / "probe-test-m.db") as log:
        assert log.count(["call.requested"]) == 1


def test_a_server_that_is_not_there_ends_the_probe_with_its_own_exit_code(tmp_path: Path) -> None:
    with scripted_server(obedient, model="m") as server:
        url = server.url
    done = CliRunner().invoke(cli, ["probe", "test/m", "--base-url", url, "--store", str(tmp_path)])
    assert done.exit_code == 2
    assert "no call to test/m" in done.stderr
    assert "no_connection" in done.stdout
    assert (tmp_path / "probe-test-m.db").is_file()


def test_passing_failures_are_sent_again_and_each_attempt_is_an_event(tmp_path: Path) -> None:
    def rule(call: ChatCall) -> Any:
        fails = call.attempt == 1 and call.key.split("/")[2] in ("text", "video", "images_5")
        return error_body(429, {}, retry_after="0") if fails else obedient(call)

    probe(tmp_path, rule)
    log_path = tmp_path / "probe-test-m.db"
    with open_log(log_path) as log:
        calls = [event.data for event in log.events(["call.requested", "call.completed", "call.failed"])]
        assert log.info.kind == "probe"
        media = list(log.events(["media.prepared"]))
    requested = [data for data in calls if isinstance(data, CallRequested)]
    completed = [data for data in calls if isinstance(data, CallCompleted)]
    failed = [data for data in calls if isinstance(data, CallFailed)]
    assert len(failed) == 4
    assert len(requested) == len(completed) + len(failed)
    assert media
    assert verify_log(log_path).holds


@pytest.mark.parametrize(
    "failure", [error_body(504, {}), error_body(429, {}, retry_after="9999")], ids=["gateway_timeout", "long_wait"]
)
def test_the_failure_after_which_a_call_is_given_up_is_final(tmp_path: Path, failure: Reply) -> None:
    """So that nobody who reads the log waits for another attempt."""

    def rule(call: ChatCall) -> Any:
        return failure if call.key.split("/")[2] == "images_5" else obedient(call)

    probe(tmp_path, rule)
    with open_log(tmp_path / "probe-test-m.db") as log:
        calls = [event.data for event in log.events(["call.requested", "call.failed"])]
    failed = [data for data in calls if isinstance(data, CallFailed)]
    assert failed
    assert [data.final for data in failed] == [True] * len(failed)


def test_a_stored_card_is_shown_again_byte_for_byte(tmp_path: Path) -> None:
    first, _ = probe(tmp_path, obedient)
    again = CliRunner().invoke(command, ["--card", "probe-test-m", "--store", str(tmp_path), "--json"])
    assert json.loads(again.stdout) == json.loads(first.stdout)
    table = CliRunner().invoke(command, ["--card", "probe-test-m", "--store", str(tmp_path)])
    assert "frame rate honoured" in table.stdout


def test_a_second_probe_has_a_log_of_its_own_and_is_the_one_that_counts(tmp_path: Path) -> None:
    probe(tmp_path, obedient)
    probe(tmp_path, deaf)
    assert (tmp_path / "probe-test-m-2.db").exists()
    card = latest_card(tmp_path, "test/m")
    assert card is not None
    assert card.result.verdict("frame rate honoured") == "ignored"
    assert latest_card(tmp_path, "test/other") is None
    assert latest_card(tmp_path / "none", "test/m") is None


def test_what_a_condition_asks_and_the_card_says_is_ignored_is_warned_of(tmp_path: Path) -> None:
    probe(tmp_path, deaf)
    card = latest_card(tmp_path, "test/m")
    assert card is not None
    asked = parse_condition("M=test/m,F=schema,V=full")
    warnings = card_warnings(card.result, asked, fps=4.0, samples_in_one_call=True)
    assert [text.partition(",")[0] for text in warnings] == [
        "a frame rate is asked of the server",
        "a video is sent",
        "F=schema constrains the reply",
        "several samples are asked for in one call",
    ]
    frames = parse_condition("M=test/m,V=frames-8")
    (warning,) = card_warnings(card.result, frames, fps=None, samples_in_one_call=False)
    assert warning.startswith("frames are sent as images")


def test_nothing_is_warned_of_where_the_card_is_good(tmp_path: Path) -> None:
    probe(tmp_path, obedient)
    card = latest_card(tmp_path, "test/m")
    assert card is not None
    quiet = parse_condition("M=test/m,V=frames-8")
    assert card_warnings(card.result, quiet, fps=None, samples_in_one_call=False) == ()


def test_what_a_provider_cannot_do_is_warned_of_without_a_probe(tmp_path: Path) -> None:
    config = parse_config("", source=None, environ={})
    full = parse_condition("M=openai/m,V=full")
    assert any("takes no video" in text for text in asked_in_vain(tmp_path, config, full, fps=None))
    routed = parse_condition("M=openrouter/q/m,V=full")
    assert any("reads no field" in text for text in asked_in_vain(tmp_path, config, routed, fps=4.0))
    assert asked_in_vain(tmp_path, config, routed, fps=None) == ()
    assert asked_in_vain(tmp_path, config, parse_condition("M=replay:run"), fps=4.0) == ()


def test_a_signed_address_is_not_recorded(tmp_path: Path) -> None:
    url = "http://127.0.0.1:9/clip.mp4?X-Amz-Signature=0f1e2d3c4b5a&X-Amz-Credential=AKIAEXAMPLE"
    _, card = probe(tmp_path, obedient, "--video-url", url)
    assert card["fetches a URL"][0] == "yes"
    raw = (tmp_path / "probe-test-m.db").read_bytes()
    assert b"0f1e2d3c4b5a" not in raw
    assert b"AKIAEXAMPLE" not in raw


def test_either_a_model_or_a_card_is_named() -> None:
    assert CliRunner().invoke(command, []).exit_code == 2
    assert CliRunner().invoke(command, ["a/b", "--card", "c"]).exit_code == 2


def test_probe_media_are_what_their_plans_say() -> None:
    import io

    import av

    clip = make_clip()
    assert make_clip().body == clip.body
    for media in (clip, padded(clip, 1_000_000)):
        with av.open(io.BytesIO(media.body)) as file:
            frames = list(file.decode(video=0))
        assert (len(frames), frames[0].width, frames[0].height) == (FRAMES, WIDTH, HEIGHT)
    assert len(padded(clip, 1_000_000).body) == 1_000_000
    assert make_still(1).sha256 != make_still(2).sha256
    assert base64.b64encode(clip.body).decode() in clip.part()["video_url"]["url"]
    assert clip.loggable()["video_url"]["url"]["bytes"] == len(clip.body)


def test_extract_warns_of_what_the_probe_found(tmp_path: Path) -> None:
    from media_factory import write_clip

    from vlmrec.cli import cli

    probe(tmp_path, deaf)
    write_clip(tmp_path / "clip.mp4", pts=tuple(range(4)), size=(32, 32))
    with scripted_server(lambda call: "no answer") as server:
        result = CliRunner().invoke(
            cli,
            [
                *(
                    "extract",
                    str(tmp_path / "clip.mp4"),
                    "--run-id",
                    "r",
                    "--model",
                    "test/m",
                    "--base-url",
                    server.url,
                ),
                *("--fps", "4", "--store", str(tmp_path)),
            ],
        )
    assert "Warning: a frame rate is asked of the server, but the probe of test/m found" in result.stderr
