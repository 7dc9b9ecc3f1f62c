"""What a reply is, status by status and body by body; the table in docs/failures.md; what follows a failure."""

import json
import re
from pathlib import Path

import pytest

from vlmrec.models.failure_table import BY_STATUS, FAILURES
from vlmrec.models.failures import Verdict, classify, shown
from vlmrec.models.replies.read import WARNINGS
from vlmrec.models.retry import RetryPolicy, next_step
from vlmrec.models.wire import Failed, FailureKind, Retry

ROOT = Path(__file__).resolve().parents[3]
NOW = 1_800_000_000.0
OK = {"choices": [{"message": {"content": "x"}, "finish_reason": "stop"}]}


def verdict(status: int, body: object = b"", *, cut: bool = False, **headers: str) -> Verdict:
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return classify(status, named, raw, NOW, cut=cut)


# ---- the documented table --------------------------------------------------------------------


def test_docs_show_the_table_of_failures_as_it_is() -> None:
    text = (ROOT / "docs" / "failures.md").read_text("utf-8")
    rows = [
        f"| {row.when} | `{row.reason}` | {row.retry.value} | {'yes' if row.stop_run else 'no'} "
        f"| {'yes' if row.may_be_billed else 'no'} |"
        for row in FAILURES.values()
    ]
    missing = [row for row in rows if row not in text]
    assert not missing, "docs/failures.md lacks these rows:\n" + "\n".join(missing)
    table = text.partition("# Replies that give no answer")[0]
    assert table.count("\n| ") == len(rows) + 2, "docs/failures.md has rows that the table doesn't"


def test_docs_explain_every_warning_in_order() -> None:
    text = (ROOT / "docs" / "failures.md").read_text("utf-8")
    explained = re.findall(r"^\| `(\w+)` \|", text.partition("| warning |")[2], re.MULTILINE)
    assert tuple(explained) == WARNINGS


@pytest.mark.parametrize("status", [*range(300, 600)])
def test_every_error_status_has_a_verdict_whatever_the_body(status: int) -> None:
    for body in (b"", b"<html>", b"{", b'{"error": "x"}', b'{"error": {"code": "y"}}', b"[1]"):
        found = verdict(status, body)
        assert not found.completed
        assert found.reason
        assert found.message.startswith(f"HTTP {status}")
        assert not found.in_doubt
    if status in BY_STATUS:
        assert verdict(status, b"<html>").row == BY_STATUS[status]


# ---- by status -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("status", "body", "reason", "retry", "stop"),
    [
        (401, {"error": "Unauthorized"}, "not_authorised", "no", True),
        (403, {"status": 403, "title": "Forbidden", "detail": "Authorization failed"}, "not_authorised", "no", True),
        (403, {"error": {"message": "flagged", "metadata": {"reasons": ["violence"]}}}, "refused", "no", False),
        (402, {"error": {"message": "Insufficient credits"}}, "no_credit", "no", True),
        (404, {"detail": "Not Found"}, "not_found", "no", True),
        (404, b"<html><title>404</title></html>", "not_found", "no", True),
        (
            404,
            {"error": {"message": "The model `no/such` does not exist. Valid aliases: a", "param": "model"}},
            "model_not_available",
            "no",
            True,
        ),
        (404, {"error": {"message": "No endpoints found for x/y."}}, "model_not_available", "no", True),
        (400, {"error": {"message": "x/y is not a valid model ID"}}, "model_not_available", "no", True),
        (400, {"error": {"message": "bad", "param": "temperature"}}, "bad_request", "changed_request", False),
        (422, {"error": {"message": "media"}}, "bad_request", "changed_request", False),
        (418, b"", "bad_request", "changed_request", False),
        (
            400,
            {"error": {"message": "Per-request media_io_kwargs are disabled by default…", "param": "media_io_kwargs"}},
            "bad_request",
            "changed_request",
            True,
        ),
        (413, b"", "payload_too_large", "changed_request", False),
        (429, {"error": {"message": "quota", "code": "insufficient_quota"}}, "no_credit", "no", True),
        (429, {"status": 429, "title": "Too Many Requests"}, "rate_limited", "backoff", False),
        (500, {"error": {"message": "boom"}}, "provider_error", "backoff", False),
        (500, {"error": {"message": "[Errno 2] No such file"}}, "bad_request", "changed_request", False),
        (503, b"", "provider_error", "backoff", False),
        (504, b"", "gateway_timeout", "backoff", False),
        (522, b"", "gateway_timeout", "backoff", False),
        (529, b"", "provider_error", "backoff", False),
        (302, b"", "not_an_api", "no", True),
    ],
)
def test_a_status_is_told_for_what_it_is(status: int, body: object, reason: str, retry: str, stop: bool) -> None:
    found = verdict(status, body)
    assert (found.reason, found.retry.value, found.stop_run) == (reason, retry, stop)


