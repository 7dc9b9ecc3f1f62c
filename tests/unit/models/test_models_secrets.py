"""No key and no signature gets through, however it is spelled."""

import base64
import json
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vlmrec.models.secrets import MARK, Secrets

KEY = 'nv/4+9"x\\y=aé-0123456789'
SECRETS = Secrets([KEY])


@pytest.mark.parametrize(
    "spelling",
    [
        KEY,
        quote(KEY, safe=""),
        quote(KEY, safe="").lower(),
        quote(quote(KEY, safe=""), safe=""),
        json.dumps(KEY)[1:-1],
        json.dumps(KEY, ensure_ascii=False)[1:-1],
        json.dumps(json.dumps({"k": KEY})),
        base64.b64encode(KEY.encode()).decode(),
        base64.urlsafe_b64encode(KEY.encode()).decode(),
        *(base64.b64encode(b"user-name"[:n] + b":" + KEY.encode() + b"!").decode() for n in range(3, 6)),
    ],
)
def test_a_known_key_is_replaced_in_every_spelling(spelling: str) -> None:
    text, count = SECRETS.scrub(f"before {spelling} after")
    assert count >= 1
    assert MARK in text
    assert "0123456789" not in text
    assert text.startswith("before ")
    assert text.endswith(" after")


URL = (
    "https://b.example/k.mp4?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=AKIAEXAMPLE%2F20260101&X-Amz-Date=2026"
    "&X-Amz-Security-Token=FwoGZXIvYXdz%2B&X-Amz-SignedHeaders=host&X-Amz-Signature=0f1e2d3c4b5a"
)


@pytest.mark.parametrize(
    "text",
    [
        URL,
        json.dumps({"error": f"could not fetch {URL}."}),
        URL.replace("&", "\\u0026"),
        URL.replace("&", "&amp;"),
        f"next={quote(URL, safe='')}",
        "http://s/k?AWSAccessKeyId=AKIAXYZ&Signature=0f1e2d3c4b5a&Expires=17",
        "https://x.blob/k?sv=2024&sig=0f1e2d3c4b5a&se=2026",
        "https://g/k?X-Goog-Credential=a%40b&X-Goog-Signature=0f1e2d3c4b5a",
    ],
)
def test_a_presigned_url_loses_its_signature_and_nothing_else(text: str) -> None:
    clean, count = Secrets().scrub(text)
    assert count >= 1
    for part in ("0f1e2d3c4b5a", "AKIAEXAMPLE", "FwoGZXIvYXdz"):
        assert part not in clean
    if "X-Amz-Date" in text:
        assert "2026" in clean
        assert "SignedHeaders" in clean


@pytest.mark.parametrize(
    "text",
    [
        "Authorization: Bearer abcdef0123456789",
        "bad key sk-or-v1-0123456789abcdef0123456789",
        "nvapi-" + "ABCDEFGHIJKLMNOPQRSTUVWXYZ012345",
    ],
)
def test_what_looks_like_a_key_is_replaced_though_unknown(text: str) -> None:
    clean, count = Secrets().scrub(text)
    assert count == 1
    assert MARK in clean


@pytest.mark.parametrize(
    "text",
    [
        '{"choices": [{"message": {"content": "the Signature of a task-force, risk-free, sig=none in prose"}}]}',
        "the signature move is a lane change",
        "ask-me-anything-about-dashcams-today",
        "가나다 \ud83d",
        "",
    ],
)
def test_ordinary_text_is_left_alone(text: str) -> None:
    assert SECRETS.scrub(text) == (text, 0)


def test_short_values_and_placeholders_are_no_secrets() -> None:
    assert len(Secrets(["", "abc", "EMPTY", "none", "  ", "dummy"])) == 0


def test_values_never_show_in_the_text_of_secrets() -> None:
    assert KEY not in repr(SECRETS)


def test_bytes_that_are_no_text_pass_unharmed() -> None:
    body = bytes(range(256)) + KEY.encode() + b"\xff"
    clean, count = SECRETS.scrub(body)
    assert (clean, count) == (bytes(range(256)) + MARK.encode() + b"\xff", 1)


@given(
    st.text(st.characters(min_codepoint=33, max_codepoint=0x2FF), min_size=12, max_size=40),
    st.binary(max_size=20),
    st.binary(max_size=20),
)
def test_no_key_survives_and_scrubbing_twice_changes_nothing(key: str, before: bytes, after: bytes) -> None:
    secrets = Secrets([key])
    if not len(secrets):
        return
    raw = key.strip().encode()
    for form in (
        raw,
        base64.b64encode(before + raw + after),
        json.dumps(key.strip()).encode(),
        quote(key.strip()).encode(),
    ):
        clean, count = secrets.scrub(before + b" " + form + b" " + after)
        assert count >= 1
        assert raw not in clean or raw in MARK.encode()
        assert secrets.scrub(clean)[0] == clean
