"""Is this reply a completion, and if not, what is it? The decision behind every call and ``vlmrec reply read``.

``classify`` is pure: status, headers, body and the current time in, a verdict out. It never raises
for what a server sends.
"""

import re
from collections.abc import Mapping
from datetime import UTC
from email.utils import parsedate_to_datetime

from msgspec import Struct

from vlmrec.models.envelope import Envelope, ErrorInfo, read_envelope
from vlmrec.models.failure_table import (
    BY_STATUS,
    BY_WORD,
    FAILURES,
    FIELD_REFUSED,
    MEDIA_UNREACHABLE,
    MODEL_GONE,
    QUOTA_GONE,
    TOO_LONG,
)
from vlmrec.models.wire import FailureKind, Retry

MESSAGE_LENGTH = 500


class Verdict(Struct, frozen=True, kw_only=True):
    """What a reply is. ``row`` names the row of the failure table; None for a completion."""

    envelope: Envelope
    row: str | None = None
    kind: FailureKind | None = None
    reason: str | None = None
    message: str = ""
    retry: Retry = Retry.NO
    retry_after_s: float | None = None
    stop_run: bool = False
    in_doubt: bool = False
    may_be_billed: bool = False
    hint: str | None = None
    provider: str | None = None

    @property
    def completed(self) -> bool:
        return self.row is None


def classify(
    status: int,
    headers: Mapping[str, str],
    body: bytes,
    now: float,
    *,
    cut: bool = False,
    request_bytes: int | None = None,
) -> Verdict:
    """The verdict on a reply. ``now`` (Unix seconds) is the clock where the reply has no Date; ``cut``: it broke off."""
    fields = {name.lower(): value for name, value in headers.items()}
    envelope = read_envelope(body, fields.get("content-type", ""))
    if 200 <= status < 300:
        found = _within_success(status, envelope, cut=cut)
        if found is None:
            return Verdict(envelope=envelope, provider=envelope.provider)
        row, kind, error = found
    else:
        row, kind, error = _by_status(status, envelope.error), FailureKind.STATUS, envelope.error
    failure = FAILURES[row]
    retry, after = _wait(failure.retry, fields, error, now)
    in_doubt = kind is FailureKind.CUT
    return Verdict(
        envelope=envelope,
        row=row,
        kind=kind,
        reason=failure.reason,
        message=_message(status, row, envelope, error, request_bytes),
        retry=retry,
        retry_after_s=after,
        stop_run=failure.stop_run,
        in_doubt=in_doubt,
        may_be_billed=in_doubt or failure.may_be_billed or envelope.has_usage,
        hint=failure.hint,
        provider=(error.provider if error is not None else None) or envelope.provider,
    )


def retry_after(headers: Mapping[str, str], now: float) -> float | None:
    """Seconds to wait as the headers say, by number or by date (against the reply's own Date); None without."""
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    text = headers.get("retry-after")
    seconds = _number(text)
    if seconds is not None or text is None:
        return seconds
    until = _timestamp(text)
    clock = _timestamp(headers.get("date"))
    return None if until is None else max(0.0, until - (now if clock is None else clock))


def _within_success(status: int, envelope: Envelope, *, cut: bool) -> tuple[str, FailureKind, ErrorInfo | None] | None:
    """The failure hidden in a 2xx; None where it is a completion."""
    errors = (envelope.error, *(choice.error for choice in envelope.choices))
    error = next((error for error in errors if error is not None), None)
    if error is not None and envelope.shape in ("object", "stream"):
        return _by_status(_status_of(error), error), FailureKind.BODY, error
    if cut or envelope.shape == "cut_json" or not envelope.finished:
        return "connection_lost", FailureKind.CUT, None
    if any(choice.has_message for choice in envelope.choices):
        return None
    if envelope.shape in ("html", "text", "other_json"):
        return "not_an_api", FailureKind.BODY, None
    is_ours = envelope.has_choices or envelope.shape != "object" or status != 200
    return "no_choices" if is_ours else "not_an_api", FailureKind.BODY, None