def test_credit_held_by_calls_in_flight_is_waited_for() -> None:
    body = {"error": {"code": 402, "message": "x", "metadata": {"limit_source": "openrouter_in_flight_budget"}}}
    found = verdict(402, body, retry_after="3")
    assert (found.retry, found.retry_after_s, found.stop_run) == (Retry.AFTER_SECONDS, 3, False)


def test_an_error_that_says_it_can_be_retried_is() -> None:
    body = {"error": {"message": "no endpoint", "availability": {"code": "busy", "retryable": True, "retry_after": 4}}}
    found = verdict(404, body)
    assert (found.retry, found.retry_after_s, found.stop_run) == (Retry.AFTER_SECONDS, 4, False)


# ---- within a 2xx ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "reason", "retry", "stop"),
    [
        (b"", "provider_error", "backoff", False),
        ({"choices": []}, "provider_error", "backoff", False),
        ({"choices": None, "object": "chat.completion"}, "provider_error", "backoff", False),
        ({"choices": [{"index": 0, "finish_reason": "stop"}]}, "provider_error", "backoff", False),
        ({"choices": [{"message": None}]}, "provider_error", "backoff", False),
        ({"choices": ["x", 3]}, "provider_error", "backoff", False),
        ({"error": "over capacity"}, "provider_error", "backoff", False),
        ({"error": {"code": "rate_limit_exceeded", "message": "m"}}, "rate_limited", "backoff", False),
        ({"error": {"code": "402", "message": "m"}}, "no_credit", "no", True),
        ({**OK, "error": {"code": 502, "message": "m"}}, "provider_error", "backoff", False),
        ({"choices": [{"message": {"content": "x"}, "finish_reason": "abort"}]}, "provider_error", "backoff", False),
        (b"<!DOCTYPE html><title>Sign in</title>", "not_an_api", "no", True),
        (b"welcome", "not_an_api", "no", True),
        (b"[1, 2]", "not_an_api", "no", True),
        ({"status": "ok"}, "not_an_api", "no", True),
        (b'{"choices": [{"message": {"content": "half', "connection_lost", "backoff", False),
        (b'{"choices": nonsense}', "provider_error", "backoff", False),
    ],
)
def test_a_200_that_is_no_completion_is_a_failure(body: object, reason: str, retry: str, stop: bool) -> None:
    found = verdict(200, body)
    assert (found.reason, found.retry.value, found.stop_run) == (reason, retry, stop)


def test_one_failed_choice_of_several_fails_the_call() -> None:
    good = {"message": {"content": "x"}, "finish_reason": "stop"}
    assert not verdict(200, {"choices": [good, {**good, "error": {"code": 502, "message": "m"}}]}).completed
    assert verdict(200, {"choices": [good, good]}).completed


def test_202_without_a_completion_is_worth_another_send() -> None:
    assert verdict(202, {"requestStatus": "pending"}).retry is Retry.BACKOFF


def test_an_error_that_brings_usage_may_have_been_billed() -> None:
    body = {"choices": None, "error": {"code": 502, "message": "m"}, "usage": {"prompt_tokens": 812}}
    found = verdict(200, body)
    assert found.may_be_billed
    assert found.envelope.usage.prompt_tokens == 812


def test_a_cut_completion_is_in_doubt_though_it_parses() -> None:
    found = verdict(200, OK, cut=True)
    assert (found.reason, found.in_doubt, found.may_be_billed) == ("connection_lost", True, True)


# ---- waiting ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ({"retry_after": "90"}, 90),
        ({"retry_after": "1.5"}, 1.5),
        ({"retry_after": "0"}, 0),
        ({"retry_after_ms": "250"}, 0.25),
        ({"retry_after": "soon"}, None),
        ({"retry_after": "-5"}, None),
        ({"retry_after": ""}, None),
        ({"retry_after": "Fri, 15 Jan 2027 08:00:30 GMT"}, 30),
        ({"retry_after": "Fri, 15 Jan 2027 07:00:00 GMT"}, 0),
        ({"retry_after": "Mon, 01 Jan 2024 00:01:00 GMT", "date": "Mon, 01 Jan 2024 00:00:00 GMT"}, 60),
        ({"retry_after": "Fri, 15 Jan 2027 08:00:30 GMT", "date": "nonsense"}, 30),
    ],
)
def test_retry_after_is_read_as_seconds_or_as_a_date(headers: dict[str, str], expected: float | None) -> None:
    found = verdict(429, b"", **headers)
    assert found.retry_after_s == expected
    assert found.retry is (Retry.BACKOFF if expected is None else Retry.AFTER_SECONDS)


