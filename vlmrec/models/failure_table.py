"""The one table of failures: what each is called, whether it is sent again, and whether it stops the run. Pure data.

``docs/failures.md`` shows this table (a test compares them). ``vlmrec.models.failures`` decides
which row a reply falls under.
"""

import re

from msgspec import Struct

from vlmrec.models.wire import Retry


class Failure(Struct, frozen=True, kw_only=True):
    """One row. ``retry`` becomes ``after_seconds`` where the server names a time and a wait can help."""

    reason: str
    when: str
    retry: Retry
    stop_run: bool = False
    may_be_billed: bool = False
    hint: str | None = None


_TIGHTER = "send fewer frames, smaller frames, or a link in place of the bytes"

FAILURES: dict[str, Failure] = {
    "rate_limited": Failure(reason="rate_limited", when="429", retry=Retry.BACKOFF),
    "no_credit": Failure(
        reason="no_credit",
        when="402; 429 that names a quota used up",
        retry=Retry.NO,
        stop_run=True,
        hint="add credit, or ask for fewer tokens: a smaller token limit might pass",
    ),
    "credit_in_flight": Failure(
        reason="no_credit", when="402 over calls in flight, with Retry-After", retry=Retry.AFTER_SECONDS
    ),
    "not_authorised": Failure(
        reason="not_authorised",
        when="401; 403",
        retry=Retry.NO,
        stop_run=True,
        hint="check the key, and that it belongs to this base URL",
    ),
    "moderated": Failure(reason="refused", when="403 by moderation or a guardrail", retry=Retry.NO),
    "model_not_available": Failure(
        reason="model_not_available",
        when="404 or 400 that names the model or function",
        retry=Retry.NO,
        stop_run=True,
        hint="a model that is listed need not be offered to this key; `vlmrec probe` tells",
    ),
    "not_found": Failure(
        reason="not_found", when="404, 405 or 410 otherwise", retry=Retry.NO, stop_run=True, hint="check the base URL"
    ),
    "payload_too_large": Failure(reason="payload_too_large", when="413", retry=Retry.CHANGED_REQUEST, hint=_TIGHTER),
    "field_refused": Failure(
        reason="bad_request",
        when="400 against a field that every call carries (media_io_kwargs, mm_processor_kwargs)",
        retry=Retry.CHANGED_REQUEST,
        stop_run=True,
        hint="start vLLM with --trust-request-mm-kwargs, or choose frames picked by the client",
    ),
    "too_long": Failure(
        reason="bad_request", when="400 over the context length", retry=Retry.CHANGED_REQUEST, hint=_TIGHTER
    ),
    "bad_request": Failure(reason="bad_request", when="400, 422, any other 4xx", retry=Retry.CHANGED_REQUEST),
    "media_unreachable": Failure(
        reason="bad_request",
        when="500 that says the server can't open the media named",
        retry=Retry.CHANGED_REQUEST,
        hint="send the bytes as a data URL, or let the server reach the link",
    ),
    "gateway_timeout": Failure(
        reason="gateway_timeout",
        when="408, 504, 522, 524",
        retry=Retry.BACKOFF,
        may_be_billed=True,
        hint="streaming keeps proxies from cutting long replies",
    ),
    "provider_error": Failure(
        reason="provider_error", when="409, 425, any other 5xx; an error inside a 200", retry=Retry.BACKOFF
    ),
    "unavailable": Failure(
        reason="provider_error", when="an error that says itself that it is not worth a retry", retry=Retry.NO
    ),
    "no_choices": Failure(
        reason="provider_error", when="2xx with no choice, no message, or an empty body", retry=Retry.BACKOFF
    ),
    "not_an_api": Failure(
        reason="not_an_api",
        when="2xx with HTML or other text; a redirect",
        retry=Retry.NO,
        stop_run=True,
        hint="check the base URL: it should end where /chat/completions begins",
    ),
    "connection_lost": Failure(
        reason="connection_lost", when="reset, or the body cut short", retry=Retry.BACKOFF, may_be_billed=True
    ),
    "timed_out": Failure(
        reason="timed_out", when="no reply within our own time limit", retry=Retry.BACKOFF, may_be_billed=True
    ),
    "no_connection": Failure(
        reason="no_connection", when="no connection could be made, so nothing was sent", retry=Retry.BACKOFF
    ),
    "replay_miss": Failure(
        reason="replay_miss",
        when="the run that is replayed holds no reply to this request",
        retry=Retry.NO,
        stop_run=True,
        hint="replay with the settings of the stored run, or ask the model itself",
    ),
    "cancelled": Failure(reason="cancelled", when="the run was interrupted", retry=Retry.BACKOFF, may_be_billed=True),
}

BY_STATUS: dict[int, str] = {
    400: "bad_request",
    401: "not_authorised",
    402: "no_credit",
    403: "not_authorised",
    404: "not_found",
    405: "not_found",
    408: "gateway_timeout",
    409: "provider_error",
    410: "not_found",
    413: "payload_too_large",
    422: "bad_request",
    425: "provider_error",
    429: "rate_limited",
    504: "gateway_timeout",
    522: "gateway_timeout",
    524: "gateway_timeout",
}

BY_WORD: dict[str, int] = {
    "rate_limit_exceeded": 429,
    "rate_limited": 429,
    "rate_limit_error": 429,
    "rate_limit": 429,
    "too_many_requests": 429,
    "insufficient_quota": 402,
    "insufficient_credits": 402,
    "payment_required": 402,
    "invalid_api_key": 401,
    "authentication_error": 401,
    "permission_error": 403,
    "model_not_found": 404,
    "payload_too_large": 413,
    "context_length_exceeded": 400,
    "invalid_request_error": 400,
    "badrequesterror": 400,
    "timeout": 504,
    "request_timeout": 504,
}
"""Words in an error's ``code`` or ``type`` where no number is, and the status they stand for."""

MODEL_GONE = re.compile(
    r"\bfunction\b|no endpoints found|not a valid model"
    r"|\bmodel\b.*(does not exist|not found|not exist|unknown|not available|not supported)"
    r"|(unknown|invalid|no such) model",
    re.IGNORECASE | re.DOTALL,
)
TOO_LONG = re.compile(r"context length|max_model_len|maximum context|too many (input )?tokens", re.IGNORECASE)
FIELD_REFUSED = re.compile(r"per-request \w+_kwargs are disabled", re.IGNORECASE)
MEDIA_UNREACHABLE = re.compile(
    r"cannot load local files|\[errno 2\]|extension class \S+ not found|cannot connect to host", re.IGNORECASE
)
QUOTA_GONE = frozenset({"insufficient_quota", "insufficient_credits", "billing_hard_limit_reached"})