def _by_status(status: int, error: ErrorInfo | None) -> str:
    row = BY_STATUS.get(status)
    text = f"{error.message} {error.title or ''}" if error is not None else ""
    words = frozenset(error.words if error is not None else ())
    availability = error.metadata.get("availability") if error is not None else None
    if isinstance(availability, dict) and availability.get("retryable") is True:
        return "provider_error"
    if status == 402 and "openrouter_in_flight_budget" in words:
        return "credit_in_flight"
    if status == 429 and words & QUOTA_GONE:
        return "no_credit"
    if status == 403 and error is not None and ("reasons" in error.metadata or "patterns" in error.metadata):
        return "moderated"
    if status in (400, 404) and (isinstance(availability, dict) or _names_model(error, text)):
        return "model_not_available"
    if status == 400 and FIELD_REFUSED.search(text):
        return "field_refused"
    if status in (400, 422) and (TOO_LONG.search(text) or "context_length_exceeded" in words):
        return "too_long"
    if status == 500 and MEDIA_UNREACHABLE.search(text):
        return "media_unreachable"
    if row is not None:
        return row
    if 400 <= status < 500:
        return "bad_request"
    return "provider_error" if status >= 500 else "not_an_api"


def _names_model(error: ErrorInfo | None, text: str) -> bool:
    return error is not None and (
        "model_not_found" in error.words or MODEL_GONE.search(text) is not None or error.param == "model"
    )


def _status_of(error: ErrorInfo) -> int:
    """The status that an error inside a body stands for; 500 where it doesn't say."""
    if error.code is not None and 400 <= error.code < 600:
        return error.code
    return next((BY_WORD[word] for word in error.words if word in BY_WORD), 500)


def _wait(retry: Retry, headers: Mapping[str, str], error: ErrorInfo | None, now: float) -> tuple[Retry, float | None]:
    if retry not in (Retry.BACKOFF, Retry.AFTER_SECONDS):
        return retry, None
    after = retry_after(headers, now)
    if after is None and error is not None:
        availability = error.metadata.get("availability")
        told = availability.get("retry_after") if isinstance(availability, dict) else error.metadata.get("retry_after")
        after = _number(str(told)) if told is not None else None
    return (Retry.BACKOFF, None) if after is None else (Retry.AFTER_SECONDS, after)


def _message(status: int, row: str, envelope: Envelope, error: ErrorInfo | None, request_bytes: int | None) -> str:
    if error is not None and (error.message or error.title):
        told = " ".join(dict.fromkeys(part for part in (error.title, error.message) if part))
    elif envelope.shape == "html":
        title = re.search(r"<title[^>]*>(.*?)</title>", envelope.text, re.IGNORECASE | re.DOTALL)
        told = f"an HTML page{' titled ' + title.group(1).strip() if title else ''}"
    elif row == "connection_lost":
        told = "the connection ended before the reply did"
    elif envelope.shape == "empty":
        told = "an empty body"
    else:
        told = f"no usable completion: {envelope.text[:200]}"
    size = f" ({request_bytes:,} bytes were sent)" if row == "payload_too_large" and request_bytes is not None else ""
    return shown(f"HTTP {status}: {told}{size}")


def shown(text: str) -> str:
    """``text`` fit for a report: one line, at most 500 characters, account names masked, valid UTF-8."""
    flat = " ".join(text.encode("utf-8", "replace").decode("utf-8").split())
    masked = re.sub(r"(\b(?i:account)[ :=]+['\"`]?)(?=[\w.-]*[0-9A-Z])[\w.-]+", r"\1[account]", flat)
    masked = re.sub(r"\buser_[A-Za-z0-9]{8,}", "[user]", masked)
    return masked if len(masked) <= MESSAGE_LENGTH else masked[: MESSAGE_LENGTH - 1] + "…"


def _number(text: str | None) -> float | None:
    if text is None or re.fullmatch(r"\s*\d{1,12}(\.\d{1,9})?\s*", text, re.ASCII) is None:
        return None
    return float(text)


def _timestamp(text: str | None) -> float | None:
    if text is None:
        return None
    try:
        moment = parsedate_to_datetime(text)
        return (moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)).timestamp()
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