def test_a_dated_wait_does_not_depend_on_the_time_zone(monkeypatch: pytest.MonkeyPatch) -> None:
    import time

    monkeypatch.setenv("TZ", "Asia/Seoul")
    time.tzset()
    try:
        assert verdict(429, b"", retry_after="Fri, 15 Jan 2027 08:00:30 -0000").retry_after_s == 30
    finally:
        monkeypatch.delenv("TZ")
        time.tzset()


def test_a_wait_named_with_a_failure_that_waiting_cannot_help_is_not_taken_up() -> None:
    assert verdict(402, b"", retry_after="60").retry is Retry.NO


# ---- messages --------------------------------------------------------------------------------


def test_a_message_is_one_line_of_bounded_length_without_account_names() -> None:
    assert (
        shown("no function f for account 'ACME-42'.\n\n   Try\tagain")
        == "no function f for account '[account]'. Try again"
    )
    assert shown("on your account balance") == "on your account balance"
    assert len(shown("x " * 4000)) == 500
    assert shown("half \ud83d").encode("utf-8")


def test_an_html_page_is_named_and_not_shown() -> None:
    found = verdict(502, b"<html><head><title>Bad\n gateway</title></head><script>x</script></html>")
    assert found.message == "HTTP 502: an HTML page titled Bad gateway"


def test_a_body_too_large_names_the_size_that_was_sent() -> None:
    found = classify(413, {}, b"", NOW, request_bytes=56_106_975)
    assert "56,106,975 bytes" in found.message
    assert found.hint is not None


# ---- what follows ----------------------------------------------------------------------------


def failure(retry: Retry, reason: str = "provider_error", **fields: object) -> Failed:
    known = {"kind": FailureKind.STATUS, "message": "", "latency_s": 0.0, **fields}
    return Failed(reason=reason, retry=retry, **known)  # type: ignore[arg-type]


def test_waits_grow_and_stay_within_the_limit_and_the_jitter() -> None:
    policy = RetryPolicy(max_failures=20, base_s=0.5, max_delay_s=60)
    for count in range(1, 20):
        low = next_step(failure(Retry.BACKOFF), failures=count, same_reason=1, jitter=0.0, policy=policy)
        high = next_step(failure(Retry.BACKOFF), failures=count, same_reason=1, jitter=0.999, policy=policy)
        assert low.action == "again"
        assert min(60, 0.5 * 2 ** (count - 1)) / 2 == low.delay_s < high.delay_s <= 60


def test_a_named_wait_is_never_shortened() -> None:
    for jitter in (0.0, 0.5, 0.99):
        step = next_step(failure(Retry.AFTER_SECONDS, retry_after_s=90.0), failures=1, same_reason=1, jitter=jitter)
        assert step.delay_s >= 90


def test_a_wait_beyond_the_cap_is_given_up_and_not_cut_short() -> None:
    step = next_step(failure(Retry.AFTER_SECONDS, retry_after_s=3600.0), failures=1, same_reason=1, jitter=0.5)
    assert step.final
    assert "3600 s" in step.why


@pytest.mark.parametrize("retry", [Retry.NO, Retry.CHANGED_REQUEST])
def test_the_same_request_is_not_sent_again_where_only_a_change_could_help(retry: Retry) -> None:
    assert next_step(failure(retry, "bad_request"), failures=1, same_reason=1, jitter=0).final


def test_a_failure_that_concerns_every_call_stops_the_run_and_leaves_the_key_open() -> None:
    step = next_step(failure(Retry.NO, "no_credit", stop_run=True), failures=1, same_reason=1, jitter=0)
    assert (step.action, step.final) == ("stop", False)


def test_a_key_is_given_up_after_its_last_failure_and_gateway_timeouts_sooner() -> None:
    policy = RetryPolicy(max_failures=4, max_gateway_timeouts=2)
    actions = [
        next_step(failure(Retry.BACKOFF), failures=n, same_reason=n, jitter=0, policy=policy).action for n in (1, 3, 4)
    ]
    assert actions == ["again", "again", "give_up"]
    late = failure(Retry.BACKOFF, "gateway_timeout")
    assert next_step(late, failures=3, same_reason=1, jitter=0, policy=policy).action == "again"
    assert next_step(late, failures=3, same_reason=2, jitter=0, policy=policy).final


def test_a_server_that_cannot_be_reached_stops_the_run_in_place_of_failing_clip_after_clip() -> None:
    unreachable = failure(Retry.BACKOFF, "no_connection", kind=FailureKind.CONNECT)
    assert next_step(unreachable, failures=8, same_reason=8, jitter=0).action == "stop"
